"""Galerkin's method on the moving square: the equation tested with every product of kernels.

    sum over points of w phi_i R(u) + sum over boundary points of w omega phi_i C(u) = 0

The equation stands as it was stated, so that a solution of equation and conditions leaves nothing
whatever omega is (`penalty`): Nitsche's weight, enough to hold conditions of any kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Orders
from sharpfront.equation.expression import Key
from sharpfront.equation.operator import Operator
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.plane.quadrature import Edge, Square
from sharpfront.evolve.plane.settings import PRODUCTS
from sharpfront.maps.moving_axis import Jet
from sharpfront.maps.moving_square import carried, physical, pulled

# Rounding beside the largest entry.
_ROUNDING = 1e-12
_ORDERS = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))


def penalty(
    square: Square,
    edge: Edge,
    tau: float,
    condition: Mapping[Orders, FloatArray],
    equation: Mapping[Orders, FloatArray],
    sign: float,
) -> FloatArray:
    """Return omega = (g C a + inflow) / (c + g C c_n) for a condition c u + c_n u_n = ..., (m,).

    a is the diffusion across the boundary, C the functions' trace constant and g the factor. It is
    g C a / c for given values and a / c_n for given slopes: the conditions then take more energy
    out than the boundary terms of the diffusion bring in. The sign is that of u_t's factor, and
    tangents are along the axes of the kernels.
    """
    normals = edge.normals[:, list(square.axes)].T
    none = np.zeros(len(edge.points))
    e, c = ({o: v.get(o, none) for o in _ORDERS} for v in (equation, condition))
    diffusion = -sign * (
        e[2, 0] * normals[0] ** 2 + e[1, 1] * normals[0] * normals[1] + e[0, 2] * normals[1] ** 2
    )
    inflow = -sign * (e[1, 0] * normals[0] + e[0, 1] * normals[1])
    slope = c[1, 0] * normals[0] + c[0, 1] * normals[1]
    trace = PRODUCTS.penalty * _trace(square, edge, tau, normals)
    share = c[0, 0] + trace * slope
    # Terms of opposite signs could cancel: the larger one alone then.
    larger = np.where(np.abs(trace * slope) > np.abs(c[0, 0]), trace * slope, c[0, 0])
    share = np.where(c[0, 0] * slope < 0, larger, share)
    share = np.where(share == 0.0, 1.0, share)
    return np.asarray((trace * np.maximum(diffusion, 0.0) + np.maximum(inflow, 0.0)) / share)


def _trace(square: Square, edge: Edge, tau: float, normals: FloatArray) -> FloatArray:
    """Return the largest (u_n)^2 at each point over the integral of the slope squared, (m,)."""
    total = np.zeros(len(edge.points))
    jets, coordinates = (edge.xi, edge.eta), [edge.points[:, axis] for axis in square.axes]
    for axis, (line, where) in enumerate(zip(square.product.lines, square.maps, strict=True)):
        other = float(np.median(coordinates[1 - axis]))
        x = square.along(axis, other, tau)
        slope = where.jet(x, np.full(x.shape, other), np.full(x.shape, tau)).x
        steep = line.table[1]
        gram = steep.T @ ((line.weights * slope)[:, None] * steep)
        gram += _ROUNDING * np.trace(gram) / len(gram) * np.eye(len(gram))
        own = edge.tables[axis][1] * jets[axis].x[:, None]
        total += normals[axis] ** 2 * np.einsum("mi,im->m", own, np.linalg.solve(gram, own.T))
    return total


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


# The derivative by time alone.
RATE = (0, 0, 1)


class PointValues(NamedTuple):
    """What is known at points: places (m, 2), time, derivatives along x, y and t, normals."""

    points: FloatArray
    t: float
    derivatives: Mapping[tuple[int, ...], FloatArray]
    normals: FloatArray | None = None


class Tangent(NamedTuple):
    """Mass and stiffness, with the sign of u_t and the conditions' weights that go with them."""

    mass: FloatArray
    stiffness: FloatArray
    sign: float
    penalties: Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class Galerkin:
    """A problem in the products of kernels over a slab of time."""

    system: PlaneSystem  # the problem
    space: Space  # the functions
    start: float  # the beginning of the slab

    @property
    def square(self) -> Square:
        """The products and their points."""
        return self.space.square

    @property
    def equation(self) -> Operator:
        """What holds inside."""
        return self.system.equations[0]

    @property
    def conditions(self) -> dict[str, Operator]:
        """What holds on each part of the boundary."""
        both = zip(self.system.problem.conditions, self.system.conditions, strict=True)
        return {stated.part: own[0] for stated, own in both}

    def value(self, residual: Operator, known: PointValues) -> FloatArray:
        """Return a residual at points, (m,)."""
        return residual.at(self._leaves(residual, known), len(known.points))

    def tangents(self, residual: Operator, known: PointValues) -> dict[tuple[int, ...], FloatArray]:
        """Return what stands beside each derivative along x, y and t, (m,) each."""
        found = residual.tangents(self._leaves(residual, known), len(known.points))
        return {term.orders: c for term, c in zip(residual.terms, found, strict=True)}

    def _leaves(self, residual: Operator, known: PointValues) -> dict[Key, FloatArray]:
        of = known.derivatives
        return self.system.leaves(
            residual, known.points, known.t, lambda leaf: of[leaf.orders], known.normals
        )

    def state(self, weights: FloatArray, rates: FloatArray, tau: float) -> PointValues:
        """Return what is known at Gauss's points inside the domain."""
        grid, product = self.square.grid(tau), self.square.product
        inner = product.derivatives(weights)
        rate = product.on_grid(rates) + carried(inner, grid.xi, grid.eta)
        outer = self._in_plane(physical(inner, grid.xi, grid.eta)) | {RATE: rate}
        own = {orders: v.ravel() for orders, v in outer.items()}
        return PointValues(grid.points, self.start + tau, own)

    def _in_plane(self, own: Mapping[Orders, FloatArray]) -> dict[tuple[int, ...], FloatArray]:
        """Return derivatives along the axes of the kernels as those along x, y and t."""
        first, second = self.square.axes
        return {(orders[first], orders[second], 0): v for orders, v in own.items()}

    def _along_axes(self, found: Mapping[tuple[int, ...], FloatArray]) -> dict[Orders, FloatArray]:
        """Return what stands beside derivatives in the plane, along the axes of the kernels."""
        first, second = self.square.axes
        return {(o[first], o[second]): v for o, v in found.items() if not o[2]}

    def tested(
        self, weights: FloatArray, rates: FloatArray, tau: float, tangent: Tangent
    ) -> FloatArray:
        """Return the equation and the conditions tested with every function, (n,)."""
        found = self.value(self.equation, self.state(weights, rates, tau))
        total = self.space.tested(tangent.sign * self._areas(tau) * found, tau)
        block = self.square.product.block(weights)
        for part, condition in self.conditions.items():
            edge = self.square.edge(part, tau)
            left = self.value(condition, self._on_edge(block, edge, tau))
            weighted = left * edge.lengths * tangent.penalties[part]
            total += self.space.tested_on(part, weighted, tau)
        return total

    def tangent(self, weights: FloatArray, rates: FloatArray, tau: float) -> Tangent:
        """Return mass and stiffness about a state."""
        grid, areas = self.square.grid(tau), self._areas(tau)
        about = self.tangents(self.equation, self.state(weights, rates, tau))
        rate = about[RATE]
        sign = 1.0 if float(np.sum(rate * areas)) >= 0 else -1.0
        xi, eta = (
            Jet(*(np.broadcast_to(a, grid.areas.shape).ravel() for a in jet))
            for jet in (grid.xi, grid.eta)
        )
        inner = pulled(self._along_axes(about), rate, xi, eta)
        mass = self.space.matrix({(0, 0): sign * areas * rate}, tau)
        stiffness = self.space.matrix({o: sign * areas * v for o, v in inner.items()}, tau)
        penalties, block = {}, self.square.product.block(weights)
        for part in self.conditions:
            matrix, penalties[part] = self._edge_tangent(part, tau, block, sign)
            stiffness += matrix
        return Tangent(mass, stiffness, sign, penalties)

    def _areas(self, tau: float) -> FloatArray:
        grid = self.square.grid(tau)
        return grid.areas.ravel()

    def _on_edge(self, block: FloatArray, edge: Edge, tau: float) -> PointValues:
        first, second = edge.tables
        half = [table @ block for table in first]
        inner = {
            (a, b): np.einsum("mj,mj->m", half[a], second[b])
            for a in range(3)
            for b in range(3 - a)
        }
        outer = self._in_plane(physical(inner, edge.xi, edge.eta))
        return PointValues(
            edge.points, self.start + tau, outer | {RATE: np.zeros(len(edge.points))}, edge.normals
        )

    def _edge_tangent(
        self, part: str, tau: float, block: FloatArray, sign: float
    ) -> tuple[FloatArray, FloatArray]:
        edge = self.square.edge(part, tau)
        known = self._on_edge(block, edge, tau)
        condition, equation = (
            self._along_axes(self.tangents(residual, known))
            for residual in (self.conditions[part], self.equation)
        )
        omega = penalty(self.square, edge, tau, condition, equation, sign)
        inner = pulled(condition, np.zeros(len(omega)), edge.xi, edge.eta)
        weighted = {orders: edge.lengths * omega * v for orders, v in inner.items()}
        return self.space.matrix_on(part, weighted, tau), omega
