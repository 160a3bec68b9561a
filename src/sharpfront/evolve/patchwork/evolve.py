"""From a problem in time in the plane to its solution on patches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.bases.in_time import KeptStep, joined_steps
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.radau import STAGES
from sharpfront.budget import DEFAULT, Budget
from sharpfront.evolve.evolution import OnStep, evolved
from sharpfront.evolve.march import StepTaken, steps
from sharpfront.evolve.patchwork.cells import Meshing, off_sides, taken_to
from sharpfront.evolve.patchwork.checkpoint import packed_patches, resumed_on_patches
from sharpfront.evolve.patchwork.front_direction import starting_front
from sharpfront.evolve.patchwork.given_data import lines_of, looked_at_points
from sharpfront.evolve.patchwork.jumping_values import JumpingValues
from sharpfront.evolve.patchwork.materials import (
    Materials,
    along_materials,
    require_same_at_all_times,
)
from sharpfront.evolve.patchwork.patch_steps import PatchSteps
from sharpfront.evolve.patchwork.run import PatchRun
from sharpfront.evolve.patchwork.run_start import begun_on_patches, with_strips
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.wellposed import plane_system
from sharpfront.evolve.run_log import STRICTER, TIGHTEST, RunLog
from sharpfront.evolve.time_events import TimeEvents, plane_formulas, time_events_of
from sharpfront.kernels.basis import Basis
from sharpfront.place.patches.refine import Limits
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.place.tiling.leaning import leaning_tiling
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.problem import Problem
from sharpfront.solution import Solution
from sharpfront.trust.coverage import refuse_gaps

MOST_ON_PATCHES, FEWEST_ON_PATCHES = 40_000, 200
# Functions along an axis that resolved patches keep.
KEPT_FUNCTIONS = 6
OF_THE_WEAKER_RUN = (
    "The largest difference at the ends of steps to a second run on the same patches, with fewer "
    "functions and a stage less, and what each step's polynomials in time leave out."
)


@dataclass(frozen=True, eq=False)
class PatchCourse:
    """What holds for all runs of a problem on patches."""

    system: PlaneSystem
    tol: float
    kernels: int
    agenda: TimeEvents
    lines: tuple[FloatArray, FloatArray]
    watched: FloatArray
    tiling: Tiling
    jumping: JumpingValues
    materials: Materials | None = None

    means = OF_THE_WEAKER_RUN

    @property
    def settles(self) -> bool:
        """Whether layers grow along sides from a start, or later at once."""
        system, span = self.system, self.system.problem.time
        assert span is not None
        moments = (span[0], *self.agenda.stops.tolist())
        return max(system.orders) < 2 and (
            any(system.jumps(t, self.tol) for t in moments)
            or system.misses_slopes(self.tol)
            # Straight sides gain nothing by it.
            or (not system.problem.domain.is_box and system.misses_rates(self.tol))
        )

    def run(self, share: float) -> PatchRun:
        """Return a run that is stricter than a share of the tolerance."""
        tol = max(STRICTER * share * self.tol, TIGHTEST)
        settings = SETTINGS
        limits = Limits(settings.functions(tol), settings.most(tol, 2), KEPT_FUNCTIONS)
        most = self.kernels // len(self.system.unknowns)
        waves = max(self.system.orders) > 1
        cuts, functions = (
            (self.materials.cuts, self.materials.functions) if self.materials else ({}, ())
        )
        meshing = Meshing(self.tiling, self.lines, limits, most, self.watched, waves, cuts)
        return PatchRun(self.system, meshing, tol, self.agenda, self.jumping, functions)

    def begun(self, share: float, number: int) -> RunLog:
        """Return a run before it has begun."""
        notes = self.system.contradictions(self.tol)
        # What such a moment does to a solution fades as what a start does.
        notes += tuple(
            f"the condition on {part!r} jumps by {by:.1e} at t = {stop:.6g}"
            for stop in self.agenda.stops.tolist()
            for part, by in self.system.jumps(stop, self.tol)
        )
        return RunLog(notes=notes, share=share, number=number)

    def steps(self, log: RunLog) -> Iterator[StepTaken]:
        """Yield the steps that follow."""
        self.jumping.require_held()
        run = self.run(log.share)
        yield from steps(PatchSteps(run), log.state or begun_on_patches(run))

    def found(self, log: RunLog) -> tuple[dict[str, Basis], dict[str, FloatArray]]:
        """Return bases and weights of the unknowns."""
        problem, kept = self.system.problem, log.kept or (_standstill(self),)
        assert problem.time is not None
        return joined_steps(problem.time[0], problem.unknowns, kept)

    def packed(self, log: RunLog) -> dict[str, Any]:
        """Return a run as words and arrays."""
        return packed_patches(log, self.system.problem)


def evolve_patches(
    problem: Problem,
    tol: float,
    *,
    budget: Budget = DEFAULT,
    on_step: OnStep = None,
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
        course = course_on_patches(system, tol, budget)
        refuse_gaps(problem.domain, [c.patch for c in course.run(1.0).meshing.first()])
        run = course.run(1.0)
        first = resumed_on_patches(run, resume) if resume else course.begun(1.0, 1)
        return evolved(course, first, on_step)


def course_on_patches(system: PlaneSystem, tol: float, budget: Budget) -> PatchCourse:
    """Return what holds for all runs of a problem."""
    problem = system.problem
    assert problem.time is not None
    agenda = time_events_of(plane_formulas(problem), problem.time)
    kernels = budget.kernels(MOST_ON_PATCHES, FEWEST_ON_PATCHES)
    tiling = tiling_of(problem.domain)
    assert tiling is not None
    jumping = JumpingValues.of(system, tiling, agenda.stops.tolist(), tol)
    tiling = replace(tiling, marked=jumping.places)
    own = lines_of(problem), jumping.away(looked_at_points(problem)), tiling, jumping
    course = PatchCourse(system, tol, kernels, agenda, *own)
    if problem.is_singular:
        materials = along_materials(course.run(1.0))
        course = replace(course, tiling=materials.tiling, materials=materials)
        require_same_at_all_times(course.run(1.0))
    if problem.is_singular or any(len(own) for own in course.lines):
        patches = [c.patch for c in course.run(1.0).meshing.first()]
        course = replace(course, watched=off_sides(patches, course.watched))
    if course.settles:
        return replace(course, tiling=with_strips(course.run(1.0)))
    front = starting_front(system) if course.run(1.0).follows else None
    if front is None:
        return course
    watched = np.concatenate([course.watched, front.places])
    return replace(course, tiling=leaning_tiling(front.box, front.normal), watched=watched)


def _standstill(course: PatchCourse) -> KeptStep:
    """Return the initial state as a step, as well as it can be had, for a run that took none."""
    run = course.run(1.0)
    cells = run.meshing.first()
    values = run.system.initial
    patches = tuple(c.patch for c in cells)
    found = taken_to(patches, lambda x: values(x)[0])
    stop = run.span[0] + float(np.spacing(run.span[0]))
    return stop, PatchworkBasis(patches), np.repeat(found[None], STAGES + 1, axis=0), None
