"""Harmonic functions about a ray from a point in space, of any degree and any order.

R(l, m) = r^l P(cos t) e^(i m f) with Ferrers' function P of degree l and order -m, in coordinates
with the ray along the third axis, where f is the angle about it and t that from it. They vanish as
the m-th power of the distance from the ray, and their derivatives are others of them:

    dz R(l, m) = (l - m) R(l - 1, m)
    (dx + i dy) R(l, m) = -(l - m) (l - m - 1) R(l - 1, m + 1)
    (dx - i dy) R(l, m) = R(l - 1, m - 1)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import rgamma

from sharpfront.arrays import Flags, FloatArray, remembered
from sharpfront.kernels import Orders
from sharpfront.rounding import SAME

# Terms of the series in sin(t/2)^2, of which 0.212 is the largest between a ray and a corner of the
# cube around it.
SERIES = 22
# tan(t/2) there: functions are one in size where they are largest.
WIDEST = math.sqrt((math.sqrt(3.0) - 1.0) / (math.sqrt(3.0) + 1.0))
# Distances from the point, and from a ray in units of that, are no smaller.
NEAREST_RAY = 1e-15
# The step with which factors are differentiated by the degree, in the complex plane.
STEP = 1e-30
_AROUND = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(frozen=True, eq=False)
class Fan:
    """Some quadrants about a ray along an axis, and the harmonic functions that fit in there.

    They vanish where the first quadrant begins and where the last one ends; those of all four
    quadrants go around.
    """

    axis: int
    sign: int  # of the ray
    start: int  # the first quadrant
    quadrants: int  # their number
    most: float  # orders of functions are no larger

    @cached_property
    def frame(self) -> FloatArray:
        """Its coordinates' axes, one in each row: the first where it begins, the last the ray."""
        e = np.eye(3)
        first, second = e[(self.axis + 1) % 3], e[(self.axis + 2) % 3]
        if self.sign < 0:
            first, second = second, first
        c, s = _AROUND[self.start]
        return np.stack([c * first + s * second, c * second - s * first, self.sign * e[self.axis]])

    @cached_property
    def orders(self) -> FloatArray:
        """The orders of its functions."""
        if self.quadrants < 4:
            count = int(0.5 * self.quadrants * self.most)
            return np.asarray(2.0 / self.quadrants * np.arange(1.0, count + 1.0))
        around = np.arange(int(self.most) + 1.0)
        return np.concatenate([around, around[1:]])

    @cached_property
    def cosines(self) -> Flags:
        """Which of its functions are cosines."""
        size = len(self.orders)
        return np.arange(size) <= size // 2 if self.quadrants == 4 else np.zeros(size, dtype=bool)

    @cached_property
    def norms(self) -> FloatArray:
        """What functions are multiplied by."""
        return np.asarray(1.0 / (rgamma(1.0 + self.orders) * WIDEST**self.orders))

    def holds(self, points: FloatArray) -> Flags:
        """Tell which points lie nearer to its ray than to others along axes, and in a quadrant."""
        x = points @ self.frame.T
        near = x[:, 2] >= np.abs(x[:, :2]).max(axis=1)
        if self.quadrants == 4:
            return np.asarray(near)
        turn = _angle(x, self.quadrants) / np.pi
        return np.asarray(near & (turn >= -SAME) & (turn <= 0.5 * self.quadrants + SAME))

    def tables(
        self, points: FloatArray, orders: Orders, degrees: Iterable[float]
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield a derivative of all functions of each degree at points, (m, functions).

        With it comes that by the degree.
        """
        x = points @ self.frame.T
        turned = np.rint(self.frame @ np.arange(1, 4)).astype(int)
        along = [orders[abs(k) - 1] for k in turned]
        sign = float(np.prod([np.sign(k) ** n for k, n in zip(turned, along, strict=True)]))
        log_r, t, log_zeta = _polar(x, self.quadrants)
        powers = t[:, None] ** np.arange(SERIES)
        ladder = _ladder(along[:2])
        about = [self._about(log_zeta, p - q, sign * c) for (p, q), c in ladder.items()]
        for degree in degrees:
            size = np.exp((degree - sum(orders)) * log_r)[:, None] * self.norms
            out = np.zeros((2, len(points), len(self.orders)))
            for (plus, minus), own in zip(ladder, about, strict=True):
                series = self._series(degree, plus, minus, along[2])
                out[0] += own * (powers @ series.real.T)
                out[1] += own * (powers @ (series.imag.T / STEP))
            yield out[0] * size, (out[1] + log_r[:, None] * out[0]) * size

    def _about(self, log_zeta: NDArray[np.complex128], shift: int, factor: complex) -> FloatArray:
        """Return how functions vary about the ray, with orders larger by `shift`."""
        found = factor * np.exp(log_zeta[:, None] * (self.orders + shift))
        return np.asarray(np.where(self.cosines, found.real, found.imag))

    @remembered()
    def _series(self, degree: float, plus: int, minus: int, along: int) -> NDArray[np.complex128]:
        """Return the factors of powers of sin(t/2)^2 in a derivative of each function.

        Imaginary parts are STEP times their derivatives by the degree.
        """
        m, n = self.orders.copy(), complex(degree, STEP)
        factor = np.ones(len(m), dtype=complex)
        for _ in range(along):
            factor, n = factor * (n - m), n - 1.0
        for _ in range(plus):
            factor, m, n = -factor * (n - m) * (n - m - 1.0), m + 1.0, n - 1.0
        m, n = m - minus, n - minus
        out = np.empty((len(m), SERIES), dtype=complex)
        product = 1.0 + 0j
        for k in range(SERIES):
            out[:, k] = factor * product * rgamma(1.0 + m + k)
            product *= (k - n) * (k + 1.0 + n) / (k + 1.0)
        return out


def _angle(x: FloatArray, quadrants: int) -> FloatArray:
    """Return angles about the ray, from where the quadrants begin; the cut lies in the others."""
    angle = np.arctan2(x[:, 1], x[:, 0])
    if quadrants == 4:
        return np.asarray(angle)
    # Beyond the middle of what is outside angles are negative.
    most = 0.25 * np.pi * (4 + quadrants)
    return np.asarray(np.where(angle < most - 2.0 * np.pi, angle + 2.0 * np.pi, angle))


def _polar(x: FloatArray, quadrants: int) -> tuple[FloatArray, FloatArray, NDArray[np.complex128]]:
    """Return log r, sin(t/2)^2 and the logarithm of tan(t/2) e^(i f)."""
    across = np.hypot(x[:, 0], x[:, 1])
    r = np.maximum(np.hypot(across, x[:, 2]), NEAREST_RAY)
    above = r + x[:, 2]
    log_zeta = np.log(np.maximum(across / above, NEAREST_RAY)) + 1j * _angle(x, quadrants)
    return np.log(r), 0.5 * across * (across / r) / above, log_zeta


def _ladder(orders: Sequence[int]) -> dict[tuple[int, int], complex]:
    """Return a derivative along the first two axes in terms of dx + i dy and dx - i dy."""
    i, j = orders
    out: dict[tuple[int, int], complex] = {}
    for p in range(i + 1):
        for q in range(j + 1):
            key = p + q, i + j - p - q
            factor = math.comb(i, p) * math.comb(j, q) * (-1) ** (j - q) / 2 ** (i + j) / 1j**j
            out[key] = out.get(key, 0.0) + factor
    return {key: c for key, c in out.items() if c}
