"""Equations and conditions at Gauss points and ends, at the stages of a step on a moving mesh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.discrete import Discrete, Leaves, Rows
from sharpfront.pieces.frame import Frame


class _Fixed(NamedTuple):
    """Rows of an end whose factors are always the same: (S, rows, size * K), and what is given.

    Either has S = 1 if it is the same at all moments.
    """

    matrix: FloatArray
    given: FloatArray

    def part(self, which: slice) -> _Fixed:
        """Return some of the moments; one that stands for all stays."""
        return _Fixed(*(each if len(each) == 1 else each[which] for each in self))


class _Ends(NamedTuple):
    """An end at some moments: coordinates, functions there (S, levels, size), own rates, which."""

    coordinates: Leaves
    values: FloatArray
    carried: FloatArray
    which: slice


class Fields(NamedTuple):
    """Derivatives at the Gauss points, of the unknowns and of their rates: (k, q, K, S, N)."""

    levels: FloatArray
    rates: FloatArray

    def at(self, moment: int) -> Fields:
        """Return those at one of the moments."""
        here = slice(moment, moment + 1)
        return Fields(self.levels[:, :, :, here], self.rates[:, :, :, here])


class Moments:
    """A moving mesh at some moments: coefficients become leaves and tangents become bands.

    The frame is that at t, the first moment of a step; later moments are counted from t on, (S,).
    """

    def __init__(self, discrete: Discrete, frame: Frame, t: float, later: FloatArray) -> None:
        self.discrete, self.tables, self.frame = discrete, discrete.tables, frame
        self.t, self.later = t + later, later
        self.layout = discrete.layout(frame)
        h, self.stretch = frame.lengths
        x, self.v = frame.positions
        self.still = not frame.moves
        # Of a mesh that does not move there is one for all moments.
        self.h = h[None] if self.still else h + later[:, None] * self.stretch
        self.x = x[:, None] if self.still else x[:, None] + later[:, None] * self.v[:, None]
        self.d, self.d_rate = frame.scales_over(later)
        # h^-k, (levels + 1, S, N).
        self.over = np.empty((discrete.levels + 1, *self.h.shape))
        self.over[0] = 1.0
        np.divide(1.0, self.h, out=self.over[1:])
        np.multiply.accumulate(self.over, axis=0, out=self.over)
        self._made: dict[Any, Any] = {}

    @property
    def count(self) -> int:
        """How many Gauss points there are at all moments together."""
        return len(self.t) * self.v.size

    def part(self, which: slice) -> Moments:
        """Return some of the moments."""
        new = Moments.__new__(Moments)
        own = vars(self).copy()
        own["t"], own["later"] = self.t[which], self.later[which]
        if not self.still:
            own["h"] = self.h[which]
            for name in ("x", "d", "d_rate", "over"):
                own[name] = own[name][:, which]
        own["_made"] = {
            key: found.part(which) for key, found in self._made.items() if isinstance(found, _Fixed)
        }
        vars(new).update(own)
        return new

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what was made for a key before, or make it."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _coordinates(self) -> Leaves:
        """Return place and time at the Gauss points."""
        t, x = np.broadcast_arrays(self.t[:, None], self.x)
        return self.discrete.coordinates(x.ravel(), t.ravel())

    def fields(self, levels: FloatArray, rates: FloatArray) -> Fields:
        """Return the derivatives at the Gauss points from coefficients and rates, (S, n, K)."""
        frame, m, still = self.frame, self.discrete.mixed, self.still
        tables = self.tables.inside(self.discrete.levels)
        q, size = tables.shape[1:]
        own, d = frame.gathered(levels), self.d[:, None]
        # All unknowns, moments and elements at once.
        found = tables.reshape(-1, size) @ (own * d).reshape(size, -1)
        found = found.reshape(-1, q, *own.shape[1:])
        over = self.over[:, None, None]
        found[1:] *= over[1:]
        moving = frame.gathered(rates) * d
        if not still:
            moving += own * self.d_rate[:, None]
        rate = tables[: m + 1].reshape(-1, size) @ moving.reshape(size, -1)
        rate = rate.reshape(-1, *found.shape[1:])
        if m:
            rate[1:] *= over[1 : m + 1]
        if not still:
            # d^k/dx^k u_t = d^k/dx^k U_t - v d^(k+1) u - k v_x d^k u.
            rate -= self.v[:, None, None] * found[1 : m + 2]
            for k in range(1, m + 1):
                rate[k] -= k * self.stretch * self.over[1] * found[k]
        return Fields(found, rate)

    def inside(self, rows: Rows, fields: Fields) -> Leaves:
        """Return the leaves of rows at the Gauss points."""
        places = self._once("inside", self._coordinates) if rows.placed else {}
        return self.discrete.leaves(places, *fields)

    def _ends(self, side: int) -> _Ends:
        """Return the tables of an end."""
        orders = np.arange(self.discrete.levels + 1)
        e, table = -side, self.tables.ends(self.discrete.levels)[:, side]
        over = self.over[:, :, e].T[..., None]
        values = np.repeat(
            table * self.d[..., e].T[:, None] * over, len(self.t) // len(over), axis=0
        )
        m = self.discrete.mixed + 1
        carried = table[:m] * self.d_rate[..., e].T[:, None] * over[:, :m]
        carried = carried - orders[:m, None] * (self.stretch[e] * over[:, 1:2]) * values[:, :m]
        places = self.discrete.coordinates(np.full(len(self.t), self.frame.nodes[e]), self.t)
        return _Ends(places, values, carried, self._which(side))

    def _which(self, side: int) -> slice:
        """Return which coefficients the element at an end has."""
        return slice(-self.tables.size, None) if side else slice(None, self.tables.size)

    def at_end(self, side: int, levels: FloatArray, rates: FloatArray | None) -> Leaves:
        """Return the leaves at one end, whose node does not move, without rates if there are none.

        Only of a line: a ring has no ends.
        """
        ends = self._once(side, lambda: self._ends(side))
        own = levels[:, ends.which]
        found = np.transpose(ends.values @ own, (1, 0, 2))
        rate = found[:0]
        if rates is not None:
            moved = ends.values[:, : ends.carried.shape[1]] @ rates[:, ends.which]
            rate = np.transpose(moved + ends.carried @ own, (1, 0, 2))
        return self.discrete.leaves(ends.coordinates, found, rate)

    def fixed(self, side: int) -> _Fixed | None:
        """Return the rows of an end if their factors are always the same."""
        if self.discrete.sides[side].fixed is None:
            return None
        found: _Fixed = self._once(("fixed", side), lambda: self._fixed(side))
        return found

    def _fixed(self, side: int) -> _Fixed:
        discrete, rows = self.discrete, self.discrete.sides[side]
        k, given = discrete.unknowns, discrete.given[side]
        if given is None:
            places = discrete.coordinates(np.full(len(self.t), self.frame.nodes[-side]), self.t)
            given = discrete.at_zero(rows, places, len(self.t))
        held = discrete.held[side]
        if held is not None:
            return _Fixed(held, given)
        ends = self._once(side, lambda: self._ends(side))
        matrix = np.zeros((len(self.t), len(rows), self.tables.size, k))
        for c, (i, j, space, _) in zip(rows.fixed or (), rows.terms, strict=True):
            matrix[:, i, :, j] += c * ends.values[:, space]
        return _Fixed(matrix.reshape(*matrix.shape[:2], -1), given)

    def _at_end(self, side: int, rows: Rows, levels: FloatArray, rates: FloatArray) -> FloatArray:
        """Return the values of rows at an end, (S, rows)."""
        fixed = self.fixed(side) if rows is self.discrete.sides[side] else None
        if fixed is None:
            leaves = self.at_end(side, levels, rates if rows.timed else None)
            return rows.values.run(leaves, len(self.t)).T
        own = levels[:, self._which(side)].reshape(len(self.t), -1)
        if len(fixed.matrix) == 1:
            return np.asarray(own @ fixed.matrix[0].T + fixed.given)
        return np.asarray((fixed.matrix @ own[..., None])[..., 0] + fixed.given)

    def residual(
        self, levels: FloatArray, rates: FloatArray, fields: Fields | None = None
    ) -> FloatArray:
        """Return what equations and conditions leave, (S, size)."""
        return self.rows_of(self.discrete.equations, self.discrete.sides, levels, rates, fields)

    def rows_of(
        self,
        equations: Rows | None,
        sides: list[Rows],
        levels: FloatArray,
        rates: FloatArray,
        fields: Fields | None = None,
    ) -> FloatArray:
        """Return the values of rows inside, zero if there are none, and at both ends, (S, size)."""
        s, k = len(self.t), self.discrete.unknowns
        out = np.empty((s, self.layout.size)) if equations else np.zeros((s, self.layout.size))
        left, right = self.layout.left, self.layout.size - len(self.discrete.sides[1])
        if equations is not None:
            fields = fields or self.fields(levels, rates)
            inner = equations.values.run(self.inside(equations, fields), self.count)
            placed = out[:, left:right].reshape(s, self.layout.elements, -1, k)
            placed[:] = inner.reshape(k, -1, s, self.layout.elements).transpose(2, 3, 1, 0)
        for side, rows in ((0, slice(0, left)), (1, slice(right, None))):
            if len(sides[side]):
                out[:, rows] = self._at_end(side, sides[side], levels, rates)
        return out

    def tangents(
        self, levels: FloatArray, rates: FloatArray, fields: Fields | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return d residual / d rates and / d levels at the only moment, as flat bands."""
        lay, tab, k = self.layout, self.tables, self.discrete.unknowns
        blocks = np.zeros((2, tab.points, lay.elements, k, tab.size, k))
        of_rates, of_levels = self._factors(fields or self.fields(levels, rates))
        tables, d = tab.across(self.discrete.levels), self.d[:, 0].T
        # Sums over derivatives at each Gauss point, (q, N, orders) with (q, orders, size).
        for (i, j), factors in of_levels.items():
            blocks[1, :, :, i, :, j] = (factors @ tables) * d
        for (i, j), factors in of_rates.items():
            held = factors @ tables
            blocks[0, :, :, i, :, j] = held * d
            if not self.still:
                blocks[1, :, :, i, :, j] += held * self.d_rate[:, 0].T
        bands = np.zeros((2, lay.high * lay.size))
        bands[:, lay.scatter] = blocks.reshape(2, -1)
        for side in (0, 1):
            self._end_tangents(bands, side, levels, rates)
        return bands[0], bands[1]

    def _factors(
        self, fields: Fields
    ) -> tuple[dict[tuple[int, int], FloatArray], dict[tuple[int, int], FloatArray]]:
        """Return factors of derivatives of rates and levels by equation, unknown: (q, N, orders).

        The mesh moves, so that rates hold derivatives of the coefficients themselves.
        """
        rows = self.discrete.equations
        found = rows.tangents.run(self.inside(rows, fields), self.count)
        shape = (*self.v.shape, self.discrete.levels + 1)
        of_rates: dict[tuple[int, int], FloatArray] = {}
        of_levels: dict[tuple[int, int], FloatArray] = {}
        for c, (i, j, space, time) in zip(found, rows.terms, strict=True):
            own = c.reshape(self.v.shape)
            if space:
                own = own * self.over[space, 0]
            plain = of_levels.setdefault((i, j), np.zeros(shape))
            if not time:
                plain[..., space] += own
                continue
            of_rates.setdefault((i, j), np.zeros(shape))[..., space] += own
            if not self.still:
                plain[..., space + 1] -= own * self.v * self.over[1, 0]
                if space:
                    plain[..., space] -= space * (self.stretch / self.h[0]) * own
        return of_rates, of_levels

    def _end_tangents(
        self, bands: FloatArray, side: int, levels: FloatArray, rates: FloatArray
    ) -> None:
        own = self.discrete.sides[side]
        if not len(own):
            return
        e, where = -side, self.layout.of_end(side, len(own))
        fixed = self.fixed(side)
        if fixed is not None:
            bands[0][where], bands[1][where] = 0.0, fixed.matrix[0].ravel()
            return
        found = own.tangents.run(self.at_end(side, levels, rates), 1)[:, 0]
        shape = (len(own), self.tables.size, self.discrete.unknowns)
        mass, stiff = np.zeros(shape), np.zeros(shape)
        table = self.tables.ends(self.discrete.levels)[:, side]
        d, h, rate = self.d[:, 0, e], self.h[0, e], self.d_rate[:, 0, e]
        for c, (i, j, space, time) in zip(found, own.terms, strict=True):
            value = c * table[space] / h**space
            if time:
                mass[i, :, j] += value * d
                stiff[i, :, j] += value * (rate - space * self.stretch[e] / h * d)
            else:
                stiff[i, :, j] += value * d
        for band, block in zip(bands, (mass, stiff), strict=True):
            band[where] = block.reshape(-1)
