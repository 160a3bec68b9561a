"""A Gaussian mixture: density, quantiles and draws.

p(x) = sum_k pi_k N(x | mu_k, Sigma_k). Shapes: n points in d dimensions, K components.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log, pi
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from sharpfront.errors import MixtureError

FloatArray: TypeAlias = NDArray[np.float64]
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Mixture:
    """A Gaussian mixture p(x) = sum_k pi_k N(x | mu_k, Sigma_k).

    Points are (n, d); in one dimension (n,) or a single number will do.

    Parameters
    ----------
    weights
        (K,) shares pi_k, not negative, with sum 1.
    means
        (K, d); in one dimension also (K,).
    covariances
        (K, d, d), symmetric positive definite; in one dimension also (K,), the variances.
    """

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray

    def __post_init__(self) -> None:
        """Check the arrays, copy them and make them read-only."""
        weights, means, shapes = (
            np.array(given, float) for given in (self.weights, self.means, self.covariances)
        )
        if means.ndim == shapes.ndim == 1:
            means, shapes = means[:, None], shapes[:, None, None]
        _check_parameters(weights, means, shapes)
        total = float(weights.sum())
        # What was normalised before keeps its bits.
        weights = weights if abs(total - 1.0) < 1e-14 else weights / total
        parts = weights, means, (shapes + shapes.swapaxes(1, 2)) / 2
        for name, array in zip(("weights", "means", "covariances"), parts, strict=True):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def components(self) -> int:
        """How many components K, those of zero weight included."""
        return len(self.weights)

    @property
    def dimension(self) -> int:
        """Dimension d of the space."""
        return int(self.means.shape[1])

    @cached_property
    def _factors(self) -> FloatArray:
        return cholesky(self.covariances)

    def density(self, points: ArrayLike) -> FloatArray:
        """Density p at the points, (n,)."""
        return np.exp(self.log_density(points))

    def log_density(self, points: ArrayLike) -> FloatArray:
        """Natural logarithm of the density at the points, (n,); finite where the density is 0."""
        x = as_points(points)
        if x.shape[1] != self.dimension:
            raise MixtureError(
                f"got points of shape {np.shape(points)}, expected (n, {self.dimension}): "
                "one row per point; try points.reshape(-1, d)"
            )
        return expect(x.T - self.means[:, :, None], self.weights, self._factors)[1]

    def draw(self, count: int, seed: int) -> FloatArray:
        """Independent random points (count, d); the same seed gives the same points."""
        rng = np.random.default_rng(whole(seed, "seed"))
        chosen = rng.choice(self.components, size=whole(count, "count"), p=self.weights)
        normal = rng.standard_normal((count, self.dimension))
        spread = (self._factors[chosen] @ normal[:, :, None])[:, :, 0]
        return np.asarray(self.means[chosen] + spread)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability below x, of the shape of x; one dimension only."""
        weights, mean, sd = self._line("cdf")
        return np.asarray(ndtr((np.asarray(x, float)[..., None] - mean) / sd) @ weights)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Point below which the probability is p, of the shape of p; one dimension only."""
        weights, mean, sd = self._line("quantile")
        level = np.asarray(p, float)
        if not np.all((level >= 0) & (level <= 1)):
            raise MixtureError(f"got p = {p!r}, expected probabilities from 0 to 1")
        x = np.where(level < 0.5, -np.inf, np.inf)
        inside = (level > 0) & (level < 1)
        x[inside] = _invert_cdf(level[inside], weights, mean[:, None], sd[:, None])
        return x

    def _line(self, what: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weights, means and standard deviations, (K,) each."""
        if self.dimension != 1:
            raise MixtureError(
                f"{what} needs a mixture in one dimension, got {self.dimension}; "
                "try draw for points, mass for the probability of a box"
            )
        return self.weights, self.means[:, 0], self._factors[:, 0, 0]

    def mass(self, lower: ArrayLike, upper: ArrayLike) -> float:
        """Probability in the box lower <= x <= upper; corners are numbers or (d,), inf allowed.

        Exact in one dimension and for diagonal covariances; others are integrated by
        `scipy.stats.multivariate_normal`, to about 1e-5 in three dimensions and more.
        """
        shape = (self.dimension,)
        low, high = (np.asarray(corner, float) for corner in (lower, upper))
        if {low.shape, high.shape} - {(), shape} or not np.all(low <= high):
            raise MixtureError(
                f"got a box from {lower!r} to {upper!r}, expected corners of shape {shape} "
                "with lower <= upper; try np.minimum and np.maximum of the two"
            )
        low, high = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
        if np.array_equal(self.covariances, self.covariances * np.eye(self.dimension)):
            sd = np.diagonal(self._factors, axis1=1, axis2=2)
            a, b = (low - self.means) / sd, (high - self.means) / sd
            flip = a > 0  # the lower tail is the one that keeps its digits
            sides = ndtr(np.where(flip, -a, b)) - ndtr(np.where(flip, -b, a))
            return float(self.weights @ sides.prod(axis=1))
        shapes = zip(self.means, self.covariances, strict=True)
        from scipy.stats import multivariate_normal

        boxes = [multivariate_normal.cdf(high, *s, True, lower_limit=low, rng=0) for s in shapes]
        return float(self.weights @ np.array(boxes))


def expect(
    offset: FloatArray, weights: FloatArray, factors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """E-step: q (K, n) and ln p (n,) from x_i - mu_k (K, d, n), pi (K,), Cholesky factors."""
    with np.errstate(divide="ignore"):  # an empty component: ln 0 = -inf, q = 0
        log_joint = np.log(weights)[:, None]
    z: list[FloatArray] = []
    for i in range(offset.shape[1]):  # forward substitution, all components at once
        row = offset[:, i]
        for j in range(i):
            row = row - factors[:, i, j, None] * z[j]
        scale = factors[:, i, i, None]
        z.append(row / scale)
        log_joint = log_joint - (np.log(scale) + 0.5 * log(2 * pi)) - 0.5 * z[i] * z[i]
    peak = log_joint.max(axis=0)
    joint = np.exp(log_joint - peak)
    total = joint.sum(axis=0)
    return joint / total, peak + np.log(total)


def cholesky(covariances: FloatArray) -> FloatArray:
    """Lower triangular factors (K, d, d) of positive definite matrices."""
    if covariances.shape[1] == 1:
        return np.sqrt(covariances)
    return np.asarray(np.linalg.cholesky(covariances), float)


def _invert_cdf(p: FloatArray, weights: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Solve F(x) = p (n,), 0 < p < 1, by bracketed Newton steps; mean and sd are (K, 1)."""
    # The quantile lies between those of the components, and between two knots of a table.
    knots = np.sort((mean + sd * np.linspace(-8, 8, 33)).ravel())
    table = weights @ ndtr((knots - mean) / sd)
    cell, ends = np.searchsorted(table, p), mean + sd * ndtri(p)
    low = np.maximum(ends.min(axis=0), np.append(-np.inf, knots)[cell])
    high = np.minimum(ends.max(axis=0), np.append(knots, np.inf)[cell])
    x = np.clip(np.interp(p, table, knots), low, high)
    before = np.full_like(p, np.inf)
    for _ in range(200):
        z = (x - mean) / sd
        below = weights @ ndtr(z)
        excess = below - p
        slope = (weights / sd[:, 0]) @ np.exp(-0.5 * z * z) / np.sqrt(2 * pi)
        done = np.abs(excess) <= 2 * EPS * (2 * p + np.abs(x) * slope)
        done |= high - low <= 2 * EPS * np.abs(x)
        if done.all():
            break
        low, high = np.where(excess < 0, x, low), np.where(excess > 0, x, high)
        # Newton for ln F = ln p: far out in a tail, for F = p itself, it would only creep.
        miss = np.log1p(np.maximum(excess / np.maximum(p, 1e-307), EPS - 1))
        newton = x - miss * below / np.maximum(slope, np.finfo(float).tiny)
        good = (low < newton) & (newton < high) & (np.abs(miss) < 0.5 * before)
        x = np.where(done, x, np.where(good, newton, 0.5 * (low + high)))
        before = np.abs(miss)
    return x


def as_points(points: ArrayLike) -> FloatArray:
    """Check points and give them as (n, d)."""
    x = np.asarray(points, float)
    x = x.reshape(-1, 1) if x.ndim < 2 else x
    if x.ndim != 2 or x.shape[1] == 0 or not np.isfinite(x).all():
        raise MixtureError(
            f"got points of shape {x.shape} with {np.count_nonzero(~np.isfinite(x))} entries that "
            "are not finite, expected finite numbers of shape (n, d); try points[np.isfinite(...)]"
        )
    return x


def made(weights: FloatArray, means: FloatArray, covariances: FloatArray) -> Mixture:
    """Return a mixture of arrays that EM has made, which are what they must be.

    They are kept as they are, and made read-only.
    """
    mixture = object.__new__(Mixture)
    for name, array in (("weights", weights), ("means", means), ("covariances", covariances)):
        array.flags.writeable = False
        object.__setattr__(mixture, name, array)
    return mixture


def whole(value: int, name: str) -> int:
    """Check an integer that must not be negative."""
    if not isinstance(value, int | np.integer) or value < 0:
        raise MixtureError(f"got {name} = {value!r}, expected an integer not below 0")
    return int(value)


def _check_parameters(weights: FloatArray, means: FloatArray, covariances: FloatArray) -> None:
    """Refuse what is no mixture."""
    shape = means.shape
    fits = weights.shape == shape[:1] and covariances.shape == (*shape, *shape[1:])
    if means.ndim != 2 or 0 in shape or not fits:
        raise MixtureError(
            f"got weights {weights.shape}, means {shape} and covariances {covariances.shape}, "
            "expected (K,), (K, d) and (K, d, d) with K and d at least 1"
        )
    if not (np.all(weights >= 0) and abs(weights.sum() - 1) <= 1e-8):
        raise MixtureError(
            f"got weights {weights.tolist()}, expected none negative and sum 1; "
            "try weights / weights.sum()"
        )
    if not np.isfinite(means).all() or not _are_positive_definite(covariances):
        raise MixtureError(
            f"got means {means} and covariances {covariances}, expected finite means and "
            "symmetric positive definite covariances; try fit with a positive floor"
        )


def _are_positive_definite(matrices: FloatArray) -> bool:
    """Whether matrices (K, d, d) are finite, symmetric up to 1e-8 and positive definite."""
    if matrices.shape[1] == 1:
        return bool(np.isfinite(matrices).all() and (matrices > 0).all())
    diagonal = np.diagonal(matrices, axis1=1, axis2=2)
    if not np.isfinite(matrices).all() or not np.all(diagonal > 0):
        return False
    scale = np.sqrt(diagonal)
    skew = np.abs(matrices - matrices.swapaxes(1, 2))
    if np.any(skew > 1e-8 * scale[:, :, None] * scale[:, None, :]):
        return False
    try:
        np.linalg.cholesky((matrices + matrices.swapaxes(1, 2)) / 2)
    except np.linalg.LinAlgError:
        return False
    return True
