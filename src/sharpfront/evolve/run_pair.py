"""Two runs side by side, one ten times as strict as the other: what they differ by is the error.

They share no mesh and no step, and their functions are of different degree. The strict one is the
solution; as the other is further off, their difference bounds the error of the strict one.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from sharpfront.arrays import FloatArray

# The share of a step that the first run takes where it is not errors that hold steps short.
STRIDE = 0.6
# Moments in a step at which the runs are compared.
COMPARED_AT = (0.28, 0.62, 1.0)
# Further moments of a first step.
COMPARED_SOON = (0.004, 0.02, 0.08)


class TakenStep(Protocol):
    """A step that was taken, on a line or on patches."""

    @property
    def start(self) -> float:
        """When it began."""

    @property
    def stop(self) -> float:
        """When it ended."""

    @property
    def after(self) -> Any:
        """The state of the run after it."""

    @property
    def iterations(self) -> int:
        """Newton's."""

    @property
    def between(self) -> float:
        """What its polynomials in time leave out, in units of max(1, max|u|)."""


AnyStep = TypeVar("AnyStep", bound=TakenStep)


@dataclass(frozen=True, eq=False)
class Pair(Generic[AnyStep]):
    """Two runs between two steps of the strict one."""

    # Their states.
    coarse: Any
    fine: Any
    steps: tuple[AnyStep, ...] = ()  # of the coarse run, those not yet passed by the fine one


@dataclass(frozen=True, eq=False)
class Compared(Generic[AnyStep]):
    """A step of the strict run."""

    taken: AnyStep  # the step
    # The largest difference to the other run during it, in units of max(1, max|u|), with what
    # polynomials in time leave out.
    error: float
    after: Pair[AnyStep]  # both runs after it
    seconds: float  # wall time, with the coarse steps that it needed
    iterations: int  # Newton's of both runs


def compared(
    others: Iterator[AnyStep],
    mine: Iterator[AnyStep],
    pair: Pair[AnyStep],
    difference: Callable[[AnyStep, list[AnyStep]], float],
) -> Iterator[Compared[AnyStep]]:
    """Yield the steps of the strict run with their errors.

    Parameters
    ----------
    others, mine
        Steps of the coarse run and of the strict one.
    pair
        Both before them.
    difference
        The largest difference of a strict step to those of the coarse run over it.
    """
    passed, state = list(pair.steps), pair.coarse
    while True:
        began = clock.perf_counter()
        taken = next(mine, None)
        if taken is None:
            return
        iterations = taken.iterations
        while not passed or passed[-1].stop < taken.stop:
            passed.append(next(others))
            state = passed[-1].after
            iterations += passed[-1].iterations
        # Both may have taken the same steps, where it was not errors that held them short.
        error = difference(taken, passed) + taken.between
        passed = [s for s in passed if s.stop > taken.stop]
        after = Pair(state, taken.after, tuple(passed))
        yield Compared(taken, error, after, clock.perf_counter() - began, iterations)


def moments_compared(
    start: float, dt: float, stop: float, stops: Sequence[float], first: bool
) -> FloatArray:
    """Return when runs are compared during a step, none later than it ends."""
    # Right after a start solutions change fastest.
    shares = (*COMPARED_SOON, *COMPARED_AT) if first else COMPARED_AT
    # The ends of the other run's steps are where it is best and where its mesh changes.
    ends = [s for s in stops if start < s < stop]
    t = np.sort([*(start + s * dt for s in shares), *ends[-len(COMPARED_AT) :]])
    # A start and a length may add up to more than the end by a rounding, where no step is.
    return np.asarray(np.minimum(t, stop))
