"""One stretch of the line with its coordinate and its kernels, as rows of derivatives.

From order three on a piece carries two fields, u and w = u^(m-2), because rounding in a derivative
of order j grows as N^j: two derivatives are as many as double precision bears. The second field is
stored as W = w / xi'^(m-2), which like u is of order one inside a layer and outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.maps import chain
from sharpfront.pieces import tables
from sharpfront.pieces.coordinate import Coordinate, Points
from sharpfront.pieces.tables import Table
from sharpfront.problem.line_problem import IntegralTerm, LineProblem, Term, value


@dataclass(frozen=True, eq=False)
class Places:
    """Where a piece is fitted and where it is checked; found at once, inverting is the cost."""

    rows: Points
    nodes: Points
    middles: Points


@dataclass(frozen=True, eq=False)
class Piece:
    """A stretch, its coordinate, and its number of kernels."""

    coordinate: Coordinate  # the mixture's coordinate on the stretch
    kernels: int  # N
    # Where functions may be sampled: at a jump the ends are pulled to their own side of it.
    inside: tuple[float, float]
    order: int  # the order m of the equation

    @cached_property
    def width(self) -> int:
        """The number of functions of one field."""
        return tables.even_kernels(self.kernels).size

    @property
    def fields(self) -> int:
        """One field up to order two, two from order three on."""
        return 1 if self.order <= 2 else 2

    @property
    def size(self) -> int:
        """The number of columns."""
        return self.width * self.fields

    @property
    def tabulated(self) -> int:
        """The derivatives that tables must hold: two of w, and m - 2 of u to define it."""
        return max(min(self.order, 2), self.order - 2)

    def holds(self, x: float) -> bool:
        """Tell whether a position lies in the piece."""
        return self.coordinate.low <= x <= self.coordinate.high

    def sample(self, problem: LineProblem, points: Points) -> FloatArray:
        """Return coefficients and source at points of the piece, (m + 2, n)."""
        low, high = self.inside
        return problem.sample(np.minimum(np.maximum(points.x, low), high))

    @cached_property
    def places(self) -> Places:
        """Where the piece is fitted and checked."""
        s, (rows, middles, nodes) = tables.every_point(self.kernels)
        at = self.coordinate.invert(s)
        anchor, offset = at.anchor, at.offset
        # No equation holds at nodes.
        rates = self.rates(Points(anchor[: nodes.start], offset[: nodes.start]))
        return Places(
            Points(anchor[rows], offset[rows], rates[:, rows]),
            Points(anchor[nodes], offset[nodes]),
            Points(anchor[middles], offset[middles], rates[:, middles]),
        )

    def rates(self, points: Points) -> FloatArray:
        """Return as many derivatives of the coordinate as rows need."""
        if points.rates is not None:
            return points.rates
        highest = self.tabulated if self.fields == 1 else max(3, self.tabulated)
        return self.coordinate.derivatives(points, highest)


def operator_rows(
    problem: LineProblem, piece: Piece, table: Table, points: Points
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the equation on the piece's functions at tabulated points, its source and its data.

    They are (r, size), (r,), and the sampled coefficients and source (m + 2, n). With two fields
    there are two rows a point: the equation written with w, and u^(m-2) - w = 0.
    """
    data, d = piece.sample(problem, points), piece.rates(points)
    if piece.fields == 1:
        return _combined(table, d, data[:-1]), data[-1], data
    low, n, k = problem.order - 2, len(table.points), piece.width
    matrix = np.zeros((2 * n, 2 * k))
    matrix[:n, :k] = _combined(table, d, data[:low])
    matrix[:n, k:] = _combined(table, d, _unscaled(d, low, data[low:-1]))
    matrix[n:, :k] = _combined(table, d, _unit(low, n))
    matrix[n:, k:] = _combined(table, d, _unscaled(d, low, -np.ones((1, n))))
    return matrix, np.concatenate([data[-1], np.zeros(n)]), data


def derivative_rows(piece: Piece, table: Table, points: Points, order: int) -> FloatArray:
    """Return u^(order) of every column at tabulated points, (n, size)."""
    if order == 0 and piece.fields == 1:
        return np.asarray(table.values[0])
    d = piece.coordinate.derivatives(points, 4)
    field, coefficients = _held(piece.order, d, order)
    out = np.zeros((len(table.points), piece.size))
    out[:, field * piece.width : (field + 1) * piece.width] = _combined(table, d, coefficients)
    return out


def end_rows(piece: Piece, order: int) -> FloatArray:
    """Return u^(order) of every column at both ends, (2, size)."""
    table = tables.end_table(piece.kernels, max(2, _level(piece.order, order)))
    return derivative_rows(piece, table, piece.coordinate.ends, order)


def term_row(piece: Piece, term: Term) -> FloatArray:
    """Return u^(order)(x) on the piece's columns, (size,)."""
    c = piece.coordinate
    if term.x in (c.low, c.high):
        return np.asarray(end_rows(piece, term.order)[0 if term.x == c.low else 1])
    points = c.nearest(np.array([term.x]))
    table = tables.even_kernels(piece.kernels).table(
        c.xi(points), max(2, _level(piece.order, term.order))
    )
    return np.asarray(derivative_rows(piece, table, points, term.order)[0])


def integral_row(piece: Piece, term: IntegralTerm) -> FloatArray:
    """Return the piece's part of an integral, by Gauss-Legendre in its coordinate, (size,)."""
    table, points, weight = _quadrature(piece, term)
    return np.asarray(weight @ derivative_rows(piece, table, points, term.order))


def integrated_weight(piece: Piece, term: IntegralTerm) -> float:
    """Return the piece's part of the integral of the weight alone, by the same rule."""
    return float(np.sum(_quadrature(piece, term)[2]))


def _quadrature(piece: Piece, term: IntegralTerm) -> tuple[Table, Points, FloatArray]:
    """Return functions, points and weights of Gauss-Legendre in the piece's coordinate."""
    table, w = tables.quadrature_table(piece.kernels, 2)
    points = piece.coordinate.invert(table.points)
    jacobian = 1.0 / piece.coordinate.derivatives(points, 1)[0]
    return table, points, w * jacobian * value(term.weight, np.clip(points.x, *piece.inside))


def evaluate(piece: Piece, weights: FloatArray, x: FloatArray, order: int) -> FloatArray:
    """Return u^(order) at positions x of the piece, (n,)."""
    points = piece.coordinate.nearest(x)
    d = piece.coordinate.derivatives(points, 4)
    field, coefficients = _held(piece.order, d, order)
    own = weights[field * piece.width : (field + 1) * piece.width]
    sums = tables.even_kernels(piece.kernels).sums(
        piece.coordinate.xi(points), own, len(coefficients) - 1
    )
    return np.asarray(np.sum(chain(d, coefficients) * sums, axis=0))


def _level(order: int, derivative: int) -> int:
    """Return which derivative of its field u^(derivative) is."""
    low = order - 2
    return derivative - low if low > 0 and derivative >= low else derivative


def _held(order: int, d: FloatArray, derivative: int) -> tuple[int, FloatArray]:
    """Return the field that holds u^(derivative), and its coefficients on that field."""
    low = order - 2
    plain = _unit(_level(order, derivative), d.shape[1])
    if low > 0 and derivative >= low:
        return 1, _unscaled(d, low, plain)
    return 0, plain


def _unit(order: int, n: int) -> FloatArray:
    """Return the coefficients of u^(order) alone, (order + 1, n)."""
    out = np.zeros((order + 1, n))
    out[order] = 1.0
    return out


def _unscaled(d: FloatArray, low: int, coefficients: FloatArray) -> FloatArray:
    """Return the coefficients on W of sum_j a_j w^(j), w = g W, g = xi'^low, j <= 2."""
    a = np.zeros((3, coefficients.shape[1]))
    a[: len(coefficients)] = coefficients
    g = d[0] ** low
    g1 = low * d[0] ** (low - 1) * d[1]
    g2 = low * d[0] ** (low - 1) * d[2] + low * (low - 1) * d[0] ** max(low - 2, 0) * d[1] ** 2
    out = np.array([a[0] * g + a[1] * g1 + a[2] * g2, a[1] * g + 2.0 * a[2] * g1, a[2] * g])
    return out[: len(coefficients)]


def _combined(table: Table, d: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return sum_j c_j u^(j) of every function of a field by the chain rule, (n, width)."""
    factors = chain(d, coefficients)
    pairs = zip(factors, table.values[: len(factors)], strict=True)
    # What an equation lacks, as those of layers do u itself, need not be added.
    first, *others = [(f, block) for f, block in pairs if np.count_nonzero(f)] or [
        (factors[0], table.values[0])
    ]
    matrix = first[0][:, None] * first[1]
    for factor, block in others:
        matrix += factor[:, None] * block
    return np.asarray(matrix)


def _applied(sums: FloatArray, d: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return sum_j c_j u^(j) from the derivatives of a field in its coordinate, (n,)."""
    factors = chain(d, coefficients)
    return np.asarray(np.add.reduce(factors * sums[: len(factors)], axis=0))


def remainder(
    problem: LineProblem, piece: Piece, table: Table, points: Points, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return u, what rows of `operator_rows` leave of it, (fields, n), and its data.

    Without the rows: sums of the functions' derivatives are all that is needed of them.
    """
    data, d = piece.sample(problem, points), piece.rates(points)
    sums = table.values @ weights[: piece.width]
    if piece.fields == 1:
        return sums[0], (data[-1] - _applied(sums, d, data[:-1]))[None], data
    low, second = problem.order - 2, table.values @ weights[piece.width :]
    known = _applied(sums, d, data[:low]) + _applied(second, d, _unscaled(d, low, data[low:-1]))
    minus = _unscaled(d, low, np.full((1, len(sums[0])), -1.0))
    gap = _applied(sums, d, _unit(low, len(sums[0]))) + _applied(second, d, minus)
    return sums[0], np.stack([data[-1] - known, -gap]), data
