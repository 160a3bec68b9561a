"""Functions of points where materials meet at an angle, inside a domain or on its boundary.

About such a point, with one conductivity in each sector, solutions of one equation of second order
are made of r^a times a sine of a t in each sector, so that u and k u_n go on (`exponents`), and of
such with a logarithm where a is a whole number, which sources and values on walls make. They are
functions of the patches around the point: as far as its sectors reach, which for a corner of an
inclusion is to the inclusion's other edges. Beyond, traces carry what they are on the way.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.patchwork.exponents import (
    Rays,
    across_axes,
    around,
    directions,
    rays_at,
    roots,
    tensors,
    turned,
)
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import ComplexArray, CornerFunctions, Term
from sharpfront.bases.legendre import product_points
from sharpfront.equation.graph import evaluate
from sharpfront.equation.slanted import Line
from sharpfront.equation.values import environment
from sharpfront.maps import Quadrilateral
from sharpfront.place.tiling.blocks import ROUNDING, Block, Tiling
from sharpfront.problem import Problem
from sharpfront.rows.interfaces import interface_lines
from sharpfront.rows.materials import material_lines

# Places along each axis of a box at which conductivities are looked at, which are one number if
# they differ by this share.
LOOKED, ROUNDED = np.array([-0.93, -0.31, 0.17, 0.89]), 1e-12
# Sectors are looked at so far from the point, in units of the domain.
SECTOR_AT = 1e-7
# Places for every unit at which powers are looked for; what is smaller than that share of the other
# is zero. Powers as close to a whole number are one.
PER_POWER, NULL, AS_GOOD_AS_WHOLE = 500, 1e-6, 1e-6
# Functions with a logarithm go on across edges up to this share of them, or are left out.
GOES_ON = 1e-8
# Singular values below this share of the largest are none.
NOTHING = 1e-12
# Openings that differ by less from half a turn are straight.
STRAIGHT = 1e-9


class Sectors(NamedTuple):
    """The sectors about a point, from one angle to the next, and the walls at both ends."""

    angles: tuple[float, ...]  # ascending, one more than sectors
    values: tuple[float, ...]  # of the conductivity
    given: tuple[str, str] | None  # on the first and the last wall; None where there are none

    @property
    def are_smooth(self) -> bool:
        """Whether nothing happens: one material, a straight edge, or a straight wall."""
        count, openings = len(self.values), np.diff(self.angles)
        straight = bool(np.all(np.abs(openings - math.pi) < STRAIGHT))
        if self.given is None:
            return count == 1 or (count == 2 and straight)
        return count == 1 and straight and self.given[0] == self.given[1]


def material_functions(
    problem: Problem, tiling: Tiling, most: float
) -> tuple[CornerFunctions, ...]:
    """Return the functions of all points where materials meet, and of corners beside them.

    Their powers of the distance are below `most`.
    """
    block = tiling.blocks[0]
    if tiling.curves or block.region is not None:
        return ()
    if all(isinstance(b.chart, Quadrilateral) for b in tiling.blocks):
        found = _in_charts(problem, tiling)
    elif block.chart is None and len(tiling.blocks) == 1:
        found = _between_lines(problem, tiling)
    else:
        return ()
    out = []
    for vertex, lines, support in found:
        if tuple(vertex.tolist()) in tiling.marked or not _is_finite(problem, vertex):
            continue
        sectors = sectors_at(problem, rays_at(problem, tiling, vertex, lines), vertex)
        if sectors is not None and not sectors.are_smooth:
            own = functions_about(vertex, sectors, most, support)
            out += [] if own is None else [own]
    return tuple(out)


_Found = Iterator[tuple[FloatArray, Sequence[Line], FloatArray]]


def _between_lines(problem: Problem, tiling: Tiling) -> _Found:
    """Yield crossings of lines along the axes, and boxes in which their sectors go on."""
    (block,) = tiling.blocks
    pairs = zip(interface_lines(problem), block.lines, strict=True)
    stops = [np.unique(np.concatenate([x, y])) for x, y in pairs]
    values = np.pad(_conductivities(problem, block, stops), 1)
    for i, j in itertools.product(range(len(stops[0])), range(len(stops[1]))):
        beside = values[i : i + 2, j : j + 2]
        if np.isnan(beside).any() or np.all(beside == beside[0, 0]):
            continue
        (left, right), (below, above) = _box_about(values, i, j)
        x, y = stops[0][[left, right]], stops[1][[below, above]]
        support = np.array([[(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])]])
        vertex = np.array([stops[0][i], stops[1][j]])
        yield vertex, across_axes(*vertex.tolist()), support


def _conductivities(problem: Problem, block: Block, stops: Sequence[FloatArray]) -> FloatArray:
    """Return the conductivity of each box between lines: zero outside, NaN where it varies."""
    middles = [0.5 * (x[1:] + x[:-1]) for x in stops]
    inside = block.inside(product_points(middles)).reshape(*map(len, middles))
    sides = [[_places(*side) for side in itertools.pairwise(x.tolist())] for x in stops]
    points = [product_points([sides[0][i], sides[1][j]]) for i, j in np.argwhere(inside).tolist()]
    out = np.zeros(inside.shape)
    out[inside] = _values(problem, points)
    return out


def _places(low: float, high: float) -> FloatArray:
    return np.asarray(0.5 * (low * (1.0 - LOOKED) + high * (1.0 + LOOKED)))


def _values(problem: Problem, points: Sequence[FloatArray]) -> FloatArray:
    """Return the conductivity that is the same at all points of a group; NaN where there is none.

    All are NaN where conductivities change their sign.
    """
    found = tensors(problem, np.concatenate(points)).reshape(len(points), -1, 2, 2)
    out = found[:, 0, 0, 0]
    apart = np.abs(found - out[:, None, None, None] * np.eye(2)).max(axis=(1, 2, 3))
    return np.where((apart <= ROUNDED * out) & (out.min() > 0.0), out, math.nan)


def _box_about(values: FloatArray, i: int, j: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return between which lines the quarters about a crossing go on, from conductivities of boxes.

    These have a rim of zeros, so that box (i, j) lies below and left of the crossing.
    """
    low, high = [i, j], [i + 2, j + 2]

    def fits() -> bool:
        quarters = itertools.product(
            ((slice(low[0], i + 1), i), (slice(i + 1, high[0]), i + 1)),
            ((slice(low[1], j + 1), j), (slice(j + 1, high[1]), j + 1)),
        )
        return all(bool(np.all(values[a, b] == values[m, n])) for (a, m), (b, n) in quarters)

    grown = True
    while grown:
        grown = False
        for ends, axis, step in ((low, 0, -1), (high, 0, 1), (low, 1, -1), (high, 1, 1)):
            ends[axis] += step
            if low[axis] >= 0 and high[axis] <= values.shape[axis] and fits():
                grown = True
            else:
                ends[axis] -= step
    # Without the rim.
    last = [n - 2 for n in values.shape]
    return tuple(  # type: ignore[return-value]
        (max(a - 1, 0), min(b - 1, n)) for a, b, n in zip(low, high, last, strict=True)
    )


def _in_charts(problem: Problem, tiling: Tiling) -> _Found:
    """Yield corners of charts, and the charts around them."""
    lines = material_lines(problem)
    if lines is None:
        return
    corners, looked = [], []
    for block in tiling.blocks:
        ends = [x[[0, -1]] for x in block.lines]
        x, y = product_points(ends)[[0, 2, 3, 1]].T
        around = block.in_space(np.stack([x, y], axis=1))
        area = np.linalg.det(np.stack([around[1] - around[0], around[2] - around[0]]))
        corners.append(around if area > 0 else around[::-1])
        looked.append(block.in_space(product_points([_places(*end) for end in ends])))
    values = _values(problem, looked)
    charts, near = np.array(corners), ROUNDING * float(np.ptp(problem.domain.bounds, axis=0).max())
    every = charts.reshape(-1, 2)
    first = np.unique(np.round(every / near), axis=0, return_index=True)[1]
    for vertex in every[np.sort(first)]:
        touched = _touched(charts, vertex, near)
        if not np.isnan(values[touched]).any():
            yield vertex, lines, charts[touched]


def _touched(charts: FloatArray, vertex: FloatArray, near: float) -> NDArray[np.bool_]:
    """Tell which convex quadrilaterals, (k, 4, 2), a point lies on."""
    sides = np.roll(charts, -1, axis=1) - charts
    away = vertex - charts
    turns = sides[..., 0] * away[..., 1] - sides[..., 1] * away[..., 0]
    return np.asarray(np.all(turns >= -near * np.linalg.norm(sides, axis=2), axis=1))


def _is_finite(problem: Problem, vertex: FloatArray) -> bool:
    """Tell whether data are finite at a point: of others nobody knows what they add."""
    leaves = environment(problem.coordinates, vertex[None])
    with np.errstate(all="ignore"):
        return bool(np.isfinite(evaluate(problem.forms[0].source, leaves)).all())


def sectors_at(problem: Problem, rays: Rays, vertex: FloatArray) -> Sectors | None:
    """Return the sectors between rays from a point; None where conductivities are tensors.

    Or where more than one part of the domain meets there.
    """
    if not rays:
        return None
    angles, walls = np.array([angle for angle, _ in rays]), [given for _, given in rays]
    ends = np.append(angles, angles[0] + 2.0 * math.pi)
    step = SECTOR_AT * float(np.ptp(problem.domain.bounds, axis=0).min())
    points = vertex + step * directions(0.5 * (ends[1:] + ends[:-1]))
    inside, count = problem.domain.contains(points), len(rays)
    if not inside.any():
        return None
    values = np.zeros(count)
    values[inside] = _values(problem, [*points[inside, None]])
    if np.isnan(values).any():
        return None
    given = None
    if inside.all():
        if any(walls):
            return None
        # From an edge, if there is one.
        first = next((i for i in range(count) if values[i] != values[i - 1]), 0)
        length = count
    else:
        starts = [i for i in range(count) if inside[i] and not inside[i - 1]]
        first, length = starts[0], int(inside.sum())
        given = walls[first], walls[(first + length) % count]
        if len(starts) > 1 or "unknown" in given or not all(given):
            return None
        if any(walls[(first + k) % count] for k in range(1, length)):
            return None
    which = [(first + k) % count for k in range(length)]
    start = float(np.mod(angles[first], 2.0 * math.pi))
    turn = start + np.cumsum([0.0, *(ends[i + 1] - ends[i] for i in which)])
    edges = [k for k, i in enumerate(which) if not k or values[i] != values[which[k - 1]]]
    bounds = [*turn[edges].tolist(), float(turn[-1])]
    return Sectors(tuple(bounds), tuple(values[[which[k] for k in edges]].tolist()), given)


def functions_about(
    vertex: FloatArray, sectors: Sectors, most: float, support: FloatArray
) -> CornerFunctions | None:
    """Return what solutions are made of about a point, with powers below `most`; None if nothing.

    They are held by patches in the quadrilaterals of the support.
    """
    columns: list[dict[Term, ComplexArray]] = []
    for power, states in _solutions(sectors, most):
        if power == round(power):
            columns += _with_logarithm(sectors, round(power), states)
        else:
            columns += [{Term(power, 0, False): factors} for factors in states]
    if not columns:
        return None
    terms = tuple(dict.fromkeys(term for own in columns for term in own))
    table = np.zeros((len(sectors.values), len(columns), len(terms)), dtype=complex)
    for i, own in enumerate(columns):
        for term, found in own.items():
            table[:, i, terms.index(term)] = found
    further = tuple(zip(sectors.angles[1:-1], table[1:], strict=True))
    reach = float(np.linalg.norm(support - vertex, axis=2).max())
    slopes = 1.0 / reach + 0j, 1j / reach
    cut = 0.5 * (sectors.angles[0] + sectors.angles[-1]) + math.pi
    place = float(vertex[0]), float(vertex[1])
    return CornerFunctions(place, slopes, cut, terms, table[0], further, support)


@lru_cache(maxsize=64)
def _solutions(sectors: Sectors, most: float) -> list[tuple[float, list[ComplexArray]]]:
    """Return powers of solutions about a point, with factors of z^a in each sector for each."""
    # In units in which the largest and the smallest conductivity are alike.
    unit = math.sqrt(min(sectors.values) * max(sectors.values))
    openings = np.diff(sectors.angles).tolist()
    pairs = [(k / unit, opening) for k, opening in zip(sectors.values, openings, strict=True)]
    given, out = sectors.given, []

    def left(a: FloatArray) -> FloatArray:
        passed = around(pairs, a)
        if given is None:
            return np.asarray(2.0 - passed[0, 0] - passed[1, 1])
        return np.asarray(passed[1 if given[1] == "flux" else 0, 1 if given[0] == "value" else 0])

    for found in roots(left, np.linspace(0.0, most, int(PER_POWER * most))[1:]):
        whole = abs(found - round(found)) < AS_GOOD_AS_WHOLE
        power = float(round(found)) if whole else found
        if power >= most:
            continue
        states = [np.array([0.0, 1.0] if given and given[0] == "value" else [1.0, 0.0])]
        if given is None:
            passed = around(pairs, np.array([power]))[..., 0] - np.eye(2)
            _, sizes, rows = np.linalg.svd(passed)
            states = [*rows[sizes < NULL * max(1.0, sizes[0])]]
        if states:
            out.append((power, [_factors(sectors, pairs, power, state) for state in states]))
    return out


def _factors(
    sectors: Sectors, pairs: Sequence[tuple[float, float]], power: float, state: FloatArray
) -> ComplexArray:
    """Return the factors of z^a in each sector, from value and flux where the first begins."""
    own = []
    for (k, opening), start in zip(pairs, sectors.angles, strict=False):
        own.append((state[1] / k + 1j * state[0]) * np.exp(-1j * power * start))
        state = turned(k, opening, np.array([power]))[..., 0] @ state
    return np.asarray(np.array(own) / np.abs(own).max())


def _with_logarithm(
    sectors: Sectors, power: int, states: Sequence[ComplexArray]
) -> list[dict[Term, ComplexArray]]:
    """Return sums of z^p log z with factors, and polynomials of degree p with which they go on.

    That is, u and k u_n do across edges; on walls polynomials are left. Sums for which there are no
    such polynomials no source makes.
    """
    degrees, count = range(power // 2 + 1), len(sectors.values)
    kept = np.array(states).T
    table = np.zeros((count, len(degrees), 2, kept.shape[1]))
    matrix, wanted = _jumps(sectors, power, kept)
    if len(matrix):
        found = np.linalg.lstsq(matrix, wanted, rcond=NOTHING)[0]
        _, sizes, rows = np.linalg.svd(matrix @ found - wanted)
        sizes = np.append(sizes, np.zeros(len(rows) - len(sizes)))
        sums = rows[sizes < GOES_ON * max(1.0, float(np.abs(wanted).max()))].T
        kept, table = kept @ sums, (found @ sums).reshape(count, len(degrees), 2, -1)
    out = []
    for i, factors in enumerate(kept.T):
        own = {Term(power, 0, True): factors}
        for m in degrees if len(matrix) else ():
            own[Term(power - m, m, False)] = table[:, m, 0, i] + 1j * table[:, m, 1, i]
        out.append(own)
    return out


def _jumps(sectors: Sectors, power: int, states: ComplexArray) -> tuple[FloatArray, FloatArray]:
    """Return jumps of u and k u_n at edges, of polynomials and, negative, of z^p log z.

    The first are (jumps, sectors * degrees * 2), the others (jumps, states).
    """
    degrees, count = range(power // 2 + 1), len(sectors.values)
    rows, rhs = [], []
    for edge in range(0 if sectors.given is None else 1, count):
        before = sectors.angles[edge] if edge else sectors.angles[-1]
        both = (edge, 1.0, sectors.angles[edge]), (edge - 1, -1.0, before)
        most = max(sectors.values[edge], sectors.values[edge - 1])
        for order in (0, 1):
            row, known = np.zeros((count, len(degrees), 2)), np.zeros(states.shape[1])
            for sector, sign, angle in both:
                size = sign * (sectors.values[sector] / most if order else 1.0)
                for m in degrees:
                    wave = (1j * (power - 2 * m)) ** order * np.exp(1j * (power - 2 * m) * angle)
                    row[sector, m] += size * np.array([wave.imag, wave.real])
                grown = 1j - power * angle if order else 1j * angle
                known -= size * (states[sector] * grown * np.exp(1j * power * angle)).imag
            rows.append(row.ravel())
            rhs.append(known)
    return np.array(rows), np.array(rhs)
