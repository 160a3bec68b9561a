"""Sums and products taken apart the way they are written: signs in front, numbers first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sharpfront.equation.expression import (
    TIME,
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Normal,
    as_expression,
)
from sharpfront.show.statement.recorded import called


def traced(function: Callable[..., Any], names: tuple[str, ...]) -> Expression | None:
    """Return what a function of the coordinates does as an expression; None if it cannot tell."""
    symbols = [Coordinate(name, names) for name in names]
    # A user's function of arrays may do anything with a symbol but return a formula.
    try:
        return as_expression(called(function, names, symbols))
    except Exception:
        return None


@dataclass(frozen=True, eq=False, repr=False)
class NormalDerivative(Expression):
    """Stands for the sum of normal components times derivatives that ``u.dn`` was."""

    of: Derivative


def factors_of(node: Expression) -> tuple[int, list[Expression]]:
    """Return the sign and the factors of a product, none of them negative by itself."""
    sign, found, waiting = 1, list[Expression](), [node]
    while waiting:
        part = waiting.pop()
        name = part.function.name if isinstance(part, Apply) else ""
        if isinstance(part, Constant) and part.value < 0:
            sign, part = -sign, Constant(-part.value)
        if isinstance(part, Apply) and name == "multiply":
            waiting.extend(reversed(part.arguments))
        elif isinstance(part, Apply) and name == "negative":
            sign = -sign
            waiting.append(part.arguments[0])
        else:
            found.append(part)
    shown = [f for f in found if not (isinstance(f, Constant) and f.value == 1.0)]
    return sign, shown or [Constant(1.0)]


def terms_of(node: Expression) -> list[tuple[int, Expression]]:
    """Return the terms of a sum with their signs, none of them negative by itself."""
    found: list[tuple[int, Expression]] = []
    waiting: list[tuple[int, Expression]] = [(1, node)]
    while waiting:
        sign, part = waiting.pop()
        name = part.function.name if isinstance(part, Apply) else ""
        if isinstance(part, Apply) and name in ("add", "subtract"):
            second = sign if name == "add" else -sign
            waiting += [(second, part.arguments[1]), (sign, part.arguments[0])]
        elif isinstance(part, Apply) and name == "negative":
            waiting.append((-sign, part.arguments[0]))
        else:
            found.append(_without_sign(sign, part))
    return _with_normal_derivatives(found)


def _without_sign(sign: int, part: Expression) -> tuple[int, Expression]:
    if isinstance(part, Constant) and part.value < 0:
        return -sign, Constant(-part.value)
    if isinstance(part, Apply) and part.function.name == "multiply":
        inner, factors = factors_of(part)
        if inner < 0:
            product = factors[0]
            for factor in factors[1:]:
                product = Apply(part.function, (product, factor))
            return -sign, product
    return sign, part


def _with_normal_derivatives(terms: list[tuple[int, Expression]]) -> list[tuple[int, Expression]]:
    """Replace n_x u_x + n_y u_y + ... by the derivative along the normal that it is."""
    found = {i: slope for i, (_, part) in enumerate(terms) if (slope := _along_normal(part))}
    if len({(terms[i][0], slope.key) for i, (slope, _) in found.items()}) != 1:
        return terms
    first, (whole, _) = next(iter(found.items()))
    along, needed = [name for _, name in found.values()], {*whole.coordinates} - {TIME}
    if len(along) != len(needed) or {*along} != needed:
        return terms
    kept = [(i, term) for i, term in enumerate(terms) if i == first or i not in found]
    return [(term[0], NormalDerivative(whole)) if i == first else term for i, term in kept]


def _along_normal(part: Expression) -> tuple[Derivative, str] | None:
    """Return u and x for the product of a normal's component and u's derivative along x."""
    if not (isinstance(part, Apply) and part.function.name == "multiply"):
        return None
    normal, slope = part.arguments
    if not (isinstance(normal, Normal) and isinstance(slope, Derivative)):
        return None
    i = slope.coordinates.index(normal.name)
    if not slope.orders[i]:
        return None
    orders = (*slope.orders[:i], slope.orders[i] - 1, *slope.orders[i + 1 :])
    return Derivative(slope.unknown, slope.coordinates, orders), normal.name
