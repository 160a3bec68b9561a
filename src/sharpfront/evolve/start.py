"""The first state: where the initial data vary, found by looking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Coordinate, Expression, Key, ordered
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.breaks import Function, Rounded, met, rounded
from sharpfront.evolve.ending import StuckError
from sharpfront.evolve.equations import Residual, TimeSystem
from sharpfront.evolve.placing import Limits, Run
from sharpfront.evolve.quadrature_table import finer_room, room_of
from sharpfront.evolve.sampling import sampled, stacked
from sharpfront.evolve.state import Moment
from sharpfront.evolve.tracking import Profile, Shape, all_shapes, searched, trial_error
from sharpfront.mixture import Mixture

# Share of the tolerance that the first fit may miss.
FIT = 0.02
# A first fit that misses by more tolerances than this is not worth a step.
UNRESOLVED = 10.0
# Shares of the coming step at which its data are compared with what its points see.
AHEAD = (1e-9, 0.5, 1.0)
# First kernels.
FIRST = 32


def first_run(system: TimeSystem, limits: Limits) -> tuple[Run, list[str]]:
    """Return the run before its first step, and what had to be rounded, in words."""
    functions, words = rounded(system, limits.tol)
    return _begun(system, functions, limits.start, limits), words


def restarted(run: Run, limits: Limits) -> tuple[Run, list[str]]:
    """Return a run at a moment where conditions may jump, its state made to meet them again."""
    now, system = run.now, run.now.system
    plain = [_of_moment(now, i) for i in range(len(system.names))]
    soon = now.t + 1e-9 * limits.span
    functions, words = met(system, plain, limits.tol, soon)
    if functions == plain:
        return replace(run, dt=min(run.dt, _first_step(now, limits)), before=None), []
    new = _begun(system, functions, now.t, limits)
    return _carried(run, new), words


def _carried(run: Run, new: Run) -> Run:
    """Return a run that was begun anew with the error of the one before it."""
    finer = finer_room(new.now.system, new.now.kernels)
    x = new.now.where.invert(finer.points).x
    error = new.error + run.error_at(x) @ finer.projector.T
    scale = np.maximum(run.scale, new.scale)
    return replace(new, error=error, scale=scale, taken=run.taken)


def attentive(run: Run, limits: Limits) -> Run:
    """Return a run whose kernels see the data of the coming step, placed anew if need be."""
    now = run.now
    ahead = min(run.dt, limits.agenda.longest(now.t), limits.stop - now.t)
    moments = [now.t + share * ahead for share in AHEAD]
    missed = [f for w in limits.watches for f in w.missed(now, moments)]
    if not missed:
        return run
    functions = [_of_moment(now, i) for i in range(len(now.system.names))]
    begun = _begun(now.system, functions, now.t, limits, missed)
    new = replace(_carried(run, begun), dt=run.dt)
    again = [f for w in limits.watches for f in w.missed(new.now, moments)]
    if again:
        x = np.linspace(now.system.low, now.system.high, 20_001)
        where = float(x[int(np.argmax(np.abs(np.diff(again[0](x)))))])
        words = f"{new.now.kernels} kernels do not see data that vary near x = {where:.4g}"
        raise StuckError(words, OutcomeKind.KERNEL_LIMIT)
    return new


def _of_moment(now: Moment, index: int) -> Rounded:
    def values(x: FloatArray) -> FloatArray:
        return np.asarray(now.values(x)[index])

    system = now.system
    return Rounded(values, system.low, system.high, system.periodic)


def _begun(
    system: TimeSystem,
    functions: Sequence[Rounded],
    t: float,
    limits: Limits,
    data: Sequence[Function] = (),
) -> Run:
    """Return a run that starts from given functions, on kernels that see given data too."""
    low, length = _seam(functions, system), system.high - system.low
    hints = [x for f in functions for x in f.needles]
    hints += [float(x) for w in limits.watches for x in w.near]
    watched: list[Function] = [*functions, *_sources(system, t, limits), *data]
    x, u = sampled(stacked(watched), low, low + length, hints)
    slopes = np.stack([np.gradient(row, x) for row in u])
    profile = Profile(x, u, slopes, np.zeros_like(u), length, system.periodic)
    scale = np.maximum(1.0, np.abs(u[: len(functions)]).max(axis=1))
    nothing = np.zeros((len(functions), 0))
    shape = Shape(3.0, 1.0, 0.1)
    now = Moment(system, t, 0, _mixture(profile, limits), shape, low, nothing)
    return _resolved(now, functions, scale, limits)


def _resolved(now: Moment, functions: Sequence[Rounded], scale: FloatArray, limits: Limits) -> Run:
    """Return the run on as many kernels as its first state needs."""

    def values(at: FloatArray) -> FloatArray:
        return np.stack([f(at) for f in functions])

    system, kernels = now.system, min(FIRST, limits.max_kernels)
    while True:
        kernels = kernels | 1 if system.periodic else kernels
        now = _shaped(replace(now, kernels=kernels), values)
        tables, finer = room_of(system, kernels), finer_room(system, kernels)
        found = values(now.where.invert(tables.points).x)
        now = replace(now, weights=found @ tables.projector.T)
        at = now.where.invert(finer.points).x
        missed = values(at) - now.values(at)
        worst = float((np.abs(missed).max(axis=1) / scale).max())
        if worst < FIT * limits.tol or kernels >= limits.max_kernels:
            break
        kernels = min(limits.max_kernels, math.ceil(1.25 * kernels))
    words = ""
    if worst > UNRESOLVED * limits.tol:
        i, j = np.unravel_index(int(np.argmax(np.abs(missed) / scale[:, None])), missed.shape)
        words = f"{kernels} kernels miss {system.names[i]} by {worst:.1e} near x = {at[j]:.4g}"
    blurred = np.stack([f.blurred()(at) for f in functions])
    error = (missed + values(at) - blurred) @ finer.projector.T
    return Run(now, _first_step(now, limits), error, scale, unresolved=words)


def _sources(system: TimeSystem, t: float, limits: Limits) -> list[Function]:
    """Return what the equations hold at rest, as functions of x: sources may be narrow too."""

    def source(equation: Residual, when: float) -> Function:
        def of_x(x: FloatArray) -> FloatArray:
            length = system.high - system.low
            at = system.low + np.mod(x - system.low, length) if system.periodic else x
            return _explicit(system, equation, np.clip(at, system.low, system.high), 0 * x + when)

        return of_x

    found = []
    middle = 0.5 * (t + limits.stop)
    for equation in system.equations:
        if _depends(equation.expression, system.problem.coordinates[0]):
            found.append(source(equation, t))
            later, last = source(equation, middle), source(equation, limits.stop)
            if _depends(equation.expression, "t") and _stays(later, last, system):
                found.append(later)
    return found


def _depends(expression: Expression, coordinate: str) -> bool:
    """Tell whether a coordinate itself stands in an expression."""
    return any(isinstance(n, Coordinate) and n.name == coordinate for n in ordered(expression))


def _explicit(system: TimeSystem, residual: Residual, x: FloatArray, t: FloatArray) -> FloatArray:
    """Return a residual at points with the unknowns as they start and their derivatives zero."""
    leaves: dict[Key, FloatArray] = {
        ("coordinate", system.problem.coordinates[0]): x,
        ("coordinate", "t"): t,
    }
    for name in system.names:
        leaves["derivative", name, (0, 0)] = system.initial(name)(x)
        for orders in ((1, 0), (2, 0), (3, 0), (4, 0), (0, 1)):
            leaves["derivative", name, orders] = np.zeros(len(x))
    return residual.at(leaves, len(x))


def _stays(one: Function, other: Function, system: TimeSystem) -> bool:
    """Tell whether two functions are steepest at the same place."""
    x = np.linspace(system.low, system.high, 4001)
    first, second = (int(np.argmax(np.abs(np.diff(f(x))))) for f in (one, other))
    return abs(first - second) < 40


def _seam(functions: Sequence[Function], system: TimeSystem) -> float:
    """Return where a circle is cut open: far from what varies."""
    if not system.periodic:
        return system.low
    x, u = sampled(stacked(functions), system.low, system.high)
    spread = np.maximum(np.ptp(u, axis=1), 1e-300)[:, None]
    slope = np.diff(u, axis=1) / np.diff(x)
    busy = (np.abs(slope) / spread).sum(axis=0)
    even = np.linspace(system.low, system.high, 257)[:-1]
    index = np.clip(np.searchsorted(x, even, side="right") - 1, 0, len(busy) - 1)
    around = sum(np.roll(busy[index], k) for k in range(-8, 9))
    return float(even[int(np.argmin(around))])


def _mixture(profile: Profile, limits: Limits) -> Mixture:
    if np.ptp(profile.values, axis=1).max() <= 1e-12 * max(1.0, np.abs(profile.values).max()):
        middle = 0.5 * (profile.x[0] + profile.x[-1])
        return Mixture(np.ones(1), np.array([middle]), np.array([profile.length**2]))
    return profile.fresh(limits.components)


def _shaped(now: Moment, values: Function) -> Moment:
    """Return the moment with the coordinate that fits the first state best."""

    def miss(shape: Shape) -> float:
        return trial_error(replace(now, shape=shape).still, values, now.kernels)

    return replace(now, shape=searched(min(all_shapes(), key=miss), miss))


def _first_step(now: Moment, limits: Limits) -> float:
    """Return a first step over which little changes, on the whole."""
    profile, system = now.profile, now.system
    steps = np.diff(profile.x)
    rate = float((np.abs(profile.rates[:, 1:]) @ steps).max()) / (system.high - system.low)
    size = max(float(np.ptp(profile.values, axis=1).max()), 1e-3)
    span = limits.stop - now.t
    return min(span / 20, 0.02 * size / max(rate, 1e-300))
