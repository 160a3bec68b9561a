"""Kernels: one profile each, with derivatives of any order in any dimension.

A kernel is evaluated for points x (m, d), centres c (n, d) and shapes S (n, d, d). A shape maps
an offset to the kernel's own coordinate, z = S (x - c); for a Gaussian of covariance C it is any
S with S^T S = C^-1. Written against the array API: no array library is named here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from sharpfront.arrays import Array, namespace
from sharpfront.errors import BasisError

Orders = tuple[int, ...]

# exp(-s) below 1e-60 becomes zero. It is far below rounding in any sum with a kernel's peak, and
# products of two such values are still normal numbers: denormals make BLAS crawl.
_LARGEST_EXPONENT = 138.0


@runtime_checkable
class Kernel(Protocol):
    """The contract: a name, and the matrix of values."""

    @property
    def name(self) -> str:
        """The word that `kernel_named` finds it by."""

    def matrix(self, points: Array, centres: Array, shapes: Array, orders: Orders) -> Array:
        """Return d^orders phi_j(x_i) as an (m, n) array."""


class _Radial:
    """A profile f of s = |z|^2 / 2.

    Derivatives in x follow from those in s by
    d_i d^a f^(k) = y_i d^a f^(k+1) + sum_j P_ij a_j d^(a - e_j) f^(k+1).
    """

    def matrix(self, points: Array, centres: Array, shapes: Array, orders: Orders) -> Array:
        """Return d^orders phi_j(x_i) as an (m, n) array."""
        return self._chain(_Metric(points, centres, shapes), orders, 0, {})

    def _chain(
        self, metric: _Metric, orders: Orders, k: int, known: dict[tuple[Orders, int], Array]
    ) -> Array:
        if (orders, k) not in known:
            if not any(orders):
                known[orders, k] = self.profile(metric.half_square, k)
            else:
                i, lower = _lowered(orders)
                result = metric.y[i] * self._chain(metric, lower, k + 1, known)
                for j, times in enumerate(lower):
                    if times:
                        below = self._chain(metric, _minus_one(lower, j), k + 1, known)
                        result = result + times * metric.precision(i, j) * below
                known[orders, k] = result
        return known[orders, k]

    def profile(self, half_square: Array, k: int) -> Array:
        """Return the k-th derivative of the profile in s."""
        raise NotImplementedError


@dataclass(frozen=True)
class Gaussian(_Radial):
    """exp(-|z|^2 / 2); the recursion is that of Hermite's polynomials."""

    name = "gaussian"

    def profile(self, half_square: Array, k: int) -> Array:
        """Return (-1)^k exp(-s)."""
        xp, small = namespace(half_square), half_square < _LARGEST_EXPONENT
        zero = half_square * 0
        return (-1) ** k * xp.where(small, xp.exp(-xp.where(small, half_square, zero)), zero)


@dataclass(frozen=True)
class InverseMultiquadric(_Radial):
    """1 / sqrt(1 + |z|^2): smooth, with tails that are felt far away."""

    name = "inverse-multiquadric"

    def profile(self, half_square: Array, k: int) -> Array:
        """Return (-1)^k 1 3 5 ... (2k - 1) (1 + 2 s)^(-1/2 - k)."""
        return (-1) ** k * math.prod(range(1, 2 * k, 2)) * (1 + 2 * half_square) ** (-0.5 - k)


KERNELS: tuple[Kernel, ...] = (Gaussian(), InverseMultiquadric())


def kernel_named(name: str) -> Kernel:
    """Return a kernel by the name it carries in a file."""
    for kernel in KERNELS:
        if kernel.name == name:
            return kernel
    known = ", ".join(kernel.name for kernel in KERNELS)
    raise BasisError(f"There is no kernel called {name!r}; known: {known}.")


class _Metric:
    """The distances that all radial kernels share: y = P (x - c) and s = (x - c) . y / 2."""

    def __init__(self, points: Array, centres: Array, shapes: Array) -> None:
        self._shapes = shapes
        dimension = points.shape[1]
        offsets = [_offset(points, centres, i) for i in range(dimension)]
        z = [
            sum(
                (shapes[None, :, i, j] * offsets[j] for j in range(1, dimension)),
                start=shapes[None, :, i, 0] * offsets[0],
            )
            for i in range(dimension)
        ]
        self.y = [
            sum(
                (shapes[None, :, j, i] * z[j] for j in range(1, dimension)),
                start=shapes[None, :, 0, i] * z[0],
            )
            for i in range(dimension)
        ]
        self.half_square = sum((zi * zi for zi in z[1:]), start=z[0] * z[0]) / 2

    def precision(self, i: int, j: int) -> Array:
        """Return P_ij of each kernel as a (1, n) array."""
        products = self._shapes[:, :, i] * self._shapes[:, :, j]
        return namespace(products).sum(products, axis=1)[None, :]


def _offset(points: Array, centres: Array, i: int) -> Array:
    return points[:, None, i] - centres[None, :, i]


def _lowered(orders: Orders) -> tuple[int, Orders]:
    """Return the first coordinate with a derivative, and the orders with one less there."""
    i = next(i for i, times in enumerate(orders) if times)
    return i, _minus_one(orders, i)


def _minus_one(orders: Orders, i: int) -> Orders:
    return (*orders[:i], orders[i] - 1, *orders[i + 1 :])
