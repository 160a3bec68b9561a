"""Equations and conditions at Gauss points and ends, at some moments of a moving mesh."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.discretisation import Discrete, Leaves, Rows
from sharpfront.evolve.end_conditions import End
from sharpfront.pieces.frame import Frame

# Factors of derivatives by equation and unknown, (orders, q, S, N) each.
_Factors = dict[tuple[int, int], FloatArray]


class Moments:
    """A moving mesh at some moments, (S,), counted from t on, at which the frame is."""

    def __init__(self, discrete: Discrete, frame: Frame, t: float, later: FloatArray) -> None:
        self.discrete, self.frame = discrete, frame
        self.t, self.later = t + later, later
        self.layout = discrete.layout(frame)
        self.still = not frame.moves
        # How fast elements become longer, (N,).
        self.stretch: FloatArray = frame.lengths[1]
        lengths = frame.lengths_over(later)
        # h^-k, (levels + 1, S, N).
        self.over = over = np.empty((discrete.levels + 1, len(later), frame.elements))
        over[0] = 1.0
        np.divide(1.0, lengths, out=over[1])
        for k in range(2, len(over)):
            np.multiply(over[k - 1], over[1], out=over[k])
        # Scales of the functions and their rates, (U, size, S, N) each, for each unknown or one for
        # all; S is 1 if nothing moves.
        self.d, self.d_rate = frame.scales_over(later, lengths).swapaxes(1, 2)
        # Ends at which something holds; a ring has none.
        sides = () if frame.ring else (0, 1)
        self.ends = [End(self, side) for side in sides if len(discrete.sides[side])]

    @cached_property
    def coordinates(self) -> Leaves:
        """Place and time at the Gauss points."""
        x, v = self.frame.positions
        places = x[:, None] if self.still else x[:, None] + self.later[:, None] * v[:, None]
        t, places = np.broadcast_arrays(self.t[:, None], places)
        return self.discrete.coordinates(places.ravel(), t.ravel())

    @property
    def has_plain_ends(self) -> bool:
        """Whether conditions are linear, and the same but for what is given at all moments."""
        return all(e.fixed is not None and len(e.fixed.matrix) == 1 for e in self.ends)


class Fields:
    """The unknowns at Gauss points, from coefficients and rates at moments, (S, n, K) each.

    Both arrays are kept; who changes them in place says so by `stale`.
    """

    def __init__(self, moments: Moments, levels: FloatArray, rates: FloatArray) -> None:
        self.moments, self.coefficients, self.moved = moments, levels, rates
        frame, discrete = moments.frame, moments.discrete
        tables = frame.tables.inside(discrete.levels)
        (orders, q, size), (count, _, k) = tables.shape, levels.shape
        self._own, self._moving = self._gathered()
        self._scaled, self._spare = np.empty((2, k, size, count, frame.elements))
        # Derivatives along x, of the unknowns and of their rates: (K, orders, q, S, N).
        self.levels = np.empty((k, orders, q, count, frame.elements))
        self.rates = np.empty((k, discrete.mixed + 1, q, count, frame.elements))
        # Tables, and what their products with coefficients are: fields with axes as one.
        flat = tables.reshape(-1, size)
        self._tables = flat, flat[: (discrete.mixed + 1) * q]
        self._flat = self._scaled.reshape(k, size, -1)
        self._products = (
            self.levels.reshape(k, len(flat), -1),
            self.rates.reshape(k, len(self._tables[1]), -1),
        )
        # What equations and conditions leave, (S, size), and the part inside, (K, q, S, N).
        self.left = np.empty((count, moments.layout.size))
        first, last = moments.layout.left, moments.layout.size - len(discrete.sides[1])
        inner = self.left[:, first:last].reshape(count, frame.elements, q, -1)
        self._inner = inner.transpose(3, 2, 0, 1)
        self.stale = True

    def _gathered(self) -> tuple[FloatArray, FloatArray]:
        """Return coefficients and rates by element, (K, size, S, N): views unless on a ring."""
        gathered = self.moments.frame.gathered
        levels, rates = gathered(self.coefficients), gathered(self.moved)
        return levels.transpose(1, 0, 2, 3), rates.transpose(1, 0, 2, 3)

    def _update(self) -> None:
        """Take the coefficients as they are now."""
        self.stale = False
        moments, scaled, over = self.moments, self._scaled, self.moments.over
        if moments.frame.ring:
            self._own, self._moving = self._gathered()
        np.multiply(self._own, moments.d, out=scaled)
        np.matmul(self._tables[0], self._flat, out=self._products[0])
        slopes, m = self.levels[:, 1:], moments.discrete.mixed
        np.multiply(slopes, over[1:, None], out=slopes)
        np.multiply(self._moving, moments.d, out=scaled)
        if not moments.still:
            np.multiply(self._own, moments.d_rate, out=self._spare)
            np.add(scaled, self._spare, out=scaled)
        np.matmul(self._tables[1], self._flat, out=self._products[1])
        if m:
            self.rates[:, 1:] *= over[1 : m + 1, None]
        if moments.still:
            return
        # Rates in a frame at rest: d^k/dx^k u_t = d^k/dx^k U_t - v d^(k+1) u - k v_x d^k u.
        v = moments.frame.positions[1][:, None]
        np.subtract(self.rates, v * self.levels[:, 1 : m + 2], out=self.rates)
        for k in range(1, m + 1):
            self.rates[:, k] -= k * moments.stretch * over[1] * self.levels[:, k]

    def _leaves(self, rows: Rows) -> Leaves:
        """Return the leaves of rows at the Gauss points: views of the fields."""
        places = self.moments.coordinates if rows.placed else {}
        return self.moments.discrete.leaves(rows.values, places, self.levels, self.rates)

    @cached_property
    def _prepared(self) -> list[Any]:
        """The equations with all that does not change with the coefficients."""
        rows = self.moments.discrete.equations
        return rows.values.prepared(self._leaves(rows))

    def residual(self, ends: bool = True) -> FloatArray:
        """Return what equations and conditions leave, (S, size); without ends, zero there."""
        if self.stale:
            self._update()
        out, program = self.left, self.moments.discrete.equations.values
        inner = program.finished(self._prepared, self._inner.size // len(self._inner))
        self._inner[:] = inner.reshape(self._inner.shape)
        for end in self.moments.ends:
            held = end.residual(self.coefficients, self.moved) if ends else 0.0
            out[:, end.rows] = held
        return out

    def rows_of(self, equations: Rows, sides: list[Rows], sets: int) -> FloatArray:
        """Return the values of sets of rows, one after another inside and at ends, (sets, S, size).

        Each set has as many rows as equations and conditions are.
        """
        if self.stale:
            self._update()
        out = np.empty((sets, *self.left.shape))
        _, q, count, elements = self._inner.shape
        inner = equations.values.run(self._leaves(equations), q * count * elements)
        first = self.moments.layout.left
        inside = inner.reshape(sets, -1, q, count, elements).transpose(0, 3, 4, 2, 1)
        inside = inside.reshape(sets, count, -1)
        out[..., first : first + inside.shape[2]] = inside
        for end in self.moments.ends:
            found = end.values(sides[end.side], self.coefficients, self.moved)
            out[..., end.rows] = found.reshape(count, sets, -1).transpose(1, 0, 2)
        return out

    def bands(self, i: int) -> tuple[FloatArray, FloatArray]:
        """Return d residual / d rates and / d levels at a moment, as flat bands.

        Those of conditions are zero: `set_ends` puts them in.
        """
        lay = self.moments.layout
        bands = np.zeros((2, lay.high * lay.size))
        blocks = lay.blocks(bands)
        self.fill(blocks[:, :, None], slice(i, i + 1))
        lay.settle(blocks, bands)
        return bands[0], bands[1]

    def set_ends(self, mass: FloatArray, stiff: FloatArray, i: int, large: float = 1.0) -> None:
        """Put conditions at a moment into flat bands, so many times as large as they are."""
        for end in self.moments.ends:
            at = self.moments.layout.of_end(end.side, len(end.own))
            if end.fixed is not None:
                # Bands begin as zeros: of rates there is nothing.
                matrix = end.fixed.matrix
                stiff[at] = large * matrix[i if len(matrix) > 1 else 0].ravel()
                continue
            own = end.tangents(self.coefficients, self.moved, slice(i, i + 1))
            mass[at], stiff[at] = large * own.reshape(2, -1)

    def fill(self, blocks: FloatArray, which: slice) -> None:
        """Write d residual / d rates and / d levels at some moments, (2, q, S, N, K, size, K).

        By Gauss point, moment, element, equation, function and unknown; what is zero is left alone.
        """
        if self.stale:
            self._update()
        moments, (mass, stiff) = self.moments, blocks
        of_rates, of_levels = self._factors(which)
        across = moments.frame.tables.across(moments.discrete.levels)[:, None]
        at = slice(None) if moments.still else which
        every, rates = (
            [own[:, at].transpose(1, 2, 0) for own in part] for part in (moments.d, moments.d_rate)
        )
        # Sums over derivatives at each Gauss point.
        for (row, unknown), factors in of_levels.items():
            summed = factors.transpose(1, 2, 3, 0) @ across
            np.multiply(summed, every[unknown % len(every)], out=stiff[..., row, :, unknown])
        for (row, unknown), factors in of_rates.items():
            held = factors.transpose(1, 2, 3, 0) @ across[:, :, : len(factors)]
            np.multiply(held, every[unknown % len(every)], out=mass[..., row, :, unknown])
            if not moments.still:
                stiff[..., row, :, unknown] += held * rates[unknown % len(rates)]

    def end_tangents(self, which: slice) -> list[FloatArray]:
        """Return the same of the rows of each end, (2, S, rows, size, K)."""
        return [e.tangents(self.coefficients, self.moved, which) for e in self.moments.ends]

    def _factors(self, which: slice) -> tuple[_Factors, _Factors]:
        """Return factors of derivatives of rates and of levels at some moments.

        The mesh moves, so that rates hold derivatives of the coefficients themselves.
        """
        moments, rows = self.moments, self.moments.discrete.equations
        over = moments.over[:, which]
        shape = (self.levels.shape[2], *over.shape[1:])
        v = None if moments.still else moments.frame.positions[1][:, None] * over[1]
        of_rates: _Factors = {}
        of_levels = {pair: np.zeros((len(over), *shape)) for pair in rows.pairs}
        found = self._coefficients(which).reshape(-1, *shape)
        # Terms of levels come before those of rates, which are added to them.
        for c, (row, unknown, space, time) in zip(found, rows.terms, strict=True):
            plain = of_levels[row, unknown]
            if not time:
                np.multiply(c, over[space], out=plain[space])
                continue
            own = c * over[space] if space else c
            rates = of_rates.setdefault((row, unknown), np.zeros((self.rates.shape[1], *shape)))
            rates[space] = own
            if v is not None:
                plain[space + 1] -= own * v
                if space:
                    plain[space] -= space * (moments.stretch * over[1]) * own
        return of_rates, of_levels

    def _coefficients(self, which: slice) -> FloatArray:
        """Return the factors of all terms of the equations at some moments, (terms, q S N)."""
        moments, rows = self.moments, self.moments.discrete.equations
        here = self.levels[..., which, :], self.rates[..., which, :]
        places: Leaves = {}
        if rows.placed:
            shape = self.levels.shape[2:]
            places = {k: x.reshape(shape)[:, which].ravel() for k, x in moments.coordinates.items()}
        leaves = moments.discrete.leaves(rows.tangents, places, *here)
        return rows.tangents.run(leaves, here[0][0, 0].size)
