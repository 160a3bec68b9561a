"""Equations as text, ``"-nu*u_xx + u_x = 0"``, read by a whitelist over Python's syntax tree.

Nothing is ever evaluated: a node of the tree that is not named here is an error.
"""

from __future__ import annotations

import ast
import difflib
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
import scipy.special as sp

from sharpfront.equation.expression import (
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Normal,
    as_expression,
)
from sharpfront.equation.trace import Symbols
from sharpfront.errors import EquationError

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_COMPARE: dict[type[ast.cmpop], np.ufunc] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}
_NUMPY_NAMES = (
    *("exp", "expm1", "log", "log1p", "log10", "sqrt", "cbrt", "square", "hypot"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2"),
    *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
    *("sign", "floor", "ceil", "heaviside", "maximum", "minimum"),
)
_UFUNCS: dict[str, np.ufunc] = {
    **{name: getattr(np, name) for name in _NUMPY_NAMES},
    "abs": np.absolute,
    "erf": sp.erf,
    "erfc": sp.erfc,
    "expit": sp.expit,
}
_CONSTANTS = {"pi": float(np.pi), "e": float(np.e)}
_FUNCTIONS = (*_UFUNCS, "where")


def parse(text: str, symbols: Symbols, parameters: Mapping[str, float] | None = None) -> Expression:
    """Return the residual that an equation's text states, left side minus right side.

    Parameters
    ----------
    text
        For example ``"-nu*u_xx + u_x = exp(x)"``; without ``=`` the right side is zero.
    symbols
        Names of unknowns and coordinates. ``u_xx`` is a derivative, ``u_n`` the normal one.
    parameters
        Values of the other names.
    """
    sides = text.split("=")
    if len(sides) > 2 or "==" in text:
        raise EquationError(f"An equation has one `=`, got {text!r}. Write for example u_x = 1.")
    reader = _Reader(text, symbols, dict(parameters or {}))
    left, *right = (reader.read(side) for side in sides)
    return left - right[0] if right else left


class _Reader:
    """Walks the syntax tree of one side of an equation."""

    def __init__(self, text: str, symbols: Symbols, parameters: dict[str, float]) -> None:
        self.text = text
        self.symbols = symbols
        self.parameters = parameters
        for name in parameters:
            if name in (*symbols.unknowns, *symbols.coordinates, *_FUNCTIONS):
                raise EquationError(f"The parameter name {name!r} is taken; choose another one.")

    def read(self, side: str) -> Expression:
        try:
            tree = ast.parse(side.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            message = getattr(error, "msg", None) or str(error)
            raise EquationError(
                f"Cannot read {side.strip()!r} in {self.text!r}: {message}."
            ) from None
        try:
            return as_expression(self.visit(tree.body))
        except RecursionError:
            raise EquationError("The equation's text is nested too deeply to be read.") from None

    def visit(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return self.number(node)
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            value = self.visit(node.operand)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return _BINARY[type(node.op)](
                as_expression(self.visit(node.left)), as_expression(self.visit(node.right))
            )
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
            ufunc = _COMPARE[type(node.ops[0])]
            return ufunc(
                as_expression(self.visit(node.left)), as_expression(self.visit(node.comparators[0]))
            )
        return self.refuse(node)

    def number(self, node: ast.Constant) -> float:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            self.refuse(node)
        try:
            return float(node.value)
        except OverflowError:
            raise EquationError(f"A number in {self.text!r} is too large.") from None

    def call(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Name) or node.keywords:
            self.refuse(node)
        name = node.func.id
        arguments = [as_expression(self.visit(a)) for a in node.args]
        if name == "where":
            if len(arguments) != 3:
                raise EquationError(
                    f"where takes (condition, a, b), got {len(arguments)} arguments."
                )
            return np.where(*arguments)
        if name not in _UFUNCS:
            raise EquationError(
                f"{name!r} in {self.text!r} is not a known function.{_guess(name, _FUNCTIONS)} "
                f"Known: {', '.join(sorted(_FUNCTIONS))}."
            )
        if len(arguments) != _UFUNCS[name].nin:
            raise EquationError(
                f"{name} takes {_UFUNCS[name].nin} argument(s), "
                f"got {len(arguments)} in {self.text!r}."
            )
        return _UFUNCS[name](*arguments)

    def name(self, name: str) -> Any:
        if name in self.symbols.coordinates or name in self.symbols.unknowns:
            return self.symbols.stand_in(name)
        if name in self.parameters:
            return as_expression(self.parameters[name])
        if name in _CONSTANTS:
            return as_expression(_CONSTANTS[name])
        unknown, _, letters = name.rpartition("_")
        if unknown in self.symbols.unknowns and letters:
            return getattr(self.symbols.stand_in(unknown), f"d{letters}")
        known = (*self.symbols.unknowns, *self.symbols.coordinates, *self.parameters, *_CONSTANTS)
        raise EquationError(
            f"{name!r} in {self.text!r} is not known.{_guess(name, known)} "
            f"Known: {', '.join(known)}; derivatives are written {self.symbols.unknowns[0]}_x."
        )

    def refuse(self, node: ast.expr) -> NoReturn:
        part = ast.get_source_segment(self.text, node) or ast.unparse(node)
        hint = " Write ** for a power." if "^" in part else ""
        raise EquationError(
            f"{part!r} in {self.text!r} cannot stand in an equation.{hint} Allowed are numbers, "
            "names, + - * / **, comparisons inside where(...), and the listed functions."
        )


def _guess(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def unknowns_in(text: str, coordinates: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that carry a derivative in the text: ``u_xx`` makes u an unknown."""
    letters = "".join(c for c in coordinates if len(c) == 1)
    found = re.findall(rf"\b([A-Za-z]\w*?)_[{letters}]+\b", text) if letters else []
    if not found:
        raise EquationError(
            f"No derivative is found in {text!r}. Write for example -nu*u_xx + u_x = 0."
        )
    return tuple(dict.fromkeys(found))


_INFIX = {"add": ("+", 1), "subtract": ("-", 1), "multiply": ("*", 2), "divide": ("/", 2)}
_SYMBOLS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}


def to_text(expression: Expression) -> str:
    """Return the expression as text; `parse` reads it back if it holds no opaque function."""
    return _render(expression)[0]


def _render(node: Expression) -> tuple[str, int]:
    """Return the text and the precedence of its outermost operation."""
    if isinstance(node, Constant):
        text = (
            np.format_float_positional(node.value, trim="-")
            if 1e-3 <= abs(node.value) < 1e5
            else ("0" if node.value == 0 else repr(node.value))
        )
        return text, 5 if node.value >= 0 else 1
    if isinstance(node, Coordinate):
        return node.name, 5
    if isinstance(node, Normal):
        return f"n_{node.name}", 5
    if isinstance(node, Derivative):
        letters = "".join(c * n for c, n in zip(node.coordinates, node.orders, strict=True))
        return f"{node.unknown}_{letters}" if letters else node.unknown, 5
    assert isinstance(node, Apply)
    return _render_apply(node.function.name, [_render(a) for a in node.arguments])


def _render_apply(name: str, parts: list[tuple[str, int]]) -> tuple[str, int]:
    def wrapped(i: int, least: int) -> str:
        text, precedence = parts[i]
        return text if precedence >= least else f"({text})"

    if name in _INFIX:
        sign, rank = _INFIX[name]
        space = " " if rank == 1 else ""
        return f"{wrapped(0, rank)}{space}{sign}{space}{wrapped(1, rank + 1)}", rank
    if name == "power":
        return f"{wrapped(0, 5)}**{wrapped(1, 5)}", 4
    if name == "negative":
        return f"-{wrapped(0, 2)}", 1
    if name in _SYMBOLS:
        return f"{wrapped(0, 1)} {_SYMBOLS[name]} {wrapped(1, 1)}", 0
    short = "abs" if name == "absolute" else name
    return f"{short}({', '.join(text for text, _ in parts)})", 5
