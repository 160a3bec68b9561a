"""Piecewise polynomials that move: tables on one element, and the numbering of all of them.

Of an equation of order m in x every unknown has m continuous derivatives less one at the nodes. On
an element s in [0, 1] its functions are Hermite's m at either end and s^m (1 - s)^m times Legendre
polynomials in between; q Gauss points carry the equation, so that the degree is q + m - 1.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.polynomial import legendre, polynomial

from sharpfront.arrays import FloatArray, Ints


class Reference:
    """The functions of one element and their derivatives along s.

    Derivatives up to order - 1 go on from element to element; points are its Gauss points.
    """

    def __init__(self, order: int, points: int) -> None:
        self.order, self.points = order, points
        self.size = points + order
        t, w = legendre.leggauss(points)
        self.gauss, self.weights = 0.5 * (1.0 + t), 0.5 * w

    @property
    def degree(self) -> int:
        """Of the polynomials."""
        return self.size - 1

    @cached_property
    def coefficients(self) -> FloatArray:
        """Each function in powers of s, (size, size)."""
        m = self.order
        rows = np.zeros((2 * m, 2 * m))
        for j in range(m):
            unit = polynomial.polyder(np.eye(2 * m), j)
            rows[j] = polynomial.polyval(0.0, unit) if j < 2 * m else 0.0
            rows[m + j] = polynomial.polyval(1.0, unit)
        hermite = np.linalg.inv(rows)
        out = np.zeros((self.size, self.size))
        out[:m, : 2 * m] = hermite[:, :m].T
        out[self.points :, : 2 * m] = hermite[:, m:].T
        bell = polynomial.polypow([0.0, 1.0], m)
        bell = polynomial.polymul(bell, polynomial.polypow([1.0, -1.0], m))
        for j in range(self.points - m):
            one = legendre.leg2poly([0.0] * j + [1.0])
            inner = polynomial.Polynomial(one)(polynomial.Polynomial([-1.0, 2.0])).coef
            product = polynomial.polymul(bell, inner) * 4.0**m
            out[m + j, : len(product)] = product
        return out

    def table(self, s: FloatArray, derivative: int) -> FloatArray:
        """Return d^k/ds^k of the functions at positions, (len(s), size)."""
        coefficients = self._derived(derivative)
        powers = np.empty((len(coefficients), len(s)))
        powers[0] = 1.0
        for before, power in pairwise(powers):
            np.multiply(before, s, out=power)
        return np.asarray(powers.T @ coefficients)

    def powers(self, own: FloatArray, derivative: int = 0) -> FloatArray:
        """Return d^k/ds^k of what elements hold in powers of s, (powers, K, N).

        Their coefficients are (size, K, N).
        """
        found = self._derived(derivative) @ own.reshape(self.size, -1)
        return found.reshape(-1, *own.shape[1:])

    @staticmethod
    def sums(powers: FloatArray, e: Ints, s: FloatArray) -> FloatArray:
        """Return what elements of numbers e hold in powers of s at positions s, (K, n)."""
        *others, out = powers.take(e, 2)
        for power in reversed(others):
            np.multiply(out, s, out=out)
            np.add(out, power, out=out)
        return np.asarray(out)

    @lru_cache(maxsize=16)  # noqa: B019 - references are made once and kept
    def _derived(self, derivative: int) -> FloatArray:
        """Return d^k/ds^k of the functions in powers of s, (powers, size)."""
        return np.atleast_2d(polynomial.polyder(self.coefficients.T, derivative))

    @lru_cache(maxsize=8)  # noqa: B019 - references are made once and kept
    def inside(self, orders: int) -> FloatArray:
        """Return derivatives up to an order at the Gauss points, (orders + 1, q, size)."""
        return np.stack([self.table(self.gauss, k) for k in range(orders + 1)])

    @lru_cache(maxsize=8)  # noqa: B019 - references are made once and kept
    def across(self, orders: int) -> FloatArray:
        """Return the same by Gauss point, (q, orders + 1, size)."""
        return np.ascontiguousarray(self.inside(orders).transpose(1, 0, 2))

    @lru_cache(maxsize=8)  # noqa: B019 - references are made once and kept
    def ends(self, orders: int) -> FloatArray:
        """Return derivatives up to an order at both ends, (orders + 1, 2, size)."""
        both = np.array([0.0, 1.0])
        return np.stack([self.table(both, k) for k in range(orders + 1)])

    @cached_property
    def hats(self) -> FloatArray:
        """1 - s and s at the Gauss points, their squares and in between their product, (5, q)."""
        s = self.gauss
        return np.stack([1 - s, s, (1 - s) ** 2, s * (1 - s), s**2])

    @cached_property
    def seen(self) -> FloatArray:
        """The functions in the middle of the element and at its Gauss points, (1 + q, size)."""
        return self.table(np.append(0.5, self.gauss), 0)

    @cached_property
    def spread(self) -> tuple[FloatArray, FloatArray]:
        """As many positions as functions, (size,), and from values there to coefficients."""
        s = 0.5 * (1.0 - np.cos(np.pi * (np.arange(self.size) + 0.5) / self.size))
        return s, np.asarray(np.linalg.inv(self.table(s, 0)), dtype=float)

    @cached_property
    def tail(self) -> FloatArray:
        """The derivative of order `degree`, a constant, and the last four Legendre coefficients.

        (5, size), from the coefficients of an element.
        """
        s, _ = self.spread
        values = legendre.legvander(2.0 * s - 1.0, self.degree)
        last = np.linalg.solve(values, self.table(s, 0))[-4:]
        return np.concatenate([self.table(np.array([0.5]), self.degree), last])

    @cached_property
    def leading(self) -> float:
        """The constant C of the error C u^(p+1) h^(p+1) that collocation leaves on an element."""
        node = polynomial.polyfromroots(self.gauss)
        powers = polynomial.polyint(node, self.order)
        s = np.linspace(0, 1, 401)
        m = self.order
        ends = [
            polynomial.polyval(end, polynomial.polyder(powers, j))
            for end in (0.0, 1.0)
            for j in range(m)
        ]
        hermite = self.table(s, 0)[:, [*range(m), *range(self.points, self.points + m)]]
        # What is left if values and slopes at the ends were exact: the ends are worth the most.
        rest = polynomial.polyval(s, powers) - hermite @ np.array(ends)
        return float(np.abs(rest).max() / math.factorial(self.points))


@lru_cache(maxsize=16)
def reference(order: int, points: int) -> Reference:
    """Return the tables, made once."""
    return Reference(order, points)
