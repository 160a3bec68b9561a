"""Corners at which a solution is all that is left to resolve.

What a patch at a singular corner leaves is felt around it and hardly farther away. Where that is
all that an estimate finds too large, patches are cut towards these corners and no others change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.place.patches.cuts import Cell, at_corners, fall_of, functions_of_rings, rings
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import Tails


def are_quiet(
    corners: FloatArray, points: FloatArray, volumes: FloatArray, residual: FloatArray
) -> bool:
    """Tell whether less of an equation is left along edges in space, (k, 3), than elsewhere.

    Then they are not why a solution is not resolved. Its first patches all lie at edges, and
    weights on these do not tell a bump in the middle of the domain from what edges do. Residuals at
    points, (m,), which stand for volumes, do.
    """
    if corners.shape[1] < 3 or not len(corners):
        return False
    gaps = np.nan_to_num((points[:, None] - corners) / np.ptp(points, axis=0))
    near = np.linalg.norm(gaps, axis=2).min(axis=1) < SETTINGS.vicinity
    if not near.any() or near.all():
        return False
    there, elsewhere = (np.average(residual[at] ** 2, weights=volumes[at]) for at in (near, ~near))
    return bool(there < SETTINGS.quiet**2 * elsewhere)


@dataclass(frozen=True)
class CornerChanges:
    """Changes of a solution that are too large on patches with a singularity at a corner."""

    at: Mapping[int, float]  # the largest on each such cell, by its number
    elsewhere: float  # the largest farther from these than what is wrong there is felt

    @classmethod
    def of(
        cls,
        cells: Sequence[Cell],
        changes: FloatArray,
        tails: Tails,
        corners: FloatArray,
        tol: float,
    ) -> CornerChanges:
        """Return the changes at corners, from the largest change on each cell."""
        singular = ~tails.analytic.all(axis=1) & (changes > SETTINGS.deeper * tol)
        if not singular.any():
            return cls({}, float(changes.max()))
        at = at_corners(cells, corners)
        middles = np.concatenate([c.patch.points([np.zeros(1)] * c.patch.dimension) for c in cells])
        far = np.ones(len(cells), dtype=bool)
        reach = SETTINGS.near * np.array([float(c.patch.sides.max()) for c in cells])
        # One that was never cut towards its corner has nothing to do with it, and of one that is
        # felt all over the domain nobody can tell what is its own.
        cut = [c.corner == end and math.isfinite(c.tail) for c, end in zip(cells, at, strict=True)]
        own = reach < 0.5 * np.ptp(middles, axis=0).max()
        found = np.flatnonzero(singular & cut & own).tolist()
        for i in found:
            far &= np.linalg.norm(middles - middles[i], axis=1) > reach[i]
        rest = float(changes[far].max(initial=0.0))
        return cls({i: float(changes[i]) for i in found}, rest)

    def deeper(
        self,
        cells: Sequence[Cell],
        tails: Tails,
        tol: float,
        functions: tuple[int, int],
        corners: FloatArray,
    ) -> list[Cell]:
        """Return cells with those at these corners cut deeper; none if that would not be enough.

        It is not where what other cells leave is too much by itself. All around a corner they are
        cut to the same size. Functions are those of the parts along each axis, at least and at the
        most.
        """
        if not self.at:
            return []
        longest, at = tails.tail.max(axis=1), at_corners(cells, corners)
        places = [_place(cell, end, corners) for cell, end in zip(cells, at, strict=True)]
        sizes: dict[int, float] = {}
        for i, left in self.at.items():
            fall = fall_of(cells[i], float(longest[i]))
            levels = math.ceil(-math.log(left / (SETTINGS.deeper * tol)) / fall)
            size = float(cells[i].patch.sides.max()) * 0.5**levels
            sizes[places[i]] = min(size, sizes.get(places[i], size))
        others = ~tails.analytic & np.array([place not in sizes for place in places])[:, None]
        if self.elsewhere + float(tails.tail[others].max(initial=0.0)) > tol:
            return []
        smaller = max(self.at.values()) / (SETTINGS.deeper * tol)
        out: list[Cell] = []
        for cell, end, place, tail in zip(cells, at, places, longest.tolist(), strict=True):
            size = float(cell.patch.sides.max())
            levels = max(0, math.ceil(math.log2(size / sizes.get(place, size)) - 1e-9))
            if end is None or not levels:
                out.append(cell)
                continue
            counts = functions_of_rings(smaller, -math.log(smaller) / levels, levels, functions)
            each = [np.full(cell.patch.dimension, p) for p in (*counts, functions[1])]
            out += rings(cell, end, tail, each)
        return out


def _place(cell: Cell, end: tuple[int, ...] | None, corners: FloatArray) -> int:
    """Return which of the corners is at an end of a cell; -1 for none."""
    if end is None:
        return -1
    own = cell.patch.points([np.array([2.0 * e - 1.0 if e >= 0 else 0.0]) for e in end])[0]
    return int(np.argmin(np.nan_to_num(np.abs(corners - own)).max(axis=1)))
