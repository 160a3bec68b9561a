"""Bumps that formulas tell of, exp(q) about a largest q: patches begin with their place and width.

Halving towards a bump takes a ring of patches for every halving, however smooth the bump is on its
own scale. Where q turns, its second derivatives are that scale.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import gauss, legendre_table, product_points
from sharpfront.equation.expression import Apply, Expression
from sharpfront.equation.graph import derivatives_in, ordered
from sharpfront.equation.oblique_lines import values_at
from sharpfront.maps import AxisMap
from sharpfront.place.line.sampling import Function
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.patches.refine import functions_of
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.problem import Problem
from sharpfront.rounding import SLIGHT

# Differences are taken over this share of the domain.
TURNING_OVER = 1e-4
# A step shorter than this share of the bump's width has arrived.
REACHED = 1e-3


@dataclass(frozen=True, eq=False)
class Bump:
    """A place about which data are narrow along every axis, and how far they reach along each."""

    centre: FloatArray
    reach: FloatArray
    functions: int  # along an axis, on either side of the centre; 0 where that is not known


def bumps_of(problem: Problem, widths: float) -> list[Bump]:
    """Return the bumps in the data of a problem in the plane.

    As far as e^q falls by so many powers of e in the solution, and by what data of an equation of
    second order are larger.
    """
    bounds, names = problem.domain.bounds, problem.coordinates
    out: list[Bump] = []
    if len(names) != 2:
        return out
    for argument in _exponents(problem.equations):
        for bump in _bumps(partial(values_at, argument, names), bounds, widths):
            inside = problem.domain.contains(bump.centre[None])[0]
            if inside and not any(_are_same(bump, other) for other in out):
                out.append(bump)
    return out


def _are_same(one: Bump, other: Bump) -> bool:
    return bool(np.all(np.abs(one.centre - other.centre) < REACHED * one.reach))


def _exponents(equations: Sequence[Expression]) -> Iterator[Expression]:
    """Yield what stands in exponentials of the coordinates."""
    seen = set()
    for node in itertools.chain.from_iterable(map(ordered, equations)):
        if isinstance(node, Apply) and node.function.evaluate is np.exp:
            argument = node.arguments[0]
            if id(argument) not in seen and not derivatives_in(argument):
                seen.add(id(argument))
                yield argument


def _bumps(q: Function, bounds: FloatArray, widths: float) -> list[Bump]:
    """Return where a function is largest, and how far it is above that less some."""
    low, high = bounds
    shares = (np.arange(SETTINGS.turning_from) + 0.37) / SETTINGS.turning_from
    places = product_points([a + (b - a) * shares for a, b in zip(low, high, strict=True)])
    for _ in range(SETTINGS.turning_steps):
        slopes, bends = _derivatives(q, places, TURNING_OVER * (high - low))
        curved = np.isfinite(slopes).all(axis=1) & np.isfinite(bends).all(axis=(1, 2))
        places, slopes, bends = places[curved], slopes[curved], bends[curved]
        sizes = np.linalg.eigvalsh(bends)
        # Along a ridge nothing turns, but for rounding.
        curved = sizes[:, -1] < SLIGHT * sizes[:, 0]
        places, slopes, bends = places[curved], slopes[curved], bends[curved]
        if not len(places):
            return []
        steps = np.linalg.solve(bends, slopes[:, :, None])[:, :, 0]
        places = np.clip(places - steps, low, high)
    out: list[Bump] = []
    for place, step, bend in zip(places, steps, bends, strict=True):
        square = np.diag(np.linalg.inv(-bend))
        powers = widths + float(np.log(np.max((high - low) ** 2 / square)))
        reach = np.sqrt(2.0 * square * powers)
        # Across the axes a bump is narrower along a line than as a whole, and weights have to tell.
        is_along = np.all(0.5 * reach**2 * -np.diag(bend) < SETTINGS.aligned * powers)
        bump = Bump(place, reach, _functions(powers, widths - SETTINGS.left_out) if is_along else 0)
        arrived = np.all(np.abs(step) < REACHED * reach) and np.all(
            reach < SETTINGS.bump * (high - low)
        )
        if arrived and not any(_are_same(bump, other) for other in out):
            out.append(bump)
    return out


def _derivatives(q: Function, places: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return slopes, (m, d), and second derivatives, (m, d, d), from differences."""
    count, d = places.shape
    corners = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=d)))
    points = (places[:, None] + corners * h).reshape(-1, d)
    values = q(points).reshape(count, *[3] * d)
    slopes, bends = np.empty((count, d)), np.empty((count, d, d))
    first, second = np.array([-0.5, 0.0, 0.5]), np.array([1.0, -2.0, 1.0])
    middle = np.array([0.0, 1.0, 0.0])
    for a, b in itertools.product(range(d), repeat=2):
        weights = [middle] * d
        weights[a] = first
        weights[b] = second if a == b else first
        table = values
        for w in reversed(weights):
            table = table @ w
        bends[:, a, b] = table / (h[a] * h[b])
    for a in range(d):
        table = values
        for axis in reversed(range(d)):
            table = table @ (first if axis == a else middle)
        slopes[:, a] = table / h[a]
    return slopes, bends


def cut_about(cells: Sequence[Cell], bumps: Sequence[Bump], most: int) -> list[Cell]:
    """Return cells cut at the middle of bumps, and where these end, as far as functions go."""
    out = list(cells)
    for bump in bumps:
        cut = [part for cell in out for part in _cut_at_ends(cell, bump)]
        out = cut if functions_of(cut) <= most else out
    return out


def _cut_at_ends(cell: Cell, bump: Bump) -> list[Cell]:
    patch, c, r = cell.patch, bump.centre, bump.reach
    beside = np.any((c < patch.low) | (c > patch.high) | (r > SETTINGS.bump * patch.sides))
    if beside or patch.chart is not None or patch.region is not None:
        return [cell]
    sides = []
    for m, x, far in zip(patch.maps, c.tolist(), r.tolist(), strict=True):
        own = [y for y in (x - far, x, x + far) if m.low + far / 2 < y < m.high - far / 2]
        sides.append([AxisMap(*s) for s in itertools.pairwise([m.low, *own, m.high])])
    return [_holding(part, bump) for part in cell.cut_into(sides)]


def _holding(cell: Cell, bump: Bump) -> Cell:
    """Return a cell with the functions that hold a bump, if that lies in it."""
    near = np.abs(cell.patch.low + cell.patch.high - 2.0 * bump.centre) < 2.0 * bump.reach
    return cell.with_functions(bump.functions) if near.all() else cell


def _functions(powers: float, widths: float) -> int:
    """Return how many functions hold e^(-x^2) from its middle to where it is e^-powers."""
    z, w = gauss(SETTINGS.of_bump)
    table = legendre_table(z, SETTINGS.of_bump)[0]
    weights = np.abs(table.T @ (w * np.exp(-powers * (0.5 * (1.0 + z)) ** 2)))
    return int(np.flatnonzero(weights > np.exp(-widths)).max(initial=0)) + 1
