"""Integral conditions whose weights or sources jump, bend or have spikes."""

import numpy as np
import pytest
from scipy.special import erf

import sharpfront as sf
from sharpfront.problem.line_problem import integrate


def bell(x, width):
    return np.exp(-(((x - 0.51) / width) ** 2)) / (width * np.sqrt(np.pi))


def solved(*conditions, **boundary):
    """u' = 1: the condition fixes the constant."""
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: u.dx - 1, conditions=conditions, **boundary
    )
    solution = sf.solve(problem)
    assert solution.converged, str(solution.outcome)
    return solution


def test_a_weight_that_jumps():
    solution = solved(sf.integral(lambda u, x: np.where(x < 1 / 3, 1, 0) * u))
    assert solution(0.0) == pytest.approx(-1 / 6, abs=1e-10)


def test_a_weight_that_bends():
    solution = solved(sf.integral(lambda u, x: abs(x - 0.3) * u))
    x = np.linspace(0, 1, 2_000_001)
    mean = np.trapezoid(np.abs(x - 0.3) * x, x) / np.trapezoid(np.abs(x - 0.3), x)
    assert solution(0.0) == pytest.approx(-mean, abs=1e-9)


@pytest.mark.parametrize("width", [1e-2, 1e-3, 1e-4])
def test_a_weight_with_a_spike(width):
    solution = solved(sf.integral(lambda u, x: bell(x, width) * u, equals=1))
    assert solution(0.51) == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("width", [1e-2, 1e-4])
def test_a_source_with_a_spike(width):
    solution = solved(sf.integral(lambda u, x: u - bell(x, width)))
    assert solution(0.0) == pytest.approx(0.5, abs=1e-9)


def test_one_condition_needs_no_list():
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: u.dx - 1, conditions=sf.integral(lambda u, x: u)
    )
    assert sf.solve(problem)(0.0) == pytest.approx(-0.5, abs=1e-12)


@pytest.mark.parametrize(
    ("function", "exact"),
    [
        (2.0, 6.0),
        (lambda x: np.where(x < 1 / 3, 1.0, 5.0), 4 / 3 + 5 * (2 - 1 / 3)),
        (lambda x: np.sqrt(np.abs(x - 0.2)), 2 / 3 * (1.2**1.5 + 1.8**1.5)),
        (lambda x: bell(x, 1e-4), 1.0),
        (lambda x: np.exp(-(x**2)), np.sqrt(np.pi) / 2 * (erf(2) + erf(1))),
    ],
)
def test_integrals_of_functions_that_jump_or_have_spikes(function, exact):
    assert integrate(function, -1.0, 2.0) == pytest.approx(exact, rel=1e-11)


def test_the_estimate_notices_a_weight_that_the_rule_does_not_resolve():
    # So narrow that no survey sees it: the answer cannot be right, and must not be called so.
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: u.dx - 1,
        conditions=[sf.integral(lambda u, x: (1 + bell(x, 2e-5)) * u, equals=1)],
    )
    solution = sf.solve(problem)
    exact = (1 - 0.5 - 0.51) / 2
    error = abs(solution(0.0) - exact)
    assert error < 1e-7 or (not solution.converged and solution.error_estimate > error / 3)
