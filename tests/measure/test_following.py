"""The true error is found where it is, without knowing the features."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.catalog import OUTFLOW, REACTION, SINGLE_LAYER, SPIKE, TWIN_LAYER, named
from sharpfront.measure import following_points, graded_points, max_error, true_errors


@pytest.mark.parametrize("entry", [SINGLE_LAYER, TWIN_LAYER, REACTION, SPIKE])
@pytest.mark.parametrize("nu", [1e-2, 1e-5])
def test_on_the_line_it_is_that_of_a_grid_graded_into_the_features(entry, nu):
    solution, exact = sf.solve(entry.problem(nu)), entry.exact(nu)
    graded = max_error(solution, exact, graded_points(solution.domain, entry.features(nu)))
    assert true_errors(solution, {"u": exact})["u"] == pytest.approx(graded, rel=0.05)


def test_in_the_plane_too():
    solution, exact = sf.solve(OUTFLOW.problem(1e-3), tol=1e-4), OUTFLOW.exact(1e-3)
    graded = max_error(solution, exact, OUTFLOW.points(1e-3))
    assert true_errors(solution, {"u": exact})["u"] == pytest.approx(graded, rel=0.05)


def test_a_narrow_error_is_found_from_far_away():
    solution = sf.solve(SINGLE_LAYER.problem(1e-2))

    def exact(x):
        # A peak of width 1e-6 on top of a broad one, between the points of the first look.
        away = x - 0.30012345
        return solution(x) + 0.5 * np.exp(-(away**2)) + 1 / (1 + away**2 / 1e-12)

    size = np.max(np.abs(exact(np.linspace(0, 1, 1001))))
    assert true_errors(solution, {"u": exact})["u"] == pytest.approx(1.5 / size, rel=1e-3)


@pytest.mark.parametrize("height", [1e-3, 1.0, 40.0, 1e6])
def test_error_and_estimate_are_on_one_scale(height):
    problem = sf.Problem(
        sf.Interval(0, 1), "-0.01*u_xx + u_x = 0", left="u = 0", right=f"u = {height}"
    )
    solution = sf.solve(problem, tol=1e-6)

    def exact(x):
        return height * (np.exp((x - 1) / 0.01) * np.expm1(-x / 0.01) / np.expm1(-100.0) + 1e-4)

    found = true_errors(solution, {"u": exact})["u"]
    assert found == pytest.approx(1e-4 * min(height, 1), rel=0.02)


def test_not_a_number_is_an_infinite_error():
    solution = sf.solve(SINGLE_LAYER.problem(1e-2))
    assert true_errors(solution, {"u": lambda x: x + np.nan})["u"] == np.inf


def test_points_stay_in_the_domain_and_reach_its_corners():
    solution = sf.solve(OUTFLOW.problem(1e-2), tol=1e-3)
    points = following_points(solution, "u")
    assert solution.domain.contains(points).all()
    assert (points == [1.0, 1.0]).all(axis=1).any()


def test_in_time_it_follows_the_front():
    listed = named("travelling-shock")
    statement = listed.stated(1e-3)
    solution = statement.solve(tol=1e-3)
    by_entry = statement.true_errors(solution)["u"]
    assert true_errors(solution, statement.exact)["u"] == pytest.approx(by_entry, rel=0.1)


def test_several_unknowns():
    statement = named("channel").stated()
    errors = statement.true_errors(statement.solve(tol=1e-4))
    assert set(errors) == {"u", "v", "p"}
    assert max(errors.values()) < 1e-3
