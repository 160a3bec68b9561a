"""The mixture's coordinate on a circle, and kernels that are exactly periodic.

    xi(x) = U x / L + (1 - U) sum_k p_k sum_j q_j B(x; mu_k, s_kj),
    B = atan(r tan h) / pi on its continuous branch, h = pi (x - mu) / L, r = sqrt(1 + a^2),
    a = L / (pi s):   dB/dx = r / (L (1 + a^2 sin^2 h)).

B rises by one per turn, and most of it within s of mu. Each component comes with all widths
between its own and the circle at once, in LEVELS steps that are even in the logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sharpfront.arrays import Host
from sharpfront.pieces.coordinate import LOGARITHMIC, UNIFORM, Points
from sharpfront.pieces.tables import WIDTH, Table

# Widths between a component's own and that of the circle.
LEVELS = 10
_NEWTON = 4


@dataclass(frozen=True, eq=False)
class Ring:
    """The coordinate of a circle [low, high).

    Parameters
    ----------
    low, high
        One turn.
    means, scales, shares
        Of the bells, (K,); the shares add up to 1 - UNIFORM.
    zero
        Where xi is zero.
    """

    low: float
    high: float
    means: Host
    scales: Host
    shares: Host
    zero: float

    @property
    def length(self) -> float:
        """One turn."""
        return self.high - self.low

    def nearest(self, x: Host) -> Points:
        """Return positions as points; a circle has no ends to measure from."""
        return Points(np.zeros(len(x)), np.asarray(x, dtype=float))

    def xi(self, points: Points) -> Host:
        """Return the coordinate, not reduced to one turn."""
        return np.asarray(self._turns(points.x) - self._turns(np.array([self.zero]))[0])

    def derivatives(self, points: Points, order: int) -> Host:
        """Return xi', xi'', ... up to an order of at most four, (order, n)."""
        k = 2.0 * np.pi / self.length
        a2, r = self._shape()
        angle = k * (points.x[:, None] - self.means)
        c, s = np.cos(angle), np.sin(angle)
        # D = 1 + a^2 sin^2 h and its derivatives; sin^2 keeps the digits near a mean.
        half = np.sin(0.5 * angle)
        d0, d1, d2 = 1.0 + a2 * half * half, 0.5 * a2 * k * s, 0.5 * a2 * k * k * c
        unit = self.shares * r / self.length
        out = np.zeros((order, len(points.offset)))
        f = 1.0 / d0
        out[0] = UNIFORM / self.length + f @ unit
        if order > 1:
            out[1] = -(d1 * f**2) @ unit
        if order > 2:
            out[2] = (2.0 * d1 * d1 * f**3 - d2 * f**2) @ unit
        if order > 3:
            d3 = -k * k * d1
            out[3] = (-6.0 * d1**3 * f**4 + 6.0 * d1 * d2 * f**3 - d3 * f**2) @ unit
        return out

    def invert(self, xi: Host) -> Points:
        """Return the points with these coordinates: bisection in a table, then Newton."""
        turn = np.floor(xi)
        table = self._table()
        raised = self._turns(table) - self._turns(np.array([self.zero]))[0]
        x = np.interp(xi - turn, raised, table)
        bounds = table[0], table[-1]
        for _ in range(_NEWTON):
            points = self.nearest(x)
            x = np.clip(
                x - (self.xi(points) - (xi - turn)) / self.derivatives(points, 1)[0], *bounds
            )
        return self.nearest(x + turn * self.length)

    def rate(self, points: Points, means: Host, logs: Host, shares: Host, zero: float) -> Host:
        """Return d xi/dt at fixed points from the rates of means, log scales, shares and zero."""
        at_zero = self.nearest(np.array([self.zero]))
        moved = self._turns_rate(points.x, means, logs, shares)
        start = self._turns_rate(at_zero.x, means, logs, shares)[0]
        return np.asarray(moved - start - self.derivatives(at_zero, 1)[0, 0] * zero)

    def _turns(self, x: Host) -> Host:
        turns = UNIFORM * x / self.length
        return np.asarray(turns + self._bells(x) @ self.shares)

    def _bells(self, x: Host) -> Host:
        h = np.pi * (x[:, None] - self.means) / self.length
        whole = np.round(h / np.pi)
        rest = h - whole * np.pi
        return np.asarray(whole + np.arctan2(self._shape()[1] * np.sin(rest), np.cos(rest)) / np.pi)

    def _turns_rate(self, x: Host, means: Host, logs: Host, shares: Host) -> Host:
        h = np.pi * (x[:, None] - self.means) / self.length
        a2, r = self._shape()
        s, c = np.sin(h), np.cos(h)
        d = 1.0 + a2 * s * s
        slope = r / (self.length * d)
        # d B / d log s = -(a^2 / r) sin h cos h / (pi D).
        widen = -(a2 / r) * s * c / (np.pi * d)
        return np.asarray(
            self._bells(x) @ shares - slope @ (self.shares * means) + widen @ (self.shares * logs)
        )

    def _shape(self) -> tuple[Host, Host]:
        a2 = (self.length / (np.pi * self.scales)) ** 2
        return a2, np.sqrt(1.0 + a2)

    def _table(self) -> Host:
        """Return one turn from `zero` on, graded into every mean."""
        finest = self.scales.min()
        reach = np.arcsinh(self.length / finest) + 1.0
        step = finest * np.sinh(np.arange(-reach, reach, 0.25))
        offset = np.mod(np.unique(self.means) - self.zero, self.length)
        graded = (offset[:, None] + np.array([-self.length, 0.0, self.length])[:, None, None]) + step
        graded = graded[(graded > 0.0) & (graded < self.length)]
        even = np.linspace(0.0, self.length, 65)
        return np.asarray(self.zero + np.unique(np.concatenate([graded, even])))


def bells(means: Host, logs: Host, shares: Host, length: float) -> tuple[Host, Host, Host]:
    """Return means, log scales and shares of all bells of components (K,): (K * LEVELS,) each."""
    level = np.arange(LEVELS) / LEVELS
    all_logs = logs[:, None] * (1.0 - level) + np.log(length / np.pi) * level
    part = np.full(LEVELS, LOGARITHMIC / LEVELS)
    part[0] += 1.0 - LOGARITHMIC
    all_shares = (1.0 - UNIFORM) * shares[:, None] * part
    return np.repeat(means, LEVELS), all_logs.ravel(), all_shares.ravel()


def bell_rates(means: Host, logs: Host, shares: Host) -> tuple[Host, Host, Host]:
    """Return the rates of all bells from those of the components."""
    level = np.arange(LEVELS) / LEVELS
    part = np.full(LEVELS, LOGARITHMIC / LEVELS)
    part[0] += 1.0 - LOGARITHMIC
    all_shares = (1.0 - UNIFORM) * shares[:, None] * part
    return np.repeat(means, LEVELS), (logs[:, None] * (1.0 - level)).ravel(), all_shares.ravel()


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

    def table(self, s: Host, order: int) -> Table:
        """Return the derivatives up to `order` of every function at positions s."""
        half = (self.kernels - 1) // 2
        k = np.arange(half + 1)
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

    def sums(self, s: Host, weights: Host, order: int) -> Host:
        """Return derivatives of weighted sums (K, ...) of the functions, (order + 1, n, ...)."""
        return np.stack([values @ weights for values in self.table(s, order).values])


def _plain(k: Host) -> Host:
    """Return (2 pi k)^2."""
    return np.asarray((2.0 * np.pi * k) ** 2)


@lru_cache(maxsize=64)
def periodic_kernels(kernels: int) -> PeriodicKernels:
    """Return N periodic Gaussians; N is made odd."""
    return PeriodicKernels(kernels | 1)
