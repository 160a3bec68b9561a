"""What is tested with and solved for: all products on a box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Orders
from sharpfront.evolve.plane.quadrature import Edge, Square


@dataclass(frozen=True, eq=False)
class Space:
    """All products on a box.

    Values at points come weighted: times areas inside, times lengths on an edge.
    """

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


def edge_rows(square: Square, edge: Edge, values: Mapping[Orders, FloatArray]) -> FloatArray:
    """Return sum_ab v_ab d^(a, b) of each product at an edge's points, (m, size)."""
    rows = np.zeros((len(edge.points), square.product.size))
    for (a, b), v in values.items():
        rows += v[:, None] * square.product.rows(edge.tables[0][a], edge.tables[1][b])
    return rows
