"""A run on patches at its start, and where conditions jump: first rates, steps and patches."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.radau import damped, diagonal
from sharpfront.evolve.patchwork.cells import taken_to
from sharpfront.evolve.patchwork.embedded_run import WeakerPatches, WeakerState
from sharpfront.evolve.patchwork.predictor import on_patches
from sharpfront.evolve.patchwork.remeshing import (
    beside_walls,
    carried_by,
    carried_over,
    tended_patches,
)
from sharpfront.evolve.patchwork.run import PatchRun, PatchRunState
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.evolve.patchwork.tangents import LinearisationState, Tangents
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.strips.collars import collared
from sharpfront.place.tiling.blocks import Tiling


def begun_on_patches(run: PatchRun) -> PatchRunState:
    """Return a run before its first step."""
    system = run.system
    ahead = run.agenda.ahead(*run.span)
    span = run.span[1] - run.span[0]
    watched = run.meshing.watched
    first, second = system.initial(watched)
    scale = np.maximum(1.0, np.abs(first).max(axis=1))
    # A velocity that goes on for all the time moves the unknown by so much.
    sizes = np.maximum(np.abs(first), span * np.abs(second)).max(axis=1)
    unit = scale * run.shares(watched, first, sizes / scale, run.span[0])

    def wanted(points: FloatArray) -> FloatArray:
        first, second = run.jumping.initial(points)
        held = 1.0 if run.meshing.tiling.chords is None else MARCH.held_front
        small = MARCH.space * held * run.tol * unit[:, None]
        return np.concatenate([first / small, span * second / small])

    cells = run.meshing.holding(wanted, partial(system.data, t=ahead))
    shared = (*run.jumping.functions, *run.corners)
    basis = PatchworkBasis(tuple(c.patch for c in cells), shared=shared)
    values = _held_on(run, basis)
    further = 0 if run.meshing.tiling.chords is None else MARCH.weaker_front
    weak = WeakerPatches.of(basis, values[0], further)
    state = PatchRunState(
        run.span[0],
        tuple(cells),
        values,
        WeakerState(weak, _held_on(run, weak.basis)),
        span,
        scale,
        unit,
        # What is left of a start where functions jump is not smooth, and off by more than weights
        # tell.
        carried=bool(run.jumping.held),
        shared=shared,
        lost=_lost_at_start(run, basis, values[0], scale),
    )
    state = settling(run, replace(state, dt=first_length(run, state)))
    if state.settling or not run.follows:
        return state
    if run.meshing.tiling.chords is not None:
        # On patches that do not hold where a front goes to next, it leaves noise along itself.
        return tended_patches(run, _with_first_rates(run, state), None)
    # Rates tell where unknowns are carried; along that way they are taken to stay as they are.
    return replace(carried_by(run, _with_first_rates(run, state), None)[0], values=state.values)


def _lost_at_start(
    run: PatchRun, basis: PatchworkBasis, values: FloatArray, scale: FloatArray
) -> float:
    """Return what patches miss of an initial state at points looked at, where nothing spreads it.

    Both runs miss a tip alike: what they differ by does not tell it.
    """
    if run.system.diffuses:
        return 0.0
    points = run.meshing.watched
    gap = np.abs(basis.sums(values, points) - run.system.initial(points)[0])
    return float((gap.max(axis=1) / scale).max())


def _held_on(run: PatchRun, basis: PatchworkBasis) -> FloatArray:
    """Return the weights of the initial state and its rates on patches, (2, K, n)."""
    held = taken_to(basis.patches, lambda x: run.jumping.initial(x).reshape(-1, len(x)))
    own = held.reshape(2, len(run.system.unknowns), -1)
    known = np.concatenate([own, run.jumping.begun()], axis=2)
    # Of corners of materials nothing is known at a start.
    return np.pad(known, ((0, 0), (0, 0), (0, basis.size - known.shape[2])))


def _with_first_rates(run: PatchRun, state: PatchRunState) -> PatchRunState:
    """Return a start with rates of unknowns that stand alone in an equation, as that tells them."""
    discrete, rates = run.discrete(state.basis), state.values[1].copy()
    levels = np.stack([*state.values, np.zeros_like(rates)])
    own = discrete.held(range(len(run.system.equations)))
    count = len(own) * len(discrete.inner.points)
    left = discrete.data(levels[:, None], np.array([state.t]))[0, :count].reshape(len(own), -1)
    for held, tangents, rest in zip(
        own, discrete.tangents(own, levels, state.t), left, strict=True
    ):
        moving = [(t, c) for t, c in zip(held.residual.terms, tangents, strict=True) if t.orders[2]]
        if len(moving) == 1:
            ((term, c),) = moving
            found = np.where(np.abs(c) > 0, -rest / np.where(c == 0, 1.0, c), 0.0)
            rates[run.system.unknowns.index(term.unknown)] = on_patches(state.basis, found[None])[0]
    return replace(state, values=np.stack([state.values[0], rates]))


def first_length(run: PatchRun, state: PatchRunState) -> float:
    """Return a step in which unknowns change by a part of themselves, by their first rates."""
    discrete = run.discrete(state.basis)
    t = state.t + 1e-9 * (run.span[1] - run.span[0])
    levels = np.stack([*state.values, np.zeros_like(state.values[0])])
    own = discrete.held(range(len(run.system.equations)))
    count = len(own) * len(discrete.inner.points)
    left = discrete.data(levels[:, None], np.array([t]))[0, :count]
    left = np.abs(left).reshape(len(own), -1)
    length = run.span[1] - run.span[0]
    for held, tangents, rest in zip(own, discrete.tangents(own, levels, t), left, strict=True):
        for term, c in zip(held.residual.terms, tangents, strict=True):
            k, power = run.system.unknowns.index(term.unknown), term.orders[2]
            if power and power == run.system.orders[k] and not any(term.orders[:2]):
                fast = float((rest / np.maximum(np.abs(c), 1e-300)).max() / state.scale[k])
                length = min(length, (MARCH.change / max(fast, 1e-300)) ** (1.0 / power))
    speeds = np.abs(discrete.inner.values(state.values[1], (0, 0))).max(axis=1) / state.scale
    moving = max(
        v for v, order in zip([0.0, *speeds], [2, *run.system.orders], strict=True) if order == 2
    )
    return min(length, MARCH.change / max(float(moving), 1e-300))


def settling(run: PatchRun, state: PatchRunState) -> PatchRunState:
    """Return a run that is to be settled first if it misses values that hold now."""
    small = MARCH.missed * run.tol * float(state.unit.min())
    if can_settle(run) and run.system.jumps(state.t, small):
        return to_settle(run, state)
    return state


def can_settle(run: PatchRun) -> bool:
    """Tell whether what a start misses fades: not in waves."""
    return max(run.system.orders) < 2


def to_settle(run: PatchRun, state: PatchRunState) -> PatchRunState:
    """Return a run that takes short equal steps first, on patches for layers along walls.

    A layer grows from there like the root of time, and what a first step leaves out in it is the
    same however short the step is. But it is damped by those after it, if unknowns are not waves.
    """
    count = math.ceil(math.log(MARCH.during * run.tol) / math.log(damped()))
    dt = min(state.dt, MARCH.settles * (run.span[1] - run.span[0]) / count)
    state = replace(
        state, before=None, tried=None, drift=None, dt=dt, settling=count, missed=state.t
    )
    cells, wanted = beside_walls(run, state, count * dt), partial(_wanted, run, state)
    if run.meshing.misses(cells, wanted):
        cells = run.meshing.holding(wanted, cells=cells)
    return replace(carried_over(state, cells), carried=False)


def with_strips(run: PatchRun) -> Tiling:
    """Return a domain with strips along curved sides, for the layers that grow along these.

    They are as deep as they can be: as layers are at the latest moment at which these are thin
    beside the domain. Before that strips are cut along the side.
    """
    tiling, count = run.meshing.tiling, len(run.meshing.tiling.blocks)
    tangents, length = first_tangents(run), run.span[1] - run.span[0]
    least = MARCH.settles * length
    while length > least:
        problem = tangents.problem(float(diagonal().values[0].real) / length)
        found = collared(problem, tiling, SETTINGS, run.tol)
        if len(found.blocks) > count:
            return found
        length *= MARCH.sooner
    return tiling


def first_tangents(run: PatchRun, t: float | None = None) -> Tangents:
    """Return tangents about the initial state, on the largest patches, at the start or later."""
    patches = tuple(c.patch for c in run.meshing.first())
    basis = PatchworkBasis(patches, shared=run.jumping.functions)
    values = _held_on(run, basis)
    levels = np.stack([*values, np.zeros_like(values[0])])
    when = run.span[0] if t is None else t
    return Tangents(run.system, LinearisationState(basis, levels, when))


def _wanted(run: PatchRun, state: PatchRunState, points: FloatArray) -> FloatArray:
    """Return a state in units of what may be left out of it."""
    unit = MARCH.space * run.tol * state.unit[:, None]
    return np.asarray(state.basis.sums(state.values[0], points) / unit)
