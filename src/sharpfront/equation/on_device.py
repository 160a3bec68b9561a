"""Values of expressions at arrays of any library, as on a card."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sharpfront.arrays import Array, namespace
from sharpfront.equation.expression import Apply, Constant, Coordinate, Expression, Key
from sharpfront.equation.graph import folded, ordered

# Functions of NumPy that tell the same in any library, as operators or by their names in the array
# API; all others are left to the processor.
_OPERATORS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.negative: operator.neg,
    np.power: operator.pow,
}
_NAMES: dict[Any, str] = {
    np.square: "square",
    np.sqrt: "sqrt",
    np.absolute: "abs",
    np.exp: "exp",
    np.expm1: "expm1",
    np.log: "log",
    np.log1p: "log1p",
    np.sin: "sin",
    np.cos: "cos",
    np.tan: "tan",
    np.arctan: "atan",
    np.sinh: "sinh",
    np.cosh: "cosh",
    np.tanh: "tanh",
}


def is_known(expression: Expression) -> bool:
    """Tell whether any library has an expression's values: of coordinates, by common functions."""
    return all(
        isinstance(node, Coordinate | Constant)
        or (isinstance(node, Apply) and node.function.evaluate in {**_OPERATORS, **_NAMES})
        for node in ordered(expression)
    )


def evaluated(expression: Expression, leaves: Mapping[Key, Array]) -> Array | float:
    """Return the values of an expression that is known, of the shape that its leaves make."""
    xp = namespace(*leaves.values())

    def leaf(node: Expression) -> Any:
        if isinstance(node, Coordinate):
            return leaves[node.key]
        assert isinstance(node, Constant)
        return float(node.value)

    def applied(node: Apply, own: list[Any]) -> Any:
        function = node.function.evaluate
        if all(isinstance(value, float) for value in own):
            return float(function(*own))
        if function in _OPERATORS:
            return _OPERATORS[function](*own)
        return getattr(xp, _NAMES[function])(*own)

    found: Array | float = folded(expression, leaf, applied)
    return found
