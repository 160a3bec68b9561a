"""Close looks at the data of patches: what their own points say, and what stands beside these."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import block_at, gauss, legendre_table
from sharpfront.bases.patch import Patch
from sharpfront.bases.total_degree import leading_degrees
from sharpfront.equation.expression import Constant
from sharpfront.equation.linearise import LinearForm
from sharpfront.place.formula_features import crossings
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import tails_of_blocks
from sharpfront.problem import Problem
from sharpfront.rows.form_values import form_at, is_constant, taylor_of
from sharpfront.rows.moments import projected
from sharpfront.rows.row_norm import felt_size

# Data are also looked at on the way to the sides of a patch, at these shares of them, and into its
# corners, four times closer each time.
CLOSER = 0.25 ** np.arange(1, 13)
ACROSS = (0.13, 0.57, 0.91)
# A place on a side is looked at so far inside, in units of the patch, and at least so many times
# as far as its coordinates are rounded: formulas are noise closer to the line that they tell of.
BESIDE, ROUNDED = 1e-9, 32.0


@dataclass(frozen=True, eq=False)
class DataProbe:
    """What a look at a patch's data finds, in units of what is allowed to be missed."""

    places: FloatArray  # points besides the patch's own
    # How many of the first of them formulas tell of, and how many are spread beside these.
    told: tuple[int, int]
    # What the patch's own points say of each datum: what its functions cannot hold along each axis,
    # and the functions wanted.
    seen: list[tuple[FloatArray, FloatArray]]
    # How far each datum is at the places from what the patch's own points say.
    gaps: list[FloatArray]


class DataProbes:
    """Looks at patches, each taken once."""

    def __init__(self, problem: Problem, poles: Sequence[Sequence[float]], tol: float) -> None:
        self.problem, self.tol = problem, tol
        self.poles = np.array(poles).reshape(-1, problem.domain.dimension)
        told = _told(problem)
        self.told = told[~(told[:, None] == self.poles).all(axis=2).any(axis=1)]
        self.taken: dict[Patch, DataProbe] = {}
        # Those with data that vary; about poles constants do too.
        self.forms = [f for f in problem.forms if len(self.poles) or _varies(f)]

    def __call__(self, patch: Patch) -> DataProbe:
        """Return the look at a patch."""
        if patch not in self.taken:
            self.taken[patch] = self._look(patch)
        return self.taken[patch]

    def _look(self, patch: Patch) -> DataProbe:
        if not self.forms:
            return DataProbe(np.empty((0, patch.dimension)), (0, 0), [], [])
        told, spread_out = (
            inside(patch, x) for x in (self.told[: -SETTINGS.spread], self.told[-SETTINGS.spread :])
        )
        further = watched(patch.low, patch.high)
        # Places told of lie in space, the others in the chart.
        places = np.concatenate([told, spread_out, patch.in_space(further)])
        if patch.cut is not None:
            return self._look_inside(patch, places[patch.has(places)])
        seen: list[tuple[FloatArray, FloatArray]] = []
        gaps = []
        for form in self.forms:
            for block, values, felt in _weights_of_data(self, form, patch, places):
                seen.append(_beyond(block, patch.functions))
                gaps.append(felt * np.abs(values - _interpolated(block, patch, places)))
        return DataProbe(places, (len(told), len(spread_out)), seen, gaps)

    def _look_inside(self, patch: Patch, places: FloatArray) -> DataProbe:
        """Return the look at a patch that the boundary cuts: only at what lies inside.

        What its functions make of data at points inside is compared with these, and at places.
        """
        points = patch.inner_points()
        every = np.concatenate([points, places])
        n, seen, gaps = len(points), [], []
        for form in self.forms:
            data = _data(self, form, patch, every)
            for values, felt in data:
                assert patch.frame is not None
                (block,) = patch.frame.fitted(values[None, :n])
                gap = felt * np.abs(values - _interpolated(block, patch, every))
                own = tails_of_blocks([block], 1.0, [SETTINGS.analytic], frames=[patch.frame])
                missed = np.where(own.tail[0] > 0.1 * own.tail.max(), gap[:n].max(), 0.0)
                seen.append((np.where(missed > 1.0, missed, 0.0), own.wanted[0]))
                gaps.append(gap[n:])
        return DataProbe(places, (0, 0), seen, gaps)


class Holding:
    """Tells which patches hold the data of a problem along an axis, their second as a rule."""

    def __init__(self, problem: Problem, tol: float) -> None:
        self._looks = DataProbes(problem, (), tol)

    def __call__(self, patch: Patch, axis: int = 1) -> bool:
        """Tell whether a patch's functions hold them, and its points see them."""
        places = patch.in_space(_towards_ends(patch, axis))
        for form in self._looks.forms:
            for block, values, felt in _weights_of_data(self._looks, form, patch, places):
                if _tails_beyond(block, patch.functions)[axis] > 1.0:
                    return False
                # Short of an end there may be what has fallen between two points.
                gap = felt * np.abs(values - _interpolated(block, patch, places))
                if gap.max() > 1.0:
                    return False
        return True


def _towards_ends(patch: Patch, axis: int) -> FloatArray:
    """Return places on the way to both ends of an axis, in the chart, (m, d)."""
    shares = np.concatenate([0.5 * CLOSER, 1.0 - 0.5 * CLOSER])
    places = np.repeat(0.5 * (patch.low + patch.high)[None], len(shares), axis=0)
    places[:, axis] = patch.low[axis] + shares * patch.sides[axis]
    return places


def _varies(form: LinearForm) -> bool:
    """Tell whether a source or a coefficient may vary from place to place."""
    return not (is_constant(form) and isinstance(form.source, Constant))


def _told(problem: Problem) -> FloatArray:
    """Return places to look at, (m, d).

    Some are spread all over the domain, for what formulas do not tell.
    """
    low, high = problem.domain.bounds
    spread_out = low + (high - low) * _spread(problem.domain.dimension, SETTINGS.spread)
    return np.concatenate([crossings(problem), spread_out])


@lru_cache(maxsize=4)
def _spread(dimension: int, count: int) -> FloatArray:
    """Return points of the unit box that leave no large gap: multiples of golden ratios, mod 1."""
    ratio = 2.0
    for _ in range(50):
        ratio = (1.0 + ratio) ** (1.0 / (dimension + 1))
    steps = ratio ** -np.arange(1.0, dimension + 1)
    return np.asarray((0.5 + np.arange(count)[:, None] * steps) % 1.0)


def gaps_along(looks: DataProbes, patch: Patch, place: FloatArray, gap: float) -> FloatArray:
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
    for form in looks.forms:
        for values, felt in _data(looks, form, patch, points):
            parts = np.split(values[1:], np.cumsum(counts)[:-1])
            for a, part in enumerate(parts):
                table = legendre_table(patch.maps[a].inverse(at[:, a]), counts[a])[0, 0]
                away = abs(values[0] - float(projected(part, (counts[a],)) @ table))
                gaps[a] = max(gaps[a], float(felt[0]) * away)
    return gaps if gaps.max() > 1.0 else np.full(patch.dimension, gap)


def _weights_of_data(
    looks: DataProbes, form: LinearForm, patch: Patch, places: FloatArray
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
    looks: DataProbes,
    form: LinearForm,
    patch: Patch,
    points: FloatArray,
    at: FloatArray | None = None,
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
    size = np.maximum(felt_size(mapped, patch.sides, rough, extent), 1e-300)
    mean = float(np.mean(size))
    closer = _from_poles(looks.poles, patch, points)
    data = [(closer * found.rhs / mean / (SETTINGS.source * looks.tol), mean / size)]
    every = np.ones(len(points))
    varying = [closer * c for c in found.coefficients if np.ptp(c) > 0]
    data += [(c / np.abs(c).max() / SETTINGS.coefficient, every) for c in varying]
    return [(v, felt) for v, felt in data if np.ptp(v) > 0]


def _from_poles(poles: FloatArray, patch: Patch, points: FloatArray) -> FloatArray:
    """Return the product of r^2 about poles in a patch at points, in units of the patch, (m,)."""
    out = np.ones(len(points))
    if len(poles):
        corners = patch.corners
        size = np.ptp(corners, axis=0)
        for pole in poles:
            if np.abs(corners - pole).max(axis=1).min() <= 1e-9 * size.max():
                out *= np.sum(((points - pole) / size) ** 2, axis=1)
    return out


def inside(patch: Patch, places: FloatArray) -> FloatArray:
    """Return the places that lie in a patch, those on its sides moved a little inwards.

    On a side that is an edge of the data the values of the patch beyond it may be found.
    """
    at = patch.in_chart(places)
    within = np.all((at >= patch.low) & (at <= patch.high), axis=1)
    if patch.chart is not None:
        # Far outside the inverse may be anything.
        within &= np.abs(patch.in_space(at) - places).max(axis=1) < 1e-9 * patch.sides.max()
    room = beside(places, patch.sides)
    return patch.in_space(np.clip(at[within], patch.low + room, patch.high - room))


def beside(places: FloatArray, sides: FloatArray) -> FloatArray:
    """Return how far inside of patches with these sides places on a side are looked at."""
    rounded = ROUNDED * np.spacing(np.abs(places).max(initial=0.0))
    return np.asarray(np.minimum(np.maximum(BESIDE * sides, rounded), 0.01 * sides))


def watched(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return places at which the data of a box are looked at, (m, d).

    Into each corner, and on the way to each side at a few places, all of which are inside: at the
    corner of a small box data may be infinite.
    """
    shares, upper = _shares_watched(len(low))
    sides = high - low
    least = np.minimum(ROUNDED * np.spacing(np.maximum(np.abs(low), np.abs(high))), 0.01 * sides)
    depths = np.maximum(shares * sides, least)
    return np.where(upper, high - depths, low + depths)


@lru_cache(maxsize=4)
def _shares_watched(d: int) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return how far these points are from sides, as shares of a patch, and from which sides.

    Both (m, d); the second tells where it is the upper side of an axis.
    """
    shares, upper = [], []
    for corner in itertools.product((False, True), repeat=d):
        shares.append(np.repeat(0.5 * CLOSER[:, None], d, axis=1))
        upper.append(np.tile(corner, (len(CLOSER), 1)))
    for axis, end, share in itertools.product(range(d), (False, True), ACROSS):
        line, from_end = np.full((len(CLOSER), d), share), np.zeros((len(CLOSER), d), dtype=bool)
        line[:, axis], from_end[:, axis] = 0.5 * CLOSER, end
        shares.append(line)
        upper.append(from_end)
    return np.concatenate(shares), np.concatenate(upper)


def parts_watched(dimension: int) -> FloatArray:
    """Return the parts of a box between those places and the nearest corner, one way a row."""
    shares, _ = _shares_watched(dimension)
    return np.asarray(np.prod(np.minimum(shares, 1.0 - shares), axis=1).reshape(-1, len(CLOSER)))


def _interpolated(block: FloatArray, patch: Patch, points: FloatArray) -> FloatArray:
    """Return a function with given Legendre weights at points of a patch."""
    at = patch.in_chart(points)
    tables = [
        legendre_table(m.inverse(at[:, a]), block.shape[a])[0] for a, m in enumerate(patch.maps)
    ]
    return block_at(block, tables)


def _beyond(block: FloatArray, functions: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return the sizes of weights beyond a patch's functions, and the functions wanted, (d,)."""
    tail = _tails_beyond(block, functions)
    found = tails_of_blocks([block], 1.0, [SETTINGS.analytic], [functions])
    return np.where(tail > 1.0, tail, 0.0), found.wanted[0]


def _tails_beyond(block: FloatArray, functions: tuple[int, ...]) -> FloatArray:
    """Return the largest weight beyond a patch's functions along each axis, (d,)."""
    size, degrees = np.abs(block).ravel(), leading_degrees(block.shape, functions)
    return np.array([size[k >= p].max() for k, p in zip(degrees, functions, strict=True)])
