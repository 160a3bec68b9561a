"""Layers along slanted sides: frames as deep as these, with corners of their own."""

from __future__ import annotations

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
from sharpfront.place.patches.settings import PatchSettings
from sharpfront.place.strips.collars import collared
from sharpfront.place.tiling.tiling import rings_of, tiling_of
from sharpfront.rows.neighbours import faces_of

TRIANGLE = [(0.0, 0.0), (1.0, 0.1), (0.3, 0.8)]


def turned(points, angle):
    c, s = np.cos(angle), np.sin(angle)
    return sf.Polygon(np.asarray(points, dtype=float) @ np.array([[c, s], [-s, c]]))


SHAPES = {
    "triangle": lambda: sf.Polygon(TRIANGLE),
    "blunt": lambda: sf.Polygon([(0, 0), (1, -0.1), (1.4, 0.5), (0.9, 1.2), (-0.2, 0.9)]),
    "L": lambda: turned([(0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)], 0.4),
    "notch": lambda: turned(
        [(0, 0), (1, 0), (1, 1), (0.65, 1), (0.5, 0.6), (0.35, 1), (0, 1)], 0.3
    ),
    "hole": lambda: sf.Polygon(
        [(0, 0), (2, 0), (2, 1.5), (0, 1.5)], [[(0.6, 0.5), (1.0, 0.4), (0.8, 0.9)]]
    ),
    "cut out": lambda: sf.Box((0, 2), (0, 1)) - sf.Polygon(np.array(TRIANGLE) + 0.5).named("bay"),
}


def reacting(domain, eps):
    return sf.Problem(domain, lambda u, x, y: -eps * sf.laplacian(u) + u - 1, **dirichlet(domain))


def dirichlet(domain):
    return {part: lambda u, x, y: u for part in domain.parts}


def tiled(domain, eps=1e-7, tol=1e-6):
    return collared(reacting(domain, eps), tiling_of(domain), PatchSettings(), tol)


def patches_of(tiling):
    return [
        Patch(tuple(AxisMap(*e) for e in np.stack(box, axis=1).tolist()), (1, 1), block.chart)
        for block in tiling.blocks
        for box in block.boxes(block.lines)
    ]


def area(corners):
    x, y = np.array(corners).T
    return 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))


@pytest.mark.parametrize("name", SHAPES)
def test_frames_and_what_they_leave_tile_a_polygon(name):
    domain = SHAPES[name]()
    tiling = tiled(domain)
    assert any(block.layered for block in tiling.blocks)
    areas = [area(block.chart.corners) for block in tiling.blocks]
    assert min(areas) > 0
    assert sum(areas) == pytest.approx(domain.measure, rel=1e-9)
    lengths = dict.fromkeys(domain.parts, 0.0)
    for block in tiling.blocks:
        for wall in block.walls:
            assert wall[0] in block.layered
            lengths[wall[4]] += float(np.linalg.norm(np.diff(block.ends(wall), axis=0)))
    for part, pieces in domain.pieces_in(None).items():
        assert lengths[part] == pytest.approx(sum(p.measure for p in pieces), rel=1e-9)


@pytest.mark.parametrize("name", SHAPES)
def test_frames_are_as_deep_as_layers_all_along_a_side(name):
    domain = SHAPES[name]()
    eps, tol = 1e-7, 1e-6
    depth = PatchSettings().layer(tol) * np.sqrt(eps)
    for block in tiled(domain, eps, tol).blocks:
        if set(block.layered) == {1}:
            a, b, c, d = map(np.array, block.chart.corners)
            normal = np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
            assert (c - a) @ normal == pytest.approx(depth, rel=1e-6)
            assert (d - a) @ normal == pytest.approx(depth, rel=1e-6)


@pytest.mark.parametrize("name", SHAPES)
def test_faces_between_frames_and_charts_cover_lines_of_which_both_have_parts(name):
    tiling = tiled(SHAPES[name]())
    patches = patches_of(tiling)
    faces, bare = faces_of(patches, (None, None))
    assert all(tiling.parts(patches, bare).values())
    lengths = np.zeros((len(patches), 2, 2))
    for face in faces:
        for contact in face.contacts:
            own = patches[contact.patch].sides[contact.rest]
            lengths[contact.patch, contact.axis, contact.end] += (contact.lengths / own).item()
    for side in bare:
        lengths[side.patch, side.axis, side.end] += 1.0
    assert lengths == pytest.approx(1.0, rel=1e-9)


def test_sides_are_run_through_with_the_domain_on_their_left():
    domain = SHAPES["hole"]()
    outer, inner = sorted(rings_of(domain), key=lambda ring: -abs(area(ring.corners)))
    assert area(outer.corners) > 0 > area(inner.corners)
    assert outer.turns.sum() == pytest.approx(360) and inner.turns.sum() == pytest.approx(-360)


@pytest.mark.parametrize("eps", [1e-2, 1e-3])
def test_layers_without_room_leave_charts_as_they_were(eps):
    domain = SHAPES["triangle"]()
    assert not any(block.layered for block in tiled(domain, eps).blocks)


def test_sides_that_a_wind_enters_by_have_no_frames():
    domain = SHAPES["triangle"]()
    problem = sf.Problem(
        domain, lambda u, x, y: -1e-6 * sf.laplacian(u) + u.dx - 1, boundary=lambda u, x, y: u
    )
    tiling = collared(problem, tiling_of(domain), PatchSettings(), 1e-6)
    assert not any(block.layered for block in tiling.blocks)


def layered_problem(domain, eps):
    """Return a problem whose solution has a layer along every side and none of its corners."""
    w = np.sqrt(eps)
    ring = rings_of(domain)[0]
    sides = list(zip(ring.tangents, np.array(ring.corners), strict=True))

    def exact(x, y):
        layers = [np.exp(((x - c[0]) * t[1] - (y - c[1]) * t[0]) / w) for t, c in sides]
        return np.cos(x + 2 * y) + sum(layers)

    def equation(u, x, y):
        return -eps * sf.laplacian(u) + u - (1 + 5 * eps) * np.cos(x + 2 * y)

    problem = sf.Problem(domain, equation, boundary=lambda u, x, y: u - exact(x, y))
    return problem, exact, ring


@pytest.mark.parametrize("eps", [1e-4, 1e-8])
def test_layers_along_a_triangle_cost_the_same_whatever_their_width(eps):
    domain = SHAPES["triangle"]()
    problem, exact, ring = layered_problem(domain, eps)
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged
    shares = np.linspace(0, 1, 41)[:, None]
    points = []
    for (start, stop), (x, y) in zip(ring.sides, ring.tangents, strict=True):
        for depth in [0.0, *np.geomspace(1e-2, 40, 25) * np.sqrt(eps)]:
            points.append(start + shares * (stop - start) + depth * np.array([-y, x]))
    points = np.concatenate(points)
    points = points[domain.contains(points)]
    error = np.abs(solution(*points.T) - exact(*points.T)).max() / np.abs(exact(*points.T)).max()
    assert error < min(1e-6, 2 * solution.error_estimate)
    assert solution.kernels < 4000


def test_a_turned_l_with_thin_layers_is_solved():
    # Charts that taper ended at 5e-5 here.
    solution = sf.solve(reacting(SHAPES["L"](), 1e-6), tol=1e-5)
    assert solution.converged and solution.kernels < 12000
