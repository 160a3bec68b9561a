"""Units of errors during a run, and the meshes it goes on with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.error_units import units
from sharpfront.evolve.narrow_data import attentive
from sharpfront.evolve.rates import first_rates, meeting
from sharpfront.evolve.run import Run, State
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.start_smoothing import just_after
from sharpfront.evolve.termination import StuckError
from sharpfront.evolve.thresholds import short_enough
from sharpfront.pieces.frame import Frame
from sharpfront.rounding import SAME, SLIGHT


def in_units(
    run: Run, frame: Frame, values: FloatArray, scale: FloatArray, t: float
) -> tuple[FloatArray, FloatArray | None]:
    """Return in what unit errors on an element count, (N, K), and how long it may be, (N,)."""
    moments = run.agenda.ahead(t, run.span[1]) if run.looks[0] else np.array([t])
    unit, longest = units(run.discrete, frame, values, scale, (t, run.span[1]), moments)
    unit[:, len(run.system.problem.unknowns) :] *= LINE_MARCH.companion
    if run.system.gaps:
        seen = short_enough(run.discrete, frame, values, t)
        longest = seen if longest is None else np.minimum(seen, longest)
    return unit, longest


def measured(
    run: Run, frame: Frame, values: FloatArray, scale: FloatArray, t: float, quiet: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Return in what unit errors on an element count, (N, K), and how rough it is, (N,).

    What looks like noise is left alone if `quiet`.
    """
    unit, longest = in_units(run, frame, values, scale, t)
    rough = run.mesher.roughness(frame, values, unit, run.tol if quiet else 0.0)
    if longest is not None:
        rough = np.maximum(rough, run.mesher.rough_for(longest, run.in_space))
    return unit, rough


def nodal(run: Run, unit: FloatArray) -> FloatArray:
    """Return the smaller unit of the elements beside each node."""
    if run.mesher.ring:
        return np.minimum(unit, np.roll(unit, 1, axis=0))
    out = np.empty((len(unit) + 1, unit.shape[1]))
    out[0], out[1:] = unit[0], unit
    np.minimum(out[:-1], unit, out=out[:-1])
    return out


def allowed(run: Run, nodes: FloatArray) -> FloatArray:
    """Return nodes, or give up where there are more than there may be."""
    if len(nodes) - 1 > run.mesher.most:
        raise StuckError(too_few(run, nodes), OutcomeKind.KERNEL_LIMIT)
    return nodes


def too_few(run: Run, nodes: FloatArray) -> str:
    """Say that kernels do not resolve what is where nodes are closest."""
    size = run.mesher.most * run.mesher.tables.points
    where = nodes[int(np.argmin(np.diff(nodes)))]
    return f"{size} kernels do not resolve it near x = {where:.4g}"


def seeing(run: Run, nodes: FloatArray, t: float, ahead: float) -> FloatArray:
    """Return nodes among which the data of a coming step are seen."""
    if not run.watches:
        return nodes
    ahead = min(ahead, run.agenda.longest(t), run.span[1] - t)
    # Where data jump, those right after it count.
    jump = t == run.span[0] or run.agenda.is_stop(t)
    first = t + SAME * ahead if jump else t
    return attentive(run.mesher, run.watches, nodes, (first, t + 0.5 * ahead, t + ahead))


def placed(run: Run, state: State, nodes: FloatArray) -> State:
    """Return a run on other nodes, which are at rest until it is known where they go."""
    k, old = state.values.shape[1], state.frame
    assert state.weak is not None
    both = np.concatenate([state.values, state.weak], axis=1)
    powers = old.tables.powers(old.local(both))
    if state.before is not None:
        rates = old.rates_at_rest(state.values, state.rates)
        powers = np.concatenate([powers, rates], axis=1)
    frame = run.mesher.frame(nodes)
    found = run.mesher.through(frame, lambda x: old.summed(powers, x))
    values, weak = np.ascontiguousarray(found[:, :k]), np.ascontiguousarray(found[:, k : 2 * k])
    rates = np.ascontiguousarray(found[:, 2 * k :])
    if run.discrete.holds_slopes and state.dt < SLIGHT * (run.span[1] - run.span[0]):
        # Elements longer than what a start was bent over at its ends do not see that, and a slope
        # that is missed is one at every step, however short.
        soon = just_after(state.t, run.span[1])
        values, weak = (meeting(run.discrete, frame, v, soon) for v in (values, weak))
    if state.before is None:
        rates = first_rates(run.discrete, frame, values, state.t)
    return replace(state, frame=frame, values=values, weak=weak, rates=rates, unit=None, rough=None)


def refined(run: Run, state: State, rough: FloatArray, dt: float) -> State:
    """Return the run on a mesh that suits the beginning and the end of the step."""
    assert state.rough is not None
    both, nodes = np.maximum(rough, state.rough), state.frame.nodes
    new = run.mesher.mesh(nodes, both, run.in_space, least=state.frame.elements)
    return replace(placed(run, state, allowed(run, new)), dt=dt)


def known(run: Run, state: State) -> State:
    """Return the run with units of errors on its mesh."""
    if state.unit is not None:
        return state
    unit, rough = measured(run, state.frame, state.values, state.scale, state.t)
    return replace(state, unit=unit, rough=rough)


def foreseen(run: Run, before: State, after: State, longer: float) -> FloatArray:
    """Return how rough elements become in a step that is so much longer than the last, (N,).

    They leave out what they left out before it, times what that has grown by.
    """
    now = after.rough
    assert now is not None and before.rough is not None
    mesher, little = run.mesher, LINE_MARCH.least_foreseen * run.in_space
    last = mesher.left_out(before.frame.nodes, before.rough) + little
    growth = (mesher.left_out(after.frame.nodes, now) + little) / last
    # A single element may have been smooth by chance.
    least = growth.copy()
    np.minimum(least[1:], growth[:-1], out=least[1:])
    np.minimum(least[:-1], growth[1:], out=least[:-1])
    return np.asarray(now * np.minimum(np.maximum(least, 1.0) ** longer, LINE_MARCH.most_foreseen))


def tended(run: Run, before: State, state: State) -> State:
    """Return the run after a step on a new mesh, where the present one is worn out or too fine.

    It is worn out too if the next step is going to leave out more than it may.
    """
    frame, mesher, rough = state.frame, run.mesher, state.rough
    assert rough is not None and state.before is not None
    few, least = LINE_MARCH.fewer * len(frame.nodes), int(LINE_MARCH.fewer * frame.elements)
    ahead = foreseen(run, before, state, state.dt / state.before[2])
    if float(mesher.left_out(frame.nodes, ahead).max()) > run.in_space:
        new = mesher.mesh(frame.nodes, ahead, run.in_space, least=least)
        if len(new) - 1 <= mesher.most:
            return _settled(run, state, new)
    worn = float(mesher.left_out(frame.nodes, rough).max()) > LINE_MARCH.worn * run.in_space
    if not worn and (
        LINE_MARCH.fewest >= few or mesher.fewest(frame.nodes, rough, run.in_space) >= few
    ):
        return state
    new = mesher.mesh(frame.nodes, rough, run.in_space)
    fewer = len(new) < few
    if not worn and not fewer:
        return state
    if fewer:
        new = mesher.mesh(frame.nodes, rough, run.in_space, least=least)
    return _settled(run, state, new)


def _settled(run: Run, state: State, nodes: FloatArray) -> State:
    """Return the run on other nodes, or on more of them if elements leave out too much there."""
    mesher = run.mesher
    for _ in range(4):
        moved = known(run, placed(run, state, allowed(run, turned(run, nodes))))
        rough = moved.rough
        assert rough is not None
        if float(mesher.left_out(moved.frame.nodes, rough).max()) < 0.5 * run.in_space:
            break
        nodes = mesher.mesh(moved.frame.nodes, rough, run.in_space, least=int(1.2 * len(nodes)))
    return moved


def turned(run: Run, nodes: FloatArray) -> FloatArray:
    """Return nodes, on a ring by whole turns back to where it begins."""
    if not run.mesher.ring:
        return nodes
    length = run.system.high - run.system.low
    return np.asarray(nodes - length * np.floor((nodes[0] - run.system.low) / length))
