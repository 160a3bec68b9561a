"""From a problem in time in a box to its solution in products of kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.bases.in_time import joined_steps
from sharpfront.bases.radau import STAGES
from sharpfront.budget import DEFAULT, Budget
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.evolution import OnStep, evolved
from sharpfront.evolve.march import StepTaken, steps
from sharpfront.evolve.patchwork.given_data import looked_at_points
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.wellposed import require_forward
from sharpfront.evolve.plane.checkpoint import packed_products, resumed_in_products
from sharpfront.evolve.plane.kernel_growth import FEWEST_PRODUCTS, begun_march, misses_data
from sharpfront.evolve.plane.product_steps import ProductSteps
from sharpfront.evolve.plane.run import Aim, Limits
from sharpfront.evolve.plane.settings import PRODUCTS
from sharpfront.evolve.run_log import RunLog
from sharpfront.evolve.termination import StuckError
from sharpfront.evolve.time_events import plane_formulas, time_events_of
from sharpfront.kernels.basis import Basis
from sharpfront.problem import Problem
from sharpfront.solution import Solution

MOST_IN_PLANE = 3000
# Components along each axis: tried are none up to these.
COMPONENTS = 2
OF_ERROR_EQUATION = (
    "The largest error at any moment: the error equation, with the residual of the solution on its "
    "right, stepped along in richer products of kernels; what they miss of the initial state, and "
    "a tenth of each slab's last coefficient in time, are added."
)


@dataclass(frozen=True, eq=False)
class ProductCourse:
    """What holds for all runs of a problem in products of kernels."""

    aim: Aim

    means = OF_ERROR_EQUATION

    @property
    def system(self) -> PlaneSystem:
        """What is marched."""
        return self.aim.system

    @property
    def tol(self) -> float:
        """As it was asked for."""
        return self.aim.tol

    def begun(self, share: float, number: int) -> RunLog:
        """Return a run before its first step; there is no weaker one."""
        state = begun_march(replace(self.aim, part=share))
        return RunLog(
            state, state, share=share, number=number, strictness=1.0, limited=state.limited
        )

    def steps(self, log: RunLog) -> Iterator[StepTaken]:
        """Yield the steps that follow, until a stricter run is of more use."""
        for taken in steps(ProductSteps(replace(self.aim, part=log.share)), log.state):
            yield taken
            lost = taken.error > PRODUCTS.given_up * self.tol and not taken.limited
            if lost and log.share_for(taken.error, self.tol) is not None:
                words = f"the estimated error has grown to {taken.error:.1e}"
                raise StuckError(words, OutcomeKind.ERROR_GROWTH)

    def found(self, log: RunLog) -> tuple[dict[str, Basis], dict[str, FloatArray]]:
        """Return the basis and weights; of a run that took no step the initial state."""
        problem, kept, state = self.system.problem, log.kept, log.state
        if not kept:
            stop = state.t + max(state.dt, float(np.spacing(state.t)))
            states = np.repeat(state.weights[None, None], STAGES + 1, axis=0)
            kept = ((stop, state.product, states, state.layout),)
        assert problem.time is not None
        return joined_steps(problem.time[0], problem.unknowns, kept)

    def packed(self, log: RunLog) -> dict[str, Any]:
        """Return a run as words and arrays."""
        return packed_products(log, self.system.problem)


def evolve_plane(
    problem: Problem,
    tol: float,
    *,
    budget: Budget = DEFAULT,
    on_step: OnStep = None,
    resume: Solution | None = None,
    instead: Callable[[], Solution | None] = lambda: None,
) -> Solution:
    """Solve a problem in time in a box.

    Parameters
    ----------
    problem
        With a span of time and an initial state; one unknown, of first order in time and of second
        in space.
    tol
        Of the error at any moment, relative to max(1, max|u|).
    budget
        The most kernels, and the most components along each axis.
    on_step
        Called with each step as it is taken.
    resume
        A solution of the same problem that was interrupted.
    instead
        Asked where products do not hold the start, or miss data: a solution with steps, or none of
        that.
    """
    system = PlaneSystem(problem)
    require_forward(system)
    with blas_threads(1):
        course = product_course(system, tol, budget)
        first = resumed_in_products(system, resume) if resume else course.begun(1.0, 1)
        blind = not first.records and misses_data(course.aim, first.state)
        if (first.limited or blind) and not first.records:
            other = instead()
            if other is not None and other.history:
                return other
        return evolved(course, first, on_step)


def product_course(system: PlaneSystem, tol: float, budget: Budget) -> ProductCourse:
    """Return what holds for all runs of a problem."""
    problem = system.problem
    assert problem.time is not None
    start = system.initial(problem.domain.sample(PRODUCTS.inside))[0]
    agenda = time_events_of(plane_formulas(problem), problem.time)
    watched = looked_at_points(problem)
    limits = Limits(budget.kernels(MOST_IN_PLANE, FEWEST_PRODUCTS), budget.parts(COMPONENTS))
    return ProductCourse(
        Aim(system, tol, max(1.0, float(np.abs(start).max())), agenda, limits, watched)
    )
