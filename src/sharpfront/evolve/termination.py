"""How a run in time ended: the part of it that can be trusted, and what is said about the rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.evolve.blow_up import StepRecord, blow_up_time, runaway_time
from sharpfront.history import TimeStep


class StuckError(Exception):
    """No further step is taken; the words say why, and the kind what it is called."""

    def __init__(self, words: str, kind: OutcomeKind = OutcomeKind.STOPPED) -> None:
        super().__init__(words)
        self.kind = kind


# A run that goes on like in its last steps, so many, for more than so many more is not going to
# end. Steps grow by up to 2, so that a start is over in 50.
CRAWLED, FAR_OFF, LATELY = 100, 100_000, 5
# Steps grow, and have not done crawling, if the last ones are so many times as long as all of them:
# from 1e-14 of a span on, after a start that was rounded, it takes more than a hundred.
GROWN = 4.0


def check_progress(times: deque[float], now: float, stop: float) -> None:
    """Note the time of a step; raises `StuckError` where a run goes on in vanishing steps.

    Kept are the times of the last `CRAWLED` steps.
    """
    # After many short steps the last ones may be long again.
    length = np.inf
    if len(times) == CRAWLED:
        every, last = (now - times[0]) / CRAWLED, (now - times[-LATELY]) / LATELY
        length = np.inf if last > GROWN * every else max(every, last)
    if (stop - now) / max(length, 1e-300) > FAR_OFF:
        raise StuckError(
            f"the last {CRAWLED} steps were {length:.0e} long on average. A coefficient or source "
            "that switches with u, or at a place that moves, may hold it there, where no step is "
            "short enough: let it change over a small range, for example by np.tanh. So may a kink "
            "that start and conditions make, where nothing damps it: let them agree"
        )
    times.append(now)


# An earlier end is of no use where no step was good enough.
_STAYS = (
    "No step has an estimate below tol, so an earlier end does not help. A start that had to be "
    "rounded stays so where nothing spreads it: add a little diffusion, start from something "
    "smooth, or ask for a tol above {estimate:.2g}, which holds but for the rounded places."
)


class Part(NamedTuple):
    """Steps whose estimates are below the tolerance: from the first one to before the last."""

    first: int
    last: int


def trusted(records: Sequence[TimeStep], tol: float, fading: bool) -> Part:
    """Return the steps that can be trusted.

    If errors of the start fade, as of an initial state that was rounded, the part may begin after
    the start, and is the last one whose estimates are below the tolerance.
    """
    below = [r.error_estimate <= tol for r in records]
    if not fading:
        last = below.index(False) if False in below else len(below)
        return Part(0, last)
    last = len(below) - below[::-1].index(True) if True in below else 0
    first = last
    while first > 0 and below[first - 1]:
        first -= 1
    return Part(first, last)


def stopped(
    stuck: StuckError,
    marks: Sequence[StepRecord],
    records: Sequence[TimeStep],
    now: float,
    stop: float,
) -> Outcome:
    """Return the outcome of a run that ended before its time."""
    errors = [r.error_estimate for r in records]
    when = blow_up_time(marks, errors)
    when = runaway_time(marks, errors) if when is None else when
    if when is not None:
        size = marks[-1].size
        words = f"max|u| reaches {size:.2g} at t = {now:.6g} and grows ever faster towards"
        return Outcome(OutcomeKind.BLOW_UP, f"{words} t = {when:.4g}.")
    return Outcome(stuck.kind, f"At t = {now:.6g} of {stop:.6g}: {stuck}.")


def finished(records: Sequence[TimeStep], part: Part, estimate: float, tol: float) -> Outcome:
    """Return the outcome of a run that reached the end of time."""
    if estimate <= tol:
        return Outcome(OutcomeKind.CONVERGED)
    words = f"Over the whole span the estimate is {estimate:.1e}, above {tol:.1e}"
    if not part.last:
        stays = _STAYS.format(estimate=1.1 * estimate)  # above what its digits show
        return Outcome(OutcomeKind.ERROR_GROWTH, f"{words}, from the first step on.", stays)
    until = f"; up to t = {records[part.last - 1].time:.4g} it is below"
    return Outcome(OutcomeKind.ERROR_GROWTH, f"{words}{until}.")


def returned(records: Sequence[TimeStep]) -> str:
    """Say how far a solution is returned, from the records of what can be trusted."""
    if not records:
        return "No part of it has an estimate below tol."
    return (
        f"Returned is the part up to t = {records[-1].time:.6g}, where the estimate is below tol."
    )
