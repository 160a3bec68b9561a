"""From a problem in time on an interval to its solution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.bases.radau import STAGES
from sharpfront.budget import DEFAULT, Budget
from sharpfront.equation.edges import places_along, switches
from sharpfront.equation.expression import TIME, Coordinate
from sharpfront.equation.graph import ordered
from sharpfront.evolve.checkpoint import Kept, packed_line, resumed_line
from sharpfront.evolve.degenerate_diffusion import with_diffusion
from sharpfront.evolve.discretisation import Discrete
from sharpfront.evolve.evolution import OnStep, evolved
from sharpfront.evolve.initial_state import Start, first_state
from sharpfront.evolve.line_steps import LineSteps
from sharpfront.evolve.march import StepTaken, steps
from sharpfront.evolve.mesh import Mesher
from sharpfront.evolve.run import Run, State
from sharpfront.evolve.run_log import STRICTER, TIGHTEST, RunLog
from sharpfront.evolve.run_start import begun
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.start_smoothing import just_after
from sharpfront.evolve.thresholds import without_thresholds
from sharpfront.evolve.time_events import TimeEvents, line_formulas, time_events_of
from sharpfront.evolve.time_system import Residual, TimeSystem, time_system
from sharpfront.kernels.basis import Basis
from sharpfront.pieces.elements import reference
from sharpfront.pieces.slabs import Slab, SlabBasis
from sharpfront.place.line.fronts import MOST_COMPONENTS
from sharpfront.problem import Problem
from sharpfront.solution import Solution
from sharpfront.trust.narrow_data_in_time import Watch

MAX_KERNELS, FEWEST_KERNELS = 12_000, 100
OF_TWO_RUNS = (
    "The largest difference at any moment to a weaker run along the same steps, with elements of "
    "one degree less and one stage less in a step, and what each step's polynomials in time leave "
    "out."
)


@dataclass(frozen=True, eq=False)
class LineCourse:
    """What holds for all runs of a problem on an interval."""

    system: TimeSystem  # equations and conditions
    smooth: TimeSystem  # the same as the strict run has them
    tol: float  # as it was asked for
    # At most.
    kernels: int
    components: int
    # What equations and conditions do with place and time.
    agenda: TimeEvents
    watches: tuple[Watch, ...]
    pins: FloatArray
    looks: tuple[bool, bool]

    means = OF_TWO_RUNS

    @cached_property
    def _discretes(self) -> tuple[Discrete, Discrete]:
        """What the weaker run and the strict one are made of, which has one more Gauss point."""
        order = self.system.continuity
        fewest = max(LINE_MARCH.points, order + 2)
        low, high = (reference(order, fewest + more) for more in (0, 1))
        weakly = _smooth(self.system, self.tol, strict=False)
        strict = Discrete(self.smooth, high)
        return strict.on(low) if weakly is self.smooth else Discrete(weakly, low), strict

    def run(self, share: float) -> Run:
        """Return a run for a share of the tolerance."""
        (weak, strict), system = self._discretes, self.system
        tables = strict.tables
        most = (self.kernels - tables.order) // tables.points
        mesher = Mesher(tables, system.periodic, self.pins, most, system.layers)
        tol = max(share * STRICTER * self.tol, TIGHTEST)
        return Run(strict, mesher, tol, self.agenda, self.watches, self.looks, weak)

    def begun(self, share: float, number: int) -> RunLog:
        """Return a run before its first step; the weaker one begins with a rounder state."""
        run = self.run(share)
        start, words = first_state(self.system, self.tol * share)
        state = self._begun(run, start)
        if self.system.constrained:
            # Conditions may ask for what constraints hold, which is known now.
            met, more = start.with_held(
                self.system, state.at, self.tol * share, just_after(*run.span)
            )
            state = state if met is None else self._begun(run, met)
            words = list(dict.fromkeys([*words, *more]))
        return RunLog(state, state, notes=tuple(words), share=share, number=number)

    def _begun(self, run: Run, start: Start) -> State:
        span = run.span
        return begun(run, start, start.blurred().values, span[0], just_after(*span))

    def steps(self, log: RunLog) -> Iterator[StepTaken]:
        """Yield the steps that follow."""
        return steps(LineSteps(self.run(log.share), self.components), log.state)

    def found(self, log: RunLog) -> tuple[dict[str, Basis], dict[str, FloatArray]]:
        """Return bases and weights of the unknowns."""
        unknowns, kept = self.system.problem.unknowns, log.kept or (_line_at_rest(log.state),)
        basis = SlabBasis(tuple(slab for slab, _ in kept))
        bases: dict[str, Basis] = {name: basis.of_unknown(i) for i, name in enumerate(unknowns)}
        weights = {
            name: np.concatenate([w[:, :, i].ravel() for _, w in kept])
            for i, name in enumerate(unknowns)
        }
        return bases, weights

    def packed(self, log: RunLog) -> dict[str, Any]:
        """Return a run as words and arrays."""
        return packed_line(log, self.system)


def _smooth(system: TimeSystem, tol: float, strict: bool = True) -> TimeSystem:
    """Return the system without jumps along unknowns, and with diffusion that does not vanish."""
    return with_diffusion(without_thresholds(system, tol, strict), tol, strict)


def course_of(system: TimeSystem, tol: float, budget: Budget) -> LineCourse:
    """Look at a problem before it is marched."""
    smooth = _smooth(system, tol)
    equations, conditions = line_formulas(smooth)
    agenda = time_events_of([*equations, *conditions], system.span)
    places = np.array([e.place[0] for e in agenda.events])
    ends = system.space, system.low, system.high
    pins = [places_along(e.expression, *ends) for e in system.equations]
    if system.layers is not None and system.layers.factors.shape[1] > 1:
        # Where slopes of each unknown bend in a way of its own, rows at ends do not know of that:
        # nodes keep their elements apart from those beside which slopes bend.
        first, last = system.layers.places[[0, -1]]
        pins.append(0.5 * np.array([system.low + first, last + system.high]))
    found = np.unique(np.concatenate(pins)) if pins and not system.periodic else np.zeros(0)
    return LineCourse(
        system,
        smooth,
        tol,
        budget.kernels(MAX_KERNELS, FEWEST_KERNELS),
        budget.parts(MOST_COMPONENTS),
        agenda,
        tuple(Watch(e, places) for e in equations if e.local_parts),
        found[(found > system.low) & (found < system.high)],
        (any(map(_may_hide, smooth.equations)), any(map(_may_hide, smooth.conditions))),
    )


def _may_hide(residual: Residual) -> bool:
    """Tell whether a formula may do something between the stages of a step: with t, at a switch."""
    nodes = ordered(residual.expression)
    timed = any(isinstance(n, Coordinate) and n.name == TIME for n in nodes)
    return timed or bool(switches(residual.expression))


def evolve_line(
    problem: Problem,
    tol: float,
    *,
    budget: Budget = DEFAULT,
    on_step: OnStep = None,
    resume: Solution | None = None,
) -> Solution:
    """Solve a problem in time on an interval, or go on with an interrupted solution of it.

    The tolerance is of the error at any moment, relative to max(1, max|u|).
    """
    system = time_system(problem)
    # What overflows on the way to a blow-up is noticed by what comes of it.
    with blas_threads(1), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        course = course_of(system, tol, budget)
        first = resumed_line(system, resume) if resume else course.begun(1.0, 1)
        return evolved(course, first, on_step)


def _line_at_rest(state: State) -> Kept:
    """Return the initial state as a slab, for a run that took no step."""
    stop = state.t + max(state.dt, float(np.spacing(state.t)))
    frame = replace(state.frame, velocities=np.zeros_like(state.frame.nodes))
    return Slab(state.t, stop, frame), np.repeat(state.values[None], STAGES + 1, axis=0)
