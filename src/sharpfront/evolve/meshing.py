"""Units of errors during a run, and the meshes it goes on with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import all_nodes
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.ending import StuckError
from sharpfront.evolve.growth import units
from sharpfront.evolve.narrow import attentive
from sharpfront.evolve.rates import first_rates
from sharpfront.evolve.run import Run, State, end_rates
from sharpfront.evolve.thresholds import short_enough
from sharpfront.pieces.frame import Frame

# A mesh is placed anew where an element leaves more than this share of what it may, or where this
# share of the elements would do; it does not lose more of them at once.
WORN, FEWER = 0.3, 0.75
# Errors of a rate that was made an unknown count less by this: over an element, of which a wave has
# about so many, they come and go in the unknown itself.
COMPANION = 10.0


def in_units(
    run: Run, frame: Frame, values: FloatArray, scale: FloatArray, t: float
) -> tuple[FloatArray, FloatArray | None]:
    """Return in what unit errors on an element count, (N, K), and how long it may be, (N,)."""
    moments = run.agenda.ahead(t, run.span[1]) if run.looks[0] else np.array([t])
    unit, longest = units(run.discrete, frame, values, scale, (t, run.span[1]), moments)
    unit[:, len(run.system.problem.unknowns) :] *= COMPANION
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
    return attentive(run.mesher, run.watches, nodes, t, ahead)


def placed(run: Run, state: State, nodes: FloatArray) -> State:
    """Return a run on other nodes; its last step comes along as the next one's guess."""
    k, old = state.values.shape[1], state.frame
    assert state.weak is not None
    both = np.concatenate([state.values, state.weak], axis=1)
    found = run.mesher.interpolant(nodes, lambda x: old.evaluate(both, x))
    values, weak = np.ascontiguousarray(found[:, :k]), np.ascontiguousarray(found[:, k:])
    state = replace(state, values=values, weak=weak, unit=None)
    if state.before is None:
        frame = run.mesher.frame(nodes)
        return replace(state, frame=frame, rates=first_rates(run.discrete, frame, values, state.t))
    (stages, dt), frame = state.before, run.mesher.frame(nodes, old.velocity(nodes))
    before = (old.carried(frame, (all_nodes(len(stages) - 1) - 1.0) * dt, stages), dt)
    return replace(state, frame=frame, rates=end_rates(*before), before=before)


def refined(run: Run, state: State, rough: FloatArray, dt: float) -> State:
    """Return the run on a mesh that suits the beginning and the end of the step."""
    own = measured(run, state.frame, state.values, state.scale, state.t)[1]
    both = np.maximum(rough, own)
    nodes = state.frame.nodes
    new = run.mesher.mesh(nodes, both, run.in_space, least=state.frame.elements)
    return replace(placed(run, state, allowed(run, new)), dt=dt)


def tended(run: Run, state: State, rough: FloatArray, worst: float) -> State:
    """Return the run on a new mesh, where the present one is worn out or too fine."""
    frame, mesher = state.frame, run.mesher
    worn, few = worst > WORN * run.in_space, FEWER * len(frame.nodes)
    if not worn and (
        mesher.settings.fewest >= few or mesher.fewest(frame.nodes, rough, run.in_space) >= few
    ):
        return state
    new = mesher.mesh(frame.nodes, rough, run.in_space)
    fewer = len(new) < few
    if not worn and not fewer:
        return state
    if fewer:
        least = int(FEWER * frame.elements)
        new = mesher.mesh(frame.nodes, rough, run.in_space, least=least)
    for _ in range(4):
        moved = placed(run, state, allowed(run, turned(run, new)))
        unit, again = measured(run, moved.frame, moved.values, moved.scale, moved.t)
        moved = replace(moved, unit=unit)
        if float(mesher.left_out(moved.frame.nodes, again).max()) < 0.5 * run.in_space:
            break
        new = mesher.mesh(moved.frame.nodes, again, run.in_space, least=int(1.2 * len(new)))
    return moved


def turned(run: Run, nodes: FloatArray) -> FloatArray:
    """Return nodes, on a ring by whole turns back to where it begins."""
    if not run.mesher.ring:
        return nodes
    length = run.system.high - run.system.low
    return np.asarray(nodes - length * np.floor((nodes[0] - run.system.low) / length))
