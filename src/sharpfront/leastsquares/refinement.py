"""Refinement of traces that were found by Gram matrices, and whether it brings digits back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sharpfront.arrays import Array, namespace, to_host
from sharpfront.rounding import EPS, TINY

# A step of refinement shows the error before it, and how much smaller it is than the last one what
# is left after it. Steps are taken until that is rounding. Above this share of the traces the first
# one leaves no digits to count on, and all merges are made by QR.
FIRST = 1e-4
# A step that no longer falls by this factor is rounding: a double's times the condition, whose
# square the first step shows, and a factor for luck. A larger one means that refinement fails.
FALLING, LUCK = 0.1, 30.0
STEPS = 6


def refined(found: Array, step_from: Callable[[Array], Array]) -> tuple[Array, int] | None:
    """Return traces refined, and in how many steps; None where these do not fall.

    `step_from` returns the solution for what traces leave of the rows.
    """
    xp = namespace(found)
    last = first = np.ones(found.shape[1])
    for count in range(1, STEPS + 1):
        step = step_from(found)
        found = found + step
        high, whole = (to_host(xp.max(xp.abs(a), axis=0)) for a in (step, found))
        size = high / np.maximum(whole, TINY)
        first = size if count == 1 else first
        fall = size / np.maximum(last, TINY)
        stuck = (fall > FALLING) & (size > EPS)
        if not np.all(size <= FIRST) or np.any(
            stuck & (size > LUCK * np.sqrt(EPS * np.maximum(first, EPS)))
        ):
            return None
        if np.all(stuck | (size * fall <= EPS)):
            return found, count
        last = size
    return None
