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
from sharpfront.evolve.plane.penalty import penalty
from sharpfront.evolve.plane.space import Space
from sharpfront.evolve.plane.square import Edge, Square
from sharpfront.evolve.plane.statement import Known, Statement
from sharpfront.pieces.plane.metric import carried, physical, pulled
from sharpfront.pieces.plane.moving import Jet


class Tangent(NamedTuple):
    """Mass and stiffness, with the sign of u_t and the conditions' weights that go with them."""

    mass: FloatArray
    stiffness: FloatArray
    sign: float
    penalties: Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class Galerkin:
    """A problem in the products of kernels over a slab of time."""

    statement: Statement  # the problem
    space: Space  # the functions
    start: float  # the beginning of the slab

    @property
    def square(self) -> Square:
        """The products and their points."""
        return self.space.square

    def state(self, weights: FloatArray, rates: FloatArray, tau: float) -> Known:
        """Return what is known at Gauss's points inside the domain."""
        grid, product = self.square.grid(tau), self.square.product
        inner = product.derivatives(weights)
        rate = product.on_grid(rates) + carried(inner, grid.xi, grid.eta)
        outer = physical(inner, grid.xi, grid.eta)
        own = {orders: v.ravel()[grid.inside] for orders, v in outer.items()}
        rate = rate.ravel()[grid.inside]
        return Known(grid.points[grid.inside], self.start + tau, own, rate)

    def tested(
        self, weights: FloatArray, rates: FloatArray, tau: float, tangent: Tangent
    ) -> FloatArray:
        """Return the equation and the conditions tested with every function, (n,)."""
        found = self.statement.equation.value(self.state(weights, rates, tau))
        total = self.space.tested(tangent.sign * self._areas(tau) * found, tau)
        block = self.square.product.block(weights)
        for part, condition in self.statement.conditions.items():
            edge = self.square.edge(part, tau)
            left = condition.value(self._on_edge(block, edge, tau))
            weighted = left * edge.lengths * tangent.penalties[part]
            total += self.space.tested_on(part, weighted, tau)
        return total

    def tangent(self, weights: FloatArray, rates: FloatArray, tau: float) -> Tangent:
        """Return mass and stiffness about a state."""
        grid, areas = self.square.grid(tau), self._areas(tau)
        about = self.statement.equation.values(self.state(weights, rates, tau))
        sign = 1.0 if float(np.sum(about.rate * areas)) >= 0 else -1.0
        xi, eta = (
            Jet(*(np.broadcast_to(a, grid.areas.shape).ravel()[grid.inside] for a in jet))
            for jet in (grid.xi, grid.eta)
        )
        inner = pulled(about.tangents, about.rate, xi, eta)
        mass = self.space.matrix({(0, 0): sign * areas * about.rate}, tau)
        stiffness = self.space.matrix({o: sign * areas * v for o, v in inner.items()}, tau)
        penalties, block = {}, self.square.product.block(weights)
        for part in self.statement.conditions:
            matrix, penalties[part] = self._edge_tangent(part, tau, block, sign)
            stiffness += matrix
        return Tangent(mass, stiffness, sign, penalties)

    def _areas(self, tau: float) -> FloatArray:
        grid = self.square.grid(tau)
        return grid.areas.ravel()[grid.inside]

    def _on_edge(self, block: FloatArray, edge: Edge, tau: float) -> Known:
        first, second = edge.tables
        half = [table @ block for table in first]
        inner = {
            (a, b): np.einsum("mj,mj->m", half[a], second[b])
            for a in range(3)
            for b in range(3 - a)
        }
        outer = physical(inner, edge.xi, edge.eta)
        none = np.zeros(len(edge.points))
        return Known(edge.points, self.start + tau, outer, none, edge.normals)

    def _edge_tangent(
        self, part: str, tau: float, block: FloatArray, sign: float
    ) -> tuple[FloatArray, FloatArray]:
        edge = self.square.edge(part, tau)
        known = self._on_edge(block, edge, tau)
        condition = self.statement.conditions[part].values(known)
        equation = self.statement.equation.values(known)
        omega = penalty(self.square, edge, tau, condition, equation, sign)
        inner = pulled(condition.tangents, np.zeros(len(omega)), edge.xi, edge.eta)
        weighted = {orders: edge.lengths * omega * v for orders, v in inner.items()}
        return self.space.matrix_on(part, weighted, tau), omega
