"""A box cut along a direction across its axes: between its corners, in charts along chords."""

from __future__ import annotations

import itertools

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Box
from sharpfront.maps import Quadrilateral
from sharpfront.maps.quadrilateral import Corner
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.place.tiling.solids import ROUNDING


def leaning_tiling(box: Box, normal: FloatArray) -> Tiling:
    """Return a tiling of a box by charts whose second axis runs across a normal.

    Chords across the normal through all corners cut the box into a triangle, a trapezium and
    another triangle, or into two triangles. The first coordinate of a chart is the way along the
    normal, the second the share of a chord; at the outermost corners chords are points.
    """
    corners = np.array(list(itertools.product(*box.bounds.T)))
    places = np.sort(corners @ normal)
    near = ROUNDING * float(np.ptp(box.bounds, axis=0).max())
    cuts = [float(places[0]), *(float(b) for a, b in itertools.pairwise(places) if b - a > near)]
    chords = [_chord(box, normal, place) for place in cuts]
    blocks = []
    for (a, d), (b, c) in itertools.pairwise(chords):
        chart = Quadrilateral((a, b, c, d))
        lines = tuple(np.array([0.0, length]) for length in chart.size)
        walls = tuple(
            (1, end * float(chart.size[1]), np.zeros(1), chart.size[:1], _part(box, side))
            for end, side in enumerate(((a, b), (d, c)))
        )
        blocks.append(Block(box, lines, walls, chart))
    # Patches that end at a corner are as wide as a front: they are not cut towards it.
    return Tiling(box, tuple(blocks), places=np.zeros((0, 2)), normal=tuple(normal.tolist()))


def _chord(box: Box, normal: FloatArray, place: float) -> tuple[Corner, Corner]:
    """Return the ends of the chord at a place along the normal, in the direction to its left."""
    low, high = box.bounds
    near = ROUNDING * float(np.ptp(box.bounds, axis=0).max())
    found = []
    for axis, bound in itertools.product(range(2), (low, high)):
        point = np.array(bound)
        point[1 - axis] = (place - normal[axis] * bound[axis]) / normal[1 - axis]
        if np.all(point >= low - near) and np.all(point <= high + near):
            snapped = np.where(np.abs(point - low) <= near, low, point)
            found.append(np.where(np.abs(point - high) <= near, high, snapped))
    found.sort(key=lambda p: float(normal[0] * p[1] - normal[1] * p[0]))
    first, last = (tuple(p.tolist()) for p in (found[0], found[-1]))
    return first, last


def _part(box: Box, side: tuple[Corner, Corner]) -> str:
    """Return the name of the side of a box that two points lie on."""
    ends = np.array(side)
    names = iter(box.parts)
    for axis, bound in itertools.product(range(2), box.bounds):
        name = next(names)
        if np.all(ends[:, axis] == bound[axis]):
            return name
    raise AssertionError("chords end on sides")
