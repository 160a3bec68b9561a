"""Values of expressions at arrays of any library, as on a card."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sharpfront.arrays import Array, namespace
from sharpfront.equation.expression import Apply, Constant, Coordinate, Expression, Key, ordered

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
    values: dict[int, Any] = {}
    for node in ordered(expression):
        if isinstance(node, Apply):
            own, function = [values[id(a)] for a in node.arguments], node.function.evaluate
            if all(isinstance(value, float) for value in own):
                values[id(node)] = float(function(*own))
            elif function in _OPERATORS:
                values[id(node)] = _OPERATORS[function](*own)
            else:
                values[id(node)] = getattr(xp, _NAMES[function])(*own)
        elif isinstance(node, Coordinate):
            values[id(node)] = leaves[node.key]
        else:
            assert isinstance(node, Constant)
            values[id(node)] = float(node.value)
    return values[id(expression)]
