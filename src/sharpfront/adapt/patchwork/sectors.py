"""What solutions are made of about a point where sectors meet, with one conductivity in each.

u is r^a times a sine of a t in each sector (`exponents`), so that u and k u_n go on. Where a is a
whole number sources and values on walls make such functions with a logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sharpfront.adapt.patchwork.exponents import (
    Rays,
    around,
    between_rays,
    roots,
    tensors,
    turned,
)
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import ComplexArray, CornerFunctions, Term
from sharpfront.problem import Problem
from sharpfront.rounding import ROUNDED, SAME, SLIGHT


class Sectors(NamedTuple):
    """The sectors about a point, from one angle to the next, and the walls at both ends."""

    angles: tuple[float, ...]  # ascending, one more than sectors
    values: tuple[float, ...]  # of the conductivity
    given: tuple[str, str] | None  # on the first and the last wall; None where there are none

    @property
    def are_smooth(self) -> bool:
        """Whether nothing happens: one material, a straight edge, or a straight wall."""
        count, openings = len(self.values), np.diff(self.angles)
        straight = bool(np.all(np.abs(openings - math.pi) < SAME))
        if self.given is None:
            return count == 1 or (count == 2 and straight)
        return count == 1 and straight and self.given[0] == self.given[1]


def values_of(problem: Problem, points: Sequence[FloatArray]) -> FloatArray:
    """Return the conductivity that is the same at all points of a group; NaN where there is none.

    All are NaN where conductivities change their sign.
    """
    found = tensors(problem, np.concatenate(points)).reshape(len(points), -1, 2, 2)
    out = found[:, 0, 0, 0]
    apart = np.abs(found - out[:, None, None, None] * np.eye(2)).max(axis=(1, 2, 3))
    return np.where((apart <= ROUNDED * out) & (out.min() > 0.0), out, math.nan)


def sectors_at(problem: Problem, rays: Rays, vertex: FloatArray) -> Sectors | None:
    """Return the sectors between rays from a point; None where conductivities are tensors.

    Or where more than one part of the domain meets there.
    """
    if not rays:
        return None
    walls, count = [given for _, given in rays], len(rays)
    ends, points, inside = between_rays(problem, rays, vertex)
    if not inside.any():
        return None
    values = np.zeros(count)
    values[inside] = values_of(problem, [*points[inside, None]])
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
    start = float(np.mod(ends[first], 2.0 * math.pi))
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

    for found in roots(left, np.linspace(0.0, most, int(ADAPT.per_power * most))[1:]):
        whole = abs(found - round(found)) < SLIGHT
        power = float(round(found)) if whole else found
        if power >= most:
            continue
        states = [np.array([0.0, 1.0] if given and given[0] == "value" else [1.0, 0.0])]
        if given is None:
            passed = around(pairs, np.array([power]))[..., 0] - np.eye(2)
            _, sizes, rows = np.linalg.svd(passed)
            states = [*rows[sizes < SLIGHT * max(1.0, sizes[0])]]
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
        found = np.linalg.lstsq(matrix, wanted, rcond=ROUNDED)[0]
        _, sizes, rows = np.linalg.svd(matrix @ found - wanted)
        sizes = np.append(sizes, np.zeros(len(rows) - len(sizes)))
        sums = rows[sizes < SAME * max(1.0, float(np.abs(wanted).max()))].T
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
