"""Steps of Rothe's method: as long, and of the order, as what they leave allows.

Backward differences: at the end of a step u_t is that of the polynomial through the new level and
those before it, which turns u_t = F(u) into a stationary problem a u + g = F(u) with a known g. A
formula leaves what a new level is away from the polynomial through those before it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray, remembered
from sharpfront.bases.levels import lagrange
from sharpfront.equation.expression import (
    TIME,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Function,
    Leaf,
    apply_function,
)
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.linearise import substitute
from sharpfront.equation.trace import Symbols
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.march import Stepper, StepTaken, StepTrial
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.run_log import TIGHTEST
from sharpfront.evolve.termination import StuckError
from sharpfront.evolve.time_events import TimeEvents
from sharpfront.history import Known
from sharpfront.kernels.basis import PlacedBasis
from sharpfront.problem import Problem
from sharpfront.solution import Solution

# Sets of points at which a level is remembered: those of surveys are the same at all moments.
_REMEMBERED = 8


@dataclass(frozen=True, eq=False)
class Level:
    """The unknowns at a moment: those of a solution, or the initial state."""

    t: float
    solution: Solution | None
    problem: Problem

    @remembered(_REMEMBERED)
    def values(self, unknown: str, points: FloatArray) -> FloatArray:
        """Return an unknown at points, (m,)."""
        if self.solution is not None:
            none = (0,) * points.shape[1]
            return self.solution.approximation.values(unknown, points, none)
        assert self.problem.initial is not None
        return self.problem.initial.values(unknown, points)


def summed(
    levels: Sequence[Level], shares: FloatArray, unknown: str, points: FloatArray
) -> FloatArray:
    """Return a weighted sum of levels, (m,)."""
    pairs = zip(shares, levels, strict=True)
    return np.asarray(sum(s * level.values(unknown, points) for s, level in pairs))


def through(levels: Sequence[Level], t: float, unknown: str, points: FloatArray) -> FloatArray:
    """Return the polynomial in time through levels at a moment, (m,)."""
    shares = lagrange(np.array([level.t for level in levels]), np.array([t]))[:, 0]
    return summed(levels, shares, unknown, points)


def at_moment(problem: Problem, before: Sequence[Level], t: float) -> Problem:
    """Return the stationary problem at the end of a step, with levels before it."""
    space = problem.domain.coordinates
    names = [Coordinate(name, space) for name in space]
    times = np.array([*(level.t for level in before), t])
    shares = lagrange(times, np.array([t]), 1)[:, 0]

    def known(unknown: str) -> Expression:
        def values(*columns: Any) -> FloatArray:
            wide = np.broadcast_arrays(*columns)
            points = np.stack([c.ravel() for c in wide], axis=1)
            return summed(before, shares[:-1], unknown, points).reshape(wide[0].shape)

        return apply_function(Function(f"{unknown}_before", values), *names)

    rates = {u: known(u) for u in problem.unknowns}

    def put(leaf: Leaf) -> Expression:
        if isinstance(leaf, Coordinate):
            return Constant(t) if leaf.name == TIME else replace(leaf, coordinates=space)
        if not isinstance(leaf, Derivative):
            return leaf
        now = Derivative(leaf.unknown, space, leaf.orders[:-1])
        return float(shares[-1]) * now + rates[leaf.unknown] if leaf.orders[-1] else now

    def read(stated: Any) -> Any:
        return replace(stated, residuals=tuple(substitute(r, put) for r in stated.residuals))

    def inside(stated: Expression) -> Expression:
        found = substitute(stated, put)
        # In units of u, for penalties of conditions are weighed against that.
        rated = any(leaf.orders[-1] for leaf in derivatives_in(stated))
        return found / float(shares[-1]) if rated else found

    return problem.rewritten(
        time=None,
        initial=None,
        symbols=Symbols(problem.unknowns, space),
        equations=tuple(map(inside, problem.equations)),
        conditions=tuple(map(read, problem.conditions)),
        further=tuple(map(read, problem.further)),
        jumps=tuple(
            replace(read(j), equals=tuple(substitute(e, put) for e in j.equals))
            for j in problem.jumps
        ),
    )


# Solves a stationary problem to a tolerance, from a guess.
Stationary = Callable[[Problem, float, Solution | None], Solution]


@dataclass(frozen=True)
class RotheSettings:
    """Tuned numbers.

    Parameters
    ----------
    space, time
        Shares of a run's tolerance that a stationary solve and a step in time may leave. On four
        drawn problems half and twice as much for space changes nothing, for time a tenth of the
        steps; estimates are 4 to 20 times the errors with all of them.
    order
        The highest order; with the second alone twice to five times as many steps. Of the fifth
        formula waves of half the plane grow, and it saves an eighth of the steps.
    grow, shrink
        How much longer a step may be than the last one, and how much shorter after a rejection.
    first
        The first step as a share of the span, of the tolerance and of a unit.
    least
        No step is shorter than this share of the span.
    """

    space: float = 0.02
    time: float = 0.1
    order: int = 4
    grow: float = 3.0
    shrink: float = 0.2
    first: float = 1e-3
    least: float = 1e-14


SETTINGS = RotheSettings()


@dataclass(frozen=True, eq=False)
class RotheState:
    """A run between two steps."""

    levels: tuple[Level, ...]  # the last ones, none from before data jumped
    dt: float  # the step to try next
    order: int  # and its order
    last: float | None = None  # the length of the last step
    scale: float = 1.0  # max(1, max|u|) so far

    @property
    def t(self) -> float:
        """When."""
        return self.levels[-1].t


@dataclass(frozen=True, eq=False)
class RotheRun:
    """What holds for all steps of one run."""

    system: PlaneSystem
    stationary: Stationary
    tol: float  # relative to max(1, max|u|)
    agenda: TimeEvents
    spread: FloatArray  # points at which states are compared
    stride: float = 1.0  # share of a step to be taken where it is not errors that hold it short

    @property
    def problem(self) -> Problem:
        """As it was stated."""
        return self.system.problem

    @property
    def span(self) -> tuple[float, float]:
        """Start and stop."""
        assert self.problem.time is not None
        return self.problem.time

    @cached_property
    def moving(self) -> tuple[str, ...]:
        """The unknowns that have a rate."""
        pairs = zip(self.problem.unknowns, self.system.orders, strict=True)
        return tuple(name for name, order in pairs if order)

    def level(self, before: Sequence[Level], t: float) -> Level:
        """Return the level at a moment from some before it."""
        guess = before[-1].solution
        problem = at_moment(self.problem, before, t)
        tol = max(SETTINGS.space * self.tol, TIGHTEST)
        found = self.stationary(problem, tol, None if problem.is_linear else guess)
        if not found.converged:
            words = f"a step's problem was not solved to {tol:.1e}, {found.outcome.kind}"
            raise StuckError(words, found.outcome.kind)
        return Level(t, found, self.problem)

    def places(self, level: Level) -> FloatArray:
        """Return points at which a state is looked at."""
        assert level.solution is not None
        bases = level.solution.approximation.bases.values()
        own = [b for b in bases if isinstance(b, PlacedBasis)]
        points = np.concatenate([self.spread, *(np.asarray(b.centres) for b in own)])
        return points[self.problem.domain.contains(points)]


@dataclass(frozen=True, eq=False)
class RotheSteps(Stepper[RotheState]):
    """Steps of one run, each a stationary problem."""

    run: RotheRun

    shortest = SETTINGS.least

    def restarted(self, state: RotheState) -> tuple[RotheState, tuple[str, ...]]:
        """Return the run where data jump: what came before says nothing of what comes."""
        first = SETTINGS.first * self.run.tol * (self.run.span[1] - self.run.span[0])
        return replace(state, levels=state.levels[-1:], dt=first, order=1), ()

    def length(self, state: RotheState) -> float:
        """Return how long the next step is to be."""
        return self.run.agenda.fitted(
            state.t, state.dt, self.run.span[1], self.run.stride, state.last
        )

    def tried(self, state: RotheState, dt: float) -> StepTrial:
        """Return a step with its new level."""
        stop = self.run.agenda.settled(state.t + dt, self.run.span[1])
        try:
            level = self.run.level(state.levels[-state.order :], stop)
        except StuckError as stuck:
            if stuck.kind is not OutcomeKind.NEWTON:
                raise
            return StepTrial(dt, np.inf, 0, None)
        left, scale = _left(self.run, state, level)
        assert level.solution is not None
        solves = int(level.solution.diagnostics.get("newton_steps", 1))
        return StepTrial(dt, left[state.order], solves, (level, left, scale))

    def shorter(self, state: RotheState, trial: StepTrial, before: StepTrial | None) -> RotheState:
        """Return the run for a shorter step, of the order that allows the longest."""
        if trial.late == np.inf:
            return replace(state, dt=SETTINGS.shrink * trial.dt, order=1)
        _, left, _ = trial.found
        factors = {q: 0.8 * e ** (-1.0 / (q + 1)) for q, e in left.items() if q <= state.order}
        order = max(factors, key=lambda q: factors[q])
        factor = min(max(factors[order], SETTINGS.shrink), 0.8)
        return replace(state, dt=trial.dt * factor, order=order)

    def taken(self, state: RotheState, trial: StepTrial, iterations: int) -> StepTaken:
        """Return a step that stands; its error is what its polynomial leaves out."""
        level, left, scale = trial.found
        levels, after = _levels_after(state, level, left, scale)
        used = len(state.levels[-state.order :])
        functions = next(iter(level.solution.approximation.bases.values()))
        return StepTaken(
            state.t,
            level.t,
            after,
            left[used] * SETTINGS.time * self.run.tol if used in left else 0.0,
            iterations,
            functions.kernels,
            scale,
            levels,
            Known(None, np.zeros((0, functions.dimension))),
        )


def _left(run: RotheRun, state: RotheState, level: Level) -> tuple[dict[int, float], float]:
    """Return what formulas of each order leave, as shares of what they may, and the scale.

    That is how far the level is from the polynomial through those before it, by the length of the
    step over that of all of them.
    """
    points, before = run.places(level), state.levels
    new = {u: level.values(u, points) for u in run.moving}
    scale = max(state.scale, *(float(np.abs(v).max()) for v in new.values()))
    if before[-1].solution is None:
        # The first step may change nothing.
        change = max(np.abs(v - before[-1].values(u, points)).max() for u, v in new.items())
        return {1: float(change) / (SETTINGS.time * run.tol * scale)}, scale
    out = {}
    for q in range(1, min(SETTINGS.order, len(before) - 1) + 1):
        some = before[-q - 1 :]
        off = max(np.abs(v - through(some, level.t, u, points)).max() for u, v in new.items())
        share = (level.t - state.t) / (level.t - some[0].t)
        out[q] = float(share * off) / (SETTINGS.time * run.tol * scale)
    return out or {1: 0.0}, scale


def _levels_after(
    state: RotheState, level: Level, left: dict[int, float], scale: float
) -> tuple[tuple[Level, ...], RotheState]:
    """Return the levels that a step's polynomial goes through, and the run after it.

    The order that allows the longest step comes next.
    """
    levels = (*state.levels[-state.order :], level)
    used, dt = len(levels) - 1, level.t - state.t
    factors = {q: 0.8 * max(e, 1e-12) ** (-1.0 / (q + 1)) for q, e in left.items() if q <= used + 1}
    order = max(factors, key=lambda q: factors[q])
    grown = dt * min(factors[order], SETTINGS.grow)
    kept = (*state.levels, level)[-SETTINGS.order - 1 :]
    if levels[0].solution is None:
        # During the first step the state is that of its end.
        kept = levels = (level,)
        grown = dt
    return levels, RotheState(kept, grown, min(order, len(kept)), dt, scale)


def rothe_begun(run: RotheRun) -> RotheState:
    """Return a run before its first step."""
    first = SETTINGS.first * run.tol * (run.span[1] - run.span[0])
    return RotheState((Level(run.span[0], None, run.problem),), first, 1)
