"""Layers along walls that nothing flows through: cut off where the equation says they end."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.place.patches.beside_walls import layers_along_walls
from sharpfront.place.patches.settings import PatchSettings
from sharpfront.place.tiling.tiling import tiling_of

TOL = 1e-6


def along(angle, eps, k, low):
    """A layer on the lower wall, or the left one, of a wind along it; and its solution."""
    rate = np.sqrt(k * k + 1j * k / eps)
    flat = angle == 0

    def exact(x, y):
        t, n = (x, y) if flat else (y, x)
        return np.exp(-rate.real * (n - low)) * np.cos(k * t - rate.imag * (n - low))

    sides = [(0.0, 1.0), (low, low + 1.0)]
    problem = sf.Problem(
        sf.Box(*(sides if flat else sides[::-1])),
        lambda u, x, y: -eps * sf.laplacian(u) + (u.dx if flat else u.dy),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    return problem, exact


def depths_of(problem):
    """Return the depth of layers along walls, by axis and end."""
    found = layers_along_walls(problem, tiling_of(problem.domain), PatchSettings(), TOL)
    return {(axis, end): depth for (_, axis, end, _), (depth, _) in found.items()}


@pytest.mark.parametrize(("angle", "eps", "low"), [(0, 1e-3, 0.0), (1, 1e-5, 0.0), (0, 1e-6, -3.0)])
def test_walls_along_the_wind_may_have_layers_and_no_others(angle, eps, low):
    found = depths_of(along(angle, eps, 1.7, low)[0])
    assert set(found) == {(1 - angle, 0), (1 - angle, 1)}
    for depth in found.values():
        assert 6 < depth / np.sqrt(2 * eps) < 21 and depth <= 0.5


@pytest.mark.parametrize("wind", [0.0, 10.0])
def test_where_no_layer_is_thin_there_is_none(wind):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) + wind * u.dx - 1,
        boundary=lambda u, x, y: u,
    )
    assert not depths_of(problem)


@pytest.mark.parametrize("eps", [1e-4, 1e-6])
def test_where_nothing_changes_beside_such_walls_nothing_is_cut(eps):
    def exact(x, y):
        return (x - np.exp((x - 1) / eps)) * np.cos(y)

    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -eps * sf.laplacian(u) + u.dx - np.cos(y) - eps * exact(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    assert depths_of(problem)
    solution = sf.solve(problem, tol=TOL, adaptor=sf.Patches())
    assert solution.converged and solution.kernels < 500


@pytest.mark.parametrize(("angle", "eps", "k"), [(0, 1e-3, 1.7), (1, 1e-4, 3.0)])
def test_a_layer_along_the_wind_is_solved_on_few_functions(angle, eps, k):
    problem, exact = along(angle, eps, k, 0.0)
    solution = sf.solve(problem, tol=TOL, adaptor=sf.Patches())
    near = np.geomspace(1e-4, 1, 60)
    x, y = (v.ravel() for v in np.meshgrid(near, near))
    error = np.abs(solution(x, y) - exact(x, y)).max()
    assert solution.converged and error <= min(TOL, 3 * solution.error_estimate)
    # Found by splitting the second took 8900 functions.
    assert solution.kernels < 3000 and len(solution.history) <= 5
