"""Expressions written as text that `parse` reads back."""

from __future__ import annotations

import numpy as np

from sharpfront.equation.expression import (
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Normal,
    Parameter,
)
from sharpfront.equation.weak import WeakDerivative

NORMAL = "normal"
_INFIX = {
    **{"less": ("<", 0), "less_equal": ("<=", 0), "greater": (">", 0), "greater_equal": (">=", 0)},
    **{"add": ("+", 1), "subtract": ("-", 1), "multiply": ("*", 2), "divide": ("/", 2)},
    "power": ("**", 4),
}
_ATOM = 5
_Piece = str | tuple[Expression, int]


def to_text(expression: Expression, limit: int = 100_000) -> str:
    """Return the expression as text; `parse` reads it back if it knows all its functions.

    A part that is used twice is written twice, so a text can be very long: after `limit` words and
    signs it breaks off with ``...``.
    """
    written: list[str] = []
    # A stack of what is still to be written: sums of thousands of terms nest as deeply.
    waiting: list[_Piece] = [(expression, 0)]
    while waiting:
        piece = waiting.pop()
        if len(written) >= limit:
            return "".join((*written, "..."))
        if isinstance(piece, str):
            written.append(piece)
        else:
            # In parentheses if it binds less than it must.
            node, least = piece
            pieces, precedence = _pieces(node)
            waiting.extend(reversed(pieces if precedence >= least else ["(", *pieces, ")"]))
    return "".join(written)


def _pieces(node: Expression) -> tuple[list[_Piece], int]:
    """Return what to write for a node and the precedence of its outermost operation."""
    if not isinstance(node, Apply):
        text = _named_leaf(node)
        return [text], 1 if text.startswith("-") else _ATOM
    name, arguments = node.function.name, node.arguments
    if name in _INFIX:
        sign, rank = _INFIX[name]
        # a - (b - c) needs its parentheses, (a - b) - c does not; powers and comparisons need both.
        left = rank if rank in (1, 2) else rank + 1
        space = " " if rank < 2 else ""
        return [(arguments[0], left), f"{space}{sign}{space}", (arguments[1], rank + 1)], rank
    if name == "negative":
        return ["-", (arguments[0], 2)], 1
    if isinstance(node.function, WeakDerivative):
        return ["diff(", (arguments[1], 0), f", {node.function.coordinate})"], _ATOM
    pieces: list[_Piece] = ["abs(" if name == "absolute" else f"{name}("]
    for i, argument in enumerate(arguments):
        pieces += [", ", (argument, 0)] if i else [(argument, 0)]
    return [*pieces, ")"], _ATOM


def _named_leaf(node: Expression) -> str:
    if isinstance(node, Coordinate | Parameter):
        return node.name
    if isinstance(node, Normal):
        return f"{NORMAL}_{node.name}"
    if isinstance(node, Derivative):
        letters = "".join(c * n for c, n in zip(node.coordinates, node.orders, strict=True))
        return f"{node.unknown}_{letters}" if letters else node.unknown
    assert isinstance(node, Constant)
    if 1e-3 <= abs(node.value) < 1e5:
        return np.format_float_positional(node.value, trim="-")
    return "0" if repr(node.value) == "0.0" else repr(node.value)
