"""Points at which a source or a coefficient is not finite: the middle of a cone, 1/r.

Where it is finite all around, such a point is a corner like others: patches have it at a corner of
theirs, where no equation is asked, and are cut towards it as weights tell.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.values import is_finite
from sharpfront.place.formula_features import crossings
from sharpfront.place.patches.cuts import Cell, Flags
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.place.tiling.solids import ROUNDING
from sharpfront.problem import Problem


def with_poles(problem: Problem, tiling: Tiling) -> Tiling:
    """Return a tiling that counts poles of the data as corners.

    They are looked for where formulas tell of something, and at corners.
    """
    d = problem.domain.dimension
    corners = tiling.corners[~np.isnan(tiling.corners).any(axis=1)]
    places = np.concatenate([crossings(problem), corners])
    places = places[problem.domain.contains(places)]
    suspects = np.unique(places[~_are_finite(problem, places)], axis=0)
    steps = SETTINGS.around * np.ptp(problem.domain.bounds, axis=0) * np.array(_DIRECTIONS[d])
    found = []
    for place in suspects:
        around = place + steps
        if _are_finite(problem, around[problem.domain.contains(around)]).all():
            found.append(tuple(place.tolist()))
    return replace(tiling, marked=tuple(found)) if found else tiling


_DIRECTIONS = {
    d: [s for s in itertools.product((-1.0, 0.0, 1.0), repeat=d) if any(s)] for d in (1, 2, 3)
}


def _are_finite(problem: Problem, points: FloatArray) -> Flags:
    """Tell at which points all data are finite."""
    each = [is_finite(form, problem.coordinates, points) for form in problem.forms]
    return np.asarray(np.all(each, axis=0))


def cut_at(cells: Sequence[Cell], points: Sequence[Sequence[float]]) -> list[Cell]:
    """Return cells cut so that points in them are corners of patches."""
    out = list(cells)
    for point in points:
        out = [part for cell in out for part in _cut_at(cell, np.array(point))]
    return out


def _cut_at(cell: Cell, point: FloatArray) -> list[Cell]:
    patch = cell.patch
    at = patch.in_chart(point[None])[0]
    near = ROUNDING * patch.sides
    if np.any((at < patch.low - near) | (at > patch.high + near)):
        return [cell]
    sides = []
    for m, x, room in zip(patch.maps, at.tolist(), near, strict=True):
        sides.append(m.cut([x] * int(m.low + room < x < m.high - room)))
    return [part for part in cell.cut_into(sides) if not part.patch.is_empty]
