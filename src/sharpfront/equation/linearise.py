"""From an expression to a linear form: coefficients of the unknowns' derivatives and a source."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.equation.differentiation import JUMPS, partial_derivative
from sharpfront.equation.expression import (
    Apply,
    Constant,
    Derivative,
    Expression,
    Key,
    Leaf,
    apply,
    apply_function,
    is_zero,
)
from sharpfront.equation.graph import derivatives_in, folded, ordered
from sharpfront.equation.weak import beside, is_delta
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
    """``sum of terms + source``: a residual that is linear in the unknowns.

    Where the form is one about an iterate, `stated` is the part of its source that is not: data,
    which may be singular, while iterates are smooth on their patches.
    """

    terms: tuple[Term, ...]
    source: Expression
    stated: Expression | None = None

    @property
    def order(self) -> int:
        """The highest order of any derivative in the form."""
        return max((term.order for term in self.terms), default=0)


@functools.lru_cache(maxsize=64)
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
    """Return the linear form of an expression; NonlinearError if it is not linear."""
    found = _form_or_why_not(expression)
    if isinstance(found, str):
        raise NonlinearError(f"The equation is not linear: {found}.")
    return found


@functools.lru_cache(maxsize=64)
def _form_or_why_not(expression: Expression) -> LinearForm | str:
    quick = _affine(expression)
    if quick is not None:
        return quick
    for node, _ in _jumping(expression):
        return f"an unknown stands inside {node.function.name}(...)"
    terms = tangent_terms(expression)
    for term in terms:
        inside = derivatives_in(term.coefficient)
        if inside:
            names = ", ".join(_name(leaf) for leaf in inside)
            return f"what multiplies {_name(term)} depends on {names}"
    # The source: every unknown set to zero.
    free = substitute(expression, lambda leaf: _ZERO if isinstance(leaf, Derivative) else leaf)
    return LinearForm(terms, free)


# Coefficients of derivatives by their keys, and what is free of unknowns.
_Affine = tuple[dict[Key, tuple[Derivative, Expression]], Expression]


def _affine(expression: Expression) -> LinearForm | None:
    """Return the linear form of sums and of products with factors free of unknowns, in one pass.

    None where an unknown stands anywhere else; the tangents then decide.
    """
    found: dict[int, _Affine] = {}
    for node in ordered(expression):
        here: _Affine | None = ({}, node)
        if isinstance(node, Derivative):
            here = ({node.key: (node, _ONE)}, _ZERO)
        elif isinstance(node, Apply):
            parts = [found[id(a)] for a in node.arguments]
            if any(part[0] for part in parts):
                here = _combined(node.function.evaluate, parts)
        if here is None:
            return None
        found[id(node)] = here
    terms, source = found[id(expression)]
    kept = [Term(d.unknown, d.orders, c) for d, c in terms.values() if not is_zero(c)]
    return LinearForm(tuple(kept), source)


_ZERO, _ONE = Constant(0.0), Constant(1.0)


def _combined(function: object, parts: list[_Affine]) -> _Affine | None:
    if function is np.negative:
        return _scaled(parts[0], lambda e: apply(np.negative, e))
    (left, free), (right, other) = parts[0], parts[-1]
    if function is beside:
        return parts[0]
    if function is np.add:
        return _added(parts[0], parts[1], np.add)
    if function is np.subtract:
        return _added(parts[0], parts[1], np.subtract)
    if function is np.multiply and not left:
        return _scaled(parts[1], lambda e: apply(np.multiply, free, e))
    if function is np.multiply and not right:
        return _scaled(parts[0], lambda e: apply(np.multiply, e, other))
    if function is np.true_divide and not right:
        return _scaled(parts[0], lambda e: apply(np.true_divide, e, other))
    return None


def _scaled(part: _Affine, change: Callable[[Expression], Expression]) -> _Affine:
    return {k: (d, change(c)) for k, (d, c) in part[0].items()}, change(part[1])


def _added(a: _Affine, b: _Affine, ufunc: np.ufunc) -> _Affine:
    terms = dict(a[0])
    for key, (leaf, coefficient) in b[0].items():
        before = terms[key][1] if key in terms else _ZERO
        terms[key] = leaf, apply(ufunc, before, coefficient)
    return terms, apply(ufunc, a[1], b[1])


def _jumping(expression: Expression) -> list[tuple[Apply, tuple[Derivative, ...]]]:
    """Return the functions that jump with unknowns, with the derivatives they jump with.

    Their derivative is zero or constant wherever it exists, so the terms do not show them.
    """
    found = []
    for node in ordered(expression):
        if isinstance(node, Apply) and (node.function.evaluate in {*JUMPS, np.where}):
            decides = node.arguments[0] if node.function.evaluate is np.where else node
            found.append((node, derivatives_in(decides)))
    return [(node, inside) for node, inside in found if inside]


def nonlinear_in(expression: Expression) -> frozenset[Derivative]:
    """Return the derivatives in which an expression is not linear: its tangents need them.

    Those on which a tangent depends, and those with which a function jumps.
    """
    tangents = (term.coefficient for term in tangent_terms(expression))
    inside = {leaf for tangent in tangents for leaf in derivatives_in(tangent)}
    return frozenset(inside.union(*(leaves for _, leaves in _jumping(expression))))


def stated_part(expression: Expression) -> Expression:
    """Return what of a sum does not depend on the unknowns, summand by summand."""
    return _summands(expression, lambda e: not derivatives_in(e), kept=True)


def homogeneous_part(expression: Expression) -> Expression:
    """Return what of a sum depends on the unknowns, or is a load, summand by summand."""
    return _summands(
        expression, lambda e: not (derivatives_in(e) or any(map(is_delta, ordered(e)))), kept=False
    )


def linear_part(expression: Expression) -> Expression:
    """Return what of a sum is linear in the unknowns, summand by summand."""
    return _summands(expression, is_linear, kept=True)


def nonlinear_part(expression: Expression) -> Expression:
    """Return what of a sum is not linear in the unknowns, summand by summand."""
    return _summands(expression, is_linear, kept=False)


def _summands(
    expression: Expression, meant: Callable[[Expression], bool], *, kept: bool
) -> Expression:
    """Return the sum of the summands that are meant, or if these are not kept, of the others."""
    if meant(expression):
        return expression if kept else Constant(0.0)
    if isinstance(expression, Apply):
        ufunc = expression.function.evaluate
        if ufunc in (np.add, np.subtract, np.negative):
            assert isinstance(ufunc, np.ufunc)
            parts = (_summands(a, meant, kept=kept) for a in expression.arguments)
            return apply(ufunc, *parts)
    return Constant(0.0) if kept else expression


def _name(item: Term | Derivative) -> str:
    letters = "".join(str(n) for n in item.orders)
    return item.unknown if not any(item.orders) else f"a derivative of {item.unknown} ({letters})"


def substitute(expression: Expression, replace: Callable[[Leaf], Expression]) -> Expression:
    """Return the graph with every leaf replaced, simplified on the way."""
    return folded(
        expression, lambda node: replace(node) if isinstance(node, Leaf) else node, applied_again
    )


def with_leaves(expression: Expression, values: Mapping[Key, Expression]) -> Expression:
    """Return the graph with some leaves replaced, those with these keys."""
    return substitute(expression, lambda leaf: values.get(leaf.key, leaf))


def applied_again(node: Apply, arguments: Sequence[Expression]) -> Expression:
    """Return the function of a node, of other arguments."""
    ufunc = node.function.evaluate
    if isinstance(ufunc, np.ufunc):
        return apply(ufunc, *arguments)
    return apply_function(node.function, *arguments)
