"""Patches at corners whose functions fade where layers end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sharpfront.bases.corner_functions import CornerFunctions, SharedFunctions
from sharpfront.place.patches.cuts import Cell, at_corners, rings
from sharpfront.place.patches.settings import SETTINGS


def holding_faded(
    cells: Sequence[Cell], functions: Sequence[SharedFunctions], tol: float
) -> tuple[Cell, ...]:
    """Return cells, those at corners whose functions fade with what holds how they do."""
    count = math.ceil(SETTINGS.faded * SETTINGS.layer(tol))
    pairs = zip(cells, _at_faded(cells, functions), strict=True)
    return tuple(cell.with_functions(count) if end else cell for cell, end in pairs)


def cut_at_faded(
    cells: Sequence[Cell], functions: Sequence[SharedFunctions], tails: Sequence[float]
) -> list[Cell]:
    """Return cells, those at such corners cut towards them; none if they were before.

    What functions of tangents leave beside curved sides is smoother than they are: a cut or two do.
    """
    out: list[Cell] = []
    for cell, end, tail in zip(cells, _at_faded(cells, functions), tails, strict=True):
        if not end or cell.run:
            out.append(cell)
            continue
        halves = np.ceil(SETTINGS.half * np.array(cell.patch.functions)).astype(np.int64) + 1
        out += rings(cell, end, tail, [halves, halves])
    return out if len(out) > len(cells) else []


def _at_faded(
    cells: Sequence[Cell], functions: Sequence[SharedFunctions]
) -> list[tuple[int, ...] | None]:
    """Return at which of its ends each cell has a corner whose functions fade, if any.

    Boxes that strips cut begin where these end.
    """
    places = [own.place for own in functions if isinstance(own, CornerFunctions) and own.fades]
    found = at_corners(cells, np.array(places).reshape(-1, cells[0].patch.dimension))
    return [None if c.patch.region else end for c, end in zip(cells, found, strict=True)]
