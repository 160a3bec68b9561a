"""Fronts that cross: parallelograms about the crossings, and strips between them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.strips.bands import banded
from sharpfront.place.tiling.tiling import tiling_of

SQUARE = sf.Box((0, 1), (0, 1))


def _line(x, y, turn):
    a, b = math.cos(turn), math.sin(turn)
    return lambda p, q: a * (p - x) + b * (q - y)


def _wave(p, q):
    return q - 0.5 - 0.1 * np.sin(2 * np.pi * p)


def _crossing(levels, w):
    def equation(u, x, y):
        steps = [np.tanh(f(x, y) / w) for f in levels]
        return sf.laplacian(u) - sum(s * (1 - s * s) / w**2 for s in steps)

    return sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u)


PAIRS = {
    "lines at 30 degrees": (_line(0.52, 0.46, 0.4), _line(0.52, 0.46, 0.4 + math.pi / 6)),
    "three lines": (_line(0.3, 0.5, 0.2), _line(0.6, 0.5, -0.3), _line(0.5, 0.45, 1.4)),
    "a wave and a line": (_wave, _line(0.52, 0.46, 0.3)),
}


@pytest.mark.parametrize("levels", PAIRS.values(), ids=PAIRS.keys())
def test_every_point_lies_in_one_strip_parallelogram_or_region(levels):
    w = 1e-4
    tiling = banded(_crossing(levels, w), tiling_of(SQUARE), SETTINGS, 1e-6, 60_000)
    tiles = [b.chart for b in tiling.blocks if b.region is None and len(b.lines[0]) > 2]
    assert tiles
    rng = np.random.default_rng(3)
    middles = [chart.points(0.5 * chart.size[None])[0] for chart in tiles]
    near = [m + 60 * w * (rng.random((2000, 2)) - 0.5) for m in middles]
    points = np.concatenate([rng.random((2000, 2)), *near])
    count = np.zeros(len(points), dtype=int)
    for block in tiling.blocks:
        if block.region is not None:
            count += block.region.contains(points)
            continue
        at = block.chart.inverse(points)
        inside = np.all((at >= 0.0) & (at <= block.chart.size), axis=1)
        count += inside & (np.abs(block.chart.points(at) - points).max(axis=1) < 1e-9)
    assert np.all(count == 1)


@pytest.mark.parametrize(
    ("w", "rest"), [pytest.param(1e-3, 1.0, marks=pytest.mark.slow), (1e-5, 0.0)]
)
def test_lines_that_cross_at_30_degrees_are_solved_whatever_their_width(w, rest, tmp_path):
    levels = PAIRS["lines at 30 degrees"]

    def exact(x, y):
        one, two = (np.tanh(f(x, y) / w) for f in levels)
        return one + 0.5 * two + rest * np.sin(x + 3 * y)

    def equation(u, x, y):
        steps = [np.tanh(f(x, y) / w) for f in levels]
        one, two = (-2 * s * (1 - s * s) / w**2 for s in steps)
        return sf.laplacian(u) - one - 0.5 * two + 10 * rest * np.sin(x + 3 * y)

    solution = sf.solve(
        sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u - exact(x, y)), tol=1e-4
    )
    assert solution.converged
    assert solution.kernels < 15_000
    patches = solution.approximation.bases["u"].patches
    z = np.array([-0.97, 0.03, 0.99])
    points = np.concatenate([SQUARE.sample(1000), *(patch.spread(z) for patch in patches)])
    points = points[SQUARE.contains(points)]
    assert np.abs(solution(*points.T) - exact(*points.T)).max() < 3e-4
    # Beside strips as thin as these the nearest points of both sides are hardly apart.
    solution.save(tmp_path / "crossing.npz")
    again = sf.load(tmp_path / "crossing.npz")
    assert np.abs(again(*points.T) - solution(*points.T)).max() < 1e-9


def test_fronts_that_meet_at_a_sharp_angle_have_no_parallelogram():
    levels = _line(0.52, 0.46, 0.4), _line(0.52, 0.46, 0.4 + math.radians(15))
    plain = tiling_of(SQUARE)
    assert banded(_crossing(levels, 1e-4), plain, SETTINGS, 1e-6, 60_000) is plain


def _has_tiles(tiling):
    return any(b.region is None and len(b.lines[0]) > 2 for b in tiling.blocks)


@pytest.mark.parametrize(("slope", "place"), [(-0.16, 0.41), (0.34, 0.56), (0.21, 0.55)])
def test_curved_fronts_have_parallelograms_wherever_lines_cross_them(slope, place):
    # Where panels joined sides of strips crossed themselves by rounding, and there were none.
    levels = (_wave, lambda x, y: x - place - slope * (y - 0.5))
    problem = _crossing(levels, 5e-4)
    assert _has_tiles(banded(problem, tiling_of(SQUARE), SETTINGS, 1e-6, 60_000))


def test_wide_lines_that_cross_are_left_to_charts():
    levels = _line(0.5, 0.47, 0.3), _line(0.5, 0.47, 1.5)
    thin, wide = (
        banded(_crossing(levels, w), tiling_of(SQUARE), SETTINGS, 1e-6, 60_000)
        for w in (2e-3, 2e-2)
    )
    assert _has_tiles(thin) and len(wide.blocks) == 1
