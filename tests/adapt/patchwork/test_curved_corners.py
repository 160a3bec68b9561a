"""Functions of corners beside curved sides."""

import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.adaptor import Patches
from sharpfront.adapt.patchwork.corner_enrichment import Wedges
from sharpfront.adapt.patchwork.corner_sides import Bend, sides_at
from sharpfront.adapt.patchwork.enriched_patches import cut_at_functions
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.maps import AxisMap
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.tiling.tiling import tiling_of

UNION = sf.Box((0, 1), (0, 0.6)) | sf.Disk((0.5, 0.6), 0.4)
# Short of the second corner.
FIRST = sf.Box((0, 0.7), (0, 0.6)) | (sf.Disk((0.5, 0.6), 0.4) & sf.Box((0, 0.7), (0.5, 1.1)))


def straightened(x, y):
    """Return a harmonic function that is zero on the line and on the circle, r^(2/3) at (0.1, 0.6).

    A Moebius map makes rays of both.
    """
    z = x + 1j * (y - 0.6)
    ray = (z - 0.1) / (z - 0.9)
    angle = np.mod(np.angle(ray) + 0.5, 2 * np.pi) - 0.5
    return np.abs(ray) ** (2 / 3) * np.sin(angle * 2 / 3)


def test_a_corner_of_a_line_and_a_circle():
    given = sf.function(straightened)
    problem = sf.Problem(
        FIRST, lambda u, x, y: sf.laplacian(u), boundary=lambda u, x, y: u - given(x, y)
    )
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged and solution.kernels < 2500
    r, angle = np.geomspace(1e-6, 0.3, 60), np.linspace(1.02, 2.45, 30)[:, None] * np.pi
    x, y = (0.1 + r * np.cos(angle)).ravel(), (0.6 + r * np.sin(angle)).ravel()
    inside = FIRST.contains(np.stack([x, y], axis=1))
    error = np.abs(solution(x[inside], y[inside]) - straightened(x[inside], y[inside])).max()
    assert error < 1e-6 and error < 3 * solution.error_estimate


def test_a_source_on_a_box_and_a_disk():
    problem = sf.Problem(UNION, lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u)
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged and solution.kernels < 1500


def test_what_curved_sides_add_to_functions_of_a_corner():
    """They vanish on the circle far better than on its tangent's functions do."""
    problem = sf.Problem(FIRST, lambda u, x, y: -sf.laplacian(u), boundary=lambda u, x, y: u)
    wedges = Wedges(problem, tiling_of(FIRST), 1e-6)
    (main,) = [m for m in wedges._main if m.functions.place == pytest.approx((0.1, 0.6))]
    r = np.array([1e-3, 1e-2])
    turn = 2 * np.arcsin(r / 0.8)
    on_circle = np.stack([0.5 - 0.4 * np.cos(turn), 0.6 + 0.4 * np.sin(turn)], axis=1)
    bare = np.abs(main.functions.values(on_circle, (0, 0))[:, 0])
    full = np.abs(main.completed(problem).values(on_circle, (0, 0))[:, 0])
    assert np.all(full < 1e-2 * bare)
    # One order more with each power of the distance.
    assert full[0] / full[1] < 10**-3.0 < 10**-1.5 < bare[0] / bare[1] * 10


def test_bends_are_those_of_the_curves():
    sides = sides_at(tiling_of(UNION), np.array([0.1, 0.6]), 1.0, bends=True)
    straight, curved = sorted(sides, key=lambda side: side.curvature)
    assert straight.bend is None and isinstance(curved.bend, Bend)
    assert curved.curvature == pytest.approx(2.5, rel=1e-8)
    assert curved.direction == pytest.approx([0.0, 1.0], abs=1e-8)
    lengths = np.array([1e-9, 1e-3, 0.1])
    ways = curved.bend.points(lengths)
    assert np.linalg.norm(ways - [0.4, 0.0], axis=1) == pytest.approx(0.4, rel=1e-12)
    assert np.linalg.norm(ways, axis=1) == pytest.approx(0.8 * np.sin(lengths / 0.8), rel=1e-8)


def test_patches_are_cut_once_for_what_functions_leave():
    problem = sf.Problem(FIRST, lambda u, x, y: -sf.laplacian(u), boundary=lambda u, x, y: u)
    functions = Wedges(problem, tiling_of(FIRST), 1e-6).functions
    cells = [
        Cell(Patch((AxisMap(0.0, 0.1), AxisMap(0.0, 0.6)), (9, 9))),
        Cell(Patch((AxisMap(0.1, 0.7), AxisMap(0.0, 0.6)), (9, 9))),
    ]
    parts = cut_at_functions(cells, functions, [1e-5, 1e-5])
    assert sum(c.patch.sides.prod() for c in parts) == pytest.approx(0.42)
    assert len(parts) > len(cells)
    assert not cut_at_functions(parts, functions, [1e-5] * len(parts))


def test_points_next_to_a_corner_have_the_patch_that_they_lie_in():
    # From the corner at 0 the middles of the two patches on the left lie outside of both disks.
    both = sf.Disk((1, 2), math.sqrt(5)) | sf.Disk((1, -2), math.sqrt(5))
    bitten = both - sf.Disk((2, 0), 0.6)
    problem = sf.Problem(bitten, lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u)
    patches = [cell.patch for cell in Patches().start(problem, 1e-3, 0).cells]
    side = math.pi / 2 + math.atan(2)
    angles = side * np.array([-0.99, -0.9, -0.3, 0.3, 0.9, 0.99])
    points = 1e-9 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for point, i in zip(points, PatchworkBasis(tuple(patches)).owner(points), strict=True):
        assert np.all(patches[i].low <= point) and np.all(point <= patches[i].high)
