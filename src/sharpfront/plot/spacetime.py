"""Values over space and time, row by row, and along time at a fixed place."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.plot.grid import kernels_at
from sharpfront.plot.quantity import Quantity
from sharpfront.plot.raster import Raster, with_extremes
from sharpfront.plot.section import Kernels, Section

# Rounds of halving the time between two moments at which a place has different kernels beside it.
_ROUNDS = 24
# Moments in a slab that these rounds begin with.
_FIRST = 5


def raster_in_time(
    quantity: Quantity, basis: Any, domain: Domain, where: Section, resolution: int
) -> Raster:
    """Return a quantity in `resolution` by `resolution` cells of a plane whose second axis is time.

    Each row shows one moment: at the middles of its cells, and where a kernel's centre or an end
    has a value beyond those of the neighbouring cells, that. All values of a row share the
    coordinate of its moment, which is what an evaluation costs.
    """
    from matplotlib.path import Path

    low, high = where.window
    cell = (high - low) / resolution
    x, t = (low[i] + (np.arange(resolution) + 0.5) * cell[i] for i in range(2))
    between = [_between(basis, float(moment), where) for moment in t]
    row = np.repeat(np.arange(resolution), [resolution + len(b) for b in between])
    places = np.concatenate([np.concatenate([x, b]) for b in between])
    flat = np.stack([places, t[row]], axis=1)
    points = where.lift(flat)
    inside = domain.contains(points)
    values = np.full(len(flat), np.nan)
    values[inside] = quantity.values(points[inside])
    middle = np.concatenate([np.arange(resolution + len(b)) < resolution for b in between])
    extra = ~middle & inside
    column = np.minimum(((places[extra] - low[0]) / cell[0]).astype(np.int64), resolution - 1)
    cells = with_extremes(
        values[middle].reshape(resolution, resolution),
        np.stack([column, row[extra]], axis=1),
        values[extra],
    )
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    return Raster(cells, where, Path([*corners, corners[0]], closed=True), cell)


def _between(basis: Any, t: float, where: Section) -> FloatArray:
    """Return both ends of a row and the kernels' centres in it."""
    ends = where.window[:, 0]
    kernels = kernels_at(basis, t) if len(where.names) == 2 else None
    if kernels is None:
        return np.asarray(ends)
    centres = kernels.centres[:, 0]
    return np.concatenate([ends, centres[(centres > ends[0]) & (centres < ends[1])]])


def passages(basis: Any, place: float, span: tuple[float, float]) -> Kernels:
    """Return moments at which kernels pass a place, as if they were kernels along time.

    A front that moves is thin in time too, where it passes; its kernels pass with it. Between two
    moments at most one kernel passes.
    """
    slabs = basis.slabs if isinstance(basis, SlabBasis) else ()
    own = [_passages(slab, place, span) for slab in slabs if slab.motion.times[0] < span[1]]
    moments = np.unique(np.concatenate([*own, span]))
    return Kernels(moments[:, None], np.gradient(moments)[:, None, None] ** 2)


def _passages(slab: Slab, place: float, span: tuple[float, float]) -> FloatArray:
    begin, end = np.clip(slab.motion.times, *span)
    moments = np.linspace(float(begin), float(end), _FIRST)

    def left_of(t: float) -> float:
        """Return how many kernels are on the left of the place, with a fraction."""
        where = slab.motion.at(t)
        return float(slab.kernels * where.xi(where.nearest(np.array([place])))[0])

    passed = np.array([left_of(t) for t in moments])
    for _ in range(_ROUNDS):
        wide = np.flatnonzero(np.abs(np.diff(passed)) > 1.0)
        if not len(wide):
            break
        new = 0.5 * (moments[wide] + moments[wide + 1])
        passed = np.insert(passed, wide + 1, [left_of(t) for t in new])
        moments = np.insert(moments, wide + 1, new)
    return moments
