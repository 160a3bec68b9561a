"""A box whose places go along with what is carried through it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from sharpfront.arrays import FloatArray
from sharpfront.maps.chain import Orders, Taylor, pulled_back
from sharpfront.rounding import CANCELLED, NEWTON_STEPS


@dataclass(frozen=True, eq=False)
class Drift:
    """x = s + lapse V(s), with V a polynomial, along sides at sides that are no seams.

    Parameters
    ----------
    bounds
        The corners of the box, (2, 2).
    seams
        Which axes are periodic: V is so along these.
    weights
        Of the polynomials of `drift_tables` for each component of V, (P, 2).
    """

    bounds: FloatArray
    seams: tuple[bool, ...]
    weights: FloatArray

    @property
    def degree(self) -> int:
        """The highest joint degree of V."""
        return next(k for k in itertools.count() if (k + 1) * (k + 2) == 2 * len(self.weights))

    def slopes(self, s: FloatArray, order: int) -> dict[Orders, FloatArray]:
        """Return V and its derivatives up to an order, (m, 2) each."""
        plain, walled = _along(s, self.bounds, self.seams, self.degree, order)
        pairs = _pairs(self.degree)
        both = (walled[0], plain[1]), (plain[0], walled[1])
        shape = (self.degree + 1, self.degree + 1)
        blocks = [np.zeros(shape), np.zeros(shape)]
        for block, own in zip(blocks, self.weights.T, strict=True):
            block[tuple(np.array(pairs).T)] = own
        return {
            (a, b): np.stack(
                [
                    ((first[a] @ block) * second[b]).sum(axis=1)
                    for block, (first, second) in zip(blocks, both, strict=True)
                ],
                axis=1,
            )
            for a in range(order + 1)
            for b in range(order + 1 - a)
        }

    def velocity(self, s: FloatArray) -> FloatArray:
        """Return V at positions, (m, 2)."""
        return self.slopes(s, 0)[0, 0]

    def points(self, s: FloatArray, lapse: FloatArray | float) -> FloatArray:
        """Return x after a lapse of time, of all or of each, (m, 2)."""
        return self._inside(s + np.reshape(lapse, (-1, 1)) * self.velocity(s))

    def inverse(self, x: FloatArray, lapse: FloatArray | float) -> FloatArray:
        """Return the positions of points, (m, 2)."""
        tau = np.reshape(lapse, (-1, 1))
        s = self._inside(x - tau * self.velocity(x))
        extent = self.bounds[1] - self.bounds[0]
        for _ in range(NEWTON_STEPS):
            found = self.slopes(s, 1)
            gap = s + tau * found[0, 0] - x
            # A seam may lie between a point and where it came from.
            gap = np.where(self.seams, gap - extent * np.round(gap / extent), gap)
            a, b = 1.0 + tau[:, 0] * found[1, 0][:, 0], tau[:, 0] * found[0, 1][:, 0]
            c, d = tau[:, 0] * found[1, 0][:, 1], 1.0 + tau[:, 0] * found[0, 1][:, 1]
            change = np.stack([d * gap[:, 0] - b * gap[:, 1], a * gap[:, 1] - c * gap[:, 0]], 1)
            change /= (a * d - b * c)[:, None]
            s = self._inside(s - change)
            if np.abs(change).max(initial=0.0) <= CANCELLED * extent.max():
                break
        return s

    def at_rest(
        self, points: FloatArray, lapses: FloatArray, orders: Orders
    ) -> tuple[FloatArray, dict[Orders, FloatArray]]:
        """Return the positions of points, and what derivatives there make d^orders (`chain`)."""
        rest = self.inverse(points, lapses)
        return rest, self.chain(rest, lapses, orders)

    def state(self) -> FloatArray:
        """Return the numbers from which `restored_drift` makes it again, an even count of them."""
        rows = [self.bounds, np.array([self.seams], dtype=float), self.weights]
        return np.concatenate(rows).ravel()

    def _inside(self, x: FloatArray) -> FloatArray:
        low, high = self.bounds
        return np.where(self.seams, low + (x - low) % (high - low), np.clip(x, low, high))

    def chain(self, s: FloatArray, lapses: FloatArray, orders: Orders) -> dict[Orders, FloatArray]:
        """Return what derivatives along s and by time at rest in s make d^orders, (m,) each.

        Orders are those along x, y and t. Lapses are one for each position, or for all of them one
        after the other: then there are as many times more of what is returned.
        """
        return carried_chain(self.slopes, s, lapses, orders)


def carried_chain(
    slopes_of: Callable[[FloatArray, int], Taylor],
    s: FloatArray,
    lapses: FloatArray,
    orders: Orders,
) -> dict[Orders, FloatArray]:
    """Return what derivatives along s and by time at rest in s make d^orders (`Drift.chain`)."""
    order, times = sum(orders), max(1, len(lapses) // max(1, len(s)))
    one = np.ones(len(lapses))
    if order == 0:
        return {(0, 0, 0): one}
    slopes = {b: np.tile(v, (times, 1)) for b, v in slopes_of(s, order).items()}
    if orders[2]:
        return pulled_back(_taylor(slopes, lapses, order), {orders: one})
    still = {b: lapses[:, None] * v for b, v in slopes.items() if any(b)}
    for axis, first in enumerate(((1, 0), (0, 1))):
        still[first][:, axis] += 1.0
    return {(*b, 0): c for b, c in pulled_back(still, {orders[:2]: one}).items()}


def _taylor(slopes: Taylor, lapses: FloatArray, order: int) -> Taylor:
    """Return the derivatives of (x, y, t) along (s, t), (m, 3) each."""
    out: dict[Orders, FloatArray] = {}
    for (a, b), v in slopes.items():
        for k in range(2):
            if 0 < a + b + k <= order:
                own = np.zeros((len(v), 3))
                own[:, :2] = v if k else lapses[:, None] * v
                out[a, b, k] = own
    for axis in range(3):
        out[tuple(int(axis == b) for b in range(3))][:, axis] += 1.0
    return out


def drift_tables(
    s: FloatArray, bounds: FloatArray, seams: tuple[bool, ...], degree: int
) -> list[FloatArray]:
    """Return the polynomials of each component of a velocity at points, (m, P) each."""
    plain, walled = _along(s, bounds, seams, degree, 0)
    first, second = np.array(_pairs(degree)).T
    along = walled[0][0][:, first] * plain[1][0][:, second]
    return [along, plain[0][0][:, first] * walled[1][0][:, second]]


@lru_cache(maxsize=4)
def _pairs(degree: int) -> tuple[tuple[int, int], ...]:
    every = itertools.product(range(degree + 1), repeat=2)
    return tuple((i, j) for i, j in every if i + j <= degree)


def _along(
    s: FloatArray, bounds: FloatArray, seams: tuple[bool, ...], degree: int, order: int
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return functions along each axis and such as vanish at sides, (order + 1, m, degree + 1)."""
    plain, walled = [], []
    for x, low, high, seam in zip(s.T, *bounds, seams, strict=True):
        z, scale = (2.0 * x - low - high) / (high - low), 2.0 / (high - low)
        if seam:
            plain.append(_waves(z, scale, degree, order))
            walled.append(plain[-1])
            continue
        powers = legendre.legvander(z, degree + 2)
        for out, weights in zip((plain, walled), _expansions(degree, order), strict=True):
            out.append(np.stack([scale**k * (powers @ w) for k, w in enumerate(weights)]))
    return plain, walled


@lru_cache(maxsize=16)
def _expansions(degree: int, order: int) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return d^k of P_i and of (1 - z^2) P_i by Legendre polynomials, (degree + 3, degree + 1)."""
    plain = list(np.eye(degree + 1))
    walled = [legendre.legmul(unit, [2.0 / 3.0, 0.0, -2.0 / 3.0]) for unit in plain]
    return _derivatives(plain, order, degree + 3), _derivatives(walled, order, degree + 3)


def _derivatives(series: Sequence[Any], order: int, size: int) -> list[FloatArray]:
    """Return the coefficients of derivatives of Legendre series as columns, (size, series)."""
    out = []
    for k in range(order + 1):
        columns = np.zeros((size, len(series)))
        for i, own in enumerate(series):
            found = legendre.legder(own, k)
            columns[: len(found), i] = found
        out.append(columns)
    return out


def _waves(z: FloatArray, scale: float, degree: int, order: int) -> FloatArray:
    """Return 1, cos, sin, cos of twice the angle ..., and derivatives, as `_along` does."""
    out = np.zeros((order + 1, len(z), degree + 1))
    for i in range(degree + 1):
        k = np.pi * ((i + 1) // 2)
        for n in range(order + 1):
            turned = k * z + 0.5 * np.pi * (n - (i % 2 == 0 and i > 0))
            out[n, :, i] = (k * scale) ** n * np.cos(turned) if k or not n else 0.0
    return out
