"""Every problem of the table, solved with defaults at tol = 1e-8."""

import numpy as np
import pytest
from tests.accuracy.accuracy_cases import CASES

import sharpfront as sf
from sharpfront.catalog import graded_points

TOL = 1e-8


def relative_error(case, solution):
    ends = [sf.catalog.Feature(end, 1e-3) for end in case.problem.domain.bounds[:, 0]]
    points = graded_points(case.problem.domain, (*case.features, *ends), 600)
    exact = case.exact(points)
    return np.max(np.abs(solution(points) - exact)) / max(1.0, np.max(np.abs(exact)))


@pytest.fixture(scope="module")
def errors():
    return {}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_solved_and_certified(case):
    solution = sf.solve(case.problem, tol=TOL)
    error = relative_error(case, solution)
    assert error < 1e-7
    assert solution.converged, str(solution.outcome)
    assert error <= 3 * solution.error_estimate
    assert solution.error_estimate <= TOL
    assert solution.error_estimate <= 100 * max(error, 1e-14)
    assert solution.kernels <= case.kernels


@pytest.mark.parametrize("case", CASES[::7], ids=lambda case: case.name)
def test_loose_and_starved_solves_do_not_under_estimate(case):
    for options in ({"tol": 1e-3}, {"tol": TOL, "max_kernels": 40}):
        solution = sf.solve(case.problem, **options)
        error = relative_error(case, solution)
        assert error <= 3 * solution.error_estimate
        assert solution.converged == (solution.error_estimate <= options["tol"])
