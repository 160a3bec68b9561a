"""Layers of curves that are closer to each other than the layers are deep: strips meet half way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ive, kve

import sharpfront as sf
from sharpfront.bases.cut_cells import Region
from sharpfront.geometry.panels import Panels
from sharpfront.maps import Strip
from sharpfront.place.patches.settings import PatchSettings
from sharpfront.place.strips.collars import collared
from sharpfront.place.strips.medial import left_of, meetings, pieces
from sharpfront.place.tiling.tiling import tiling_of

GAP = 0.02
RING = sf.Disk((0, 0), 1) - sf.Disk((0.5 - GAP, 0), 0.5)


def layers(w):
    """Return a solution of w^2 lap u = u with layers along both circles of the ring."""

    def exact(x, y):
        outer, inner = np.hypot(x, y), np.hypot(x - 0.5 + GAP, y)
        one = ive(0, outer / w) / ive(0, 1 / w) * np.exp((outer - 1) / w)
        return one + kve(0, inner / w) / kve(0, 0.5 / w) * np.exp((0.5 - inner) / w)

    return exact


def problem(domain, w, given=None):
    boundary = (lambda u, x, y: u) if given is None else (lambda u, x, y: u - given(x, y))
    source = 1.0 if given is None else 0.0
    return sf.Problem(
        domain, lambda u, x, y: -(w**2) * sf.laplacian(u) + u - source, boundary=boundary
    )


def panels_of(domain):
    region = tiling_of(domain).blocks[0].region
    assert isinstance(region, Region)
    return region.panels


def through_the_gap(w):
    angles = np.concatenate([np.geomspace(1e-3, np.pi, 30), -np.geomspace(1e-3, np.pi, 30)])
    out = []
    for d in np.concatenate([w * np.array([0, 0.1, 0.5, 1, 2, 5, 10, 15]), GAP * np.arange(5) / 4]):
        along = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        out += [(1 - d) * along, (0.5 + d) * along + [0.5 - GAP, 0]]
    every = np.concatenate([*out, RING.sample(300)])
    return every[RING.contains(every)].T


@pytest.mark.parametrize(
    "w", [3e-3, *(pytest.param(w, marks=pytest.mark.slow) for w in (0.03, 3e-4))]
)
def test_layers_in_a_gap_that_is_narrower_than_they_are_deep(w):
    exact = layers(w)
    solution = sf.solve(problem(RING, w, sf.function(exact)), tol=1e-5)
    x, y = through_the_gap(w)
    assert solution.converged and solution.kernels < 6000
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-5


def test_half_way_is_as_far_from_both_circles():
    found = meetings(panels_of(RING), np.full(16, 0.1))
    assert len(found) == 1
    x, y = found[0].middle.T
    outer, inner = 1 - np.hypot(x, y), np.hypot(x - 0.5 + GAP, y) - 0.5
    np.testing.assert_allclose(outer, inner, atol=1e-12)
    assert outer.min() == pytest.approx(GAP / 2, rel=1e-3) and 0.1 <= outer.max() < 0.13
    circles = ((0, 0), 1), ((0.5 - GAP, 0), 0.5)
    for side, (centre, radius) in zip(found[0].sides, circles, strict=True):
        every = np.repeat(np.arange(len(side.parts)), 7)
        on = side.at(every, np.tile(np.linspace(-1, 1, 7), len(side.parts)))
        np.testing.assert_allclose(np.hypot(*(on - centre).T), radius, atol=1e-12)


def test_what_is_left_of_a_curve_and_what_meets_others_is_all_of_it():
    panels = panels_of(RING)
    found = meetings(panels, np.full(16, 0.1))

    def length(some: Panels) -> float:
        z, w = np.polynomial.legendre.leggauss(12)
        count = len(some.parts)
        _, speeds = some.boundary(np.repeat(np.arange(count), 12), np.tile(z, count))
        return float(speeds @ np.tile(w, count))

    for k, (ends, radius) in enumerate(zip(panels.closed, (1.0, 0.5), strict=True)):
        rest = [pieces(panels, stretch, ends) for stretch in left_of(found, ends)]
        whole = length(found[0].sides[k]) + sum(length(own) for own in rest)
        assert whole == pytest.approx(2 * np.pi * radius, rel=1e-10)


def test_strips_and_boxes_cover_the_ring_once():
    tiling = collared(problem(RING, 3e-3), tiling_of(RING), PatchSettings(), 1e-5)
    boxes, *strips = tiling.blocks
    assert boxes.region is not None
    points = RING.sample(2000)
    held = boxes.region.contains(points).astype(int)
    for block in strips:
        assert isinstance(block.chart, Strip)
        at = block.chart.inverse(points)
        held += np.all((at > 0) & (at < block.chart.size), axis=1)
    # Beside their sides boxes know strips by points on these.
    assert np.mean(held != 1) < 2e-3


def test_a_ring_that_layers_fill_has_no_boxes():
    ring = sf.Disk((0, 0), 1) - sf.Disk((0.05, 0), 0.6)
    tiling = collared(problem(ring, 0.02), tiling_of(ring), PatchSettings(), 1e-5)
    assert all(isinstance(block.chart, Strip) for block in tiling.blocks)


def test_a_neck_of_one_curve():
    def level(x, y):
        return (x**2 + y**2) ** 2 - 2 * (x**2 - y**2) - 2e-3

    neck = sf.Implicit(level, ((-1.8, 1.8), (-1, 1)))
    panels = panels_of(neck)
    found = meetings(panels, np.full(len(panels.parts), 0.06))
    assert len(found) == 1 and len(left_of(found, panels.closed[0])) == 2
    assert np.abs(found[0].middle[:, 1]).max() < 1e-9


def test_curves_with_room_do_not_meet():
    assert not meetings(panels_of(RING), np.full(16, 0.4 * GAP))
