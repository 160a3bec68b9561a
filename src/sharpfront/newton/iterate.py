"""What a nonlinear problem is linearised about: any function with derivatives, however made.

Newton's equation about functions p_j in the place of the derivatives D_j u is solved by u with an
equation's residual of second order in D_j u - p_j. The p_j need not be exact, nor even each other's
derivatives, so a guess may be differenced and a grid function interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.line_basis import LineBasis
from sharpfront.equation.expression import Coordinate, Expression, as_expression
from sharpfront.equation.graph import evaluate as evaluate_expression
from sharpfront.equation.values import environment
from sharpfront.errors import EquationError, ProblemError
from sharpfront.estimate.cells import Grid, grid
from sharpfront.solution.approximation import Approximation

# Steps of differences, as part of the domain's size: the best ones for first derivatives and
# nearly so for second ones.
_STEP = 1e-4
# Arrays of points that an iterate remembers its values at.
_REMEMBERED = 16


class Iterate(Protocol):
    """Something with values and derivatives at points."""

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return d^orders of an unknown at points (m, d), (m,)."""


@dataclass(frozen=True, eq=False)
class Constants:
    """Each derivative of each unknown a number, zero unless given."""

    numbers: dict[tuple[str, tuple[int, ...]], float] = field(default_factory=dict)

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return the number at every point."""
        return np.full(len(points), self.number(unknown, orders))

    def number(self, unknown: str, orders: Sequence[int]) -> float:
        """Return the number of one derivative."""
        return self.numbers.get((unknown, tuple(orders)), 0.0)


@dataclass(frozen=True, eq=False)
class Traced:
    """A guess written with NumPy: its derivatives are exact."""

    expressions: dict[str, Expression]
    coordinates: tuple[str, ...]

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return the derivative of the recorded function."""
        expression = self.expressions[unknown]
        for name, times in zip(self.coordinates, orders, strict=True):
            expression = expression.d(name, times) if times else expression
        leaves = environment(self.coordinates, points)
        return np.broadcast_to(evaluate_expression(expression, leaves), (len(points),))


@dataclass(frozen=True, eq=False)
class Differenced:
    """Any vectorised function; derivatives by central differences that stay inside the bounds."""

    functions: dict[str, Callable[..., Any]]
    bounds: FloatArray

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return differences of the function."""
        low, high = self.bounds
        total = max(sum(orders), 1)
        step = _STEP ** (2.0 / (total + 1)) * (high - low)
        reach = 0.5 * step * np.asarray(orders)
        middle = np.clip(points, low + reach, high - reach)
        return self._difference(unknown, middle, list(orders), step)

    def _difference(
        self, unknown: str, points: FloatArray, orders: list[int], step: FloatArray
    ) -> FloatArray:
        axis = next((i for i, n in enumerate(orders) if n), None)
        if axis is None:
            values = np.asarray(self.functions[unknown](*points.T), dtype=float)
            return np.broadcast_to(values, (len(points),))
        lower = [n - (i == axis) for i, n in enumerate(orders)]
        shift = np.zeros(points.shape[1])
        shift[axis] = 0.5 * step[axis]
        right = self._difference(unknown, points + shift, lower, step)
        left = self._difference(unknown, points - shift, lower, step)
        return np.asarray((right - left) / step[axis])


@dataclass(frozen=True, eq=False)
class Blend:
    """A weighted sum of iterates."""

    parts: tuple[tuple[float, Iterate], ...]

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return the sum of the parts' values."""
        return np.asarray(sum(w * part.values(unknown, points, orders) for w, part in self.parts))


def blended(old: Iterate, new: Iterate, share: float) -> Iterate:
    """Return old + share * (new - old)."""
    return new if share == 1.0 else Blend(((1.0 - share, old), (share, new)))


@dataclass(frozen=True, eq=False)
class LineTable:
    """Nodal values of u, ..., u^(m-1) on a grid of the line, linear in between."""

    nodes: FloatArray  # (n + 1,)
    levels: FloatArray  # (m, n + 1)

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return interpolated values; derivatives are differences, exact means of their cells.

        At the middles, where the scheme wants them, they then are the derivatives of what the
        scheme means, and Newton's method converges on cells that do not resolve the solution.
        """
        (order,), x, own = orders, points[:, 0], grid(self.nodes)
        wanted = len(x) == len(own.middles) and bool((x == own.middles).all())
        if order == 0 and not wanted:
            return self._between(x)
        means = self.means(own, orders)[order]
        return means if wanted else np.asarray(np.interp(x, own.middles, means))

    def on(self, nodes: FloatArray) -> LineTable:
        """Return the table on other nodes."""
        return LineTable(nodes, np.array([np.interp(nodes, self.nodes, r) for r in self.levels]))

    def _between(self, x: FloatArray) -> FloatArray:
        """Return the cubics through values and slopes of neighbouring nodes.

        No slope is larger than three times that of its cell, or of both cells beside that.
        """
        nodes, u = self.nodes, self.levels[0]
        h = nodes[1:] - nodes[:-1]
        seen = np.abs((u[1:] - u[:-1]) / h)
        around = seen.copy()
        around[1:-1] = np.maximum(seen[1:-1], np.minimum(seen[2:], seen[:-2]))
        i = np.clip(np.searchsorted(nodes, x) - 1, 0, len(h) - 1)
        t, most = (x - nodes[i]) / h[i], 3.0 * around[i]
        s = 1.0 - t
        begin, end = (np.clip(self.levels[1][j], -most, most) * h[i] for j in (i, i + 1))
        left = s * s * ((1.0 + 2.0 * t) * u[i] + t * begin)
        return np.asarray(left + t * t * ((1.0 + 2.0 * s) * u[i + 1] - s * end))

    def means(self, points: Grid, orders: Iterable[int]) -> dict[int, FloatArray]:
        """Return derivatives at the middles of the table's own grid, (n,) each."""
        out: dict[int, FloatArray] = {}
        for j in orders:
            if j > len(self.levels):
                out[j] = np.zeros(len(points.steps))
                continue
            level = self.levels[max(j - 1, 0)]
            ahead, behind = level[1:], level[:-1]
            out[j] = (ahead - behind) / points.steps if j else 0.5 * (ahead + behind)
        return out


class Interpolated:
    """An iterate of the line, known to few digits but fast: splines through its derivatives.

    Those of order 0 to `orders` at positions x.
    """

    def __init__(self, iterate: Iterate, name: str, orders: int, x: FloatArray) -> None:
        from scipy.interpolate import CubicSpline

        rows = [iterate.values(name, x[:, None], (j,)) for j in range(orders + 1)]
        self._splines = [CubicSpline(x, row) for row in rows]

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return the spline of that order."""
        return np.asarray(self._splines[orders[0]](points[:, 0]))


@dataclass(frozen=True, eq=False)
class Remembered:
    """An iterate that is asked at the same points again and again: each is computed once.

    On the line all derivatives come from one table of kernels at the points.
    """

    inner: Iterate
    highest: int = 0
    _known: dict[Any, FloatArray] = field(default_factory=dict, repr=False)

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return the values, from memory where they were asked for before."""
        place, inner = points.tobytes(), self.inner
        key = (unknown, tuple(orders), place)
        if key in self._known:
            return self._known[key]
        if len(self._known) >= _REMEMBERED * (self.highest + 1):
            self._known.clear()
        basis = inner.bases[unknown] if isinstance(inner, Approximation) else None
        if isinstance(inner, Approximation) and isinstance(basis, LineBasis):
            every = [(j,) for j in range(max(self.highest, orders[0]) + 1)]
            found = basis.several(inner.weights[unknown], points, every)
            for o, row in zip(every, found, strict=True):
                self._known[unknown, o, place] = row
        else:
            self._known[key] = inner.values(unknown, points, orders)
        return self._known[key]


def traced_or_differenced(
    functions: dict[str, Callable[..., Any]], coordinates: tuple[str, ...], bounds: FloatArray
) -> Iterate:
    """Return guesses given as functions: recorded where they are written with NumPy."""
    symbols = [Coordinate(name, coordinates) for name in coordinates]
    try:
        return Traced({u: as_expression(f(*symbols)) for u, f in functions.items()}, coordinates)
    except (TypeError, ValueError, AttributeError, EquationError):
        pass
    probe = np.array([0.5 * (bounds[0] + bounds[1])] * 2)
    for unknown, f in functions.items():
        values = np.asarray(f(*probe.T))
        if values.shape not in ((), (2,)) or values.dtype.kind not in "buif":
            raise ProblemError(
                f"The guess for {unknown} returned shape {values.shape} of type {values.dtype} at "
                "2 points; it must return one real value per point."
            )
    return Differenced(functions, bounds)
