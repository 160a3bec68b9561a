"""From a problem in time in the plane to its solution on patches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.adapt.patchwork.data import crossings
from sharpfront.adapt.patchwork.refine import Limits
from sharpfront.adapt.patchwork.settings import SETTINGS
from sharpfront.adapt.patchwork.tiling import tiling_of
from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.bases.in_time import PatchworkInTime
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.budget import DEFAULT, Budget
from sharpfront.equation.edges import places_along
from sharpfront.errors import EquationError, Outcome, OutcomeKind
from sharpfront.evolve.ending import StuckError, finished, returned, stopped
from sharpfront.evolve.marched import STRICTER, TIGHTEST, Marched
from sharpfront.evolve.pair import STRIDE
from sharpfront.evolve.patchwork.cells import Meshing, taken_to
from sharpfront.evolve.patchwork.march import begun
from sharpfront.evolve.patchwork.pair import Compared, compared
from sharpfront.evolve.patchwork.run import Run, State
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.wellposed import plane_system
from sharpfront.evolve.time_events import Agenda, agenda_of, plane_formulas
from sharpfront.evolve.trail import Mark
from sharpfront.geometry import SpaceTime
from sharpfront.history import Known, TimeStep
from sharpfront.pieces.radau import STAGES
from sharpfront.problem import Problem
from sharpfront.solution import Estimate, Solution
from sharpfront.solution.approximation import Approximation

MAX_KERNELS, FEWEST_KERNELS = 40_000, 200
# Points spread over the domain at which initial states are looked at besides those of patches.
SPREAD = 4096
# Functions along an axis that resolved patches keep.
LEAST = 6
_MEANING = (
    "The largest difference at any moment to a second run, ten times less strict, on other patches "
    "with other steps, and what each step's polynomials in time leave out."
)


@dataclass(frozen=True, eq=False)
class _Way(Marched):
    """What a pair of runs on patches has left behind."""

    kept: tuple[tuple[float, PatchworkBasis, FloatArray], ...] = ()  # ends, patches and weights


@dataclass(frozen=True, eq=False)
class _Course:
    """What holds for all runs of a problem."""

    system: PlaneSystem
    tol: float
    kernels: int
    agenda: Agenda
    lines: tuple[FloatArray, FloatArray]
    watched: FloatArray

    def run(self, share: float, stride: float) -> Run:
        """Return a run of a share of the tolerance."""
        tol = max(share * self.tol, TIGHTEST)
        settings, domain = SETTINGS, self.system.problem.domain
        tiling = tiling_of(domain)
        assert tiling is not None
        limits = Limits(settings.functions(tol), settings.most(tol, 2), LEAST)
        most = self.kernels // len(self.system.unknowns)
        meshing = Meshing(tiling, self.lines, limits, most, self.watched)
        return Run(self.system, meshing, tol, self.agenda, stride)


def evolve_patches(
    problem: Problem,
    tol: float,
    *,
    budget: Budget = DEFAULT,
    on_step: Callable[[TimeStep], None] | None = None,
) -> Solution:
    """Solve a problem in time in the plane on patches.

    Parameters
    ----------
    problem
        With a span of time and an initial state.
    tol
        Of the error at any moment, relative to max(1, max|u|).
    budget
        The most functions of all unknowns together.
    on_step
        Called with each step as it is taken.
    """
    system = plane_system(problem)
    assert problem.time is not None
    with blas_threads(1), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        agenda = agenda_of(plane_formulas(problem), problem.time)
        kernels = budget.kernels(MAX_KERNELS, FEWEST_KERNELS)
        course = _Course(system, tol, kernels, agenda, _lines(problem), _watched(problem))
        notes = system.contradictions(tol)
        way = best = _marched(course, _Way(notes=notes), on_step)
        while (share := way.stricter(tol)) is not None:
            way = _marched(course, _Way(notes=notes, share=share, number=way.number + 1), on_step)
            best = max(best, way, key=lambda w: w.merit(tol))
        return _solution(problem, course, best)


def _lines(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """Return where formulas jump or bend along each axis."""
    graphs = [*problem.equations, *(r for c in problem.conditions for r in c.residuals)]
    out = []
    for name, (low, high) in zip(
        problem.domain.coordinates, problem.domain.bounds.T.tolist(), strict=True
    ):
        found = np.unique(np.concatenate([places_along(g, name, low, high) for g in graphs]))
        out.append(found[(found > low) & (found < high)])
    return out[0], out[1]


def _watched(problem: Problem) -> FloatArray:
    """Return points at which states and data are looked at: spread, and where formulas tell."""
    told = crossings(problem)
    return np.concatenate([problem.domain.sample(SPREAD), told[problem.domain.contains(told)]])


def _marched(course: _Course, way: _Way, on_step: Callable[[TimeStep], None] | None) -> _Way:
    """Go to the end of time, or as far as it goes."""
    runs = course.run(way.share, STRIDE), course.run(STRICTER * way.share, 1.0)
    start, stop = runs[1].span
    now = start
    try:
        states: tuple[State, State] = begun(runs[0]), begun(runs[1])
        for step in compared(runs, states):
            way, now = _with_step(way, step), step.taken.stop
            if on_step:
                on_step(way.records[-1])
            way.require_found(course.tol, is_linear=course.system.is_linear)
    except KeyboardInterrupt:
        detail = f"Interrupted at t = {now:.6g} of {stop:.6g}."
        return replace(way, ended=Outcome(OutcomeKind.INTERRUPTED, detail))
    except (np.linalg.LinAlgError, EquationError):
        stuck = StuckError("the state is no longer finite")
        return replace(way, ended=stopped(stuck, way.marks, way.records, now, stop))
    except StuckError as stuck:
        return replace(way, ended=stopped(stuck, way.marks, way.records, now, stop))
    return way


def _with_step(way: _Way, step: Compared) -> _Way:
    taken = step.taken
    seen = [taken.basis.on_patches(own, (-1.0, 0.0, 1.0)) for own in taken.values[-1]]
    size = float(np.abs(seen).max())
    record = TimeStep(
        len(way.records),
        taken.stop,
        taken.stop - taken.start,
        taken.basis.size,
        step.error,
        step.iterations,
        step.seconds,
        Known(None, np.zeros((0, 2))),
    )
    return replace(
        way,
        kept=(*way.kept, (taken.stop, taken.basis, taken.values)),
        records=(*way.records, record),
        marks=(*way.marks, Mark(taken.start, taken.stop, size)),
    )


def _solution(problem: Problem, course: _Course, way: _Way) -> Solution:
    assert problem.time is not None
    tol, start = course.tol, problem.time[0]
    outcome = way.ended or finished(way.records, way.part(tol), way.estimate(tol), tol)
    if way.ended and way.ended.kind is not OutcomeKind.INTERRUPTED:
        count = way.part(tol).last
        outcome = replace(outcome, detail=f"{outcome.detail} {returned(way.records[:count])}")
        if count:
            way = replace(way, kept=way.kept[:count], records=way.records[:count])
    outcome = way.told(outcome, tol)
    kept = way.kept or (_standstill(course, way),)
    times = np.array([start, *(stop for stop, _, _ in kept)])
    basis = PatchworkInTime(times, tuple(own for _, own, _ in kept))
    weights = {
        name: np.concatenate([values[:, k].ravel() for _, _, values in kept])
        for k, name in enumerate(problem.unknowns)
    }
    reached = way.records[-1].time if way.records else start
    return Solution(
        Approximation(problem.coordinates, dict.fromkeys(problem.unknowns, basis), weights),
        SpaceTime(problem.domain, (start, reached)),
        Estimate(way.estimate(tol), _MEANING, way.since(tol)),
        outcome,
        tol,
        way.records,
        way.figures(tol),
        problem,
    )


def _standstill(course: _Course, way: _Way) -> tuple[float, PatchworkBasis, FloatArray]:
    """Return the initial state as a step, as well as it can be had, for a run that took none."""
    run = course.run(1.0, 1.0)
    cells = run.meshing.first()
    values = run.system.initial
    patches = tuple(c.patch for c in cells)
    found = taken_to(patches, lambda x: values(x)[0])
    stop = run.span[0] + float(np.spacing(run.span[0]))
    return stop, PatchworkBasis(patches), np.repeat(found[None], STAGES + 1, axis=0)
