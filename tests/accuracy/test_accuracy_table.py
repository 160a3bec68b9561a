"""Every problem of the table, solved with defaults at tol = 1e-8."""

from pathlib import Path

import pytest
from tests.accuracy.accuracy_cases import CASES

import sharpfront as sf
from sharpfront.measure import Feature, graded_points, max_error

TOL = 1e-8
# Below this errors are rounding's.
ROUNDING = 1e-12
PAGE = Path(__file__).resolve().parents[2] / "docs" / "accuracy.md"


def measured():
    """Return kernels, solves, error and estimate of each problem as they stand in the docs."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines()]
    return {row[0]: tuple(map(float, row[1:5])) for row in rows if row[0] in NAMES}


NAMES = {case.name for case in CASES}
FROZEN = measured()


def relative_error(case, solution):
    ends = [Feature(end, 1e-3) for end in case.problem.domain.bounds[:, 0]]
    points = graded_points(case.problem.domain, (*case.features, *ends), 600)
    return max_error(solution, case.exact, points)


@pytest.fixture(scope="module")
def errors():
    return {}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_solved_and_certified(case):
    solution = sf.solve(case.problem, tol=TOL)
    error = relative_error(case, solution)
    assert error < 3 * TOL
    assert solution.converged, str(solution.outcome)
    assert error <= 3 * solution.error_estimate
    assert solution.error_estimate <= TOL
    assert solution.error_estimate <= 100 * max(error, 1e-14)
    assert_as_measured(FROZEN[case.name], solution, error)


def assert_as_measured(known, solution, error):
    """A solve costs what it did, and is as exact: other arithmetic may move it by a step or two."""
    kernels, solves, *errors = known
    assert 2 / 3 * kernels <= solution.kernels <= 1.5 * kernels
    assert abs(len(solution.history) - solves) <= max(1, solves / 2)
    for before, now in zip(errors, (error, solution.error_estimate), strict=True):
        assert now <= max(30 * before, ROUNDING)


def test_the_page_has_every_problem():
    assert set(FROZEN) == NAMES and len(NAMES) == len(CASES)


@pytest.mark.parametrize("case", CASES[::7], ids=lambda case: case.name)
def test_loose_and_starved_solves_do_not_under_estimate(case):
    for options in ({"tol": 1e-3}, {"tol": TOL, "max_kernels": 40}):
        solution = sf.solve(case.problem, **options)
        error = relative_error(case, solution)
        assert error <= 3 * solution.error_estimate
        assert solution.converged == (solution.error_estimate <= options["tol"])
