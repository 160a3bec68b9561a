"""Whether conditions hold anything at ends of the line at which an equation loses its order.

Close to such an end solutions go as s^r, s the distance from it and r a root of the indicial
equation. x u'' = u' has 1 and x^2: the slope of both is zero at x = 0, so that the condition
u_x = 0 holds none of them, and one stays free. Bessel's equation has 1 and log x: any condition
holds the logarithm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.problem.line_problem import LinearCondition, LineProblem, Term, value

# Where coefficients are looked at, in shares of the interval, and by how much their scaled values
# may differ there: powers of s do not, and other functions are left alone.
SHARES_BEFORE, SAME = (1e-6, 1e-7), 1e-3
# Roots and weights are known to this, as coefficients go on to the end by SHARES_BEFORE.
KNOWN = 1e-4
# The slope of s log s.
VERTICAL = 1e9


class _End(NamedTuple):
    """An end at which the equation loses its order."""

    place: float
    roots: NDArray[np.complex128]  # of the indicial equation
    slope: float  # of the solution that is one there, in units of the interval
    length: float  # of the interval


def unheld(problem: LineProblem) -> Outcome | None:
    """Return what is wrong where conditions at such an end leave more free than others hold."""
    for low in (True, False):
        end = _end(problem, low)
        if end is None:
            continue
        own = [c for c in problem.conditions if _places(c) == {end.place}]
        if own and _left_free(end, own) > len(problem.conditions) - len(own):
            return Outcome(
                OutcomeKind.ILL_POSED,
                f"At x = {end.place:.6g} the coefficient of the derivative of order "
                f"{problem.order} vanishes, and every solution that is smooth enough meets the "
                "condition there: it says nothing, and a solution is left free.",
                "State a condition that solutions do not meet by themselves: u in the place of its "
                "slope, a higher derivative by an integral, or one at the other end.",
            )
    return None


def _places(condition: LinearCondition) -> set[float | None]:
    return {t.x if isinstance(t, Term) else None for t in condition.terms}


def _end(problem: LineProblem, is_low: bool) -> _End | None:
    """Return an end if the equation, of order two at most, loses its order there."""
    leading, (low, high) = problem.coefficients[-1], problem.interval
    if problem.order > 2 or not callable(leading):
        return None
    place, inward = (low, 1.0) if is_low else (high, -1.0)
    s = np.array(SHARES_BEFORE) * (high - low)
    ends = np.abs(np.broadcast_to(value(leading, np.array([place, place + inward * s[0]])), (2,)))
    if ends[0] > 1e-3 * ends[1]:
        return None
    at = [np.broadcast_to(value(c, place + inward * s), (2,)) for c in problem.coefficients]
    scaled = np.array([c * inward**j / s**j for j, c in enumerate(at)])
    shares = scaled / np.abs(scaled).max(axis=0)
    if np.abs(shares[:, 0] - shares[:, 1]).max() > SAME or abs(shares[-1, 1]) < SAME:
        return None
    c0, c1, c2 = (*shares[:, 1], 0.0)[:3]
    roots = np.roots([c2, c1 - c2, c0]) if problem.order == 2 else np.array([-c0 / c1])
    # Of 1 + g s the equation leaves what it leaves of 1, and g times what it leaves of s.
    slope = VERTICAL if abs(c0 + c1) < KNOWN else -c0 / (c0 + c1) / SHARES_BEFORE[1] * inward
    return _End(place, np.sort_complex(np.asarray(roots, dtype=complex)), float(slope), high - low)


def _left_free(end: _End, conditions: list[LinearCondition]) -> int:
    """Return how many solutions conditions at an end leave free."""
    weights, roots = np.zeros((len(conditions), 2)), end.roots
    for row, condition in zip(weights, conditions, strict=True):
        for term in condition.terms:
            assert isinstance(term, Term)
            row[term.order] += term.weight / end.length**term.order
    weights /= np.maximum(np.abs(weights).max(axis=1, keepdims=True), 1e-300)
    slopes = bool(np.any(np.abs(weights[:, 1]) > KNOWN))
    seen = []
    for i, r in enumerate(roots):
        again = i > 0 and abs(r - roots[i - 1]) < KNOWN**0.5
        below = r.real < (1.0 if slopes else 0.0) - KNOWN
        if abs(r) < KNOWN and not again:
            told = weights @ np.array([1.0, end.slope])
            sizes = np.abs(weights) @ np.array([1.0, max(1.0, abs(end.slope))])
            seen.append(np.where(np.abs(told) < KNOWN * sizes, 0.0, told))
        elif below or (again and abs(r) < KNOWN):
            # Infinite there, itself or its slope: no smooth solution has a part of it.
            continue
        else:
            seen.append(weights[:, 1] * (abs(r - 1.0) < KNOWN))
    if not seen:
        return 0
    return len(seen) - int(np.linalg.matrix_rank(np.stack(seen, axis=1)))
