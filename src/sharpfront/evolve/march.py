"""One march: step after step until the end of time, whatever a state is held in.

A step is as long as the last ones allow. One that leaves too much in time is tried again, shorter;
one that its mesh does not hold is tried on another. What a discretisation has to answer for that is
in `Stepper`: elements on a line, patches and products of kernels in the plane, and the stationary
problems of Rothe's method do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from sharpfront.errors import OutcomeKind
from sharpfront.evolve.termination import CRAWLED, StuckError, check_progress
from sharpfront.evolve.time_events import TimeEvents
from sharpfront.history import Look


class StepTrial(NamedTuple):
    """A step that was tried."""

    dt: float  # how long it is
    # What it leaves in time, as a share of what it may; infinite where it was not solved.
    late: float
    iterations: int  # Newton's
    found: Any  # what its discretisation has to know of it


@dataclass(frozen=True, eq=False)
class StepTaken:
    """A step that was taken."""

    start: float
    stop: float
    after: Any  # the run after it
    error: float  # how far off it is, in units of max(1, max|u|)
    iterations: int  # Newton's, those of failed tries included
    functions: int  # of one unknown
    size: float  # max|u| at its end
    kept: Any  # what a solution is made of
    look: Look  # the components at its end
    limited: bool = False  # whether it would take more functions than there may be
    words: tuple[str, ...] = ()  # what was done to the state before it, in words


class RunState(Protocol):
    """A run between two steps."""

    @property
    def t(self) -> float:
        """When."""

    @property
    def dt(self) -> float:
        """The step to try next."""


class SteppedRun(Protocol):
    """What holds for all steps of a run."""

    @property
    def span(self) -> tuple[float, float]:
        """Start and stop."""

    @property
    def agenda(self) -> TimeEvents:
        """What happens when."""


AnyState = TypeVar("AnyState", bound=RunState)


class Stepper(ABC, Generic[AnyState]):
    """What a discretisation says of the steps of one run."""

    run: SteppedRun
    shortest = 1e-10  # no step is a smaller share of the span
    meshes = 30  # for one step at most

    @abstractmethod
    def tried(self, state: AnyState, dt: float) -> StepTrial:
        """Return a step on the present mesh, which may be shorter."""

    @abstractmethod
    def shorter(self, state: AnyState, trial: StepTrial, before: StepTrial | None) -> AnyState:
        """Return the run for a shorter step than one that may not stand, and one before it."""

    @abstractmethod
    def taken(self, state: AnyState, trial: StepTrial, iterations: int) -> StepTaken | None:
        """Return a step that stands with its error; None where that cannot be told."""

    def restarted(self, state: AnyState) -> tuple[AnyState, tuple[str, ...]]:
        """Return the run at a moment where data jump, and what was done to its state, in words."""
        return state, ()

    def length(self, state: AnyState) -> float:
        """Return how long the next step is to be."""
        return self.run.agenda.fitted(state.t, state.dt, self.run.span[1])

    def seeing(self, state: AnyState, dt: float) -> AnyState:
        """Return the run on a mesh that sees the data of the step to come."""
        return state

    def remeshed(self, state: AnyState, trial: StepTrial) -> AnyState | None:
        """Return the run on a mesh that holds a step, None if the present one does."""
        return None


def steps(stepper: Stepper[AnyState], state: AnyState) -> Iterator[StepTaken]:
    """Yield steps until the end of time; raises `StuckError` where none can be taken."""
    times: deque[float] = deque(maxlen=CRAWLED)
    stop = stepper.run.span[1]
    while state.t < stop:
        check_progress(times, state.t, stop)
        words: tuple[str, ...] = ()
        if stepper.run.agenda.is_stop(state.t):
            state, words = stepper.restarted(state)
        taken = _one_step(stepper, state)
        state = taken.after
        yield replace(taken, words=words) if words else taken


def _one_step(stepper: Stepper[AnyState], state: AnyState) -> StepTaken:
    """Take one step: shorter ones and other meshes are tried until one may stand."""
    iterations, meshes, refused = 0, 0, None
    least = stepper.shortest * (stepper.run.span[1] - stepper.run.span[0])
    while True:
        dt = stepper.length(state)
        if state.t + dt <= state.t or dt < least:
            raise StuckError(f"no step is short enough, the last one tried was {dt:.1e}")
        state = stepper.seeing(state, dt)
        trial = stepper.tried(state, dt)
        iterations += trial.iterations
        if trial.late > 1.0:
            state, refused = stepper.shorter(state, trial, refused), trial
            continue
        other = stepper.remeshed(state, trial)
        if other is not None:
            if meshes == stepper.meshes:
                raise StuckError("no mesh resolves the step", OutcomeKind.KERNEL_LIMIT)
            state, meshes, refused = other, meshes + 1, None
            continue
        taken = stepper.taken(state, trial, iterations)
        if taken is not None:
            return taken
        state = stepper.shorter(state, trial._replace(late=np.inf), None)
