"""Where fronts are and how fast they move: a mixture fitted to what varies at one moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.mixture import Mixture, fit_bins
from sharpfront.pieces.frame import Frame
from sharpfront.place.line.settings import LINE

# Components at most, if nothing is said.
MOST_COMPONENTS = 8
# Places in an element.
IN_ELEMENT = (0.0, 0.25, 0.5, 0.75)


def fronts_of(
    frame: Frame, values: FloatArray, rates: FloatArray, components: int
) -> tuple[Mixture | None, FloatArray]:
    """Return the components of a mixture fitted to what varies, and their speeds.

    The frame has the velocities to which the rates, (n, K), belong.
    """
    nodes = frame.nodes
    x = np.append((nodes[:-1, None] + np.diff(nodes)[:, None] * IN_ELEMENT).ravel(), nodes[-1])
    at = x if frame.ring else np.clip(x, nodes[0], nodes[-1])
    slopes = frame.evaluate(values, at, 1)
    moved = frame.summed(frame.rates_at_rest(values, rates), at)
    u, length = frame.evaluate(values, at).T, float(nodes[-1] - nodes[0])
    profile = Profile(x, u, slopes.T, moved.T, length, frame.ring)
    if float(np.ptp(u, axis=1).max()) <= 1e-12 * max(1.0, float(np.abs(u).max())):
        return None, np.zeros(0)
    mixture = profile.fresh(components)
    return mixture, speeds(profile, mixture)


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

    def masses(self) -> FloatArray:
        """Return the monitor per cell: shares of the variation of u and, half, of u_x."""
        total = np.full(len(self.x) - 1, 1e-12)
        spread = np.ptp(self.values, axis=1)
        for u, slope, size in zip(self.values, self.slopes, spread, strict=True):
            if size <= LINE.unvarying * max(float(spread.max()), 1e-300):
                continue
            for q, weight in ((u, LINE.in_value), (slope, LINE.in_slope)):
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
        heavy = found.weights > LINE.light
        weights = found.weights[heavy] / found.weights[heavy].sum()
        return Mixture(weights, found.means[heavy], found.covariances[heavy])


def speeds(profile: Profile, mixture: Mixture) -> FloatArray:
    """Return each component's speed, from the equation itself.

    Least squares of u_t + (v + s (x - mu)) u_x over the component's responsibilities, shortened by
    the share of u_t that it explains: what grows in place does not move.
    """
    x = 0.5 * (profile.x[1:] + profile.x[:-1])
    middle = [0.5 * (q[:, 1:] + q[:, :-1]) for q in (profile.slopes, profile.rates)]
    size = np.maximum(np.ptp(profile.values, axis=1), 1e-300)[:, None]
    size = np.where(size > LINE.unvarying * size.max(), size, np.inf)
    slopes, rates = middle[0] / size, middle[1] / size
    means, deviations = mixture.means[:, 0], np.sqrt(mixture.covariances[:, 0, 0])
    gap = x - means[:, None]
    if profile.periodic:
        gap -= profile.length * np.round(gap / profile.length)
    z = gap / deviations[:, None]
    share = np.exp(-0.5 * np.minimum(z * z, 1400.0)) * (mixture.weights / deviations)[:, None]
    share = share / (share.sum(axis=0) + 1e-300) * np.diff(profile.x)
    found = [_speed(w, v, slopes, rates) for w, v in zip(share, z, strict=True)]
    return np.array(found)


def _speed(weight: FloatArray, z: FloatArray, slopes: FloatArray, rates: FloatArray) -> float:
    """Return the speed of one component that may widen too."""
    square, product = (slopes**2).sum(axis=0), (slopes * rates).sum(axis=0)
    a = np.array([[weight @ (square * z**p) for p in (i, i + 1)] for i in (0, 1)])
    b = -np.array([weight @ product, weight @ (product * z)])
    if not (a[0, 0] > 0 and np.isfinite(a).all() and np.isfinite(b).all()):
        return 0.0
    motion = np.linalg.lstsq(a, b, rcond=1e-8)[0]
    total = float(weight @ (rates**2).sum(axis=0))
    explained = float(np.clip(motion @ b / total, 0.0, 1.0)) if total > 0 else 0.0
    return float(motion[0]) * explained
