"""Cells around a corner that may have its functions.

Functions of a corner jump on a ray from it. At a corner of a hole every such ray meets the domain
again behind the hole: the cells there have none of the functions, and traces carry what these are
on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import Flags, FloatArray
from sharpfront.geometry import Domain
from sharpfront.maps import Quadrilateral
from sharpfront.place.tiling.blocks import Block
from sharpfront.rounding import ROUNDED


def cells_of(blocks: Sequence[Block]) -> FloatArray:
    """Return the cells between lines of boxes and quadrilaterals, (k, 4, 2)."""
    plain = [b for b in blocks if b.chart is None or isinstance(b.chart, Quadrilateral)]
    found = [corners_of_cell(block, *box) for block in plain for box in block.boxes(block.lines)]
    return np.array(found).reshape(-1, 4, 2)


def corners_of_cell(block: Block, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the corners of a cell in space, counterclockwise, (4, 2)."""
    found = block.in_space(np.array([low, (high[0], low[1]), high, (low[0], high[1])]))
    area = np.linalg.det(np.stack([found[1] - found[0], found[2] - found[0]]))
    return found if area > 0 else found[::-1]


def touched(cells: FloatArray, corner: FloatArray, near: float) -> Flags:
    """Tell which convex quadrilaterals, (k, 4, 2), a point lies on."""
    sides = np.roll(cells, -1, axis=1) - cells
    away = corner - cells
    turns = sides[..., 0] * away[..., 1] - sides[..., 1] * away[..., 0]
    return np.asarray(np.all(turns >= -near * np.linalg.norm(sides, axis=2), axis=1))


def most_cells(
    domain: Domain, cells: FloatArray, corner: FloatArray, rays: Sequence[FloatArray], near: float
) -> tuple[int, FloatArray] | None:
    """Return the ray from a corner that leaves most, and the cells in which it meets no domain.

    None where the corner is none of cells, or not all around it are left.
    """
    beside = touched(cells, corner, near)
    at_corners = np.abs(cells[beside] - corner).max(axis=2).min(axis=1, initial=np.inf) <= near
    if not beside.any() or not at_corners.all():
        return None
    kept = [~_crossed_cells(domain, cells, corner, ray, near) for ray in rays]
    sizes = [float(_areas(cells[k]).sum()) if np.all(k[beside]) else 0.0 for k in kept]
    best = int(np.argmax(sizes))
    return (best, cells[kept[best]]) if sizes[best] else None


def _crossed_cells(
    domain: Domain, cells: FloatArray, corner: FloatArray, ray: FloatArray, near: float
) -> Flags:
    """Tell in which convex quadrilaterals, (k, 4, 2), a ray from a corner meets the domain."""
    sides = np.roll(cells, -1, axis=1) - cells
    normals = np.stack([-sides[..., 1], sides[..., 0]], axis=2)
    normals = normals / np.linalg.norm(sides, axis=2)[..., None]
    # It is inside of a side where rate * length >= start.
    rate, start = normals @ ray, np.sum(normals * (cells - corner), axis=2)
    along = np.abs(rate) <= ROUNDED
    lengths = start / np.where(along, 1.0, rate)
    first = np.where(rate > ROUNDED, lengths, 0.0).max(axis=1)
    last = np.where(rate < -ROUNDED, lengths, np.inf).min(axis=1)
    outside = np.any(along & (start >= -near), axis=1)
    out = (last - first > near) & ~outside
    shares = np.linspace(0.0, 1.0, ADAPT.on_ray + 2)[1:-1]
    for i in np.flatnonzero(out):
        points = corner + (first[i] + (last[i] - first[i]) * shares)[:, None] * ray
        out[i] = domain.contains(points).any()
    return np.asarray(out)


def _areas(cells: FloatArray) -> FloatArray:
    """Return the areas of quadrilaterals, (k,)."""
    one, two = cells[:, 2] - cells[:, 0], cells[:, 3] - cells[:, 1]
    return np.asarray(0.5 * np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]))
