"""Step after step on patches: how long, on which patches, and whether a step may stand."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import (
    STAGES,
    damped,
    interpolation,
    interpolation_rate,
    last_of_stages,
    left_out,
    left_out_of_stages,
    off_at_start,
    stage_nodes,
)
from sharpfront.errors import EquationError, OutcomeKind
from sharpfront.evolve.ending import CRAWLED, StuckError, check_progress
from sharpfront.evolve.patchwork.begin import first_length, settling
from sharpfront.evolve.patchwork.factors import (
    PatchFactors,
    stage_moments,
    unseen_on_patches,
    with_rates,
)
from sharpfront.evolve.patchwork.places import MovingFrame
from sharpfront.evolve.patchwork.run import PatchRun, PatchRunState, PatchStep
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.tangents import About
from sharpfront.evolve.patchwork.tending import carried_over, tended_patches


def steps_on_patches(run: PatchRun, state: PatchRunState) -> Iterator[PatchStep]:
    """Yield steps until the end of time; raises `StuckError` where none can be taken."""
    times: deque[float] = deque(maxlen=CRAWLED)
    while state.t < run.span[1]:
        check_progress(times, state.t, run.span[1])
        if run.agenda.is_stop(state.t):
            # Rates jump there: what went before tells nothing of what follows.
            run.factors = None
            state = replace(state, before=None, tried=None, carried=False, drift=None)
            state = settling(run, replace(state, dt=min(state.dt, first_length(run, state))))
        taken = _step(run, state)
        state = taken.after
        yield taken


def _step(run: PatchRun, state: PatchRunState) -> PatchStep:
    iterations, meshes = 0, 0
    frame = None if state.drift is None else MovingFrame(state.drift, state.t)
    while True:
        last = state.before[1] if state.before is not None else None
        dt = run.agenda.fitted(state.t, state.dt, run.span[1], run.stride, last)
        if state.t + dt <= state.t or dt < 1e-10 * (run.span[1] - run.span[0]):
            raise StuckError("no step is short enough")
        places = _unseen_events(run, state, dt)
        if len(places) and meshes < MARCH.meshes:
            meshes += 1
            state = carried_over(state, run.meshing.halved_at(state.cells, places))
            continue
        levels, factors, count = _solved(run, state, dt, frame)
        iterations += count
        if levels is None:
            # With patches that stay Newton's method may do better.
            state, frame = replace(state, dt=MARCH.cut * dt, drift=None), None
            continue
        values = np.concatenate([state.values[:1], levels])
        values[0] = _consistent(run.system, values)
        discrete = factors.discrete
        seen = discrete.inner.values(values, (0, 0))
        # What a step that is not taken makes of the unknowns says nothing of their size.
        sizes = np.abs(seen).max(axis=(0, 2))
        scale = np.maximum(state.scale, sizes)
        unit = scale * run.shares(discrete.inner.points, seen[-1], sizes / scale, state.t)
        late = _left_in_time(state, seen / unit[:, None]) / (MARCH.during * run.tol)
        factor = float(
            np.clip(
                MARCH.safe * max(late, 1e-30) ** (-1.0 / (STAGES + 1)), MARCH.shrink, MARCH.grows
            )
        )
        if state.settling:
            late, factor = 0.0, 1.0
        elif late <= 1.0 and run.system.hides:
            off = unseen_on_patches(factors, state.values, values, state.t, run.span)
            late = float((off.max(axis=1) / unit).max()) / (MARCH.during * run.tol)
            factor = min(factor, 0.5) if late > 1.0 else factor
        if late > 1.0:
            state = replace(state, dt=dt * min(factor, 0.8))
            continue
        end = replace(state, scale=scale, unit=unit)
        tails = run.meshing.tails(state.cells, _blocks(run, end, values))
        cells, changed = list(state.cells), False
        if np.any(tails.tail > MARCH.again):
            cells, changed = run.meshing.finer(state.cells, tails)
        if changed and meshes < MARCH.meshes:
            meshes += 1
            state = carried_over(replace(state, tried=(values, dt)), cells)
            state = replace(state, dt=dt)
            continue
        if changed:
            raise StuckError("no patches resolve the step", OutcomeKind.KERNEL_LIMIT)
        run.factors = factors
        between = _left_in_time(state, seen / scale[:, None])
        return _taken(run, end, dt, values, factor, iterations, between)


def _taken(
    run: PatchRun,
    state: PatchRunState,
    dt: float,
    values: FloatArray,
    factor: float,
    iterations: int,
    between: float,
) -> PatchStep:
    start = np.stack([values[0], state.values[1]])
    rates = with_rates(start, values[1:], dt)[1][-1]
    frame = None if state.drift is None else MovingFrame(state.drift, state.t)
    stop = run.agenda.settled(state.t + dt, run.span[1])
    grown = (
        dt
        if frame is None and not state.carried and MARCH.keep[0] < factor < MARCH.keep[1]
        else dt * factor * (run.stride if frame is None and factor > 1 else 1.0)
    )
    after = replace(
        state,
        t=stop,
        values=np.stack([values[-1], rates]),
        dt=grown,
        before=(values, dt),
        tried=None,
        carried=False,
        settling=max(state.settling - 1, 0),
    )
    if not after.settling:
        # Rates in a layer that is not settled tell nothing of what follows.
        after = tended_patches(run, after, frame)
    return PatchStep(state.t, stop, state.basis, values, after, iterations, between, frame)


def _left_in_time(state: PatchRunState, seen: FloatArray) -> float:
    """Return what a step's polynomials in time leave out of values at its beginning and stages."""
    by_stages = left_out_of_stages(seen)
    if not state.carried:
        # A start is off by what its patches leave out too, which coefficients count many times.
        return min(left_out(seen), by_stages + off_at_start(seen))
    # A beginning that was put on other patches is off by what these leave out, in any step however
    # short: the stages tell by themselves.
    return min(left_out(seen), by_stages, float(np.abs(last_of_stages(seen)).max()))


def _consistent(system: PlaneSystem, values: FloatArray) -> FloatArray:
    """Return the beginning of a step; unknowns without rates go on from its stages."""
    start = values[0].copy()
    free = [k for k, order in enumerate(system.orders) if order == 0]
    if free:
        c = stage_nodes(STAGES)
        powers = np.vander(c, STAGES, increasing=True)
        shares = np.linalg.inv(powers)[0]
        start[free] = np.tensordot(shares, values[1:, free], axes=1)
    return np.asarray(start)


def _unseen_events(run: PatchRun, state: PatchRunState, dt: float) -> FloatArray:
    """Return places at which something stands out during a step that no patch sees."""
    found = run.agenda.unseen(
        state.t, state.t + dt, lambda _: run.discrete(state.basis).inner.points
    )
    return np.array(found).reshape(-1, 2)


def _solved(
    run: PatchRun, state: PatchRunState, dt: float, frame: MovingFrame | None
) -> tuple[FloatArray | None, PatchFactors, int]:
    """Return the stages by Newton's method, None where it fails, and the systems."""
    discrete, t = run.discrete(state.basis, frame), stage_moments(state.t, dt)
    steady = run.system.is_steady and frame is None
    guess = _guess(state, dt)
    guess[:, :, discrete.basis.starts[-1] :] = run.jumping.strengths(t)
    old, count = run.factors, 0
    if old is not None and old.discrete is discrete and abs(old.dt - dt) <= 1e-9 * dt:
        good = MARCH.slowest if steady else MARCH.good
        levels, count = _iterated(run, state, old, guess, t, good)
        if levels is not None:
            return levels, old, count
    weights = with_rates(state.values, guess, dt)[:, STAGES // 2]
    about = About(discrete.basis, weights, float(t[STAGES // 2]))
    kinds = (False,) if steady or frame is not None or not run.even else (True, False)
    for even in kinds:
        factors = PatchFactors(discrete, dt, about, even=even)
        levels, more = _iterated(run, state, factors, guess, t, MARCH.slowest)
        count += more
        if levels is not None:
            run.even = even or not run.even
            break
    return levels, factors, count


def _iterated(
    run: PatchRun,
    state: PatchRunState,
    factors: PatchFactors,
    guess: FloatArray,
    t: FloatArray,
    slow: float,
) -> tuple[FloatArray | None, int]:
    levels, last = guess, np.inf
    inner, small = factors.discrete.inner, MARCH.newton * run.tol
    try:
        for i in range(MARCH.iterations):
            new = factors.next(state.values, levels, t)
            if run.system.is_steady and factors.discrete.frame is None:
                return new, 1
            change = np.abs(inner.values(new - levels, (0, 0))) / state.unit[:, None]
            size = float(change.max())
            levels, q = new, size / last
            if size < small or (i and q < 1 and size * q / (1 - q) < small):
                return levels, i + 1
            if not np.isfinite(size) or (i and q > slow):
                return None, i + 1
            last = size
    except EquationError:
        return None, i + 1
    return None, MARCH.iterations


def _guess(state: PatchRunState, dt: float) -> FloatArray:
    """Return the stages as found before, as the last step's polynomials go on, or as rates do."""
    if state.tried is not None:
        values, length = state.tried
        return np.asarray(np.tensordot(interpolation(stage_nodes() * (dt / length)), values, 1))
    if state.before is None:
        return np.asarray(state.values[0] + dt * stage_nodes()[:, None, None] * state.values[1])
    values, length = state.before
    ahead = interpolation(1.0 + stage_nodes() * (dt / length))
    return np.asarray(np.tensordot(ahead, values, axes=1) + (state.values[0] - values[-1]))


def _blocks(run: PatchRun, state: PatchRunState, values: FloatArray) -> list[list[FloatArray]]:
    """Return the weights on patches of some stages in units of what may be left out.

    A step goes on with the rates of unknowns of second order: what these are off by it is off by.
    """
    unit, basis = MARCH.space * run.tol * state.unit, state.basis
    if state.settling:
        # What is off by less than that has faded when they are over.
        unit = unit * min(damped() ** -state.settling, MARCH.unsettled / run.tol)
    chosen = values[[1 + STAGES // 2, STAGES]]
    found = [basis.blocks(w / u) for level in chosen for w, u in zip(level, unit, strict=True)]
    waves = np.array(run.system.orders) > 1
    rates = np.tensordot(interpolation_rate(np.ones(1))[0], values[:, waves], axes=1)
    units = MARCH.velocity * unit[waves]
    return found + [basis.blocks(w / u) for w, u in zip(rates, units, strict=True)]
