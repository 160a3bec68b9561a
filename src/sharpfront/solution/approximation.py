"""Bases and weights: functions that can be evaluated, and put into the equation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import Array, FloatArray, to_host
from sharpfront.checks import refusal
from sharpfront.equation.expression import Expression
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.values import at_points, environment
from sharpfront.errors import ArgumentError
from sharpfront.geometry import BoundaryPoints
from sharpfront.kernels.basis import Basis, SharingBasis
from sharpfront.problem import Problem


@dataclass(frozen=True, eq=False)
class Approximation:
    """Each unknown as a weighted sum over its basis."""

    coordinates: tuple[str, ...]  # names of the columns of a point array
    bases: Mapping[str, Basis]  # the basis of each unknown
    weights: Mapping[str, FloatArray]  # the weights of each unknown, (size,)

    @property
    def kernels(self) -> int:
        """The number of kernels of all unknowns together."""
        return sum(basis.kernels for basis in self.bases.values())

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return d^orders of an unknown at points (m, d), (m,)."""
        return to_host(self.bases[unknown].values(self.weights[unknown], points, tuple(orders)))

    def insert(
        self,
        expression: Expression,
        points: FloatArray,
        normals: FloatArray | None = None,
        what: str = "residual",
    ) -> FloatArray:
        """Return an expression of the unknowns with this approximation put in, (m,)."""
        leaves = environment(self.coordinates, points, normals)
        inside = derivatives_in(expression)
        for unknown, basis in self.bases.items():
            own = [leaf for leaf in inside if leaf.unknown == unknown]
            if own and isinstance(basis, SharingBasis):
                found = basis.several(self.weights[unknown], points, [leaf.orders for leaf in own])
            else:
                found = [self.values(unknown, points, leaf.orders) for leaf in own]
            leaves |= {leaf.key: values for leaf, values in zip(own, found, strict=True)}
        return at_points(expression, leaves, points.shape[0], what)

    def residuals(self, problem: Problem, points: FloatArray) -> FloatArray:
        """Return the residual of each equation, (equations, m)."""
        return np.stack([self.insert(e, points) for e in problem.equations])

    def mismatch(self, residuals: Sequence[Expression], boundary: BoundaryPoints) -> FloatArray:
        """Return by how much conditions are missed on a boundary, (residuals, m)."""
        return np.stack([self.insert(r, boundary.points, boundary.normals) for r in residuals])


def split_weights(weights: Array, bases: Mapping[str, Basis]) -> dict[str, FloatArray]:
    """Return the weights of each unknown from the solution of the whole system."""
    host, result, start = to_host(weights), {}, 0
    for unknown, basis in bases.items():
        result[unknown] = host[start : start + basis.size]
        start += basis.size
    return result


def as_points(
    coordinates: Sequence[str], arguments: Sequence[Any]
) -> tuple[FloatArray, tuple[int, ...]]:
    """Return broadcast coordinate arrays as points (m, d), and the shape to give back."""
    if len(arguments) != len(coordinates):
        raise ArgumentError(
            f"Expected {len(coordinates)} coordinate(s) ({', '.join(coordinates)}), "
            f"got {len(arguments)}. Try solution({', '.join(coordinates)})."
        )
    try:
        found = [np.asarray(a) for a in arguments]
        if any(a.dtype.kind not in "iufO" for a in found):
            raise TypeError
        arrays = np.broadcast_arrays(*(a.astype(float) for a in found))
    except (TypeError, ValueError):
        raise refusal(
            ", ".join(coordinates),
            "numbers, or arrays of them whose shapes broadcast",
            arguments if len(arguments) > 1 else arguments[0],
        ) from None
    return np.stack([a.ravel() for a in arrays], axis=1), arrays[0].shape
