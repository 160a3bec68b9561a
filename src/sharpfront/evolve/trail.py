"""What a run shows of its problem: how errors grow on the way, and whether it ends in a blow-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray

# An estimate above this says that the solution has been lost: the error equation is linear.
LOST = 0.1
# No step is asked for more digits of the solution than this.
TIGHTEST = 1e-11
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
    growth
        By how much the error of before grew in it, relative to max(1, max|u|).
    share
        The size of the solution at its beginning as a share of max(1, max|u|) so far.
    size
        max|u| at its end.
    added
        What the step adds to the error, relative to max(1, max|u|).
    """

    start: float
    stop: float
    growth: float
    share: float
    size: float
    added: float = 0.0


@dataclass(frozen=True, eq=False)
class Profile:
    """What steps may leave behind over time, as a share of what they may where errors do not grow.

    Parameters
    ----------
    times, shares
        Where it is known; in between its logarithm is drawn straight.
    """

    times: FloatArray
    shares: FloatArray

    def at(self, t: float) -> float:
        """Return the share at a moment."""
        return float(np.exp(np.interp(t, self.times, np.log(self.shares))))

    def tightened(self, marks: Sequence[Mark], by: float, tol: float) -> Profile:
        """Return the profile for another run, after one whose estimate was too large.

        At first by how much errors grow from each moment on, then everywhere by one factor.

        Parameters
        ----------
        by
            The factor by which errors must be smaller at least.
        tol
            The tolerance that was asked for.
        """
        starts = np.array([m.start for m in marks])
        shares = by * np.array([self.at(t) for t in starts])
        if self is EVEN:
            ahead = growth_ahead([m.growth for m in marks])
            # Together errors have not grown to more than the estimate.
            explained = by * float(np.dot(ahead, [m.added for m in marks])) / (0.5 * tol)
            needed = 0.5 / np.maximum(ahead / max(explained, 1.0), 1.0)
            shares = needed * min(1.0, by / needed[0])
        floor = TIGHTEST * np.array([m.share for m in marks]) / tol
        return Profile(starts, np.maximum(shares, np.minimum(floor, 1.0)))


def growth_ahead(growths: Sequence[float]) -> FloatArray:
    """Return by how much errors made at the start of each step, or after it, grow at most, (n,)."""
    found, most = np.ones(len(growths)), 1.0
    longest = 1.0
    for n in reversed(range(len(growths))):
        longest = growths[n] * max(1.0, longest)
        most = max(most, longest)
        found[n] = most
    return found


EVEN = Profile(np.zeros(1), np.ones(1))


def blow_up_time(marks: Sequence[Mark], errors: Sequence[float]) -> float | None:
    """Return when a solution ceases to exist, None where nothing says that it does.

    A blow-up goes like (T - t)^(-p), so that size / rate of growth = (T - t) / p falls to zero on a
    straight line; for growth without end like exp(r t) it stays what it is.

    Parameters
    ----------
    errors
        The estimates after the same steps. A solution that was lost before it grew says nothing:
        errors of a front into an unstable state blow up although the solution does not.
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
