"""Points of the moving square: Gauss's inside, others on the boundary, with areas and lengths."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Orders, Product
from sharpfront.geometry import Domain
from sharpfront.maps import MovingAxis, MovingSquare
from sharpfront.maps.moving_axis import Jet


class Grid(NamedTuple):
    """Gauss's points at a moment: places (m, 2), coordinates and areas on the grid."""

    points: FloatArray
    xi: Jet
    eta: Jet
    areas: FloatArray


class Edge(NamedTuple):
    """Points of a part of the boundary at a moment, with lengths, coordinates and functions."""

    points: FloatArray
    normals: FloatArray
    lengths: FloatArray
    xi: Jet
    eta: Jet
    tables: tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Square:
    """The products of kernels over a slab of time, and the points where they are taken."""

    domain: Domain  # a box, which is the whole square
    layout: MovingSquare  # where the unit square lies, and how it moves
    product: Product  # the functions on the unit square
    _grids: dict[float, Grid] = field(default_factory=dict)
    _edges: dict[tuple[str, float], Edge] = field(default_factory=dict)
    _along: dict[tuple[int, float, float], FloatArray] = field(default_factory=dict)

    @property
    def axes(self) -> Orders:
        """Which coordinates of the plane are the first and the second axis."""
        return self.layout.axes

    @property
    def maps(self) -> tuple[MovingAxis, MovingAxis]:
        """The coordinates of the first and of the second axis."""
        return self.layout.maps

    @cached_property
    def moves(self) -> bool:
        """Whether the coordinates move."""
        return self.layout.moves

    def grid(self, tau: float) -> Grid:
        """Return Gauss's points at a moment."""
        key = tau if self.moves else 0.0
        if key not in self._grids:
            self._grids[key] = self._grid(key)
        return self._grids[key]

    def edge(self, part: str, tau: float) -> Edge:
        """Return points of a part of the boundary at a moment."""
        key = part, tau if self.moves else 0.0
        if key not in self._edges:
            self._edges[key] = self._side(*key)
        return self._edges[key]

    def largest(self, weights: FloatArray, tau: float = 0.0) -> float:
        """Return the largest absolute value at Gauss's points."""
        return float(np.max(np.abs(self.product.on_grid(weights))))

    def _grid(self, tau: float) -> Grid:
        first, second = self.product.lines
        shape = self.product.grid_shape
        y = self.along(1, 0.0, tau)
        eta = self.maps[1].jet(y, y, np.full(y.shape, tau))
        if self.maps[0].oblique:
            xis, ys = (a.ravel() for a in np.meshgrid(first.points, y, indexing="ij"))
            x = self.maps[0].invert(xis, ys, tau)
            xi = Jet(*(a.reshape(shape) for a in self.maps[0].jet(x, ys, np.full(x.shape, tau))))
        else:
            x = self.along(0, 0.0, tau)
            xi = Jet(*(a[:, None] for a in self.maps[0].jet(x, x, np.full(x.shape, tau))))
            x = np.repeat(x, shape[1])
        points = self.layout.placed(x, np.broadcast_to(y, shape).ravel())
        areas = np.outer(first.weights, second.weights) / (xi.x * eta.x)
        return Grid(points, xi, eta, areas)

    def _side(self, part: str, tau: float) -> Edge:
        """Return Gauss's points along a side of a box, which is a side of the unit square."""
        there = self.domain.boundary(part, 1)
        across = int(np.argmax(np.abs(there.normals[0])))
        axis = self.axes.index(1 - across)
        fixed, line = float(there.points[0, across]), self.product.lines[axis]
        points = np.empty((len(line.points), 2))
        points[:, across], points[:, 1 - across] = fixed, self.along(axis, fixed, tau)
        normals = np.repeat(there.normals[:1], len(points), axis=0)
        jets = self.layout.jets(points, tau)
        ends = self.product.lines[1 - axis].ends[:, [int(there.normals[0, across] > 0)]]
        beside = np.broadcast_to(ends, (len(ends), len(points), ends.shape[2]))
        tables = (line.table, beside) if axis == 0 else (beside, line.table)
        return Edge(points, normals, line.weights / jets[axis].x, *jets, tables)

    def along(self, axis: int, other: float, tau: float) -> FloatArray:
        """Return Gauss's points along an axis, where the other coordinate has a value."""
        key = axis, other if self.maps[axis].oblique else 0.0, tau
        if key not in self._along:
            at = self.product.lines[axis].points
            self._along[key] = self.maps[axis].invert(at, np.full(at.shape, other), tau)
        return self._along[key]
