"""A box cut along a direction across its axes: between its corners, in charts along chords."""

from __future__ import annotations

import itertools

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.maps import Chords, Quadrilateral
from sharpfront.maps.quadrilateral import Corner
from sharpfront.place.tiling.blocks import Block, Tiling


def leaning_tiling(box: Domain, normal: FloatArray) -> Tiling:
    """Return a tiling of a box by charts whose second axis runs across a normal.

    Chords across the normal through all corners cut the box into a triangle, a trapezium and
    another triangle, or into two triangles. The first coordinate of a chart is the way along the
    normal, the second the share of a chord; at the outermost corners chords are points.
    """
    chords = Chords(box.bounds, normal)
    blocks = []
    for (a, d), (b, c) in itertools.pairwise(chords.ends):
        chart = Quadrilateral((a, b, c, d))
        lines = tuple(np.array([0.0, length]) for length in chart.size)
        walls = tuple(
            (1, end * float(chart.size[1]), np.zeros(1), chart.size[:1], _side_name(box, side))
            for end, side in enumerate(((a, b), (d, c)))
        )
        blocks.append(Block(box, lines, walls, chart))
    # Patches that end at a corner may be as thin as a front: they are not cut towards it.
    return Tiling(box, tuple(blocks), places=np.zeros((0, 2)), chords=chords)


def _side_name(box: Domain, side: tuple[Corner, Corner]) -> str:
    """Return the name of the side of a box that two points lie on."""
    ends = np.array(side)
    names = iter(box.parts)
    for axis, bound in itertools.product(range(2), box.bounds):
        name = next(names)
        if np.all(ends[:, axis] == bound[axis]):
            return name
    raise AssertionError("chords end on sides")
