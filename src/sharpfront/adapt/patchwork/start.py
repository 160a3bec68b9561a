"""The first patches, from the statement alone: edges of the data, layers, waves, sources."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sharpfront.adapt.patchwork.layers import decay_rates, wave_number
from sharpfront.adapt.patchwork.refine import Cell, Limits, functions_of, refined
from sharpfront.adapt.patchwork.settings import PatchSettings
from sharpfront.adapt.patchwork.tails import Tails, tails_of_blocks
from sharpfront.adapt.patchwork.tiling import Tiling
from sharpfront.arrays import Host
from sharpfront.bases.legendre import gauss, gauss_table
from sharpfront.bases.patch import Patch
from sharpfront.equation.edges import places_along
from sharpfront.equation.values import environment, form_values
from sharpfront.maps import AxisMap
from sharpfront.problem import Problem
from sharpfront.rows.norm import size_of_terms

# Places on a wall, or along an axis, at which the operator is looked at.
LOOKED = np.array([0.02, 0.13, 0.31, 0.5, 0.69, 0.87, 0.98])
# A layer is cut off if that leaves more than this share of the room beside its wall.
ROOM = 0.5
# Functions that a wave needs for each unit of k h / 2, besides those for digits.
WAVE = 2.0
# Sources are resolved to so many tolerances, in units of u, and coefficients to this share.
SOURCE, COEFFICIENT = 30.0, 1e-2
# Sources are halved so often at the most.
HALVINGS = 12

Strips = dict[tuple[float, float], int]


def first_cells(
    problem: Problem, tiling: Tiling, settings: PatchSettings, tol: float, most: int
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
    """
    lines, strips = _lines(problem, tiling, settings, tol)
    base = settings.functions(tol)
    cells = []
    for low, high in tiling.boxes(lines):
        ends = list(zip(low.tolist(), high.tolist(), strict=True))
        functions = tuple(strips[a].get(side, base) for a, side in enumerate(ends))
        cells.append(Cell(Patch(tuple(AxisMap(*side) for side in ends), functions)))
    return _with_resolved_data(problem, tiling, cells, settings, tol, most)


def _lines(
    problem: Problem, tiling: Tiling, settings: PatchSettings, tol: float
) -> tuple[list[Host], list[Strips]]:
    """Return where to cut along each axis, and the functions across strips that hold a layer."""
    names = problem.domain.coordinates
    lines = [
        np.unique(np.concatenate([x, _edges(problem, name, float(x[0]), float(x[-1]))]))
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
        lines[axis] = _with_waves(problem, tiling, lines, axis, settings.functions(tol))
    return lines, strips


def _edges(problem: Problem, name: str, low: float, high: float) -> Host:
    """Return where data jump or bend on a line across the domain."""
    graphs = [*problem.equations, *(r for c in problem.conditions for r in c.residuals)]
    found = np.concatenate([places_along(g, name, low, high) for g in graphs])
    found = np.unique(found)
    apart = np.diff(found, prepend=-math.inf) > 1e-12 * (high - low)
    return found[apart]


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


def _with_waves(
    problem: Problem, tiling: Tiling, lines: Sequence[Host], axis: int, base: int
) -> Host:
    """Return the lines of an axis with more between them where solutions oscillate."""
    low, high = tiling.domain.bounds
    axes = [a + (b - a) * LOOKED for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(lines))
    points = points[tiling.domain.contains(points)]
    wave = wave_number(problem, points, axis)
    out = [lines[axis][:1]]
    for a, b in zip(lines[axis][:-1], lines[axis][1:], strict=True):
        count = max(1, math.ceil(WAVE * wave * (b - a) / 2 / base))
        out.append(np.linspace(a, b, count + 1)[1:])
    return np.concatenate(out)


def _with_resolved_data(
    problem: Problem,
    tiling: Tiling,
    cells: list[Cell],
    settings: PatchSettings,
    tol: float,
    most: int,
) -> list[Cell]:
    """Return cells on which sources and coefficients are resolved, as far as that is allowed."""
    limits = Limits(settings.functions(tol), settings.most(tol))
    for _ in range(HALVINGS):
        tails = _data_tails(problem, [c.patch for c in cells], tol)
        new, changed = refined(cells, tails, 1.0, 0.0, limits, tiling.periods)
        if not changed or functions_of(new) > most:
            break
        cells = new
    return cells


def _data_tails(problem: Problem, patches: Sequence[Patch], tol: float) -> Tails:
    """Return what of the data each patch's functions cannot hold, in units of what is allowed."""
    counts = [tuple(2 * p + 1 for p in patch.functions) for patch in patches]
    rules = [patch.gauss_points(n) for patch, n in zip(patches, counts, strict=True)]
    points = np.concatenate([x for x, _ in rules])
    ends = np.cumsum([len(x) for x, _ in rules])[:-1]
    leaves = environment(problem.coordinates, points)
    rough = dict.fromkeys(problem.unknowns, 0)
    tail = np.zeros((len(patches), len(counts[0])))
    wanted = np.zeros_like(tail)
    for form in problem.forms:
        coefficients, source = form_values(form, leaves, len(points))
        parts = [np.split(c, ends) for c in coefficients]
        for i, (patch, values) in enumerate(zip(patches, np.split(source, ends), strict=True)):
            own = [p[i] for p in parts]
            size = np.maximum(size_of_terms(form, own, patch.sides, rough), 1e-300)
            data = [values / size / (SOURCE * tol)]
            data += [
                c / c_size / COEFFICIENT
                for c in own
                if np.ptp(c) > 0 and (c_size := float(np.abs(c).max())) > 0
            ]
            blocks = [_projected(v, counts[i]) for v in data if np.ptp(v) > 0]
            for block in blocks:
                t, w = _beyond(block, patch.functions)
                tail[i], wanted[i] = np.maximum(tail[i], t), np.maximum(wanted[i], w)
    return Tails(tail, wanted, np.ones_like(tail, dtype=bool))


def _projected(values: Host, counts: tuple[int, ...]) -> Host:
    """Return the Legendre weights of values at product Gauss points."""
    block = values.reshape(counts)
    for axis, n in enumerate(counts):
        matrix = (gauss_table(n, n, 0)[0] * gauss(n)[1][:, None]).T
        block = np.moveaxis(np.tensordot(matrix, block, axes=(1, axis)), 0, axis)
    return block


def _beyond(block: Host, functions: tuple[int, ...]) -> tuple[Host, Host]:
    """Return the size of the weights beyond a patch's functions, and the functions they want."""
    found = tails_of_blocks([block], 1.0)
    tail = np.zeros(len(functions))
    for axis, p in enumerate(functions):
        rest = tuple(a for a in range(block.ndim) if a != axis)
        profile = np.abs(block).max(axis=rest) if rest else np.abs(block)
        tail[axis] = float(profile[p:].max())
    return np.where(tail > 1.0, tail, 0.0), found.wanted[0]
