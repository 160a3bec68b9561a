"""From an expression to a linear form: coefficients of the unknowns' derivatives and a source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sharpfront.equation.expression import (
    Apply,
    Constant,
    Derivative,
    Expression,
    Key,
    Leaf,
    Values,
    apply,
    apply_function,
    derivatives_in,
    evaluate,
    is_zero,
    ordered,
)
from sharpfront.equation.rules import JUMPS, partial_derivative
from sharpfront.errors import NonlinearError


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
        if not is_zero(coefficient := partial_derivative(expression, leaf.key))
    )


def is_linear(expression: Expression) -> bool:
    """Tell from the graph alone whether the expression is linear in the unknowns."""
    try:
        linear_form(expression)
    except NonlinearError:
        return False
    return True


def linear_form(expression: Expression) -> LinearForm:
    """Return the linear form of an expression that is linear.

    Raises
    ------
    NonlinearError
        If a coefficient depends on an unknown.
    """
    jump = _jump(expression)
    if jump is not None:
        raise NonlinearError(f"The equation is not linear: an unknown stands inside {jump}(...).")
    terms = tangent_terms(expression)
    for term in terms:
        inside = derivatives_in(term.coefficient)
        if inside:
            raise NonlinearError(
                f"The equation is not linear: what multiplies {_name(term)} depends on "
                f"{', '.join(_name(leaf) for leaf in inside)}."
            )
    return LinearForm(terms, _without_unknowns(expression))


def _jump(expression: Expression) -> str | None:
    """Return the name of a function that jumps with an unknown, such as sign(u).

    Its derivative is zero or constant wherever it exists, so the terms do not show it.
    """
    depends: dict[int, bool] = {}
    for node in ordered(expression):
        depends[id(node)] = isinstance(node, Derivative)
        if isinstance(node, Apply):
            inside = [depends[id(a)] for a in node.arguments]
            depends[id(node)] = any(inside)
            evaluates = node.function.evaluate
            if (any(inside) and evaluates in JUMPS) or (inside[0] and evaluates is np.where):
                return node.function.name
    return None


def _name(item: Term | Derivative) -> str:
    letters = "".join(str(n) for n in item.orders)
    return item.unknown if not any(item.orders) else f"a derivative of {item.unknown} ({letters})"


def _without_unknowns(expression: Expression) -> Expression:
    """Return the expression with every unknown set to zero: the source of a linear one."""
    zero = Constant(0.0)
    return substitute(expression, lambda leaf: zero if isinstance(leaf, Derivative) else leaf)


def substitute(expression: Expression, replace: Callable[[Leaf], Expression]) -> Expression:
    """Return the graph with every leaf replaced, simplified on the way."""
    new: dict[int, Expression] = {}
    for node in ordered(expression):
        new[id(node)] = node
        if isinstance(node, Leaf):
            new[id(node)] = replace(node)
        elif isinstance(node, Apply):
            arguments = tuple(new[id(a)] for a in node.arguments)
            ufunc = node.function.evaluate
            new[id(node)] = (
                apply(ufunc, *arguments)
                if isinstance(ufunc, np.ufunc)
                else apply_function(node.function, *arguments)
            )
    return new[id(expression)]
