"""Points where lines on which fluxes jump meet each other or the boundary.

There solutions behave like r^a, and a can be as small as one likes: 0.1 where quadrants of 161 and
1 meet. Patches around such a point see nothing of it while they are too large, since the solution
that least squares then settles on is smooth. So patches are cut towards these points as a look of
its own, whatever their weights say.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sharpfront.adapt.patchwork.exponents import across_axes, least_exponent, oscillates, tensors
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import product_points
from sharpfront.bases.patch import Patch
from sharpfront.equation.oblique_lines import Line
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.maps import AxisMap, Quadrilateral
from sharpfront.place.patches.cuts import Cell, is_shortest
from sharpfront.place.patches.refine import balanced
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rounding import SAME
from sharpfront.rows.interfaces import interface_lines
from sharpfront.rows.materials import material_lines

Point = tuple[float, float]


_OSCILLATES = (
    "The conductivity changes its sign at ({:.4g}, {:.4g}), and its values on the two sides are so "
    "alike in size that functions may oscillate there without end: none of finite energy is told "
    "from others."
)
_OTHER_SIGNS = "Take conductivities whose ratio is farther from -1, or the same sign for both."


def cuts_for(exponent: float, smaller: float = ADAPT.smaller) -> int:
    """Return how often patches are halved until h^(2 a) is so many times smaller, within limits."""
    if not exponent:
        return ADAPT.cuts
    return min(max(1, math.ceil(math.log2(smaller) / (2.0 * exponent))), ADAPT.most_cuts)


def share_seen(exponent: float) -> float:
    """Return which share of the error that a point makes a look sees, were it as large as LARGE."""
    if not exponent:
        return 1.0
    after = ADAPT.large * math.exp2(-2.0 * exponent * cuts_for(exponent))
    return 1.0 - after / (1.0 + after) * (1.0 + ADAPT.large) / ADAPT.large


def interface_vertices(
    problem: Problem, tiling: Tiling, places: Sequence[FloatArray]
) -> dict[Point, float]:
    """Return points of a domain in the plane where interfaces end or cross, with exponents.

    Something jumps on lines across each axis at places, or on sides of charts. Those points are
    left out at which the solution cannot be more singular than weights show.
    """
    found = {
        point: least_exponent(problem, tiling, np.array(point), lines)
        for point, lines in _met(problem, tiling, places)
    }
    return {p: a for p, a in found.items() if math.isfinite(a)}


def indefinite(problem: Problem, tiling: Tiling) -> Outcome | None:
    """Return where conductivities change their sign so that no solution is told from others."""
    if not problem.is_singular or len(problem.unknowns) > 1 or problem.forms[0].order != 2:
        return None
    places = interface_lines(problem)
    if len(places) != 2 or not _has_both_signs(problem, tiling, places):
        return None
    for point, lines in (*_met(problem, tiling, places), *_between(problem, places)):
        if oscillates(problem, tiling, np.array(point), lines):
            return Outcome(OutcomeKind.ILL_POSED, _OSCILLATES.format(*point), _OTHER_SIGNS)
    return None


def _has_both_signs(problem: Problem, tiling: Tiling, places: Sequence[FloatArray]) -> bool:
    """Tell whether conductivities are positive and negative, in the middles of all materials."""
    if tiling.blocks[0].chart is not None:
        middles = [np.array([[0.5 * (x[0] + x[-1]) for x in b.lines]]) for b in tiling.blocks]
        both = zip(tiling.blocks, middles, strict=True)
        points = np.concatenate([block.in_space(middle) for block, middle in both])
    else:
        stops = [np.unique([*x, *y]) for x, y in zip(places, problem.domain.bounds.T, strict=True)]
        points = product_points([0.5 * (x[1:] + x[:-1]) for x in stops])
    traces = np.trace(tensors(problem, points), axis1=1, axis2=2)
    return bool(traces.min() < 0.0 < traces.max())


def _met(
    problem: Problem, tiling: Tiling, places: Sequence[FloatArray]
) -> Iterator[tuple[Point, Sequence[Line]]]:
    """Yield the points where interfaces meet each other or walls, with the lines they lie on."""
    if len(places) == 2 and isinstance(tiling.blocks[0].chart, Quadrilateral):
        lines = material_lines(problem) if problem.is_singular else None
        for point in tiling.ends if lines else ():
            yield point, lines or ()
    elif len(places) == 2 and any(map(len, places)):
        (block,) = tiling.blocks
        (x, y), (walls_x, walls_y) = places, block.lines
        for p, q in (*itertools.product(x, [*y, *walls_y]), *itertools.product(walls_x, y)):
            yield (float(p), float(q)), across_axes(float(p), float(q))


def _between(
    problem: Problem, places: Sequence[FloatArray]
) -> Iterator[tuple[Point, Sequence[Line]]]:
    """Yield points of interfaces along the axes between those."""
    for axis, own in enumerate(places if len(places) == 2 else ()):
        stops = np.unique(np.concatenate([places[1 - axis], problem.domain.bounds[:, 1 - axis]]))
        for place, other in itertools.product(own, 0.5 * (stops[1:] + stops[:-1])):
            x, y = (float(place), float(other)) if axis == 0 else (float(other), float(place))
            yield (x, y), across_axes(x, y)[axis : axis + 1]


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
    return bool(_corners_met(patch, np.array(list(points))))


def _cut_cell(cell: Cell, points: FloatArray, counts: FloatArray) -> list[Cell]:
    corners = _corners_met(cell.patch, points)
    if not corners:
        return [cell]
    if len(corners) == 1:
        ((ends, which),) = corners.items()
        return _graded(cell, ends, int(counts[which]))
    apart = np.ptp(list(corners), axis=0) > 0
    sides = [_bisected(m) if cut else (m,) for m, cut in zip(cell.patch.maps, apart, strict=True)]
    return [c for part in cell.cut_into(sides) for c in _cut_cell(part, points, counts)]


def _corners_met(patch: Patch, points: FloatArray) -> dict[tuple[int, ...], int]:
    """Return the corners of a patch, an end for each axis, that are points, and which."""
    gaps = np.abs(patch.corners[:, None] - points).max(axis=2)
    ends = list(itertools.product((0, 1), repeat=patch.dimension))
    met = np.argwhere(gaps <= SAME * np.ptp(patch.corners, axis=0).min())
    return {ends[corner]: int(k) for corner, k in met}


def _bisected(side: AxisMap) -> tuple[AxisMap, AxisMap]:
    place = float(side.points(np.zeros(1))[0])
    return AxisMap(side.low, place), AxisMap(place, side.high)


def _graded(cell: Cell, corner: tuple[int, ...], cuts: int) -> list[Cell]:
    """Return the parts of a cell that is halved towards one of its corners."""
    out: list[Cell] = []
    patch = cell.patch
    for _ in range(cuts):
        if is_shortest(patch):
            break
        halves = [_bisected(m) for m in patch.maps]
        for ends in itertools.product((0, 1), repeat=patch.dimension):
            part = replace(patch, maps=tuple(h[e] for h, e in zip(halves, ends, strict=True)))
            if ends == corner:
                inner = part
            else:
                out.append(replace(cell, patch=part, corner=(), run=0))
        patch = inner
    return [*out, replace(cell, patch=patch, corner=(), run=0)]
