"""How a run begins: its first mesh, rates and step."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.collocation import Moments
from sharpfront.evolve.initial_state import Start
from sharpfront.evolve.mesh import Function, graded
from sharpfront.evolve.node_velocity import velocities
from sharpfront.evolve.rates import consistent, first_rates
from sharpfront.evolve.remeshing import in_units, measured, seeing, too_few
from sharpfront.evolve.run import Run, State
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.termination import StuckError
from sharpfront.pieces.frame import Frame


def begun(
    run: Run,
    start: Start,
    weak: Function,
    t: float,
    soon: float,
    scale: FloatArray | None = None,
) -> State:
    """Return the run at a moment at which the unknowns are given functions, the weaker one too.

    Data are those of a moment soon after: what is switched on at the start is on then.
    """
    of, nodes, words = start.values, run.mesher.pinned(start.nodes), ""
    least = scale = np.maximum(start.sizes, 1.0 if scale is None else scale)
    nodes = nodes if len(nodes) <= run.mesher.most else start.evenly(run.mesher.most)
    nodes = _short_enough(run, nodes, start, scale, soon)
    for _ in range(LINE_MARCH.first_meshes):
        frame, plain = run.mesher.frame(nodes), run.mesher.interpolant(nodes, of)
        values = consistent(run.discrete, frame, plain, soon)
        # What constraints make of a mesh that does not resolve them is no size of anything.
        scale = np.maximum(least, np.abs(values[run.at_nodes]).max(axis=0))
        rough = measured(run, frame, values, scale, soon, quiet=False)[1]
        if not np.isfinite(rough).all():
            words = "conditions and equations without a rate do not agree at the start"
            break
        new = run.mesher.mesh(nodes, rough, run.in_space, most=int(LINE_MARCH.swell * len(nodes)))
        worst = float(run.mesher.left_out(nodes, rough).max())
        if worst < run.in_space and len(new) > 0.7 * len(nodes):
            break
        if len(new) - 1 > run.mesher.most:
            words = too_few(run, nodes)
            break
        nodes = new
    try:
        nodes = seeing(run, nodes, t, run.span[1] - t)
    except StuckError as stuck:
        words = words or str(stuck)
    if nodes is not frame.nodes:
        frame, plain = run.mesher.frame(nodes), run.mesher.interpolant(nodes, of)
        values = consistent(run.discrete, frame, plain, soon)
    rates = first_rates(run.discrete, frame, values, soon)
    dt = first_step(run, frame, values, rates, scale)
    dt = min(dt, LINE_MARCH.sudden * run.tol / max(_sudden(run, frame, values, soon), 1e-300))
    weakly = plain.copy() if weak == of else run.mesher.interpolant(nodes, weak)
    weakly = _following(run, frame, weakly, values, soon)
    return State(t, frame, values, rates, dt, scale, unresolved=words, weak=weakly)


def _following(
    run: Run, frame: Frame, weak: FloatArray, values: FloatArray, t: float
) -> FloatArray:
    """Return the weaker run's coefficients with what constraints hold, beginning with the other's.

    From nothing Newton's method may not find it in a step.
    """
    held = [name in run.system.constrained for name in run.system.names]
    if not any(held):
        return weak
    return consistent(run.discrete, frame, np.where(held, values, weak), t)


def _short_enough(
    run: Run, nodes: FloatArray, start: Start, scale: FloatArray, t: float
) -> FloatArray:
    """Return nodes with long elements divided ahead of a front into an unstable state.

    What they let through from their neighbours is far larger than what is there, and looks rough.
    """
    if not (run.discrete.reacts or run.system.gaps):
        return nodes
    values = run.mesher.interpolant(nodes, start.values)
    longest = in_units(run, run.mesher.frame(nodes), values, scale, t)[1]
    if longest is None:
        return nodes
    at, upto = graded(nodes, np.minimum(longest, np.diff(nodes)))
    count = int(np.ceil(upto[-1]))
    if count > run.mesher.most:
        return nodes
    return run.mesher.pinned(np.interp(np.linspace(0.0, upto[-1], count + 1), upto, at))


def first_step(
    run: Run, frame: Frame, values: FloatArray, rates: FloatArray, scale: FloatArray
) -> float:
    """Return how long a step may be by how fast unknowns change where nodes go along with them."""
    v = velocities(run.mesher, frame, values, rates, scale, gain=run.gain)
    moved = v[:, None] * frame.evaluate(values, frame.nodes, 1) if v.any() else np.zeros(1)
    own = rates[run.at_nodes]
    fast = float(np.abs((own + moved[: len(own)]) / scale).max())
    return min(
        LINE_MARCH.first_step * (run.span[1] - run.span[0]),
        LINE_MARCH.first_change / max(fast, 1e-300),
    )


def _sudden(run: Run, frame: Frame, values: FloatArray, t: float) -> float:
    """Return how fast values held at the ends leave a state that has no rate there.

    They make a layer that is thinner than any element at first.
    """
    soon = 1e-6 * (run.span[1] - run.span[0])
    here = Moments(run.discrete, frame, t, np.array([0.0, soon]))
    both, still = np.stack([values, values]), np.zeros((2, *values.shape))
    fastest = 0.0
    for end in here.ends:
        own = end.own
        held = [i for i in range(len(own)) if own.holds_a_value(i)]
        if not held:
            continue
        change, slopes = (
            program.run(end.leaves(program, both, still), 2)
            for program in (own.values, own.tangents)
        )
        change, slopes = np.abs(np.diff(change, axis=1))[:, 0], np.abs(slopes)[:, 0]
        for i in held:
            each = [s for s, term in zip(slopes, own.terms, strict=True) if term[0] == i]
            fastest = max(fastest, float(change[i]) / max(*each, 1e-300) / soon)
    return fastest
