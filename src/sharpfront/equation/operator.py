"""A residual with its tangents: what Newton's method and marches in time ask of an equation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sharpfront.equation.expression import Derivative, Expression, Key, Values
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.linearise import Term, is_linear, tangent_terms
from sharpfront.equation.program import Program
from sharpfront.equation.values import at_points


@dataclass(frozen=True, eq=False)
class Operator:
    """An expression that vanishes, with its tangents."""

    expression: Expression
    what: str = "equation"  # its name in error messages

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """d(expression)/d(derivative) for each derivative in it."""
        return tangent_terms(self.expression)

    @cached_property
    def is_linear(self) -> bool:
        """Whether no tangent depends on an unknown."""
        return is_linear(self.expression)

    @property
    def derivatives(self) -> tuple[Derivative, ...]:
        """The derivatives in it."""
        return derivatives_in(self.expression)

    @cached_property
    def program(self) -> Program:
        """Its value and its tangents in one pass, for where they are asked for again and again."""
        return Program([self.expression, *(term.coefficient for term in self.terms)])

    def at(self, leaves: Mapping[Key, Values], count: int) -> Values:
        """Return its values at `count` points."""
        return at_points(self.expression, leaves, count, self.what)

    def tangents(self, leaves: Mapping[Key, Values], count: int) -> list[Values]:
        """Return the coefficient of each term."""
        what = f"tangent of the {self.what}"
        return [at_points(term.coefficient, leaves, count, what) for term in self.terms]
