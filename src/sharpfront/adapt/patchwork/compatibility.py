"""Slopes that data give at a point of the boundary, against each other and the equations.

Where two sides meet, data give values and slopes along both. If these violate an equation of first
order, as a lid that stretches beside a wall at rest violates u_x + v_y = 0, slopes depend on the
direction from which the point is reached: harmless by itself, but an unknown that counts like a
slope, the pressure, grows as log r.

A term counts for its order and the roughness of its unknown. What the rows of degree one say of
slopes, and of unknowns that count like them, is a small linear system; the data are compatible if
it has a solution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.differentiation import differentiate
from sharpfront.equation.expression import Constant, Coordinate, Derivative, Expression, Leaf
from sharpfront.equation.linearise import LinearForm, Term, linear_form
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import EquationError
from sharpfront.problem import Problem
from sharpfront.rounding import SAME
from sharpfront.rows.row_norm import roughness


@dataclass(frozen=True, eq=False)
class Side:
    """One side of the boundary at a point."""

    part: str  # its name
    # The point, and the normal outwards, (2,) each.
    point: FloatArray
    normal: FloatArray
    # A point of the side close by, where data have slopes that may be infinite at the point.
    within: FloatArray


class Compatibility:
    """Compares what a linear problem in the plane says of slopes at points of its boundary."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._rough = roughness(problem.forms, problem.unknowns)
        first: list[tuple[int, ...]] = [(0, 0), (1, 0), (0, 1)]
        self._columns = {
            (unknown, orders): k
            for k, (unknown, orders) in enumerate(
                (u, o) for u in problem.unknowns for o in first if sum(o) + self._rough[u] <= 1
            )
        }
        self._equations = [f for f in problem.forms if self._degree(f) == 1]

    def missed(self, sides: Sequence[Side]) -> float:
        """Return what no slopes can satisfy at a point of some sides, in units of a rough unknown.

        Nothing where no unknown counts like a slope.
        """
        if not self._equations or max(self._rough.values()) < 1:
            return 0.0
        for chosen in (sides, [replace(side, point=side.within) for side in sides]):
            try:
                return self._missed(chosen)
            except EquationError:
                continue
        # Data that are not finite tell nothing.
        return 0.0

    def _missed(self, sides: Sequence[Side]) -> float:
        unit = self._unit(sides[0])
        given = [self._row(f, sides[0]) for f in self._equations]
        given += [self._row(form, side) for side in sides for form in self._given(side)]
        rows = np.array([r / size for r in given if (size := np.abs(r[:-1]).max()) > 0.0])
        matrix, rhs = rows[:, :-1].copy(), -rows[:, -1]
        for (unknown, _), column in self._columns.items():
            matrix[:, column] *= unit ** self._rough[unknown]
        left = np.abs(matrix @ np.linalg.lstsq(matrix, rhs)[0] - rhs).max()
        return float(unit * left) if left > SAME * np.abs(rhs).max() else 0.0

    def _degree_of(self, term: Term) -> int:
        return term.order + self._rough[term.unknown]

    def _degree(self, form: LinearForm) -> int:
        return max(map(self._degree_of, form.terms), default=0)

    def _given(self, side: Side) -> Iterator[LinearForm]:
        """Yield what conditions on a side say of values, slopes and what counts like these."""
        for condition in (c for c in self._problem.conditions if c.part == side.part):
            for residual, form in zip(condition.residuals, condition.forms, strict=True):
                degree = self._degree(form)
                if degree <= 1:
                    yield form
                if degree == 0:
                    yield linear_form(_tangential(residual, self._problem.coordinates, side.normal))

    def _values(self, form: LinearForm, side: Side) -> tuple[list[tuple[Term, float]], float]:
        """Return the terms of a form with their coefficients at a point, and its source."""
        coordinates = self._problem.coordinates
        leaves = environment(coordinates, side.point[None], side.normal[None])
        coefficients, source = form_values(form, leaves, 1)
        terms = [(t, float(c[0])) for t, c in zip(form.terms, coefficients, strict=True)]
        return terms, float(source[0])

    def _row(self, form: LinearForm, side: Side) -> FloatArray:
        """Return the coefficients of the columns at a point, and the source."""
        terms, source = self._values(form, side)
        out = np.zeros(len(self._columns) + 1)
        out[-1] = source
        for term, value in terms:
            out[self._columns[term.unknown, term.orders]] += value
        return out

    def _unit(self, side: Side) -> float:
        """Return how large a rough unknown is beside a slope of the others, by the equations.

        In -nu lap u + p_x = 0 the pressure is about nu times a slope.
        """
        found = [0.0]
        for form in self._problem.forms:
            terms, _ = self._values(form, side)
            leading = [(t, abs(c)) for t, c in terms if self._degree_of(t) == self._degree(form)]
            rough = sum(c for t, c in leading if self._rough[t.unknown])
            if rough:
                found.append(sum(c for t, c in leading if not self._rough[t.unknown]) / rough)
        return max(found)


def _tangential(residual: Expression, coordinates: Sequence[str], normal: FloatArray) -> Expression:
    """Return the derivative of a residual along a straight side."""
    ways = dict(zip(coordinates, (-float(normal[1]), float(normal[0])), strict=True))

    def seed(leaf: Leaf) -> Expression:
        if isinstance(leaf, Derivative):
            parts = [way * leaf.raised(name) for name, way in ways.items() if way]
            return sum(parts[1:], parts[0])
        return Constant(ways[leaf.name] if isinstance(leaf, Coordinate) else 0.0)

    return differentiate(residual, seed)
