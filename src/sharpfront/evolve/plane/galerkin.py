"""Galerkin's method on the moving square: the equation tested with every product of kernels.

    sum over points of w phi_i R(u) + sum over boundary points of w omega phi_i C(u) = 0

The equation stands as it was stated, so that a solution of equation and conditions leaves nothing
whatever omega is (`penalty`).
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
from sharpfront.evolve.plane.penalty import penalty
from sharpfront.evolve.plane.quadrature import Edge, Square
from sharpfront.evolve.plane.trial_space import Space
from sharpfront.maps.moving_axis import Jet
from sharpfront.maps.moving_square import carried, physical, pulled

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
