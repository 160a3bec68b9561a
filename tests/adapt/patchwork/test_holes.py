"""Corners of holes, and corners where conductivities vary, have functions."""

from functools import cache

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.corner_cells import most_cells
from sharpfront.adapt.patchwork.plane_corners import PlaneCorners
from sharpfront.leastsquares.gram import _times

SQUARE = sf.Box((-1, 1), (-1, 1))
WINDOW = sf.Box((-0.3, 0.3), (-0.2, 0.2)).named("hole")
TRIANGLE = sf.Polygon([(-0.3, -0.2), (0.35, -0.1), (0.0, 0.4)])
L_SHAPE = SQUARE - sf.Box((0, 1), (0, 1))


def poisson(u, x, y):
    return -sf.laplacian(u) - 1 - x


def windy(u, x, y):
    return -sf.laplacian(u) + 3 * u.dx + 10 * u - 1 - x


def cubic(u, x, y):
    return -sf.laplacian(u) + u**3 - 10


def varying(u, x, y):
    return -sf.div((1 + x**2) * sf.grad(u)) - 1


CASES = {
    "window": (SQUARE - WINDOW, poisson, {}),
    "window, flux": (SQUARE - WINDOW, poisson, {"hole": lambda u, x, y: u.dn}),
    "window, cubic": (SQUARE - WINDOW, cubic, {}),
    "window in a disk": (sf.Disk((0, 0), 1) - WINDOW, poisson, {}),
    "triangle in a square, windy": (SQUARE - TRIANGLE, windy, {}),
    "triangle in a disk": (sf.Disk((0, 0), 1) - TRIANGLE, poisson, {}),
    "triangle in a square": (SQUARE - TRIANGLE, poisson, {}),
    # From its corners rays lead through others of them.
    "square window in an L": (L_SHAPE - sf.Box((-0.7, -0.3), (-0.6, -0.2)), poisson, {}),
    "L, varying": (L_SHAPE, varying, {}),
    "window, varying": (SQUARE - WINDOW, varying, {}),
}


def stated(name):
    domain, equation, parts = CASES[name]
    return sf.Problem(domain, equation, boundary=lambda u, x, y: u, **parts)


@cache
def solved(name, tol):
    return sf.solve(stated(name), tol=tol)


def places(domain):
    """Return points all over a domain and graded into its corners."""
    angles = np.linspace(0, 2 * np.pi, 25)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rings = np.geomspace(1e-6, 0.2, 10)[:, None, None] * ways
    found = np.concatenate(
        [domain.sample(1000), (domain.corners[:, None, None] + rings).reshape(-1, 2)]
    )
    return found[domain.contains(found)].T


@pytest.mark.parametrize("name", CASES)
def test_few_functions_are_enough_and_errors_are_told(name):
    solution, strict = solved(name, 1e-4), solved(name, 1e-5)
    assert solution.converged and strict.converged
    # Patches cut towards the corners took 10 000 to 46 000.
    assert solution.kernels < 2000
    at = places(CASES[name][0])
    error = np.abs(solution(*at) - strict(*at)).max()
    # Within 1e-6 of a slanted corner three times an estimate of 5e-8 is left.
    assert error <= 1.2 * solution.error_estimate + strict.error_estimate + 2e-7


def test_patches_without_functions_agree(monkeypatch):
    at = places(CASES["window"][0])
    with_functions = solved("window", 1e-4)
    monkeypatch.setattr(PlaneCorners, "_held", lambda *_: (None, None))
    other = sf.solve(stated("window"), tol=1e-3)
    assert other.converged and other.kernels > 5000
    assert np.abs(with_functions(*at) - other(*at)).max() < other.error_estimate


def test_long_patches_beside_a_hole_are_called_no_layers():
    axes = solved("triangle in a disk", 1e-5).plot()
    assert "converged" in axes.get_title() and "narrower" not in axes.get_title()


def test_they_come_back_from_files(tmp_path):
    solution = solved("window in a disk", 1e-4)
    solution.save(tmp_path / "hole.npz")
    at = places(CASES["window in a disk"][0])
    assert np.array_equal(sf.load(tmp_path / "hole.npz")(*at), solution(*at))


def test_cells_behind_a_hole_have_none_of_its_corners():
    lines = [-1.0, -0.3, 0.3, 1.0], [-1.0, -0.2, 0.2, 1.0]
    cells = np.array(
        [
            [(a, c), (b, c), (b, d), (a, d)]
            for a, b in zip(lines[0], lines[0][1:], strict=False)
            for c, d in zip(lines[1], lines[1][1:], strict=False)
            if (a, c) != (-0.3, -0.2)
        ]
    )
    domain, corner = SQUARE - WINDOW, np.array([0.3, 0.2])
    ray = -np.array([0.8, 0.6])
    best, kept = most_cells(domain, cells, corner, [ray], 1e-12)
    assert best == 0
    # From (-0.23, -0.2) on it goes through the cell below, then through that at the corner.
    gone = {tuple(c[0]) for c in cells} - {tuple(c[0]) for c in kept}
    assert gone == {(-0.3, -1.0), (-1.0, -1.0)}
    # The corner is none of a cell that has it inside.
    whole = np.array([[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]])
    assert most_cells(domain, whole, corner, [ray], 1e-12) is None


def test_a_leaf_without_traces_has_nothing_to_say():
    """One of a disk without a triangle had none, and reshaping it ended the solve."""
    assert _times(np.zeros(0), np.zeros((0, 3, 2)), turned=True).shape == (0, 3, 2)
