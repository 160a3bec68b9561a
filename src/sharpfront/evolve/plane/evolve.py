"""From a problem in time in the plane to its solution."""

from __future__ import annotations

import time as clock
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.bases.in_time import joined_steps
from sharpfront.bases.radau import STAGES
from sharpfront.budget import DEFAULT, Budget
from sharpfront.errors import EquationError, Outcome, OutcomeKind
from sharpfront.evolve.blow_up import StepRecord
from sharpfront.evolve.march_result import Packed, ResumableRuns, marched, strict_enough
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.wellposed import require_forward
from sharpfront.evolve.plane.checkpoint import packed_march, resumed_march
from sharpfront.evolve.plane.kernel_growth import (
    FEWEST_PRODUCTS,
    begun_march,
    bound_of,
    enlarged,
    grown,
    sees_events,
    too_large,
)
from sharpfront.evolve.plane.march import Aim, Limits, March, Slab, attempt, functions_of
from sharpfront.evolve.termination import CRAWLED, StuckError, check_progress
from sharpfront.evolve.time_events import plane_formulas, time_events_of
from sharpfront.history import Known, TimeStep
from sharpfront.maps import MovingAxis
from sharpfront.mixture import Mixture
from sharpfront.problem import Problem
from sharpfront.solution import Solution

MOST_IN_PLANE = 3000
# Components along each axis: tried are none up to these.
COMPONENTS = 2
# Points at which the size of the initial state is taken.
_SIZED = 4096
# A run is given up for a stricter one once its estimate is so many tolerances: what errors that are
# carried into a front do there grows with the time that they take.
GIVEN_UP = 3.0
_OF_ERROR_EQUATION = (
    "The largest error at any moment: the error equation, with the residual of the solution on its "
    "right, stepped along in richer products of kernels; what the initial state and each new "
    "placement of kernels miss, and a tenth of each slab's last coefficient in time, are added."
)


@dataclass(frozen=True, eq=False)
class _OneRun(ResumableRuns):
    """A run without a second one."""

    def concluded(self, tol: float) -> tuple[_OneRun, Outcome]:
        """Return the run up to where it can be trusted, and how it ended."""
        way, outcome = super().concluded(tol)
        if self.pair.limited and outcome.kind is OutcomeKind.ERROR_GROWTH:
            outcome = replace(outcome, kind=OutcomeKind.KERNEL_LIMIT)
        return way, outcome

    def figures(self, tol: float) -> dict[str, float]:
        """Return what is counted; there is no second run with a tolerance of its own."""
        return {k: v for k, v in super().figures(tol).items() if k != "step_tolerance"}

    def stricter(self, tol: float) -> float | None:
        """Return the share of tol for another run; of no use where kernels are at their limit."""
        return None if self.pair.limited else super().stricter(tol)


def evolve_plane(
    problem: Problem,
    tol: float,
    *,
    budget: Budget = DEFAULT,
    on_step: Callable[[TimeStep], None] | None = None,
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
        Asked where products do not hold the start: a solution with steps, or none of that.
    """
    system = PlaneSystem(problem)
    require_forward(system)
    assert problem.time is not None
    kernels = budget.kernels(MOST_IN_PLANE, FEWEST_PRODUCTS)
    with blas_threads(1):
        start = system.initial(problem.domain.sample(_SIZED))[0]
        agenda = time_events_of(plane_formulas(problem), problem.time)
        limits = Limits(kernels, budget.parts(COMPONENTS))
        aim = Aim(system, tol, max(1.0, float(np.abs(start).max())), agenda, limits)
        if resume:
            first = _OneRun(**vars(resumed_march(system, resume)))
        else:
            first = _begun_run(aim, 1.0, 1)
        if first.pair.limited and not first.records:
            other = instead()
            if other is not None and other.history:
                return other
        way = strict_enough(
            first, partial(_begun_run, aim), lambda way: _marched_on(way, aim, on_step), tol
        )
        return _solution_in_products(problem, tol, way)


def _begun_run(aim: Aim, share: float, number: int) -> _OneRun:
    """Return a run with a share of the tolerance before its first step."""
    march = begun_march(replace(aim, part=share))
    return _OneRun(march, march, share=share, number=number)


def _marched_on(way: _OneRun, aim: Aim, on_step: Callable[[TimeStep], None] | None) -> _OneRun:
    """Go on to the end of time, or as far as it goes."""
    further = _slabs(way, replace(aim, part=way.share))
    lost = (np.linalg.LinAlgError, EquationError)
    return marched(aim, way, further, on_step, lambda way: way.pair.t, lost)


def _slabs(way: _OneRun, aim: Aim) -> Iterator[_OneRun]:
    """Yield what there is after each step."""
    times: deque[float] = deque(maxlen=CRAWLED)
    while way.pair.t < aim.span[1]:
        check_progress(times, way.pair.t, aim.span[1])
        way = _slab_taken(way, aim)
        yield way
        error = way.records[-1].error_estimate
        if error > GIVEN_UP * aim.tol and way.stricter(aim.tol) is not None:
            words = f"the estimated error has grown to {error:.1e}"
            raise StuckError(words, OutcomeKind.ERROR_GROWTH)


def _slab_taken(way: _OneRun, aim: Aim) -> _OneRun:
    """Take one step, with shorter slabs and more kernels until it holds."""
    started, march, updates = clock.perf_counter(), way.pair, 0
    tol, scale, aim = aim.tol, aim.scale, _counted(march, aim)
    before = bound_of(aim.domain, march)
    while True:
        slab = attempt(march, aim)
        if not isinstance(slab, Slab):
            march = replace(march, dt=slab)
            continue
        updates += slab.stages.updates
        blind = not sees_events(slab, aim)
        if march.limited or not (blind or too_large(march, before, slab, aim)):
            break
        more = enlarged(march, aim) if blind else grown(march, slab, aim)
        if more is None and blind:
            words = f"{march.product.size} kernels do not see all data that stand out"
            raise StuckError(words, OutcomeKind.KERNEL_LIMIT)
        if more is None:
            slab = replace(slab, after=replace(slab.after, limited=True))
            break
        march = more
    square, after = slab.galerkin.square, slab.after
    record = TimeStep(
        len(way.records),
        after.t,
        slab.dt,
        square.product.size,
        (max(slab.error.largest, before) + after.lost) / scale,
        updates,
        clock.perf_counter() - started,
        Known(*_components(after.layout.maps, square.axes)),
    )
    states = slab.stages.states
    mark = StepRecord(slab.galerkin.start, after.t, square.largest(states[-1], slab.dt))
    return way.further(
        after,
        tol,
        kept=(*way.kept, (after.t, square.product, states[:, None], square.layout)),
        records=(*way.records, record),
        marks=(*way.marks, mark),
    )


def _counted(march: March, aim: Aim) -> Aim:
    """Return the aim from where a march stands on."""
    square = functions_of(aim.domain, march.layout, march.product).square
    grid = square.grid(0.0)
    values = square.product.on_grid(march.weights).ravel()
    return aim.counted(grid.points, values, march.t)


def _components(
    maps: tuple[MovingAxis, MovingAxis], axes: tuple[int, int]
) -> tuple[Mixture | None, FloatArray]:
    """Return the components of both axes as Gaussians in the plane, and their speeds, (K, 2).

    A component of one axis is as wide as the domain along the other.
    """
    weights, means, covariances, speeds = [], [], [], []
    for i, (own, other) in enumerate(zip(maps, maps[::-1], strict=True)):
        c = own.moving
        for k in range(c.count):
            along = np.zeros(2)
            along[axes[i]], along[axes[1 - i]] = c.slopes[k], 1.0
            across = np.zeros(2)
            across[axes[i]] = c.deviations[k]
            mean = np.zeros(2)
            middle = 0.5 * (other.low + other.high)
            mean[axes[i]], mean[axes[1 - i]] = (
                c.means[k] + c.slopes[k] * (middle - own.pivot),
                middle,
            )
            weights.append(c.weights[k])
            means.append(mean)
            covariances.append(
                np.outer(across, across) + other.length**2 / 12.0 * np.outer(along, along)
            )
            speeds.append(across / c.deviations[k] * c.speeds[k])
    if not weights:
        return None, np.zeros((0, 2))
    mixture = Mixture(np.array(weights) / np.sum(weights), np.array(means), np.array(covariances))
    return mixture, np.array(speeds)


def _solution_in_products(problem: Problem, tol: float, way: _OneRun) -> Solution:
    way, outcome = way.concluded(tol)
    kept, m = way.kept, way.pair
    if not kept:
        # A run that took no step: the initial state stands still.
        stop = m.t + max(m.dt, float(np.spacing(m.t)))
        states = np.repeat(m.weights[None, None], STAGES + 1, axis=0)
        kept = ((stop, m.product, states, m.layout),)
    assert problem.time is not None
    found = joined_steps(problem.time[0], problem.unknowns, kept)
    can_go_on = not way.records or m.t == way.records[-1].time
    checkpoint = Packed(partial(packed_march, way, problem)) if can_go_on else None
    return way.solution(problem, tol, outcome, found, _OF_ERROR_EQUATION, checkpoint)
