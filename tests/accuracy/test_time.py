"""Every kind of problem in time on an interval: how accurate, and whether the estimate says so."""

import numpy as np
import pytest
from tests.accuracy import frozen
from tests.accuracy.spectral import reference
from tests.accuracy.time_cases import case

import sharpfront as sf
from sharpfront.catalog import COOLING, TRAVELLING_SHOCK
from sharpfront.measure import TimeRule, max_error, time_rule

# Errors grow and shrink again on its way: the estimate tells what they might have become.
CHAOTIC = "kuramoto-sivashinsky"
# Errors below this share of the tolerance are rounding, of which the estimate knows nothing.
FLOOR = 1e-4


def measured(row):
    """Return the solution of a row, and what of it is frozen; errors are relative to its scale."""
    stated, value = case(row["problem"]), float(row["value"])
    solution = sf.solve(stated.entry.problem(value), tol=float(row["tol"]))
    exact = reference(stated.entry, value, stated.modes, stated.steps)
    rule = trusted(solution, time_rule(stated.entry, value, solution.domain.time[1]))
    return solution, {
        "functions": max(r.kernels for r in solution.history),
        "steps": len(solution.history),
        "relative": rule.error(solution, exact),
        "error": max_error(solution, exact, rule.points),
        "estimate": solution.error_estimate,
    }


def trusted(solution, rule):
    """Return the rule from when on the estimate holds: a rounded start needs a moment."""
    above = [r.time for r in solution.history if r.error_estimate > solution.tol]
    late = rule.points[:, 1] > max(above, default=-np.inf)
    assert "rounded" in solution.outcome.detail or "off" in solution.outcome.detail or late.all()
    # It is soon over.
    assert rule.weights[late].sum() > 0.999 * rule.weights.sum()
    return TimeRule(rule.points[late], rule.weights[late])


@pytest.mark.parametrize("row", frozen.params("time"))
def test_solved_as_accurately_as_measured_and_certified(row):
    solution, found = measured(row)
    tol, error, estimate = float(row["tol"]), found["error"], found["estimate"]
    assert solution.converged, str(solution.outcome)
    problem = case(row["problem"]).entry.problem(float(row["value"]))
    assert solution.domain.time == problem.time
    assert error < 3 * tol
    # The estimate is not below half of the error, nor much too large unless it is far below tol.
    assert estimate <= tol
    assert error <= 2 * estimate + FLOOR * tol
    assert estimate <= max((2000 if row["problem"] == CHAOTIC else 100) * error, 0.05 * tol)
    frozen.assert_as_frozen(row, found)


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
