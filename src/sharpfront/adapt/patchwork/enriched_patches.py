"""Patches at corners with functions: as many functions as those that fade ask for, and cuts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions, SharedFunctions
from sharpfront.place.patches.around_corners import halved_between
from sharpfront.place.patches.cuts import Cell, at_corners, rings
from sharpfront.place.patches.settings import SETTINGS


def holding_faded(
    cells: Sequence[Cell], functions: Sequence[SharedFunctions], tol: float
) -> tuple[Cell, ...]:
    """Return cells, those at corners whose functions fade with what holds how they do."""
    if not _fade(functions):
        return tuple(cells)
    count = math.ceil(SETTINGS.faded * SETTINGS.layer(tol))
    pairs = zip(cells, _at_functions(cells, functions), strict=True)
    return tuple(cell.with_functions(count) if end else cell for cell, end in pairs)


def cut_at_functions(
    cells: Sequence[Cell], functions: Sequence[SharedFunctions], tails: Sequence[float]
) -> list[Cell]:
    """Return cells, those at corners with functions cut towards them; none if they were before.

    What functions leave of lower terms and beside curved sides is smoother than they are: a cut or
    two do.
    """
    fades = _fade(functions)
    levels = 1 if fades else SETTINGS.cut_beside
    own = [replace(cell, tail=t) for cell, t in zip(cells, tails, strict=True)]
    parts = own if fades else halved_between(own, _places(functions, cells[0].patch.dimension))
    out: list[Cell] = []
    for cell, end in zip(parts, _at_functions(parts, functions), strict=True):
        if not end or cell.run >= levels:
            out.append(cell)
            continue
        halves = np.ceil(SETTINGS.half * np.array(cell.patch.functions)).astype(np.int64) + 1
        out += rings(cell, end, cell.tail, [halves] * (levels + 1))
    return out if len(out) > len(cells) else []


def _places(functions: Sequence[SharedFunctions], dimension: int) -> FloatArray:
    """Return the corners that functions belong to, (k, d)."""
    found = [own.place for own in functions if isinstance(own, CornerFunctions)]
    return np.array(found).reshape(-1, dimension)


def _fade(functions: Sequence[SharedFunctions]) -> bool:
    return any(isinstance(own, CornerFunctions) and own.fades for own in functions)


def _at_functions(
    cells: Sequence[Cell], functions: Sequence[SharedFunctions]
) -> list[tuple[int, ...] | None]:
    """Return at which of its ends each cell has a corner with functions, if any.

    Boxes that strips cut begin where these end.
    """
    found = at_corners(cells, _places(functions, cells[0].patch.dimension))
    if not _fade(functions):
        return found
    return [None if c.patch.region else end for c, end in zip(cells, found, strict=True)]
