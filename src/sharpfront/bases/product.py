"""Products of kernels on the unit square, and their sums on Gauss's points there.

u = sum_ij w_ij f_i(xi) g_j(eta) with the products that are kept. On a grid in (xi, eta) sums over
products are matrix products along one axis after the other, whatever the map from the square to
the plane.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.even_kernels import (
    CUT,
    GHOSTS,
    POLYNOMIAL_DEGREE,
    WIDTH,
    EvenKernels,
    clustered,
    plain_kernels,
)

# Gauss's points along an axis: so many for each function, and some more.
POINTS, MORE = 1.5, 6
# With fewer kernels than this the functions are like polynomials and rows are spaced like cosines,
# so many for each function.
FEW = 8
FEW_ROWS = 1.35
# Rows along an axis for each kernel, beside those at the ends; an even number of them, so that
# none meets the middle, where formulas in 1/r have their pole.
ROWS = 1.55
Orders = tuple[int, int]
# Entries of one table of functions at points: 16 MB of doubles.
_MOST_ENTRIES = 2_000_000


@dataclass(frozen=True, eq=False)
class Line:
    """The functions of one axis at Gauss's points."""

    functions: EvenKernels  # orthonormal combinations of even Gaussians on [0, 1]
    # Gauss's rule on [0, 1], (n,).
    points: FloatArray
    weights: FloatArray
    table: FloatArray  # values, first and second derivatives, (3, n, size)

    @cached_property
    def pairs(self) -> FloatArray:
        """f_i f_k^(a) at the points, (3, n, size^2)."""
        every = self.table[0][None, :, :, None] * self.table[:, :, None, :]
        return np.asarray(every.reshape(3, len(self.points), -1))

    @cached_property
    def ends(self) -> FloatArray:
        """The functions and two derivatives at both ends, (3, 2, size)."""
        return self.functions.table(np.array([0.0, 1.0]), 2)

    @cached_property
    def projection(self) -> FloatArray:
        """From values at the points to weights, least squares in xi, (size, n)."""
        root = np.sqrt(self.weights)
        return np.asarray(np.linalg.pinv(root[:, None] * self.table[0], rcond=1e-13) * root)


def _smoothest(kernels: int, most: int) -> EvenKernels:
    """Return so many combinations of kernels at most, the smoothest first."""
    if kernels >= FEW:
        points = clustered(kernels, 2 * math.ceil(ROWS * kernels / 2))
    else:
        count = 2 * math.ceil(FEW_ROWS * (kernels + 12) / 2)
        points = np.sin(0.5 * np.pi * np.arange(count) / (count - 1)) ** 2
    _, sigma, right = np.linalg.svd(plain_kernels(points, kernels), full_matrices=False)
    keep = np.flatnonzero(sigma > CUT * sigma[0])[:most]
    combine = right[keep].T / sigma[keep] * np.sqrt(len(points))
    # With few functions kernels alone span what polynomials do.
    return EvenKernels(kernels, np.pad(combine, ((POLYNOMIAL_DEGREE + 1, 0), (0, 0))))


@lru_cache(maxsize=64)
def _of_size(size: int) -> EvenKernels:
    """Return exactly so many functions, of as few kernels as give them."""
    kernels = max(2, size - GHOSTS - 4)
    while (found := _smoothest(kernels, size)).size < size:
        kernels += 1
    return found


@lru_cache(maxsize=64)
def kept_products(shape: tuple[int, int]) -> Ints:
    """Return the places of the products that are kept in the block of all products of two axes.

    Those with (k / K)^2 + (l / L)^2 < 1, k and l the numbers of the functions: the corner of the
    block buys the fewest digits.
    """
    first, second = ((np.arange(count) / count) ** 2 for count in shape)
    return np.flatnonzero((first[:, None] + second).ravel() < 1.0 - 1e-12)


@lru_cache(maxsize=32)
def line(size: int) -> Line:
    """Return the line with that many functions."""
    functions = _of_size(size)
    nodes, weights = np.polynomial.legendre.leggauss(int(POINTS * size) + MORE)
    points = 0.5 * (1.0 + nodes)
    return Line(functions, points, 0.5 * weights, functions.table(points, 2))


@dataclass(frozen=True, eq=False)
class Product:
    """The kept products of two axes' functions."""

    shape: Orders  # the number of functions along each axis

    @property
    def lines(self) -> tuple[Line, Line]:
        """The functions along the axes."""
        return line(self.shape[0]), line(self.shape[1])

    @property
    def kept(self) -> Ints:
        """Places of the kept products in the block of all, (size,)."""
        return kept_products(self.shape)

    @property
    def size(self) -> int:
        """The number of products."""
        return len(self.kept)

    @property
    def dimension(self) -> int:
        """Of the square."""
        return 2

    @property
    def kernels(self) -> int:
        """The number of products."""
        return self.size

    @property
    def centres(self) -> FloatArray:
        """Where the kernels are, even in the square, (n, 2)."""
        first, second = ((np.arange(n) + 0.5) / n for n in self._kernels_along)
        return np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)

    @property
    def deviations(self) -> FloatArray:
        """How wide kernels are along each axis, (2,)."""
        return np.asarray(WIDTH / np.array(self._kernels_along))

    @property
    def _kernels_along(self) -> Orders:
        first, second = self.lines
        return first.functions.kernels, second.functions.kernels

    def values(self, weights: FloatArray, points: FloatArray, orders: Orders) -> FloatArray:
        """Return a derivative of the weighted sum at points of the square, (m,)."""
        step = max(1, _MOST_ENTRIES // sum(self.shape))
        parts = [points[i : i + step] for i in range(0, len(points), step)]
        block, found = self.block(weights), [np.zeros(0)]
        for part in parts:
            first, second = (
                own.functions.table(at, k)[k]
                for own, at, k in zip(self.lines, part.T, orders, strict=True)
            )
            found.append(np.einsum("mj,mj->m", first @ block, second))
        return np.concatenate(found)

    def state(self) -> dict[str, Any]:
        """Return words and arrays from which the products are made again."""
        return {"type": "products", "shape": np.array(self.shape)}

    @property
    def grid_shape(self) -> Orders:
        """The number of Gauss's points along each axis."""
        first, second = self.lines
        return len(first.points), len(second.points)

    def block(self, weights: FloatArray) -> FloatArray:
        """Return weights (..., size) in the block of all products, (..., n1, n2)."""
        out = np.zeros((*weights.shape[:-1], self.shape[0] * self.shape[1]))
        out[..., self.kept] = weights
        return out.reshape(*weights.shape[:-1], *self.shape)

    def on_grid(self, weights: FloatArray, order: Orders = (0, 0)) -> FloatArray:
        """Return a derivative in (xi, eta) at Gauss's points."""
        first, second = self.lines
        return np.asarray(first.table[order[0]] @ self.block(weights) @ second.table[order[1]].T)

    def derivatives(self, weights: FloatArray) -> dict[Orders, FloatArray]:
        """Return all derivatives in (xi, eta) up to the second at Gauss's points."""
        first, second = self.lines
        block = self.block(weights)
        half = [table @ block for table in first.table]
        return {(a, b): half[a] @ second.table[b].T for a in range(3) for b in range(3 - a)}

    def tested(self, values: FloatArray) -> FloatArray:
        """Return the sum over Gauss's points of values times each product, (size,)."""
        first, second = self.lines
        return np.asarray((first.table[0].T @ values @ second.table[0]).ravel()[self.kept])

    def projected(self, values: FloatArray) -> FloatArray:
        """Return the weights that fit values at Gauss's points best, (size,)."""
        first, second = self.lines
        return np.asarray((first.projection @ values @ second.projection.T).ravel()[self.kept])

    def matrix(self, coefficients: Mapping[Orders, FloatArray]) -> FloatArray:
        """Return sum over points and terms of c_ab test_i d^(a, b) trial_k, (size, size)."""
        first, second = self.lines
        n1, n2 = self.shape
        left, right = [], []
        for b in range(3):
            own = [(a, c) for (a, order), c in coefficients.items() if order == b]
            if own:
                left.append(reduce(np.add, [c.T @ first.pairs[a] for a, c in own]))
                right.append(second.pairs[b])
        every = np.concatenate(left).T @ np.concatenate(right)
        every = every.reshape(n1, n1, n2, n2).transpose(0, 2, 1, 3).reshape(n1 * n2, n1 * n2)
        return np.asarray(every[np.ix_(self.kept, self.kept)])

    def tables(self, xi: FloatArray, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the functions of both axes and two derivatives at points, (3, m, n) each."""
        first, second = self.lines
        return first.functions.table(xi, 2), second.functions.table(eta, 2)

    def rows(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the products of two tables (m, n1) and (m, n2), (m, size)."""
        return np.asarray(
            (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)[:, self.kept]
        )
