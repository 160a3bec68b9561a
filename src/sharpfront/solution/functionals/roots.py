"""Where a solution on the line takes a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import finite
from sharpfront.errors import ProblemError
from sharpfront.geometry import SpaceTime
from sharpfront.solution.functionals.places import line_edges, subdivided
from sharpfront.solution.functionals.quantity import Known, one_or_all, quantities

# Places between two kernels that are looked at; halvings of what lies between two of them.
BETWEEN_ROOTS, HALVINGS = 8, 60
# Steps of the golden section towards a place where the value is nearly taken.
SECTIONS = 45
_GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)

Line = Callable[[FloatArray], FloatArray]


def roots(known: Known, level: Any = 0.0, of: Any = None, t: Any = None) -> Any:
    """Return where a value is taken, in increasing order; `Solution.roots` says how."""
    if known.space.dimension != 1:
        raise ProblemError("roots() are those of a solution on an interval; this one is not.")
    if t is None and isinstance(known.domain, SpaceTime):
        raise ProblemError("roots() of a solution in time are those at a moment: give t=.")
    value, moment = finite(level, "level", attempt="level=0.5"), known.moment(t)
    x = subdivided(line_edges(known.approximation, known.space, moment), BETWEEN_ROOTS)
    found = {}
    for name, quantity in quantities(known, of, moment).items():

        def above(at: FloatArray, quantity: Any = quantity) -> FloatArray:
            return np.asarray(quantity(at[:, None]) - value)

        found[name] = _roots(above, x, known)
    return one_or_all(found)


def _roots(above: Line, x: FloatArray, known: Known) -> FloatArray:
    y = above(x)
    size = max(1.0, float(np.abs(y).max()))
    x, y = _with_nearest(above, x, y)
    crossing = np.flatnonzero(np.sign(y[:-1]) * np.sign(y[1:]) < 0)
    inner = _bisected(above, x[crossing], x[crossing + 1], np.sign(y[crossing]))
    # A touch that is closer than the solution is exact counts as one.
    near = max(known.error, 4 * np.finfo(float).eps) * size
    valley = np.r_[False, (np.abs(y[1:-1]) <= np.abs(y[:-2])) & (np.abs(y[1:-1]) <= np.abs(y[2:]))]
    valley = np.r_[valley, False] & (np.abs(y) <= near)
    same = np.r_[False, (np.sign(y[:-2]) == np.sign(y[1:-1])), False]
    same &= np.r_[False, (np.sign(y[2:]) == np.sign(y[1:-1])), False]
    ends = np.zeros(len(y), dtype=bool)
    ends[[0, -1]] = np.abs(y[[0, -1]]) <= near
    # What crosses within the first gap beside an end that counts is that end.
    inner = inner[~(ends[0] & (inner < x[1])) & ~(ends[-1] & (inner > x[-2]))]
    touched = x[(valley & same) | ends | (y == 0.0)]
    return _told_apart(above, np.unique(np.concatenate([inner, touched])), near)


def _told_apart(above: Line, found: FloatArray, near: float) -> FloatArray:
    """Return roots, as one where between them the solution differs less than it is exact."""
    while len(found) > 1:
        same = np.abs(above(0.5 * (found[1:] + found[:-1]))) <= near
        if not same.any():
            break
        found = found[np.r_[True, ~same]]
    return found


def _with_nearest(above: Line, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return places with those added between them at which the value is nearly taken.

    Two roots may lie between two places, or one that is only touched.
    """
    gap = np.abs(y)
    low = np.flatnonzero((gap[1:-1] <= gap[:-2]) & (gap[1:-1] <= gap[2:])) + 1
    low = low[(np.sign(y[low - 1]) == np.sign(y[low])) & (np.sign(y[low + 1]) == np.sign(y[low]))]
    if not len(low):
        return x, y
    side, a, b = np.sign(y[low]), x[low - 1], x[low + 1]
    for _ in range(SECTIONS):
        c, d = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
        left = side * above(c) < side * above(d)
        a, b = np.where(left, a, c), np.where(left, d, b)
    new = 0.5 * (a + b)
    places = np.concatenate([x, new])
    order = np.argsort(places, kind="stable")
    return places[order], np.concatenate([y, above(new)])[order]


def _bisected(above: Line, low: FloatArray, high: FloatArray, sign: FloatArray) -> FloatArray:
    for _ in range(HALVINGS if len(low) else 0):
        middle = 0.5 * (low + high)
        before = sign * above(middle) > 0
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return 0.5 * (low + high)
