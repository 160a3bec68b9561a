"""Equations and conditions at Gauss points and ends, at the stages of a step on a moving mesh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.band import Layout
from sharpfront.evolve.discrete import Discrete, Leaves, Rows
from sharpfront.pieces.frame import Frame
from sharpfront.pieces.radau import all_nodes, diagonal


class _Fixed(NamedTuple):
    """Rows of an end whose factors are always the same: (S, rows, size * K), and what is given."""

    matrix: FloatArray
    given: FloatArray


class _Ends(NamedTuple):
    """An end at some moments: coordinates, functions there (S, levels, size), own rates, which."""

    coordinates: Leaves
    values: FloatArray
    carried: FloatArray
    which: slice


class Moments:
    """A moving mesh at some moments: coefficients become leaves and tangents become bands.

    Parameters
    ----------
    discrete
        What is collocated.
    frame
        At the first moment of a step.
    t
        Then.
    later
        The moments, from t on, (S,).
    """

    def __init__(self, discrete: Discrete, frame: Frame, t: float, later: FloatArray) -> None:
        self.discrete, self.tables, self.frame = discrete, discrete.tables, frame
        self.t, self.later = t + later, later
        self.layout = discrete.layout(frame)
        h, rate = frame.lengths
        self.still = not frame.velocities.any()
        self.h, self.stretch = h + later[:, None] * rate, rate
        x, v = frame.positions
        self.x, self.v = x + later[:, None, None] * v, v
        self.d, self.d_rate = frame.scales_over(later)
        # h^-k, (levels + 1, S, N).
        self.over = np.ones((discrete.levels + 1, *self.h.shape))
        self.over[1:] = 1.0 / self.h
        np.multiply.accumulate(self.over, axis=0, out=self.over)
        self._made: dict[Any, Any] = {}

    def part(self, which: slice) -> Moments:
        """Return some of the moments."""
        new = Moments.__new__(Moments)
        own = vars(self).copy()
        for name in ("t", "later", "h", "x", "d", "d_rate"):
            own[name] = own[name][which]
        own["over"] = self.over[:, which]
        own["_made"] = {
            key: _Fixed(found.matrix[which], found.given[which])
            for key, found in self._made.items()
            if isinstance(found, _Fixed)
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
        t = np.repeat(self.t, self.x[0].size)
        return self.discrete.coordinates(self.x.ravel(), t)

    def inside(self, levels: FloatArray, rates: FloatArray) -> Leaves:
        """Return the leaves at the Gauss points; coefficients and their rates are (S, n, K)."""
        tables, frame, m = self.tables, self.frame, self.discrete.mixed
        turned, over = tables.turned(self.discrete.levels), self.over[:, None, ..., None]
        own = frame.gathered(levels)
        # All unknowns, moments and elements at once, (orders, K, S, N, q).
        found = np.matmul((own * self.d).reshape(-1, tables.size), turned)
        found = found.reshape(len(turned), len(own), *self.x.shape)
        found[1:] *= over[1:]
        moving = frame.gathered(rates) * self.d
        if not self.still:
            moving += own * self.d_rate
        rate = np.matmul(moving.reshape(-1, tables.size), turned[: m + 1])
        rate = rate.reshape(m + 1, *found.shape[1:])
        if m:
            rate[1:] *= over[1 : m + 1]
        if not self.still:
            # d^k/dx^k u_t = d^k/dx^k U_t - v d^(k+1) u - k v_x d^k u.
            rate -= self.v * found[1 : m + 2]
            for k in range(1, m + 1):
                rate[k] -= (k * self.stretch * self.over[1])[..., None] * found[k]
        return self.discrete.leaves(
            self._once("inside", self._coordinates),
            found.reshape(*found.shape[:2], -1),
            rate.reshape(*rate.shape[:2], -1),
        )

    def _ends(self, side: int) -> _Ends:
        """Return the tables of an end."""
        orders = np.arange(self.discrete.levels + 1)
        e, table = -side, self.tables.ends(self.discrete.levels)[:, side]
        over = self.over[:, :, e].T[..., None]
        values = table * self.d[:, e, None] * over
        m = self.discrete.mixed + 1
        carried = table[:m] * self.d_rate[:, e, None] * over[:, :m]
        carried -= orders[:m, None] * (self.stretch[e] * over[:, 1:2]) * values[:, :m]
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
        found = np.transpose(ends.values @ own, (1, 2, 0))
        rate = found[:0]
        if rates is not None:
            moved = ends.values[:, : ends.carried.shape[1]] @ rates[:, ends.which]
            rate = np.transpose(moved + ends.carried @ own, (1, 2, 0))
        return self.discrete.leaves(ends.coordinates, found, rate)

    def fixed(self, side: int) -> _Fixed | None:
        """Return the rows of an end if their factors are always the same."""
        if self.discrete.sides[side].fixed is None:
            return None
        found: _Fixed = self._once(("fixed", side), lambda: self._fixed(side))
        return found

    def _fixed(self, side: int) -> _Fixed:
        rows, ends, k = self.discrete.sides[side], self._ends(side), self.discrete.unknowns
        matrix = np.zeros((len(self.t), len(rows), self.tables.size, k))
        for c, (i, j, space, _) in zip(rows.fixed or (), rows.terms, strict=True):
            matrix[:, i, :, j] += c * ends.values[:, space]
        nothing = np.zeros((self.discrete.levels + 1, k, len(self.t)))
        leaves = self.discrete.leaves(ends.coordinates, nothing, nothing[:0])
        given = rows.values.run(leaves, len(self.t)).T
        return _Fixed(matrix.reshape(*matrix.shape[:2], -1), given)

    def _at_end(self, side: int, rows: Rows, levels: FloatArray, rates: FloatArray) -> FloatArray:
        """Return the values of rows at an end, (S, rows)."""
        fixed = self.fixed(side) if rows is self.discrete.sides[side] else None
        if fixed is None:
            leaves = self.at_end(side, levels, rates if rows.timed else None)
            return rows.values.run(leaves, len(self.t)).T
        own = levels[:, self._which(side)].reshape(len(self.t), -1, 1)
        return np.asarray((fixed.matrix @ own)[..., 0] + fixed.given)

    def residual(self, levels: FloatArray, rates: FloatArray) -> FloatArray:
        """Return what equations and conditions leave, (S, size)."""
        return self.rows_of(self.discrete.equations, self.discrete.sides, levels, rates)

    def rows_of(
        self, equations: Rows | None, sides: list[Rows], levels: FloatArray, rates: FloatArray
    ) -> FloatArray:
        """Return the values of rows inside, zero if there are none, and at both ends, (S, size)."""
        s, k = len(self.t), self.discrete.unknowns
        out = np.zeros((s, self.layout.size))
        left, right = self.layout.left, self.layout.size - len(self.discrete.sides[1])
        if equations is not None:
            inner = equations.values.run(self.inside(levels, rates), self.x.size)
            out[:, left:right].reshape(s, -1, k)[:] = inner.reshape(k, s, -1).transpose(1, 2, 0)
        for side, rows in ((0, slice(0, left)), (1, slice(right, None))):
            if len(sides[side]):
                out[:, rows] = self._at_end(side, sides[side], levels, rates)
        return out

    def tangents(self, levels: FloatArray, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return d residual / d rates and / d levels at the only moment, as flat bands."""
        lay, tab, k = self.layout, self.tables, self.discrete.unknowns
        found = self.discrete.equations.tangents.run(self.inside(levels, rates), self.x.size)
        found = found.reshape(-1, lay.elements, tab.points, 1)
        # Derivatives of the scaled functions, (orders, N, q, size), and what moving adds to them.
        inside = tab.inside(self.discrete.levels)[:, None]
        functions = inside * (self.d * self.over[:, 0, :, None])[:, :, None]
        shape = (lay.elements, tab.points, k, tab.size, k)
        mass, stiff = np.zeros(shape), np.zeros(shape)
        terms = self.discrete.equations.terms
        for c, (i, j, space, time) in zip(found, terms, strict=True):
            if not time:
                stiff[:, :, i, :, j] += c * functions[space]
                continue
            mass[:, :, i, :, j] += c * functions[space]
            if not self.still:
                moved = inside[space] * (self.d_rate * self.over[space][..., None])[0, :, None]
                stiff[:, :, i, :, j] += c * self._carried(moved, functions, space)
        bands = []
        for block in (mass, stiff):
            band = lay.empty()
            band[lay.scatter] = block.reshape(-1)
            bands.append(band)
        for side in (0, 1):
            self._end_tangents(bands, side, levels, rates)
        return bands[0], bands[1]

    def _carried(self, moved: FloatArray, functions: FloatArray, space: int) -> FloatArray:
        """Return what a rate holds of the coefficients themselves, for the mesh moves."""
        found = moved - self.v[..., None] * functions[space + 1]
        if space:
            found -= space * (self.stretch / self.h[0])[:, None, None] * functions[space]
        return np.asarray(found)

    def _end_tangents(
        self, bands: list[FloatArray], side: int, levels: FloatArray, rates: FloatArray
    ) -> None:
        own = self.discrete.sides[side]
        if not len(own):
            return
        lay, e = self.layout, -side
        rows = range(len(own)) if side == 0 else range(lay.size - len(own), lay.size)
        where = lay.at_end(rows, e).ravel()
        fixed = self.fixed(side)
        if fixed is not None:
            bands[0][where], bands[1][where] = 0.0, fixed.matrix[0].ravel()
            return
        found = own.tangents.run(self.at_end(side, levels, rates), 1)[:, 0]
        shape = (len(own), self.tables.size, self.discrete.unknowns)
        mass, stiff = np.zeros(shape), np.zeros(shape)
        table = self.tables.ends(self.discrete.levels)[:, side]
        d, h, rate = self.d[0][e], self.h[0][e], self.d_rate[0][e]
        for c, (i, j, space, time) in zip(found, own.terms, strict=True):
            value = c * table[space] / h**space
            if time:
                mass[i, :, j] += value * d
                stiff[i, :, j] += value * (rate - space * self.stretch[e] / h * d)
            else:
                stiff[i, :, j] += value * d
        for band, block in zip(bands, (mass, stiff), strict=True):
            band[where] = block.reshape(-1)


class Factors(NamedTuple):
    """Those of a step: for the real eigenvalue, and for the complex ones one behind the other."""

    real: Any
    pairs: Any


class Step:
    """The equations of one step by Radau IIA.

    Parameters
    ----------
    discrete, frame, t
        What is collocated, on which mesh, from when on.
    dt
        The length of the step.
    """

    def __init__(self, discrete: Discrete, frame: Frame, t: float, dt: float) -> None:
        self.discrete, self.frame, self.t, self.dt = discrete, frame, t, dt
        self.all = Moments(discrete, frame, t, all_nodes() * dt)
        for side in (0, 1) if not frame.ring else ():
            self.all.fixed(side)
        self.stages = self.all.part(slice(1, None))

    @property
    def layout(self) -> Layout:
        """The band."""
        return self.stages.layout

    @property
    def start(self) -> Moments:
        """The mesh at the beginning."""
        return self.all.part(slice(0, 1))

    def factored(self, levels: FloatArray, rates: FloatArray) -> Factors:
        """Return the factors for the eigenvalues of Radau's matrix, about the middle stage."""
        middle, lay = len(levels) // 2, self.layout
        here = self.stages.part(slice(middle, middle + 1))
        mass, stiff = here.tangents(levels[middle : middle + 1], rates[middle : middle + 1])
        real, *pairs = diagonal().values / self.dt
        every = mass * np.array(pairs)[:, None]
        every += stiff
        return Factors(
            lay.factored(lay.matrix(mass * real.real + stiff)), lay.factored(lay.matrix(every))
        )

    def change(self, factors: Factors, residual: FloatArray) -> FloatArray:
        """Return the change of all stages that Newton's method makes, (STAGES, size)."""
        lay, radau = self.layout, diagonal()
        turned = radau.into @ lay.placed(residual)
        found = np.empty_like(turned)
        found[0] = lay.solved(factors.real, turned[0])
        right = turned[1::2] + 1j * turned[2::2]
        w = lay.solved(factors.pairs, right.ravel()).reshape(right.shape)
        found[1::2], found[2::2] = w.real, w.imag
        return lay.taken(-(radau.back @ found))
