"""Newton's method with damping, for anything that can be solved, blended and compared.

A step of length t is taken back if Newton's next correction does not shrink: corrections, unlike
residuals, do not change when an equation is multiplied by something (Deuflhard's natural test, with
the next correction itself in the place of the simplified one, so that no solve is spent on a test).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sharpfront.errors import ProblemError
from sharpfront.newton.settings import NEWTON

P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class Newton(Generic[P]):
    """How an attempt ended."""

    iterate: P  # the last one, with its full correction applied
    changes: tuple[float, ...]  # sizes of the corrections, one for each accepted linear solve
    lengths: tuple[float, ...]  # the steps' lengths
    solves: int  # linear solves, those that were taken back included
    converged: bool  # whether the last correction was small enough


@dataclass(frozen=True, eq=False)
class Rules(Generic[P]):
    """What the method needs to know of iterates."""

    # Returns the solution of the linear problem about an iterate; None if there is none.
    correct: Callable[[P], P | None]
    # ``blend(old, new, share)`` returns old + share * (new - old).
    blend: Callable[[P, P, float], P]
    # ``distance(a, b, c)`` returns the size of b - a, relative to that of c.
    distance: Callable[[P, P, P], float]
    # ``onward(a, b, c)`` tells whether b - a and c - b go the same way everywhere.
    onward: Callable[[P, P, P], bool] = lambda a, b, c: False
    # ``further(a, b, c)`` returns the size of c - b in those unknowns that b - a has changed: one
    # that others drive is nothing until they are known, and its first change is no setback.
    further: Callable[[P, P, P], float] = lambda a, b, c: math.inf


def newton(start: P, rules: Rules[P], small: float, most: int) -> Newton[P]:
    """Iterate until a correction is small, from a start, in so many linear solves at most."""
    old, new, solves = start, rules.correct(start), 1
    if new is None:
        return Newton(start, (), (), 1, False)
    changes, length = [rules.distance(old, new, new)], 1.0
    lengths: list[float] = []
    while solves < most and length >= NEWTON.shortest:
        if _settled(changes, lengths, small):
            return Newton(new, tuple(changes), tuple(lengths), solves, True)
        middle = rules.blend(old, new, length)
        following, solves = rules.correct(middle), solves + 1
        change = float("inf")
        if following is not None:
            # In the units of the last one or its own: from far above, each step to u^4 = 1 takes a
            # quarter off u, and what grows is compared with what it has grown to.
            own = rules.distance(middle, following, following)
            change = min(rules.distance(middle, following, new), own)
            change = min(change, rules.further(old, middle, following))
        kept = change <= max(NEWTON.negligible, (1.0 - NEWTON.shrinks * length) * changes[-1])
        if following is not None and not kept and length == 1.0:
            # From above each step to exp(u) = 1 is as long as the last: iterates that fall
            # everywhere, step after step, do not pass a solution.
            kept = change <= changes[-1] and rules.onward(old, new, following)
        if following is None or not kept:
            length *= 0.25 if following is None else 0.5 * max(0.2, min(1.0, changes[-1] / change))
            continue
        longer = 4.0 if change < 0.5 * changes[-1] else 2.0
        old, new = middle, following
        changes.append(own)
        lengths.append(length)
        length = min(1.0, longer * length)
    settled = _settled(changes, lengths, small)
    return Newton(new, tuple(changes), tuple(lengths), solves, settled)


def _settled(changes: list[float], lengths: list[float], small: float) -> bool:
    """Tell whether the last correction is the last one that counts.

    Behind a short step, or one that has changed everything, a small correction may be one of many:
    far above, those of exp(u) = 1 are all -1.
    """
    if changes[-1] > small or not lengths:
        return changes[-1] <= small
    shrunk = changes[-1] <= max(NEWTON.negligible, (1.0 - NEWTON.shrinks) * changes[-2])
    return shrunk and lengths[-1] == 1.0 and changes[-2] <= NEWTON.changed


def continued(
    start: P, settle: Callable[[P, float], P | None], exhausted: Callable[[], bool]
) -> P | None:
    """Return a solution by way of problems whose highest derivatives are larger.

    ``settle(iterate, factor)`` solves the problem with that factor on its highest derivatives; None
    if it fails. `exhausted` tells whether enough has been tried.
    """
    factor, found = 1.0, None
    while found is None and factor < NEWTON.largest and not exhausted():
        factor *= 10.0
        found = settle(start, factor)
    ratio = 10.0
    while found is not None and factor > 1.0:
        if exhausted() or ratio < NEWTON.finest:
            return None
        nearer = max(1.0, factor / ratio)
        following = settle(found, nearer)
        if following is None:
            ratio = math.sqrt(ratio)
        else:
            found, factor, ratio = following, nearer, min(ratio**1.5, 100.0)
    return found


def values_on_the_way(values: Sequence[float]) -> Generator[float | None, bool, None]:
    """Yield one value after the other; sent whether its solve failed, go halfway then.

    None at the end: when the last value is solved, the first one fails, or no value in between
    helps.
    """
    ahead = [float(v) for v in values]
    if not ahead:
        raise ProblemError("continuation= needs one value of the parameter or more.")
    behind, between = None, 0
    while ahead:
        failed = yield ahead[0]
        if not failed:
            behind = ahead.pop(0)
        elif behind is None or between >= NEWTON.most_between:
            break
        else:
            between += 1
            a, b = behind, ahead[0]
            same = a * b > 0
            ahead.insert(0, math.copysign(math.sqrt(a * b), a) if same else 0.5 * (a + b))
    yield None
