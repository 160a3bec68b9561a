"""Where kernels go next: with their components, towards a better fit, or to other places."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.narrow import Watch
from sharpfront.evolve.quadrature_table import finer_room, more_kernels
from sharpfront.evolve.state import Moment
from sharpfront.evolve.time_events import Agenda
from sharpfront.evolve.tracking import Shape, searched, speeds, trial_error
from sharpfront.evolve.trail import EVEN, Profile
from sharpfront.mixture import Mixture
from sharpfront.pieces.slabs import kernels_of

# What kernels may add to the error in one step, as a share of the tolerance.
IN_SPACE = 0.05
# A coordinate is exchanged for one that fits better by this factor.
BETTER = 0.3
# Shapes that are tried for any mixture.
USUAL = (Shape(2.0, 0.4, 0.1), Shape(5.0, 1.0, 0.3))
# What an exchange may lose, as a share of what kernels may add.
LOST = 0.2


@dataclass(frozen=True, eq=False)
class Run:
    """A run between two steps: everything that the next step depends on.

    Parameters
    ----------
    now
        The state.
    dt
        The step to try next.
    error
        The error so far, on the kernels of the error equation, (m, K').
    scale
        max(1, max|u|) so far, of each unknown, (m,).
    idle
        Steps in a row with more kernels than needed.
    taken
        Steps since the start.
    pace
        Share of the way to the fitted mixture that the last step went, per time.
    unresolved
        What is missed of a state that cannot be resolved, in words.
    before
        The last slab's weights and dt, from which the next guess is drawn; None at the start.
    """

    now: Moment
    dt: float
    error: FloatArray
    scale: FloatArray
    idle: int = 0
    taken: int = 0
    pace: float = float("inf")
    before: tuple[FloatArray, float] | None = None
    unresolved: str = ""

    def error_at(self, x: FloatArray) -> FloatArray:
        """Return the error so far at positions, (m, n)."""
        now, periodic = self.now, self.now.system.periodic
        functions = kernels_of(more_kernels(now.kernels, periodic), periodic)
        xi = now.where.xi(now.where.nearest(x))
        return np.asarray(functions.sums(xi, self.error.T, 0)[0].T)


@dataclass(frozen=True)
class Limits:
    """What the run must keep to.

    Parameters
    ----------
    tol
        Relative to max(1, max|u|).
    start, stop
        The span of time.
    max_kernels
        N at most.
    components
        Of the mixture, at most.
    agenda
        What happens when.
    profile
        Where steps must leave less behind, for it grows.
    share
        What a step may leave behind, as a share of what it may leave where errors do not grow.
    watches
        Equations whose data may be narrow.
    """

    tol: float
    start: float
    stop: float
    max_kernels: int
    components: int
    agenda: Agenda
    profile: Profile = EVEN
    share: float = 1.0
    watches: tuple[Watch, ...] = ()

    def at(self, t: float) -> Limits:
        """Return the limits of a moment."""
        return replace(self, share=self.profile.at(t))

    @property
    def lasting(self) -> float:
        """The tolerance for errors that stay: of space, of the ends of steps, of a start."""
        return self.tol * self.share

    @property
    def strict(self) -> Limits:
        """The limits with that tolerance for everything."""
        return replace(self, tol=self.lasting, share=1.0)

    @property
    def times(self) -> tuple[float, float]:
        """Start and stop."""
        return self.start, self.stop

    @property
    def span(self) -> float:
        """The length of the span."""
        return self.stop - self.start


def is_flat(run: Run, limits: Limits) -> bool:
    """Tell whether what varies in space is too little to place kernels by: noise, for example."""
    least = IN_SPACE * limits.lasting * run.scale
    return bool(np.all(np.ptp(run.now.profile.values, axis=1) <= least))


def stays(now: Moment, dt: float) -> tuple[FloatArray, Moment]:
    """Return what `moved` does for components that stay where they are."""
    return np.zeros(now.mixture.components), replace(now, t=now.t + dt)


def moved(now: Moment, dt: float, relax: float) -> tuple[FloatArray, Moment]:
    """Return the components' speeds, and where the components are at the end of a step."""
    profile, old = now.profile, now.mixture
    v, widening = speeds(profile, old)
    fitted = profile.refitted(old)
    sd, new_sd = (np.sqrt(m.covariances[:, 0, 0]) for m in (old, fitted))
    means, new = old.means[:, 0], fitted.means[:, 0]
    shift, logs = new - means, np.log(new_sd / sd)
    shares = fitted.weights - old.weights
    most = max(
        float(np.max(np.abs(shift) / (now.shape.radius * sd))),
        float(np.max(np.abs(logs))),
        float(np.max(np.abs(shares))),
        1e-300,
    )
    part = min(relax, 0.5 / most)
    low, high = now.system.low, now.system.high
    moved = means + v * dt + part * shift
    if not now.system.periodic:
        moved = np.clip(moved, low, high)
    widths = sd * np.exp(np.clip(widening * dt, -1.0, 1.0) + part * logs)
    widths = np.clip(widths, 1e-12 * (high - low), high - low)
    mixture = Mixture(old.weights + part * shares, moved, widths**2)
    drift = float(old.weights @ (moved - means))
    shape = _tuned(now, relax)
    return v, replace(now, t=now.t + dt, mixture=mixture, shape=shape, zero=now.zero + drift)


def looked_ahead(end: Moment) -> Moment:
    """Return the end of a step with its components where its own solution wants them."""
    return replace(end, mixture=end.profile.refitted(end.mixture), shape=_tuned(end, 1.0))


def _tuned(now: Moment, relax: float) -> Shape:
    """Return the shape a part of the way to a better one next to it."""
    return now.shape.towards(now.better_shape, 0.5 * relax)


def exchanged(
    run: Run, limits: Limits, kernels: int | None = None, better: float = BETTER
) -> Run | None:
    """Return the run on a coordinate fitted anew, if that resolves the state much better.

    Parameters
    ----------
    kernels
        How many to place; as many as there are by default.
    better
        The share of the miss of the present coordinate that must not be exceeded.
    """
    now = run.now
    tried = [_searched(now, start) for start in _promising(now, limits)]
    missed = [trial_error(t.still, now.values, now.kernels) for t in tried]
    i = int(np.argmin(missed))
    if missed[i] > better * trial_error(now.still, now.values, now.kernels):
        return None
    trial = now.placed(tried[i].mixture, tried[i].shape, kernels or now.kernels)
    if transfer_error(now, trial, run.scale) > LOST * IN_SPACE * limits.lasting:
        return None
    return _carried(run, trial)


def _promising(now: Moment, limits: Limits) -> list[Moment]:
    """Return the two best of many mixtures and shapes, before any search."""
    shapes = (now.shape, *USUAL)
    tried = [
        replace(now, mixture=mixture, shape=shape)
        for mixture in _candidates(now, limits)
        for shape in shapes
    ]
    missed = [trial_error(t.still, now.values, now.kernels) for t in tried]
    return [tried[i] for i in np.argsort(missed)[:2]]


def _candidates(now: Moment, limits: Limits) -> list[Mixture]:
    """Return the mixture as it is, after more EM, without one of its components, and new ones."""
    old = now.mixture
    refitted = now.profile.refitted(now.profile.refitted(old))
    found = [old, refitted]
    for k in range(old.components if old.components > 1 else 0):
        keep = np.arange(old.components) != k
        share = old.weights[keep] / old.weights[keep].sum()
        found.append(Mixture(share, old.means[keep], old.covariances[keep]))
    counts = {limits.components, *(n for n in (1, 2, 4) if n < limits.components)}
    return found + [now.profile.fresh(n) for n in sorted(counts)]


def _searched(now: Moment, start: Moment) -> Moment:
    """Return the moment with the best shape of a coordinate near that of a start."""

    def miss(shape: Shape) -> float:
        return trial_error(replace(start, shape=shape).still, now.values, now.kernels)

    return replace(start, shape=searched(start.shape, miss, most=4))


def with_kernels(run: Run, kernels: int) -> Run:
    """Return the run on another number of kernels in the same coordinate."""
    now = run.now
    return _carried(run, now.placed(now.mixture, now.shape, kernels))


def _carried(run: Run, new: Moment) -> Run:
    """Return the run with state and error on new kernels; what the exchange lost is error."""
    old = run.now
    finer = finer_room(run.now.system, new.kernels)
    x = new.where.invert(finer.points).x
    error = run.error_at(x) + old.values(x) - new.values(x)
    return replace(run, now=new, error=error @ finer.projector.T, before=None)


def transfer_error(old: Moment, new: Moment, scale: FloatArray) -> float:
    """Return the largest difference between two moments, in units of the scales."""
    x = np.concatenate([old.profile.x, new.where.invert(np.linspace(0.0, 1.0, 401)).x])
    if not old.system.periodic:
        x = np.clip(x, old.system.low, old.system.high)
    return float((np.abs(old.values(x) - new.values(x)).max(axis=1) / scale).max())
