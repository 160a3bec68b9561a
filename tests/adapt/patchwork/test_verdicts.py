"""What is said of solves that ended short of their tolerance."""

import pytest

from sharpfront.adapt.patchwork.verdicts import as_estimates
from sharpfront.trust.advice import Allowance, Solved, short_of_kernels

# The longest tails of a run whose best solve, of 1444 functions, had an estimate of 0.5.
TAILS = [Solved(500, 3e-2), Solved(1444, 1e-2), Solved(6000, 1e-5), Solved(50_000, 1e-9)]


def test_no_estimate_is_better_than_the_best():
    told = as_estimates(TAILS, 0.5, 1e-2)
    assert [s.kernels for s in told] == [500, 1444, 6000, 50_000]
    assert [s.estimate for s in told] == pytest.approx([1.5, 0.5, 0.5, 0.5])


def test_tails_that_fall_beside_an_estimate_that_does_not_promise_nothing():
    allowed = Allowance(1e-3, 60_000, 60_000, 2)
    outcome = short_of_kernels("", 0.5, as_estimates(TAILS, 0.5, 1e-2), allowed)
    assert outcome.kind == "unresolved"
    assert "did not fall" in outcome.detail
    assert "raise max_kernels to that" not in str(outcome)
