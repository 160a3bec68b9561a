"""From the course of a problem in time to its solution: runs that are strict enough, and their end.

What is known of a problem before it is marched is its course: on a line, on patches, in products of
kernels, or around a strategy for stationary problems.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import EquationError, Outcome, OutcomeKind
from sharpfront.evolve.march import StepTaken
from sharpfront.evolve.run_log import Packed, RunLog
from sharpfront.evolve.termination import StuckError, stopped
from sharpfront.history import TimeStep
from sharpfront.kernels.basis import Basis
from sharpfront.problem import Problem
from sharpfront.solution import Solution

OnStep = Callable[[TimeStep], None] | None


class MarchedSystem(Protocol):
    """Equations and conditions as they are marched."""

    @property
    def problem(self) -> Problem:
        """As it was stated."""

    @property
    def is_linear(self) -> bool:
        """Whether they are."""


class Course(Protocol):
    """What holds for all runs of a problem."""

    @property
    def system(self) -> MarchedSystem:
        """What is marched."""

    @property
    def tol(self) -> float:
        """As it was asked for."""

    @property
    def means(self) -> str:
        """What the estimate of a solution means."""

    def begun(self, share: float, number: int) -> RunLog:
        """Return a run of a share of the tolerance, and of a number, before its first step."""

    def steps(self, log: RunLog) -> Iterator[StepTaken]:
        """Yield the steps that follow; raises `StuckError` where none can be taken.

        What is said of their errors is held to the contract of an `estimate.Oracle`.
        """

    def found(self, log: RunLog) -> tuple[Mapping[str, Basis], Mapping[str, FloatArray]]:
        """Return bases and weights of the unknowns, also of a run that took no step."""

    def packed(self, log: RunLog) -> dict[str, Any]:
        """Return a run as words and arrays, from which it goes on."""


def evolved(course: Course, first: RunLog, on_step: OnStep) -> Solution:
    """Return the solution from a run that has begun, and from stricter ones if errors grow."""
    tol, problem = course.tol, course.system.problem
    log = best = _marched(course, first, on_step)
    while (share := log.stricter(tol)) is not None:
        log = _marched(course, course.begun(share, log.number + 1), on_step)
        best = max(best, log, key=lambda log: log.merit(tol))
    log, outcome = best.concluded(tol)
    assert problem.time is not None
    goes_on = log.state is not None and log.state.t == log.reached(problem.time[0])
    checkpoint = Packed(partial(course.packed, log)) if goes_on else None
    return log.solution(problem, tol, outcome, course.found(log), course.means, checkpoint)


def _marched(course: Course, log: RunLog, on_step: OnStep) -> RunLog:
    """Go on to the end of time, or as far as it goes."""
    system = course.system
    assert system.problem.time is not None
    (start, stop), began = system.problem.time, clock.perf_counter()
    try:
        for taken in course.steps(log):
            log = log.further(taken, course.tol, clock.perf_counter() - began)
            if on_step:
                on_step(log.records[-1])
            log.require_found(course.tol, is_linear=system.is_linear)
            began = clock.perf_counter()
    except KeyboardInterrupt:
        detail = f"Interrupted at t = {log.reached(start):.6g} of {stop:.6g}."
        return replace(log, ended=Outcome(OutcomeKind.INTERRUPTED, detail))
    except (np.linalg.LinAlgError, EquationError):
        # What equations or their systems make of a state that is no longer finite.
        stuck = StuckError("the state is no longer finite")
        return replace(log, ended=stopped(stuck, log.marks, log.records, log.reached(start), stop))
    except StuckError as stuck:
        return replace(log, ended=stopped(stuck, log.marks, log.records, log.reached(start), stop))
    return log
