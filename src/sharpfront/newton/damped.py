"""Newton's method with damping, for anything that can be solved, blended and compared.

A step of length t is taken back if Newton's next correction does not shrink: corrections, unlike
residuals, do not change when an equation is multiplied by something (Deuflhard's natural test, with
the next correction itself in the place of the simplified one, so that no solve is spent on a test).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P")

# Shorter steps are given up.
SHORTEST = 0.05
# A step must shrink the correction at least by this share of its length.
SHARE = 0.25
# Factors on the highest derivatives that are tried, and how near one goes to the next.
LARGEST, FINEST = 1e8, 1.02


@dataclass(frozen=True, eq=False)
class Newton(Generic[P]):
    """How an attempt ended.

    Parameters
    ----------
    iterate
        The last one, with its full correction applied.
    changes
        Sizes of the corrections, one for each accepted linear solve.
    lengths
        The steps' lengths.
    solves
        Linear solves, those that were taken back included.
    converged
        Whether the last correction was small enough.
    """

    iterate: P
    changes: tuple[float, ...]
    lengths: tuple[float, ...]
    solves: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Rules(Generic[P]):
    """What the method needs to know of iterates.

    Parameters
    ----------
    correct
        Returns the solution of the linear problem about an iterate; None if there is none.
    blend
        ``blend(old, new, share)`` returns old + share * (new - old).
    distance
        The size of the difference of two iterates, relative to the second.
    """

    correct: Callable[[P], P | None]
    blend: Callable[[P, P, float], P]
    distance: Callable[[P, P], float]


def newton(start: P, rules: Rules[P], small: float, most: int) -> Newton[P]:
    """Iterate until a correction is small, from a start, in so many linear solves at most."""
    old, new, solves = start, rules.correct(start), 1
    if new is None:
        return Newton(start, (), (), 1, False)
    changes, length = [rules.distance(old, new)], 1.0
    lengths: list[float] = []
    while solves < most and length >= SHORTEST:
        if changes[-1] <= small:
            return Newton(new, tuple(changes), tuple(lengths), solves, True)
        middle = rules.blend(old, new, length)
        following, solves = rules.correct(middle), solves + 1
        change = float("inf") if following is None else rules.distance(middle, following)
        if following is None or not change <= (1.0 - SHARE * length) * changes[-1]:
            length *= 0.25 if following is None else 0.5 * max(0.2, min(1.0, changes[-1] / change))
            continue
        old, new = middle, following
        changes.append(change)
        lengths.append(length)
        length = min(1.0, 4.0 * length if change < 0.5 * changes[-2] else 2.0 * length)
    return Newton(new, tuple(changes), tuple(lengths), solves, changes[-1] <= small)


def continued(
    start: P, settle: Callable[[P, float], P | None], exhausted: Callable[[], bool]
) -> P | None:
    """Return a solution by way of problems whose highest derivatives are larger.

    Parameters
    ----------
    start
        Where the first of them starts.
    settle
        ``settle(iterate, factor)`` solves the problem with that factor on its highest derivatives;
        None if it fails.
    exhausted
        Whether enough has been tried.
    """
    factor, found = 1.0, None
    while found is None and factor < LARGEST and not exhausted():
        factor *= 10.0
        found = settle(start, factor)
    ratio = 10.0
    while found is not None and factor > 1.0:
        if exhausted() or ratio < FINEST:
            return None
        nearer = max(1.0, factor / ratio)
        following = settle(found, nearer)
        if following is None:
            ratio = math.sqrt(ratio)
        else:
            found, factor, ratio = following, nearer, min(ratio**1.5, 100.0)
    return found
