"""Every kind of problem in time on an interval: how accurate, and whether the estimate says so."""

import numpy as np
import pytest
from tests.accuracy.spectral import reference
from tests.accuracy.time_cases import CASES

import sharpfront as sf
from sharpfront.catalog import COOLING, TRAVELLING_SHOCK
from sharpfront.measure import TimeRule, max_error, time_rule

# Errors below this share of the tolerance are rounding, of which the estimate knows nothing.
FLOOR = 1e-4
# Left to the benchmark for their time alone: kinds that others stand for.
SLOW = ("heat-hat 0.01", "hump 0.001", "merging-shocks 0.001", "fisher 0.001", "moving-front 1e-06")
# The most steps that any of them needs, twice.
STEPS = 120


def solved(case):
    """Return a case's solution with its errors: relative in L2, and the largest."""
    solution = sf.solve(case.entry.problem(case.value), tol=case.tol)
    exact = reference(case.entry, case.value, case.modes, case.steps)
    rule = trusted(solution, time_rule(case.entry, case.value, solution.domain.time[1]))
    return solution, rule.error(solution, exact), max_error(solution, exact, rule.points)


def trusted(solution, rule):
    """Return the rule from when on the estimate holds: a rounded start needs a moment."""
    above = [r.time for r in solution.history if r.error_estimate > solution.tol]
    late = rule.points[:, 1] > max(above, default=-np.inf)
    assert "rounded" in solution.outcome.detail or "off" in solution.outcome.detail or late.all()
    # It is soon over.
    assert rule.weights[late].sum() > 0.999 * rule.weights.sum()
    return TimeRule(rule.points[late], rule.weights[late])


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.name not in SLOW], ids=lambda case: case.name
)
def test_solved_as_accurately_as_measured_and_certified(case):
    solution, error, largest = solved(case)
    assert solution.converged, str(solution.outcome)
    assert solution.domain.time == case.entry.problem(case.value).time
    assert error < case.relative
    assert largest < case.largest
    assert largest < 3 * case.tol
    assert max(r.kernels for r in solution.history) <= case.kernels
    assert len(solution.history) <= STEPS
    # The estimate is not below half of the error, nor much too large unless it is far below tol.
    assert solution.error_estimate <= case.tol
    assert largest <= 2 * solution.error_estimate + FLOOR * case.tol
    assert solution.error_estimate <= max(100 * largest, 0.05 * case.tol)


@pytest.mark.parametrize(("entry", "value"), [(TRAVELLING_SHOCK, 1e-3)])
def test_tighter_tolerances_give_smaller_errors(entry, value):
    found = []
    for tol in (1e-4, 1e-6, 1e-8):
        solution = sf.solve(entry.problem(value), tol=tol)
        found.append(max_error(solution, entry.exact(value), time_rule(entry, value).points))
        assert solution.converged and found[-1] < 2 * tol
    assert found[0] > 5 * found[1] > 25 * found[2]


def test_estimate_knows_what_was_rounded_at_an_end():
    value, tol = 1e-3, 1e-5
    solution = sf.solve(COOLING.problem(value), tol=tol)
    rule = trusted(solution, time_rule(COOLING, value))
    assert max_error(solution, COOLING.exact(value), rule.points) < 2 * solution.error_estimate
