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
LAST_GROWTH, STEP_GROWTH, LEAST_STEPS, OFF, AS_NEAR = 30.0, 1.2, 4, 0.2, 0.5
# A blow-up like a logarithm: the rate grew by the first factor, while the solution did not by the
# second.
HASTE, LITTLE_GROWN = 1e3, 10.0
# The last step is the fastest, but for this factor.
LATEST = 1.5


class StepRecord(NamedTuple):
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


def blow_up_time(marks: Sequence[StepRecord], errors: Sequence[float]) -> float | None:
    """Return when a solution ceases to exist, None where nothing says that it does.

    A blow-up goes like (T - t)^(-p), so that size / rate of growth = (T - t) / p falls to zero on a
    straight line; for growth without end like exp(r t) it stays what it is. A solution that was
    lost before it grew says nothing: errors of a front into an unstable state blow up although the
    solution does not.
    """
    return _end_of_line(*_last_growth(marks), errors)


def runaway_time(marks: Sequence[StepRecord], errors: Sequence[float]) -> float | None:
    """Return when a solution that grows like a logarithm, as of u_t = exp(u), ceases to exist.

    It goes like -log(T - t), so that 1 / rate of growth falls to zero on a straight line. What
    ignites and burns out goes like that too, for a while: this says something only of a run that
    goes no further.
    """
    return _end_of_line(*_last_haste(marks), errors)


def _end_of_line(
    times: FloatArray, slowness: FloatArray, before: int, errors: Sequence[float]
) -> float | None:
    """Return where a straight line through the slowness between moments falls to zero, if soon."""
    if len(slowness) < LEAST_STEPS or errors[before] > LOST:
        return None
    # What was switched on grows fast at first and then ever slower.
    if slowness[-1] > LATEST * slowness.min():
        return None
    middles = 0.5 * (times[1:] + times[:-1]) - times[-1]
    slope, offset = np.polyfit(middles, slowness, 1)
    off = float(np.abs(slowness - slope * middles - offset).max())
    if slope >= 0 or off > OFF * np.ptp(slowness):
        return None
    left = -float(offset / slope)
    return float(times[-1]) + max(left, 0.0) if abs(left) < AS_NEAR * np.ptp(times) else None


def _last_growth(marks: Sequence[StepRecord]) -> tuple[FloatArray, FloatArray, int]:
    """Return moments and size / rate between them over the last growth by LAST_GROWTH.

    Besides, the mark it begins at.
    """
    times: list[float] = []
    sizes: list[float] = []
    for index, mark in reversed(list(enumerate(marks))):
        if sizes and mark.size > sizes[-1] / STEP_GROWTH:
            continue
        times.append(mark.stop)
        sizes.append(mark.size)
        if mark.size < sizes[0] / LAST_GROWTH:
            every = np.array(times[::-1])
            return every, np.diff(every) / np.diff(np.log(sizes[::-1])), index
    return np.zeros(0), np.zeros(0), 0


def _last_haste(marks: Sequence[StepRecord]) -> tuple[FloatArray, FloatArray, int]:
    """Return moments and 1 / rate between them over the last stretch on which u hurried by HASTE.

    Besides, the mark it begins at. Nothing where u itself grew by LITTLE or more meanwhile: that is
    growth like exp(r t), or a power.
    """
    times, rises, slowness = [mark.stop for mark in marks[-1:]], 0.0, [0.0]
    for index in range(len(marks) - 1, 0, -1):
        one, two = marks[index - 1], marks[index]
        rises += two.size - one.size
        if rises <= 0.0 or marks[-1].size > LITTLE_GROWN * one.size:
            break
        now = (times[-1] - one.stop) / rises
        if now < STEP_GROWTH * slowness[-1]:
            continue
        times.append(one.stop)
        slowness.append(now)
        rises = 0.0
        if now > HASTE * slowness[1]:
            return np.array(times[::-1]), np.array(slowness[:0:-1]), index - 1
    return np.zeros(0), np.zeros(0), 0
