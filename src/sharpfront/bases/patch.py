"""A patch: products of Legendre polynomials on a box, each axis with a map of its own.

The box lies in space, or in a chart: a map of a box into space.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from sharpfront.arrays import Flags, FloatArray, Ints
from sharpfront.bases.axis_functions import (
    functions_at,
    functions_at_ends,
    functions_at_gauss,
    points_for,
)
from sharpfront.bases.cut_cells import Cut, Region
from sharpfront.bases.cut_interior import Frame
from sharpfront.bases.legendre import gauss, product_points, product_weights
from sharpfront.bases.solid_cut_cells import SolidCut, SolidRegion
from sharpfront.bases.total_degree import is_joint, products
from sharpfront.maps import AxisMap, Chart, chain, jacobian

# Rows of the equation for every function of a box that is cut: with fewer than one and a half a
# box with two slivers was fitted to 9e-14 and wrong by 5e-10.
OVERSAMPLED = 2


@dataclass(frozen=True)
class Patch:
    """Functions prod_a P_ka(z_a(x_a)) on a box, in space up to a joint degree (`joint`)."""

    maps: tuple[AxisMap, ...]  # the map of each axis
    functions: tuple[int, ...]  # how many polynomials along each axis
    # Where given, the box is one of the chart, and so are sides and derivatives along axes.
    chart: Chart | None = None
    region: Region | SolidRegion | None = (
        None  # where given, the domain: its boundary may cut the box
    )

    @cached_property
    def _hash(self) -> int:
        return hash((self.maps, self.functions, self.chart))

    def __hash__(self) -> int:
        return self._hash

    @property
    def dimension(self) -> int:
        """The number of axes."""
        return len(self.maps)

    @property
    def size(self) -> int:
        """The number of functions."""
        return int(self.products.shape[1])

    @cached_property
    def products(self) -> Ints:
        """Which polynomials of each axis every function is made of, (d, size)."""
        return products(self.functions, is_joint(self.dimension))

    @cached_property
    def low(self) -> FloatArray:
        """The lower corner."""
        return np.array([m.low for m in self.maps])

    @cached_property
    def high(self) -> FloatArray:
        """The upper corner."""
        return np.array([m.high for m in self.maps])

    @cached_property
    def sides(self) -> FloatArray:
        """The lengths of the sides."""
        return self.high - self.low

    @cached_property
    def longest(self) -> float:
        """The length of the longest side."""
        return max(m.length for m in self.maps)

    @cached_property
    def shortest(self) -> float:
        """The length of the shortest side."""
        return min(m.length for m in self.maps)

    @cached_property
    def middle(self) -> FloatArray:
        """A point of space inside, (1, d)."""
        if self.cut is not None:
            return self.inner_points()[:1]
        return self.in_space(0.5 * (self.low + self.high)[None])

    @cached_property
    def corners(self) -> FloatArray:
        """Its corners in space, the last axis fastest, (2^d, d)."""
        return self.points([np.array([-1.0, 1.0])] * self.dimension)

    @cached_property
    def is_even(self) -> bool:
        """Whether functions are polynomials in space: a box of space, no axis with a map."""
        return self.chart is None and all(m.is_affine and not m.decays for m in self.maps)

    @cached_property
    def row_points(self) -> tuple[int, ...]:
        """Gauss points along each axis that rows of equations are made with."""
        return tuple(
            points_for(p + 1, m.decays) if m.decays else p + 1
            for m, p in zip(self.maps, self.functions, strict=True)
        )

    @cached_property
    def row_functions(self) -> tuple[tuple[int, float], ...]:
        """Of each axis, how many functions residuals are weighed with there, and `decays`."""
        return tuple((p + 1, m.decays) for m, p in zip(self.maps, self.functions, strict=True))

    @cached_property
    def _look(self) -> Cut | SolidCut | bool:
        return True if self.region is None else self.region.look(self.low, self.high)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the box lies in the domain."""
        return self._look is False

    @property
    def cut(self) -> Cut | SolidCut | None:
        """What lies in the domain of a box that its boundary cuts; None where all of it does."""
        if self.region is None or isinstance(self._look, bool):
            return None
        return self._look

    @cached_property
    def frame(self) -> Frame | None:
        """The functions on what lies inside of a box that is cut."""
        if self.cut is None:
            return None
        return self.cut.frame(self.inverse(self.inner_points()), self.functions)

    def inner_points(self) -> FloatArray:
        """Return points of a box that is cut at which its rows are, twice as many as functions."""
        assert self.cut is not None
        return self.cut.points(OVERSAMPLED * self.size)

    def inverse(self, positions: FloatArray) -> FloatArray:
        """Return positions in the reference cell, (m, d)."""
        return np.stack([m.inverse(positions[:, a]) for a, m in enumerate(self.maps)], axis=1)

    def spread(self, z: FloatArray) -> FloatArray:
        """Return product points of the reference cell in space, (m, d).

        Of a box that is cut as many points inside and on its boundary.
        """
        if self.cut is None:
            return self.points([z] * self.dimension)
        return self.cut.spread(len(z) ** self.dimension)

    def has(self, points: FloatArray) -> Flags:
        """Tell which points of the box lie in the domain."""
        if self.cut is None:
            return np.ones(len(points), dtype=bool)
        return self.cut.contains(points)

    @cached_property
    def shape(self) -> tuple[Hashable, ...]:
        """What patches have in common that differ in their places alone."""
        charted = self.chart is not None or self.cut is not None
        where = (self.chart, self.low.tobytes()) if charted else None
        sides = tuple(to_rounding(m.length) for m in self.maps)
        return self.functions, sides, tuple((m.strength, m.decays) for m in self.maps), where

    def in_space(self, positions: FloatArray) -> FloatArray:
        """Return the points of space at positions in the chart, (m, d)."""
        return positions if self.chart is None else self.chart.points(positions)

    def in_chart(self, points: FloatArray) -> FloatArray:
        """Return the positions in the chart of points of space, (m, d)."""
        return points if self.chart is None else self.chart.inverse(points)

    def positions(self, z: Sequence[FloatArray]) -> FloatArray:
        """Return the positions in the chart of product points of the reference cell, (m, d)."""
        return product_points([m.points(at) for m, at in zip(self.maps, z, strict=True)])

    def points(self, z: Sequence[FloatArray]) -> FloatArray:
        """Return product points of the reference cell in space, (m, d)."""
        return self.in_space(self.positions(z))

    def densities(self, positions: FloatArray) -> FloatArray:
        """Return the measure in space of a unit of the chart's at positions, (m,)."""
        if self.chart is None:
            return np.ones(len(positions))
        return np.asarray(np.abs(np.linalg.det(jacobian(self.chart.taylor(positions)))))

    def gauss_points(self, counts: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        """Return product Gauss points in space, (m, d), and weights that sum to one, (m,)."""
        return self.points([gauss(n)[0] for n in counts]), product_weights(counts)

    def gauss_tables(self, counts: tuple[int, ...], order: int) -> list[FloatArray]:
        """Return for each axis d^k of its functions at Gauss points, (order + 1, n, functions)."""
        return [self.gauss_along(axis, n, order) for axis, n in enumerate(counts)]

    def gauss_along(self, axis: int, count: int, order: int) -> FloatArray:
        """Return d^k of an axis' functions at so many Gauss points, (order + 1, n, functions)."""
        table = functions_at_gauss(self.maps[axis], count, self.functions[axis], order)
        return _in_space(self.maps[axis], gauss(count)[0], table)

    def end_tables(self, axis: int, order: int) -> FloatArray:
        """Return d^k of the functions of an axis at its two ends, (order + 1, 2, functions)."""
        table = functions_at_ends(self.maps[axis], self.functions[axis], order)
        return _in_space(self.maps[axis], np.array([-1.0, 1.0]), table)

    def axis_table(self, axis: int, x: FloatArray, order: int) -> FloatArray:
        """Return d^k of the functions of an axis at positions, (order + 1, n, functions)."""
        own, z = self.maps[axis], self.maps[axis].inverse(x)
        return _in_space(own, z, functions_at(own, z, self.functions[axis], order))


def to_rounding(length: float) -> float:
    """Return a length to twelve digits: sides of equal patches differ by rounding."""
    return float(f"{length:.11e}")


def _in_space(axis: AxisMap, z: FloatArray, table: FloatArray) -> FloatArray:
    """Return derivatives along x from derivatives along z, (order + 1, n, functions)."""
    order = len(table) - 1
    if not order:
        return table
    if axis.is_affine:
        scale = (2.0 / axis.length) ** np.arange(order + 1)
        return np.asarray(table * scale[:, None, None])
    slopes = axis.slopes(z, order)
    out = np.zeros_like(table)
    for k in range(order + 1):
        unit = np.zeros((order + 1, len(z)))
        unit[k] = 1.0
        out[k] = np.einsum("jn,jnp->np", chain(slopes, unit), table)
    return out


def product_matrix(tables: Sequence[FloatArray]) -> FloatArray:
    """Return a patch's functions at product points, (prod n_a, size), from its axes' (n_a, p_a)."""
    if is_joint(len(tables)):
        chosen = products(tuple(t.shape[1] for t in tables), True)
        columns = [table[:, k] for table, k in zip(tables, chosen, strict=True)]
        return reduce(lambda a, b: (a[:, None] * b).reshape(-1, a.shape[1]), columns)
    out = tables[0]
    for table in tables[1:]:
        m, p = out.shape
        n, q = table.shape
        out = (out[:, None, :, None] * table[None, :, None, :]).reshape(m * n, p * q)
    return out
