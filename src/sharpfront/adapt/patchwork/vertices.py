"""Points where lines on which fluxes jump meet each other or the boundary.

There solutions behave like r^a, and a can be as small as one likes: 0.1 where quadrants of 161 and
1 meet. Patches around such a point see nothing of it while they are too large, since the solution
that least squares then settles on is smooth. So patches are cut towards these points as a look of
its own, whatever their weights say.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sharpfront.adapt.patchwork.exponents import least_exponent
from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
from sharpfront.place.patches.cuts import Cell, is_shortest
from sharpfront.place.patches.refine import balanced
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem

Point = tuple[float, float]

# With A r^a at a point and patches of size h there, least squares finds A / (1 + C h^(2 a)) instead
# of A. A look halves patches until h^(2 a) is so many times smaller; where C h^(2 a) was as large
# as this before, it sees 0.7 of the error.
SMALLER, LARGE = 30.0, 10.0
# Cuts where the exponent is not known, and at the most.
CUTS, MOST_CUTS = 12, 48


def cuts_for(exponent: float, smaller: float = SMALLER) -> int:
    """Return how often patches are halved until h^(2 a) is so many times smaller, within limits."""
    if not exponent:
        return CUTS
    return min(max(1, math.ceil(math.log2(smaller) / (2.0 * exponent))), MOST_CUTS)


def share_seen(exponent: float) -> float:
    """Return which share of the error that a point makes a look sees, were it as large as LARGE."""
    if not exponent:
        return 1.0
    after = LARGE * math.exp2(-2.0 * exponent * cuts_for(exponent))
    return 1.0 - after / (1.0 + after) * (1.0 + LARGE) / LARGE


def interface_vertices(
    problem: Problem, tiling: Tiling, lines: Sequence[FloatArray]
) -> dict[Point, float]:
    """Return points of a domain in the plane where interfaces end or cross, with exponents.

    Something jumps on lines across each axis. Those points are left out at which the solution
    cannot be more singular than weights show.
    """
    if len(lines) != 2 or not any(map(len, lines)):
        return {}
    (block,) = tiling.blocks
    (x, y), (walls_x, walls_y) = lines, block.lines
    pairs = [*itertools.product(x, [*y, *walls_y]), *itertools.product(walls_x, y)]
    found = {
        (float(p), float(q)): least_exponent(problem, tiling, np.array([p, q])) for p, q in pairs
    }
    return {p: a for p, a in found.items() if math.isfinite(a)}


def cut_towards(
    cells: Sequence[Cell],
    cuts: Mapping[Point, int],
    periods: Sequence[float | None],
) -> list[Cell]:
    """Return the cells with those at points halved towards them, so often for each point."""
    points, counts = np.array(list(cuts)), np.array(list(cuts.values()))
    parts = [part for cell in cells for part in _cut_cell(cell, points, counts)]
    return balanced(parts, periods)


def touches(patch: Patch, points: Collection[Point]) -> bool:
    """Tell whether a corner of a patch is one of some points."""
    return bool(_corners(patch, np.array(list(points))))


def _cut_cell(cell: Cell, points: FloatArray, counts: FloatArray) -> list[Cell]:
    corners = _corners(cell.patch, points)
    if not corners:
        return [cell]
    if len(corners) == 1:
        ((ends, which),) = corners.items()
        return _graded(cell, ends, int(counts[which]))
    apart = np.ptp(list(corners), axis=0) > 0
    sides = [_halves(m) if cut else (m,) for m, cut in zip(cell.patch.maps, apart, strict=True)]
    parts = [Patch(maps, cell.patch.functions) for maps in itertools.product(*sides)]
    return [c for part in parts for c in _cut_cell(replace(cell, patch=part), points, counts)]


def _corners(patch: Patch, points: FloatArray) -> dict[tuple[int, ...], int]:
    """Return the corners of a patch, an end for each axis, that are points, and which."""
    near = 1e-9 * patch.sides
    out = {}
    for k in np.flatnonzero(
        np.all((points >= patch.low - near) & (points <= patch.high + near), axis=1)
    ):
        at_low, at_high = (np.abs(points[k] - e) <= near for e in (patch.low, patch.high))
        if np.all(at_low | at_high):
            out[tuple(int(e) for e in at_high)] = int(k)
    return out


def _halves(side: AxisMap) -> tuple[AxisMap, AxisMap]:
    place = float(side.points(np.zeros(1))[0])
    return AxisMap(side.low, place), AxisMap(place, side.high)


def _graded(cell: Cell, corner: tuple[int, ...], cuts: int) -> list[Cell]:
    """Return the parts of a cell that is halved towards one of its corners."""
    out: list[Cell] = []
    patch = cell.patch
    for _ in range(cuts):
        if is_shortest(patch):
            break
        halves = [_halves(m) for m in patch.maps]
        for ends in itertools.product((0, 1), repeat=patch.dimension):
            part = Patch(tuple(h[e] for h, e in zip(halves, ends, strict=True)), patch.functions)
            if ends == corner:
                inner = part
            else:
                out.append(replace(cell, patch=part, corner=(), run=0))
        patch = inner
    return [*out, replace(cell, patch=patch, corner=(), run=0)]
