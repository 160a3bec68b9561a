"""Steps on patches: how long, on which patches, and whether one may stand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

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
from sharpfront.evolve.march import Stepper, StepTaken, StepTrial
from sharpfront.evolve.patchwork.embedded_run import WeakerState
from sharpfront.evolve.patchwork.factors import PatchFactors, unseen_on_patches, with_rates
from sharpfront.evolve.patchwork.newton import StageStart
from sharpfront.evolve.patchwork.remeshing import carried_over, kept_along, tended_patches
from sharpfront.evolve.patchwork.run import PatchRun, PatchRunState
from sharpfront.evolve.patchwork.run_start import can_settle, first_length, settling, to_settle
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.history import Known


class PatchTrial(NamedTuple):
    """What is known of a step that was solved."""

    step: StageStart
    values: FloatArray  # weights at its beginning and stages, (S + 1, K, n)
    end: PatchRunState  # the run before it, with scale and unit as they are after it
    late: float  # what it leaves in time, as a share of what it may
    factor: float  # how many times longer the next one may be
    between: float  # what its polynomials in time leave out, in units of max(1, max|u|)


@dataclass(frozen=True, eq=False)
class PatchSteps(Stepper[PatchRunState]):
    """Steps of a run on patches."""

    run: PatchRun

    meshes = MARCH.meshes

    def restarted(self, state: PatchRunState) -> tuple[PatchRunState, tuple[str, ...]]:
        """Return the run where rates jump: what went before tells nothing of what follows."""
        run = self.run
        run.strict.factors = run.weaker.factors = None
        state = replace(state, before=None, tried=None, carried=False, drift=None)
        return settling(run, replace(state, dt=min(state.dt, first_length(run, state)))), ()

    def seeing(self, state: PatchRunState, dt: float) -> PatchRunState:
        """Return the run on patches that see what stands out in a small part of the step."""
        for _ in range(self.meshes):
            points = self.run.discrete(state.basis).inner.points
            found = self.run.agenda.unseen(state.t, state.t + dt, partial(_where, points))
            if not found:
                break
            state = carried_over(state, self.run.meshing.halved_at(state.cells, np.array(found)))
        return state

    def tried(self, state: PatchRunState, dt: float) -> StepTrial:
        """Return a step on the present patches."""
        step = StageStart(state.t, dt, state.basis, state.frame, state.values, state.unit)
        levels, factors, count = self.run.strict.solved(step, _guess(state, dt))
        if levels is None:
            return StepTrial(dt, np.inf, count, None)
        found = _with_what_is_left(self.run, state, step, levels, factors)
        return StepTrial(dt, found.late, count, found)

    def shorter(
        self, state: PatchRunState, trial: StepTrial, before: StepTrial | None
    ) -> PatchRunState:
        """Return the run for a shorter step than one that may not stand.

        Where a start leaves as much in a shorter step as in the one that was refused before, no
        step is short enough: it misses slopes on sides, or the equation there, and has to settle.
        """
        if trial.late == np.inf:
            # With patches that stay Newton's method may do better.
            return replace(state, dt=MARCH.cut * trial.dt, drift=kept_along(state, trial.dt))
        refused = np.inf if before is None else before.late
        if state.before is None and trial.late > MARCH.alike * refused and can_settle(self.run):
            return to_settle(self.run, replace(state, dt=first_length(self.run, state)))
        return replace(state, dt=trial.dt * min(trial.found.factor, 0.8))

    def remeshed(self, state: PatchRunState, trial: StepTrial) -> PatchRunState | None:
        """Return the run on patches that hold a step, None if those that it was taken on do."""
        found, meshing = trial.found, self.run.meshing
        tails = meshing.tails(found.end.cells, _blocks(self.run, found.end, found.values))
        if not np.any(tails.tail > MARCH.again):
            return None
        cells, changed = meshing.finer(found.end.cells, tails)
        if not changed:
            return None
        return carried_over(replace(state, tried=(found.values, trial.dt), dt=trial.dt), cells)

    def taken(self, state: PatchRunState, trial: StepTrial, iterations: int) -> StepTaken | None:
        """Return a step that stands, which the weaker run has followed."""
        found = trial.found
        weak, count = state.weak.followed(self.run.weaker, found.step, found.values)
        if weak is None:
            return None
        after, step = _after_step(self.run, found, weak), found.step
        seen = [step.basis.on_patches(own, (-1.0, 0.0, 1.0)) for own in found.values[-1]]
        drift = None if step.frame is None else step.frame.drift
        return StepTaken(
            step.t,
            after.t,
            after,
            found.between + _off_at_ends(self.run, found, weak) + state.lost,
            iterations + count,
            step.basis.size,
            float(np.abs(seen).max()),
            (after.t, step.basis, found.values, drift),
            Known(None, np.zeros((0, 2))),
        )


def _where(points: FloatArray, _: float) -> FloatArray:
    """Return where points are at a moment that stay."""
    return points


def _with_what_is_left(
    run: PatchRun,
    state: PatchRunState,
    step: StageStart,
    levels: FloatArray,
    factors: PatchFactors,
) -> PatchTrial:
    """Return a step with what it leaves in time."""
    values = np.concatenate([state.values[:1], levels])
    values[0] = _consistent(run.system, values)
    inner = factors.discrete.inner
    seen = inner.values(values, (0, 0))
    # What a step that is not taken makes of the unknowns says nothing of their size.
    sizes = np.abs(seen).max(axis=(0, 2))
    scale = np.maximum(state.scale, sizes)
    unit = scale * run.shares(inner.points, seen[-1], sizes / scale, state.t)
    most = MARCH.during * run.tol
    late = _left_in_time(state, seen / unit[:, None]) / most
    factor = MARCH.safe * max(late, 1e-30) ** (-1.0 / (STAGES + 1))
    factor = min(max(factor, MARCH.shrink), MARCH.grows)
    if state.settling:
        late, factor = 0.0, 1.0
    elif late <= 1.0 and run.system.hides:
        off = unseen_on_patches(factors, state.values, values, state.t, run.span)
        late = float((off.max(axis=1) / unit).max()) / most
        factor = min(factor, 0.5) if late > 1.0 else factor
    end = replace(state, scale=scale, unit=unit)
    between = _left_in_time(state, seen / scale[:, None])
    return PatchTrial(step, values, end, late, factor, between)


def _after_step(run: PatchRun, tried: PatchTrial, weak: WeakerState) -> PatchRunState:
    """Return the run after a step that stands, on the patches of the next one."""
    step, values, state = tried.step, tried.values, tried.end
    start = np.stack([values[0], state.values[1]])
    rates = with_rates(start, values[1:], step.dt)[1][-1]
    kept = MARCH.keep[0] < tried.factor < MARCH.keep[1] and not (step.frame or state.carried)
    after = replace(
        state,
        t=run.agenda.settled(step.t + step.dt, run.span[1]),
        values=np.stack([values[-1], rates]),
        dt=step.dt if kept else step.dt * tried.factor,
        before=(values, step.dt),
        tried=None,
        carried=False,
        settling=max(state.settling - 1, 0),
        weak=weak,
    )
    # Rates in a layer that is not settled tell nothing of what follows.
    return after if after.settling else tended_patches(run, after, step.frame)


def _off_at_ends(run: PatchRun, tried: PatchTrial, weak: WeakerState) -> float:
    """Return the largest difference of both runs at the ends of a step, in units of the scale."""
    state, inner = tried.end, run.discrete(tried.step.basis, tried.step.frame).inner
    off = [state.weak.off(tried.values[0]), weak.off(tried.values[-1])]
    # Unknowns without rates begin with what the stages tell.
    off[0][np.array(run.system.orders) == 0] = 0.0
    return float((np.abs(inner.values(np.stack(off), (0, 0))) / state.scale[:, None]).max())


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
