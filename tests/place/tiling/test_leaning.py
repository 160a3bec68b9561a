"""Boxes that are cut along chords across a direction."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap, FrontDrift, Quadrilateral, restored_drift
from sharpfront.place.tiling.leaning import leaning_tiling
from sharpfront.rows.neighbours import faces_of

BOX = sf.Box((0, 2), (-1, 0))
DIRECTIONS = [(1.0, 1.0), (1.0, 2.0), (3.0, -1.0), (-1.0, -0.7)]


def normal_of(direction):
    return np.array(direction) / np.linalg.norm(direction)


def places(count=500):
    return BOX.bounds[0] + np.random.default_rng(2).random((count, 2)) * np.ptp(BOX.bounds, axis=0)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_place_lies_in_one_chart_and_is_found_again(direction):
    tiling, x = leaning_tiling(BOX, normal_of(direction)), places()
    found = np.zeros(len(x), dtype=int)
    for block in tiling.blocks:
        s = block.chart.inverse(x)
        inside = np.all((s > 0) & (s < block.chart.size), axis=1)
        found += inside
        np.testing.assert_allclose(block.chart.points(s[inside]), x[inside], atol=1e-13)
    assert np.all(found == 1)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_all_sides_but_points_are_walls_or_shared(direction):
    tiling = leaning_tiling(BOX, normal_of(direction))
    patches = [
        Patch(tuple(AxisMap(0.0, float(a)) for a in b.chart.size), (3, 3), b.chart)
        for b in tiling.blocks
    ]
    faces, bare = faces_of(patches, tiling.periods)
    assert len(faces) == len(patches) - 1
    parts = tiling.parts(patches, bare)
    points = [side for side, part in parts.items() if not part]
    for side in points:
        start, stop = patches[side.patch].chart.edge(side.axis, side.end)
        assert start == stop
    assert len(points) == 2
    assert set(parts.values()) - {""} == set(BOX.parts)


def drift_in(chart):
    size = float(chart.size[0])
    return FrontDrift(BOX.bounds, chart, (0.4 * size, 0.55 * size), 0.3 * size)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_places_that_go_along_with_a_front_are_found_again(direction):
    x = places()
    for block in leaning_tiling(BOX, normal_of(direction)).blocks:
        drift = drift_in(block.chart)
        lapse = np.random.default_rng(3).uniform(0.0, drift.longest, len(x))
        moved = drift.points(x, lapse)
        np.testing.assert_allclose(moved, x + lapse[:, None] * drift.velocity(x), atol=1e-13)
        np.testing.assert_allclose(drift.inverse(moved, lapse), x, atol=1e-12)
        again = restored_drift(drift.state())
        np.testing.assert_array_equal(again.velocity(x), drift.velocity(x))


def test_about_a_front_all_places_go_alike_and_at_the_ends_none():
    chart = leaning_tiling(BOX, normal_of((1.0, 2.0))).blocks[1].chart
    drift, (length, width) = drift_in(chart), chart.size
    s = np.array([[0.0, 0.3], [0.1, 0.7], [0.42, 0.1], [0.5, 0.9], [0.99, 0.5]]) * (length, width)
    gone = chart.inverse(drift.points(chart.points(s), 0.2)) - s
    expected = 0.2 * drift.speed * np.array([0.0, 0.0, 1.0, 1.0, 0.0])
    np.testing.assert_allclose(gone, np.stack([expected, 0 * expected], axis=1), atol=1e-13)


def test_slopes_of_the_velocity_are_its_derivatives():
    chart = leaning_tiling(BOX, normal_of((1.0, 2.0))).blocks[0].chart
    assert isinstance(chart, Quadrilateral)
    drift, h = drift_in(chart), 1e-5
    s = np.random.default_rng(4).uniform(0.2, 0.9, (50, 2)) * chart.size
    x = chart.points(s)
    slopes = drift.slopes(x, 2)
    for axis, orders in enumerate([(1, 0), (0, 1)]):
        step = h * np.eye(2)[axis]
        found = (drift.velocity(x + step) - drift.velocity(x - step)) / (2 * h)
        np.testing.assert_allclose(slopes[orders], found, atol=1e-6)
        bent = (drift.slopes(x + step, 1)[1, 0] - drift.slopes(x - step, 1)[1, 0]) / (2 * h)
        second = (2, 0) if axis == 0 else (1, 1)
        # Where the velocity begins to fall its slope bends at once.
        off = np.abs(slopes[second] - bent).max(axis=1)
        assert np.median(off) < 1e-5
