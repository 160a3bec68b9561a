"""Patches on which sources and coefficients are resolved, before anything is solved."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sharpfront.adapt.patchwork.blocks import Tiling
from sharpfront.adapt.patchwork.cuts import Cell
from sharpfront.adapt.patchwork.refine import Limits, functions_of, refined
from sharpfront.adapt.patchwork.settings import SETTINGS, PatchSettings
from sharpfront.adapt.patchwork.tails import Tails, tails_of_blocks
from sharpfront.arrays import FloatArray
from sharpfront.bases.joint import leading_degrees
from sharpfront.bases.legendre import block_at, gauss, legendre_table, product_points
from sharpfront.bases.patch import Patch
from sharpfront.equation.across import places_across
from sharpfront.equation.focus import axis_places
from sharpfront.equation.linearise import LinearForm
from sharpfront.maps import AxisMap
from sharpfront.problem import Problem
from sharpfront.rows.moments import projected
from sharpfront.rows.norm import felt_size
from sharpfront.rows.values import form_at, taylor_of

# Coefficients are resolved to this share.
COEFFICIENT = 1e-2
# Patches are halved so often at the most: a spike of 1e-7 of its patch is reached.
HALVINGS = 24
# Data are also looked at on the way to the sides of a patch, at these shares of them, and into its
# corners, four times closer each time.
CLOSER = 0.25 ** np.arange(1, 13)
ACROSS = (0.13, 0.57, 0.91)
# A place on a side is looked at so far inside, in units of the patch.
BESIDE = 1e-9
# Places that formulas tell of, about, in all; of more than these every second is looked at.
PLACES = 2500
# Further places, spread evenly.
SPREAD = 500
# A solution is not trusted if data stand out from what a patch sees by this many times more than
# what it would be cut for.
UNSEEN = 10.0


def with_resolved_data(
    problem: Problem,
    tiling: Tiling,
    cells: list[Cell],
    settings: PatchSettings,
    tol: float,
    most: int,
) -> list[Cell]:
    """Return cells on which sources and coefficients are resolved, as far as that is allowed."""
    base = settings.functions(tol)
    limits = Limits(base, settings.most(tol, problem.domain.dimension), base)
    looks = _Looks(problem, tiling.marked, tol)
    cells = _cut_where_missed(looks, cells)
    for _ in range(HALVINGS):
        tails = _data_tails(looks, [c.patch for c in cells])
        new, changed = refined(cells, tails, 1.0, 0.0, limits, tiling.periods)
        if not changed or functions_of(new) > most:
            break
        cells = new
    # How data fell with each cut says nothing of how the solution will.
    return [Cell(c.patch) for c in cells]


def unseen_place(
    problem: Problem, tiling: Tiling, patches: Sequence[Patch], tol: float
) -> FloatArray | None:
    """Return a place that formulas tell of at which data stand that no patch sees, (d,)."""
    looks = _Looks(problem, tiling.marked, tol)
    for patch in patches:
        if not len(_inside(patch, looks.told[:-SPREAD])):
            continue
        look = looks(patch)
        told = look.places[: look.told[0]]
        inner = np.all(np.abs(patch.inverse(told)) < 1.0 - 4.0 * BESIDE, axis=1)
        for (tail, _), gap in zip(look.seen, look.gaps, strict=True):
            most = UNSEEN * max(1.0, SETTINGS.missed * float(tail.max()))
            for i in np.argsort(-gap[: len(told)]).tolist():
                if gap[i] <= most:
                    break
                # On a side data may be infinite, and enter by their means; a spike is narrow along
                # all axes.
                if inner[i] or _gaps_along(looks, patch, told[i], 0.0).min() > 0.1 * gap[i]:
                    return np.asarray(told[i])
    return None


@dataclass(frozen=True, eq=False)
class _Look:
    """What a look at a patch's data finds, in units of what is allowed to be missed."""

    places: FloatArray  # points besides the patch's own
    # How many of the first of them formulas tell of, and how many are spread beside these.
    told: tuple[int, int]
    # What the patch's own points say of each datum: what its functions cannot hold along each axis,
    # and the functions wanted.
    seen: list[tuple[FloatArray, FloatArray]]
    # How far each datum is at the places from what the patch's own points say.
    gaps: list[FloatArray]


class _Looks:
    """Looks at patches, each taken once."""

    def __init__(self, problem: Problem, poles: Sequence[Sequence[float]], tol: float) -> None:
        self.problem, self.tol = problem, tol
        self.poles = np.array(poles).reshape(-1, problem.domain.dimension)
        told = _told(problem)
        self.told = told[~(told[:, None] == self.poles).all(axis=2).any(axis=1)]
        self._taken: dict[Patch, _Look] = {}

    def __call__(self, patch: Patch) -> _Look:
        """Return the look at a patch."""
        if patch not in self._taken:
            self._taken[patch] = self._look(patch)
        return self._taken[patch]

    def _look(self, patch: Patch) -> _Look:
        told, spread_out = (_inside(patch, x) for x in (self.told[:-SPREAD], self.told[-SPREAD:]))
        places = _watched(patch, np.concatenate([told, spread_out]))
        if patch.cut is not None:
            return self._look_inside(patch, places[patch.has(places)])
        seen, gaps = [], []
        for form in self.problem.forms:
            for block, values, felt in _blocks(self, form, patch, places):
                seen.append(_beyond(block, patch.functions))
                gaps.append(felt * np.abs(values - _interpolated(block, patch, places)))
        return _Look(places, (len(told), len(spread_out)), seen, gaps)

    def _look_inside(self, patch: Patch, places: FloatArray) -> _Look:
        """Return the look at a patch that the boundary cuts: only at what lies inside.

        What its functions make of data at points inside is compared with these, and at places.
        """
        points = patch.inner_points()
        every = np.concatenate([points, places])
        n, seen, gaps = len(points), [], []
        for form in self.problem.forms:
            data = _data(self, form, patch, every)
            for values, felt in data:
                assert patch.frame is not None
                block = patch.frame.fitted_block(values[:n])
                gap = felt * np.abs(values - _interpolated(block, patch, every))
                own = tails_of_blocks([block], 1.0, [SETTINGS.analytic], frames=[patch.frame])
                missed = np.where(own.tail[0] > 0.1 * own.tail.max(), gap[:n].max(), 0.0)
                seen.append((np.where(missed > 1.0, missed, 0.0), own.wanted[0]))
                gaps.append(gap[n:])
        return _Look(places, (0, 0), seen, gaps)


class Holding:
    """Tells which patches hold the data of a problem along their second axis."""

    def __init__(self, problem: Problem, tol: float) -> None:
        self._looks = _Looks(problem, (), tol)

    def __call__(self, patch: Patch) -> bool:
        """Tell whether a patch's functions hold them."""
        nowhere, forms = np.empty((0, patch.dimension)), self._looks.problem.forms
        blocks = [b for f in forms for b, _, _ in _blocks(self._looks, f, patch, nowhere)]
        return all(_tails_beyond(b, patch.functions)[1] <= 1.0 for b in blocks)


@lru_cache(maxsize=2)
def crossings(problem: Problem) -> FloatArray:
    """Return where zeros cross that formulas tell of, along the axes and across them, (m, d)."""
    axes = []
    for name, (low, high) in zip(
        problem.domain.coordinates, problem.domain.bounds.T.tolist(), strict=True
    ):
        ends = low, high
        found = [axis_places(e, name, *ends) for e in problem.equations]
        axes.append(np.unique(np.concatenate([[0.5 * sum(ends)], *found])))
    most = int(PLACES ** (1.0 / len(axes)))
    along = product_points([x[:: math.ceil(len(x) / most)] for x in axes])
    return np.concatenate([along, _across(problem)])


@lru_cache(maxsize=2)
def _across(problem: Problem) -> FloatArray:
    """Return the places of zeros across the axes."""
    domain = problem.domain
    return places_across(problem.equations, domain.coordinates, domain.bounds)


def _told(problem: Problem) -> FloatArray:
    """Return places to look at, (m, d).

    Some are spread all over the domain, for what formulas do not tell.
    """
    low, high = problem.domain.bounds
    spread_out = low + (high - low) * _spread(problem.domain.dimension, SPREAD)
    return np.concatenate([crossings(problem), spread_out])


def _spread(dimension: int, count: int) -> FloatArray:
    """Return points of the unit box that leave no large gap: multiples of golden ratios, mod 1."""
    ratio = 2.0
    for _ in range(50):
        ratio = (1.0 + ratio) ** (1.0 / (dimension + 1))
    steps = ratio ** -np.arange(1.0, dimension + 1)
    return np.asarray((0.5 + np.arange(count)[:, None] * steps) % 1.0)


def _cut_where_missed(looks: _Looks, cells: list[Cell]) -> list[Cell]:
    """Return the cells cut at places at which data are not what the cells' points say."""
    nowhere = np.empty((0, cells[0].patch.dimension))
    missed = [_misfit(looks(c.patch)) if c.patch.cut is None else nowhere for c in cells]
    out = []
    for cell, places in zip(cells, missed, strict=True):
        sides, at = [], cell.patch.in_chart(places)
        narrow = [_gaps_along(looks, cell.patch, place, np.inf) > 1.0 for place in places]
        for a, m in enumerate(cell.patch.maps):
            own = [x for x, along in zip(at[:, a].tolist(), narrow, strict=True) if along[a]]
            ends = _apart([m.low, m.high], own, SETTINGS.apart * m.length)
            sides.append([AxisMap(low, high) for low, high in itertools.pairwise(ends)])
        for maps in itertools.product(*sides):
            out.append(replace(cell, patch=replace(cell.patch, maps=maps)))
    return out


def _apart(ends: list[float], places: Sequence[float], gap: float) -> list[float]:
    """Return ends and places between them in order, without those too close to earlier ones."""
    chosen = list(ends)
    for place in places:
        if min(abs(place - c) for c in chosen) > gap:
            chosen.append(place)
    return sorted(chosen)


def _misfit(look: _Look) -> FloatArray:
    """Return the told place at which a patch's points miss most, if any, (0 or 1, d).

    None where they miss something beside a side: then it is that side that is cut along.
    """
    gap = np.zeros(len(look.places))
    for (tail, _), own in zip(look.seen, look.gaps, strict=True):
        gap = np.maximum(gap, np.where(own > SETTINGS.missed * float(tail.max()), own, 0.0))
    told, spread_out = look.told
    gap[told : told + spread_out] = 0.0
    worst = int(np.argmax(gap))
    inside = gap[worst] > 1.0 and not np.any(gap[told:] > 1.0)
    return look.places[worst : worst + 1] if inside else look.places[:0]


def _data_tails(looks: _Looks, patches: Sequence[Patch]) -> Tails:
    """Return what of the data each patch's functions cannot hold, in units of what is allowed."""
    tail = np.zeros((len(patches), patches[0].dimension))
    wanted = np.zeros_like(tail)
    for i, patch in enumerate(patches):
        look = looks(patch)
        for (t, w), gap in zip(look.seen, look.gaps, strict=True):
            missed = np.ones_like(t)
            if gap.max(initial=0.0) > max(1.0, SETTINGS.missed * t.max()):
                missed = np.full_like(t, gap.max())
                if patch.cut is None:
                    worst = int(np.argmax(gap))
                    missed = _gaps_along(looks, patch, look.places[worst], float(gap[worst]))
            t, w = np.where(missed > 1.0, missed, t), np.where(missed > 1.0, np.inf, w)
            tail[i], wanted[i] = np.maximum(tail[i], t), np.maximum(wanted[i], w)
    return Tails(tail, wanted, np.ones_like(tail, dtype=bool), tail, tail)


def _gaps_along(looks: _Looks, patch: Patch, place: FloatArray, gap: float) -> FloatArray:
    """Return along each axis how far data are at a place from what points beside it say, (d,).

    On the line through the place along that axis: what is narrow along one axis is only missed
    along that one. The gap that was seen there, along all axes, where no line misses anything.
    """
    counts = [2 * p + 1 for p in patch.functions]
    at = patch.in_chart(place[None])
    lines = [np.repeat(at, n, axis=0) for n in counts]
    for a, (line, m) in enumerate(zip(lines, patch.maps, strict=True)):
        line[:, a] = m.points(gauss(len(line))[0])
    points = np.concatenate([place[None], *map(patch.in_space, lines)])
    gaps = np.zeros(patch.dimension)
    for form in looks.problem.forms:
        for values, felt in _data(looks, form, patch, points):
            parts = np.split(values[1:], np.cumsum(counts)[:-1])
            for a, part in enumerate(parts):
                table = legendre_table(patch.maps[a].inverse(at[:, a]), counts[a])[0, 0]
                away = abs(values[0] - float(projected(part, (counts[a],)) @ table))
                gaps[a] = max(gaps[a], float(felt[0]) * away)
    return gaps if gaps.max() > 1.0 else np.full(patch.dimension, gap)


def _blocks(
    looks: _Looks, form: LinearForm, patch: Patch, places: FloatArray
) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Return the Legendre weights of a form's data on a patch, and the data at places beside.

    Both in units of what is allowed to be missed on the patch, with by how much more it is felt at
    the places; data that do not vary are left out.
    """
    counts = tuple(2 * p + 1 for p in patch.functions)
    at = patch.positions([gauss(n)[0] for n in counts])
    n, points = len(at), patch.in_space(at)
    at = np.concatenate([at, patch.in_chart(places)])
    data = _data(looks, form, patch, np.concatenate([points, places]), at)
    return [(projected(v[:n], counts), v[n:], felt[n:]) for v, felt in data]


def _data(
    looks: _Looks, form: LinearForm, patch: Patch, points: FloatArray, at: FloatArray | None = None
) -> list[tuple[FloatArray, FloatArray]]:
    """Return a form's data that vary at points, and by how much more they are felt there.

    In units of what is allowed to be missed with terms of the mean size: of the size at every point
    they would have bends where coefficients change sign. At a pole as much less as the part of the
    patch is smaller that is as far from it: there it is the solution that tells. `at` is where
    points are in the patch's chart, where that is known.
    """
    problem = looks.problem
    found = form_at(form, problem.coordinates, points)
    rough = dict.fromkeys(problem.unknowns, 0)
    extent = float(np.ptp(problem.domain.bounds, axis=0).max())
    mapped = found.in_chart(taylor_of(patch, patch.in_chart(points) if at is None else at))
    size = np.maximum(felt_size(mapped, patch.sides, rough, extent)[0], 1e-300)
    mean = float(np.mean(size))
    closer = _from_poles(looks.poles, patch, points)
    data = [(closer * found.rhs / mean / (SETTINGS.source * looks.tol), mean / size)]
    every = np.ones(len(points))
    varying = [closer * c for c in found.coefficients if np.ptp(c) > 0]
    data += [(c / np.abs(c).max() / COEFFICIENT, every) for c in varying]
    return [(v, felt) for v, felt in data if np.ptp(v) > 0]


def _from_poles(poles: FloatArray, patch: Patch, points: FloatArray) -> FloatArray:
    """Return the product of r^2 about poles in a patch at points, in units of the patch, (m,)."""
    out = np.ones(len(points))
    if len(poles):
        corners = patch.points([np.array([-1.0, 1.0])] * patch.dimension)
        size = np.ptp(corners, axis=0)
        for pole in poles:
            if np.abs(corners - pole).max(axis=1).min() <= 1e-9 * size.max():
                out *= np.sum(((points - pole) / size) ** 2, axis=1)
    return out


def _inside(patch: Patch, places: FloatArray) -> FloatArray:
    """Return the places that lie in a patch, those on its sides moved a little inwards.

    On a side that is an edge of the data the values of the patch beyond it may be found.
    """
    at = patch.in_chart(places)
    within = np.all((at >= patch.low) & (at <= patch.high), axis=1)
    if patch.chart is not None:
        # Far outside the inverse may be anything.
        within &= np.abs(patch.in_space(at) - places).max(axis=1) < 1e-9 * patch.sides.max()
    room = BESIDE * patch.sides
    return patch.in_space(np.clip(at[within], patch.low + room, patch.high - room))


def _watched(patch: Patch, told: FloatArray) -> FloatArray:
    """Return points at which a patch's data are looked at, (m, d).

    Some that are told of, into each corner, and on the way to each side at a few places.
    """
    d = patch.dimension
    out = []
    for corner in itertools.product((0, 1), repeat=d):
        ends = np.where(corner, patch.high, patch.low)
        inwards = np.where(corner, -patch.sides, patch.sides)
        out.append(ends + 0.5 * CLOSER[:, None] * inwards)
    for axis, end, share in itertools.product(range(d), (0, 1), ACROSS):
        line = np.tile(patch.low + share * patch.sides, (len(CLOSER), 1))
        depth = 0.5 * CLOSER * patch.sides[axis]
        line[:, axis] = patch.high[axis] - depth if end else patch.low[axis] + depth
        out.append(line)
    # Places told of lie in space, the others in the chart.
    return np.concatenate([told, patch.in_space(np.concatenate(out))])


def _interpolated(block: FloatArray, patch: Patch, points: FloatArray) -> FloatArray:
    """Return a function with given Legendre weights at points of a patch."""
    at = patch.in_chart(points)
    tables = [
        legendre_table(m.inverse(at[:, a]), block.shape[a])[0] for a, m in enumerate(patch.maps)
    ]
    return block_at(block, tables)


def _beyond(block: FloatArray, functions: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return the size of the weights beyond a patch's functions, and the functions they want."""
    found = tails_of_blocks([block], 1.0, [SETTINGS.analytic], [functions])
    tail = _tails_beyond(block, functions)
    return np.where(tail > 1.0, tail, 0.0), found.wanted[0]


def _tails_beyond(block: FloatArray, functions: tuple[int, ...]) -> FloatArray:
    """Return the largest weight beyond a patch's functions along each axis, (d,)."""
    size, degrees = np.abs(block).ravel(), leading_degrees(block.shape, functions)
    return np.array([size[k >= p].max() for k, p in zip(degrees, functions, strict=True)])
