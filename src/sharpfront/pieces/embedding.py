"""Space embedded in a higher one, in which steep fronts are gentle slopes.

Each front adds one coordinate to a point x of d-dimensional space,

    F(x) = (x, s_1(x), ..., s_f(x)),    s(x) = A(x) S(z(x)),    S(z) = 0.6 asinh z + 0.4 atan z,

where z is a level function of the front: zero on it and growing by one over the width that has to
be resolved. S climbs steadily within that width and by equal amounts for every further doubling of
the distance, so that points evenly spread over the surface F(x) resolve the front, the space far
from it and all scales between. A is the length that the climb counts for.

Level functions come from the components of a Gaussian mixture. Component k sees the front as the
quadric z_k(x) = a_k + b_k . d + d . Q_k d / 2 with d = x - mu_k, and is believed in proportion to
rho_k = p_k (1 + |d|^2 / l_k^2)^-4, a Gaussian repeated at all widths from l_k upwards:

    z = sum_k r_k z_k,    A = sum_k r_k A_k,    r_k = rho_k / sum_j rho_j.

Every function here is analytic. Shapes: m points in d dimensions, f fronts of K components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sharpfront.arrays import Host
from sharpfront.errors import BasisError

# The tails of rho: high enough that a component does not disturb the front some lengths away,
# low enough that views of different components blend gently far from the front.
_POWER = 4.0
_LOG_SHARE, _BELL_SHARE = 0.6, 0.4
_FRONT_ARRAYS = ("means", "offsets", "slopes", "curvatures", "lengths", "shares", "amplitudes")
# Points at a time: (m, K, d, d) arrays of the second derivatives stay within tens of megabytes.
_CHUNK = 4000


class Jet(NamedTuple):
    """A function's values (m,), gradients (m, d) and Hessians (m, d, d)."""

    value: Host
    gradient: Host
    hessian: Host


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
    amplitudes
        A (K,), the lengths that the climb counts for.
    """

    means: Host
    offsets: Host
    slopes: Host
    curvatures: Host
    lengths: Host
    shares: Host
    amplitudes: Host

    def __post_init__(self) -> None:
        count, dimension = self.means.shape
        wanted = (
            (count, dimension),
            (count,),
            (count, dimension),
            (count, dimension, dimension),
            (count,),
            (count,),
            (count,),
        )
        got = tuple(getattr(self, name).shape for name in _FRONT_ARRAYS)
        if got != wanted:
            raise BasisError(f"Expected a front's arrays of shapes {wanted}, got {got}.")
        if not all(np.isfinite(getattr(self, name)).all() for name in _FRONT_ARRAYS) or (
            min(self.lengths.min(), self.shares.min()) <= 0
        ):
            raise BasisError("A front's arrays must be finite and its lengths and shares positive.")

    def level(self, points: Host) -> Host:
        """Return z at points (m, d): zero on the front, one a width away, (m,)."""
        offset = points[:, None, :] - self.means
        share, _, _ = self._shares(offset)
        return np.asarray((share * self._quadrics(offset)).sum(axis=1))

    def coordinate(self, points: Host) -> Host:
        """Return s = A S(z) at points (m, d), (m,)."""
        offset = points[:, None, :] - self.means
        share, _, _ = self._shares(offset)
        z = (share * self._quadrics(offset)).sum(axis=1)
        return np.asarray((share @ self.amplitudes) * climb(z)[0])

    def jet(self, points: Host) -> Jet:
        """Return s with its gradient and Hessian at points (m, d)."""
        steps = range(0, max(len(points), 1), _CHUNK)
        parts = [self._jet(points[i : i + _CHUNK]) for i in steps]
        return Jet(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def _jet(self, points: Host) -> Jet:
        offset = points[:, None, :] - self.means
        share, pull, bend = self._shares(offset)
        slope = self.slopes + np.einsum("kij,mkj->mki", self.curvatures, offset)
        z = _blend(share, pull, bend, self._quadrics(offset), slope, self.curvatures)
        amplitude = np.broadcast_to(self.amplitudes, share.shape)
        a = _blend(share, pull, bend, amplitude, np.zeros_like(offset), self.curvatures * 0)
        s, first, second = climb(z.value)
        outer = _symmetric(a.gradient, z.gradient)
        squared = z.gradient[:, :, None] * z.gradient[:, None, :]
        return Jet(
            a.value * s,
            a.gradient * s[:, None] + (a.value * first)[:, None] * z.gradient,
            a.hessian * s[:, None, None]
            + first[:, None, None] * outer
            + a.value[:, None, None]
            * (second[:, None, None] * squared + first[:, None, None] * z.hessian),
        )

    def _quadrics(self, offset: Host) -> Host:
        """z_k at offsets (m, K, d), (m, K)."""
        half = 0.5 * np.einsum("mki,kij,mkj->mk", offset, self.curvatures, offset)
        return np.asarray(self.offsets + np.einsum("mki,ki->mk", offset, self.slopes) + half)

    def _shares(self, offset: Host) -> tuple[Host, Host, Host]:
        """r_k (m, K), and gradient (m, K, d) and Hessian (m, K, d, d) of ln rho_k."""
        square = np.einsum("mki,mki->mk", offset, offset)
        reach = self.lengths**2 + square
        logarithm = np.log(self.shares) - _POWER * np.log(reach / self.lengths**2)
        rho = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
        share = rho / rho.sum(axis=1, keepdims=True)
        scaled = offset / reach[:, :, None]
        pull = -2 * _POWER * scaled
        bend = 4 * _POWER * scaled[:, :, :, None] * scaled[:, :, None, :]
        dimension = range(offset.shape[2])
        bend[:, :, dimension, dimension] -= (2 * _POWER / reach)[:, :, None]
        return share, pull, bend


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

    def __call__(self, points: Host) -> Host:
        """Return F at points (m, d), (m, d + f)."""
        extra = [front.coordinate(points) for front in self.fronts]
        return np.column_stack([points, *extra])

    def jets(self, points: Host) -> tuple[Host, Host, Host]:
        """Return F (m, d + f), its Jacobian (m, d + f, d) and the s' Hessians (m, f, d, d)."""
        parts = [front.jet(points) for front in self.fronts]
        plain = np.broadcast_to(np.eye(self.dimension), (len(points), *[self.dimension] * 2))
        slopes = np.stack([part.gradient for part in parts], axis=1)
        return (
            np.column_stack([points, *(part.value for part in parts)]),
            np.concatenate([plain, slopes], axis=1),
            np.stack([part.hessian for part in parts], axis=1),
        )

    def jacobian(self, points: Host) -> Host:
        """Return the Jacobian of F at points (m, d), (m, d + f, d)."""
        return self.jets(points)[1]

    def hessian(self, points: Host) -> Host:
        """Return the Hessians of the extra coordinates at points (m, d), (m, f, d, d)."""
        return self.jets(points)[2]

    def metric(self, points: Host) -> Host:
        """Return J^T J at points (m, d): lengths and angles on the surface, (m, d, d)."""
        jacobian = self.jacobian(points)
        return np.asarray(jacobian.swapaxes(1, 2) @ jacobian)

    def state(self) -> dict[str, Any]:
        """Return arrays from which `restore_embedding` makes the embedding again."""
        words: dict[str, Any] = {"components": [len(front.means) for front in self.fronts]}
        for name in _FRONT_ARRAYS:
            words[name] = np.concatenate([getattr(front, name) for front in self.fronts])
        return words


def restore_embedding(state: dict[str, Any]) -> Embedding:
    """Return the embedding that `Embedding.state` was taken from."""
    cuts = np.cumsum(state["components"])[:-1]
    arrays = [np.split(np.asarray(state[name], dtype=float), cuts) for name in _FRONT_ARRAYS]
    return Embedding(tuple(Front(*own) for own in zip(*arrays, strict=True)))


def climb(z: Host) -> tuple[Host, Host, Host]:
    """Return S(z) = 0.6 asinh z + 0.4 atan z and its first two derivatives."""
    root = np.sqrt(1 + z * z)
    value = _LOG_SHARE * np.arcsinh(z) + _BELL_SHARE * np.arctan(z)
    first = _LOG_SHARE / root + _BELL_SHARE / root**2
    second = -z * (_LOG_SHARE / root**3 + 2 * _BELL_SHARE / root**4)
    return value, first, second


def _blend(share: Host, pull: Host, bend: Host, value: Host, slope: Host, curvature: Host) -> Jet:
    """Blend functions f_k with shares r_k ~ rho_k.

    With g_k the gradient of ln rho_k and M = sum_k r_k f_k,
    grad M = sum_k r_k (grad f_k + (f_k - M) g_k), and the Hessian is
    sum_k r_k (D^2 f_k + 2 sym(grad f_k g_k) + (f_k - M)(g_k g_k + D^2 ln rho_k)) - 2 sym(grad M g)
    with g = sum_k r_k g_k and sym(a b) = (a b^T + b a^T) / 2.
    """
    mean = (share * value).sum(axis=1)
    excess = share * (value - mean[:, None])
    gradient = np.einsum("mk,mki->mi", share, slope) + np.einsum("mk,mki->mi", excess, pull)
    average = np.einsum("mk,mki->mi", share, pull)
    cross = np.einsum("mki,mkj->mij", share[:, :, None] * slope, pull)
    hessian = (
        np.einsum("mk,kij->mij", share, curvature)
        + cross
        + cross.swapaxes(1, 2)
        + np.einsum("mki,mkj->mij", excess[:, :, None] * pull, pull)
        + np.einsum("mk,mkij->mij", excess, bend)
        - _symmetric(gradient, average)
    )
    return Jet(mean, gradient, hessian)


def _symmetric(a: Host, b: Host) -> Host:
    """A b^T + b a^T for vectors (m, d), (m, d, d)."""
    outer = a[:, :, None] * b[:, None, :]
    return np.asarray(outer + outer.swapaxes(1, 2))
