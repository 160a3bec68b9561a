"""The mixture that follows the fronts: what it is fitted to, and how its components move."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.quadrature_table import room
from sharpfront.mixture import Mixture, fit_bins, refit_bins, wrapped
from sharpfront.pieces.motion import Components, Motion

# Components at most, if nothing is said.
COMPONENTS = 8
# Weights of the variation of u and of u_x in the monitor.
IN_VALUE, IN_SLOPE = 0.2, 1.0
# Lighter components are the tails of others.
LIGHT = 0.005
# An unknown that varies less than this share of the largest is not followed.
FLAT = 1e-8
# Kernels of the trial fits that tell one coordinate from another, as a share of those in use.
TRIAL = 0.6
# The coordinate's scale in deviations of a component: where the search begins and ends.
LEAST_RADIUS, MOST_RADIUS = 0.5, 64.0
# Shares of kernels like weights to a power between this and one.
LEAST_EVENNESS = 0.2
# Share of the kernels that is spread evenly.
LEAST_EVEN, MOST_EVEN = 0.05, 0.7
# Steps of the search for all three.
RADIUS_STEP, EVENNESS_STEP, EVEN_STEP = 0.3, 0.15, 0.4


@dataclass(frozen=True)
class Shape:
    """How a mixture is made into a coordinate: three numbers, found by trial fits.

    Parameters
    ----------
    radius
        The coordinate's scale in deviations of a component.
    evenness
        Components get shares of the kernels like their weights to this power.
    even
        Share of the kernels that belongs to no component.
    """

    radius: float
    evenness: float
    even: float

    def near(self) -> list[Shape]:
        """Return the shapes one step away."""
        tried = [
            Shape(self.radius * math.exp(r), self.evenness + p, self.even * math.exp(e))
            for r, p, e in (
                (RADIUS_STEP, 0.0, 0.0),
                (-RADIUS_STEP, 0.0, 0.0),
                (0.0, EVENNESS_STEP, 0.0),
                (0.0, -EVENNESS_STEP, 0.0),
                (0.0, 0.0, EVEN_STEP),
                (0.0, 0.0, -EVEN_STEP),
            )
        ]
        return [s for s in tried if s.allowed]

    def towards(self, other: Shape, part: float) -> Shape:
        """Return a shape a part of the way to another."""
        return Shape(
            self.radius ** (1 - part) * other.radius**part,
            self.evenness * (1 - part) + other.evenness * part,
            self.even ** (1 - part) * other.even**part,
        )

    @property
    def allowed(self) -> bool:
        """Whether all numbers are within their bounds."""
        return (
            LEAST_RADIUS <= self.radius <= MOST_RADIUS
            and LEAST_EVENNESS <= self.evenness <= 1.0 + 1e-9
            and LEAST_EVEN <= self.even <= MOST_EVEN
        )


def all_shapes() -> list[Shape]:
    """Return the shapes from which the first is chosen."""
    count = int(math.log(MOST_RADIUS / LEAST_RADIUS) / (2 * RADIUS_STEP)) + 1
    radii = LEAST_RADIUS * np.exp(2 * RADIUS_STEP * np.arange(count))
    return [Shape(float(r), p, e) for r in radii for p in (1.0, 0.4) for e in (0.1, 0.3)]


def searched(
    start: Shape, miss: Callable[[Shape], float], better: float = 0.8, most: int = 8
) -> Shape:
    """Walk from one shape to better ones until none is better by much."""
    best, least = start, miss(start)
    for _ in range(most):
        near = best.near()
        missed = [miss(s) for s in near]
        i = int(np.argmin(missed))
        if missed[i] > better * least:
            break
        best, least = near[i], missed[i]
    return best


@dataclass(frozen=True, eq=False)
class Profile:
    """The unknowns at one moment on a fine grid in x.

    Parameters
    ----------
    x
        Increasing, (n + 1,).
    values, slopes, rates
        u, u_x and u_t of each unknown, (m, n + 1).
    length
        Of the domain.
    periodic
        Whether the last point is the first.
    """

    x: FloatArray
    values: FloatArray
    slopes: FloatArray
    rates: FloatArray
    length: float
    periodic: bool = False

    @property
    def period(self) -> float | None:
        """The length of the circle, None for a line."""
        return self.length if self.periodic else None

    def masses(self) -> FloatArray:
        """Return the monitor per cell: shares of the variation of u and, half, of u_x."""
        total = np.full(len(self.x) - 1, 1e-12)
        spread = np.ptp(self.values, axis=1)
        for u, slope, size in zip(self.values, self.slopes, spread, strict=True):
            if size <= FLAT * max(float(spread.max()), 1e-300):
                continue
            for q, weight in ((u, IN_VALUE), (slope, IN_SLOPE)):
                change = np.abs(np.diff(q))
                total += weight * change / max(float(change.sum()), 1e-300)
        return total

    def opened(self) -> Profile:
        """Return a circle cut open where least varies, so that no component is cut in two."""
        busy = self.masses() / np.diff(self.x)
        around = np.convolve(np.concatenate([busy, busy[:12]]), np.ones(13), mode="valid")
        i = (int(np.argmin(around[: len(busy)])) + 6) % len(busy)
        x = np.concatenate([self.x[i:], self.x[1 : i + 1] + self.length])
        values, slopes, rates = (
            np.concatenate([q[:, i:], q[:, 1 : i + 1]], axis=1)
            for q in (self.values, self.slopes, self.rates)
        )
        return Profile(x, values, slopes, rates, self.length, periodic=True)

    def fresh(self, components: int) -> Mixture:
        """Return a mixture fitted to the monitor from nothing."""
        line = self.opened() if self.periodic else self
        found = fit_bins(line.x, line.masses(), components)
        heavy = found.weights > LIGHT
        weights = found.weights[heavy] / found.weights[heavy].sum()
        return Mixture(weights, found.means[heavy], found.covariances[heavy])

    def refitted(self, mixture: Mixture) -> Mixture:
        """Return the mixture after some EM on the monitor; components keep their places."""
        return refit_bins(mixture, self.x, self.masses(), self.period)


def speeds(profile: Profile, mixture: Mixture) -> tuple[FloatArray, FloatArray]:
    """Return each component's speed and rate of widening, from the equation itself.

    Least squares of u_t + (v + s (x - mu)) u_x over the component's responsibilities, shortened by
    the share of u_t that it explains: what grows in place does not move.
    """
    x = 0.5 * (profile.x[1:] + profile.x[:-1])
    middle = [0.5 * (q[:, 1:] + q[:, :-1]) for q in (profile.slopes, profile.rates)]
    size = np.maximum(np.ptp(profile.values, axis=1), 1e-300)[:, None]
    size = np.where(size > FLAT * size.max(), size, np.inf)
    slopes, rates = middle[0] / size, middle[1] / size
    means, deviations = mixture.means[:, 0], np.sqrt(mixture.covariances[:, 0, 0])
    z = wrapped(x - means[:, None], profile.period) / deviations[:, None]
    share = np.exp(-0.5 * np.minimum(z * z, 1400.0)) * (mixture.weights / deviations)[:, None]
    share = share / (share.sum(axis=0) + 1e-300) * np.diff(profile.x)
    found = [_motion(w, v, slopes, rates) for w, v in zip(share, z, strict=True)]
    v, s = np.array(found).T
    return v, s / deviations


def _motion(
    weight: FloatArray, z: FloatArray, slopes: FloatArray, rates: FloatArray
) -> tuple[float, float]:
    """Return speed and widening (in deviations) of one component."""
    square, product = (slopes**2).sum(axis=0), (slopes * rates).sum(axis=0)
    a = np.array([[weight @ (square * z**p) for p in (i, i + 1)] for i in (0, 1)])
    b = -np.array([weight @ product, weight @ (product * z)])
    if not (a[0, 0] > 0 and np.isfinite(a).all() and np.isfinite(b).all()):
        return 0.0, 0.0
    motion = np.linalg.lstsq(a, b, rcond=1e-8)[0]
    total = float(weight @ (rates**2).sum(axis=0))
    explained = float(np.clip(motion @ b / total, 0.0, 1.0)) if total > 0 else 0.0
    return float(motion[0]) * explained, float(motion[1]) * explained


def as_components(mixture: Mixture, shape: Shape, length: float) -> Components:
    """Return the components of a coordinate; none is wider than the domain."""
    scale = np.minimum(shape.radius * np.sqrt(mixture.covariances[:, 0, 0]), length)
    shares = mixture.weights**shape.evenness
    return Components(mixture.means[:, 0], np.log(scale), shares / shares.sum(), shape.even)


def trial_error(still: Motion, values: Callable[[FloatArray], FloatArray], kernels: int) -> float:
    """Return how well fewer kernels in a coordinate could fit the unknowns: the largest miss.

    Parameters
    ----------
    still
        A coordinate, looked at where its time begins.
    values
        The unknowns as functions of x, (n,) to (m, n).
    kernels
        Those in use.
    """
    tables = room(max(12, int(TRIAL * kernels)), 1, still.periodic)
    found = values(still.at(still.times[0]).invert(tables.points).x)
    missed = found - (found @ tables.projector.T) @ tables.inner[0].T
    return float(np.abs(missed).max())
