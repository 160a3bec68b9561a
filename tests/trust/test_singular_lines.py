"""Sources that are infinite along a line across the axes."""

import numpy as np
import pytest

import sharpfront as sf


def _problem(slope, power):
    def side(x, y):
        return y - slope * x - 0.1

    def exact(x, y):
        t = side(x, y)
        return np.cos(x) + np.where(t > 0, np.abs(t) ** power, 0.0)

    def source(x, y):
        t, size = side(x, y), power * (power - 1) * (1 + slope**2)
        return -np.cos(x) + np.where(t > 0, size * np.abs(t) ** (power - 2), 0.0)

    problem = sf.Problem(
        sf.Box((-1, 1), (-1, 1)),
        lambda u, x, y: sf.laplacian(u) - source(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    return problem, exact


@pytest.mark.parametrize(
    ("slope", "power", "tol"),
    [
        (0.3, 1.5, 1e-5),
        (-0.45, 1.2, 1e-5),
        (2.2, 1.3, 1e-5),
        (-0.27458038374000404, 1.1226375969512228, 1e-4),
    ],
)
def test_places_on_thin_patches_are_told_from_their_sides(slope, power, tol):
    # They lie on the line, as far as numbers go: beside it they were taken for spikes.
    problem, exact = _problem(slope, power)
    solution = sf.solve(problem, tol=tol)
    x, y = np.meshgrid(np.linspace(-1, 1, 301), np.linspace(-1, 1, 301))
    error = np.abs(solution(x, y) - exact(x, y)).max() / np.abs(exact(x, y)).max()
    assert solution.converged
    assert error < 3 * solution.error_estimate
