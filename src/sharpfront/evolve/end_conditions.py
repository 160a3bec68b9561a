"""What holds at an end of a line, at some moments; the nodes there do not move."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.program import Program
from sharpfront.evolve.discretisation import Leaves, Rows

if TYPE_CHECKING:
    from sharpfront.evolve.collocation import Moments


class _Fixed(NamedTuple):
    """Rows whose factors are always the same: (S, rows, size * K), and what is given, (S, rows).

    Either has S = 1 if it is the same at all moments.
    """

    matrix: FloatArray
    given: FloatArray


class End:
    """The rows of an end: 0 is the left one, 1 the right one."""

    def __init__(self, moments: Moments, side: int) -> None:
        self.moments, self.side = moments, side
        self.own = moments.discrete.sides[side]
        size = moments.discrete.tables.size
        # Which coefficients its element has, and which rows of all are its own.
        self.which = slice(-size, None) if side else slice(None, size)
        count, own = moments.layout.size, len(self.own)
        self.rows = slice(count - own, count) if side else slice(0, own)
        # If their factors are always the same.
        self.fixed = None if self.own.fixed is None else self._fixed(self.own.fixed)

    def aim(self, again: bool) -> None:
        """Hold at other moments: of the same mesh at rest, or of another one."""
        self.__dict__.pop("_coordinates", None)
        if not again:
            self.__dict__.pop("_tables", None)
        if self.own.fixed is not None:
            self.fixed = self._fixed(self.own.fixed)

    @cached_property
    def _tables(self) -> tuple[FloatArray, FloatArray]:
        """The functions, (S, orders, size), and what their own change gives rates of them."""
        moments, e = self.moments, -self.side
        table = moments.frame.tables.ends(moments.discrete.levels)[:, self.side]
        over = moments.over[:, :, e].T[..., None]
        # Slopes do not bend beside an end: scales are the same for all unknowns.
        values = table * moments.d[0, ..., e].T[:, None] * over
        m = moments.discrete.mixed + 1
        carried = table[:m] * moments.d_rate[0, ..., e].T[:, None] * over[:, :m]
        orders = np.arange(m)[:, None]
        return values, carried - orders * (moments.stretch[e] * over[:, 1:2]) * values[:, :m]

    @cached_property
    def _coordinates(self) -> Leaves:
        moments = self.moments
        x = np.full(len(moments.t), moments.frame.nodes[-self.side])
        return moments.discrete.coordinates(x, moments.t)

    def leaves(self, program: Program, levels: FloatArray, rates: FloatArray | None) -> Leaves:
        """Return the leaves of a program from coefficients and rates, (S, n, K), if it has any."""
        values, carried = self._tables
        own = levels[:, self.which]
        found = (values @ own).transpose(2, 1, 0)
        rate = found[:, :0]
        if rates is not None:
            moved = values[:, : carried.shape[1]] @ rates[:, self.which] + carried @ own
            rate = moved.transpose(2, 1, 0)
        return self.moments.discrete.leaves(program, self._coordinates, found, rate)

    def _fixed(self, factors: list[float]) -> _Fixed:
        """Return its rows, whose factors are always the same."""
        discrete = self.moments.discrete
        given, held = discrete.given[self.side], discrete.held[self.side]
        if given is None:
            given = discrete.at_zero(self.own, self._coordinates, len(self.moments.t))
        if held is not None:
            return _Fixed(held, given)
        values = self._tables[0][: 1 if self.moments.still else None]
        matrix = np.zeros((len(values), len(self.own), values.shape[2], discrete.unknowns))
        for c, (i, j, space, _) in zip(factors, self.own.terms, strict=True):
            matrix[:, i, :, j] += c * values[:, space]
        return _Fixed(matrix.reshape(*matrix.shape[:2], -1), given)

    def residual(self, levels: FloatArray, rates: FloatArray) -> FloatArray:
        """Return what its rows leave, (S, rows)."""
        count, fixed = len(levels), self.fixed
        if fixed is None:
            return self.values(self.own, levels, rates)
        own = levels[:, self.which].reshape(count, -1)
        if len(fixed.matrix) == 1:
            return np.asarray(own @ fixed.matrix[0].T + fixed.given)
        return np.asarray((fixed.matrix @ own[..., None])[..., 0] + fixed.given)

    def values(self, rows: Rows, levels: FloatArray, rates: FloatArray) -> FloatArray:
        """Return the values of any rows here, (S, rows)."""
        program = rows.values
        leaves = {}
        if program.leaves:
            leaves = self.leaves(program, levels, rates if rows.timed else None)
        return program.run(leaves, len(levels)).T

    def tangents(self, levels: FloatArray, rates: FloatArray, which: slice) -> FloatArray:
        """Return the factors of rates and of levels at some moments, (2, S, rows, size, K)."""
        moments = self.moments
        count = len(range(*which.indices(len(moments.t))))
        shape = (count, len(self.own), moments.frame.tables.size, moments.discrete.unknowns)
        mass, stiff = out = np.zeros((2, *shape))
        if self.fixed is not None:
            matrix = self.fixed.matrix
            own = matrix if len(matrix) == 1 else matrix[which]
            stiff[:] = own.reshape(len(own), *shape[1:])
            return out
        values, carried = (table[which] for table in self._tables)
        program = self.own.tangents
        found = program.run(self.leaves(program, levels, rates), len(moments.t))[:, which]
        for c, (row, unknown, space, time) in zip(found[..., None], self.own.terms, strict=True):
            if time:
                mass[:, row, :, unknown] += c * values[:, space]
                stiff[:, row, :, unknown] += c * carried[:, space]
            else:
                stiff[:, row, :, unknown] += c * values[:, space]
        return out
