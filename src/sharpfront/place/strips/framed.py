"""Frames along straight sides in which layers decay."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.maps import Quadrilateral
from sharpfront.place.strips.decay_rates import decay_rates
from sharpfront.place.strips.ribbons import ON_PANEL
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.place.tiling.frames import PolygonRing, fit
from sharpfront.place.tiling.tiling import framed_tiling, rings_of
from sharpfront.problem import Problem


def framed(problem: Problem, tiling: Tiling, widths: float) -> Tiling:
    """Return a tiling by charts with frames along all sides, where all have thin layers.

    Frames are so many widths of layers deep. Charts that were cut along lines stay as they are, and
    so do those with winds: beside a side that a wind enters by nothing decays.
    """
    if tiling.blocks[0].chart is None or tiling.ends or tiling.marked:
        return tiling
    rings = rings_of(tiling.domain)
    size = float(np.ptp(tiling.domain.bounds, axis=0).max())
    depths = [
        ring.evened(np.array([_deepest_layer(problem, side, widths, size) for side in ring.sides]))
        for ring in rings
    ]
    deepest = max((float(own.max()) for own in depths), default=math.inf)
    if not deepest < STRIPS.of_gap * _frame_room(rings, 0.5 * size):
        return tiling
    frames = [ring.frame(own) for ring, own in zip(rings, depths, strict=True)]
    return (framed_tiling(tiling.domain, frames) if fit(frames) else None) or tiling


def _frame_room(rings: Sequence[PolygonRing], most: float) -> float:
    """Return how deep frames along the sides of rings may be, zero if there is no room for any."""
    found = 0.0
    for depth in most * STRIPS.factor ** np.arange(STRIPS.depths)[::-1]:
        if not fit([ring.frame(np.full(len(ring.corners), depth)) for ring in rings]):
            break
        found = float(depth)
    return found


def _deepest_layer(problem: Problem, side: FloatArray, widths: float, size: float) -> float:
    """Return how deep layers beside a side, (2, 2), are; infinite where somewhere none is."""
    (x, y), (a, b) = side.tolist()
    length, deep = math.dist((x, y), (a, b)), STRIPS.nominal * size
    in_x, in_y = -(b - y) * deep / length, (a - x) * deep / length
    chart = Quadrilateral(((x, y), (a, b), (a + in_x, b + in_y), (x + in_x, y + in_y)))
    places = np.stack(
        [0.5 * (ON_PANEL + 1.0) * length, np.full(len(ON_PANEL), 1e-6 * deep)], axis=1
    )
    rates = decay_rates(problem, places, 1, 0, chart=chart)
    return max(widths / float(own.min()) if len(own) else math.inf for own in rates)
