"""What a run shows of its problem: whether it ends in a blow-up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray

# An estimate above this says that the solution has been lost.
LOST = 0.1
# A blow-up is told from the steps in which the solution grew by the last such factor, by the second
# one in each of so many at least; they lie off a straight line by so much of its range at most, and
# it is as near as that part of their length.
LAST_GROWTH, STEP_GROWTH, LEAST_STEPS, OFF, NEAR = 30.0, 1.2, 4, 0.2, 0.5
# The last step is the fastest, but for this factor.
LATEST = 1.5


class Mark(NamedTuple):
    """What a step leaves behind.

    Parameters
    ----------
    start, stop
        Its ends.
    size
        max|u| at its end.
    """

    start: float
    stop: float
    size: float


def blow_up_time(marks: Sequence[Mark], errors: Sequence[float]) -> float | None:
    """Return when a solution ceases to exist, None where nothing says that it does.

    A blow-up goes like (T - t)^(-p), so that size / rate of growth = (T - t) / p falls to zero on a
    straight line; for growth without end like exp(r t) it stays what it is. A solution that was
    lost before it grew says nothing: errors of a front into an unstable state blow up although the
    solution does not.
    """
    times, sizes, before = _last_growth(marks)
    if len(times) and errors[before] > LOST:
        return None
    if len(sizes) <= LEAST_STEPS:
        return None
    slowness = np.diff(times) / np.diff(np.log(sizes))
    # What was switched on grows fast at first and then ever slower.
    if slowness[-1] > LATEST * slowness.min():
        return None
    middles = 0.5 * (times[1:] + times[:-1]) - times[-1]
    slope, offset = np.polyfit(middles, slowness, 1)
    off = float(np.abs(slowness - slope * middles - offset).max())
    if slope >= 0 or off > OFF * np.ptp(slowness):
        return None
    left = -float(offset / slope)
    return float(times[-1]) + max(left, 0.0) if abs(left) < NEAR * np.ptp(times) else None


def _last_growth(marks: Sequence[Mark]) -> tuple[FloatArray, FloatArray, int]:
    """Return moments and sizes over the last growth by LAST_GROWTH, and the mark it begins at."""
    times: list[float] = []
    sizes: list[float] = []
    for index, mark in reversed(list(enumerate(marks))):
        if sizes and mark.size > sizes[-1] / STEP_GROWTH:
            continue
        times.append(mark.stop)
        sizes.append(mark.size)
        if mark.size < sizes[0] / LAST_GROWTH:
            return np.array(times[::-1]), np.array(sizes[::-1]), index
    return np.zeros(0), np.zeros(0), 0
