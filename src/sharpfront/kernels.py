"""Kernels: one profile each, with derivatives of any order in any dimension.

A kernel is evaluated for points x (m, d), centres c (n, d) and shapes S (n, d, d). A shape maps
an offset to the kernel's own coordinate, z = S (x - c); for a Gaussian of covariance C it is any
S with S^T S = C^-1. Written against the array API: no array library is named here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from sharpfront.arrays import Array, namespace
from sharpfront.errors import BasisError

Orders = tuple[int, ...]

# exp(-s) below 1e-60 becomes zero. It is far below rounding in any sum with a kernel's peak, and
# products of two such values are still normal numbers: denormals make BLAS crawl.
_LARGEST_EXPONENT = 138.0


@runtime_checkable
class Kernel(Protocol):
    """The contract: a name, the highest derivative that exists, and the matrix of values."""

    @property
    def name(self) -> str:
        """The word that `kernel_named` finds it by."""

    @property
    def max_order(self) -> int | None:
        """The highest total order of a continuous derivative; None for any."""

    def matrix(self, points: Array, centres: Array, shapes: Array, orders: Orders) -> Array:
        """Return d^orders phi_j(x_i) as an (m, n) array."""


@dataclass(frozen=True)
class Gaussian:
    """exp(-|z|^2 / 2).

    With the precision P = S^T S and y = P (x - c), the derivatives are the Hermite recursion
    d_i d^a phi = -y_i d^a phi - sum_j P_ij a_j d^(a - e_j) phi.
    """

    name = "gaussian"
    max_order = None

    def matrix(self, points: Array, centres: Array, shapes: Array, orders: Orders) -> Array:
        """Return d^orders phi_j(x_i) as an (m, n) array."""
        metric = _Metric(points, centres, shapes)
        xp = namespace(points)
        small = metric.half_square < _LARGEST_EXPONENT
        zero = metric.half_square * 0
        value = xp.where(small, xp.exp(-xp.where(small, metric.half_square, zero)), zero)
        return self._hermite(metric, orders, {(0,) * len(orders): value})

    def _hermite(self, metric: _Metric, orders: Orders, known: dict[Orders, Array]) -> Array:
        if orders not in known:
            i, lower = _lowered(orders)
            result = -metric.y[i] * self._hermite(metric, lower, known)
            for j, times in enumerate(lower):
                if times:
                    below = _minus_one(lower, j)
                    factor = times * metric.precision(i, j)
                    result = result - factor * self._hermite(metric, below, known)
            known[orders] = result
        return known[orders]


@dataclass(frozen=True)
class Wendland:
    """(1 - r)^6 (35 r^2 + 18 r + 3) / 3 for r = |z| < 1 and zero beyond: compact, C^4.

    As a function f of s = r^2 / 2, so that derivatives in x follow from those in s by
    d_i d^a f^(k) = y_i d^a f^(k+1) + sum_j P_ij a_j d^(a - e_j) f^(k+1).
    """

    name = "wendland"
    max_order = 4

    def matrix(self, points: Array, centres: Array, shapes: Array, orders: Orders) -> Array:
        """Return d^orders phi_j(x_i) as an (m, n) array."""
        if sum(orders) > self.max_order:
            raise BasisError(
                f"The Wendland kernel has derivatives up to order {self.max_order}, "
                f"got {orders}. Use the Gaussian kernel."
            )
        metric = _Metric(points, centres, shapes)
        return self._chain(metric, orders, 0, {})

    def _chain(
        self, metric: _Metric, orders: Orders, k: int, known: dict[tuple[Orders, int], Array]
    ) -> Array:
        if (orders, k) not in known:
            if not any(orders):
                known[orders, k] = self._profile(metric.half_square, k)
            else:
                i, lower = _lowered(orders)
                result = metric.y[i] * self._chain(metric, lower, k + 1, known)
                for j, times in enumerate(lower):
                    if times:
                        below = self._chain(metric, _minus_one(lower, j), k + 1, known)
                        result = result + times * metric.precision(i, j) * below
                known[orders, k] = result
        return known[orders, k]

    def _profile(self, half_square: Array, k: int) -> Array:
        """Return the k-th derivative of the profile in s; ds = r dr."""
        xp = namespace(half_square)
        r = xp.sqrt(2 * half_square)
        inside = xp.where(r < 1, 1 - r, r * 0)
        if k == 0:
            return inside**6 * (35 * r**2 + 18 * r + 3) / 3
        if k == 1:
            return -56 / 3 * inside**5 * (5 * r + 1)
        if k == 2:
            return 560 * inside**4
        # The next two have poles at r = 0 that the factors y and y^3 in front of them cancel.
        safe = xp.where(r > 1e-100, r, r * 0 + 1)
        if k == 3:
            return xp.where(r > 1e-100, -2240 * inside**3 / safe, r * 0)
        return xp.where(r > 1e-100, 2240 * inside**2 * (1 + 2 * r) / safe**3, r * 0)


@dataclass(frozen=True)
class TanhRidge:
    """tanh(w . (x - c)), w the first row of the shape: the feature of a plain neural network.

    d^a phi = w^a tanh^(|a|), and tanh^(n) is a polynomial in t = tanh with
    p_(n+1)(t) = p_n'(t) (1 - t^2).
    """

    name = "tanh"
    max_order = None

    def matrix(self, points: Array, centres: Array, shapes: Array, orders: Orders) -> Array:
        """Return d^orders phi_j(x_i) as an (m, n) array."""
        xp = namespace(points)
        argument: Any = 0.0
        for i in range(len(orders)):
            argument = argument + shapes[None, :, 0, i] * _offset(points, centres, i)
        t = xp.tanh(argument)
        result = t * 0
        for coefficient in reversed(_tanh_polynomial(sum(orders))):
            result = result * t + coefficient
        for i, times in enumerate(orders):
            result = result * shapes[None, :, 0, i] ** times
        return result


def kernel_named(name: str) -> Kernel:
    """Return a kernel by the name it carries in a file."""
    for kernel in (Gaussian(), Wendland(), TanhRidge()):
        if kernel.name == name:
            return kernel
    raise BasisError(f"There is no kernel called {name!r}; known: gaussian, wendland, tanh.")


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


def _tanh_polynomial(n: int) -> list[float]:
    """Return the n-th derivative of tanh as a polynomial in t, lowest coefficient first."""
    p = [0.0, 1.0]
    for _ in range(n):
        slope = [i * c for i, c in enumerate(p)][1:]
        p = [*slope, 0.0, 0.0]
        for i, c in enumerate(slope):
            p[i + 2] -= c
    return p
