"""The auxiliary solver: an exponentially fitted scheme on any grid, any order, any conditions.

Used to find layers before any kernel exists, and afterwards to solve the error equation
L e = f - L u. Unknowns at each node are u, u', ..., w = u^(m-2) (u alone up to order two). With w
the equation is of second order,

    a w'' + b w' + c w = f - sum_{j < m-2} c_j u^(j);

each cell gives its end slopes of w from its end values, slopes must agree at nodes, and
u^(j)' = u^(j+1) is the trapezoidal rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dgbsv, dgtsv
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from sharpfront.arrays import FloatArray, all_finite
from sharpfront.estimate.cell_rows import CellRow, too_high
from sharpfront.estimate.exponential_fitting import Slopes, first_order_rows, slopes
from sharpfront.problem.line_problem import LinearCondition, Term

# The values of conditions.
Values = Sequence[float] | FloatArray
GridSolver = Callable[[FloatArray, FloatArray], FloatArray]

# Rows of conditions may be smaller than those of cells by this power of two: three digits of
# sixteen, where cells are right to three.
HARMLESS = 10


class SingularCellsError(Exception):
    """The discrete operator with its conditions has no unique solution; handled by callers."""


class Grid(NamedTuple):
    """Nodes (n + 1,), exact cell lengths (n,), and cell middles (n,)."""

    nodes: FloatArray
    steps: FloatArray
    middles: FloatArray


def grid(nodes: FloatArray) -> Grid:
    """Return the grid with these nodes."""
    left, right = nodes[:-1], nodes[1:]
    return Grid(nodes, right - left, 0.5 * (right + left))


class CellSystem:
    """The discrete operator of one grid, factored once for several right-hand sides.

    Coefficients c_0, ..., c_m are those at the middles, (m + 1, n); there are m conditions. Slopes
    are known from a system with other conditions.
    """

    def __init__(
        self,
        points: Grid,
        coefficients: FloatArray,
        conditions: Sequence[LinearCondition],
        slopes: Slopes | None = None,
    ) -> None:
        self.grid = points
        self.order = len(coefficients) - 1
        self.coefficients = coefficients
        self.conditions = tuple(conditions)
        # Unknowns at each node.
        self.levels = max(1, self.order - 1)
        self.slopes = self._fitted() if slopes is None else slopes
        self._ends = self._one_condition_at_each_end()
        if self._ends is not None:
            self._diagonals = self._tridiagonal(*self._ends)
        else:
            if self.order == 1:
                self._first = first_order_rows(coefficients[0], coefficients[1], points.steps)
            self._rows = [CellRow(self, c) for c in self.conditions]
            # All conditions of an equation of order two may speak of the first cell.
            first = all(c < 2 for row in self._rows for c in row.columns)
            initial = self.order == 2 and len(self._rows) == 2 and first
            self._solver = self._marched() if initial else self._sparse()

    def solve(
        self,
        source: FloatArray,
        values: Values,
        definition: FloatArray | None = None,
    ) -> FloatArray:
        """Return u, ..., u^(m-1) at the nodes, (max(m, 2), n + 1).

        The source is that at the middles, (n,). `definition` is the residual of u^(m-2) = w in each
        cell, for an approximation that keeps both, (n,). The highest derivative is that of the
        cells' slopes, at order one of differences.
        """
        u = self._nodal(source, values, definition)
        if self.order == 1:
            slope = np.diff(u[0]) / self.grid.steps
            mean = 0.5 * (np.append(slope, slope[-1]) + np.append(slope[0], slope))
            return np.vstack([u, mean])
        s, w = self.slopes, u[-1]
        rest = source if self.levels == 1 else source.copy()
        for j in range(self.levels - 1):
            rest -= 0.5 * self.coefficients[j] * (u[j][1:] + u[j][:-1])
        out = np.empty((len(u) + 1, len(w)))
        out[:-1] = u
        out[-1, :-1] = s.ll * w[:-1] + s.lr * w[1:] + s.lf * rest
        out[-1, -1] = s.rl[-1] * w[-2] + s.rr[-1] * w[-1] + s.rf[-1] * rest[-1]
        return out

    def solve_u(
        self,
        source: FloatArray,
        values: Values,
        definition: FloatArray | None = None,
    ) -> FloatArray:
        """Return the first row of `solve` alone, u at the nodes, (n + 1,)."""
        return np.asarray(self._nodal(source, values, definition)[0])

    def solve_each(
        self, sources: Sequence[FloatArray], values: Sequence[Values]
    ) -> list[FloatArray]:
        """Return u at the nodes for each of some right-hand sides, (n + 1,) each."""
        if self._ends is None:
            return [self.solve_u(s, v) for s, v in zip(sources, values, strict=True)]
        return list(self._swept(sources, values))

    def _nodal(
        self, source: FloatArray, values: Values, definition: FloatArray | None
    ) -> FloatArray:
        """Return the unknowns of the scheme, (levels, n + 1)."""
        if self._ends is not None:
            return self._swept([source], [values])
        if self.order == 1:
            interior = self._first[2] * source
        else:
            interior = self.slopes.lf[1:] * source[1:] - self.slopes.rf[:-1] * source[:-1]
        if self.order > 2:
            others = np.zeros((self.order - 3) * len(source))
            last = np.zeros(len(source)) if definition is None else definition
            interior = np.concatenate([interior, others, last])
        ends = np.array(values, dtype=float)
        for r, row in enumerate(self._rows):
            # Less what the cells' sources add.
            for cell, factor in row.sources:
                ends[r] -= factor * source[cell]
        return np.asarray(self._solver(interior, ends).reshape(-1, self.levels).T)

    def _swept(self, sources: Sequence[FloatArray], values: Sequence[Values]) -> FloatArray:
        """Return the solutions of the tridiagonal system, (k, n + 1)."""
        assert self._ends is not None
        first, last = self._ends
        lf, rf = self.slopes.lf[1:], self.slopes.rf[:-1]
        rhs = np.zeros((len(sources), len(self.grid.nodes)))
        for row, source, known in zip(rhs, sources, values, strict=True):
            row[0], row[-1] = known[first], known[last]
            if np.count_nonzero(source):
                np.subtract(lf * source[1:], rf * source[:-1], out=row[1:-1])
                row[0] -= self._added[0] * source[0]
                row[-1] -= self._added[1] * source[-1]
            row[0] *= self._units[0]
            row[-1] *= self._units[1]
        *_, x, info = dgtsv(*self._diagonals, rhs.T, overwrite_b=True)
        return _finite(x, info).T

    def _fitted(self) -> Slopes:
        # At order one no cell has slopes; zeros keep the type simple and are never read.
        if self.order == 1:
            return Slopes(*[np.zeros(0)] * 6)
        rows = [*self.coefficients[:-4:-1], self.grid.steps]
        # The steps are asked first: they differ on all grids but the first.
        if all(map(_constant, reversed(rows))):
            # All cells are alike, as on the first grid of an equation with constant coefficients.
            every = np.empty((6, len(self.grid.steps)))
            every[:] = slopes(*[row[:1] for row in rows])
            return Slopes(*every)
        return slopes(*rows)

    def _one_condition_at_each_end(self) -> tuple[int, int] | None:
        """Return the conditions of the left and right end, if that is all there is at order 2."""
        if self.order != 2 or len(self.conditions) != 2:
            return None
        one, other = [
            {t.x if isinstance(t, Term) else None for t in c.terms} for c in self.conditions
        ]
        low, high = {float(self.grid.nodes[0])}, {float(self.grid.nodes[-1])}
        if one == low and other == high:
            return 0, 1
        return (1, 0) if one == high and other == low else None

    def _tridiagonal(self, first: int, last: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the diagonals of the system, the lower one first."""
        s, n = self.slopes, len(self.grid.steps)
        lower, upper, diagonal = np.empty(n), np.empty(n), np.empty(n + 1)
        lower[:-1] = s.rl[:-1]
        np.subtract(s.rr[:-1], s.ll[1:], out=diagonal[1:-1])
        np.negative(s.lr[1:], out=upper[1:])
        left, right = self.conditions[first], self.conditions[last]
        diagonal[0], upper[0], begun = _end_row(left, float(s.ll[0]), float(s.lr[0]))
        diagonal[n], lower[-1], ended = _end_row(right, float(s.rr[-1]), float(s.rl[-1]))
        # What the sources of the end cells add to the conditions.
        self._added = begun * float(s.lf[0]), ended * float(s.rf[-1])
        begin = _unit((diagonal[0], upper[0]), (s.ll[0], s.lr[0]))
        end = _unit((diagonal[n], lower[-1]), (s.rr[-1], s.rl[-1]))
        diagonal[0], upper[0] = begin * diagonal[0], begin * upper[0]
        diagonal[n], lower[-1] = end * diagonal[n], end * lower[-1]
        self._units = begin, end
        return lower, diagonal, upper

    def _marched(self) -> GridSolver:
        """Return the solver of initial values: from one cell to the next."""
        s, n = self.slopes, len(self.grid.steps)
        # Rows are the conditions and the cells' after them; diagonals as LAPACK keeps a band.
        band = np.zeros((6, n + 1))
        units = np.array([_unit(row.weights, (s.ll[0], s.lr[0])) for row in self._rows])
        for r, row in enumerate(self._rows):
            for c, w in zip(row.columns, row.weights, strict=True):
                band[3 + r - c, c] += units[r] * w
        band[5, :-2], band[4, 1:-1], band[3, 2:] = s.rl[:-1], s.rr[:-1] - s.ll[1:], -s.lr[1:]
        _finite(band, 0)

        def solve(interior: FloatArray, values: FloatArray) -> FloatArray:
            *_, x, info = dgbsv(2, 1, band, np.concatenate([units * values, interior]))
            return _finite(x, info)

        return solve

    def _sparse(self) -> GridSolver:
        """Return the solver of every other case: sparse LU with equilibrated rows."""
        rows, columns, data = self._entries()
        size = self.levels * len(self.grid.nodes)
        count = size - len(self._rows)
        for r, row in enumerate(self._rows):
            rows.append(np.full(len(row.columns), count + r))
            columns.append(np.array(row.columns))
            data.append(np.array(row.weights))
        entries = np.concatenate(data)
        _finite(entries, 0)
        matrix = csc_matrix(
            (entries, (np.concatenate(rows), np.concatenate(columns))), shape=(size, size)
        )
        scale = 1.0 / np.maximum(abs(matrix).max(axis=1).toarray().ravel(), 1e-300)
        # A dense row must not become a pivot early, or it would fill everything.
        scale[np.bincount(matrix.indices, minlength=size) > 20 * self.levels] *= 1e-12
        try:
            # Columns go node by node, so the natural order keeps the fill banded.
            factor = splu(csc_matrix(matrix.multiply(scale[:, None])), permc_spec="NATURAL")
        except RuntimeError as error:
            raise SingularCellsError("the difference equations are singular") from error
        return lambda interior, values: _finite(
            factor.solve(scale * np.concatenate([interior, values])), 0
        )

    def _entries(self) -> tuple[list[Any], list[Any], list[FloatArray]]:
        k, n, h = self.levels, len(self.grid.steps), self.grid.steps
        i = np.arange(n)
        if self.order == 1:
            return [i, i], [i, i + 1], list(self._first[:2])
        s, w = self.slopes, k - 1
        row = np.arange(n - 1)
        rows, columns = [row] * 3, [k * row + w, k * (row + 1) + w, k * (row + 2) + w]
        data = [s.rl[:-1], s.rr[:-1] - s.ll[1:], -s.lr[1:]]
        for j in range(k - 1):
            left = -0.5 * s.rf[:-1] * self.coefficients[j][:-1]
            right = 0.5 * s.lf[1:] * self.coefficients[j][1:]
            rows += [row] * 3
            columns += [k * row + j, k * (row + 1) + j, k * (row + 2) + j]
            data += [left, left + right, right]
            box = n - 1 + j * n + i
            rows += [box] * 4
            columns += [k * i + j, k * (i + 1) + j, k * i + j + 1, k * (i + 1) + j + 1]
            data += [-1.0 / h, 1.0 / h, np.full(n, -0.5), np.full(n, -0.5)]
        return rows, columns, data


@lru_cache(maxsize=32)
def irregular_signs(count: int) -> FloatArray:
    """Return signs without a period, (count,): a source that agrees with nothing."""
    return np.asarray(np.sign(np.sin(1.0 + np.arange(count) ** 2.0)))


def _constant(row: FloatArray) -> bool:
    """Tell whether a row is constant up to rounding."""
    first = float(row[0])
    rounding = 1e-13 * abs(first)
    # Most that vary show it at once.
    if not (abs(row[-1] - first) <= rounding and abs(row[len(row) // 3] - first) <= rounding):
        return False
    return float(np.maximum.reduce(row)) - float(np.minimum.reduce(row)) <= rounding


def _end_row(condition: LinearCondition, near: float, far: float) -> tuple[float, float, float]:
    """Return the factors of u at an end, of its neighbour and of u' in a condition of order two.

    The slope there is near u + far u_neighbour + ...
    """
    value = slope = 0.0
    for term in condition.terms:
        if term.order > 1:
            raise too_high(2, term.order)
        if term.order and isinstance(term, Term):
            slope += term.weight
        elif isinstance(term, Term):
            value += term.weight
    return value + slope * near, slope * far, slope


def _unit(condition: Sequence[float], cell: Sequence[float]) -> float:
    """Return the power of two that makes a condition's row about as large as that of its cell.

    A row far smaller than the others is no pivot: elimination would carry it from cell to cell,
    which is shooting, and lose as many digits as it is smaller.
    """
    row, beside = max(map(abs, condition)), max(map(abs, cell))
    if not 0.0 < row < math.inf or not 0.0 < beside < math.inf:
        return 1.0
    power = math.frexp(beside)[1] - math.frexp(row)[1]
    return math.ldexp(1.0, min(power, 1000)) if power > HARMLESS else 1.0


def _finite(x: FloatArray, info: int) -> FloatArray:
    if info != 0 or not all_finite(x):
        raise SingularCellsError("the difference equations are singular")
    return x
