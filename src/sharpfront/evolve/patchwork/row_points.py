"""Derivatives of functions on patches at the points of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.corner_functions import tabulated
from sharpfront.bases.legendre import gauss, gauss_table
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.maps import Drifts, pulled_back

Orders = tuple[int, int]


@dataclass(frozen=True, eq=False)
class MovingFrame:
    """How the places of patches go along during a step."""

    drift: Drifts
    since: float  # when they are where the patches are


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Boxes with the same numbers of functions, at their Gauss points."""

    functions: tuple[int, ...]
    sides: FloatArray
    columns: Ints
    rows: Ints

    def values(self, weights: FloatArray, orders: Orders, out: FloatArray) -> None:
        """Write a derivative of sums with weights (R, n) to rows of (R, m)."""
        tables = [gauss_table(p + 1, p, k)[k] for p, k in zip(self.functions, orders, strict=True)]
        blocks = weights[:, self.columns].reshape(len(weights), len(self.rows), *self.functions)
        found = tables[0] @ (blocks @ tables[1].T)
        scale = np.prod((2.0 / self.sides) ** np.array(orders), axis=1)
        out[:, self.rows] = found.reshape(len(weights), len(self.rows), -1) * scale[:, None]


@dataclass(frozen=True, eq=False)
class _Scattered:
    """One patch at any positions in its chart."""

    patch: Patch
    positions: FloatArray
    columns: slice
    rows: slice

    @cached_property
    def _tables(self) -> dict[Orders, FloatArray]:
        return {}

    def values(self, weights: FloatArray, orders: Orders, out: FloatArray) -> None:
        """Write a derivative of sums with weights (R, n) to rows of (R, m)."""
        if orders not in self._tables:
            self._tables[orders] = self._table(orders)
        out[:, self.rows] = weights[:, self.columns] @ self._tables[orders].T

    def _table(self, orders: Orders) -> FloatArray:
        patch, at = self.patch, self.positions
        own: dict[tuple[int, ...], FloatArray] = {orders: np.ones(len(at))}
        chain = own if patch.chart is None else pulled_back(patch.chart.taylor(at), own)
        most = max((max(along) for along in chain), default=0)
        tables = [patch.axis_table(a, at[:, a], most) for a in range(2)]
        out = np.zeros((len(at), patch.size))
        for along, c in chain.items():
            part = c[:, None]
            for table, k, chosen in zip(tables, along, patch.products, strict=True):
                part = part * table[k][:, chosen]
            out += part
        return out


class Places:
    """Points of patches, one patch after the other.

    Parameters
    ----------
    points
        In space, (m, 2).
    starts
        The first point of each patch, and their number.
    parts
        What evaluates functions at them.
    basis
        The patches, with functions that they share.
    """

    def __init__(
        self,
        points: FloatArray,
        starts: Ints,
        parts: Sequence[_Boxes | _Scattered],
        basis: PatchworkBasis,
    ) -> None:
        self.points, self.starts, self._parts, self._basis = points, starts, parts, basis
        self._shared: dict[Orders, FloatArray] = {}

    def values(self, weights: FloatArray, orders: Orders) -> FloatArray:
        """Return a derivative in space of sums with weights (..., n), (..., m).

        Weights of functions that patches share, which come last, may be left out.
        """
        flat = weights.reshape(-1, weights.shape[-1])
        out = np.empty((len(flat), len(self.points)))
        for part in self._parts:
            part.values(flat, orders, out)
        beyond = flat[:, self._basis.starts[-1] :]
        if beyond.size:
            if orders not in self._shared:
                self._shared[orders] = tabulated(
                    self._basis.shared, self.points, orders, self._middles
                )
            out += beyond @ self._shared[orders].T
        return out.reshape(*weights.shape[:-1], -1)

    @cached_property
    def _middles(self) -> FloatArray:
        """Of each point the middle of its patch, from where functions across edges are seen."""
        middles = np.concatenate([patch.middle for patch in self._basis.patches])
        return np.repeat(middles, np.diff(self.starts), axis=0)


class PointsDuringStep:
    """Points of patches at some moments of a step, one moment after the other.

    Parameters
    ----------
    places
        The points at rest.
    frame
        How they go along; None where they stay.
    t
        The moments, (S,).
    """

    def __init__(self, places: Places, frame: MovingFrame | None, t: FloatArray) -> None:
        self._places, self._frame, self._lapses = places, frame, t
        self.points = np.tile(places.points, (len(t), 1))
        if frame is not None:
            self._lapses = np.repeat(t - frame.since, len(places.points))
            self.points = frame.drift.points(self.points, self._lapses)

    @cached_property
    def _chains(self) -> dict[tuple[int, ...], dict[tuple[int, ...], FloatArray]]:
        return {}

    def values(self, levels: FloatArray, orders: tuple[int, int, int]) -> FloatArray:
        """Return a derivative of sums with weights and rates (RATES, S, n), (S m,)."""
        if self._frame is None:
            return self._places.values(levels[orders[2]], orders[:2]).ravel()
        if orders not in self._chains:
            self._chains[orders] = self._frame.drift.chain(
                self._places.points, self._lapses, orders
            )
        return np.asarray(
            sum(
                c * self._places.values(levels[rate], (x, y)).ravel()
                for (x, y, rate), c in self._chains[orders].items()
            )
        )


def inner_places(basis: PatchworkBasis) -> Places:
    """Return the points at which the equation is asked on patches."""
    patches = basis.patches
    found: list[FloatArray] = []
    parts: list[_Boxes | _Scattered] = []
    boxes: dict[tuple[int, ...], list[int]] = {}
    for i, patch in enumerate(patches):
        if patch.cut is not None:
            found.append(patch.inner_points())
        else:
            counts = tuple(p + 1 for p in patch.functions)
            found.append(patch.gauss_points(counts)[0])
            if patch.is_even:
                boxes.setdefault(patch.functions, []).append(i)
    starts = np.concatenate([[0], np.cumsum([len(x) for x in found])])
    for functions, own in boxes.items():
        n, m = len(patches[own[0]].products[0]), len(found[own[0]])
        columns = basis.starts[own][:, None] + np.arange(n)
        rows = starts[own][:, None] + np.arange(m)
        sides = np.stack([patches[i].sides for i in own])
        parts.append(_Boxes(functions, sides, columns, rows))
    inside = {i for own in boxes.values() for i in own}
    for i, patch in enumerate(patches):
        if i not in inside:
            z = [gauss(p + 1)[0] for p in patch.functions]
            at = found[i] if patch.cut is not None else patch.positions(z)
            parts.append(_scattered(basis, i, at, starts))
    return Places(np.concatenate(found), starts, parts, basis)


def given_places(basis: PatchworkBasis, points: Sequence[FloatArray]) -> Places:
    """Return given points of every patch, (m_i, 2) each."""
    starts = np.concatenate([[0], np.cumsum([len(x) for x in points])])
    parts = [
        _scattered(basis, i, basis.patches[i].in_chart(x), starts)
        for i, x in enumerate(points)
        if len(x)
    ]
    return Places(np.concatenate(points), starts, parts, basis)


def _scattered(basis: PatchworkBasis, i: int, at: FloatArray, starts: Ints) -> _Scattered:
    columns = slice(int(basis.starts[i]), int(basis.starts[i + 1]))
    return _Scattered(basis.patches[i], at, columns, slice(int(starts[i]), int(starts[i + 1])))
