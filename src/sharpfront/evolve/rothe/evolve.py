"""Rothe's method: time first. Every step is a stationary problem, solved by any strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.levels import LevelsInTime
from sharpfront.equation.graph import derivatives_in
from sharpfront.errors import ProblemError
from sharpfront.evolve.blow_up import StepRecord
from sharpfront.evolve.march_result import STRICTER, TIGHTEST, MarchResult, marched, strict_enough
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.wellposed import require_forward
from sharpfront.evolve.rothe.steps import RotheRun, RotheStep, Stationary, rothe_begun, rothe_steps
from sharpfront.evolve.run_pair import STRIDE, Compared, Pair, compared, moments_compared
from sharpfront.evolve.time_events import TimeEvents, plane_formulas, time_events_of
from sharpfront.history import Known, TimeStep
from sharpfront.problem import Problem
from sharpfront.solution import Solution
from sharpfront.trust.initial_data import with_start_seen

# Points spread over the domain at which states are compared, besides the places of functions.
COMPARED_PLACES = 1024
_OF_TWO_ROTHE_RUNS = (
    "The largest difference at the moments of each step to a second run, ten times less strict, "
    "with other steps and functions of its own."
)


@dataclass(frozen=True, eq=False)
class _RotheCourse:
    """What holds for all runs of a problem."""

    system: PlaneSystem
    tol: float
    stationary: Stationary
    agenda: TimeEvents
    spread: FloatArray

    def run(self, share: float, stride: float) -> RotheRun:
        """Return a run of a share of the tolerance."""
        tol = max(share * self.tol, TIGHTEST)
        return RotheRun(self.system, self.stationary, tol, self.agenda, self.spread, stride)


def evolve_around(
    problem: Problem,
    tol: float,
    stationary: Stationary,
    on_step: Callable[[TimeStep], None] | None = None,
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
    assert problem.time is not None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        agenda = time_events_of(plane_formulas(problem), problem.time)
        course = _RotheCourse(
            system, tol, stationary, agenda, problem.domain.sample(COMPARED_PLACES)
        )
        best = strict_enough(
            MarchResult(),
            lambda share, number: MarchResult(share=share, number=number),
            lambda log: _marched(course, log, on_step),
            tol,
        )
        return with_start_seen(problem, _solution(problem, course, best))


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


def _marched(
    course: _RotheCourse, log: MarchResult, on_step: Callable[[TimeStep], None] | None
) -> MarchResult:
    """Go on to the end of time, or as far as it goes."""
    start = course.run(1.0, 1.0).span[0]
    return marched(
        course,
        log,
        _further(course, log),
        on_step,
        lambda log: log.records[-1].time if log.records else start,
    )


def _further(course: _RotheCourse, log: MarchResult) -> Iterator[MarchResult]:
    """Yield what there is after each step of the strict run."""
    runs = course.run(log.share, STRIDE), course.run(STRICTER * log.share, 1.0)
    states = [rothe_begun(run) for run in runs]
    others, mine = (rothe_steps(run, state) for run, state in zip(runs, states, strict=True))
    pair = Pair[RotheStep](states[0], states[1])
    for step in compared(others, mine, pair, partial(_difference, runs[1])):
        log = _with_step(log, step)
        yield log


def _difference(run: RotheRun, taken: RotheStep, others: list[RotheStep]) -> float:
    """Return the largest difference during a step, at its own places."""
    dt, stops = taken.stop - taken.start, [o.stop for o in others]
    first = taken.start <= run.span[0]
    points, worst = run.places(taken.levels[-1]), 0.0
    for t in moments_compared(taken.start, dt, taken.stop, stops, first).tolist():
        other = others[min(int(np.searchsorted(stops, t)), len(others) - 1)]
        gaps = [taken.at(t, u, points) - other.at(t, u, points) for u in run.problem.unknowns]
        worst = max(worst, float(np.abs(gaps).max()) / taken.after.scale)
    return worst


def _with_step(log: MarchResult, step: Compared[RotheStep]) -> MarchResult:
    taken, solution = step.taken, step.taken.levels[-1].solution
    assert solution is not None
    state = solution.approximation
    some = next(iter(state.bases.values()))
    record = TimeStep(
        len(log.records),
        taken.stop,
        taken.stop - taken.start,
        some.kernels,
        step.error,
        step.iterations,
        step.seconds,
        Known(None, np.zeros((0, some.dimension))),
    )
    return replace(
        log,
        kept=(*log.kept, (taken.stop, state, len(taken.levels) - 1)),
        records=(*log.records, record),
        marks=(*log.marks, StepRecord(taken.start, taken.stop, taken.after.scale)),
    )


def _solution(problem: Problem, course: _RotheCourse, log: MarchResult) -> Solution:
    log, outcome = log.concluded(course.tol)
    if not log.kept:
        raise ProblemError(
            f"With this adaptor no first step in time could be taken. {outcome.detail} "
            "Leave adaptor= out."
        )
    assert problem.time is not None
    times = np.array([problem.time[0], *(stop for stop, _, _ in log.kept)])
    degrees = np.array([degree for _, _, degree in log.kept])
    bases, weights = {}, {}
    for name in problem.unknowns:
        parts = tuple(state.bases[name] for _, state, _ in log.kept)
        bases[name] = LevelsInTime(times, parts, degrees)
        weights[name] = np.concatenate([state.weights[name] for _, state, _ in log.kept])
    return log.solution(problem, course.tol, outcome, (bases, weights), _OF_TWO_ROTHE_RUNS)
