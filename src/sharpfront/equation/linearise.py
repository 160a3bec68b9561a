"""From an expression to a linear form: coefficients of the unknowns' derivatives and a source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sharpfront.equation.expression import (
    Constant,
    Derivative,
    Expression,
    Key,
    Values,
    derivatives_in,
    evaluate,
    partial_derivative,
    substitute,
)
from sharpfront.errors import EquationError


@dataclass(frozen=True, eq=False)
class Term:
    """``coefficient * d^orders unknown``."""

    unknown: str
    orders: tuple[int, ...]
    coefficient: Expression

    @property
    def order(self) -> int:
        """Total order of the derivative."""
        return sum(self.orders)


@dataclass(frozen=True, eq=False)
class LinearForm:
    """``sum of terms + source``: a residual that is linear in the unknowns."""

    terms: tuple[Term, ...]
    source: Expression

    @property
    def order(self) -> int:
        """The highest order of any derivative in the form."""
        return max((term.order for term in self.terms), default=0)

    def source_values(self, environment: Mapping[Key, Values]) -> Values:
        """Return the source at the points of the environment."""
        return evaluate(self.source, environment)


def tangent_terms(expression: Expression) -> tuple[Term, ...]:
    """Return one term per derivative; its coefficient is d(expression)/d(derivative).

    Where the expression is not linear the coefficients contain the unknowns themselves, so that
    evaluated about a state they are the Newton linearisation.
    """
    return tuple(
        Term(leaf.unknown, leaf.orders, coefficient)
        for leaf in derivatives_in(expression)
        if not _is_zero(coefficient := partial_derivative(expression, leaf.key))
    )


def is_linear(expression: Expression) -> bool:
    """Tell from the graph alone whether the expression is linear in the unknowns."""
    return all(not derivatives_in(term.coefficient) for term in tangent_terms(expression))


def linear_form(expression: Expression) -> LinearForm:
    """Return the linear form of an expression that is linear.

    Raises
    ------
    EquationError
        If a coefficient depends on an unknown.
    """
    terms = tangent_terms(expression)
    for term in terms:
        inside = derivatives_in(term.coefficient)
        if inside:
            raise EquationError(
                f"The equation is not linear: what multiplies {_name(term)} depends on "
                f"{', '.join(_name(leaf) for leaf in inside)}."
            )
    return LinearForm(terms, _without_unknowns(expression))


def _is_zero(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value == 0


def _name(item: Term | Derivative) -> str:
    letters = "".join(str(n) for n in item.orders)
    return item.unknown if not any(item.orders) else f"a derivative of {item.unknown} ({letters})"


def _without_unknowns(expression: Expression) -> Expression:
    """Return the expression with every unknown set to zero: the source of a linear one."""
    zero = Constant(0.0)
    return substitute(expression, lambda leaf: zero if isinstance(leaf, Derivative) else leaf)
