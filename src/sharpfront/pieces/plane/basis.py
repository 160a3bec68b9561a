"""The solution over space and time as one basis: products of kernels slab by slab.

In a slab u = sum_n l_n(t) sum_k b_nk phi_k(xi(x, y, t), eta(y, t)) with Lagrange's polynomials l_n
through the start and Radau's nodes. The weights of all slabs follow one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import STAGES, interpolation, interpolation_rate
from sharpfront.errors import BasisError
from sharpfront.pieces.plane.metric import carried, physical
from sharpfront.pieces.plane.moving import AxisMap, Jet, components
from sharpfront.pieces.plane.product import Orders, Product

# Entries of one evaluation matrix: 16 MB of doubles.
_MOST_ENTRIES = 2_000_000


def placed(x: FloatArray, y: FloatArray, axes: Orders) -> FloatArray:
    """Return points of the plane from positions along the first and the second axis."""
    return np.stack((x, y) if axes[0] == 0 else (y, x), axis=1)


class ProductSlab(NamedTuple):
    """The functions of one slab of time: its span, the axes, their coordinates, the products."""

    start: float
    stop: float
    axes: Orders
    maps: tuple[AxisMap, AxisMap]
    product: Product

    def inner(
        self, block: FloatArray, points: FloatArray, tau: FloatArray
    ) -> tuple[dict[Orders, FloatArray], Jet, Jet]:
        """Return derivatives in (xi, eta) of weights in a block at points, and both jets."""
        x, y = points[:, self.axes[0]], points[:, self.axes[1]]
        xi, eta = self.maps[0].jet(x, y, tau), self.maps[1].jet(y, x, tau)
        first, second = self.product.tables(xi.xi, eta.xi)
        half = [table @ block for table in first]
        inner = {
            (a, b): np.einsum("mj,mj->m", half[a], second[b])
            for a in range(3)
            for b in range(3 - a)
        }
        return inner, xi, eta

    def value(self, weights: FloatArray, points: FloatArray, tau: float) -> FloatArray:
        """Return the sum with fixed weights (size,) at points (m, 2) of the plane."""
        x, y = points[:, self.axes[0]], points[:, self.axes[1]]
        moment = np.full(x.shape, tau)
        xi, eta = self.maps[0].jet(x, y, moment).xi, self.maps[1].jet(y, x, moment).xi
        first, second = (
            line.functions.table(s, 0)[0]
            for line, s in zip(self.product.lines, (xi, eta), strict=True)
        )
        return np.asarray(np.einsum("mj,mj->m", first @ self.product.block(weights), second))


@dataclass(frozen=True, eq=False)
class PlaneInTime:
    """Products of kernels over slabs of time."""

    pieces: tuple[ProductSlab, ...]  # the slabs, one after the other

    @property
    def dimension(self) -> int:
        """Two of space and time."""
        return 3

    @cached_property
    def _ends(self) -> FloatArray:
        return np.cumsum([(STAGES + 1) * piece.product.size for piece in self.pieces])

    @property
    def size(self) -> int:
        """The number of weights of all slabs."""
        return int(self._ends[-1]) if self.pieces else 0

    @property
    def kernels(self) -> int:
        """The most products in any slab."""
        return max((piece.product.size for piece in self.pieces), default=0)

    def states(self, weights: FloatArray, number: int) -> FloatArray:
        """Return the weights of one slab, (q + 1, size)."""
        size = self.pieces[number].product.size
        stop = int(self._ends[number])
        return weights[stop - (STAGES + 1) * size : stop].reshape(-1, size)

    def matrix(self, points: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        """Refuse: over all slabs the matrix would be nearly empty and very large."""
        raise BasisError("A solution in time is evaluated by `values`; it has no matrix.")

    def values(
        self, weights: FloatArray, points: FloatArray, orders: tuple[int, ...]
    ) -> FloatArray:
        """Return d^orders of the weighted sum at points (x, y, t), (m,).

        In space up to the second order, in time the first alone.
        """
        in_plane, in_time = sum(orders[:2]), orders[2]
        if len(orders) != 3 or in_plane > 2 or in_time > 1 or (in_plane and in_time):
            raise BasisError(
                f"Derivatives are carried in space up to the second and in time to the first, not "
                f"both at once; asked for {orders}."
            )
        out = np.empty(len(points))
        starts = np.array([piece.start for piece in self.pieces])
        which = np.clip(np.searchsorted(starts, points[:, 2], side="right") - 1, 0, None)
        for number in np.unique(which):
            here = np.flatnonzero(which == number)
            step = max(1, _MOST_ENTRIES // (9 * sum(self.pieces[number].product.shape)))
            for part in np.array_split(here, max(1, -(-len(here) // step))):
                out[part] = self._in_piece(int(number), weights, points[part], orders)
        return out

    def _in_piece(
        self, number: int, weights: FloatArray, points: FloatArray, orders: tuple[int, ...]
    ) -> FloatArray:
        piece = self.pieces[number]
        states = piece.product.block(self.states(weights, number))
        dt, tau = piece.stop - piece.start, points[:, 2] - piece.start
        if np.all(tau == tau[0]):
            return _at_moment(piece, states, points[:, :2], tau, orders)
        shares, slopes = interpolation(tau / dt), interpolation_rate(tau / dt) / dt
        own = orders[piece.axes[0]], orders[piece.axes[1]]
        total = np.zeros(len(points))
        for n, block in enumerate(states):
            inner, xi, eta = piece.inner(block, points[:, :2], tau)
            if orders[2]:
                total += shares[:, n] * carried(inner, xi, eta) + slopes[:, n] * inner[0, 0]
            else:
                total += shares[:, n] * physical(inner, xi, eta)[own]
        return total

    def state(self) -> dict[str, Any]:
        """Return arrays and words from which `restore_plane_in_time` makes the basis again."""
        maps = [m for piece in self.pieces for m in piece.maps]
        return {
            "type": "plane in time",
            "spans": np.array([(p.start, p.stop) for p in self.pieces]),
            "axes": np.array([p.axes for p in self.pieces]),
            "shapes": np.array([p.product.shape for p in self.pieces]),
            "stretches": np.array([(m.low, m.high, m.pivot) for m in maps]),
            "counts": np.array([m.moving.count for m in maps]),
            "components": np.concatenate([m.moving.table() for m in maps]),
        }


def _at_moment(
    piece: ProductSlab,
    states: FloatArray,
    points: FloatArray,
    tau: FloatArray,
    orders: tuple[int, ...],
) -> FloatArray:
    """Return the values where all points have the same time: the states add up first."""
    dt = piece.stop - piece.start
    share = interpolation(tau[:1] / dt)[0]
    inner, xi, eta = piece.inner(np.tensordot(share, states, 1), points, tau)
    if not orders[2]:
        return physical(inner, xi, eta)[orders[piece.axes[0]], orders[piece.axes[1]]]
    slope = interpolation_rate(tau[:1] / dt)[0] / dt
    rates, _, _ = piece.inner(np.tensordot(slope, states, 1), points, tau)
    return np.asarray(rates[0, 0] + carried(inner, xi, eta))


def restore_plane_in_time(state: dict[str, Any]) -> PlaneInTime:
    """Return the basis that `PlaneInTime.state` was taken from."""
    counts = np.asarray(state["counts"], dtype=int)
    tables = np.split(np.asarray(state["components"], dtype=float), np.cumsum(counts)[:-1])
    maps = [
        AxisMap(float(row[0]), float(row[1]), float(row[2]), components(table))
        for row, table in zip(state["stretches"], tables, strict=True)
    ]
    pieces = [
        ProductSlab(
            float(a), float(b), _pair(axes), (maps[2 * i], maps[2 * i + 1]), Product(_pair(shape))
        )
        for i, ((a, b), axes, shape) in enumerate(
            zip(state["spans"], state["axes"], state["shapes"], strict=True)
        )
    ]
    return PlaneInTime(tuple(pieces))


def _pair(values: Sequence[Any] | FloatArray) -> Orders:
    return int(values[0]), int(values[1])
