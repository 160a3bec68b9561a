"""What is tested and solved for: all products on a box, independent combinations on a shape.

On a shape the products are a frame: many of their combinations nearly vanish inside. The singular
values of the products at the shape's points say which do, and the rest is orthonormal there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Orders
from sharpfront.evolve.plane.square import Edge, Square

# Combinations of a frame that are smaller than this inside a shape are left out.
FRAME = 1e-11


class Space(Protocol):
    """Functions that are tested with and solved for, n of them.

    Values at points come weighted: times areas inside, times lengths on an edge.
    """

    @property
    def square(self) -> Square:
        """The products and their points."""

    def tested(self, inside: FloatArray, tau: float) -> FloatArray:
        """Return the sum over Gauss's points inside of values times each function, (n,)."""

    def tested_on(self, part: str, values: FloatArray, tau: float) -> FloatArray:
        """Return the sum over an edge of values times each function, (n,)."""

    def matrix(self, inside: Mapping[Orders, FloatArray], tau: float) -> FloatArray:
        """Return the sum over points of c_ab times test times d^(a, b) of trial, (n, n)."""

    def matrix_on(self, part: str, values: Mapping[Orders, FloatArray], tau: float) -> FloatArray:
        """Return the same over an edge."""

    def extended(self, combined: FloatArray) -> FloatArray:
        """Return the products' weights (..., size) from those of the functions (..., n)."""

    def reduced(self, weights: FloatArray) -> FloatArray:
        """Return the functions' weights (n,) from those of the products (size,)."""

    def fitted(self, state: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the products' weights that fit a function of the plane at the start best."""


@dataclass(frozen=True, eq=False)
class Whole:
    """All products on a box."""

    square: Square

    def tested(self, inside: FloatArray, tau: float) -> FloatArray:
        """Return the sum over Gauss's points of values times each function, (n,)."""
        product = self.square.product
        return product.tested(inside.reshape(product.grid_shape))

    def tested_on(self, part: str, values: FloatArray, tau: float) -> FloatArray:
        """Return the sum over an edge of values times each function, (n,)."""
        first, second = self.square.edge(part, tau).tables
        block = first[0].T @ (values[:, None] * second[0])
        return np.asarray(block.ravel()[self.square.product.kept])

    def matrix(self, inside: Mapping[Orders, FloatArray], tau: float) -> FloatArray:
        """Return the sum over points of c_ab times test times d^(a, b) of trial, (n, n)."""
        product = self.square.product
        return product.matrix({o: v.reshape(product.grid_shape) for o, v in inside.items()})

    def matrix_on(self, part: str, values: Mapping[Orders, FloatArray], tau: float) -> FloatArray:
        """Return the same over an edge."""
        edge = self.square.edge(part, tau)
        tests = self.square.product.rows(edge.tables[0][0], edge.tables[1][0])
        return np.asarray(tests.T @ edge_rows(self.square, edge, values))

    def extended(self, combined: FloatArray) -> FloatArray:
        """Return the products' weights, which the functions' are."""
        return combined

    def reduced(self, weights: FloatArray) -> FloatArray:
        """Return the functions' weights, which the products' are."""
        return weights

    def fitted(self, state: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the products' weights that fit a function of the plane at the start best."""
        product = self.square.product
        return product.projected(state(self.square.grid(0.0).points).reshape(product.grid_shape))


@dataclass(frozen=True, eq=False)
class Frame:
    """Independent combinations of products on a shape, which do not move."""

    square: Square

    @cached_property
    def _parts(self) -> dict[str, slice]:
        """The rows of each edge, after those inside."""
        start, out = len(self._points), {}
        for part in self.square.domain.parts:
            stop = start + len(self.square.edge(part, 0.0).points)
            out[part] = slice(start, stop)
            start = stop
        return out

    @cached_property
    def _points(self) -> FloatArray:
        grid = self.square.grid(0.0)
        return grid.points[grid.inside]

    @cached_property
    def _tables(self) -> tuple[FloatArray, FloatArray]:
        """The functions of both axes at the points inside, (3, m, n) each."""
        grid = self.square.grid(0.0)
        first, second = self.square.product.lines
        count = len(second.points)
        i, j = np.divmod(np.arange(grid.areas.size)[grid.inside], count)
        return first.table[:, i], second.table[:, j]

    @cached_property
    def _root(self) -> FloatArray:
        """Square roots of the rows' weights: an edge stands for a strip as deep as a spacing."""
        grid, square = self.square.grid(0.0), self.square
        depth = min(m.length / n for m, n in zip(square.maps, square.product.shape, strict=True))
        lengths = [depth * square.edge(part, 0.0).lengths for part in square.domain.parts]
        return np.asarray(np.sqrt(np.concatenate([grid.areas.ravel()[grid.inside], *lengths])))

    @cached_property
    def _rows(self) -> FloatArray:
        """The products at all points, weighted, (m, size)."""
        product, (first, second) = self.square.product, self._tables
        edges = [self.square.edge(part, 0.0).tables for part in self.square.domain.parts]
        parts = [product.rows(first[0], second[0]), *(product.rows(a[0], b[0]) for a, b in edges)]
        return np.asarray(self._root[:, None] * np.concatenate(parts))

    @cached_property
    def _singular(self) -> tuple[FloatArray, FloatArray]:
        """Orthonormal functions at all points (m, n), and their combinations (size, n)."""
        left, values, right = np.linalg.svd(self._rows, full_matrices=False)
        kept = values > FRAME * values[0]
        return left[:, kept], np.asarray(right[kept].T / values[kept])

    @cached_property
    def _plain(self) -> FloatArray:
        """The functions themselves at all points, (m, n)."""
        return np.asarray(self._singular[0] / self._root[:, None])

    @cached_property
    def _derivatives(self) -> dict[Orders, FloatArray]:
        """Derivatives of the functions in (xi, eta) at the points inside, (m, n)."""
        product, (first, second) = self.square.product, self._tables
        return {
            (a, b): product.rows(first[a], second[b]) @ self._singular[1]
            for a in range(3)
            for b in range(3 - a)
        }

    def tested(self, inside: FloatArray, tau: float) -> FloatArray:
        """Return the sum over Gauss's points inside of values times each function, (n,)."""
        return np.asarray(self._plain[: len(inside)].T @ inside)

    def tested_on(self, part: str, values: FloatArray, tau: float) -> FloatArray:
        """Return the sum over an edge of values times each function, (n,)."""
        return np.asarray(self._plain[self._parts[part]].T @ values)

    def matrix(self, inside: Mapping[Orders, FloatArray], tau: float) -> FloatArray:
        """Return the sum over points of c_ab times test times d^(a, b) of trial, (n, n)."""
        trial = sum(v[:, None] * self._derivatives[o] for o, v in inside.items())
        return np.asarray(self._plain[: len(self._points)].T @ trial)

    def matrix_on(self, part: str, values: Mapping[Orders, FloatArray], tau: float) -> FloatArray:
        """Return the same over an edge."""
        rows = edge_rows(self.square, self.square.edge(part, 0.0), values)
        return np.asarray(self._plain[self._parts[part]].T @ (rows @ self._singular[1]))

    def extended(self, combined: FloatArray) -> FloatArray:
        """Return the products' weights (..., size) from those of the functions (..., n)."""
        return np.asarray(combined @ self._singular[1].T)

    def reduced(self, weights: FloatArray) -> FloatArray:
        """Return the functions' weights (n,) from those of the products (size,)."""
        return np.asarray(self._singular[0].T @ (self._rows @ weights))

    def fitted(self, state: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the products' weights that fit a function of the plane at the start best."""
        edges = [self.square.edge(part, 0.0).points for part in self.square.domain.parts]
        values = state(np.concatenate([self._points, *edges]))
        return self.extended(self._singular[0].T @ (self._root * values))


def edge_rows(square: Square, edge: Edge, values: Mapping[Orders, FloatArray]) -> FloatArray:
    """Return sum_ab v_ab d^(a, b) of each product at an edge's points, (m, size)."""
    rows = np.zeros((len(edge.points), square.product.size))
    for (a, b), v in values.items():
        rows += v[:, None] * square.product.rows(edge.tables[0][a], edge.tables[1][b])
    return rows


def space_of(square: Square) -> Space:
    """Return the functions of a square."""
    return Whole(square) if square.box else Frame(square)
