"""The first state: where the initial data vary, found by looking."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sharpfront.arrays import Host
from sharpfront.evolve.equations import TimeSystem
from sharpfront.evolve.error import more_kernels
from sharpfront.evolve.march import LEAST_KERNELS, Limits, Run
from sharpfront.evolve.moment import Moment
from sharpfront.evolve.room import room
from sharpfront.evolve.tracking import LEAST_RADIUS, MOST_RADIUS, RADIUS_STEP, Profile, trial_error
from sharpfront.mixture import Mixture

# Points of the first look, and halvings of a cell across which something jumps.
LOOK, HALVINGS = 4001, 36
# A cell is halved where a quantity changes by more than this share of its range.
JUMP = 0.02
# Share of the tolerance that the first fit may miss.
FIT = 0.02
# First kernels.
FIRST = 32


def sampled(functions: list[Callable[[Host], Host]], low: float, high: float) -> tuple[Host, Host]:
    """Return positions and values of functions, dense where one of them changes fast."""
    x = np.linspace(low, high, LOOK)
    u = np.stack([f(x) for f in functions])
    for _ in range(HALVINGS):
        spread = np.maximum(np.ptp(u, axis=1), 1e-300)[:, None]
        jump = np.abs(np.diff(u, axis=1)) / spread
        slope = np.diff(u, axis=1) / np.diff(x)
        bend = np.zeros_like(jump)
        turn = np.abs(np.diff(slope, axis=1)) * np.minimum(np.diff(x)[1:], np.diff(x)[:-1]) / spread
        bend[:, 1:] = turn
        bend[:, :-1] = np.maximum(bend[:, :-1], turn)
        wide = ((jump > JUMP) | (bend > JUMP)).any(axis=0) & (np.diff(x) > 1e-10 * (high - low))
        if not wide.any():
            break
        middle = 0.5 * (x[1:] + x[:-1])[wide]
        new = np.stack([f(middle) for f in functions])
        at = np.flatnonzero(wide) + 1
        x, u = np.insert(x, at, middle), np.insert(u, at, new, axis=1)
    return x, u


def first_run(system: TimeSystem, limits: Limits) -> Run:
    """Return the run before its first step."""
    functions = [system.initial(name) for name in system.names]
    x, u = sampled(functions, system.low, system.high)
    slopes = np.stack([np.gradient(row, x) for row in u])
    length = system.high - system.low
    profile = Profile(x, u, slopes, np.zeros_like(u), length)
    mixture = _mixture(profile, limits)
    start = system.problem.time
    assert start is not None

    def values(at: Host) -> Host:
        wrapped = system.low + np.mod(at - system.low, length) if system.periodic else at
        return np.stack([f(np.clip(wrapped, system.low, system.high)) for f in functions])

    scale = max(1.0, float(np.abs(u).max()))
    kernels = FIRST | 1 if system.periodic else FIRST
    now = Moment(system, start[0], kernels, mixture, 3.0, 0.0, np.zeros((len(functions), 0)))
    while True:
        now = _with_radius(replace(now, kernels=kernels), values)
        tables = room(kernels, max(system.order, 1), system.periodic)
        weights = values(now.where.invert(tables.points).x) @ tables.projector.T
        now = replace(now, weights=weights)
        finer = room(more_kernels(kernels, system.periodic), max(system.order, 1), system.periodic)
        at = now.where.invert(finer.points).x
        missed = values(at) - now.values(at)
        if np.abs(missed).max() < FIT * limits.tol * scale or kernels >= limits.max_kernels:
            break
        kernels = min(limits.max_kernels, math.ceil(1.25 * kernels))
        kernels = kernels | 1 if system.periodic else kernels
    return Run(now, _first_step(now, limits), missed @ finer.projector.T, scale)


def _mixture(profile: Profile, limits: Limits) -> Mixture:
    if np.ptp(profile.values, axis=1).max() <= 1e-12 * max(1.0, np.abs(profile.values).max()):
        middle = 0.5 * (profile.x[0] + profile.x[-1])
        return Mixture(np.ones(1), np.array([middle]), np.array([profile.length**2]))
    return profile.fresh(limits.components)


def _with_radius(now: Moment, values: Callable[[Host], Host]) -> Moment:
    """Return the moment with the scale of its coordinate that fits the first state best."""
    count = int(math.log(MOST_RADIUS / LEAST_RADIUS) / RADIUS_STEP) + 1
    radii = LEAST_RADIUS * np.exp(RADIUS_STEP * np.arange(count))
    tried = [replace(now, radius=float(r)) for r in radii]
    return min(tried, key=lambda m: trial_error(m.still, values, now.kernels))


def _first_step(now: Moment, limits: Limits) -> float:
    """Return a first step over which little changes."""
    profile = now.profile
    rate = float(np.abs(profile.rates).max())
    size = max(float(np.ptp(profile.values, axis=1).max()), 1e-3)
    span = limits.stop - now.t
    return min(span / 20, 0.02 * size / max(rate, 1e-300))
