"""Steps in products of kernels: move the components, solve the stages, estimate the error.

A state is a value: a slab that is broken off leaves no trace, and what is needed to go on from it
to the same bits can be written down (`checkpoint`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import STAGES, interpolation_rate, legendre, stage_nodes
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.march import Stepper, StepTaken, StepTrial
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.plane.component_motion import Rates, leans, moved, rates
from sharpfront.evolve.plane.defect import error_system, lifted, richer
from sharpfront.evolve.plane.galerkin import Galerkin
from sharpfront.evolve.plane.kernel_growth import (
    bound_of,
    enlarged,
    grown,
    misses_data,
    sees_events,
    too_large,
)
from sharpfront.evolve.plane.run import Aim, ProductState, Slab, SlabError, functions_of
from sharpfront.evolve.plane.settings import PRODUCTS
from sharpfront.evolve.plane.slab import Stages, factored, solve_slab
from sharpfront.evolve.termination import StuckError
from sharpfront.history import Known
from sharpfront.maps import MovingAxis, MovingSquare
from sharpfront.mixture import Mixture
from sharpfront.trust.between_stages import between


@dataclass(frozen=True, eq=False)
class ProductSteps(Stepper[ProductState]):
    """Steps of a run in products of kernels."""

    run: Aim

    # More kernels end at their limit.
    meshes = 100

    def length(self, state: ProductState) -> float:
        """Return how long the next slab is to be."""
        return _length(state, self.run)

    def seeing(self, state: ProductState, dt: float) -> ProductState:
        """Return the run with what the slab goes for; whether it sees its data is told later."""
        if state.counted is not None:
            return state
        square = functions_of(self.run.domain, state.layout, state.product).square
        values = square.product.on_grid(state.weights).ravel()
        aim = self.run.counted(square.grid(0.0).points, values, state.t)
        return replace(state, counted=(aim, bound_of(aim.domain, state)))

    def tried(self, state: ProductState, dt: float) -> StepTrial:
        """Return a slab with the present kernels."""
        assert state.counted is not None
        aim, _ = state.counted
        galerkin, motion = _set_in_motion(aim.system, state, dt)
        stages, march = _stages(galerkin, state, dt, PRODUCTS.last_update * aim.size)
        if not stages.converged:
            return StepTrial(dt, np.inf, stages.updates, PRODUCTS.shrinks)
        square, most = galerkin.square, PRODUCTS.taken * aim.size
        last = legendre()[-1] @ stages.states
        in_time = square.largest(last)
        factor = _slab_factor(in_time, aim)
        if in_time > most:
            return StepTrial(dt, in_time / most, stages.updates, factor)
        march, error = _estimated(galerkin, march, stages.states, last, aim)
        if error.unseen > most:
            shorter = _slab_factor(error.unseen, aim)
            return StepTrial(dt, error.unseen / most, stages.updates, shorter)
        after = replace(
            march,
            t=aim.agenda.settled(march.t + dt, aim.span[1]),
            dt=dt if PRODUCTS.kept[0] < factor < PRODUCTS.kept[1] else dt * factor,
            layout=square.layout.at(dt),
            weights=stages.states[-1],
            slope=interpolation_rate(np.ones(1))[0] @ stages.states / dt,
            lost=march.lost + PRODUCTS.left_behind * in_time,
            before=(motion, dt),
            counted=None,
        )
        slab = Slab(galerkin, stages, dt, in_time, error, after)
        return StepTrial(dt, in_time / most, stages.updates, slab)

    def shorter(
        self, state: ProductState, trial: StepTrial, before: StepTrial | None
    ) -> ProductState:
        """Return the run for a shorter slab than one that may not stand."""
        return replace(state, dt=trial.dt * min(trial.found, 0.9))

    def remeshed(self, state: ProductState, trial: StepTrial) -> ProductState | None:
        """Return the run with more kernels where a slab needs them and there may be more."""
        assert state.counted is not None
        (aim, before), slab = state.counted, trial.found
        blind = not sees_events(slab, aim) or misses_data(aim, state)
        if state.limited or not (blind or too_large(state, before, slab, aim)):
            return None
        more = enlarged(state, aim) if blind else grown(state, slab, aim)
        if more is None and blind:
            words = f"{state.product.size} kernels do not see all data that stand out"
            raise StuckError(words, OutcomeKind.KERNEL_LIMIT)
        return replace(state, limited=True) if more is None else more

    def taken(self, state: ProductState, trial: StepTrial, iterations: int) -> StepTaken:
        """Return a slab that stands."""
        assert state.counted is not None
        (_, before), slab = state.counted, trial.found
        square, after, states = slab.galerkin.square, slab.after, slab.stages.states
        return StepTaken(
            state.t,
            after.t,
            after,
            (max(slab.error.largest, before) + after.lost) / self.run.scale,
            iterations,
            square.product.size,
            square.largest(states[-1], slab.dt),
            (after.t, square.product, states[:, None], square.layout),
            Known(*_components(after.layout.maps, square.axes)),
            limited=after.limited,
        )


def _length(march: ProductState, aim: Aim) -> float:
    """Return the slab's length: not past what must not be jumped over, and leaving no short one.

    That of the systems at hand is taken if it is not much shorter than what is allowed.
    """
    stops = aim.agenda.stops[aim.agenda.stops > march.t]
    left = float(np.append(stops, aim.span[1])[0]) - march.t
    length = min(march.dt, aim.agenda.longest(march.t))
    if length >= left * (1.0 - 1e-9):
        return left
    if march.factors is not None and PRODUCTS.used_again * length <= march.factors.dt <= length:
        length = march.factors.dt
    # Of how much varies in a step `longest` has seen to it: only crumbs before a stop are halved.
    return 0.5 * left if length > 0.5 * left else length


def _set_in_motion(
    system: PlaneSystem, march: ProductState, dt: float
) -> tuple[Galerkin, tuple[Rates, Rates]]:
    """Return the functions over a slab, and the components' rates at its start."""
    domain = system.problem.domain
    space = functions_of(domain, march.layout, march.product)
    square, galerkin = space.square, Galerkin(system, space, march.t)
    if not any(m.moving.count for m in square.maps):
        if march.factors is not None:
            galerkin = Galerkin(system, march.factors.galerkin.space, march.t)
        return galerkin, (NO_RATES, NO_RATES)
    still = Galerkin(system, functions_of(domain, square.layout.still(), march.product), march.t)
    motion = rates(still, march.weights)
    now = leans(square, march.weights)
    maps = []
    for i, where in enumerate(square.maps):
        before = (march.before[0][i], march.before[1]) if march.before else None
        maps.append(moved(where, motion[i], before, (march.placed[i], now[i]), dt))
    moving = functions_of(domain, MovingSquare(square.axes, (maps[0], maps[1])), march.product)
    return Galerkin(system, moving, march.t), motion


def _stages(
    galerkin: Galerkin, march: ProductState, dt: float, close: float
) -> tuple[Stages, ProductState]:
    """Return the stages, and the march with the systems that gave them."""
    guess = march.weights + dt * stage_nodes()[:, None] * march.slope
    old = march.factors
    if old is not None and abs(old.dt - dt) <= 1e-9 * dt and march.rate < PRODUCTS.good_update:
        stages = solve_slab(galerkin, march.weights, guess, old, close)
        if stages.converged:
            return stages, replace(march, rate=stages.rate)
    factors = factored(galerkin, march.weights + 0.5 * dt * march.slope, march.slope, dt)
    stages = solve_slab(galerkin, march.weights, guess, factors, close)
    return stages, replace(march, factors=factors, errors=None, rate=stages.rate)


def _slab_factor(in_time: float, aim: Aim) -> float:
    """Return by how much the next slab should be longer."""
    best = (PRODUCTS.in_time * aim.size / max(in_time, np.finfo(float).tiny)) ** (
        1.0 / (STAGES + 1)
    )
    return float(np.clip(0.9 * best, PRODUCTS.shrinks, PRODUCTS.grows))


def _estimated(
    galerkin: Galerkin, march: ProductState, states: FloatArray, last: FloatArray, aim: Aim
) -> tuple[ProductState, SlabError]:
    """Return the march with its error at a slab's end, and how large that is.

    `last` is the slab's last coefficient in time. A part of it is left behind, and grows with the
    rest of the error.
    """
    assert march.factors is not None
    dt = march.factors.dt
    product = richer(galerkin.square.product)
    wide_states = lifted(states, galerkin.square.product, product)
    if march.errors is not None and not galerkin.square.moves:
        space = march.errors.galerkin.space
    else:
        square = galerkin.square
        space = functions_of(square.domain, square.layout, product)
    wide = Galerkin(galerkin.system, space, galerkin.start)
    errors = march.errors or error_system(wide, wide_states, dt)
    s = between(march.t, march.t + dt, aim.span) if aim.system.hides else np.zeros(0)
    tested = errors.tested(wide, wide_states, s)
    missed = errors.unseen(wide, tested, s)
    rest = errors.carried(wide, march.error) + missed.weights
    rest = rest + PRODUCTS.left_behind * lifted(last, galerkin.square.product, product)
    error = rest + errors.added(wide, tested)
    whole, left = (PRODUCTS.unseen * space.square.largest(e, dt) for e in (error, rest))
    return replace(march, errors=errors, error=error), SlabError(whole, left, missed.largest)


NO_RATES = Rates(np.zeros(0), np.zeros(0), np.zeros(0))


def _components(
    maps: tuple[MovingAxis, MovingAxis], axes: tuple[int, int]
) -> tuple[Mixture | None, FloatArray]:
    """Return the components of both axes as Gaussians in the plane, and their speeds, (K, 2).

    A component of one axis is as wide as the domain along the other.
    """
    weights, means, covariances, speeds = [], [], [], []
    for i, (own, other) in enumerate(zip(maps, maps[::-1], strict=True)):
        c = own.moving
        for k in range(c.count):
            along = np.zeros(2)
            along[axes[i]], along[axes[1 - i]] = c.slopes[k], 1.0
            across = np.zeros(2)
            across[axes[i]] = c.deviations[k]
            mean = np.zeros(2)
            middle = 0.5 * (other.low + other.high)
            mean[axes[i]], mean[axes[1 - i]] = (
                c.means[k] + c.slopes[k] * (middle - own.pivot),
                middle,
            )
            weights.append(c.weights[k])
            means.append(mean)
            covariances.append(
                np.outer(across, across) + other.length**2 / 12.0 * np.outer(along, along)
            )
            speeds.append(across / c.deviations[k] * c.speeds[k])
    if not weights:
        return None, np.zeros((0, 2))
    mixture = Mixture(np.array(weights) / np.sum(weights), np.array(means), np.array(covariances))
    return mixture, np.array(speeds)
