"""Boxes that are cut along chords across a direction."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
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
