"""From a problem in time in the plane to its solution on patches."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.bases.in_time import KeptStep, joined_steps
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.radau import STAGES
from sharpfront.budget import DEFAULT, Budget
from sharpfront.errors import EquationError
from sharpfront.evolve.blow_up import StepRecord
from sharpfront.evolve.march_result import (
    STRICTER,
    TIGHTEST,
    Packed,
    ResumableRuns,
    marched,
    strict_enough,
)
from sharpfront.evolve.patchwork.cells import Meshing, taken_to
from sharpfront.evolve.patchwork.checkpoint import packed_patches, resumed_on_patches
from sharpfront.evolve.patchwork.front_direction import along_front, front_normal
from sharpfront.evolve.patchwork.jumping_values import JumpingValues
from sharpfront.evolve.patchwork.march import steps_on_patches
from sharpfront.evolve.patchwork.run import PatchRun, PatchStep
from sharpfront.evolve.patchwork.run_start import begun_on_patches, with_strips
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.wellposed import plane_system
from sharpfront.evolve.time_events import TimeEvents, plane_formulas, time_events_of
from sharpfront.history import Known, TimeStep
from sharpfront.place.formula_features import crossings
from sharpfront.place.patches.first_patches import edges_of_data
from sharpfront.place.patches.refine import Limits
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.problem import Problem
from sharpfront.solution import Solution
from sharpfront.trust.coverage import refuse_gaps

MOST_ON_PATCHES, FEWEST_ON_PATCHES = 40_000, 200
# Points spread over the domain at which initial states are looked at besides those of patches.
EVENLY = 4096
# Functions along an axis that resolved patches keep.
KEPT_FUNCTIONS = 6
_OF_THE_WEAKER_RUN = (
    "The largest difference at the ends of steps to a second run on the same patches, with fewer "
    "functions and a stage less, and what each step's polynomials in time leave out."
)


@dataclass(frozen=True, eq=False)
class _Course:
    """What holds for all runs of a problem."""

    system: PlaneSystem
    tol: float
    kernels: int
    agenda: TimeEvents
    lines: tuple[FloatArray, FloatArray]
    watched: FloatArray
    tiling: Tiling
    jumping: JumpingValues

    @property
    def settles(self) -> bool:
        """Whether layers grow along sides from a start, or later at once."""
        system, span = self.system, self.system.problem.time
        assert span is not None
        moments = (span[0], *self.agenda.stops.tolist())
        return max(system.orders) < 2 and (
            any(system.jumps(t, self.tol) for t in moments) or system.misses_slopes(self.tol)
        )

    def run(self, share: float) -> PatchRun:
        """Return a run that is stricter than a share of the tolerance."""
        tol = max(STRICTER * share * self.tol, TIGHTEST)
        settings = SETTINGS
        limits = Limits(settings.functions(tol), settings.most(tol, 2), KEPT_FUNCTIONS)
        most = self.kernels // len(self.system.unknowns)
        meshing = Meshing(self.tiling, self.lines, limits, most, self.watched)
        return PatchRun(self.system, meshing, tol, self.agenda, self.jumping)


def evolve_patches(
    problem: Problem,
    tol: float,
    *,
    budget: Budget = DEFAULT,
    on_step: Callable[[TimeStep], None] | None = None,
    resume: Solution | None = None,
) -> Solution:
    """Solve a problem in time in the plane on patches, or go on with an interrupted solution.

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
    resume
        An interrupted solution of the same problem, or one that ended earlier.
    """
    system = plane_system(problem)
    with blas_threads(1), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        course = _course(system, tol, budget)
        refuse_gaps(problem.domain, [c.patch for c in course.run(1.0).meshing.first()])
        first = resumed_on_patches(course.run(1.0), resume) if resume else _begun(course, 1.0, 1)
        best = strict_enough(
            first,
            partial(_begun, course),
            lambda way: _marched_there(course, way, on_step),
            tol,
        )
        return _solution_on_patches(problem, course, best)


def leans(problem: Problem, tol: float, budget: Budget) -> bool:
    """Tell whether a problem in a box begins with a front that patches along it hold better."""
    system = PlaneSystem(problem)
    with blas_threads(1), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if front_normal(system) is None:
            return False
        return _course(plane_system(problem), tol, budget).tiling.normal is not None


def _course(system: PlaneSystem, tol: float, budget: Budget) -> _Course:
    """Return what holds for all runs of a problem."""
    problem = system.problem
    assert problem.time is not None
    agenda = time_events_of(plane_formulas(problem), problem.time)
    kernels = budget.kernels(MOST_ON_PATCHES, FEWEST_ON_PATCHES)
    tiling = tiling_of(problem.domain)
    assert tiling is not None
    jumping = JumpingValues.of(system, tiling, agenda.stops.tolist(), tol)
    tiling = replace(tiling, marked=jumping.places)
    own = _lines(problem), jumping.away(_looked_at_points(problem)), tiling, jumping
    course = _Course(system, tol, kernels, agenda, *own)
    if course.settles:
        return replace(course, tiling=with_strips(course.run(1.0)))
    leaning = along_front(course.run(1.0))
    return course if leaning is None else replace(course, tiling=leaning.meshing.tiling)


def _lines(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """Return where formulas jump or bend along each axis."""
    out = []
    for name, (low, high) in zip(
        problem.domain.coordinates, problem.domain.bounds.T.tolist(), strict=True
    ):
        found = np.unique(edges_of_data(problem, name, low, high))
        out.append(found[(found > low) & (found < high)])
    return out[0], out[1]


def _looked_at_points(problem: Problem) -> FloatArray:
    """Return points at which states and data are looked at: spread, and where formulas tell."""
    told = crossings(problem)
    return np.concatenate([problem.domain.sample(EVENLY), told[problem.domain.contains(told)]])


def _begun(course: _Course, share: float, number: int) -> ResumableRuns:
    """Return a run before it has begun."""
    notes, system = course.system.contradictions(course.tol), course.system
    # What such a moment does to a solution fades as what a start does.
    notes += tuple(
        f"the condition on {part!r} jumps by {by:.1e} at t = {stop:.6g}"
        for stop in course.agenda.stops.tolist()
        for part, by in system.jumps(stop, course.tol)
    )
    return ResumableRuns(None, None, notes=notes, share=share, number=number)


def _marched_there(
    course: _Course, way: ResumableRuns, on_step: Callable[[TimeStep], None] | None
) -> ResumableRuns:
    """Go on to the end of time, or as far as it goes."""
    assert course.system.problem.time is not None
    start = course.system.problem.time[0]
    return marched(
        course,
        way,
        _patch_steps(course, way),
        on_step,
        lambda way: way.kept[-1][0] if way.kept else start,
        (np.linalg.LinAlgError, EquationError),
    )


def _patch_steps(course: _Course, way: ResumableRuns) -> Iterator[ResumableRuns]:
    """Yield what there is after each step."""
    course.jumping.require_held()
    began, run = clock.perf_counter(), course.run(way.share)
    for taken in steps_on_patches(run, way.pair or begun_on_patches(run)):
        way = _with_patch_step(course, way, taken, clock.perf_counter() - began)
        yield way
        began = clock.perf_counter()


def _with_patch_step(
    course: _Course, way: ResumableRuns, taken: PatchStep, seconds: float
) -> ResumableRuns:
    seen = [taken.basis.on_patches(own, (-1.0, 0.0, 1.0)) for own in taken.values[-1]]
    size = float(np.abs(seen).max())
    record = TimeStep(
        len(way.records),
        taken.stop,
        taken.stop - taken.start,
        taken.basis.size,
        taken.error,
        taken.iterations,
        seconds,
        Known(None, np.zeros((0, 2))),
    )
    return way.further(
        taken.after,
        course.tol,
        kept=(*way.kept, (taken.stop, taken.basis, taken.values, taken.drift)),
        records=(*way.records, record),
        marks=(*way.marks, StepRecord(taken.start, taken.stop, size)),
    )


def _solution_on_patches(problem: Problem, course: _Course, way: ResumableRuns) -> Solution:
    way, outcome = way.concluded(course.tol)
    assert problem.time is not None
    found = joined_steps(problem.time[0], problem.unknowns, way.kept or (_standstill(course),))
    can_go_on = way.records and way.pair.t == way.records[-1].time
    checkpoint = Packed(partial(packed_patches, way, problem)) if can_go_on else None
    return way.solution(problem, course.tol, outcome, found, _OF_THE_WEAKER_RUN, checkpoint)


def _standstill(course: _Course) -> KeptStep:
    """Return the initial state as a step, as well as it can be had, for a run that took none."""
    run = course.run(1.0)
    cells = run.meshing.first()
    values = run.system.initial
    patches = tuple(c.patch for c in cells)
    found = taken_to(patches, lambda x: values(x)[0])
    stop = run.span[0] + float(np.spacing(run.span[0]))
    return stop, PatchworkBasis(patches), np.repeat(found[None], STAGES + 1, axis=0), None
