"""Cells all around a corner of a domain in the plane, which are cut alike.

Where some are cut towards a corner and another is not, the other would be cut across alone to stay
alike, ever longer and thinner, and what is singular at the corner would be fitted on it in vain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.place.patches.cuts import Cell, Flags, Touch, cut_as_deep, parts_of, touching
from sharpfront.place.patches.settings import SETTINGS


def evened_around(
    cells: Sequence[Cell], corners: FloatArray | None, aim: float, functions: tuple[int, int]
) -> list[Cell]:
    """Return cells, those at corners (k, 2) cut as deep as others that were cut towards them.

    Those at two corners are halved between these first. Functions are those of the parts along each
    axis, at least and at the most.
    """
    now = list(cells)
    if corners is None or corners.shape[1] != 2:
        return now
    while uneven := _uneven(now, corners):
        out: list[Cell] = []
        for i, cell in enumerate(now):
            out += uneven[i].parts(cell, aim, functions) if i in uneven else [cell]
        now = out
    return now


@dataclass(frozen=True, eq=False)
class _Uneven:
    """A cell that is larger than others at a corner, and how small these are."""

    ends: tuple[int, ...]  # at which of its ends along each axis it has the corner
    both: Flags  # the axes along which it has corners at both its ends
    size: float

    def parts(self, cell: Cell, aim: float, functions: tuple[int, int]) -> list[Cell]:
        """Return what becomes of the cell."""
        tail = cell.tail if math.isfinite(cell.tail) else 1.0
        if self.both.any():
            even = np.full((2, 2), np.inf)
            return parts_of(cell, self.both, np.full(2, functions[1]), tail, even)
        return cut_as_deep(cell, self.ends, self.size, tail, aim, functions)


def _uneven(cells: Sequence[Cell], corners: FloatArray) -> dict[int, _Uneven]:
    """Return the cells that are much larger than others at one of their corners."""
    touched = touching(cells, corners)
    sizes: dict[int, float] = {}
    for i, own in touched.items():
        for touch in own:
            if cells[i].corner == touch.ends:
                size = _in_space(cells[i], touch)
                sizes[touch.corner] = min(sizes.get(touch.corner, math.inf), size)
    out: dict[int, _Uneven] = {}
    for i, own in touched.items():
        ends = np.array([touch.ends for touch in own])
        for touch in own:
            size, least = _in_space(cells[i], touch), sizes.get(touch.corner, math.inf)
            if size > SETTINGS.round * least:
                longest = float(cells[i].patch.sides.max())
                out[i] = _Uneven(touch.ends, np.ptp(ends, axis=0) > 0, longest * least / size)
    return out


def _in_space(cell: Cell, touch: Touch) -> float:
    """Return how long the longest side of a cell at a corner is."""
    patch, ends = cell.patch, np.array(touch.ends)
    if patch.chart is None:
        return patch.longest
    other = np.where(np.eye(2, dtype=bool), 1 - ends, ends)
    points = patch.in_space(np.where(np.vstack([ends, other]) == 1, patch.high, patch.low))
    return float(np.linalg.norm(points[1:] - points[0], axis=1).max())
