"""The first patches, from the statement alone: edges of the data, layers, waves, sources."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from sharpfront.adapt.patchwork.data import with_resolved_data
from sharpfront.adapt.patchwork.layers import decay_rates, wave_number
from sharpfront.adapt.patchwork.refine import Cell
from sharpfront.adapt.patchwork.settings import PatchSettings
from sharpfront.adapt.patchwork.tiling import Tiling
from sharpfront.arrays import Host
from sharpfront.bases.patch import Patch, product_points
from sharpfront.equation.edges import places_along
from sharpfront.maps import AxisMap
from sharpfront.problem import Problem
from sharpfront.rows.interfaces import ROUNDING, interface_lines

# Places on a wall, or along an axis, at which the operator is looked at.
LOOKED = np.array([0.02, 0.13, 0.31, 0.5, 0.69, 0.87, 0.98])
# A layer is cut off if that leaves more than this share of the room beside its wall.
ROOM = 0.5
# Functions that a wave needs for each unit of k h / 2, besides those for digits.
WAVE = 2.0

Strips = dict[tuple[float, float], int]


def first_cells(
    problem: Problem,
    tiling: Tiling,
    settings: PatchSettings,
    tol: float,
    most: int,
    waves: Sequence[float],
) -> list[Cell]:
    """Return the cells that the first solve is made on.

    Parameters
    ----------
    problem, tiling
        What is solved, and where.
    settings
        The constants.
    tol
        The tolerance.
    most
        The most functions.
    waves
        The largest wave number of solutions along each axis.
    """
    lines, strips = _lines(problem, tiling, settings, tol, waves)
    base = settings.functions(tol)
    cells = []
    for low, high in tiling.boxes(lines):
        ends = list(zip(low.tolist(), high.tolist(), strict=True))
        functions = tuple(strips[a].get(side, base) for a, side in enumerate(ends))
        cells.append(Cell(Patch(tuple(AxisMap(*side) for side in ends), functions)))
    return with_resolved_data(problem, tiling, cells, settings, tol, most)


def _lines(
    problem: Problem,
    tiling: Tiling,
    settings: PatchSettings,
    tol: float,
    waves: Sequence[float],
) -> tuple[list[Host], list[Strips]]:
    """Return where to cut along each axis, and the functions across strips that hold a layer."""
    names = problem.domain.coordinates
    lines = [
        _distinct(x, _edges(problem, name, float(x[0]), float(x[-1])))
        for x, name in zip(tiling.lines, names, strict=True)
    ]
    strips: list[Strips] = [{} for _ in lines]
    for axis, place, low, high, _ in tiling.walls:
        side = _layer(problem, tiling, axis, place, (low, high), lines[axis], settings.layer(tol))
        if side is not None:
            strips[axis][side] = max(settings.functions(tol), math.ceil(settings.layer(tol)))
    for axis, strip in enumerate(strips):
        ends = [end for side in strip for end in side]
        lines[axis] = np.unique(np.concatenate([lines[axis], ends]))
        lines[axis] = _with_waves(lines[axis], waves[axis], settings.functions(tol))
    return lines, strips


def _edges(problem: Problem, name: str, low: float, high: float) -> Host:
    """Return where data jump or bend on a line across the domain, and where loads act."""
    graphs = [*problem.equations, *(r for c in problem.conditions for r in c.residuals)]
    graphs += [e for j in problem.jumps for e in j.equals]
    found = [places_along(g, name, low, high) for g in graphs]
    if problem.is_singular:
        found.append(interface_lines(problem)[problem.domain.coordinates.index(name)])
    return np.concatenate(found)


def _distinct(lines: Host, further: Host) -> Host:
    """Return lines with further ones, none of which is another but for rounding."""
    near = ROUNDING * float(np.ptp(lines))
    new = [x for x in np.unique(further) if np.min(np.abs(lines - x)) > near]
    return np.unique(
        np.concatenate([lines, [x for i, x in enumerate(new) if not i or x - new[i - 1] > near]])
    )


def _layer(
    problem: Problem,
    tiling: Tiling,
    axis: int,
    place: float,
    extent: tuple[Host, Host],
    lines: Host,
    depth: float,
) -> tuple[float, float] | None:
    """Return the strip beside a wall in which layers decay, if they are thin there."""
    points = np.empty((len(LOOKED), len(tiling.lines)))
    rest = [a for a in range(points.shape[1]) if a != axis]
    points[:, rest] = extent[0] + (extent[1] - extent[0]) * LOOKED[:, None]
    i = int(np.searchsorted(lines, place))
    end = 0 if _inside(tiling, points, axis, place, lines, i) else 1
    room = float(lines[i + 1] - place if end == 0 else place - lines[i - 1])
    # Just inside, where coefficients that jump at the wall have the domain's value.
    points[:, axis] = place + (1.0 - 2.0 * end) * 1e-9 * room
    rates = np.concatenate(decay_rates(problem, points, axis, end))
    thin = rates[rates * room > depth / ROOM]
    if not len(thin):
        return None
    cut = depth / float(thin.min())
    return (place, place + cut) if end == 0 else (place - cut, place)


def _inside(tiling: Tiling, points: Host, axis: int, place: float, lines: Host, i: int) -> bool:
    """Tell whether the domain is above a wall."""
    if i + 1 >= len(lines):
        return False
    middle = points[len(points) // 2].copy()
    middle[axis] = 0.5 * (place + lines[i + 1])
    return bool(tiling.domain.contains(middle[None])[0])


def wave_numbers(problem: Problem, tiling: Tiling) -> list[float]:
    """Return the largest wave number of solutions along each axis."""
    low, high = tiling.domain.bounds
    points = product_points([a + (b - a) * LOOKED for a, b in zip(low, high, strict=True)])
    points = points[tiling.domain.contains(points)]
    return [wave_number(problem, points, axis) for axis in range(len(low))]


def _with_waves(lines: Host, wave: float, base: int) -> Host:
    """Return the lines of an axis with more between them where solutions oscillate."""
    out = [lines[:1]]
    for a, b in itertools.pairwise(lines.tolist()):
        count = max(1, math.ceil(WAVE * wave * (b - a) / 2 / base))
        out.append(np.linspace(a, b, count + 1)[1:])
    return np.concatenate(out)
