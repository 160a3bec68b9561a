"""How singular a solution can be at a point where interfaces end or cross.

About such a point u behaves like r^a phi(angle). With the conductivity k frozen in each sector, and
sectors made isotropic by an affine map each, (phi, k phi') goes through a sector of opening w by

    T = (cos(a w), sin(a w) / (k a); -k a sin(a w), cos(a w)),

so a is where the product of all T has the eigenvalue one, or, between two walls, where one of its
entries vanishes. It is known for one equation of second order.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions, Term
from sharpfront.equation.values import at_points, environment
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem

# Exponents are looked for in this range; a larger one is seen by the weights of patches.
RANGE = (1e-4, 0.6)
# Places at which they are looked for, evenly in log a.
EXPONENTS = 800
# Quadrants are looked at so far beside the point, in units of the domain.
QUADRANT_AT = 1e-7
# Points at which conductivities are looked at, which are one number if they differ by this share.
SAMPLED, ROUNDED = 2000, 1e-12
# Places for every unit at which powers are looked for; a function touches zero below that share of
# its size, and what is smaller than the other is zero. Powers as close to a whole number are one.
PER_POWER, TOUCHING, NULL, AS_GOOD_AS_WHOLE = 500, 1e-9, 1e-6, 1e-6
# The quadrants in the order of their angle, and the directions of the rays before each.
_QUADRANTS = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)], dtype=float)
_RAYS = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)], dtype=float)


def least_exponent(problem: Problem, tiling: Tiling, vertex: FloatArray) -> float:
    """Return the smallest exponent at a point, inf if beyond RANGE, zero where it is not known.

    Systems and higher orders count as beyond it: on patches cut towards a point at which nothing
    happens, an elastic plate took on a share of a point load's solution.
    """
    if len(problem.unknowns) > 1 or problem.forms[0].order != 2:
        return math.inf
    step = QUADRANT_AT * np.ptp(problem.domain.bounds, axis=0)
    inside = problem.domain.contains(vertex + step * _QUADRANTS)
    if not inside.any():
        return math.inf
    walls = [_wall(problem, tiling, vertex + step * ray) for ray in _RAYS]
    a = np.geomspace(*RANGE, EXPONENTS)
    if inside.all() and not any(walls):
        total = _passed(problem, vertex + step * _QUADRANTS, range(4), a)
        return _first(a, 2.0 - total[0, 0] - total[1, 1], touching=True)
    first = next((i for i in range(4) if inside[i] and walls[i]), None)
    if first is None:
        return 0.0
    sectors = [first]
    while not walls[(sectors[-1] + 1) % 4] and len(sectors) < 4:
        sectors.append((sectors[-1] + 1) % 4)
    ends = walls[first], walls[(sectors[-1] + 1) % 4]
    if not all(inside[i] for i in sectors) or "unknown" in ends:
        return 0.0
    total = _passed(problem, vertex + step * _QUADRANTS, sectors, a)
    start, end = ("value" if e == "value" else "flux" for e in ends)
    entry = total[1 if end == "flux" else 0, 1 if start == "value" else 0]
    return _first(a, entry)


def functions_about(
    problem: Problem, vertex: FloatArray, most: float, extent: float
) -> CornerFunctions | None:
    """Return what solutions are made of where two interfaces cross that quarter the domain.

    Functions of the distance to a power below `most`; None where conductivities are not one number
    in each quarter.
    """
    points = problem.domain.sample(SAMPLED)
    quarter = (points > vertex) @ np.array([1, 2])
    every, (values,) = tensors(problem, points), [np.zeros(4)]
    for i, (x, y) in enumerate(_QUADRANTS > 0):
        own = every[quarter == x + 2 * y]
        if not len(own) or np.abs(own - own[0, 0, 0] * np.eye(2)).max() > ROUNDED * own[0, 0, 0]:
            return None
        values[i] = own[0, 0, 0]
    a = np.linspace(0.0, most, int(PER_POWER * most))[1:]
    starts = 0.5 * math.pi * np.arange(4)
    powers, factors = [], []
    for power in _roots(lambda b: 2.0 - np.trace(_around(values, b)), a):
        if abs(power - round(power)) < AS_GOOD_AS_WHOLE:
            continue  # a polynomial in each quarter
        _, sizes, rows = np.linalg.svd(_around(values, np.array([power]))[..., 0] - np.eye(2))
        for state in rows[sizes < NULL * max(1.0, sizes[0])]:
            own = []
            for k, start in zip(values.tolist(), starts.tolist(), strict=True):
                own.append((state[1] / k + 1j * state[0]) * np.exp(-1j * power * start))
                state = _turned(k, np.array([power]))[..., 0] @ state
            powers.append(power)
            factors.append(np.array(own) / np.abs(own).max())
    if not powers:
        return None
    terms = tuple(Term(power, 0, False) for power in powers)
    quarters = [np.diag(own) for own in np.array(factors).T]
    further = tuple(zip(starts[1:].tolist(), quarters[1:], strict=True))
    place, slopes = (float(vertex[0]), float(vertex[1])), (1.0 / extent + 0j, 1j / extent)
    return CornerFunctions(place, slopes, 2.0 * math.pi, terms, quarters[0], further)


def _turned(k: float, a: FloatArray) -> FloatArray:
    """Return how (phi, k phi' / a) goes through a quarter, (2, 2, exponents)."""
    c, s = np.cos(0.5 * math.pi * a), np.sin(0.5 * math.pi * a)
    return np.array([[c, s / k], [-k * s, c]])


def _around(values: FloatArray, a: FloatArray) -> FloatArray:
    """Return how (phi, k phi' / a) goes once around, (2, 2, exponents)."""
    total = np.zeros((2, 2, len(a)))
    total[0, 0] = total[1, 1] = 1.0
    for k in values.tolist():
        total = np.einsum("ijn,jkn->ikn", _turned(k, a), total)
    return np.asarray(total)


def _roots(f: Callable[[FloatArray], FloatArray], a: FloatArray) -> list[float]:
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
        if not known and found.fun < TOUCHING * low.max():
            out.append(float(found.x))
    return sorted(out)


def _wall(problem: Problem, tiling: Tiling, point: FloatArray) -> str:
    """Return what a wall at a point gives: a value, a flux or something unknown; empty if none."""
    near = 1e-9 * np.ptp(problem.domain.bounds, axis=0)
    conditions = {c.part: c for c in problem.conditions}
    for axis, place, low, high, part in (w for block in tiling.blocks for w in block.walls):
        along = point[1 - axis]
        if abs(point[axis] - place) <= near[axis] and low[0] <= along <= high[0]:
            if part not in conditions or len(conditions[part].forms) != 1:
                return "unknown"
            return "flux" if conditions[part].forms[0].order else "value"
    return ""


def _passed(problem: Problem, points: FloatArray, sectors: object, a: FloatArray) -> FloatArray:
    """Return the product of the matrices of sectors, (2, 2, exponents)."""
    assert isinstance(sectors, list | range)
    conductivities = tensors(problem, points)
    total = np.zeros((2, 2, len(a)))
    total[0, 0] = total[1, 1] = 1.0
    for i in sectors:
        values, vectors = np.linalg.eigh(conductivities[i])
        if np.min(values) <= 0.0:
            values = np.abs(values) + 1e-300
        made_even = vectors / np.sqrt(values) @ vectors.T
        rays = [made_even @ _RAYS[i], made_even @ _RAYS[(i + 1) % 4]]
        cosine = rays[0] @ rays[1] / math.sqrt((rays[0] @ rays[0]) * (rays[1] @ rays[1]))
        w, k = math.acos(np.clip(cosine, -1.0, 1.0)), math.sqrt(values[0] * values[1])
        c, s = np.cos(a * w), np.sin(a * w)
        # Fluxes over a: the entries are then of one size for all exponents.
        step = np.array([[c, s / k], [-k * s, c]])
        total = np.einsum("ijn,jkn->ikn", step, total)
    return np.asarray(total)


def tensors(problem: Problem, points: FloatArray) -> FloatArray:
    """Return the symmetric part of the conductivity at points, of positive sign, (m, 2, 2)."""
    leaves = environment(problem.coordinates, points)
    out = np.zeros((len(points), 2, 2))
    for term in problem.forms[0].terms:
        if term.order == 2:
            i, j = (0, 0) if term.orders[0] == 2 else (1, 1) if term.orders[1] == 2 else (0, 1)
            c = at_points(term.coefficient, leaves, len(points), "coefficient in the equation")
            out[:, i, j] += 0.5 * c
            out[:, j, i] += 0.5 * c
    sign = np.where(np.trace(out, axis1=1, axis2=2) < 0.0, -1.0, 1.0)
    return np.asarray(out * sign[:, None, None])


def _first(a: FloatArray, values: FloatArray, touching: bool = False) -> float:
    """Return the first place at which a function changes its sign or, if asked, touches zero."""
    found = list(np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1])))
    if touching:
        low = np.abs(values)
        size = 1e-4 * low.max()
        turns = (low[1:-1] <= low[:-2]) & (low[1:-1] <= low[2:]) & (low[1:-1] < size)
        found += list(np.flatnonzero(turns))
    return float(a[min(found)]) if found else math.inf
