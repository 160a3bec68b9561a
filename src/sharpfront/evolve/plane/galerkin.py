"""Galerkin's method on the moving square: the equation tested with every product of kernels.

    sum over points of w phi_i R(u) + sum over boundary points of w omega phi_i C(u) = 0

The equation stands as it was stated, so that a solution of equation and conditions leaves nothing
whatever omega is. Omega is Nitsche's: large enough that the conditions take more energy out than
the boundary terms of the diffusion can bring in, and the inflow where there is no diffusion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from sharpfront.arrays import Host
from sharpfront.pieces.plane.metric import carried, physical, pulled
from sharpfront.pieces.plane.moving import AxisMap, Jet
from sharpfront.pieces.plane.product import Orders, Product
from sharpfront.evolve.plane.statement import Statement, Values
from sharpfront.geometry import BoundaryPoints, Box

# Nitsche's factor beside the exact trace constant of the functions.
PENALTY = 4.0
# Boundary points of a shape for each function that the boundary can see.
BOUNDARY_POINTS = 8.0
# Combinations of a frame that are smaller than the square root of this inside a shape are left out.
FRAME = 1e-13
# Rounding beside the largest entry.
_ROUNDING = 1e-12


class Grid(NamedTuple):
    """Gauss's points at a moment: places (m, 2), coordinates, and areas, zero outside the domain."""

    points: Host
    xi: Jet
    eta: Jet
    areas: Host


class Edge(NamedTuple):
    """Points of a part of the boundary at a moment, with lengths, coordinates and functions."""

    points: Host
    normals: Host
    lengths: Host
    xi: Jet
    eta: Jet
    tables: tuple[Host, Host]


class Tangent(NamedTuple):
    """Mass and stiffness, with what Nitsche's terms and the sign of u_t were for them."""

    mass: Host
    stiffness: Host
    sign: float
    penalties: dict[str, Host]


@dataclass(frozen=True, eq=False)
class Galerkin:
    """A problem in the products of kernels over a slab of time.

    Parameters
    ----------
    statement
        The problem.
    product
        The functions on the unit square.
    maps
        The coordinates of the first and of the second axis.
    start
        The beginning of the slab.
    """

    statement: Statement
    product: Product
    maps: tuple[AxisMap, AxisMap]
    start: float
    _grids: dict[float, Grid] = field(default_factory=dict)
    _edges: dict[tuple[str, float], Edge] = field(default_factory=dict)
    _spans: list[Host] = field(default_factory=list)

    @cached_property
    def box(self) -> bool:
        """Whether the domain is the whole square."""
        return isinstance(self.statement.problem.domain, Box)

    @property
    def moves(self) -> bool:
        """Whether the coordinates move."""
        return self.maps[0].moves or self.maps[1].moves

    def later(self, start: float) -> Galerkin:
        """Return the same functions at rest in a later slab, with what is known of them."""
        known = self._grids, self._edges, self._spans
        return Galerkin(self.statement, self.product, self.maps, start, *known)

    @property
    def span(self) -> Host | None:
        """Combinations of products that are independent on a shape, (size, n); None on a box."""
        if self.box:
            return None
        if not self._spans:
            self._spans.append(_independent(self._gram()))
        return self._spans[0]

    def fitted(self, state: Callable[[Host], Host]) -> Host:
        """Return the weights that fit a function of the plane best at the start, (size,)."""
        grid = self.grid(0.0)
        if self.span is None:
            return self.product.projected(state(grid.points).reshape(grid.areas.shape))
        values = np.zeros(grid.areas.size)
        inside = grid.areas.ravel() > 0
        values[inside] = state(grid.points[inside])
        total = self.product.tested(grid.areas * values.reshape(grid.areas.shape))
        for part in self.statement.problem.domain.parts:
            edge = self.edge(part, 0.0)
            found = self._depth * edge.lengths * state(edge.points)
            first, second = edge.tables[0][0], edge.tables[1][0]
            total += (first.T @ (found[:, None] * second)).ravel()[self.product.kept]
        return np.asarray(self.span @ (self.span.T @ total))

    @property
    def _depth(self) -> float:
        """How deep a boundary point stands for the inside: the spacing of the kernels."""
        return min(m.length / n for m, n in zip(self.maps, self.product.shape, strict=True))

    def _gram(self) -> Host:
        """Return the products' scalar products inside a shape and on its boundary."""
        gram = self.product.matrix({(0, 0): self.grid(0.0).areas})
        for part in self.statement.problem.domain.parts:
            edge = self.edge(part, 0.0)
            rows = self.product.rows(edge.tables[0][0], edge.tables[1][0])
            gram += rows.T @ ((self._depth * edge.lengths)[:, None] * rows)
        return gram

    def grid(self, tau: float) -> Grid:
        """Return Gauss's points at a moment."""
        key = tau if self.moves else 0.0
        if key not in self._grids:
            self._grids[key] = self._grid(key)
        return self._grids[key]

    def _grid(self, tau: float) -> Grid:
        first, second = self.product.lines
        shape = self.product.grid_shape
        y = self.maps[1].invert(second.points, second.points, tau)
        eta = self.maps[1].jet(y, y, np.full(y.shape, tau))
        if self.maps[0].oblique:
            xis, ys = (a.ravel() for a in np.meshgrid(first.points, y, indexing="ij"))
            x = self.maps[0].invert(xis, ys, tau)
            xi = Jet(*(a.reshape(shape) for a in self.maps[0].jet(x, ys, np.full(x.shape, tau))))
            x = x.reshape(shape)
        else:
            x = self.maps[0].invert(first.points, first.points, tau)
            xi = Jet(*(a[:, None] for a in self.maps[0].jet(x, x, np.full(x.shape, tau))))
            x = np.repeat(x[:, None], shape[1], axis=1)
        points = self._placed(x.ravel(), np.broadcast_to(y, shape).ravel())
        areas = np.outer(first.weights, second.weights) / (xi.x * eta.x)
        if not self.box:
            inside = self.statement.problem.domain.contains(points)
            areas = areas * inside.reshape(shape)
        return Grid(points, xi, eta, areas)

    def edge(self, part: str, tau: float) -> Edge:
        """Return points of a part of the boundary at a moment."""
        key = part, tau if self.moves else 0.0
        if key not in self._edges:
            self._edges[key] = self._edge(part, key[1])
        return self._edges[key]

    def _edge(self, part: str, tau: float) -> Edge:
        there, lengths = self._side(part, tau) if self.box else self._rim(part)
        x, y = there.points[:, self.statement.axes[0]], there.points[:, self.statement.axes[1]]
        moment = np.full(x.shape, tau)
        xi, eta = self.maps[0].jet(x, y, moment), self.maps[1].jet(y, x, moment)
        tables = self.product.tables(xi.xi, eta.xi)
        return Edge(there.points, there.normals, lengths, xi, eta, tables)

    def _side(self, part: str, tau: float) -> tuple[BoundaryPoints, Host]:
        """Return Gauss's points along a side of a box."""
        there = self.statement.problem.domain.boundary(part, 1)
        across = int(np.argmax(np.abs(there.normals[0])))
        axis = self.statement.axes.index(1 - across)
        line = self.product.lines[axis]
        fixed = np.full(line.points.shape, there.points[0, across])
        along = self.maps[axis].invert(line.points, fixed, tau)
        slope = self.maps[axis].jet(along, fixed, np.full(along.shape, tau)).x
        points = np.empty((len(along), 2))
        points[:, across], points[:, 1 - across] = fixed, along
        normals = np.repeat(there.normals[:1], len(along), axis=0)
        return BoundaryPoints(points, normals), line.weights / slope

    def _rim(self, part: str) -> tuple[BoundaryPoints, Host]:
        """Return even points along a part of a shape's boundary."""
        domain = self.statement.problem.domain
        low, high = domain.bounds
        length = domain.boundary_measure(part)
        share = length / float(np.sqrt(np.prod(high - low)))
        count = int(BOUNDARY_POINTS * share * np.sqrt(self.product.size)) + 8
        there = domain.boundary(part, count)
        return there, np.full(len(there.points), length / len(there.points))

    def _placed(self, x: Host, y: Host) -> Host:
        pair = (x, y) if self.statement.axes[0] == 0 else (y, x)
        return np.stack(pair, axis=1)

    def state(self, weights: Host, rates: Host, tau: float) -> tuple[dict[Orders, Host], Host]:
        """Return the derivatives in the plane and u_t at Gauss's points, (m,) each."""
        grid, inner = self.grid(tau), self.product.derivatives(weights)
        rate = self.product.on_grid(rates) + carried(inner, grid.xi, grid.eta)
        outer = physical(inner, grid.xi, grid.eta)
        return {orders: v.ravel() for orders, v in outer.items()}, rate.ravel()

    def residual(self, weights: Host, rates: Host, tau: float) -> Host:
        """Return what the equation leaves at Gauss's points, (n1, n2), zero outside the domain."""
        grid = self.grid(tau)
        outer, rate = self.state(weights, rates, tau)
        t = self.start + tau
        with np.errstate(all="ignore"):
            found = self.statement.equation.value(grid.points, t, outer, rate, None)
        return np.where(grid.areas > 0, found.reshape(grid.areas.shape), 0.0)

    def tested(
        self, weights: Host, rates: Host, tau: float, tangent: Tangent
    ) -> Host:
        """Return the equation and the conditions tested with every product, (size,)."""
        areas = self.grid(tau).areas
        total = self.product.tested(tangent.sign * areas * self.residual(weights, rates, tau))
        block = self.product.block(weights)
        for part, condition in self.statement.conditions.items():
            edge = self.edge(part, tau)
            outer = self._on_edge(block, edge)
            none = np.zeros(len(edge.points))
            t = self.start + tau
            found = condition.value(edge.points, t, outer, none, edge.normals)
            found = found * edge.lengths * tangent.penalties[part]
            first, second = edge.tables[0][0], edge.tables[1][0]
            total += (first.T @ (found[:, None] * second)).ravel()[self.product.kept]
        return total

    def missed(self, weights: Host, tau: float) -> float:
        """Return by how much the conditions are missed at most."""
        worst, block = 0.0, self.product.block(weights)
        for part, condition in self.statement.conditions.items():
            edge = self.edge(part, tau)
            outer, none = self._on_edge(block, edge), np.zeros(len(edge.points))
            t = self.start + tau
            found = condition.value(edge.points, t, outer, none, edge.normals)
            worst = max(worst, float(np.max(np.abs(found))))
        return worst

    def _on_edge(self, block: Host, edge: Edge) -> dict[Orders, Host]:
        first, second = edge.tables
        half = [table @ block for table in first]
        inner = {
            (a, b): np.einsum("mj,mj->m", half[a], second[b])
            for a in range(3)
            for b in range(3 - a)
        }
        return physical(inner, edge.xi, edge.eta)

    def tangent(self, weights: Host, rates: Host, tau: float) -> Tangent:
        """Return mass and stiffness about a state."""
        grid = self.grid(tau)
        outer, rate = self.state(weights, rates, tau)
        t, shape = self.start + tau, grid.areas.shape
        with np.errstate(all="ignore"):
            about = self.statement.equation.values(grid.points, t, outer, rate, None)
        inside = grid.areas > 0
        by_rate = np.where(inside, about.rate.reshape(shape), 0.0)
        sign = 1.0 if float(np.sum(by_rate * grid.areas)) >= 0 else -1.0
        weighted = sign * grid.areas
        tangents = {o: np.where(inside, v.reshape(shape), 0.0) for o, v in about.tangents.items()}
        inner = pulled(tangents, by_rate, grid.xi, grid.eta)
        mass = self.product.matrix({(0, 0): weighted * by_rate})
        stiffness = self.product.matrix({o: weighted * v for o, v in inner.items()} or {(0, 0): 0.0 * weighted})
        penalties = {}
        block = self.product.block(weights)
        for part in self.statement.conditions:
            matrix, penalties[part] = self._edge_tangent(part, tau, block, sign)
            stiffness += matrix
        return Tangent(mass, stiffness, sign, penalties)

    def _edge_tangent(self, part: str, tau: float, block: Host, sign: float) -> tuple[Host, Host]:
        edge = self.edge(part, tau)
        outer, none = self._on_edge(block, edge), np.zeros(len(edge.points))
        t = self.start + tau
        condition = self.statement.conditions[part].values(
            edge.points, t, outer, none, edge.normals
        )
        equation = self.statement.equation.values(edge.points, t, outer, none, None)
        penalty = self._penalty(edge, tau, condition, equation, sign)
        inner = pulled(condition.tangents, none, edge.xi, edge.eta)
        rows = np.zeros((len(edge.points), self.product.size))
        for (a, b), values in inner.items():
            rows += values[:, None] * self.product.rows(edge.tables[0][a], edge.tables[1][b])
        tests = self.product.rows(edge.tables[0][0], edge.tables[1][0])
        return tests.T @ ((edge.lengths * penalty)[:, None] * rows), penalty

    def _penalty(
        self, edge: Edge, tau: float, condition: Values, equation: Values, sign: float
    ) -> Host:
        """Return Nitsche's omega: (g C a + inflow) / (c + g C c_n), for c u + c_n u_n = ...

        a is the diffusion across the boundary, C the functions' trace constant. It is g C a / c
        for given values and a / c_n for given slopes.
        """
        normals = edge.normals[:, list(self.statement.axes)].T
        none = np.zeros(len(edge.points))
        e, c = ({o: v.tangents.get(o, none) for o in _ORDERS} for v in (equation, condition))
        diffusion = -sign * (
            e[2, 0] * normals[0] ** 2 + e[1, 1] * normals[0] * normals[1] + e[0, 2] * normals[1] ** 2
        )
        flow = sign * (e[1, 0] * normals[0] + e[0, 1] * normals[1])
        slope = c[1, 0] * normals[0] + c[0, 1] * normals[1]
        trace = PENALTY * self._trace(edge, tau, normals)
        share = c[0, 0] + trace * slope
        # Terms of opposite signs could cancel: the larger one alone then.
        larger = np.where(np.abs(trace * slope) > np.abs(c[0, 0]), trace * slope, c[0, 0])
        share = np.where(c[0, 0] * slope < 0, larger, share)
        share = np.where(share == 0.0, 1.0, share)
        return np.asarray((trace * np.maximum(diffusion, 0.0) + np.maximum(-flow, 0.0)) / share)

    def _trace(self, edge: Edge, tau: float, normals: Host) -> Host:
        """Return the largest (u_n)^2 at each point over the integral of the slope squared, (m,)."""
        total = np.zeros(len(edge.points))
        y = self.maps[1].invert(np.array([0.5]), np.array([0.5]), tau)[0]
        jets = (edge.xi, edge.eta)
        for axis, (line, where) in enumerate(zip(self.product.lines, self.maps, strict=True)):
            other = np.full(line.points.shape, y)
            x = where.invert(line.points, other, tau)
            slope = where.jet(x, other, np.full(x.shape, tau)).x
            steep = line.table[1]
            gram = steep.T @ ((line.weights * slope)[:, None] * steep)
            gram += _ROUNDING * np.trace(gram) / len(gram) * np.eye(len(gram))
            own = edge.tables[axis][1] * jets[axis].x[:, None]
            total += normals[axis] ** 2 * np.einsum("mi,im->m", own, np.linalg.solve(gram, own.T))
        return total


def _independent(gram: Host) -> Host:
    """Return combinations that are orthonormal on a shape, without those that are tiny there."""
    values, vectors = eigh(gram)
    kept = values > FRAME * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


_ORDERS = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
