"""A Gaussian mixture: density, mass and draws.

p(x) = sum_k pi_k N(x | mu_k, Sigma_k). Shapes: n points in d dimensions, K components.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log, pi
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from sharpfront.errors import MixtureError

FloatArray: TypeAlias = NDArray[np.float64]


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

    def mass(self, low: float, high: float) -> float:
        """Probability between two places, inf allowed; one dimension only."""
        if self.dimension != 1 or not low <= high:
            raise MixtureError(
                f"got places {low} and {high} in {self.dimension} dimension(s), expected the ends "
                "of an interval, the lower one first"
            )
        mean, sd = self.means[:, 0], self._factors[:, 0, 0]
        a, b = (low - mean) / sd, (high - mean) / sd
        flip = a > 0  # the lower tail is the one that keeps its digits
        return float(self.weights @ (ndtr(np.where(flip, -a, b)) - ndtr(np.where(flip, -b, a))))


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
