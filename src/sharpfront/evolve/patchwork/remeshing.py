"""Between steps on patches: which ones are next, and whether they go along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import STAGES, amplified, diagonal
from sharpfront.evolve.patchwork.cells import Wanted, taken_to
from sharpfront.evolve.patchwork.embedded_run import WeakerPatches, WeakerState
from sharpfront.evolve.patchwork.predictor import (
    PredictedState,
    RatesAtPoints,
    at_rest,
    longest_step,
    on_patches,
    present,
    velocity_field,
)
from sharpfront.evolve.patchwork.row_points import MovingFrame, PointsDuringStep
from sharpfront.evolve.patchwork.run import PatchRun, PatchRunState
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.evolve.patchwork.straight_front import StraightFront, straight_front
from sharpfront.evolve.patchwork.tangents import LinearisationState, Tangents
from sharpfront.evolve.termination import StuckError
from sharpfront.maps import Drift, Drifts, FrontDrift
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.patches.refine import functions_of


def carried_over(
    state: PatchRunState, cells: Sequence[Cell], frame: MovingFrame | None = None
) -> PatchRunState:
    """Return a run on other patches; those that it was on may have gone along."""
    kept = [state.values, *(own[0] for own in (state.before, state.tried) if own is not None)]
    basis, (_, k, n) = state.basis, state.values.shape
    flat = np.concatenate(kept).reshape(-1, n)
    new = taken_to([c.patch for c in cells], lambda x: basis.sums(flat, at_rest(frame, x, state.t)))
    new = np.concatenate([new, flat[:, basis.starts[-1] :]], axis=1)
    values, *others = np.split(
        new.reshape(-1, k, new.shape[1]), np.cumsum([len(a) for a in kept])[:-1]
    )
    found = iter(others)
    before, tried = (
        None if own is None else (next(found), own[1]) for own in (state.before, state.tried)
    )
    after = replace(
        state, cells=tuple(cells), values=values, before=before, tried=tried, carried=True
    )
    return (
        after if state.weak is None else replace(after, weak=_carried_weakly(state, after, frame))
    )


def _carried_weakly(
    state: PatchRunState, after: PatchRunState, frame: MovingFrame | None
) -> WeakerState:
    """Return the weaker run on other patches."""
    basis = state.weak.patches.basis
    patches = WeakerPatches.of(after.basis, after.values[0], state.weak.patches.further)
    flat = state.weak.values.reshape(-1, basis.size)
    new = taken_to(patches.basis.patches, lambda x: basis.sums(flat, at_rest(frame, x, state.t)))
    new = np.concatenate([new, flat[:, basis.starts[-1] :]], axis=1)
    return WeakerState(patches, new.reshape(*state.weak.values.shape[:2], -1))


def beside_walls(run: PatchRun, state: PatchRunState, length: float) -> list[Cell]:
    """Return patches with strips for the layers that grow along walls in some time.

    On patches that are much too large least squares make something else of a thin layer, all over
    the domain.
    """
    levels = np.stack([*state.values, np.zeros_like(state.values[0])])
    tangents = Tangents(run.system, LinearisationState(state.basis, levels, state.t))
    problem = tangents.problem(float(diagonal().values[0].real) / length)
    return run.meshing.layered(problem, run.tol / amplified())


def _looks(run: PatchRun, state: PatchRunState) -> Wanted:
    """Return the data of the step to come."""
    stop = min(state.t + state.dt, run.span[1])
    return partial(run.system.data, t=np.linspace(state.t, stop, STAGES))


def tended_patches(run: PatchRun, state: PatchRunState, frame: MovingFrame | None) -> PatchRunState:
    """Return a run on patches made anew, where these are fewer or must be others soon.

    Those that went along with a frame are always: a step begins with patches at rest.
    """
    if state.t >= run.span[1] and frame is None:
        return state
    basis = state.basis
    state, field = carried_by(run, state, frame)
    held, dt = MARCH.held, min(state.dt, run.span[1] - state.t)
    front, across = field if isinstance(field, StraightFront) else None, 1.0
    if state.drift is not None:
        held, dt, field = MARCH.held_along, 0.0, None
    if run.meshing.tiling.chords is not None:
        held, across = MARCH.held_front, MARCH.held_front / MARCH.held_along
    unit = MARCH.space * held * run.tol * state.unit
    # Rates in a layer that grows like the root of time hold for a share of its age.
    grows = state.missed is not None and dt > MARCH.ahead * (state.t - state.missed)
    ahead = 0.0 if grows else dt
    going = np.stack([state.values[0], mean_rates(state)]) / unit[:, None]
    wanted = PredictedState(basis, frame, state.t, going, ahead, field)
    late = frame is not None or run.meshing.misses(state.cells, wanted.later)
    # What these patches hold is no narrower than they are.
    middles = np.concatenate([c.patch.spread(np.array([-0.5, 0.5])) for c in state.cells])
    if frame is not None:
        middles = frame.drift.points(middles, state.t - frame.since)
    looks = _looks(run, state) if run.system.hides else None
    first = None
    try:
        if front is not None:
            first = front.cut(run.meshing.first(), dt)
        elif state.missed is not None:
            first = beside_walls(run, state, state.t + dt - state.missed)
        cells = run.meshing.holding(wanted, looks, middles, first, across)
    except StuckError:
        if frame is not None:
            raise
        return state
    # What grows out of its strips takes ever more patches behind them.
    late |= grows and first is not None and len(first) > len(run.meshing.first())
    if frame is None and state.drift is not None:
        # In place a front went through patches; where these go along with it, it stays as it is.
        rest = np.stack([state.values[0], np.zeros_like(state.values[0])])
        state = replace(state, values=rest, before=None)
        late = late or front is not None
    if late or functions_of(cells) < MARCH.fewer * functions_of(state.cells):
        return carried_over(state, cells, frame)
    return state


def mean_rates(state: PatchRunState) -> FloatArray:
    """Return how unknowns have gone in the last step, (K, n); at a start, how they go.

    Rates at its end count what stages are off by many times: patches would follow that.
    """
    if state.before is None:
        return np.asarray(state.values[1])
    values, dt = state.before
    return np.asarray((values[-1] - values[0]) / dt)


def carried_by(
    run: PatchRun, state: PatchRunState, frame: MovingFrame | None
) -> tuple[PatchRunState, Drift | StraightFront | None]:
    """Return a run with rates in place, not along a frame, and with what unknowns are carried."""
    domain = run.system.problem.domain
    if not domain.is_box or state.shared:
        return state, None
    now = present(
        PointsDuringStep(run.discrete(state.basis).inner, frame, np.array([state.t])), state.values
    )
    if frame is not None:
        rates = on_patches(state.basis, now.rates)
        state = replace(state, values=np.stack([state.values[0], rates]))
    if run.meshing.tiling.chords is not None:
        return _along_front(run, state, now, frame)
    field = velocity_field(now, domain, state.scale)
    if field is None:
        return replace(state, drift=None), None
    limit = longest_step(field, now.points)
    most = _longest(now, field, limit, state) if run.follows else None
    if most is None:
        # In longer steps places come from several or from none: what goes on does so by its rates.
        return replace(state, drift=None), field if state.dt <= limit else None
    dt = max(state.dt, MARCH.change * most) if state.drift is None else state.dt
    return replace(state, drift=field, dt=min(dt, most)), field


def kept_along(state: PatchRunState, dt: float) -> FrontDrift | None:
    """Return how patches go along in a shorter step after one not solved; None if they stay.

    A front that is thin beside the way it has gone would be lost on patches that stay.
    """
    drift = state.drift
    long = isinstance(drift, FrontDrift) and dt > MARCH.short * drift.longest
    return drift if long and isinstance(drift, FrontDrift) else None


def _along_front(
    run: PatchRun, state: PatchRunState, now: RatesAtPoints, frame: MovingFrame | None
) -> tuple[PatchRunState, StraightFront | None]:
    """Return the same of a straight front on patches along it."""
    last, chords = None, run.meshing.tiling.chords
    assert chords is not None
    if frame is not None and isinstance(frame.drift, FrontDrift):
        last = frame.drift.moved_zone(state.t - frame.since)
    front = straight_front(now, chords, state.scale, last, run.tol)
    along = None if front is None or not run.follows else front.drift(run.tol)
    if front is None or along is None:
        return replace(state, drift=None), front
    drift, limit = along
    most = _longest(now, drift, limit, state)
    if most is None:
        return replace(state, drift=None), front
    dt = min(max(state.dt, MARCH.change * most) if state.drift is None else state.dt, most)
    lost = state.lost + front.turned(drift, dt)
    return replace(state, drift=drift, dt=dt, lost=lost), replace(front, zone=drift.zone)


def _longest(now: RatesAtPoints, field: Drifts, limit: float, state: PatchRunState) -> float | None:
    """Return how long patches may go along; None where it is not worth it.

    That is until they are bent, or the solution has changed along its way by its size. In place it
    must change by that some times in the same time.
    """
    here, along = (
        float((np.abs(rates).max(axis=1) / state.scale).max())
        for rates in (now.rates, now.along(field))
    )
    most = min(limit, 1.0 / max(along, 1e-300))
    if isinstance(field, FrontDrift) and state.drift is None:
        return most if most > state.dt else None
    gain = MARCH.gain_along_front if isinstance(field, FrontDrift) else MARCH.gain
    return most if here * most > gain else None
