"""States that miss conditions at an end, bent there until they meet them.

A value is added as diffusion would spread it, by 2 Q(s), s the distance in widths and Q the normal
tail; a slope by a decaying exponential. Where more is held of an unknown, the k-th derivative is
added by s^k exp(-s) times what leaves the others up to the third as they are. What meets one
condition changes what others see, as a slope changes the value in a Robin condition, so that all
conditions of an end are met together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Key
from sharpfront.equation.graph import evaluate
from sharpfront.errors import EquationError
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.time_system import Residual, TimeSystem
from sharpfront.rounding import NEWTON_STEPS, ROUNDED, SAME

# Conditions hold derivatives below this order.
MOST_DERIVATIVES = 4
# Derivatives at an end from values there and at four places beside it, in units of their distance.
STENCILS = (
    np.array([1.0, 0.0, 0.0, 0.0, 0.0]),
    np.array([-25.0, 48.0, -36.0, 16.0, -3.0]) / 12.0,
)

Values = Callable[[FloatArray], FloatArray]


class EndCorrection(NamedTuple):
    """What is added to a state at an end: a derivative along x, the value among them."""

    side: int
    amount: float  # of the derivative
    width: float
    order: int  # 0 for a value
    flat: bool = False  # whether other derivatives stay as they are, up to the third

    def values(self, inward: FloatArray) -> FloatArray:
        """Return what is added at distances from the end."""
        s, k = inward / self.width, self.order
        size = self.amount * (self._inward * self.width) ** k
        if not self.flat:
            return np.asarray(size * (2.0 * ndtr(-s) if k == 0 else -np.exp(-s)))
        series = sum(s**n / math.factorial(n) for n in range(MOST_DERIVATIVES - k))
        return np.asarray(size * s**k / math.factorial(k) * np.exp(-s) * series)

    @property
    def _inward(self) -> float:
        return 1.0 - 2.0 * self.side

    @property
    def at_end(self) -> tuple[float, ...]:
        """Derivatives at the end for an amount of one."""
        k, step = self.order, self._inward * self.width
        if self.flat:
            return tuple(float(n == k) for n in range(MOST_DERIVATIVES))
        bend = math.sqrt(2.0 / math.pi)
        own = (1.0, -bend, 0.0, bend) if k == 0 else (-1.0, 1.0, -1.0, 1.0)
        return tuple(o * step ** (k - n) for n, o in enumerate(own))


def corrections(
    system: TimeSystem,
    states: Sequence[Values],
    side: int,
    tol: float,
    t: float,
    least: float,
    known: bool = True,
) -> tuple[list[tuple[int, EndCorrection]], list[str]]:
    """Return what states lack to meet the conditions of an end, and the same in words.

    Each is the number of an unknown with what is added to it, over no less than a width. What
    constraints hold follows the others; it is known, or conditions that ask for it are left.
    """
    end, inward = (system.low, 1.0) if side == 0 else (system.high, -1.0)
    h = 1e-5 * (system.high - system.low) * inward
    beside = [state(end + h * np.arange(5.0)) for state in states]
    leaves = _leaves(system, beside, side, h, t)
    sizes = [min(1.0, float(np.abs(u).max())) for u in beside]
    conditions, found, missing = [], [], False
    for condition, i, order in _corrected(system, side, leaves, known):
        amount = _alone(condition, (system.names[i], (order, 0)), leaves)
        # Ahead of a front into an unstable state what is small counts relative to itself. A slope
        # is missed in every step, however short, by as much as it is over an element.
        reach = (system.high - system.low) ** order
        missing |= abs(amount) * reach > sizes[i] * max(1e-3 * tol, SAME)
        width = _spread_over(amount, order, LINE_MARCH.worth * tol * sizes[i], abs(h) * 1e5, least)
        conditions.append(condition)
        found.append((i, EndCorrection(side, amount, width, order)))
    if not missing:
        return [], []
    several = [i for i, _ in found]
    found = [(i, c._replace(flat=c.order > 1 or several.count(i) > 1)) for i, c in found]
    found = _together(system, conditions, found, leaves)
    return found, [w for i, c in found for w in _words(system.names[i], c, tol)]


def _corrected(
    system: TimeSystem, side: int, leaves: dict[Key, FloatArray], known: bool
) -> list[tuple[Residual, int, int]]:
    """Return conditions of an end that are met, each by an unknown's value or slope of its own.

    It is that of highest order; of several the one which the condition holds most of.
    """
    found: list[tuple[Residual, int, int]] = []
    for condition in (c for c in system.conditions if c.side == side):
        terms = [
            (t.orders[0], abs(float(factor[0])), system.names.index(t.unknown))
            for t, factor in zip(condition.terms, condition.tangents(leaves, 1), strict=True)
            if t.unknown not in system.constrained and factor[0]
        ]
        left = [t for t in condition.terms if t.unknown in system.constrained and not known]
        seen = [
            leaves["derivative", t.unknown, t.orders][0] for t in condition.terms if not t.orders[1]
        ]
        if not terms or left or len(seen) < len(condition.terms) or not np.isfinite(seen).all():
            continue
        taken = {(i, order) for _, i, order in found}
        free = [(order, i) for order, _, i in sorted(terms)[::-1] if (i, order) not in taken]
        if free:
            found.append((condition, free[0][1], free[0][0]))
    return found


def _alone(
    condition: Residual, term: tuple[str, tuple[int, int]], leaves: dict[Key, FloatArray]
) -> float:
    """Return by how much a term misses a condition, if all else stays."""
    own = [(t.unknown, t.orders) for t in condition.terms].index(term)
    tangent = float(condition.tangents(leaves, 1)[own][0])
    return -float(condition.at(leaves, 1)[0]) / tangent


def _spread_over(amount: float, order: int, small: float, length: float, least: float) -> float:
    """Return over which width a value or a slope is added; so little of a value is small."""
    if order == 0:
        return least if abs(amount) > small else 1e-3 * length
    width = (small / max(abs(amount), 1e-300)) ** (1.0 / order)
    return float(np.clip(width, least, 1e-3 * length))


def _together(
    system: TimeSystem,
    conditions: Sequence[Residual],
    found: list[tuple[int, EndCorrection]],
    leaves: dict[Key, FloatArray],
) -> list[tuple[int, EndCorrection]]:
    """Return corrections with which all conditions hold, by Newton's method.

    As they are where it does not end.
    """
    amounts = np.zeros(len(found))
    for _ in range(NEWTON_STEPS):
        here = _added(system, leaves, found, amounts)
        missed = np.array([float(c.at(here, 1)[0]) for c in conditions])
        matrix = np.zeros((len(found), len(found)))
        for row, condition in enumerate(conditions):
            for term, factor in zip(condition.terms, condition.tangents(here, 1), strict=True):
                for column, (i, c) in enumerate(found):
                    if system.names[i] == term.unknown:
                        matrix[row, column] += float(factor[0]) * c.at_end[term.orders[0]]
        try:
            change = np.linalg.solve(matrix, missed)
        except np.linalg.LinAlgError:
            return found
        amounts = amounts - change
        if np.all(np.abs(change) <= ROUNDED * np.maximum(np.abs(amounts), SAME)):
            break
    if not np.isfinite(amounts).all():
        return found
    pairs = zip(found, amounts.tolist(), strict=True)
    return [(i, c._replace(amount=amount)) for (i, c), amount in pairs if amount]


def _added(
    system: TimeSystem,
    leaves: dict[Key, FloatArray],
    found: Sequence[tuple[int, EndCorrection]],
    amounts: FloatArray,
) -> dict[Key, FloatArray]:
    """Return the leaves at an end with corrections of some amounts."""
    here = dict(leaves)
    for (i, c), amount in zip(found, amounts, strict=True):
        for order, unit in enumerate(c.at_end):
            key: Key = ("derivative", system.names[i], (order, 0))
            if key in here:
                here[key] = here[key] + amount * unit
    return here


def _words(name: str, c: EndCorrection, tol: float) -> list[str]:
    """Return in words what is added, if it is more than a share of the tolerance."""
    if abs(c.amount) * c.width**c.order <= 0.1 * tol:
        return []
    derivative = f"with a derivative of order {c.order} "
    where, what = ("left", "right")[c.side], ("", "with a slope ", derivative, derivative)[c.order]
    return [f"{name} starts {what}{abs(c.amount):.2g} off the condition on the {where}"]


def _leaves(
    system: TimeSystem, states: Sequence[FloatArray], side: int, inward: float, t: float
) -> dict[Key, FloatArray]:
    """Return values and derivatives of states at an end.

    Values and slopes are told by values beside it, what is higher by the formula of a start; it is
    not finite where there is none.
    """
    end = np.array([(system.low, system.high)[side]])
    leaves: dict[Key, FloatArray] = {
        ("coordinate", system.space): end,
        ("coordinate", "t"): np.array([t]),
        ("normal", system.space): np.array([2.0 * side - 1.0]),
    }
    starts = t - system.span[0] <= ROUNDED * (system.span[1] - system.span[0])
    for name, u in zip(system.names, states, strict=True):
        for k, stencil in enumerate(STENCILS):
            leaves["derivative", name, (k, 0)] = np.array([np.dot(stencil, u) / inward**k])
        for k in range(
            len(STENCILS), 1 + max((c.order(name) for c in system.conditions), default=0)
        ):
            found = _by_formula(system, name, k, leaves) if starts else np.nan
            leaves["derivative", name, (k, 0)] = np.full(1, found)
    return leaves


def _by_formula(system: TimeSystem, name: str, order: int, leaves: dict[Key, FloatArray]) -> float:
    """Return a derivative of a start; not finite where its formula does not tell."""
    graph = system.graph(name)
    if graph is None:
        return np.nan
    try:
        return float(np.ravel(evaluate(graph.d(system.space, order), leaves))[0])
    except EquationError:
        return np.nan
