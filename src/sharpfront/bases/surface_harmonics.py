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

from sharpfront.arrays import Flags, FloatArray, Ints, remembered
from sharpfront.bases.corner_functions import ComplexArray


@dataclass(frozen=True, eq=False)
class SurfaceHarmonics:
    """Orthonormal harmonics up to a degree at directions, (degree + 1)^2 of them."""

    at: FloatArray  # (m, 3)
    degree: int

    @cached_property
    def _far(self) -> FloatArray:
        return np.asarray(np.linalg.norm(self.at, axis=1), dtype=float)

    @cached_property
    def _ways(self) -> FloatArray:
        return np.asarray(self.at / self._far[:, None])

    @cached_property
    def _solid(self) -> ComplexArray:
        """R_l^m of unit vectors, (degree + 1, degree + 5, m): m from -2 to degree + 2."""
        x, y, z = self._ways.T
        n = self.degree
        out = np.zeros((n + 1, n + 5, len(x)), dtype=complex)
        out[0, 2] = 1.0
        for k in range(1, n + 1):
            out[k, 2 + k] = -(x + 1j * y) / (2.0 * k) * out[k - 1, 1 + k]
        for k in range(1, n + 1):
            m = np.arange(k)[:, None]
            lower = out[k - 2, 2 : 2 + k] if k > 1 else 0.0
            rising = (2 * k - 1) * z * out[k - 1, 2 : 2 + k]
            out[k, 2 : 2 + k] = (rising - lower) / ((k + m) * (k - m))
        for order in range(1, min(n, 2) + 1):
            out[:, 2 - order] = (-1) ** order * out[:, 2 + order].conj()
        return out

    def _real(self, table: ComplexArray) -> FloatArray:
        """Return real and imaginary parts of m >= 0, orthonormal, (m, functions)."""
        degrees, orders, imaginary, norms = _members(self.degree)
        parts = np.empty((len(degrees), table.shape[2]))
        parts[~imaginary] = table.real[degrees[~imaginary], orders[~imaginary] + 2]
        parts[imaginary] = table.imag[degrees[imaginary], orders[imaginary] + 2]
        parts *= norms[:, None]
        return parts.T

    @cached_property
    def values(self) -> FloatArray:
        """The harmonics, (m, functions)."""
        return self._real(self._solid)

    @cached_property
    def _moved(self) -> list[ComplexArray]:
        """Derivatives of the solid harmonics along each axis, as these are."""
        return [_along(self._solid, a) for a in range(3)]

    @cached_property
    def _plain(self) -> list[FloatArray]:
        """The same at unit vectors, (m, functions) each."""
        return [self._real(moved) for moved in self._moved]

    @cached_property
    def slopes(self) -> list[FloatArray]:
        """The derivatives along each axis, (m, functions) each."""
        n = _members(self.degree)[0]
        pairs = zip(self._plain, self._ways.T[:, :, None], strict=True)
        return [(own - (n * e) * self.values) / self._far[:, None] for own, e in pairs]

    @remembered()
    def bend(self, a: int, b: int) -> FloatArray:
        """Return the second derivative along two axes, (m, functions)."""
        n = _members(self.degree)[0]
        first, second = self._ways[:, a, None], self._ways[:, b, None]
        found = self._real(_along(self._moved[a], b))
        found -= n * (first * self._plain[b] + second * self._plain[a])
        found += n * ((n + 2) * (first * second) - float(a == b)) * self.values
        return np.asarray(found / self._far[:, None] ** 2)


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
def _members(degree: int) -> tuple[Ints, Ints, Flags, FloatArray]:
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
