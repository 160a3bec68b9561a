"""Products of kernels along the axes, each axis in its own mixture's coordinate.

    u(x, y, ...) = sum_ij.. w_ij.. f_i(xi(x)) g_j(eta(y)) ...

f_i and g_j are orthonormal combinations of even Gaussians (`tables`). A Gaussian of the product has
the widths of its axes' Gaussians at its centre: thin across a layer along an axis and long beside
it. On a shape the product is a frame: rows are taken inside the shape only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.errors import BasisError
from sharpfront.maps import chain
from sharpfront.pieces import tables
from sharpfront.pieces.coordinate import Coordinate, Points

# The highest derivative along one axis that the coordinate's formulas carry.
HIGHEST_DERIVATIVE = 4
# Entries of one evaluation matrix: 16 MB of doubles, so that a million points do not fill memory.
_CHUNK = 2_000_000
# All combinations of the kernels of an axis.
ALL = 1_000_000
# With fewer kernels than this the functions are like polynomials and rows are spaced like cosines,
# so many for each function.
FEW = 8
FEW_ROWS = 1.35
# Rows along an axis for each kernel, beside those at the ends; an even number of them, so that
# none meets the middle, where formulas in 1/r have their pole.
ROWS = 1.55
_COMPONENT_ARRAYS = ("anchor", "offset", "scale", "log_share", "bell_share")


def _fitting_points(kernels: int, most: int) -> FloatArray:
    """Return the positions of rows along an axis in its coordinate."""
    if kernels >= FEW:
        return tables.clustered(kernels, 2 * math.ceil(ROWS * kernels / 2))
    count = 2 * math.ceil(FEW_ROWS * min(most, kernels + 12) / 2)
    return np.asarray(np.sin(0.5 * np.pi * np.arange(count) / (count - 1)) ** 2)


@lru_cache(maxsize=64)
def _even_kernels(kernels: int, most: int) -> tables.EvenKernels:
    if kernels >= FEW and most == ALL:
        return tables.even_kernels(kernels)
    points = _fitting_points(kernels, ALL)
    plain = tables.plain_kernels(points, kernels)
    _, sigma, right = np.linalg.svd(plain, full_matrices=False)
    keep = np.flatnonzero(sigma > tables.CUT * sigma[0])[:most]
    combine = right[keep].T / sigma[keep] * np.sqrt(len(points))
    return tables.EvenKernels(kernels, combine)


@dataclass(frozen=True, eq=False)
class Axis:
    """Kernels along one axis."""

    coordinate: Coordinate  # the mixture's coordinate along the axis
    kernels: int  # N: Gaussians between the two ends
    most: int = ALL  # the most combinations of them to keep, the smoothest first; all by default

    @property
    def functions(self) -> tables.EvenKernels:
        """The orthonormal combinations in the coordinate."""
        return _even_kernels(self.kernels, self.most)

    @property
    def size(self) -> int:
        """The number of functions."""
        return self.functions.size

    @property
    def fitting(self) -> Points:
        """The positions of rows: two for each kernel, closer together at the ends."""
        return self.coordinate.invert(_fitting_points(self.kernels, self.most))

    @property
    def checking(self) -> FloatArray:
        """The grid of the error equation, three cells for each kernel."""
        if self.kernels >= FEW:
            return self.coordinate.invert(tables.even_nodes(self.kernels)).x
        count = 2 * self.size
        # Between even and cosine spacing: a few functions are like polynomials, busy at the ends.
        even = np.arange(count + 1) / count
        return self.coordinate.invert(0.4 * even + 0.6 * np.sin(0.5 * np.pi * even) ** 2).x

    @property
    def centres(self) -> FloatArray:
        """The positions of the kernels between the ends, (N,)."""
        return self.coordinate.invert((np.arange(self.kernels) + 0.5) / self.kernels).x

    @property
    def deviations(self) -> FloatArray:
        """The kernels' widths in x at their centres, (N,)."""
        at = self.coordinate.nearest(self.centres)
        return np.asarray(tables.WIDTH / self.kernels / self.coordinate.derivatives(at, 1)[0])

    def matrix(self, points: Points, order: int) -> FloatArray:
        """Return d^order/dx^order of every function at points, (n, size)."""
        if order > HIGHEST_DERIVATIVE:
            raise BasisError(
                f"Derivatives along one axis are carried up to {HIGHEST_DERIVATIVE}, asked for "
                f"{order}. Write the equation as a system of lower order."
            )
        table = self.functions.table(self.coordinate.xi(points), order)
        if order == 0:
            return np.asarray(table.values[0])
        unit = np.zeros((order + 1, len(points.offset)))
        unit[order] = 1.0
        inner = chain(self.coordinate.derivatives(points, order), unit)
        return np.asarray(np.einsum("kn,knj->nj", inner[1:], table.values[1:]))


@lru_cache(maxsize=64)
def _kept(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the places of the products that are kept in the block of all products."""
    total = np.zeros(shape)
    power = 2 if len(shape) <= 3 else 1
    for i, count in enumerate(shape):
        share = (np.arange(count) / count) ** power
        total += share.reshape([-1 if j == i else 1 for j in range(len(shape))])
    return np.flatnonzero(total.ravel() < 1.0 - 1e-12)


def product_count(functions: Sequence[int]) -> int:
    """Return how many products are kept with so many functions along the axes."""
    return len(_kept(tuple(functions)))


def axis_of_size(coordinate: Coordinate, functions: int) -> Axis:
    """Return an axis with that many functions, of as few kernels as give them."""
    kernels = max(2, functions - tables.GHOSTS - 4)
    while _even_kernels(kernels, ALL).size < functions:
        kernels += 1
    return Axis(coordinate, kernels, functions)


@dataclass(frozen=True, eq=False)
class TensorBasis:
    """The products of the functions of every axis.

    Only products with sum_i (k_i / K_i)^p < 1 are kept, k_i = 0, 1, ... the number of the function
    along axis i, with p = 2 up to three dimensions: the corners of the block of all products buy
    the fewest digits, and they are half of it in three dimensions. Beyond, p = 1: functions of many
    variables tend to be sums of functions of few.
    """

    axes: tuple[Axis, ...]  # one for each coordinate

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """The places in the block of all products of those that are kept, (size,)."""
        return _kept(self.shape)

    def block(self, weights: FloatArray) -> FloatArray:
        """Return the weights in the block of all products, zero where one is left out."""
        out = np.zeros(math.prod(self.shape))
        out[self.kept] = weights
        return out.reshape(self.shape)

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of functions along each axis."""
        return tuple(axis.size for axis in self.axes)

    @property
    def size(self) -> int:
        """The number of products that are kept."""
        return len(self.kept)

    @property
    def kernels(self) -> int:
        """The number of products: what is solved for, not how many Gaussians they combine."""
        return self.size

    @property
    def centres(self) -> FloatArray:
        """The centres of the Gaussians in the box, ghosts left out, (n, d)."""
        return _product([axis.centres for axis in self.axes])

    @property
    def covariances(self) -> FloatArray:
        """The covariance of each Gaussian in the box at its centre, (n, d, d)."""
        widths = _product([axis.deviations for axis in self.axes])
        return np.asarray(widths[:, :, None] ** 2 * np.eye(self.dimension))

    def matrix(self, points: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        """Return d^orders of each function at each point, (m, size)."""
        return self.combined(points, [orders], [np.ones(len(points))])

    def combined(
        self,
        points: FloatArray,
        orders: Sequence[tuple[int, ...]],
        coefficients: Sequence[FloatArray],
    ) -> FloatArray:
        """Return sum_t c_t d^orders_t of each function at each point, (m, size)."""
        terms = [self._parts(points, one) for one in orders]
        scaled = [c[:, None] * parts[0] for c, parts in zip(coefficients, terms, strict=True)]
        if self.dimension == 1:
            return np.asarray(sum(scaled[1:], start=scaled[0]))
        if self.dimension > 3:
            return self._gathered(scaled, terms)
        left = np.stack(scaled, axis=1)
        for i in range(1, self.dimension - 1):
            middle = np.stack([parts[i] for parts in terms], axis=1)
            left = (left[:, :, :, None] * middle[:, :, None, :]).reshape(*left.shape[:2], -1)
        right = np.stack([parts[-1] for parts in terms], axis=1)
        # One small product of matrices for each point adds up the terms in one pass.
        every = np.matmul(left.swapaxes(1, 2), right).reshape(len(points), -1)
        return np.asarray(every[:, self.kept])

    def _gathered(
        self, scaled: Sequence[FloatArray], terms: Sequence[Sequence[FloatArray]]
    ) -> FloatArray:
        """Add up the terms product by product, where the block of all products is too large."""
        numbers = np.unravel_index(self.kept, self.shape)
        result = np.zeros((len(scaled[0]), self.size))
        for first, parts in zip(scaled, terms, strict=True):
            product = first[:, numbers[0]]
            for part, number in zip(parts[1:], numbers[1:], strict=True):
                product *= part[:, number]
            result += product
        return result

    def values(
        self, weights: FloatArray, points: FloatArray, orders: tuple[int, ...]
    ) -> FloatArray:
        """Return d^orders of the weighted sum at each point, (m,), some points at a time."""
        out = np.empty(len(points))
        step = max(1, _CHUNK // max(1, math.prod(self.shape[1:])))
        for start in range(0, len(points), step):
            part = slice(start, start + step)
            out[part] = self._sums(weights, points[part], orders)
        return out

    def on_grid(
        self, weights: FloatArray, places: Sequence[Points], orders: tuple[int, ...]
    ) -> FloatArray:
        """Return d^orders of the weighted sum on the grid of positions along each axis."""
        result = self.block(weights)
        for axis, at, order in zip(self.axes, places, orders, strict=True):
            # The axis contracted last comes out last: after all of them the order is restored.
            result = np.tensordot(result, axis.matrix(at, order), axes=(0, 1))
        return np.asarray(result)

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore_tensor` makes the basis again."""
        words: dict[str, Any] = {
            "type": "tensor",
            "kernels": [axis.kernels for axis in self.axes],
            "components": [axis.coordinate.components for axis in self.axes],
            "stretches": np.array(
                [
                    (a.coordinate.low, a.coordinate.high, a.coordinate.uniform, a.most)
                    for a in self.axes
                ]
            ),
        }
        for name in _COMPONENT_ARRAYS:
            words[name] = np.concatenate([getattr(a.coordinate, name) for a in self.axes])
        return words

    def _parts(self, points: FloatArray, orders: tuple[int, ...]) -> list[FloatArray]:
        if points.shape[1:] != (self.dimension,) or len(orders) != self.dimension:
            raise BasisError(
                f"Expected points of shape (m, {self.dimension}) and as many orders, got "
                f"{points.shape} and {orders}."
            )
        return [
            _along(axis, points[:, i], order)
            for i, (axis, order) in enumerate(zip(self.axes, orders, strict=True))
        ]

    def _sums(self, weights: FloatArray, points: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        first, *others = self._parts(points, orders)
        result = first @ self.block(weights).reshape(first.shape[1], -1)
        for part in others:
            split = result.reshape(len(points), part.shape[1], -1)
            result = np.einsum("mjk,mj->mk", split, part)
        return np.asarray(result[:, 0])


def _along(axis: Axis, x: FloatArray, order: int) -> FloatArray:
    """Return the functions of an axis at positions, each of which is computed once."""
    once, where = np.unique(x, return_inverse=True)
    if 2 * len(once) > len(x):
        return axis.matrix(axis.coordinate.nearest(x), order)
    return np.asarray(axis.matrix(axis.coordinate.nearest(once), order)[where])


def _product(lists: Sequence[FloatArray]) -> FloatArray:
    return np.stack(np.meshgrid(*lists, indexing="ij"), axis=-1).reshape(-1, len(lists))


def restore_tensor(state: dict[str, Any]) -> TensorBasis:
    """Return the basis that `TensorBasis.state` was taken from."""
    cuts = np.cumsum(state["components"])[:-1]
    arrays = [np.split(np.asarray(state[name], dtype=float), cuts) for name in _COMPONENT_ARRAYS]
    axes = []
    for i, (kernels, row) in enumerate(zip(state["kernels"], state["stretches"], strict=True)):
        low, high, uniform, most = (float(v) for v in row)
        own = {name: array[i] for name, array in zip(_COMPONENT_ARRAYS, arrays, strict=True)}
        where = Coordinate(low=low, high=high, uniform=uniform, **own)
        axes.append(Axis(where, int(kernels), int(most)))
    return TensorBasis(tuple(axes))
