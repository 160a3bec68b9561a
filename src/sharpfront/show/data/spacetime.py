"""Values over space and time, row by row, and along time at a fixed place."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.show.data.kernels import Kernels, kernels_at
from sharpfront.show.data.quantity import Quantity
from sharpfront.show.data.raster import Raster, with_extremes
from sharpfront.show.data.section import Section, values_inside


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
    values = values_inside(quantity.values, domain, points)
    middle = np.concatenate([np.arange(resolution + len(b)) < resolution for b in between])
    extra = ~middle & np.isfinite(values)
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
    """Return moments at which nodes pass a place, as if they were kernels along time.

    A front that moves is thin in time too, where it passes; its elements pass with it.
    """
    slabs = basis.slabs if isinstance(basis, SlabBasis) else ()
    own = [_passages(slab, place, span) for slab in slabs if slab.start < span[1]]
    moments = np.unique(np.concatenate([*own, span]))
    return Kernels(moments[:, None], np.gradient(moments)[:, None, None] ** 2)


def _passages(slab: Slab, place: float, span: tuple[float, float]) -> FloatArray:
    """Return when nodes are at a place, on a ring after any number of turns, and both ends."""
    frame = slab.frame
    moving = np.abs(frame.velocities) > 1e-300
    way = place - frame.nodes[moving]
    if frame.ring:
        length = frame.nodes[-1] - frame.nodes[0]
        ahead = frame.velocities[moving] * slab.dt
        way = way - length * np.floor((way - np.minimum(ahead, 0.0)) / length)
    later = way / frame.velocities[moving]
    inside = later[(later > 0.0) & (later < slab.dt)]
    ends = np.clip([slab.start, slab.stop], *span)
    found = slab.start + inside
    return np.concatenate([ends, found[(found > span[0]) & (found < span[1])]])
