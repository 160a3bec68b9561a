"""From a problem in time in the plane to its solution."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.bases.radau import STAGES
from sharpfront.budget import DEFAULT, Budget
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.evolve.ending import StuckError, stopped
from sharpfront.evolve.fingerprint import fingerprint, require_same
from sharpfront.evolve.marched import Marched
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.wellposed import require_forward
from sharpfront.evolve.plane.checkpoint import Statements, packed, unpacked
from sharpfront.evolve.plane.grow import (
    Limits,
    begun_march,
    bound_of,
    enlarged,
    fewest_kernels,
    grown,
    sees_events,
    too_large,
)
from sharpfront.evolve.plane.march import Aim, March, Slab, attempt, functions_of
from sharpfront.evolve.plane.statement import statement
from sharpfront.evolve.swelling import Swelling
from sharpfront.evolve.time_events import agenda_of, plane_formulas
from sharpfront.evolve.trail import Mark
from sharpfront.history import Known, TimeStep
from sharpfront.mixture import Mixture
from sharpfront.pieces.plane.basis import PlaneInTime, ProductSlab
from sharpfront.pieces.plane.moving import AxisMap
from sharpfront.problem import Problem
from sharpfront.solution import Solution

MOST_IN_PLANE = 3000
# Components along each axis: tried are none up to these.
COMPONENTS = 2
# Steps at most: a solution that takes more is not followed well.
MOST_STEPS = 1000
# Points along each side on which the size of the initial state is taken.
_SIZED = 60
_OF_ERROR_EQUATION = (
    "The largest error at any moment: the error equation, with the residual of the solution on its "
    "right, stepped along in richer products of kernels; what the initial state and each new "
    "placement of kernels miss, and a tenth of each slab's last coefficient in time, are added."
)


@dataclass(frozen=True, eq=False)
class _PlaneRunLog(Marched):
    """What a run has left behind; kept are slabs and the states of their stages."""

    march: March  # after the last step
    limited: bool = False  # whether more kernels were needed than there may be
    good: March | None = None  # after the last step that can be trusted

    def cut(self, count: int) -> _PlaneRunLog:
        """Return the way up to some of its steps, if it is known how to go on from there."""
        if self.good is None or self.good.t != self.records[count - 1].time:
            return self
        return replace(super().cut(count), march=self.good)

    def concluded(self, tol: float) -> tuple[_PlaneRunLog, Outcome]:
        """Return the run up to where it can be trusted, and how it ended."""
        way, outcome = super().concluded(tol)
        if self.ended is None and self.limited and outcome.kind is OutcomeKind.ERROR_GROWTH:
            outcome = replace(outcome, kind=OutcomeKind.KERNEL_LIMIT)
        return way, outcome

    def figures(self, tol: float) -> dict[str, float]:
        """Return what is counted; there is no second run with a tolerance of its own."""
        return {k: v for k, v in super().figures(tol).items() if k != "step_tolerance"}


def evolve_plane(
    problem: Problem,
    tol: float,
    *,
    budget: Budget = DEFAULT,
    on_step: Callable[[TimeStep], None] | None = None,
    resume: Solution | None = None,
) -> Solution:
    """Solve a problem in time in the plane.

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
    """
    statements = {axes: statement(problem, axes) for axes in ((0, 1), (1, 0))}
    require_forward(PlaneSystem(problem))
    kernels = budget.kernels(MOST_IN_PLANE, fewest_kernels(problem.domain))
    limits = Limits(kernels, budget.parts(COMPONENTS))
    with blas_threads(1):
        aim = _aim(problem, tol)
        way = _begin(problem, statements, aim, limits, resume)
        way = _marched(way, statements, aim, limits, on_step)
    return _solution(problem, tol, way)


def _aim(problem: Problem, tol: float) -> Aim:
    assert problem.time is not None
    low, high = problem.domain.bounds
    even = (np.arange(_SIZED) + 0.5) / _SIZED
    grid = np.stack(np.meshgrid(even, even), axis=-1).reshape(-1, 2)
    points = low + grid * (high - low)
    size = float(np.max(np.abs(_initial(problem, points[problem.domain.contains(points)]))))
    agenda = agenda_of(plane_formulas(problem), problem.time)
    return Aim(tol, max(1.0, size), problem.time, agenda, Swelling(problem))


def _initial(problem: Problem, points: FloatArray) -> FloatArray:
    assert problem.initial is not None
    return problem.initial.values(problem.unknowns[0], points)


def _begin(
    problem: Problem, statements: Statements, aim: Aim, limits: Limits, resume: Solution | None
) -> _PlaneRunLog:
    if resume is None:
        march = begun_march(problem.domain, aim, lambda p: _initial(problem, p), limits)
        # An initial state that is missed already takes more kernels than there may be.
        return _PlaneRunLog(march, limited=march.lost + bound_of(problem.domain, march) > aim.size)
    basis = next(iter(resume.approximation.bases.values()))
    saved = resume.checkpoint
    require_same(problem, saved)
    assert saved is not None and isinstance(basis, PlaneInTime)
    march = unpacked(saved["march"], statements)
    if march.t > aim.span[1]:
        raise ProblemError(
            f"The solution to resume has reached t = {march.t:.6g} already, beyond the end of "
            f"time, {aim.span[1]:.6g}."
        )
    records = tuple(r for r in resume.history if isinstance(r, TimeStep))
    if not records:
        return _PlaneRunLog(march)
    weights = resume.approximation.weights[problem.unknowns[0]]
    states = tuple(basis.states(weights, n) for n in range(len(basis.pieces)))
    marks = tuple(Mark(*map(float, row)) for row in np.asarray(saved["marks"]))
    kept = tuple(zip(basis.pieces, states, strict=True))
    limited = bool(saved["limited"])
    return _PlaneRunLog(march, limited, march, kept=kept, records=records, marks=marks)


def _marched(
    way: _PlaneRunLog,
    statements: Statements,
    aim: Aim,
    limits: Limits,
    on_step: Callable[[TimeStep], None] | None,
) -> _PlaneRunLog:
    """Go on to the end of time, or as far as it goes."""
    try:
        while way.march.t < aim.span[1]:
            if len(way.records) >= MOST_STEPS:
                raise StuckError(f"the end of time is not in sight after {MOST_STEPS} steps")
            way = _step(way, statements, aim, limits)
            if on_step:
                on_step(way.records[-1])
    except KeyboardInterrupt:
        detail = f"Interrupted at t = {way.march.t:.6g} of {aim.span[1]:.6g}."
        return replace(way, ended=Outcome(OutcomeKind.INTERRUPTED, detail))
    except StuckError as stuck:
        return replace(way, ended=stopped(stuck, way.marks, way.records, way.march.t, aim.span[1]))
    return way


def _step(way: _PlaneRunLog, statements: Statements, aim: Aim, limits: Limits) -> _PlaneRunLog:
    """Take one step, with shorter slabs and more kernels until it holds."""
    started, march, updates = clock.perf_counter(), way.march, 0
    scale, aim = aim.scale, _counted(statements, march, aim)
    before = bound_of(statements[march.layout.axes].problem.domain, march)
    while True:
        slab = attempt(statements[march.layout.axes], march, aim)
        if not isinstance(slab, Slab):
            march = replace(march, dt=slab)
            continue
        updates += slab.stages.updates
        blind = not sees_events(slab, aim)
        if way.limited or not (blind or too_large(march, before, slab, aim)):
            break
        domain = statements[march.layout.axes].problem.domain
        more = enlarged(march, limits) if blind else grown(domain, march, slab, aim, limits)
        if more is None and blind:
            words = f"{march.product.size} kernels do not see all data that stand out"
            raise StuckError(words, OutcomeKind.KERNEL_LIMIT)
        if more is None:
            way = replace(way, limited=True)
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
    piece = ProductSlab(slab.galerkin.start, after.t, square.axes, square.maps, square.product)
    states = slab.stages.states
    mark = Mark(slab.galerkin.start, after.t, square.largest(states[-1], slab.dt))
    way = replace(
        way,
        march=after,
        kept=(*way.kept, (piece, states)),
        records=(*way.records, record),
        marks=(*way.marks, mark),
    )
    return replace(way, good=after) if way.part(aim.tol).last == len(way.records) else way


def _counted(statements: Statements, march: March, aim: Aim) -> Aim:
    """Return the aim from where a march stands on."""
    domain = statements[march.layout.axes].problem.domain
    square = functions_of(domain, march.layout, march.product).square
    grid = square.grid(0.0)
    values = square.product.on_grid(march.weights).ravel()[grid.inside]
    return aim.counted(grid.points[grid.inside], values, march.t)


def _components(
    maps: tuple[AxisMap, AxisMap], axes: tuple[int, int]
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


def _solution(problem: Problem, tol: float, way: _PlaneRunLog) -> Solution:
    way, outcome = way.concluded(tol)
    kept, m = way.kept, way.march
    if not kept:
        # A run that took no step: the initial state stands still.
        stop = m.t + max(m.dt, float(np.spacing(m.t)))
        piece = ProductSlab(m.t, stop, m.layout.axes, m.layout.maps, m.product)
        kept = ((piece, np.repeat(m.weights[None], STAGES + 1, axis=0)),)
    basis = PlaneInTime(tuple(piece for piece, _ in kept))
    weights = {problem.unknowns[0]: np.concatenate([states.ravel() for _, states in kept])}
    checkpoint = {
        "problem": fingerprint(problem, m.t),
        "march": packed(m),
        "limited": way.limited,
        "marks": np.array(way.marks).reshape(-1, len(Mark._fields)),
    }
    found = dict.fromkeys(problem.unknowns, basis), weights
    return way.solution(problem, tol, outcome, found, _OF_ERROR_EQUATION, checkpoint)
