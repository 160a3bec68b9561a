"""Rothe's method: time first. Every step is a stationary problem, solved by any strategy.

Two runs go side by side, one ten times as strict as the other: they share no functions and no step.
The strict one is the solution; as the other is further off, their difference bounds its error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.levels import LevelsInTime
from sharpfront.equation.graph import derivatives_in
from sharpfront.errors import ProblemError
from sharpfront.evolve.evolution import OnStep, evolved
from sharpfront.evolve.march import StepTaken, steps
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.wellposed import require_forward
from sharpfront.evolve.rothe.steps import RotheRun, RotheSteps, Stationary, rothe_begun, through
from sharpfront.evolve.run_log import STRICTER, TIGHTEST, RunLog
from sharpfront.evolve.time_events import TimeEvents, plane_formulas, time_events_of
from sharpfront.kernels.basis import Basis
from sharpfront.problem import Problem
from sharpfront.solution import Solution
from sharpfront.trust.initial_data import with_start_seen

# The share of a step that the first run takes where it is not errors that hold steps short.
STRIDE = 0.6
# Moments in a step at which the runs are compared.
COMPARED_AT = (0.28, 0.62, 1.0)
# Further moments of a first step.
COMPARED_SOON = (0.004, 0.02, 0.08)


def compared(
    others: Iterator[StepTaken],
    mine: Iterator[StepTaken],
    difference: Callable[[StepTaken, list[StepTaken]], float],
) -> Iterator[StepTaken]:
    """Yield the steps of the strict run with their errors, as the steps of another one tell them.

    Both may take the same steps, where it is not errors that hold them short.
    """
    passed: list[StepTaken] = []
    for taken in mine:
        iterations = taken.iterations
        while not passed or passed[-1].stop < taken.stop:
            passed.append(next(others))
            iterations += passed[-1].iterations
        error = difference(taken, passed) + taken.error
        yield replace(taken, error=error, iterations=iterations)
        passed = [step for step in passed if step.stop > taken.stop]


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


# Points spread over the domain at which states are compared, besides the places of functions.
COMPARED_PLACES = 1024
OF_TWO_ROTHE_RUNS = (
    "The largest difference at the moments of each step to a second run, ten times less strict, "
    "with other steps and functions of its own."
)


@dataclass(frozen=True, eq=False)
class RotheCourse:
    """What holds for all runs of a problem around a strategy."""

    system: PlaneSystem
    tol: float
    stationary: Stationary
    agenda: TimeEvents
    spread: FloatArray

    means = OF_TWO_ROTHE_RUNS

    def run(self, share: float, stride: float) -> RotheRun:
        """Return a run of a share of the tolerance."""
        tol = max(share * self.tol, TIGHTEST)
        return RotheRun(self.system, self.stationary, tol, self.agenda, self.spread, stride)

    def begun(self, share: float, number: int) -> RunLog:
        """Return a run before it has begun."""
        return RunLog(share=share, number=number)

    def steps(self, log: RunLog) -> Iterator[StepTaken]:
        """Yield the steps of the strict run, compared with those of another."""
        weak, strict = self.run(log.share, STRIDE), self.run(STRICTER * log.share, 1.0)
        others, mine = (steps(RotheSteps(run), rothe_begun(run)) for run in (weak, strict))
        for taken in compared(others, mine, partial(_difference, strict)):
            # Such a run does not go on: its state is not kept.
            yield replace(taken, after=None)

    def found(self, log: RunLog) -> tuple[dict[str, Basis], dict[str, FloatArray]]:
        """Return bases and weights of the unknowns; refuses a run that took no step."""
        problem = self.system.problem
        if not log.kept:
            detail = log.concluded(self.tol)[1].detail
            raise ProblemError(
                f"With this adaptor no first step in time could be taken. {detail} Leave adaptor= "
                "out."
            )
        states = [levels[-1].solution.approximation for levels in log.kept]
        assert problem.time is not None
        times = np.array([problem.time[0], *(r.time for r in log.records)])
        degrees = np.array([len(levels) - 1 for levels in log.kept])
        bases: dict[str, Basis] = {
            name: LevelsInTime(times, tuple(s.bases[name] for s in states), degrees)
            for name in problem.unknowns
        }
        weights = {n: np.concatenate([s.weights[n] for s in states]) for n in problem.unknowns}
        return bases, weights

    def packed(self, log: RunLog) -> dict[str, Any]:
        """Return nothing."""
        return {}


def evolve_around(
    problem: Problem,
    tol: float,
    stationary: Stationary,
    on_step: OnStep = None,
) -> Solution:
    """Solve a problem in time with what solves stationary ones.

    Parameters
    ----------
    problem
        With a span of time and an initial state.
    tol
        Of the error at any moment, relative to max(1, max|u|).
    stationary
        Solves a stationary problem to a tolerance, from a guess.
    on_step
        Called with each step as it is taken.
    """
    system = PlaneSystem(problem)
    _require_known(system, tol)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        course = rothe_course(system, tol, stationary)
        return with_start_seen(problem, evolved(course, course.begun(1.0, 1), on_step))


def rothe_course(system: PlaneSystem, tol: float, stationary: Stationary) -> RotheCourse:
    """Return what holds for all runs of a problem."""
    problem = system.problem
    assert problem.time is not None
    agenda = time_events_of(plane_formulas(problem), problem.time)
    return RotheCourse(system, tol, stationary, agenda, problem.domain.sample(COMPARED_PLACES))


def _require_known(system: PlaneSystem, tol: float) -> None:
    """Refuse what differences in time do not take."""
    for equation in system.problem.equations:
        for leaf in derivatives_in(equation):
            if leaf.orders[-1] > 1 or (leaf.orders[-1] and any(leaf.orders[:-1])):
                raise ProblemError(
                    "With an adaptor of your own equations in time have u.dt alone, without u.dtt "
                    f"or u.dxxt; got {equation!r}. Leave adaptor= out."
                )
    require_forward(system)
    if found := system.contradictions(tol):
        raise ProblemError(
            f"With an adaptor of your own a start has to meet its conditions, and {found[0]}. "
            "Leave adaptor= out, or change initial=."
        )


def _difference(run: RotheRun, taken: StepTaken, others: list[StepTaken]) -> float:
    """Return the largest difference during a step, at its own places."""
    dt, stops = taken.stop - taken.start, [o.stop for o in others]
    first = taken.start <= run.span[0]
    points, worst = run.places(taken.kept[-1]), 0.0
    for t in moments_compared(taken.start, dt, taken.stop, stops, first).tolist():
        other = others[min(int(np.searchsorted(stops, t)), len(others) - 1)]
        for unknown in run.problem.unknowns:
            here, there = (through(s.kept, t, unknown, points) for s in (taken, other))
            worst = max(worst, float(np.abs(here - there).max()) / taken.after.scale)
    return worst
