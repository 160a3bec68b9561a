"""Space embedded in a higher one, in which steep fronts are gentle slopes.

Each front adds one coordinate to a point x of d-dimensional space,

    F(x) = (x, s_1(x), ..., s_f(x)),    s(x) = A S(z(x)),    S(z) = 0.6 asinh z + 0.4 atan z,

where z is a level function of the front: zero on it and growing by one over the width that has to
be resolved. S climbs steadily within that width and by equal amounts for every further doubling of
the distance, so that points evenly spread over the surface F(x) resolve the front, the space far
from it and all scales between. A is the length that the climb counts for.

Level functions come from the components of a Gaussian mixture. Component k sees the front as the
quadric z_k(x) = a_k + b_k . d + d . Q_k d / 2 with d = x - mu_k, and is believed in proportion to
rho_k = p_k (1 + |d|^2 / l_k^2)^-4, a Gaussian repeated at all widths from l_k upwards:

    z = sum_k r_k z_k,    r_k = rho_k / sum_j rho_j.

Every function here is analytic. Shapes: m points in d dimensions, f fronts of K components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import BasisError

# The tails of rho: high enough that a component does not disturb the front some lengths away,
# low enough that views of different components blend gently far from the front.
_POWER = 4.0
_LOG_SHARE, _BELL_SHARE = 0.6, 0.4
_FRONT_ARRAYS = ("means", "offsets", "slopes", "curvatures", "lengths", "shares")
# Points at a time: (m, K, d, d) arrays of the second derivatives stay within tens of megabytes.
_CHUNK = 4000


class Jet(NamedTuple):
    """A function's values (m,), gradients (m, d) and Hessians (m, d, d)."""

    value: FloatArray
    gradient: FloatArray
    hessian: FloatArray


@dataclass(frozen=True, eq=False)
class Front:
    """One front: its quadrics, in units of the width to resolve.

    Parameters
    ----------
    means
        (K, d), where the components sit.
    offsets, slopes, curvatures
        a (K,), b (K, d) and symmetric Q (K, d, d) of the quadrics.
    lengths
        l (K,), the distances up to which components are believed in full.
    shares
        p (K,), positive: how much more one component is believed than another.
    amplitude
        A, the length that the climb counts for.
    """

    means: FloatArray
    offsets: FloatArray
    slopes: FloatArray
    curvatures: FloatArray
    lengths: FloatArray
    shares: FloatArray
    amplitude: float

    def __post_init__(self) -> None:
        count, d = self.means.shape
        wanted = ((count, d), (count,), (count, d), (count, d, d), (count,), (count,))
        got = tuple(getattr(self, name).shape for name in _FRONT_ARRAYS)
        if got != wanted:
            raise BasisError(f"Expected a front's arrays of shapes {wanted}, got {got}.")
        finite = all(np.isfinite(getattr(self, name)).all() for name in _FRONT_ARRAYS)
        least = min(self.lengths.min(), self.shares.min(), self.amplitude)
        if not finite or not 0 < least < np.inf:
            raise BasisError(
                "A front's arrays must be finite; its lengths, shares and amplitude positive. "
                f"The smallest of these is {least}."
            )

    def level(self, points: FloatArray) -> FloatArray:
        """Return z at points (m, d): zero on the front, one a width away, (m,)."""
        offset = points[:, None, :] - self.means
        value, _ = self._quadrics(offset)
        return np.asarray((self.believed(offset)[0] * value).sum(axis=1))

    def coordinate(self, points: FloatArray) -> FloatArray:
        """Return s at points (m, d), (m,)."""
        return self.amplitude * climb(self.level(points))[0]

    def slope(self, points: FloatArray) -> FloatArray:
        """Return the gradient of s at points (m, d), (m, d)."""
        offset = points[:, None, :] - self.means
        share, pull, _ = self.believed(offset)
        value, slope = self._quadrics(offset)
        z, _, gradient = _blended(share, pull, value, slope)
        return np.asarray(self.amplitude * climb(z)[1][:, None] * gradient)

    def jet(self, points: FloatArray) -> Jet:
        """Return s with its gradient and Hessian at points (m, d)."""
        steps = range(0, max(len(points), 1), _CHUNK)
        parts = [self._jet(points[i : i + _CHUNK]) for i in steps]
        return Jet(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def _jet(self, points: FloatArray) -> Jet:
        z, gradient, hessian = self._level_jet(points)
        s, first, second = (self.amplitude * part for part in climb(z))
        squared = gradient[:, :, None] * gradient[:, None, :]
        bent = second[:, None, None] * squared + first[:, None, None] * hessian
        return Jet(s, first[:, None] * gradient, bent)

    def _level_jet(self, points: FloatArray) -> Jet:
        """Return z with its derivatives.

        With g_k the gradient of ln rho_k, g = sum_k r_k g_k and sym(a b) = a b^T + b a^T,
        grad z = sum_k r_k (grad z_k + (z_k - z) g_k) and the Hessian is
        sum_k r_k (Q_k + sym(grad z_k g_k) + (z_k - z)(g_k g_k^T + D^2 ln rho_k)) - sym(grad z g).
        """
        offset = points[:, None, :] - self.means
        share, pull, reach = self.believed(offset)
        value, slope = self._quadrics(offset)
        z, excess, gradient = _blended(share, pull, value, slope)
        # D^2 ln rho = 16 d d^T / (l^2 + d^2)^2 - 8 I / (l^2 + d^2), the first being g g^T / 4.
        outer = (1 + 1 / _POWER) * np.einsum("mki,mkj->mij", excess[:, :, None] * pull, pull)
        trace = -2 * _POWER * (excess / reach).sum(axis=1)
        mixed = np.einsum("mki,mkj->mij", share[:, :, None] * slope, pull)
        mixed -= gradient[:, :, None] * (share[:, :, None] * pull).sum(axis=1)[:, None, :]
        hessian = np.tensordot(share, self.curvatures, axes=1) + outer + mixed
        hessian += mixed.swapaxes(1, 2) + trace[:, None, None] * np.eye(points.shape[1])
        return Jet(z, gradient, hessian)

    def _quadrics(self, offset: FloatArray) -> tuple[FloatArray, FloatArray]:
        """z_k (m, K) and their gradients (m, K, d) at offsets (m, K, d)."""
        bend = np.einsum("kij,mkj->mki", self.curvatures, offset)
        value = self.offsets + (offset * (self.slopes + bend / 2)).sum(axis=2)
        return value, self.slopes + bend

    def believed(self, offset: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return r_k (m, K), grad ln rho_k (m, K, d) and l_k^2 + |d|^2 (m, K) at offsets d."""
        reach = self.lengths**2 + (offset * offset).sum(axis=2)
        logarithm = np.log(self.shares) - _POWER * np.log(reach / self.lengths**2)
        rho = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
        share = rho / rho.sum(axis=1, keepdims=True)
        return share, -2 * _POWER * offset / reach[:, :, None], reach


@dataclass(frozen=True, eq=False)
class Embedding:
    """F(x) = (x, s_1(x), ..., s_f(x)).

    Parameters
    ----------
    fronts
        At least one.
    """

    fronts: tuple[Front, ...]

    def __post_init__(self) -> None:
        if not self.fronts or len({front.means.shape[1] for front in self.fronts}) != 1:
            raise BasisError("An embedding needs one front or more, all of the same dimension.")

    @property
    def dimension(self) -> int:
        """The number of coordinates d of a point."""
        return int(self.fronts[0].means.shape[1])

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return F at points (m, d), (m, d + f)."""
        extra = [front.coordinate(points) for front in self.fronts]
        return np.column_stack([points, *extra])

    def jets(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return F (m, d + f), its Jacobian (m, d + f, d) and the s' Hessians (m, f, d, d)."""
        parts = [front.jet(points) for front in self.fronts]
        return (
            np.column_stack([points, *(part.value for part in parts)]),
            self._jacobian([part.gradient for part in parts]),
            np.stack([part.hessian for part in parts], axis=1),
        )

    def jacobian(self, points: FloatArray) -> FloatArray:
        """Return the Jacobian of F at points (m, d), (m, d + f, d)."""
        return self._jacobian([front.slope(points) for front in self.fronts])

    def hessian(self, points: FloatArray) -> FloatArray:
        """Return the Hessians of the extra coordinates at points (m, d), (m, f, d, d)."""
        return self.jets(points)[2]

    def metric(self, points: FloatArray) -> FloatArray:
        """Return J^T J at points (m, d): lengths and angles on the surface, (m, d, d)."""
        jacobian = self.jacobian(points)
        return np.asarray(jacobian.swapaxes(1, 2) @ jacobian)

    def _jacobian(self, slopes: list[FloatArray]) -> FloatArray:
        plain = np.broadcast_to(np.eye(self.dimension), (len(slopes[0]), *[self.dimension] * 2))
        return np.concatenate([plain, np.stack(slopes, axis=1)], axis=1)

    def state(self) -> dict[str, Any]:
        """Return arrays from which `restore_embedding` makes the embedding again."""
        words: dict[str, Any] = {
            "components": [len(front.means) for front in self.fronts],
            "amplitudes": [front.amplitude for front in self.fronts],
        }
        for name in _FRONT_ARRAYS:
            words[name] = np.concatenate([getattr(front, name) for front in self.fronts])
        return words


def restore_embedding(state: dict[str, Any]) -> Embedding:
    """Return the embedding that `Embedding.state` was taken from."""
    cuts = np.cumsum(state["components"])[:-1]
    arrays = [np.split(np.asarray(state[name], dtype=float), cuts) for name in _FRONT_ARRAYS]
    fronts = zip(*arrays, map(float, state["amplitudes"]), strict=True)
    return Embedding(tuple(Front(*own) for own in fronts))


def climb(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return S(z) = 0.6 asinh z + 0.4 atan z and its first two derivatives."""
    root = np.sqrt(1 + z * z)
    value = _LOG_SHARE * np.arcsinh(z) + _BELL_SHARE * np.arctan(z)
    first = _LOG_SHARE / root + _BELL_SHARE / root**2
    second = -z * (_LOG_SHARE / root**3 + 2 * _BELL_SHARE / root**4)
    return value, first, second


def _blended(
    share: FloatArray, pull: FloatArray, value: FloatArray, slope: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return z (m,), r_k (z_k - z) (m, K) and grad z (m, d)."""
    z = (share * value).sum(axis=1)
    excess = share * (value - z[:, None])
    gradient = (share[:, :, None] * slope + excess[:, :, None] * pull).sum(axis=1)
    return z, excess, gradient
