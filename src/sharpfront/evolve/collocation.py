"""Equations and conditions at Gauss points and ends, at some moments of a moving mesh."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.discrete import Discrete, Leaves, Rows
from sharpfront.evolve.ends import End
from sharpfront.pieces.frame import Frame

# Factors of derivatives by equation and unknown, (q, N, orders) each.
_Factors = dict[tuple[int, int], FloatArray]


class Moments:
    """A moving mesh at some moments, (S,), counted from t on, at which the frame is."""

    def __init__(self, discrete: Discrete, frame: Frame, t: float, later: FloatArray) -> None:
        self.discrete, self.frame = discrete, frame
        self.t, self.later = t + later, later
        self.layout = discrete.layout(frame)
        self.still = not frame.moves

    @cached_property
    def stretch(self) -> FloatArray:
        """How fast elements become longer, (N,)."""
        return self.frame.lengths[1]

    @cached_property
    def d(self) -> FloatArray:
        """Scales of the functions, (size, S, N); S is 1 if nothing moves."""
        return np.asarray(self._scales[0])

    @cached_property
    def d_rate(self) -> FloatArray:
        """Their rates."""
        return np.asarray(self._scales[1])

    @cached_property
    def _scales(self) -> FloatArray:
        return self.frame.scales_over(self.later)

    @cached_property
    def over(self) -> FloatArray:
        """h^-k, (levels + 1, S, N)."""
        h = self.frame.lengths[0]
        out = np.empty((self.discrete.levels + 1, len(self.later), len(h)))
        out[0] = 1.0
        now = h if self.still else h + np.multiply.outer(self.later, self.stretch)
        np.divide(1.0, now, out=out[1])
        for k in range(2, len(out)):
            np.multiply(out[k - 1], out[1], out=out[k])
        return out

    @cached_property
    def coordinates(self) -> Leaves:
        """Place and time at the Gauss points."""
        x, v = self.frame.positions
        places = x[:, None] if self.still else x[:, None] + self.later[:, None] * v[:, None]
        t, places = np.broadcast_arrays(self.t[:, None], places)
        return self.discrete.coordinates(places.ravel(), t.ravel())

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """Ends at which something holds; a ring has none."""
        sides = () if self.frame.ring else (0, 1)
        return tuple(End(self, side) for side in sides if len(self.discrete.sides[side]))

    @cached_property
    def has_plain_ends(self) -> bool:
        """Whether conditions are linear, and the same but for what is given at all moments."""
        return all(e.fixed is not None and len(e.fixed.matrix) == 1 for e in self.ends)


class Tangents(NamedTuple):
    """Factors of rates or of levels in rows: blocks (q, N, K, size, K), and ends by their side."""

    inside: FloatArray
    ends: dict[int, FloatArray]

    def plus(self, other: Tangents, share: FloatArray) -> Tangents:
        """Return others added to these times shares, one for each of a new first axis."""
        return Tangents(
            _plus(self.inside, other.inside, share),
            {side: _plus(own, other.ends[side], share) for side, own in self.ends.items()},
        )


def _plus(one: FloatArray, other: FloatArray, share: FloatArray) -> FloatArray:
    found = np.multiply.outer(share, one)
    found += other
    return found


class Fields:
    """The unknowns at Gauss points, from coefficients and rates at moments, (S, n, K) each.

    Both arrays are kept; who changes them in place says so by `stale`.
    """

    def __init__(self, moments: Moments, levels: FloatArray, rates: FloatArray) -> None:
        self.moments, self.coefficients, self.moved = moments, levels, rates
        frame, discrete = moments.frame, moments.discrete
        tables = frame.tables.inside(discrete.levels)
        q, size = tables.shape[1:]
        shape = (levels.shape[2], size, len(levels), frame.elements)
        self._own, self._moving = self._gathered()
        self._scaled, self._spare = np.empty((2, *shape))
        self._flat = self._scaled.reshape(shape[0], size, -1)
        # Derivatives along x, of the unknowns and of their rates: (K, orders, q, S, N).
        self.levels = np.empty((shape[0], len(tables), q, *shape[2:]))
        self.rates = np.empty((shape[0], discrete.mixed + 1, *self.levels.shape[2:]))
        # Both with moments and elements as one, and tables for them.
        self._fields = [f.reshape(*f.shape[:3], -1) for f in (self.levels, self.rates)]
        self._products = [f.reshape(shape[0], f.shape[1] * q, -1) for f in self._fields]
        flat = tables.reshape(-1, size)
        self._tables = flat, flat[: (discrete.mixed + 1) * q]
        self._over = moments.over.reshape(len(tables), 1, -1)
        if not moments.still:
            v = np.repeat(frame.positions[1][:, None], len(levels), axis=1)
            self._v, self._spare_rate = v.reshape(q, -1), np.empty_like(self._fields[1])
        # What equations and conditions leave, (S, size), and the part inside, (K, q, S, N).
        self.left = np.empty((len(levels), moments.layout.size))
        first, last = moments.layout.left, moments.layout.size - len(discrete.sides[1])
        inner = self.left[:, first:last].reshape(len(levels), frame.elements, q, -1)
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
        moments, scaled = self.moments, self._scaled
        if moments.frame.ring:
            self._own, self._moving = self._gathered()
        np.multiply(self._own, moments.d, out=scaled)
        np.matmul(self._tables[0], self._flat, out=self._products[0])
        slopes = self._fields[0][:, 1:]
        np.multiply(slopes, self._over[1:], out=slopes)
        np.multiply(self._moving, moments.d, out=scaled)
        if not moments.still:
            np.multiply(self._own, moments.d_rate, out=self._spare)
            np.add(scaled, self._spare, out=scaled)
        np.matmul(self._tables[1], self._flat, out=self._products[1])
        if moments.discrete.mixed:
            self._fields[1][:, 1:] *= self._over[1 : moments.discrete.mixed + 1]
        if not moments.still:
            self._carried()

    def _carried(self) -> None:
        """Make rates in a frame at rest of those in the moving one.

        d^k/dx^k u_t = d^k/dx^k U_t - v d^(k+1) u - k v_x d^k u.
        """
        moments, (levels, rates) = self.moments, self._fields
        m = moments.discrete.mixed
        np.multiply(self._v, levels[:, 1 : m + 2], out=self._spare_rate)
        np.subtract(rates, self._spare_rate, out=rates)
        for k in range(1, m + 1):
            self.rates[:, k] -= k * moments.stretch * moments.over[1] * self.levels[:, k]

    @cached_property
    def _leaves(self) -> Leaves:
        """The leaves at the Gauss points: views of the fields, without place and time."""
        return self.moments.discrete.leaves({}, *self._fields)

    def leaves(self, rows: Rows) -> Leaves:
        """Return the leaves of rows at the Gauss points."""
        if rows.placed:
            self._leaves.update(self.moments.coordinates)
        return self._leaves

    def residual(self, ends: bool = True) -> FloatArray:
        """Return what equations and conditions leave, (S, size); without ends, zero there."""
        discrete = self.moments.discrete
        return self.rows_of(discrete.equations, discrete.sides if ends else [])

    def rows_of(self, equations: Rows, sides: list[Rows]) -> FloatArray:
        """Return the values of rows inside and at both ends, zero there without any, (S, size)."""
        if self.stale:
            self._update()
        out, count = self.left, self.levels[0, 0].size
        inner = equations.values.run(self.leaves(equations), count)
        self._inner[:] = inner.reshape(self._inner.shape)
        for end in self.moments.ends:
            out[:, end.rows] = (
                end.residual(sides[end.side], self.coefficients, self.moved) if sides else 0.0
            )
        return out

    def tangents(self, i: int) -> tuple[Tangents, Tangents]:
        """Return d residual / d rates and / d levels at a moment."""
        if self.stale:
            self._update()
        moments = self.moments
        tables, k = moments.frame.tables, moments.discrete.unknowns
        shape = (tables.points, moments.layout.elements, k, tables.size, k)
        mass, stiff = np.zeros((2, *shape)) if k > 1 else np.empty((2, *shape))
        of_rates, of_levels = self._factors(i)
        across, at = tables.across(moments.discrete.levels), 0 if moments.still else i
        d, d_rate = moments.d[:, at].T, moments.d_rate[:, at].T
        # Sums over derivatives at each Gauss point, (q, N, orders) with (q, orders, size).
        for (row, unknown), factors in of_levels.items():
            np.multiply(factors @ across, d, out=stiff[:, :, row, :, unknown])
        for (row, unknown), factors in of_rates.items():
            held = factors @ across[:, : factors.shape[2]]
            np.multiply(held, d, out=mass[:, :, row, :, unknown])
            if not moments.still:
                stiff[:, :, row, :, unknown] += held * d_rate
        both = self.coefficients, self.moved
        ends = [(end.side, *end.tangents(*both, i)) for end in moments.ends]
        return (
            Tangents(mass, {side: own for side, own, _ in ends}),
            Tangents(stiff, {side: own for side, _, own in ends}),
        )

    def bands(self, i: int) -> tuple[FloatArray, FloatArray]:
        """Return the same as flat bands."""
        lay, one = self.moments.layout, np.ones(1)
        mass, stiff = self.tangents(i)
        nothing = mass.plus(mass, -one)
        return lay.bands(*mass.plus(nothing, one))[0], lay.bands(*stiff.plus(nothing, one))[0]

    def _factors(self, i: int) -> tuple[_Factors, _Factors]:
        """Return factors of derivatives of rates and of levels at a moment.

        The mesh moves, so that rates hold derivatives of the coefficients themselves.
        """
        moments, rows = self.moments, self.moments.discrete.equations
        over = moments.over[:, i]
        shape = (self.levels.shape[2], moments.frame.elements)
        v = None if moments.still else moments.frame.positions[1] * over[1]
        of_rates: _Factors = {}
        of_levels: _Factors = {}
        for c, (row, unknown, space, time) in zip(self._coefficients(i), rows.terms, strict=True):
            own = c.reshape(shape) * over[space] if space else c.reshape(shape)
            plain = of_levels.get((row, unknown))
            if plain is None:
                plain = of_levels[row, unknown] = np.zeros((*shape, len(over)))
            if not time:
                plain[..., space] += own
                continue
            rates = of_rates.setdefault((row, unknown), np.zeros((*shape, self.rates.shape[1])))
            rates[..., space] += own
            if v is not None:
                plain[..., space + 1] -= own * v
                if space:
                    plain[..., space] -= space * (moments.stretch * over[1]) * own
        return of_rates, of_levels

    def _coefficients(self, i: int) -> FloatArray:
        """Return the factors of all terms of the equations at a moment, (terms, q N)."""
        moments, rows = self.moments, self.moments.discrete.equations
        here = self.levels[..., i, :], self.rates[..., i, :]
        places: Leaves = {}
        if rows.placed:
            shape = self.levels.shape[2:]
            places = {k: x.reshape(shape)[:, i].ravel() for k, x in moments.coordinates.items()}
        leaves = moments.discrete.leaves(places, *here)
        return rows.tangents.run(leaves, here[0][0, 0].size)
