"""Sources and coefficients that are not finite at a point."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import EquationError

BOX = sf.Box((0, 1), (0, 1))


def distance(centre, x, y):
    return np.sqrt((x - centre[0]) ** 2 + (y - centre[1]) ** 2)


def cone(centre, height):
    """Its source is 1/r."""

    def exact(x, y):
        return height * distance(centre, x, y) + x * y

    problem = sf.Problem(
        BOX,
        lambda u, x, y: -sf.laplacian(u - exact(x, y)),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    return problem, exact


def atom(centre, charge):
    """A particle bound in the plane: its potential is 1/r."""

    def exact(x, y):
        return np.exp(-charge * distance(centre, x, y))

    problem = sf.Problem(
        BOX,
        lambda u, x, y: -sf.laplacian(u) + charge * (charge - 1 / distance(centre, x, y)) * u,
        boundary=lambda u, x, y: u - exact(x, y),
    )
    return problem, exact


def near(centre):
    g = np.append(np.geomspace(1e-9, 1.0, 40), 0.0)
    x, y = (np.clip([c + g, c - g], 0, 1).ravel() for c in centre)
    return (v.ravel() for v in np.meshgrid(x, y))


@pytest.mark.parametrize(
    ("state", "size", "tol", "centre"),
    [
        (cone, 0.8, 1e-3, (0.5, 0.5)),
        (cone, 0.8, 1e-3, (0.3, 0.0)),
        (atom, 0.6, 1e-2, (0.41, 0.47)),
        (atom, 0.6, 1e-2, (1.0, 0.0)),
    ],
)
def test_a_point_where_data_are_infinite(state, size, tol, centre):
    problem, exact = state(centre, size)
    solution = sf.solve(problem, tol=tol)
    assert solution.converged, str(solution.outcome)
    x, y = near(centre)
    assert np.abs(solution(x, y) - exact(x, y)).max() < tol


@pytest.mark.slow
@pytest.mark.parametrize("centre", [(0.5, 0.5)])
def test_what_two_more_functions_do_not_see_at_a_singularity_is_counted(centre):
    problem, exact = cone(centre, 1.0)
    solution = sf.solve(problem, tol=1e-5)
    x, y = near(centre)
    values = exact(x, y)
    error = np.abs(solution(x, y) - values).max() / np.abs(values).max()
    assert solution.converged and error < min(1e-5, 2 * solution.error_estimate)


@pytest.mark.parametrize("power", [-2, -4])
def test_what_has_no_finite_solution_is_not_answered(power):
    problem = sf.Problem(
        BOX,
        lambda u, x, y: -sf.laplacian(u) - distance((0.4, 0.3), x, y) ** power,
        boundary=lambda u, x, y: u,
    )
    assert not sf.solve(problem, tol=1e-2, max_kernels=4000).converged


def test_data_that_are_infinite_on_a_line_across_the_axes_are_refused():
    problem = sf.Problem(
        BOX,
        lambda u, x, y: -sf.laplacian(u) - np.abs(x - y) ** -0.5,
        boundary=lambda u, x, y: u,
    )
    with pytest.raises(EquationError, match="finite"):
        sf.solve(problem, tol=1e-3)
