"""How singular a solution can be at a point where interfaces end or cross.

About such a point u behaves like r^a phi(angle). With the conductivity k frozen in each sector, and
sectors made isotropic by an affine map each, (phi, k phi') goes through a sector of opening w by

    T = (cos(a w), sin(a w) / (k a); -k a sin(a w), cos(a w)),

so a is where the product of all T has the eigenvalue one, or, between two walls, where one of its
entries vanishes. It is known for one equation of second order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import Term
from sharpfront.equation.oblique_lines import Line
from sharpfront.equation.values import at_points, environment
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rounding import SAME, SLIGHT

# Powers closer to a whole number than this are one.
WHOLE = 1e-9

# Directions from a point in the order of their angles, and what walls along them give: a value, a
# flux or something unknown; nothing along an interface.
Rays = list[tuple[float, str]]


class _About(NamedTuple):
    """The sectors about a point, each with its conductivity and opening, and its walls."""

    sectors: list[tuple[float, float]]
    given: tuple[str, str] | None  # on the first and the last wall; None where there are none

    def left(self, passed: FloatArray) -> FloatArray:
        """Return what vanishes where there is a solution, of the product of all sectors."""
        if self.given is None:
            return np.asarray(2.0 - passed[0, 0] - passed[1, 1])
        start, end = self.given
        return np.asarray(passed[1 if end == "flux" else 0, 1 if start == "value" else 0])


def least_exponent(
    problem: Problem, tiling: Tiling, vertex: FloatArray, lines: Sequence[Line]
) -> float:
    """Return the smallest exponent at a point, inf if beyond RANGE, zero where it is not known.

    Interfaces lie on lines, of which those through the point matter. Systems and higher orders
    count as beyond: on patches cut towards a point at which nothing happens, an elastic plate took
    on a share of a point load's solution.
    """
    found = _about(problem, tiling, vertex, lines)
    if not isinstance(found, _About):
        return found
    a = np.geomspace(*ADAPT.exponents, ADAPT.exponents_seen)
    return _first(a, found.left(around(found.sectors, a)), touching=found.given is None)


def oscillates(problem: Problem, tiling: Tiling, vertex: FloatArray, lines: Sequence[Line]) -> bool:
    """Tell whether solutions may be r^(i a) at a point, where conductivities change their sign.

    No energy is finite then, and no solution is told from others: between half planes if the
    conductivities add up to zero, at a right angle if their ratio is between -3 and -1/3.
    """
    found = _about(problem, tiling, vertex, lines)
    if not isinstance(found, _About) or len({k > 0.0 for k, _ in found.sectors}) < 2:
        return False
    a = np.geomspace(*ADAPT.oscillating, ADAPT.exponents_seen)
    growth = np.exp(a * sum(opening for _, opening in found.sectors))
    left = found.left(around(found.sectors, a, _swelled)) / growth
    return bool(np.any(np.sign(left[1:]) != np.sign(left[:-1])) or np.abs(left).max() < SAME)


def _about(
    problem: Problem, tiling: Tiling, vertex: FloatArray, lines: Sequence[Line]
) -> _About | float:
    """Return the sectors about a point; inf where there are none, zero where they are not known."""
    if len(problem.unknowns) > 1 or problem.forms[0].order != 2:
        return math.inf
    rays = rays_at(problem, tiling, vertex, lines)
    walls, count = [given for _, given in rays], len(rays)
    if not count:
        return math.inf
    ends, points, inside = between_rays(problem, rays, vertex)
    if not inside.any():
        return math.inf
    if inside.all() and not any(walls):
        return _About(_sectors(problem, points, ends, range(count)), None)
    first = next((i for i in range(count) if inside[i] and walls[i]), None)
    if first is None:
        return 0.0
    which = [first]
    while not walls[(which[-1] + 1) % count] and len(which) < count:
        which.append((which[-1] + 1) % count)
    given = walls[first], walls[(which[-1] + 1) % count]
    if not all(inside[i] for i in which) or "unknown" in given:
        return 0.0
    return _About(_sectors(problem, points, ends, which), given)


def between_rays(
    problem: Problem, rays: Rays, vertex: FloatArray
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return the angles between which sectors lie, a point of each, and which the domain has."""
    angles = [angle for angle, _ in rays]
    ends = np.array([*angles, angles[0] + 2.0 * math.pi])
    step = SLIGHT * float(np.ptp(problem.domain.bounds, axis=0).min())
    points = vertex + step * directions(0.5 * (ends[1:] + ends[:-1]))
    return ends, points, problem.domain.contains(points)


def leading_terms(kinds: Sequence[str | None], angle: float, most: float) -> list[Term]:
    """Return the powers below `most` in a sector with a value or a flux given on each side."""
    half = 0.0 if kinds[0] == kinds[1] else 0.5
    powers = (np.arange(1, 100) - half) * (math.pi / angle)
    whole = np.abs(powers - np.round(powers)) < WHOLE
    own = zip(np.where(whole, np.round(powers), powers).tolist(), whole.tolist(), strict=True)
    return [Term(p, 0, log) for p, log in own if p < most]


def directions(angles: FloatArray) -> FloatArray:
    """Return unit vectors at angles, (m, 2)."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def rays_at(problem: Problem, tiling: Tiling, vertex: FloatArray, lines: Sequence[Line]) -> Rays:
    """Return the directions of lines and walls from a point."""
    near = SAME * float(np.ptp(problem.domain.bounds, axis=0).max())
    conditions = {c.part: c for c in problem.conditions}
    found: Rays = []
    for block in tiling.blocks:
        for wall in block.walls:
            away = block.ends(wall) - vertex
            sizes = np.linalg.norm(away, axis=1)
            across = abs(away[0, 0] * away[1, 1] - away[0, 1] * away[1, 0])
            if across > near * np.linalg.norm(away[1] - away[0]):
                continue
            if sizes.min() > near and away[0] @ away[1] > 0.0:
                continue
            own = conditions.get(wall[4])
            given = "unknown"
            if own is not None and len(own.forms) == 1:
                given = "flux" if own.forms[0].order else "value"
            found += [
                (_angle(x), given) for x, size in zip(away, sizes, strict=True) if size > near
            ]
    for line in lines:
        if abs(float(line.distances(vertex[None])[0])) <= near:
            along = np.array([-line.normal[1], line.normal[0]])
            found += [(_angle(x), "") for x in (along, -along)]
    kept: Rays = []
    for angle, given in found:
        gaps = (abs(math.remainder(angle - other, 2.0 * math.pi)) for other, _ in kept)
        if min(gaps, default=math.inf) > SAME:
            kept.append((angle, given))
    return sorted(kept)


def _angle(direction: FloatArray) -> float:
    return math.atan2(float(direction[1]), float(direction[0]))


def across_axes(x: float, y: float) -> tuple[Line, Line]:
    """Return the lines along the axes through a point."""
    return Line((1.0, 0.0), x), Line((0.0, 1.0), y)


def turned(k: float, opening: float, a: FloatArray) -> FloatArray:
    """Return how (phi, k phi' / a) goes through a sector, (2, 2, exponents)."""
    c, s = np.cos(opening * a), np.sin(opening * a)
    return np.array([[c, s / k], [-k * s, c]])


def _swelled(k: float, opening: float, a: FloatArray) -> FloatArray:
    """Return how (phi, k phi' / a) goes through a sector where the exponent is i a."""
    c, s = np.cosh(opening * a), np.sinh(opening * a)
    return np.array([[c, s / k], [k * s, c]])


def around(
    sectors: Iterable[tuple[float, float]],
    a: FloatArray,
    through: Callable[[float, float, FloatArray], FloatArray] = turned,
) -> FloatArray:
    """Return how (phi, k phi' / a) goes through sectors, (2, 2, exponents).

    Of each its conductivity and its opening are given. Fluxes over a have the size of values.
    """
    total = np.zeros((2, 2, len(a)))
    total[0, 0] = total[1, 1] = 1.0
    for k, opening in sectors:
        total = np.einsum("ijn,jkn->ikn", through(k, opening, a), total)
    return np.asarray(total)


def roots(f: Callable[[FloatArray], FloatArray], a: FloatArray) -> list[float]:
    """Return where a function changes its sign or touches zero."""
    values = f(a)
    out = []
    for i in np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1])):
        out.append(float(brentq(lambda x: f(np.array([x]))[0], a[i], a[i + 1], xtol=1e-15)))
    low = np.abs(values)
    for i in np.flatnonzero((low[1:-1] <= low[:-2]) & (low[1:-1] <= low[2:])) + 1:
        ends = a[i - 1], a[i + 1]
        found = minimize_scalar(lambda x: abs(f(np.array([x]))[0]), bounds=ends, method="bounded")
        known = any(abs(found.x - x) < (a[1] - a[0]) for x in out)
        if not known and found.fun < SAME * low.max():
            out.append(float(found.x))
    return sorted(out)


def _sectors(
    problem: Problem, points: FloatArray, ends: FloatArray, which: Iterable[int]
) -> list[tuple[float, float]]:
    """Return the conductivity and opening of some sectors between angles, made isotropic."""
    conductivities, sectors = tensors(problem, points), []
    for i in which:
        values, vectors = np.linalg.eigh(conductivities[i])
        sign = -1.0 if np.sum(values) < 0.0 else 1.0
        values = np.maximum(np.abs(values), 1e-300)
        made_even = vectors / np.sqrt(values) @ vectors.T
        one, other = directions(ends[i : i + 2]) @ made_even
        cosine = one @ other / math.sqrt((one @ one) * (other @ other))
        opening = math.acos(np.clip(cosine, -1.0, 1.0))
        # What is more than half a turn stays so.
        opening = 2.0 * math.pi - opening if ends[i + 1] - ends[i] > math.pi else opening
        sectors.append((sign * math.sqrt(values[0] * values[1]), opening))
    return sectors


def tensors(problem: Problem, points: FloatArray) -> FloatArray:
    """Return the symmetric part of the conductivity at points, (m, 2, 2), positive at the first."""
    leaves = environment(problem.coordinates, points)
    out = np.zeros((len(points), 2, 2))
    for term in problem.forms[0].terms:
        if term.order == 2:
            i, j = (0, 0) if term.orders[0] == 2 else (1, 1) if term.orders[1] == 2 else (0, 1)
            c = at_points(term.coefficient, leaves, len(points), "coefficient in the equation")
            out[:, i, j] += 0.5 * c
            out[:, j, i] += 0.5 * c
    return -out if len(out) and np.trace(out[0]) < 0.0 else out


def _first(a: FloatArray, values: FloatArray, touching: bool = False) -> float:
    """Return the first place at which a function changes its sign or, if asked, touches zero."""
    found = list(np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1])))
    if touching:
        low = np.abs(values)
        size = 1e-4 * low.max()
        turns = (low[1:-1] <= low[:-2]) & (low[1:-1] <= low[2:]) & (low[1:-1] < size)
        found += list(np.flatnonzero(turns))
    return float(a[min(found)]) if found else math.inf
