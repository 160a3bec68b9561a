"""Step after step on a line: how long, on which mesh, and whether a step may stand."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import left_out
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.embedded_run import difference, followed, inside
from sharpfront.evolve.initial_state import Start
from sharpfront.evolve.march_result import STRICTER
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
from sharpfront.evolve.run import Run, State, Taken, end_rates
from sharpfront.evolve.run_start import begun, first_step
from sharpfront.evolve.stages import Solved, guessed, lateness, solved_stages
from sharpfront.evolve.termination import CRAWLED, StuckError, check_progress
from sharpfront.pieces.frame import Frame
from sharpfront.pieces.slabs import Slab

# Bounds and caution of the next step, and by how much one is cut that Newton did not solve.
LEAST_FACTOR, GROW, SAFE, CUT = 0.2, 4.0, 0.85, 0.5
# A step that left too much is followed by one that is shorter by this at least, and by no more than
# if what it left fell like this power of its length.
SHORTER, LEAST_ORDER = 0.8, 0.5
# What a step left, to the power 1 / (s + 1), counts no less: below it grows as much as any.
LITTLE_LEFT = 0.192
# Steps that do not grow after such a cut.
CAREFUL = 3
# No step is a smaller share of the span; roots of x need one of 1e-26, with elements of 1e-13.
SHORTEST_STEP = 1e-30
# A step in which an element stretches by more is shortened before elements are: a layer of less
# than a tolerance spreads a hundredfold in a step that time alone allows.
LONGER = 10.0
# Meshes for one step at most.
MESHES = 30


def steps(run: Run, state: State) -> Iterator[Taken]:
    """Yield steps until the end of time; raises `StuckError` where none can be taken."""
    times: deque[float] = deque(maxlen=CRAWLED)
    while state.t < run.span[1]:
        check_progress(times, state.t, run.span[1])
        if state.unresolved:
            raise StuckError(state.unresolved, OutcomeKind.KERNEL_LIMIT)
        words: list[str] = []
        if run.agenda.is_stop(state.t):
            state, words = _restarted(run, state)
        taken = _one_step(run, state)
        state = taken.after
        yield replace(taken, words=tuple(words)) if words else taken


def _restarted(run: Run, state: State) -> tuple[State, list[str]]:
    """Return the run at a moment where data jump, its state made to meet them again."""
    soon = state.t + 1e-9 * (run.span[1] - run.span[0])
    start, words = Start.met(run.system, state.at, run.tol, soon)
    if start is None:
        frame = run.mesher.frame(state.frame.nodes)
        values = consistent(run.discrete, frame, state.values, soon)
        rates = first_rates(run.discrete, frame, values, soon)
        dt = min(state.dt, first_step(run, frame, values, rates, state.scale))
        again = replace(state, frame=frame, values=values, rates=rates, dt=dt, before=None)
        return replace(again, unit=None, late=0.0), []
    weak, _ = Start.met(run.system, state.weakly_at, run.tol / STRICTER, soon)
    weakly = state.weakly_at if weak is None else weak.values
    return begun(run, start, weakly, state.t, soon, state.scale), words


def _one_step(run: Run, state: State) -> Taken:
    """Take one step: shorter ones and other meshes are tried until one may stand."""
    iterations, meshes, refused = 0, 0, None
    while True:
        dt = run.agenda.fitted(state.t, state.dt, run.span[1])
        if state.t + dt <= state.t or dt < SHORTEST_STEP * (run.span[1] - run.span[0]):
            raise StuckError("no step is short enough")
        nodes = seeing(run, state.frame.nodes, state.t, dt)
        if len(nodes) != len(state.frame.nodes):
            state = placed(run, state, allowed(run, nodes))
        state = known(run, state)
        tried = _tried(run, state, dt)
        iterations += tried.solved.iterations
        if isinstance(tried, _Refused):
            careful = state.careful if tried.late < np.inf else CAREFUL
            state = replace(state, dt=_shorter(run, state, tried, refused), careful=careful)
            if tried.late < np.inf:
                state = replace(state, ahead=tried.ahead)
            refused = tried
            continue
        end, rough = tried.after, tried.after.rough
        assert rough is not None
        worst = float(run.mesher.left_out(end.frame.nodes, rough).max())
        if worst > run.in_space and meshes < MESHES:
            # Elements that stretch during a step are made shorter before it.
            longer = np.maximum(end.frame.lengths[0] / state.frame.lengths[0], 1.0)
            if longer.max() > LONGER:
                state = replace(state, dt=dt * (0.5 * LONGER - 1.0) / float(longer.max() - 1.0))
                continue
            meshes, refused = meshes + 1, None
            rough = rough * longer ** (run.mesher.tables.degree + 1)
            state = replace(refined(run, state, rough, dt), ahead=tried.step.kept)
            continue
        if worst > run.in_space:
            raise StuckError("no mesh resolves the step", OutcomeKind.KERNEL_LIMIT)
        found = _followed(run, state, tried)
        if found is None:
            state = replace(state, dt=CUT * tried.step.dt, careful=CAREFUL)
            continue
        weak, error = found
        after = tended(run, state, replace(end, weak=weak))
        slab = Slab(state.t, end.t, tried.step.frame, run.stages)
        return Taken(slab, tried.step.values, after, error, iterations)


def _followed(run: Run, state: State, tried: _Stands) -> tuple[FloatArray, float] | None:
    """Return the weaker run after a step, and how far off the step is; None where it fails."""
    stages = followed(run, tried.step, state, tried.unit, tried.solved.contraction)
    if stages is None:
        return None
    after, weak, stated = tried.after, stages[-1], slice(run.stated)
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


def _tried(run: Run, state: State, dt: float) -> _Refused | _Stands:
    """Try one step on the present mesh."""
    v = velocities(run.mesher, state.frame, state.values, state.rates, state.scale, dt)
    worst = shortening(state.frame, v)
    if worst * dt > 1.0 - run.settings.shrink:
        dt = (1.0 - run.settings.shrink) / worst
    frame = state.frame.moving(v)
    step = Step(run.discrete, frame, state.t, dt, guessed(state, frame, dt, run.stages))
    assert state.unit is not None
    unit = nodal(run, state.unit)
    solved = solved_stages(step, state.scale, unit, run.newton)
    if solved.factors is None:
        return _Refused(dt, np.inf, solved, None)
    late = lateness(run, step, state, solved, unit)
    if late > 1.0:
        return _Refused(dt, late, solved, step.kept)
    return _Stands(step, unit, _after(run, state, step, late), solved)


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
    now, last = max(late**power, LITTLE_LEFT), max(state.late**power, LITTLE_LEFT)
    factor = SAFE / now
    if state.before is not None:
        factor *= min(1.0, dt / state.before[2] * last / now)
    return float(min(max(factor, LEAST_FACTOR), GROW))


def _shorter(run: Run, state: State, tried: _Refused, before: _Refused | None) -> float:
    """Return the length to try after a step that may not stand, and perhaps one before it.

    What it left is all that counts: it is not foreseen once more. At a start that falls with the
    length as layers let it, not as the method would: by how much, two tries tell.
    """
    if tried.late == np.inf:
        return CUT * tried.dt
    order, least = run.stages + 1.0, LEAST_FACTOR
    if state.before is None and before is not None and before.late < np.inf:
        seen = math.log(before.late / tried.late) / math.log(before.dt / tried.dt)
        order, least = min(max(seen, LEAST_ORDER), order), LEAST_FACTOR**2
    factor = SAFE * float(tried.late ** (-1.0 / order))
    return tried.dt * min(max(factor, least), SHORTER)


class _Refused(NamedTuple):
    """A step that may not stand: its length, and what it left in time as a share of what it may.

    That is infinite where Newton's method failed.
    """

    dt: float
    late: float
    solved: Solved
    ahead: tuple[Frame, FloatArray, float] | None  # as in `State`


class _Stands(NamedTuple):
    """A step that may stand in time, with the units of its errors, (nodes, K)."""

    step: Step
    unit: FloatArray
    after: State  # the strict run after it
    solved: Solved
