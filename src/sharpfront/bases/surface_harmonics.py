"""Spherical harmonics of directions from a centre, and their derivatives in space.

They are r^-l times solid harmonics R of degree l, of which derivatives along the axes are solid
harmonics again: with R_l^m = r^l P_l^m(cos t) e^(i m f) / (l + m)!, d/dz R_l^m is R_(l-1)^m,
(d/dx - i d/dy) R_l^m is -R_(l-1)^(m-1) and (d/dx + i d/dy) R_l^m is R_(l-1)^(m+1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.joint import Ints

ComplexArray = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class SurfaceHarmonics:
    """Orthonormal harmonics up to a degree at directions, (degree + 1)^2 of them."""

    at: FloatArray  # (m, 3)
    degree: int

    @cached_property
    def _far(self) -> FloatArray:
        return np.linalg.norm(self.at, axis=1)

    @cached_property
    def _ways(self) -> FloatArray:
        return np.asarray(self.at / self._far[:, None])

    @cached_property
    def _solid(self) -> ComplexArray:
        """R_l^m of unit vectors, (degree + 1, 2 degree + 3, m): m from -degree - 1 on."""
        x, y, z = self._ways.T
        n, middle = self.degree, self.degree + 1
        out = np.zeros((n + 1, 2 * n + 3, len(x)), dtype=complex)
        out[0, middle] = 1.0
        for k in range(1, n + 1):
            out[k, middle + k] = -(x + 1j * y) / (2.0 * k) * out[k - 1, middle + k - 1]
        for m in range(n):
            for k in range(m + 1, n + 1):
                lower = out[k - 2, middle + m] if k > m + 1 else 0.0
                out[k, middle + m] = ((2 * k - 1) * z * out[k - 1, middle + m] - lower) / (
                    (k + m) * (k - m)
                )
        for m in range(1, n + 1):
            out[:, middle - m] = (-1) ** m * out[:, middle + m].conj()
        return out

    def _moved(self, order: tuple[int, int, int]) -> ComplexArray:
        """Return a derivative of the solid harmonics along the axes, as these are."""
        now = self._solid
        for axis, times in enumerate(order):
            for _ in range(times):
                now = _along(now, axis)
        return now

    def _real(self, table: ComplexArray) -> FloatArray:
        """Return real and imaginary parts of m >= 0, orthonormal, (m, functions)."""
        degrees, orders, imaginary, norms = _members(self.degree)
        chosen = table[degrees, orders + self.degree + 1]
        parts = np.where(imaginary[:, None], chosen.imag, chosen.real)
        return np.asarray((norms[:, None] * parts).T)

    @cached_property
    def values(self) -> FloatArray:
        """The harmonics, (m, functions)."""
        return self._real(self._solid)

    @cached_property
    def _slopes(self) -> tuple[FloatArray, ...]:
        """Derivatives of solid harmonics at unit vectors, (m, functions) each."""
        return tuple(self._real(self._moved(_unit(a))) for a in range(3))

    def slope(self, axis: int) -> FloatArray:
        """Return the derivative along an axis, (m, functions)."""
        n = _members(self.degree)[0]
        e = self._ways[:, axis, None]
        return np.asarray((self._slopes[axis] - n * e * self.values) / self._far[:, None])

    def bend(self, a: int, b: int) -> FloatArray:
        """Return the second derivative along two axes, (m, functions)."""
        n = _members(self.degree)[0]
        first, second = self._ways[:, a, None], self._ways[:, b, None]
        order = tuple(int(i == a) + int(i == b) for i in range(3))
        found = self._real(self._moved((order[0], order[1], order[2])))
        found -= n * (first * self._slopes[b] + second * self._slopes[a])
        found += n * ((n + 2) * first * second - float(a == b)) * self.values
        return np.asarray(found / self._far[:, None] ** 2)


def _unit(axis: int) -> tuple[int, int, int]:
    return int(axis == 0), int(axis == 1), int(axis == 2)


def _along(table: ComplexArray, axis: int) -> ComplexArray:
    """Return the derivative of solid harmonics along an axis."""
    out = np.zeros_like(table)
    if axis == 2:
        out[1:] = table[:-1]
        return out
    below, above = table[:-1, :-2], table[:-1, 2:]
    out[1:, 1:-1] = 0.5 * (above - below) if axis == 0 else -0.5j * (above + below)
    return out


@lru_cache(maxsize=64)
def _members(degree: int) -> tuple[Ints, Ints, NDArray[np.bool_], FloatArray]:
    """Return degree, order, whether it is the imaginary part, and norm of each harmonic."""
    every = [
        (k, m, part) for k in range(degree + 1) for m in range(k + 1) for part in range(1 + (m > 0))
    ]
    norms = [
        math.sqrt((2 * k + 1) * (2 if m else 1) * math.factorial(k - m) * math.factorial(k + m))
        for k, m, _ in every
    ]
    k, m, part = np.array(every).T
    return k, m, part == 1, np.array(norms)


def degrees_of(degree: int) -> Ints:
    """Return the degree of each harmonic, (functions,)."""
    return _members(degree)[0]
