"""Layers of winds on polygons: the first patches hold them, and nothing lies between but room."""

from __future__ import annotations

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.place.patches.first_patches import first_cells
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.waves import Waves
from sharpfront.place.tiling.tiling import rings_of, tiling_of

L = [(0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)]


def turned(points, angle):
    c, s = np.cos(angle), np.sin(angle)
    return sf.Polygon(np.asarray(points, dtype=float) @ np.array([[c, s], [-s, c]]))


@pytest.mark.parametrize("eps", [1e-2, 3e-3])
@pytest.mark.parametrize("seed", range(8))
def test_layers_that_are_as_deep_but_for_rounding_leave_no_slivers(seed, eps):
    """What begins at the two ends of a wall of an L decays along it as fast."""
    angle, wind = np.random.default_rng(seed).uniform(0, 2 * np.pi, 2)
    domain = turned(L, angle)
    problem = sf.Problem(
        domain,
        lambda u, x, y: -eps * sf.laplacian(u) + np.cos(wind) * u.dx + np.sin(wind) * u.dy - 1,
        boundary=lambda u, x, y: u,
    )
    tiling, tol = tiling_of(domain), 1e-5
    cells = first_cells(problem, tiling, SETTINGS, tol, 30_000, Waves.of(problem, tiling))
    assert min(cell.patch.sides.min() for cell in cells) > 0.1 * eps


@pytest.mark.parametrize("seed", [10, 19, 25])
def test_a_mild_wind_on_a_turned_corner_that_points_inwards(seed):
    """exp(b.n n.(x - c) / eps) beside sides that the wind leaves by, of those of the hull."""
    angle, wind = np.random.default_rng(seed).uniform(0, 2 * np.pi, 2)
    domain, eps, tol = turned(L, angle), 1e-2, 1e-3
    ring, b = rings_of(domain)[0], np.array([np.cos(wind), np.sin(wind)])
    hull = [k for k in range(6) if np.allclose(_outside(ring, k), 0, atol=1e-9)]
    sides = [(*_outwards(ring, k), ring.corners[k]) for k in hull]
    out = [(p, q, c) for p, q, c in sides if b @ (p, q) > 0]
    assert out

    def exact(x, y):
        layers = [np.exp(b @ (p, q) * (p * (x - c[0]) + q * (y - c[1])) / eps) for p, q, c in out]
        return np.cos(x + 2 * y) + sum(layers)

    def equation(u, x, y):
        smooth = 5 * eps * np.cos(x + 2 * y) - (b[0] + 2 * b[1]) * np.sin(x + 2 * y)
        return -eps * sf.laplacian(u) + b[0] * u.dx + b[1] * u.dy - smooth

    problem = sf.Problem(domain, equation, boundary=lambda u, x, y: u - exact(x, y))
    solution = sf.solve(problem, tol=tol)
    assert solution.converged
    rim = domain.boundary("surface", 300)
    depths = eps * np.linspace(0.01, 10, 30)
    points = np.concatenate([rim.points - depth * rim.normals for depth in depths])
    x, y = points[domain.contains(points)].T
    assert np.abs(solution(x, y) - exact(x, y)).max() < tol * np.abs(exact(x, y)).max()


def _outwards(ring, k):
    return ring.tangents[k][1], -ring.tangents[k][0]


def _outside(ring, k):
    """Return how far corners are beyond the line of a side."""
    return np.maximum((np.array(ring.corners) - ring.corners[k]) @ _outwards(ring, k), 0.0)
