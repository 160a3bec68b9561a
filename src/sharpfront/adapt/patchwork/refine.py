"""What to change: more functions, fewer, or a split."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.patchwork.tails import Tails
from sharpfront.arrays import Host
from sharpfront.bases.patch import Patch
from sharpfront.maps import AxisMap
from sharpfront.rows.faces import faces_of

# A patch beside a much thinner one is cut at so many times that one's thickness.
GRADING = 2.5
# No patch is more than so many times longer than a neighbour along their common side.
BALANCE = 2.5
# Unless less than this part of the shorter one touches it: strips of two charts end side by side.
PASSING = 2.0
# An axis whose tail is below this share of the longest of its patch waits.
SHARE = 0.1
# A resolved patch keeps all but so many of the functions it began with, and two more than it needs:
# one that was made too poor comes back with a longer tail.
SPARED = 2
# A patch at a corner that was cut before in a row so often is cut several times at once.
LOOK_AHEAD = 2

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Limits:
    """How many functions along an axis patches begin with, and may have along every axis."""

    base: int
    most: int


@dataclass(frozen=True)
class Cell:
    """A patch with what is remembered of how it came about.

    Parameters
    ----------
    patch
        The patch.
    corner
        At which corner of the patch it was cut from it lies, an end for each axis; empty at first.
    run
        How often in a row it was the same corner.
    tail
        The tail of the patch that it was cut from, `levels` cuts ago.
    levels
        See `tail`.
    """

    patch: Patch
    corner: tuple[int, ...] = ()
    run: int = 0
    tail: float = math.inf
    levels: int = 1


def functions_of(cells: Sequence[Cell]) -> int:
    """Return the number of functions of all cells."""
    return sum(cell.patch.size for cell in cells)


def refined(
    cells: Sequence[Cell],
    tails: Tails,
    aim: float,
    disturbed: float,
    limits: Limits,
    periods: Sequence[float | None],
) -> tuple[list[Cell], bool]:
    """Return the cells with more functions or split where tails are long, and whether any were.

    Parameters
    ----------
    cells, tails
        What there is, and how its weights fall.
    aim
        What tails are to become.
    disturbed
        Tails below this share of the longest one wait.
    limits
        Of the functions of a patch.
    periods
        Of the domain.
    """
    least = max(aim, disturbed * float(tails.tail.max()))
    thin = _neighbours(cells, periods)
    out: list[Cell] = []
    changed = False
    for i, cell in enumerate(cells):
        tail, wanted = tails.tail[i], tails.wanted[i]
        long = tail > max(least, SHARE * tail.max())
        if long.any():
            changed = True
            out += _enriched(cell, tail, wanted, long, aim, limits, thin[i])
        else:
            out.append(
                _relieved(cell, wanted, limits.base - SPARED) if tail.max() < 0.1 * aim else cell
            )
    return balanced(out, periods) if changed else out, changed


def richer(cells: Sequence[Cell], more: int = 2) -> list[Cell]:
    """Return the cells with more functions along every axis."""
    return [
        replace(c, patch=replace(c.patch, functions=tuple(p + more for p in c.patch.functions)))
        for c in cells
    ]


def _relieved(cell: Cell, wanted: Host, least: int) -> Cell:
    """Return a resolved cell with no more functions than it needs, two to spare."""
    functions = tuple(
        min(p, max(least, math.ceil(w) + 2)) if w < p else p
        for p, w in zip(cell.patch.functions, wanted, strict=True)
    )
    return replace(cell, patch=replace(cell.patch, functions=functions))


def _enriched(
    cell: Cell, tail: Host, wanted: Host, long: Flags, aim: float, limits: Limits, thin: Host
) -> list[Cell]:
    """Return what becomes of a cell that is not resolved along some axes."""
    patch = cell.patch
    split = _too_many(patch, wanted, long, limits.most)
    if split.any():
        return _split(cell, tail, split, aim, limits.base, thin)
    functions = tuple(
        max(p + 1, math.ceil(w) + 1) if needs else p
        for p, w, needs in zip(patch.functions, wanted, long, strict=True)
    )
    return [replace(cell, patch=replace(patch, functions=functions))]


def _too_many(patch: Patch, wanted: Host, long: Flags, most: int) -> Flags:
    """Return the axes to split so that no patch has more functions than a cube with `most`."""
    wanted = np.where(long, np.maximum(wanted, patch.functions), patch.functions)
    split = long & (wanted > 2 * most)
    allowed = float(most**patch.dimension)
    # A half needs about 0.6 of the functions.
    while np.prod(np.where(split, 0.6, 1.0) * np.minimum(wanted, 4 * most)) > allowed:
        rest = np.where(long & ~split, wanted, -1.0)
        if rest.max() < 0:
            break
        split[int(np.argmax(rest))] = True
    return np.asarray(split)


def _split(cell: Cell, tail: Host, axes: Flags, aim: float, base: int, thin: Host) -> list[Cell]:
    """Return the parts of a cell, cut further towards a corner that calls for it."""
    worst = float(tail.max())
    children = _parts(cell, axes, base, worst, thin)
    # Cuts that keep neighbours alike say nothing of how the tail falls.
    known = math.isfinite(cell.tail) and cell.run >= LOOK_AHEAD
    if not known or not axes.all() or -1 in cell.corner:
        return children
    # By how much the tail fell with each cut so far, and how many cuts it will take.
    fall = min(math.log(worst / cell.tail) / cell.levels, -0.1)
    levels = max(1, min(cell.run + 1, math.ceil(math.log(aim / worst) / fall)))
    out: list[Cell] = []
    for _ in range(levels - 1):
        same = next(c for c in children if c.corner == cell.corner)
        out += [c for c in children if c is not same]
        children = _parts(replace(same, run=cell.run), axes, base, worst, thin)
    last = [
        replace(c, run=c.run + levels - 1, levels=levels) if c.corner == cell.corner else c
        for c in children
    ]
    return out + last


def _parts(cell: Cell, axes: Flags, base: int, tail: float, thin: Host) -> list[Cell]:
    """Return the parts of a cell that is cut along some axes."""
    choices: list[list[tuple[AxisMap, int, int]]] = []
    sides = zip(cell.patch.maps, cell.patch.functions, axes, thin, strict=True)
    for m, p, cut, beside in sides:
        place = _place(m, beside)
        low, high = AxisMap(m.low, place), AxisMap(place, m.high)
        choices.append([(low, base, 0), (high, base, 1)] if cut else [(m, p, -1)])
    out = []
    for combination in itertools.product(*choices):
        corner = tuple(c[2] for c in combination)
        run = cell.run + 1 if corner == cell.corner else 1
        maps, functions = tuple(c[0] for c in combination), tuple(c[1] for c in combination)
        patch = replace(cell.patch, maps=maps, functions=functions)
        out.append(Cell(patch, corner, run, tail))
    return out


def _place(side: AxisMap, thin: Host) -> float:
    """Return where a side is cut: in the middle, or near a much thinner neighbour."""
    end = int(np.argmin(thin))
    depth = GRADING * float(thin[end])
    if depth < 0.25 * side.length:
        return side.high - depth if end else side.low + depth
    return float(side.points(np.zeros(1))[0])


def _neighbours(cells: Sequence[Cell], periods: Sequence[float | None]) -> Host:
    """Return the thickness of the thinnest neighbour of each cell, (cells, d, 2); inf without."""
    faces, _ = faces_of([c.patch for c in cells], periods)
    out = np.full((len(cells), cells[0].patch.dimension, 2), np.inf)
    for face in faces:
        for here, there in (face.contacts, face.contacts[::-1]):
            beside = float(cells[there.patch].patch.sides[there.axis])
            place = here.patch, here.axis, here.end
            out[place] = min(out[place], beside)
    return out


def balanced(cells: Sequence[Cell], periods: Sequence[float | None]) -> list[Cell]:
    """Return the cells split until no side has more than two neighbours along an axis."""
    now = list(cells)
    while cuts := _unbalanced(now, periods):
        out: list[Cell] = []
        for k, cell in enumerate(now):
            if k not in cuts:
                out.append(cell)
                continue
            d = cell.patch.dimension
            axes = np.array([a in cuts[k] for a in range(d)])
            parts = _parts(cell, axes, 0, cell.tail, np.full((d, 2), np.inf))
            functions = cell.patch.functions
            out += [replace(c, patch=replace(c.patch, functions=functions)) for c in parts]
        now = out
    return now


def _unbalanced(cells: Sequence[Cell], periods: Sequence[float | None]) -> dict[int, set[int]]:
    """Return the axes along which cells are much longer than a neighbour beside them."""
    faces, _ = faces_of([c.patch for c in cells], periods)
    cuts: dict[int, set[int]] = {}
    for face in faces:
        # In units of the face: two charts may measure along it differently.
        below, above = (cells[c.patch].patch.sides[c.rest] / c.lengths for c in face.contacts)
        for i, (a, b) in enumerate(zip(below, above, strict=True)):
            if min(a, b) > PASSING:
                continue
            if a > BALANCE * b:
                cuts.setdefault(face.below.patch, set()).add(face.below.rest[i])
            elif b > BALANCE * a:
                cuts.setdefault(face.above.patch, set()).add(face.above.rest[i])
    return cuts
