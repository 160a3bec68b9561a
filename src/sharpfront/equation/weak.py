"""Derivatives in the sense of distributions: of products with a coefficient that jumps, of loads.

Where k jumps, (k u')' is not the derivative on either side alone: the flux k u' goes on. A node of
its own keeps what is differentiated beside the derivative on either side, so that the equation
inside is the smooth one and the conditions where something jumps can be read off
(`equation.interfaces`). `delta(x - a)` is a load on x = a; it is zero everywhere else.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sharpfront.checks import explained
from sharpfront.equation.expression import (
    Apply,
    Coordinate,
    Expression,
    Function,
    Values,
    apply_function,
    as_expression,
)
from sharpfront.equation.graph import derivatives_in, ordered
from sharpfront.errors import EquationError


def beside(classical: Values, quantity: Values) -> Values:
    """Return the derivative on either side: its values beside what jumps."""
    return classical


@dataclass(frozen=True, eq=False)
class WeakDerivative(Function):
    """The derivative of the second argument along a coordinate; the first is either side's."""

    coordinate: str = field(default="")  # along which


_DELTA = Function("delta", np.zeros_like)


def weak_derivative(classical: Expression, quantity: Expression, coordinate: str) -> Expression:
    """Return the derivative of a quantity that may jump, given its derivative on either side."""
    return apply_function(WeakDerivative("diff", beside, coordinate), classical, quantity)


@explained("sf.delta(x - 0.5)")
def delta(argument: Any) -> Expression:
    """Return Dirac's delta of an expression of one coordinate: ``sf.delta(x - 0.3)``.

    On the line it is a point load, ``u.d("x", 4) - sf.delta(x - 0.3)``; in the plane a load along a
    line, ``-sf.laplacian(u) - np.sin(y) * sf.delta(x - 0.3)``.

    Parameters
    ----------
    argument
        Vanishes where the load is; the load is divided by the size of its slope there.
    """
    node = as_expression(argument)
    names = {n.name for n in ordered(node) if isinstance(n, Coordinate)}
    if derivatives_in(node) or len(names) != 1:
        raise EquationError(
            f"sf.delta expects an expression of one coordinate, such as sf.delta(x - 0.3); got "
            f"{node!r}."
        )
    return apply_function(_DELTA, node)


def is_delta(node: Expression) -> bool:
    """Tell whether a node is Dirac's delta."""
    return isinstance(node, Apply) and node.function is _DELTA


def weak_along(node: Expression) -> str | None:
    """Return along which coordinate a node is a derivative in the sense of distributions."""
    if isinstance(node, Apply) and isinstance(node.function, WeakDerivative):
        return node.function.coordinate
    return None


def is_weak(node: Expression) -> bool:
    """Tell whether a node is a derivative in the sense of distributions."""
    return weak_along(node) is not None


@functools.lru_cache(maxsize=512)
def is_singular(expression: Expression) -> bool:
    """Tell whether a graph has loads or derivatives of what may jump."""
    return any(is_delta(node) or is_weak(node) for node in ordered(expression))
