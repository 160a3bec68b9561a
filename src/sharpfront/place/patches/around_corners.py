"""Cells all around a corner of a domain in the plane, which are cut alike.

Where some are cut towards a corner and another is not, the other would be cut across alone to stay
alike, ever longer and thinner, and what is singular at the corner would be fitted on it in vain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.place.patches.cuts import (
    Cell,
    Counts,
    Flags,
    Touch,
    cut_as_deep,
    is_shortest,
    parts_of,
    touching,
)
from sharpfront.place.patches.settings import SETTINGS


def evened_around(
    cells: Sequence[Cell], corners: FloatArray | None, aim: float, functions: tuple[int, int]
) -> list[Cell]:
    """Return cells, those at corners (k, 2) cut as deep as others that were cut towards them.

    Those at two corners are halved between these first. Functions are those of the parts along each
    axis, at least and at the most. Where cells are as short as numbers allow none is to be so.
    """
    now = list(cells)
    if corners is None or corners.shape[1] != 2 or any(is_shortest(c.patch) for c in now):
        return now
    while uneven := _uneven(now, corners):
        out: list[Cell] = []
        for i, cell in enumerate(now):
            out += uneven[i].parts(cell, aim, functions) if i in uneven else [cell]
        now = out
    return now


def halved_between(cells: Sequence[Cell], corners: FloatArray) -> list[Cell]:
    """Return cells, those at two corners (k, 2) or more halved until each has one."""
    now = list(cells)
    while between := _between_corners(touching(now, corners)):
        out: list[Cell] = []
        for i, cell in enumerate(now):
            counts = np.array(cell.patch.functions)
            out += _cut_between(cell, between[i], counts) if i in between else [cell]
        now = out
    return now


def _between_corners(touched: Mapping[int, Sequence[Touch]]) -> dict[int, Flags]:
    """Return the cells with corners at both their ends along some axes, and these axes."""
    ends = {i: np.array([touch.ends for touch in own]) for i, own in touched.items()}
    both = {i: np.ptp(own, axis=0) > 0 for i, own in ends.items()}
    return {i: axes for i, axes in both.items() if axes.any()}


def _cut_between(cell: Cell, axes: Flags, functions: Counts) -> list[Cell]:
    tail = cell.tail if math.isfinite(cell.tail) else 1.0
    return parts_of(cell, axes, functions, tail, np.full((len(axes), 2), np.inf))


@dataclass(frozen=True, eq=False)
class _Uneven:
    """A cell that is larger than others at a corner, and how small these are."""

    ends: tuple[int, ...]  # at which of its ends along each axis it has the corner
    both: Flags | None  # the axes along which it has corners at both its ends, if it has
    size: float

    def parts(self, cell: Cell, aim: float, functions: tuple[int, int]) -> list[Cell]:
        """Return what becomes of the cell."""
        if self.both is not None:
            return _cut_between(cell, self.both, np.full(2, functions[1]))
        tail = cell.tail if math.isfinite(cell.tail) else 1.0
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
    between = _between_corners(touched)
    for i, own in touched.items():
        for touch in own:
            size, least = _in_space(cells[i], touch), sizes.get(touch.corner, math.inf)
            if size > SETTINGS.round * least:
                longest = float(cells[i].patch.sides.max())
                out[i] = _Uneven(touch.ends, between.get(i), longest * least / size)
    return out


def _in_space(cell: Cell, touch: Touch) -> float:
    """Return how long the longest side of a cell at a corner is."""
    patch, ends = cell.patch, np.array(touch.ends)
    if patch.chart is None:
        return patch.longest
    other = np.where(np.eye(2, dtype=bool), 1 - ends, ends)
    points = patch.in_space(np.where(np.vstack([ends, other]) == 1, patch.high, patch.low))
    return float(np.linalg.norm(points[1:] - points[0], axis=1).max())
