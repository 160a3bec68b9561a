"""Steps on a line: how long, on which elements, and whether one may stand."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import left_out
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.embedded_run import difference, followed, inside
from sharpfront.evolve.initial_state import Start
from sharpfront.evolve.march import Stepper, StepTaken, StepTrial
from sharpfront.evolve.node_velocity import shortening, velocities
from sharpfront.evolve.radau_step import Step
from sharpfront.evolve.rates import consistent, first_rates
from sharpfront.evolve.remeshing import (
    allowed,
    known,
    measured,
    nodal,
    placed,
    refined,
    seeing,
    tended,
)
from sharpfront.evolve.run import Run, State, end_rates
from sharpfront.evolve.run_start import begun, first_step
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.stages import Solved, guessed, lateness, solved_stages
from sharpfront.evolve.termination import StuckError
from sharpfront.evolve.thresholds import carried, short_all_along
from sharpfront.mixture import Mixture
from sharpfront.pieces.slabs import Slab
from sharpfront.place.line.fronts import fronts_of


class LineTrial(NamedTuple):
    """What is known of a step that was tried."""

    step: Step
    unit: FloatArray  # of its errors, (nodes, K)
    solved: Solved
    after: State | None  # the strict run after it; None if it may not stand


@dataclass(frozen=True, eq=False)
class LineSteps(Stepper[State]):
    """Steps of a run on elements whose nodes move."""

    run: Run
    components: int  # of the mixture that tells fronts, at most

    # Roots of x need steps of 1e-26 of the span, with elements of 1e-13.
    shortest = 1e-30

    def restarted(self, state: State) -> tuple[State, tuple[str, ...]]:
        """Return the run at a moment where data jump, its state made to meet them again."""
        run = self.run
        soon = state.t + 1e-9 * (run.span[1] - run.span[0])
        start, words = Start.met(run.system, state.at, run.tol, soon)
        if start is None:
            frame = run.mesher.frame(state.frame.nodes)
            values = consistent(run.discrete, frame, state.values, soon)
            rates = first_rates(run.discrete, frame, values, soon)
            dt = min(state.dt, first_step(run, frame, values, rates, state.scale))
            again = replace(state, frame=frame, values=values, rates=rates, dt=dt, before=None)
            return replace(again, unit=None, late=0.0), ()
        weak, _ = Start.met(run.system, state.weakly_at, run.tol, soon)
        # Rounded once more, as at the start: what rounding does is part of the estimate.
        weakly = state.weakly_at if weak is None else weak.blurred().values
        return begun(run, start, weakly, state.t, soon, state.scale), tuple(words)

    def seeing(self, state: State, dt: float) -> State:
        """Return the run on elements that see the data of a step, with units of errors."""
        if state.unresolved:
            raise StuckError(state.unresolved, OutcomeKind.KERNEL_LIMIT)
        nodes = seeing(self.run, state.frame.nodes, state.t, dt)
        if len(nodes) != len(state.frame.nodes):
            state = placed(self.run, state, allowed(self.run, nodes))
        return known(self.run, state)

    def tried(self, state: State, dt: float) -> StepTrial:
        """Return a step on the present elements, shorter if these would be pressed together."""
        run = self.run
        fields = state.values, state.rates, state.scale
        # Rates of a start bend where a jump is, as the rates of no later state do.
        kinked = bool(run.system.gaps) and state.before is not None
        moving = carried(run.discrete, state.frame, state.t + 0.5 * dt)
        v = velocities(run.mesher, state.frame, *fields, dt, kinked, run.gain, moving)
        worst = shortening(state.frame, v)
        if worst * dt > 1.0 - LINE_MARCH.shrink:
            dt = (1.0 - LINE_MARCH.shrink) / worst
        frame = state.frame.moving(v)
        step = Step(run.discrete, frame, state.t, dt, guessed(state, frame, dt, run.stages))
        assert state.unit is not None
        unit = nodal(run, state.unit)
        solved = solved_stages(step, state.scale, unit, run.newton)
        late = np.inf
        if solved.factors is not None:
            late = lateness(run, step, state, solved, unit)
        after = None if late > 1.0 else _after(run, state, step, late)
        return StepTrial(dt, late, solved.iterations, LineTrial(step, unit, solved, after))

    def shorter(self, state: State, trial: StepTrial, before: StepTrial | None) -> State:
        """Return the run for a shorter step; one that was solved tells where the next begins."""
        dt = _shorter(self.run, state, trial, before)
        if trial.late == np.inf:
            return replace(state, dt=dt, careful=LINE_MARCH.careful)
        return replace(state, dt=dt, ahead=trial.found.step.kept)

    def remeshed(self, state: State, trial: StepTrial) -> State | None:
        """Return the run on elements that hold a step, None if the present ones do."""
        run, step, end = self.run, trial.found.step, trial.found.after
        worst = float(run.mesher.left_out(end.frame.nodes, end.rough).max())
        if worst <= run.in_space:
            return replace(state, dt=0.5 * trial.dt) if _strays(run, step) else None
        # Elements that stretch during a step are made shorter before it.
        longer = np.maximum(end.frame.lengths[0] / state.frame.lengths[0], 1.0)
        if longer.max() > LINE_MARCH.longer:
            return replace(
                state, dt=trial.dt * (0.5 * LINE_MARCH.longer - 1.0) / float(longer.max() - 1.0)
            )
        rough = end.rough * longer ** (run.mesher.tables.degree + 1)
        return replace(refined(run, state, rough, trial.dt), ahead=step.kept)

    def taken(self, state: State, trial: StepTrial, iterations: int) -> StepTaken | None:
        """Return a step that stands, which the weaker run has followed."""
        run, found = self.run, trial.found
        other = _followed(run, state, found)
        if other is None:
            return None
        weak, error = other
        after = tended(run, state, replace(found.after, weak=weak))
        step = found.step
        slab, values = Slab(state.t, after.t, step.frame, run.stages), step.values
        return StepTaken(
            slab.start,
            slab.stop,
            after,
            error,
            iterations,
            slab.frame.size,
            float(np.abs(values[-1, run.at_nodes, : run.stated]).max()),
            (slab, values),
            partial(_fronts, slab, values, self.components),
        )


def _fronts(slab: Slab, values: FloatArray, components: int) -> tuple[Mixture | None, FloatArray]:
    """Return the fronts at the end of a step, and their speeds."""
    rates = end_rates(values, slab.dt)
    return fronts_of(slab.at(slab.stop), values[-1], rates, components)


def _followed(run: Run, state: State, tried: LineTrial) -> tuple[FloatArray, float] | None:
    """Return the weaker run after a step, and how far off the step is; None where it fails."""
    stages = followed(run, tried.step, state, tried.unit, tried.solved.contraction)
    if stages is None:
        return None
    after, weak, stated = tried.after, stages[-1], slice(run.stated)
    assert after is not None
    between = left_out(tried.step.values[:, run.at_nodes, stated] / after.scale[stated])
    apart = difference(after.frame, weak - after.values)
    if run.system.gaps:
        # Where rates jump they are furthest apart while that is passed.
        apart = np.maximum(apart, inside(tried.step, stages))
    if state.before is None:
        # What was rounded at a start fades during the step; nothing was of what constraints hold.
        assert state.weak is not None
        held = [name in run.system.constrained for name in run.system.names]
        before = difference(state.frame, state.weak - state.values)
        apart = np.maximum(apart, np.where(held, 0.0, before))
    apart = (apart / after.scale)[stated]
    # What Newton's method leaves both runs may have alike.
    return weak, between + tried.solved.left + float(apart.max())


def _strays(run: Run, step: Step) -> bool:
    """Tell whether a jump goes on inside a step to elements that are too long to see it."""
    if not run.system.gaps:
        return False
    longest = short_all_along(run.discrete, step)
    nodes, rough = step.frame.at(step.dt).nodes, run.mesher.rough_for(longest, run.in_space)
    return float(run.mesher.left_out(nodes, rough).max()) > run.in_space


def _after(run: Run, state: State, step: Step, late: float) -> State:
    """Return the run after a step that may stand in time."""
    values, dt, factor = step.values, step.dt, _next_factor(run, state, step.dt, late)
    largest = np.abs(values[1:, run.at_nodes]).max(axis=(0, 1))
    scale = np.maximum(state.scale, largest)
    stop, frame = run.agenda.settled(state.t + dt, run.span[1]), step.frame.at(dt)
    unit, rough = measured(run, frame, values[-1], scale, stop)
    return State(
        stop,
        frame,
        values[-1],
        end_rates(values, dt),
        dt * (min(factor, 1.0) if state.careful > 0 else factor),
        scale,
        (frame, values, dt),
        max(0, state.careful - 1),
        late,
        unit=unit,
        rough=rough,
    )


def _next_factor(run: Run, state: State, dt: float, late: float) -> float:
    """Return how many times longer the next step may be than one that left so much in time.

    Errors that grow from step to step go on to grow.
    """
    power = 1.0 / (run.stages + 1)
    now, last = (
        max(late**power, LINE_MARCH.little_left),
        max(state.late**power, LINE_MARCH.little_left),
    )
    factor = LINE_MARCH.safe / now
    if state.before is not None:
        factor *= min(1.0, dt / state.before[2] * last / now)
    return float(min(max(factor, LINE_MARCH.least_factor), LINE_MARCH.grow))


def _shorter(run: Run, state: State, tried: StepTrial, before: StepTrial | None) -> float:
    """Return the length to try after a step that may not stand, and perhaps one before it.

    What it left is all that counts: it is not foreseen once more. At a start that falls with the
    length as layers let it, not as the method would: by how much, two tries tell.
    """
    if tried.late == np.inf:
        return LINE_MARCH.cut * tried.dt
    order, least = run.stages + 1.0, LINE_MARCH.least_factor
    if state.before is None and before is not None and before.late < np.inf:
        seen = math.log(before.late / tried.late) / math.log(before.dt / tried.dt)
        order, least = min(max(seen, LINE_MARCH.least_order), order), LINE_MARCH.least_factor**2
    factor = LINE_MARCH.safe * float(tried.late ** (-1.0 / order))
    return tried.dt * min(max(factor, least), LINE_MARCH.shorter)
