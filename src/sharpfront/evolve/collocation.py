"""Equations and conditions at Gauss points and ends, at some moments of a moving mesh."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.discretisation import Discrete, Leaves, Rows
from sharpfront.evolve.end_conditions import End
from sharpfront.pieces.frame import Frame

# Factors of derivatives by equation and unknown, (q, S, N, orders) each, or a number for order 0.
_Factors = dict[tuple[int, int], Any]


class Moments:
    """A moving mesh at some moments, (S,), counted from t on, at which the frame is."""

    def __init__(self, discrete: Discrete, frame: Frame, t: float, later: FloatArray) -> None:
        self.discrete, self.layout = discrete, discrete.layout(frame)
        self.frame, self.t, self.later = frame, t + later, later
        # h^-k, (levels + 1, S, N).
        self.over = np.ones((discrete.levels + 1, len(later), frame.elements))
        self._measure()
        # Ends at which something holds; a ring has none.
        sides = () if frame.ring else (0, 1)
        self.ends = [End(self, side) for side in sides if len(discrete.sides[side])]

    def aim(self, frame: Frame, t: float, later: FloatArray) -> None:
        """Go to as many moments of a mesh with as many elements."""
        again = self.frame is frame and not frame.moves
        self.frame, self.t, self.later = frame, t + later, later
        self.__dict__.pop("coordinates", None)
        if not again:
            self._measure()
        for end in self.ends:
            end.aim(again)

    def _measure(self) -> None:
        """Find what depends on the mesh and its motion."""
        frame, over = self.frame, self.over
        self.still = not frame.moves
        # How fast elements become longer, (N,).
        self.stretch: FloatArray = frame.lengths[1]
        lengths = frame.lengths_over(self.later)
        np.divide(1.0, lengths, out=over[1])
        for k in range(2, len(over)):
            np.multiply(over[k - 1], over[1], out=over[k])
        # Scales of the functions and their rates, (U, size, S, N) each, for each unknown or one for
        # all; S is 1 if nothing moves.
        self.d, self.d_rate = frame.scales_over(self.later, lengths).swapaxes(1, 2)

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
        self.moments, self.moved = moments, rates
        frame, discrete, lay = moments.frame, moments.discrete, moments.layout
        tables = frame.tables.inside(discrete.levels)
        (orders, q, size), (count, _, k) = tables.shape, levels.shape
        self._scaled, self._spare = np.empty((2, k, size, count, frame.elements))
        # Derivatives along x, of the unknowns and of their rates: (K, orders, q, S, N).
        self.levels = np.empty((k, orders, q, count, frame.elements))
        self.rates = np.empty((k, discrete.mixed + 1, q, count, frame.elements))
        self._slopes = self.levels[:, 1:]
        self._carried = self.levels[:, 1 : discrete.mixed + 2]
        # Tables, and what their products with coefficients are: fields with axes as one.
        flat = tables.reshape(-1, size)
        self._tables = flat, flat[: (discrete.mixed + 1) * q]
        self._flat = self._scaled.reshape(k, size, -1)
        self._products = (
            self.levels.reshape(k, len(flat), -1),
            self.rates.reshape(k, len(self._tables[1]), -1),
        )
        # What equations and conditions leave, (S, size), and the part inside, (K, q, S, N).
        self.left = np.zeros((count, lay.size))
        inner = self.left[:, lay.left : lay.size - len(discrete.sides[1])]
        self._inner = inner.reshape(count, frame.elements, q, -1).transpose(3, 2, 0, 1)
        self._prepared: list[Any] | None = None
        self._bands: tuple[FloatArray, FloatArray] | None = None
        self.take(levels)

    def take(self, levels: FloatArray) -> None:
        """Go on with other coefficients, at the moments as they are now."""
        self.coefficients, self.stale = levels, True
        if self.moments.discrete.equations.placed:
            self._prepared = None
        self._gather()

    def _gather(self) -> None:
        """Have coefficients and rates by element, (K, size, S, N): views unless on a ring."""
        gathered = self.moments.frame.gathered
        self._own = gathered(self.coefficients).transpose(1, 0, 2, 3)
        self._moving = gathered(self.moved).transpose(1, 0, 2, 3)

    def _update(self) -> None:
        """Take the coefficients as they are now."""
        self.stale = False
        moments, scaled, over = self.moments, self._scaled, self.moments.over
        if moments.frame.ring:
            self._gather()
        np.multiply(self._own, moments.d, out=scaled)
        np.matmul(self._tables[0], self._flat, out=self._products[0])
        np.multiply(self._slopes, over[1:, None], out=self._slopes)
        np.multiply(self._moving, moments.d, out=scaled)
        if not moments.still:
            np.multiply(self._own, moments.d_rate, out=self._spare)
            np.add(scaled, self._spare, out=scaled)
        np.matmul(self._tables[1], self._flat, out=self._products[1])
        m = moments.discrete.mixed
        if m:
            self.rates[:, 1:] *= over[1 : m + 1, None]
        if moments.still:
            return
        # Rates in a frame at rest: d^k/dx^k u_t = d^k/dx^k U_t - v d^(k+1) u - k v_x d^k u.
        v = moments.frame.positions[1][:, None]
        np.subtract(self.rates, v * self._carried, out=self.rates)
        for k in range(1, m + 1):
            self.rates[:, k] -= k * moments.stretch * over[1] * self.levels[:, k]

    def _leaves(self, rows: Rows) -> Leaves:
        """Return the leaves of rows at the Gauss points: views of the fields."""
        places = self.moments.coordinates if rows.placed else {}
        return self.moments.discrete.leaves(rows.values, places, self.levels, self.rates)

    def residual(self, ends: bool = True) -> FloatArray:
        """Return what equations and conditions leave, (S, size); without ends, zero there."""
        if self.stale:
            self._update()
        rows = self.moments.discrete.equations
        if self._prepared is None:
            # The equations with all that does not change with the coefficients.
            self._prepared = rows.values.prepared(self._leaves(rows))
        inner = rows.values.finished(self._prepared, self._inner.size // len(self._inner))
        self._inner[:] = inner.reshape(self._inner.shape)
        for end in self.moments.ends:
            self.left[:, end.rows] = end.residual(self.coefficients, self.moved) if ends else 0.0
        return self.left

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
        if self._bands is None:
            # What is zero stays so.
            bands = np.zeros((2, lay.high * lay.size))
            self._bands = bands, lay.blocks(bands)
        bands, blocks = self._bands
        for end in self.moments.ends:
            bands[:, lay.of_end(end.side, len(end.own))] = 0.0
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
            summed = np.matmul(factors, across)
            np.multiply(summed, every[unknown % len(every)], out=stiff[..., row, :, unknown])
        for (row, unknown), factors in of_rates.items():
            if isinstance(factors, np.ndarray):
                held = np.matmul(factors, across[:, :, : factors.shape[-1]])
            else:
                held = factors * across[:, :, :1]
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
        over, mixed = moments.over[:, which], self.rates.shape[1]
        shape = (self.levels.shape[2], *over.shape[1:])
        v = None if moments.still else moments.frame.positions[1][:, None] * over[1]
        of_rates: _Factors = {}
        of_levels = {pair: np.zeros((*shape, len(over))) for pair in rows.pairs}
        # Terms of levels come before those of rates, which are added to them.
        for c, (row, unknown, space, time) in zip(self._found(which), rows.terms, strict=True):
            own, plain = c, of_levels[row, unknown]
            if isinstance(c, np.ndarray) and c.ndim:
                own = c.reshape(shape)
            if not time:
                np.multiply(own, over[space], out=plain[..., space])
                continue
            own = own * over[space] if space else own
            if mixed == 1 and not isinstance(own, np.ndarray):
                of_rates[row, unknown] = own
            else:
                rates = of_rates.setdefault((row, unknown), np.zeros((*shape, mixed)))
                rates[..., space] = own
            if v is not None:
                plain[..., space + 1] -= own * v
                if space:
                    plain[..., space] -= space * (moments.stretch * over[1]) * own
        return of_rates, of_levels

    def _found(self, which: slice) -> list[Any]:
        """Return the factors of all terms of the equations at some moments, (q S N,) or numbers."""
        moments, rows = self.moments, self.moments.discrete.equations
        here = self.levels[..., which, :], self.rates[..., which, :]
        places: Leaves = {}
        if rows.placed:
            shape = self.levels.shape[2:]
            places = {k: x.reshape(shape)[:, which].ravel() for k, x in moments.coordinates.items()}
        return rows.tangents.found(moments.discrete.leaves(rows.tangents, places, *here))
