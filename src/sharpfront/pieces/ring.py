"""The mixture's coordinate on a circle, and kernels that are exactly periodic.

    xi(x) = U x / L + (1 - U) sum_k p_k sum_j q_j B(x; mu_k, s_kj),
    B = atan(r tan h) / pi on its continuous branch, h = pi (x - mu) / L, r = sqrt(1 + a^2),
    a = L / (pi s):   dB/dx = r / (L (1 + a^2 sin^2 h)).

B rises by one per turn, and most of it within s of mu. Each component comes with all widths
between its own and the circle at once, in LEVELS steps that are even in the logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.pieces.coordinate import LOGARITHMIC, Points, weighted
from sharpfront.pieces.tables import WIDTH, Table

# Widths between a component's own and that of the circle.
LEVELS = 6
_NEWTON = 3


@dataclass(frozen=True, eq=False)
class Ring:
    """The coordinate of a circle [low, high).

    Parameters
    ----------
    low, high
        One turn.
    means, scales, shares
        Of the components, (K,); the shares add up to 1. For n points that have components of their
        own, (n, K).
    even
        U; or (n,).
    zero
        Where xi is zero; or (n,).
    """

    low: float
    high: float
    means: FloatArray
    scales: FloatArray
    shares: FloatArray
    even: float | FloatArray
    zero: float | FloatArray

    @property
    def length(self) -> float:
        """One turn."""
        return self.high - self.low

    def nearest(self, x: FloatArray) -> Points:
        """Return positions as points; a circle has no ends to measure from."""
        return Points(np.zeros(len(x)), np.asarray(x, dtype=float))

    def xi(self, points: Points) -> FloatArray:
        """Return the coordinate, not reduced to one turn."""
        return np.asarray(self._turns(points.x) - self._start)

    def derivatives(self, points: Points, order: int) -> FloatArray:
        """Return xi', xi'', ... up to an order of at most four, (order, n)."""
        k = 2.0 * np.pi / self.length
        a2, r, parts = self._bells
        angle = k * (points.x[:, None] - self.means)
        # D = 1 + a^2 sin^2 h and its derivatives; sin^2 keeps the digits near a mean.
        half = (np.sin(0.5 * angle) ** 2)[:, :, None]
        f = 1.0 / (1.0 + a2 * half)
        unit = parts * r / self.length
        out = np.zeros((order, len(points.offset)))
        out[0] = self.even / self.length + _summed(f, unit)
        if order > 1:
            s = np.sin(angle)
            f2 = f * f
            d1 = (f2 * (unit * a2)).sum(axis=2) * (0.5 * k)
            out[1] = -(d1 * s).sum(axis=1)
        if order > 2:
            c = np.cos(angle)
            f3 = f2 * f
            third = (f3 * (unit * a2**2)).sum(axis=2) * (0.5 * k) ** 2
            out[2] = (2.0 * third * s * s - k * d1 * c).sum(axis=1)
        if order > 3:
            fourth = (f3 * f * (unit * a2**3)).sum(axis=2) * (0.5 * k) ** 3
            out[3] = (-6.0 * fourth * s**3 + 6.0 * k * third * s * c + k * k * d1 * s).sum(axis=1)
        return out

    def invert(self, xi: FloatArray) -> Points:
        """Return the points with these coordinates: a table, then Newton."""
        turn = np.floor(xi)
        target = xi - turn + self._start
        table = self._table()
        x = np.interp(target, self._turns(table), table)
        for _ in range(_NEWTON):
            turns, slope = self._both(x)
            x = np.clip(x - (turns - target) / slope, table[0], table[-1])
        return self.nearest(x + turn * self.length)

    def rate(
        self,
        points: Points,
        means: FloatArray,
        logs: FloatArray,
        shares: FloatArray,
        even: Any,
        zero: float,
    ) -> FloatArray:
        """Return d xi/dt at fixed points from the rates of all parameters."""
        origin = np.atleast_1d(self.zero)
        turned = self._turns_rate(points.x, means, logs, shares, even)
        start = self._turns_rate(origin, means, logs, shares, even)
        slope = self.derivatives(self.nearest(origin), 1)[0]
        return np.asarray(turned - start - slope * zero)

    @cached_property
    def _bells(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """a^2, sqrt(1 + a^2) and shares of the bells of all levels, (K, LEVELS) each."""
        level = np.arange(LEVELS) / LEVELS
        scales = np.exp(np.log(self.scales)[..., None] * (1.0 - level) + _widest(self) * level)
        a2 = (self.length / (np.pi * scales)) ** 2
        uneven = 1.0 - np.asarray(self.even)
        shares = uneven[..., None] * self.shares if uneven.ndim else uneven * self.shares
        return a2, np.sqrt(1.0 + a2), shares[..., None] * _level_shares()

    @cached_property
    def _start(self) -> FloatArray:
        return self._turns(np.atleast_1d(self.zero))

    def _turns(self, x: FloatArray) -> FloatArray:
        return self._both(x)[0]

    def _both(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the turns and their slope."""
        a2, r, parts = self._bells
        whole, s, c = self._angles(x)
        bells = weighted(whole, parts.sum(axis=-1)) + self.even * x / self.length
        t = np.arctan2(r * s[:, :, None], c[:, :, None])
        bells = bells + _summed(t, parts / np.pi)
        f = 1.0 / (1.0 + a2 * (s * s)[:, :, None])
        slope = _summed(f, parts * r) / self.length
        return np.asarray(bells), np.asarray(slope + self.even / self.length)

    def _angles(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        h = np.pi * (x[:, None] - self.means) / self.length
        whole = np.round(h / np.pi)
        rest = h - whole * np.pi
        return whole, np.sin(rest), np.cos(rest)

    def _turns_rate(
        self, x: FloatArray, means: FloatArray, logs: FloatArray, shares: FloatArray, even: Any
    ) -> FloatArray:
        a2, r, parts = self._bells
        whole, s, c = self._angles(x)
        f = 1.0 / (1.0 + a2 * (s * s)[:, :, None])
        bells = whole[:, :, None] + np.arctan2(r * s[:, :, None], c[:, :, None]) / np.pi
        each = bells @ _level_shares()
        slope = (f * (parts * r)).sum(axis=2) / self.length
        # d B / d log s = -(a^2 / r) sin h cos h / (pi D).
        level = 1.0 - np.arange(LEVELS) / LEVELS
        widen = -(f * (parts * (a2 / r) * level)).sum(axis=2) * s * c / np.pi
        straight = x / self.length - weighted(each, self.shares)
        return np.asarray(
            (1.0 - self.even) * (each @ shares) - slope @ means + widen @ logs + even * straight
        )

    def _table(self) -> FloatArray:
        """Return one turn from `zero` on, graded into every mean."""
        finest = self.scales.min()
        reach = np.arcsinh(self.length / finest) + 1.0
        step = finest * np.sinh(np.arange(-reach, reach, 0.25))
        offset = np.mod(self.means - self.zero, self.length)
        turns = np.array([-self.length, 0.0, self.length])[:, None, None]
        graded = (offset[:, None] + turns) + step
        graded = graded[(graded > 0.0) & (graded < self.length)]
        even = np.linspace(0.0, self.length, 65)
        return np.asarray(self.zero + np.unique(np.concatenate([graded, even])))


def _summed(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the sums of values (n, K, L) with weights (K, L), or each point's own."""
    if weights.ndim == 2:
        return np.asarray(np.tensordot(values, weights, 2))
    return np.asarray((values * weights).sum(axis=(1, 2)))


def _widest(ring: Ring) -> float:
    """Return the logarithm of the widest bell's scale."""
    return float(np.log(ring.length / np.pi))


def _level_shares() -> FloatArray:
    """Return the shares of a component's bells: the sharp part has its own width."""
    part = np.full(LEVELS, LOGARITHMIC / LEVELS)
    part[0] += 1.0 - LOGARITHMIC
    return part


@dataclass(frozen=True, eq=False)
class PeriodicKernels:
    """N Gaussians, N odd, even on a circle of length one, in their Fourier combinations.

        phi_i(s) = sum_m exp(-(s - i/N - m)^2 / (2 w^2)),   w = WIDTH / N,
        psi_k(s) = sum_i exp(2 pi i k i/N) phi_i(s) / (N g_k)
                 = sum_m (g_(k+mN) / g_k) exp(2 pi i (k + mN) s),   g_f = exp(-2 (pi w f)^2).

    The real and imaginary parts of psi_0 ... psi_((N-1)/2) span what the Gaussians span, and lose
    no digits to cancellation.

    Parameters
    ----------
    kernels
        N.
    """

    kernels: int

    @property
    def size(self) -> int:
        """N."""
        return self.kernels

    def table(self, s: FloatArray, order: int) -> Table:
        """Return the derivatives up to `order` of every function at positions s."""
        half = (self.kernels - 1) // 2
        k = np.arange(half + 1, dtype=float)
        out = np.zeros((order + 1, len(s), self.kernels))
        norm = np.where(k == 0, 1.0, np.sqrt(2.0))
        for turn in (-1, 0, 1):
            f = 2.0 * np.pi * (k + turn * self.kernels)
            share = norm * np.exp(-0.5 * (WIDTH / self.kernels) ** 2 * (f**2 - _plain(k)))
            angle = s[:, None] * f
            c, v = np.cos(angle) * share, np.sin(angle) * share
            for p in range(order + 1):
                even, odd = ((c, v), (-v, c), (-c, -v), (v, -c))[p % 4]
                out[p][:, : half + 1] += even * f**p
                out[p][:, half + 1 :] += odd[:, 1:] * f[1:] ** p
        return Table(s, out)

    def sums(self, s: FloatArray, weights: FloatArray, order: int) -> FloatArray:
        """Return derivatives of weighted sums (K, ...) of the functions, (order + 1, n, ...)."""
        return np.stack([values @ weights for values in self.table(s, order).values])


def _plain(k: FloatArray) -> FloatArray:
    """Return (2 pi k)^2."""
    return np.asarray((2.0 * np.pi * k) ** 2)


@lru_cache(maxsize=64)
def periodic_kernels(kernels: int) -> PeriodicKernels:
    """Return N periodic Gaussians; N is made odd."""
    return PeriodicKernels(kernels | 1)
