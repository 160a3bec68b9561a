"""The first state: where the initial data vary, found by looking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import Host
from sharpfront.evolve.breaks import Function, rounded
from sharpfront.evolve.equations import TimeSystem
from sharpfront.evolve.error import more_kernels
from sharpfront.evolve.moment import Moment
from sharpfront.evolve.placing import Limits, Run
from sharpfront.evolve.room import room
from sharpfront.evolve.tracking import Profile, Shape, all_shapes, searched, trial_error
from sharpfront.mixture import Mixture

# Points of the first look, halvings of a cell across which something changes, points at most.
LOOK, HALVINGS, MOST = 4001, 40, 100_000
# A cell is halved where a quantity changes by more than this share of its range.
JUMP = 0.02
# Share of the tolerance that the first fit may miss.
FIT = 0.02
# First kernels.
FIRST = 32


def sampled(functions: Sequence[Function], low: float, high: float) -> tuple[Host, Host]:
    """Return positions and values of functions, dense where they or their slopes change fast."""
    x = np.linspace(low, high, LOOK)
    u = np.stack([f(x) for f in functions])
    for _ in range(HALVINGS):
        wide = _changes(x, u) & (np.diff(x) > 1e-13 * (high - low))
        if not wide.any() or len(x) > MOST:
            break
        middle = 0.5 * (x[1:] + x[:-1])[wide]
        new = np.stack([f(middle) for f in functions])
        at = np.flatnonzero(wide) + 1
        x, u = np.insert(x, at, middle), np.insert(u, at, new, axis=1)
    return x, u


def _changes(x: Host, u: Host) -> NDArray[np.bool_]:
    """Tell over which cells a function or its slope changes by too much of its range."""
    steps = np.diff(x)
    slope = np.diff(u, axis=1) / steps
    spread = np.maximum(np.ptp(u, axis=1), 1e-300)[:, None]
    steep = np.maximum(np.ptp(slope, axis=1), 1e-6 * spread[:, 0] / (x[-1] - x[0]))[:, None]
    jump = np.abs(np.diff(u, axis=1)) > JUMP * spread
    turn = np.abs(np.diff(slope, axis=1)) > 2.0 * JUMP * steep
    # Below this a slope is rounding.
    turn &= np.minimum(steps[1:], steps[:-1]) > 1e-14 * np.abs(u).max() / (JUMP * steep)
    jump[:, 1:] |= turn
    jump[:, :-1] |= turn
    return np.asarray(jump.any(axis=0))


def first_run(system: TimeSystem, limits: Limits) -> tuple[Run, list[str]]:
    """Return the run before its first step, and what had to be rounded, in words."""
    functions, words = rounded(system, limits.tol)
    low = _seam(functions, system)
    x, u = sampled(functions, low, low + system.high - system.low)
    slopes = np.stack([np.gradient(row, x) for row in u])
    length = system.high - system.low
    profile = Profile(x, u, slopes, np.zeros_like(u), length, system.periodic)
    mixture = _mixture(profile, limits)
    start = system.problem.time
    assert start is not None

    def values(at: Host) -> Host:
        return np.stack([f(at) for f in functions])

    scale = np.maximum(1.0, np.abs(u).max(axis=1))
    kernels = FIRST | 1 if system.periodic else FIRST
    now = Moment(
        system, start[0], kernels, mixture, Shape(3.0, 1.0, 0.1), low, np.zeros((len(functions), 0))
    )
    while True:
        now = _shaped(replace(now, kernels=kernels), values)
        tables = room(kernels, max(system.order, 1), system.periodic)
        weights = values(now.where.invert(tables.points).x) @ tables.projector.T
        now = replace(now, weights=weights)
        finer = room(more_kernels(kernels, system.periodic), max(system.order, 1), system.periodic)
        at = now.where.invert(finer.points).x
        missed = values(at) - now.values(at)
        worst = float((np.abs(missed).max(axis=1) / scale).max())
        if worst < FIT * limits.tol or kernels >= limits.max_kernels:
            break
        kernels = min(limits.max_kernels, math.ceil(1.25 * kernels))
        kernels = kernels | 1 if system.periodic else kernels
    blurred = np.stack([f.blurred()(at) for f in functions])
    error = (missed + values(at) - blurred) @ finer.projector.T
    return Run(now, _first_step(now, limits), error, scale), words


def _seam(functions: Sequence[Function], system: TimeSystem) -> float:
    """Return where a circle is cut open: far from what varies."""
    if not system.periodic:
        return system.low
    x, u = sampled(functions, system.low, system.high)
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
