"""What to change: more functions, fewer, or a split."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.bases.total_degree import is_joint
from sharpfront.maps import AxisMap
from sharpfront.place.patches.around_corners import evened_around
from sharpfront.place.patches.cuts import (
    Cell,
    Depths,
    Flags,
    at_corners,
    cut_to_corner,
    parts_of,
    split,
)
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import Tails, loudest
from sharpfront.rows.neighbours import faces_of

# Tails that are not finite count as this long.
BOUND = 1e300


@dataclass(frozen=True)
class Limits:
    """Numbers of functions along an axis."""

    base: int  # what a patch begins with
    most: int  # what it may have along every axis
    least: int  # what a resolved one keeps


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
    corners: FloatArray | None = None,
    depths: Depths | None = None,
) -> tuple[list[Cell], bool]:
    """Return the cells with more functions or split where tails are long, and whether any were.

    Tails below the share `disturbed` of the longest one wait. At corners (k, d) singularities are
    to be expected; they are None where the tails are not those of a solution, and patches are to
    keep their functions. Depths are those of layers along walls.
    """
    # No share of an infinite tail is smaller than another one: one such would hide itself.
    tails = replace(tails, tail=np.nan_to_num(tails.tail, nan=BOUND, posinf=BOUND))
    tails, least = _in_turn(cells, tails, aim, disturbed)
    if corners is None and not np.any(tails.tail > least):
        return list(cells), False
    thin, deep = _neighbours(cells, periods), _at_walls(cells, depths or {})
    at = at_corners(cells, corners)
    parts: list[list[Cell]] = []
    changed = False
    for i, cell in enumerate(cells):
        tail, wanted = tails.tail[i], tails.wanted[i]
        long = tail > max(least, SETTINGS.share * tail.max())
        if long.any():
            changed = True
            wanted = np.where(tail > SETTINGS.broken * cell.promise, np.inf, wanted)
            if corners is not None and at[i] is None and _is_nearly_resolved(cell, tail, aim):
                most = np.array(cell.patch.functions) / SETTINGS.half
                wanted = np.where(np.isinf(wanted), most, wanted)
            strips = _cut_off(cell, long & (wanted > limits.most), deep[i], limits.most)
            if len(strips) > 1:
                parts.append(strips)
                continue
            parts.append(_enriched(cell, tail, wanted, long, aim, limits, thin[i], at[i]))
        else:
            spare = corners is not None and tail.max() < 0.1 * aim
            parts.append([_relieved(cell, wanted, limits.least) if spare else cell])
    out = [c for own in parts for c in own]
    if not changed:
        return out, False
    out = evened_around(_with_equal_shells(out), corners, aim, (limits.least, limits.base))
    return balanced(out, periods, limits.base), True


def _with_equal_shells(cells: Sequence[Cell]) -> list[Cell]:
    """Return cells, those that hold the same layer with as many functions as one of them needs.

    Beside a neighbour with fewer functions a shell is no better than that one, and what is left
    there looks like something that is not smooth.
    """
    most: dict[float, tuple[int, ...]] = {}
    for cell in cells:
        own, known = cell.patch.functions, most.get(_layer_in(cell))
        most[_layer_in(cell)] = own if known is None else tuple(map(max, own, known))
    return [
        replace(cell, patch=replace(cell.patch, functions=most[_layer_in(cell)]))
        if _layer_in(cell)
        else cell
        for cell in cells
    ]


def _layer_in(cell: Cell) -> float:
    """Return how often the layer that a shell holds decays; nothing of other cells."""
    return max(m.decays for m in cell.patch.maps)


def _is_nearly_resolved(cell: Cell, tail: FloatArray, aim: float) -> bool:
    """Tell whether a few functions more may do for a cell that has not had any yet."""
    return bool(tail.max() < SETTINGS.nearly * aim) and not math.isfinite(cell.promise)


def _in_turn(
    cells: Sequence[Cell], tails: Tails, aim: float, disturbed: float
) -> tuple[Tails, float]:
    """Return the tails that count now, and the length from which on patches are changed."""
    sizes = np.array([cell.patch.size for cell in cells])
    if is_joint(cells[0].patch.dimension) and np.any(tails.tail > aim):
        aim = SETTINGS.beneath * aim
    loud = loudest(tails, aim)
    least = max(aim, disturbed * float(loud.tail.max()))
    if sizes[loud.tail.max(axis=1) > least].sum() >= SETTINGS.bulk * sizes.sum():
        return loud, least
    longest = tails.tail.max(axis=1)
    order = np.argsort(-longest)
    enough = int(np.searchsorted(np.cumsum(sizes[order]), SETTINGS.bulk * sizes.sum()))
    return tails, max(aim, min(least, float(np.nextafter(longest[order[enough]], 0.0))))


def richer(cells: Sequence[Cell], more: int = 2) -> list[Cell]:
    """Return the cells with more functions along every axis."""
    return [
        replace(c, patch=replace(c.patch, functions=tuple(p + more for p in c.patch.functions)))
        for c in cells
    ]


def _relieved(cell: Cell, wanted: FloatArray, least: int) -> Cell:
    """Return a resolved cell with no more functions than it needs, some to spare."""
    if cell.relieved or math.isfinite(cell.promise) or _layer_in(cell):
        return cell
    functions = tuple(
        min(p, max(least, math.ceil(w) + SETTINGS.spared)) if w < p else p
        for p, w in zip(cell.patch.functions, wanted, strict=True)
    )
    return replace(cell, patch=replace(cell.patch, functions=functions), relieved=True)


def _enriched(
    cell: Cell,
    tail: FloatArray,
    wanted: FloatArray,
    long: Flags,
    aim: float,
    limits: Limits,
    thin: FloatArray,
    corner: tuple[int, ...] | None,
) -> list[Cell]:
    """Return what becomes of a cell that is not resolved along some axes."""
    patch = cell.patch
    if _layer_in(cell) and np.prod(patch.functions) < SETTINGS.of_shell * limits.most**3:
        had = np.array(patch.functions)
        more = np.where(long, np.clip(np.ceil(wanted), had + 1, had + SETTINGS.step), had)
        return [replace(cell, patch=replace(patch, functions=tuple(more.astype(int).tolist())))]
    if is_joint(patch.dimension) and patch.cut is not None:
        corner = None  # it may be the surface beside which it is not resolved
    first = (corner is None or cell.run < SETTINGS.first) and not math.isfinite(cell.promise)
    if is_joint(patch.dimension) and first:
        # In space eight parts cost more than all the functions that a patch may have.
        wanted = np.where(np.isinf(wanted), limits.most - 1, wanted)
    axes = _too_many(patch, wanted, long, limits.most)
    if axes.any():
        towards = _towards(corner, long, wanted, axes)
        if towards is not None:
            return cut_to_corner(cell, tail, aim, (limits.least, limits.base), towards)
        # In space, where a patch gets all it may have first, parts with the functions that a patch
        # begins with would be worse than the whole.
        least = patch.functions if is_joint(patch.dimension) else 0
        halves = np.ceil(SETTINGS.half * np.where(np.isfinite(wanted), wanted, least)) + 1
        counts = np.clip(halves, limits.base, limits.most).astype(int)
        return split(cell, tail, axes, aim, counts, thin)
    functions = tuple(
        max(p + 1, math.ceil(w) + 1) if needs else p
        for p, w, needs in zip(patch.functions, wanted, long, strict=True)
    )
    return [replace(cell, patch=replace(patch, functions=functions), promise=aim)]


def _towards(
    corner: tuple[int, ...] | None, long: Flags, wanted: FloatArray, axes: Flags
) -> tuple[int, ...] | None:
    """Return the corner or edge that a cell is cut to, an end for each axis, -1 along an edge."""
    if corner is None:
        return None
    if len(corner) < 3:
        return corner if long.all() or not np.isfinite(wanted[axes]).all() else None
    towards = tuple(end if here else -1 for end, here in zip(corner, long, strict=True))
    return towards if sum(end >= 0 for end in towards) > 1 else None


def _too_many(patch: Patch, wanted: FloatArray, long: Flags, most: int) -> Flags:
    """Return the axes to split so that no patch has more functions than a cube with `most`.

    Or few more than it has: patches in which layers meet begin with more than that.
    """
    wanted = np.where(long, np.maximum(wanted, patch.functions), patch.functions)
    split = long & (wanted > 2 * most)
    allowed = max(float(most**patch.dimension), SETTINGS.beyond * math.prod(patch.functions))
    while np.prod(np.where(split, SETTINGS.half, 1.0) * np.minimum(wanted, 4 * most)) > allowed:
        rest = np.where(long & ~split, wanted, -1.0)
        if rest.max() < 0:
            break
        split[int(np.argmax(rest))] = True
    return np.asarray(split)


def _neighbours(cells: Sequence[Cell], periods: Sequence[float | None]) -> FloatArray:
    """Return the thickness of the thinnest neighbour of each cell, (cells, d, 2); inf without."""
    faces, _ = faces_of([c.patch for c in cells], periods)
    out = np.full((len(cells), cells[0].patch.dimension, 2), np.inf)
    for face in faces:
        if face.is_oblique:
            continue
        for here, there in (face.contacts, face.contacts[::-1]):
            beside = float(cells[there.patch].patch.sides[there.axis])
            place = here.patch, here.axis, here.end
            out[place] = min(out[place], beside)
    return out


def _at_walls(cells: Sequence[Cell], depths: Depths) -> FloatArray:
    """Return how deep layers are at the sides of cells that lie on walls, inf elsewhere."""
    out = np.full((len(cells), cells[0].patch.dimension, 2), np.inf)
    for (chart, axis, end, place), (depth, length) in depths.items():
        for i, patch in enumerate(c.patch for c in cells):
            touches = patch.chart == chart and (patch.high if end else patch.low)[axis] == place
            if touches and np.delete(patch.sides, axis).max() >= SETTINGS.along * length:
                out[i, axis, end] = depth
    return out


def _cut_off(cell: Cell, long: Flags, deep: FloatArray, most: int) -> list[Cell]:
    """Return a cell cut where layers along its walls end; itself if it is thin there already."""
    sides: list[list[tuple[AxisMap, int]]] = []
    for m, p, unresolved, (below, above) in zip(
        cell.patch.maps, cell.patch.functions, long, deep, strict=True
    ):
        fits = [int(unresolved and depth <= SETTINGS.strip * m.length) for depth in (below, above)]
        maps = m.cut([*[m.low + below] * fits[0], *[m.high - above] * fits[1]])
        counts = [*[most] * fits[0], p, *[most] * fits[1]]
        sides.append(list(zip(maps, counts, strict=True)))
    parts = [
        replace(cell.patch, maps=tuple(s[0] for s in part), functions=tuple(s[1] for s in part))
        for part in itertools.product(*sides)
    ]
    return [Cell(patch) for patch in parts if not patch.is_empty]


def balanced(
    cells: Sequence[Cell], periods: Sequence[float | None], base: float = math.inf
) -> list[Cell]:
    """Return the cells split until no side has more than two neighbours along an axis.

    Parts have fewer functions than the whole, but no fewer than `base` if the whole has as many.
    """
    now = list(cells)
    while cuts := _unbalanced(now, periods):
        out: list[Cell] = []
        for k, cell in enumerate(now):
            if k not in cuts:
                out.append(cell)
                continue
            d = cell.patch.dimension
            axes = np.array([a in cuts[k] for a in range(d)])
            halves = np.ceil(SETTINGS.half * np.array(cell.patch.functions)) + 1
            functions = np.minimum(cell.patch.functions, np.maximum(halves, base)).astype(int)
            out += parts_of(cell, axes, functions, cell.tail, np.full((d, 2), np.inf))
        now = out
    return now


def _unbalanced(cells: Sequence[Cell], periods: Sequence[float | None]) -> dict[int, set[int]]:
    """Return the axes along which cells are much longer than a neighbour beside them."""
    faces, _ = faces_of([c.patch for c in cells], periods)
    cuts: dict[int, set[int]] = {}
    for face in faces:
        if face.is_oblique:
            continue
        # In units of the face: two charts may measure along it differently.
        below, above = (cells[c.patch].patch.sides[c.rest] / c.lengths for c in face.contacts)
        for i, (a, b) in enumerate(zip(below, above, strict=True)):
            if min(a, b) > SETTINGS.passing:
                continue
            if a > SETTINGS.balance * b:
                cuts.setdefault(face.below.patch, set()).add(face.below.rest[i])
            elif b > SETTINGS.balance * a:
                cuts.setdefault(face.above.patch, set()).add(face.above.rest[i])
    return cuts
