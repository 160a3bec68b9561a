"""What is integrated or searched: an unknown, a derivative, or an expression of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import finite, is_number
from sharpfront.equation.expression import Expression, apply, as_expression
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.text import parse
from sharpfront.equation.trace import Symbols, trace
from sharpfront.errors import ProblemError
from sharpfront.geometry import Domain, SpaceTime
from sharpfront.geometry.domain import BoundaryPoints
from sharpfront.solution.approximation import Approximation

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
        return self.domain.space if isinstance(self.domain, SpaceTime) else self.domain

    @property
    def tol(self) -> float:
        """How exact numbers are worth finding, relative to their size."""
        error = self.error if np.isfinite(self.error) else 1.0
        return float(min(max(SHARE * error, ROUNDING), 1e-6))

    def moment(self, t: Any) -> float | None:
        """Return the moment that was asked for; None for all of them, and without time."""
        if t is None:
            return None
        if not isinstance(self.domain, SpaceTime):
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
    if len(found) != 1:
        raise ProblemError(
            f"The quantity asked for has {len(found)} components; ask for one at a time."
        )
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
