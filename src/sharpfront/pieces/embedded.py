"""Round Gaussians on the embedded surface: thin across a front and long along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import BasisError
from sharpfront.kernels import Orders
from sharpfront.mixture import Mixture
from sharpfront.pieces.embedding import Embedding, restore_embedding

# Entries of one evaluation matrix: 4 MB of doubles, several of which fit into a cache.
_CHUNK = 500_000
# exp(-36) = 2e-16 of a kernel's peak is lost in rounding, and smaller numbers only cost time.
_LARGEST_EXPONENT = 36.0


@dataclass(frozen=True, eq=False)
class EmbeddedBasis:
    """phi_j(x) = exp(-|F(x) - F(c_j)|^2 / (2 width^2)), with derivatives by the chain rule.

    Seen in the plane, the kernel at c has the covariance width^2 (J^T J)^-1 with the Jacobian J
    of F at c.

    Parameters
    ----------
    embedding
        F.
    nodes
        (n, d), the centres inside the domain first, then the ghosts outside.
    kernels
        How many of the nodes are inside.
    width
        The kernels' standard deviation on the surface.
    mixture
        The mixture that the fronts came from, if it is known.
    """

    embedding: Embedding
    nodes: FloatArray
    kernels: int
    width: float
    mixture: Mixture | None = None

    def __post_init__(self) -> None:
        if self.nodes.ndim != 2 or self.nodes.shape[1] != self.embedding.dimension:
            raise BasisError(
                f"Expected nodes of shape (n, {self.embedding.dimension}), got {self.nodes.shape}."
            )
        if not 0 <= self.kernels <= len(self.nodes) or not 0 < self.width < np.inf:
            raise BasisError(
                f"Got {self.kernels} kernels of width {self.width} at {len(self.nodes)} nodes; "
                "expected at most one kernel for each node and a finite positive width."
            )

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.embedding.dimension

    @property
    def size(self) -> int:
        """The number of nodes, ghosts included."""
        return len(self.nodes)

    @property
    def centres(self) -> FloatArray:
        """The kernels' positions, without ghosts, (kernels, d)."""
        return self.nodes[: self.kernels]

    @property
    def covariances(self) -> FloatArray:
        """The kernels' shapes in space, width^2 (J^T J)^-1, (kernels, d, d)."""
        metric = self.embedding.metric(self.centres)
        return np.asarray(self.width**2 * np.linalg.inv(metric))

    @cached_property
    def _lifted(self) -> FloatArray:
        return self.embedding(self.nodes)

    def matrix(self, points: FloatArray, orders: Orders) -> FloatArray:
        """Return d^orders of each kernel at each point, (m, size), for total orders up to 2."""
        return self.matrices(points, [orders])[0]

    def matrices(self, points: FloatArray, orders: Sequence[Orders]) -> list[FloatArray]:
        """Return one matrix (m, size) for each of several orders, sharing what is common."""
        axes = [self._axes(each) for each in orders]
        if not any(axes):
            value = self._gaussians(self._offsets(self.embedding(points)))
            return [value for _ in axes]
        lifted, jacobian, hessian = self.embedding.jets(points)
        offsets = self._offsets(lifted)
        view = _View(self._gaussians(offsets), offsets, jacobian, hessian, self.width)
        return [view.derivative(each) for each in axes]

    def combined(
        self, points: FloatArray, orders: Sequence[Orders], coefficients: Sequence[FloatArray]
    ) -> FloatArray:
        """Return sum_t c_t d^orders_t of each kernel at each point, (m, size)."""
        result = np.zeros((len(points), self.size))
        for matrix, coefficient in zip(self.matrices(points, orders), coefficients, strict=True):
            result += coefficient[:, None] * matrix
        return result

    def several(
        self, weights: FloatArray, points: FloatArray, orders: Sequence[Orders]
    ) -> list[FloatArray]:
        """Return several derivatives of the weighted sum, (m,) each, sharing what is common."""
        step = max(1, _CHUNK // self.size)
        parts = [
            [matrix @ weights for matrix in self.matrices(points[i : i + step], orders)]
            for i in range(0, max(len(points), 1), step)
        ]
        return [np.concatenate(part) for part in zip(*parts, strict=True)]

    def _offsets(self, lifted: FloatArray) -> list[FloatArray]:
        """Differences to the nodes in widths, (m, size) for each coordinate of the surface."""
        count = lifted.shape[1]
        return [(lifted[:, None, a] - self._lifted[None, :, a]) / self.width for a in range(count)]

    @staticmethod
    def _gaussians(offsets: list[FloatArray]) -> FloatArray:
        half = sum((each * each for each in offsets[1:]), start=offsets[0] * offsets[0]) / 2
        near = half < _LARGEST_EXPONENT
        return np.where(near, np.exp(-np.where(near, half, 0.0)), 0.0)

    def values(self, weights: FloatArray, points: FloatArray, orders: Orders) -> FloatArray:
        """Return d^orders of the weighted sum at each point, (m,), some points at a time."""
        step = max(1, _CHUNK // self.size)
        starts = range(0, max(len(points), 1), step)
        return np.concatenate([self.matrix(points[i : i + step], orders) @ weights for i in starts])

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore_embedded` makes the basis again."""
        return {
            "type": "embedded",
            "nodes": self.nodes,
            "kernels": self.kernels,
            "width": self.width,
            **self.embedding.state(),
        }

    def _axes(self, orders: Orders) -> tuple[int, ...]:
        """Return the coordinates to differentiate by, each as often as its order says."""
        if len(orders) != self.dimension or sum(orders) > 2:
            raise BasisError(
                f"Got orders {orders}; expected {self.dimension} of them with a sum of 2 at most. "
                "Equations of higher order can be written as a system of lower ones."
            )
        return tuple(i for i, times in enumerate(orders) for _ in range(times))


@dataclass(frozen=True, eq=False)
class _View:
    """What derivatives share: values (m, n), offsets z_a (m, n), J (m, a, d), D^2 s (m, f, d, d).

    With T_i = sum_a J_ai z_a and the width v, d_i phi = -T_i phi / v and
    d_i d_j phi = ((T_i T_j - (J^T J)_ij) / v^2 - sum_f z_f d_i d_j s_f / v) phi.
    """

    value: FloatArray
    offsets: list[FloatArray]
    jacobian: FloatArray
    hessian: FloatArray
    width: float

    def derivative(self, axes: tuple[int, ...]) -> FloatArray:
        if not axes:
            return self.value
        first = self._along(axes[0])
        if len(axes) == 1:
            return first * self.value / -self.width
        i, j = axes
        second = first if i == j else self._along(j)
        metric = np.einsum("ma,ma->m", self.jacobian[:, :, i], self.jacobian[:, :, j])
        factor = (first * second - metric[:, None]) / self.width**2
        extra = self.offsets[self.jacobian.shape[2] :]
        for f, offset in enumerate(extra):
            factor -= self.hessian[:, f, i, j, None] / self.width * offset
        return np.asarray(factor * self.value)

    def _along(self, axis: int) -> FloatArray:
        """T_i; of the plain coordinates only the one along the axis contributes."""
        total = self.offsets[axis].copy()
        for a in range(self.jacobian.shape[2], len(self.offsets)):
            total += self.jacobian[:, a, axis, None] * self.offsets[a]
        return total


def restore_embedded(state: dict[str, Any]) -> EmbeddedBasis:
    """Return the basis that `EmbeddedBasis.state` was taken from."""
    nodes = np.asarray(state["nodes"], dtype=float)
    embedding = restore_embedding(state)
    return EmbeddedBasis(embedding, nodes, int(state["kernels"]), float(state["width"]))
