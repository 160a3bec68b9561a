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

from sharpfront.arrays import Host
from sharpfront.evolve.plane.penalty import penalty
from sharpfront.evolve.plane.square import Edge, Square
from sharpfront.evolve.plane.statement import Known, Statement, Values
from sharpfront.pieces.plane.metric import carried, physical, pulled
from sharpfront.pieces.plane.product import Orders


class Tangent(NamedTuple):
    """Mass and stiffness, with the sign of u_t and the conditions' weights that go with them."""

    mass: Host
    stiffness: Host
    sign: float
    penalties: Mapping[str, Host]


@dataclass(frozen=True, eq=False)
class Galerkin:
    """A problem in the products of kernels over a slab of time.

    Parameters
    ----------
    statement
        The problem.
    square
        The products and their points.
    start
        The beginning of the slab.
    """

    statement: Statement
    square: Square
    start: float

    def state(self, weights: Host, rates: Host, tau: float) -> Known:
        """Return what is known at Gauss's points inside the domain."""
        grid, product = self.square.grid(tau), self.square.product
        inner = product.derivatives(weights)
        rate = product.on_grid(rates) + carried(inner, grid.xi, grid.eta)
        outer = physical(inner, grid.xi, grid.eta)
        own = {orders: v.ravel()[grid.inside] for orders, v in outer.items()}
        rate = rate.ravel()[grid.inside]
        return Known(grid.points[grid.inside], self.start + tau, own, rate)

    def tested(self, weights: Host, rates: Host, tau: float, tangent: Tangent) -> Host:
        """Return the equation and the conditions tested with every product, (size,)."""
        found = self._spread(self.statement.equation.value(self.state(weights, rates, tau)), tau)
        areas = self.square.grid(tau).areas
        total = self.square.product.tested(tangent.sign * areas * found)
        block = self.square.product.block(weights)
        for part, condition in self.statement.conditions.items():
            edge = self.square.edge(part, tau)
            left = condition.value(self._on_edge(block, edge, tau))
            total += self.square.tested_on(edge, left * edge.lengths * tangent.penalties[part])
        return total

    def tangent(self, weights: Host, rates: Host, tau: float) -> Tangent:
        """Return mass and stiffness about a state."""
        grid, product = self.square.grid(tau), self.square.product
        about = self.statement.equation.values(self.state(weights, rates, tau))
        rate = self._spread(about.rate, tau)
        sign = 1.0 if float(np.sum(rate * grid.areas)) >= 0 else -1.0
        tangents = {orders: self._spread(v, tau) for orders, v in about.tangents.items()}
        inner = pulled(tangents, rate, grid.xi, grid.eta)
        weighted = sign * grid.areas
        mass = product.matrix({(0, 0): weighted * rate})
        stiffness = product.matrix({orders: weighted * v for orders, v in inner.items()})
        penalties, block = {}, product.block(weights)
        for part in self.statement.conditions:
            matrix, penalties[part] = self._edge_tangent(part, tau, block, sign)
            stiffness += matrix
        return Tangent(mass, stiffness, sign, penalties)

    def _spread(self, values: Host, tau: float) -> Host:
        """Return values at the points inside on the whole grid, zero outside."""
        grid = self.square.grid(tau)
        out = np.zeros(grid.areas.size)
        out[grid.inside] = values
        return out.reshape(grid.areas.shape)

    def _on_edge(self, block: Host, edge: Edge, tau: float) -> Known:
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

    def _edge_tangent(self, part: str, tau: float, block: Host, sign: float) -> tuple[Host, Host]:
        edge, product = self.square.edge(part, tau), self.square.product
        known = self._on_edge(block, edge, tau)
        condition = self.statement.conditions[part].values(known)
        equation: Values = self.statement.equation.values(known)
        omega = penalty(self.square, edge, tau, condition, equation, sign)
        inner: Mapping[Orders, Host] = pulled(
            condition.tangents, np.zeros(len(omega)), edge.xi, edge.eta
        )
        rows = np.zeros((len(omega), product.size))
        for (a, b), values in inner.items():
            rows += values[:, None] * product.rows(edge.tables[0][a], edge.tables[1][b])
        tests = product.rows(edge.tables[0][0], edge.tables[1][0])
        return tests.T @ ((edge.lengths * omega)[:, None] * rows), omega
