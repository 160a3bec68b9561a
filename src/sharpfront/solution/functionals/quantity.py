"""What is integrated or searched: an unknown, a derivative, or an expression of them.

Where a solution on the line takes a value.

Integrals over a domain, over a part of its boundary, and over time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.star_charts import on_surface, shell_of
from sharpfront.checks import finite, is_number
from sharpfront.equation.expression import Expression, apply, as_expression
from sharpfront.equation.graph import derivatives_in, ordered
from sharpfront.equation.text import parse
from sharpfront.equation.trace import Symbols, trace
from sharpfront.equation.weak import is_delta
from sharpfront.errors import DomainError, ProblemError
from sharpfront.geometry import Domain
from sharpfront.geometry.curves import Curve, Piece, Spot
from sharpfront.geometry.domain import BoundaryPoints
from sharpfront.geometry.patches import Face
from sharpfront.geometry.star_surface import squares_of
from sharpfront.geometry.surfaces import Surface
from sharpfront.maps import Shell
from sharpfront.problem.line_problem import integrate
from sharpfront.rounding import BISECTIONS, EPS
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.functionals.cells import (
    BoxCell,
    cells_of,
    line_edges,
    moments_of,
    subdivided,
    total,
)

# Moments of a step at which what is integrated over time is looked at: solutions are polynomials
# of degree three there.
MOMENTS = 4
# Cells along a smooth piece of boundary to begin with.
ALONG = 32


def integral(known: Known, of: Any = None, t: Any = None) -> Any:
    """Return the integral over the domain; `Solution.integral` says how."""

    def over(quantity: Quantity) -> float:
        return over_space(quantity, known.approximation, known.space, quantity.t, known.tol)

    asked = quantities(known, of, known.moment(t))
    return one_or_all({name: _over_time(known, q, over) for name, q in asked.items()})


def flux(known: Known, part: str, coefficient: Any = 1.0, t: Any = None) -> Any:
    """Return what passes a part of the boundary; `Solution.flux` says how."""
    asked, pieces = fluxes(known, coefficient, known.moment(t)), known.space.smooth_pieces(part)

    def over(quantity: Quantity) -> float:
        return sum(_over_piece(quantity, piece, max(known.tol, 1e-12)) for piece in pieces)

    return one_or_all({name: _over_time(known, q, over) for name, q in asked.items()})


def _over_time(known: Known, quantity: Quantity, over: Callable[[Quantity], float]) -> float:
    """Return what is found at the moment asked for, or its integral over all of them."""
    span = known.domain.time
    if quantity.t is not None or span is None:
        return over(quantity)
    ends = moments_of(known.approximation, span)
    z, w = np.polynomial.legendre.leggauss(MOMENTS)
    result = 0.0
    for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        for share, weight in zip(z.tolist(), w.tolist(), strict=True):
            t = 0.5 * (low * (1 - share) + high * (1 + share))
            at = Quantity(quantity.approximation, quantity.expression, t)
            result += 0.5 * (high - low) * weight * over(at)
    return result


def over_space(
    function: Callable[[FloatArray], FloatArray],
    approximation: Approximation,
    domain: Domain,
    t: float | None,
    tol: float,
) -> float:
    """Return the integral over a domain, at a moment, of what is made of an approximation."""
    if domain.dimension == 1:
        edges = line_edges(approximation, domain, t)
        return integrate(lambda x: function(x[:, None]), edges[0], edges[-1], edges, tol)
    return total(function, cells_of(approximation, domain), max(tol, 1e-13))


def _over_piece(quantity: Quantity, piece: Piece, tol: float) -> float:
    if isinstance(piece, Spot):
        return float(quantity.on(piece.spread(1, 0))[0])
    if isinstance(piece, Curve):
        edges = np.linspace(0.0, piece.measure, ALONG + 1)

        def along(arc: FloatArray) -> FloatArray:
            return quantity.on(piece.at(arc))

        return integrate(along, 0.0, piece.measure, edges, tol)
    if isinstance(piece, Face):
        face = piece
        unit = BoxCell(np.zeros(face.parameters), np.ones(face.parameters))
        return face.measure * total(lambda s: quantity.on(face.at(s)), [unit], tol)
    surface = Surface.of("", piece)
    if surface is not None and (squares := squares_of(surface)):
        whole = 0.0
        for shell in (shell_of(square, 1.0) for square in squares):

            def dense(at: FloatArray, shell: Shell = shell) -> FloatArray:
                found, areas = on_surface(shell, at)
                return quantity.on(found) * areas

            whole += total(dense, [BoxCell(np.zeros(2), np.array(shell.lengths))], tol)
        return whole
    raise DomainError(
        "Fluxes through curved or cut faces in space are not there yet. A rough value: the mean of "
        "the normal derivative at solution.domain.boundary(part, 10000), times "
        "solution.domain.boundary_measure(part)."
    )


# Places between two kernels that are looked at.
BETWEEN_ROOTS = 8
# Steps of the golden section towards a place where the value is nearly taken.
SECTIONS = 45
_GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)

Line = Callable[[FloatArray], FloatArray]


def roots(known: Known, level: Any = 0.0, of: Any = None, t: Any = None) -> Any:
    """Return where a value is taken, in increasing order; `Solution.roots` says how."""
    if known.space.dimension != 1:
        raise ProblemError("roots() are those of a solution on an interval; this one is not.")
    if t is None and known.domain.time is not None:
        raise ProblemError("roots() of a solution in time are those at a moment: give t=.")
    value, moment = finite(level, "level", attempt="level=0.5"), known.moment(t)
    x = subdivided(line_edges(known.approximation, known.space, moment), BETWEEN_ROOTS)
    found = {}
    for name, quantity in quantities(known, of, moment).items():

        def above(at: FloatArray, quantity: Any = quantity) -> FloatArray:
            return np.asarray(quantity(at[:, None]) - value)

        found[name] = _roots(above, x, known)
    return one_or_all(found)


def _roots(above: Line, x: FloatArray, known: Known) -> FloatArray:
    y = above(x)
    size = max(1.0, float(np.abs(y).max()))
    x, y = _with_nearest(above, x, y)
    crossing = np.flatnonzero(np.sign(y[:-1]) * np.sign(y[1:]) < 0)
    inner = _bisected(above, x[crossing], x[crossing + 1], np.sign(y[crossing]))
    # A touch that is closer than the solution is exact counts as one.
    near = max(known.error, 4 * EPS) * size
    valley = np.r_[False, (np.abs(y[1:-1]) <= np.abs(y[:-2])) & (np.abs(y[1:-1]) <= np.abs(y[2:]))]
    valley = np.r_[valley, False] & (np.abs(y) <= near)
    same = np.r_[False, (np.sign(y[:-2]) == np.sign(y[1:-1])), False]
    same &= np.r_[False, (np.sign(y[2:]) == np.sign(y[1:-1])), False]
    ends = np.zeros(len(y), dtype=bool)
    ends[[0, -1]] = np.abs(y[[0, -1]]) <= near
    # What crosses within the first gap beside an end that counts is that end.
    inner = inner[~(ends[0] & (inner < x[1])) & ~(ends[-1] & (inner > x[-2]))]
    touched = x[(valley & same) | ends | (y == 0.0)]
    found = np.unique(np.concatenate([inner, touched]))
    # Those are one between which the solution differs less than it is exact.
    while len(found) > 1:
        same = np.abs(above(0.5 * (found[1:] + found[:-1]))) <= near
        if not same.any():
            break
        found = found[np.r_[True, ~same]]
    return found


def _with_nearest(above: Line, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return places with those added between them at which the value is nearly taken.

    Two roots may lie between two places, or one that is only touched.
    """
    gap = np.abs(y)
    low = np.flatnonzero((gap[1:-1] <= gap[:-2]) & (gap[1:-1] <= gap[2:])) + 1
    low = low[(np.sign(y[low - 1]) == np.sign(y[low])) & (np.sign(y[low + 1]) == np.sign(y[low]))]
    if not len(low):
        return x, y
    side, a, b = np.sign(y[low]), x[low - 1], x[low + 1]
    for _ in range(SECTIONS):
        c, d = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
        left = side * above(c) < side * above(d)
        a, b = np.where(left, a, c), np.where(left, d, b)
    new = 0.5 * (a + b)
    places = np.concatenate([x, new])
    order = np.argsort(places, kind="stable")
    return places[order], np.concatenate([y, above(new)])[order]


def _bisected(above: Line, low: FloatArray, high: FloatArray, sign: FloatArray) -> FloatArray:
    for _ in range(BISECTIONS if len(low) else 0):
        middle = 0.5 * (low + high)
        before = sign * above(middle) > 0
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return 0.5 * (low + high)


# What is asked beyond the solution's own error brings nothing; below the second it is rounding.
SHARE, ROUNDING = 1e-3, 1e-14


@dataclass(frozen=True, eq=False)
class Known:
    """A solution as far as it is asked for numbers."""

    # The functions, and where they hold.
    approximation: Approximation
    domain: Domain
    error: float = 0.0  # the estimated error; zero where it is not known
    parameters: Mapping[str, float] | None = None  # values of names in texts
    # What is asked for where nothing else is said; every unknown by default.
    subject: Expression | None = None

    @property
    def subjects(self) -> dict[str, Expression]:
        """What is asked for where nothing else is said, by name."""
        if self.subject is not None:
            return {"": self.subject}
        return {name: self.symbols.stand_in(name) for name in self.symbols.unknowns}

    @property
    def symbols(self) -> Symbols:
        """The names of unknowns and coordinates."""
        return Symbols(tuple(self.approximation.bases), self.approximation.coordinates)

    @property
    def space(self) -> Domain:
        """The domain without time."""
        return self.domain.space

    @property
    def tol(self) -> float:
        """How exact numbers are worth finding, relative to their size."""
        error = self.error if np.isfinite(self.error) else 1.0
        return float(min(max(SHARE * error, ROUNDING), 1e-6))

    def moment(self, t: Any) -> float | None:
        """Return the moment that was asked for; None for all of them, and without time."""
        if t is None:
            return None
        if self.domain.time is None:
            raise ProblemError("t= was given, but this solution is not one in time; leave it out.")
        low, high = self.domain.time
        moment = finite(t, "t", attempt=f"t={high:g}")
        if not low <= moment <= high:
            raise ProblemError(f"t = {moment:g} is outside the span from {low:g} to {high:g}.")
        return moment


@dataclass(frozen=True, eq=False)
class Quantity:
    """An expression with a solution put in, as a function of points of space."""

    # What is put in, and where.
    approximation: Approximation
    expression: Expression
    t: float | None = None  # the moment; None without time, or where points have it

    def __call__(self, points: FloatArray, normals: FloatArray | None = None) -> FloatArray:
        """Return values at points (m, d), with normals on a boundary, (m,)."""
        if self.t is not None:
            points = np.column_stack([points, np.full(len(points), self.t)])
        return self.approximation.insert(self.expression, points, normals, "quantity asked for")

    def on(self, found: BoundaryPoints) -> FloatArray:
        """Return values at points of a boundary, (m,)."""
        return self(found.points, found.normals)


def quantities(known: Known, of: Any, t: float | None) -> dict[str, Quantity]:
    """Return what was asked for by name: each unknown, or one expression named "".

    `of` is a residual-like function, ``lambda u, x: x * u.dx``, or a text, ``"x*u_x"``; None for
    every unknown.
    """
    read = known.subjects if of is None else {"": _read(known, of)}
    return {name: Quantity(known.approximation, e, t) for name, e in read.items()}


def _read(known: Known, of: Any) -> Expression:
    if isinstance(of, str):
        return parse(of, known.symbols, known.parameters)
    found = trace(of, known.symbols, what="quantity asked for")
    if any(is_delta(node) for each in found for node in ordered(each)):
        raise ProblemError(
            "sf.delta stands in equations only: ask for the value at its place, solution(0.3)."
        )
    if len(found) != 1:
        words = f"has {len(found)} components; ask for one at a time."
        raise ProblemError(f"The quantity asked for {words}")
    return found[0]


def fluxes(known: Known, coefficient: Any, t: float | None) -> dict[str, Quantity]:
    """Return what passes a boundary: a coefficient times the normal derivative, or an expression.

    The coefficient is a number or a function of the coordinates alone; with an unknown among its
    parameters it is the whole of what passes.
    """
    factor = as_expression(coefficient) if is_number(coefficient) else _read(known, coefficient)
    if derivatives_in(factor):
        return {"": Quantity(known.approximation, factor, t)}
    return {
        name: Quantity(known.approximation, apply(np.multiply, factor, subject.dn), t)
        for name, subject in known.subjects.items()
    }


def one_or_all(found: Mapping[str, Any]) -> Any:
    """Return the one value, or those of all unknowns by name."""
    return dict(found) if len(found) > 1 else next(iter(found.values()))
