"""How patches are cut: in the middle, beside thin neighbours, towards points again and again."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap, Chart
from sharpfront.place.patches.settings import SETTINGS

# A patch that is less than so many floats long is not cut: Gauss points would be its corners.
FLOATS = 4096.0
# What is cut off beside a thin neighbour is at most this share of its patch.
OFF = 0.25

# How deep layers are beside walls, and how long these are: by chart, axis, end of the patches that
# touch, and place.
Depths = Mapping[tuple[Chart | None, int, int, float], tuple[float, float]]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Cell:
    """A patch with what is remembered of how it came about."""

    patch: Patch  # the patch
    # At which corner of the patch it was cut from it lies, an end for each axis; empty at first.
    corner: tuple[int, ...] = ()
    run: int = 0  # how often in a row it was the same corner
    tail: float = math.inf  # the tail of the patch that it was cut from, `levels` cuts ago
    levels: int = 1  # see `tail`
    promise: float = math.inf  # what its tail was to become when it got more functions
    relieved: bool = False  # whether it gave functions away

    def with_functions(self, least: int) -> Cell:
        """Return it with so many functions along every axis at the least."""
        functions = tuple(max(p, least) for p in self.patch.functions)
        return replace(self, patch=replace(self.patch, functions=functions))

    def cut_into(self, sides: Sequence[Sequence[AxisMap]]) -> list[Cell]:
        """Return its parts, whose sides along each axis are these; some may be empty."""
        parts = [replace(self.patch, maps=maps) for maps in itertools.product(*sides)]
        return [replace(self, patch=patch) for patch in parts]


def is_shortest(patch: Patch) -> bool:
    """Tell whether a patch is as short as numbers allow where it lies."""
    return _cuts_left(patch) < 0.0


def _cuts_left(patch: Patch) -> float:
    """Return how often a patch can be halved until it is as short as numbers allow."""
    spacing = np.spacing(np.maximum(np.abs(patch.low), np.abs(patch.high)))
    return float(np.log2(patch.sides / (FLOATS * spacing)).min())


def at_corners(cells: Sequence[Cell], corners: FloatArray | None) -> list[tuple[int, ...] | None]:
    """Return at which of its ends along each axis each cell touches some points or lines, if any.

    None where it touches them at both ends of an axis. Lines run along the axis in which they have
    NaN; a cell that touches just one of them, along its whole length, has -1 there.
    """
    out: list[tuple[int, ...] | None] = [None] * len(cells)
    if corners is None or not len(corners):
        return out
    fixed = ~np.isnan(corners)
    for i, own in touching(cells, corners).items():
        where: list[set[int]] = [set() for _ in range(corners.shape[1])]
        for touch in own:
            for axis in np.flatnonzero(fixed[touch.corner]):
                where[axis].add(touch.ends[axis])
        if all(len(found) < 2 for found in where):
            out[i] = tuple(found.pop() if found else -1 for found in where)
    return out


@dataclass(frozen=True)
class Touch:
    """That a vertex of a cell, an end of each axis, is a corner, or on a line, by its number."""

    ends: tuple[int, ...]
    corner: int


def touching(cells: Sequence[Cell], corners: FloatArray) -> dict[int, list[Touch]]:
    """Return which of some points or lines cells touch, by their numbers."""
    ends = list(itertools.product((0, 1), repeat=corners.shape[1]))
    own = _vertices([c.patch for c in cells], np.array(ends))
    size = np.ptp(own, axis=1).min(axis=1)
    gaps = np.nan_to_num(np.abs(own[:, :, None] - corners)).max(axis=3)
    out: dict[int, list[Touch]] = {}
    for i, vertex, point in np.argwhere(gaps <= 1e-9 * size[:, None, None]).tolist():
        out.setdefault(i, []).append(Touch(ends[vertex], point))
    return out


def _vertices(patches: Sequence[Patch], ends: Counts) -> FloatArray:
    """Return the vertices of patches at ends of their axes, (v, d), in space, (n, v, d)."""
    low, high = (np.stack(x) for x in zip(*((p.low, p.high) for p in patches), strict=True))
    out = np.where(ends == 1, high[:, None], low[:, None])
    for i, patch in enumerate(patches):
        if patch.chart is not None:
            out[i] = patch.in_space(out[i])
    return np.asarray(out)


def split(
    cell: Cell, tail: FloatArray, axes: Flags, aim: float, functions: Counts, thin: FloatArray
) -> list[Cell]:
    """Return the parts of a cell, cut further towards a point that calls for it."""
    worst = float(tail.max())
    # Cuts that keep neighbours alike say nothing of how the tail falls.
    known = math.isfinite(cell.tail) and cell.run >= SETTINGS.look_ahead
    if not known or not axes.all() or -1 in cell.corner:
        return parts_of(cell, axes, functions, worst, thin)
    levels = max(1, min(cell.run + 1, math.ceil(math.log(aim / worst) / fall_of(cell, worst))))
    return rings(cell, cell.corner, worst, [functions] * (levels + 1))


def cut_to_corner(
    cell: Cell, tail: FloatArray, aim: float, functions: tuple[int, int], corner: tuple[int, ...]
) -> list[Cell]:
    """Return the parts of a cell with a singularity at a corner of the domain."""
    worst, d, cut = float(tail.max()), len(corner), np.array(corner) >= 0
    sides, least = cell.patch.sides, float(cell.patch.sides[cut].min())
    # Of a layer a half takes a part of what the whole does; on the line fewer do.
    halves = np.ceil(SETTINGS.half * np.array(cell.patch.functions)) + 1
    same = np.maximum(functions[1], halves if d > 1 else np.zeros(d)).astype(np.int64)
    long = cut & (sides > SETTINGS.round * least)
    if long.any():
        # Along the longer side only, as near to the corner as the patch is thick.
        thin = np.full((d, 2), np.inf)
        thin[range(d), corner] = np.where(long, least, np.inf)
        return parts_of(cell, long, same, worst, thin)
    if cell.corner != corner or not math.isfinite(cell.tail):
        return rings(cell, corner, worst, [same] * (SETTINGS.first + 1))
    fall = fall_of(cell, worst)
    # Where it did not fall nothing is foretold: it may have been disturbed.
    most = SETTINGS.ahead * cell.run if fall < -SETTINGS.slowest else 2 * SETTINGS.first
    levels = math.ceil(math.log(aim / worst) / fall)
    # One that is foretold to fall no sooner than numbers end was disturbed as well: halfway there
    # it is asked again.
    left = _cuts_left(cell.patch)
    levels = max(1, min(most, levels if levels < left else int(0.5 * left)))
    counts = functions_of_rings(worst / aim, fall, levels, functions)
    return rings(cell, corner, worst, [*(np.full(d, p) for p in counts), same])


def cut_as_deep(
    cell: Cell,
    corner: tuple[int, ...],
    size: float,
    tail: float,
    aim: float,
    functions: tuple[int, int],
) -> list[Cell]:
    """Return a cell cut towards one of its corners until it is as small there as others are."""
    even, now, most = np.full((len(corner), 2), np.inf), cell, np.full(len(corner), functions[1])
    out: list[Cell] = []
    while (long := now.patch.sides > 2.0 * now.patch.sides.min()).any():
        parts = parts_of(now, long, most, tail, even)
        there = [c for c in parts if np.all(~long | (np.array(c.corner) == corner))]
        if len(there) != 1:
            return [*out, *parts]
        out += [c for c in parts if c is not there[0]]
        now = there[0]
    levels = math.ceil(math.log2(max(now.patch.sides.max() / size, 1.0)))
    if not levels:
        return [*out, now]
    smaller = max(tail / aim, math.e)
    counts = functions_of_rings(smaller, -math.log(smaller) / levels, levels, functions)
    return [*out, *rings(now, corner, tail, [*(np.full(len(corner), p) for p in counts), most])]


def functions_of_rings(
    smaller: float, fall: float, levels: int, functions: tuple[int, int]
) -> list[int]:
    """Return how many functions along an axis the rings around a corner take, within limits."""
    left = math.log(smaller) + fall * np.arange(levels)
    return list(np.clip(np.ceil(left / SETTINGS.ring) + SETTINGS.besides, *functions).astype(int))


def fall_of(cell: Cell, tail: float) -> float:
    """Return the logarithm of how much the tail fell with each of the last cuts."""
    return min(math.log(tail / cell.tail) / cell.levels, -SETTINGS.slowest)


def rings(
    cell: Cell, corner: tuple[int, ...], tail: float, functions: Sequence[Counts]
) -> list[Cell]:
    """Return a cell cut again and again towards one of its corners, an end of each axis.

    Functions are those of the parts of each cut, and of the last one at the corner.
    """
    axes, even = np.array(corner) >= 0, np.full((len(corner), 2), np.inf)
    out: list[Cell] = []
    run = cell.run if cell.corner == corner else 0
    now, levels = cell, len(functions) - 1
    for number in functions[:-1]:
        parts = parts_of(now, axes, number, tail, even)
        there = next((c for c in parts if c.corner == corner), None)
        if there is None:
            # The corner of the cell lies beyond the boundary that cuts it.
            return [*out, *parts]
        now = there
        out += [c for c in parts if c is not now]
    counts = np.where(axes, functions[-1], now.patch.functions)
    patch = replace(now.patch, functions=tuple(counts.tolist()))
    before, since = _before(cell, corner, tail, levels)
    last = replace(now, patch=patch, run=run + levels, tail=before, levels=since)
    return [*out, last]


def _before(cell: Cell, corner: tuple[int, ...], tail: float, levels: int) -> tuple[float, int]:
    """Return the tail to compare that of a part with, and how many cuts ago it was."""
    if corner == cell.corner and cell.levels < SETTINGS.enough and math.isfinite(cell.tail):
        return cell.tail, cell.levels + levels
    return tail, levels


def parts_of(
    cell: Cell, axes: Flags, functions: Counts, tail: float, thin: FloatArray
) -> list[Cell]:
    """Return the parts of a cell that is cut along some axes."""
    choices: list[list[tuple[AxisMap, int, int]]] = []
    sides = zip(cell.patch.maps, cell.patch.functions, functions.tolist(), axes, thin, strict=True)
    for m, p, fresh, cut, beside in sides:
        place = _place(m, beside)
        two = AxisMap(m.low, place), AxisMap(place, m.high)
        # Beside a part that is cut off nearly the whole is left, with what it holds.
        left = [fresh if own.length <= (1 - OFF) * m.length else max(fresh, p) for own in two]
        choices.append(list(zip(two, left, (0, 1), strict=True)) if cut else [(m, p, -1)])
    out = []
    for combination in itertools.product(*choices):
        corner = tuple(c[2] for c in combination)
        run = cell.run + 1 if corner == cell.corner else 1
        maps, counts = tuple(c[0] for c in combination), tuple(c[1] for c in combination)
        before = _before(cell, corner, tail, 1)
        patch = replace(cell.patch, maps=maps, functions=counts)
        if not patch.is_empty:
            out.append(Cell(patch, corner, run, *before))
    return out


def _place(side: AxisMap, thin: FloatArray) -> float:
    """Return where a side is cut: in the middle, or near a much thinner neighbour."""
    end = int(np.argmin(thin))
    depth = SETTINGS.balance * float(thin[end])
    if depth < OFF * side.length:
        return side.high - depth if end else side.low + depth
    return float(side.points(np.zeros(1))[0])
