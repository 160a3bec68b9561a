"""A wish for a picture of a solution in time, made one for single moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError
from sharpfront.show.data.section import section
from sharpfront.show.data.snapshot import TIME, Moment
from sharpfront.show.figures.panels import Wish


def still(wish: Wish, t: float) -> Wish:
    """Return the same wish for the solution at a moment."""
    where = {name: value for name, value in wish.where.items() if name != TIME}
    return replace(wish, solution=Moment(wish.solution, t), where=where, note=f"t = {t:.6g}")


def moments_of(wish: Wish, count: int | Sequence[float] | None, default: int) -> list[float]:
    """Return even moments with both ends, or those that were given."""
    window = section(wish.solution.domain, wish.names, ranges(wish)).window[:, -1]
    if count is None or isinstance(count, int | np.integer):
        number = default if count is None else int(count)
        if number < 1:
            raise ProblemError(f"Expected at least one moment, got moments={count!r}.")
        return even(window, number) if number > 1 else [float(window[1])]
    given = [float(t) for t in count]
    low, high = wish.solution.domain.time
    if not given or not all(low <= t <= high for t in given):
        raise ProblemError(f"Expected moments between {low:g} and {high:g}, got {count!r}.")
    return given


def even(window: FloatArray, count: int) -> list[float]:
    """Return even moments with both ends."""
    return [float(t) for t in np.linspace(float(window[0]), float(window[1]), count)]


def ranges(wish: Wish) -> dict[str, Any]:
    """Return what was asked for of the coordinates, without a single moment."""
    return {k: v for k, v in wish.where.items() if k != TIME or np.ndim(v) == 1}


def period_of(wish: Wish) -> float | None:
    """Return the length of a circle; None for a stretch."""
    domain = wish.solution.domain
    low, high = domain.bounds[:, 0]
    return float(high - low) if domain.periodic_axes[0] else None
