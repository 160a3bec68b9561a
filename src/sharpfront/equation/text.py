"""Equations as text, ``"-nu*u_xx + u_x = 0"``, read by a whitelist over Python's syntax tree.

Nothing is ever evaluated: a node of the tree that is not named here is an error.
"""

from __future__ import annotations

import ast
import difflib
import functools
import operator
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
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
    split_names,
)
from sharpfront.equation.trace import Symbols, refuse_condition
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
    *("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp"),
    *("sqrt", "cbrt", "square", "reciprocal", "float_power", "hypot"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "deg2rad", "radians"),
    *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
    *("sign", "fabs", "positive", "floor", "ceil", "rint", "trunc", "heaviside"),
    *("maximum", "minimum", "fmax", "fmin", "remainder", "floor_divide"),
    *("equal", "not_equal", "isnan", "isfinite"),
    *("logical_and", "logical_or", "logical_xor", "logical_not"),
)
_SCIPY_NAMES = ("erf", "erfc", "erfcx", "ndtr", "expit", "xlogy", "j0", "j1", "jv")
_UFUNCS: dict[str, np.ufunc] = {
    **{name: getattr(np, name) for name in _NUMPY_NAMES},
    **{name: getattr(sp, name) for name in _SCIPY_NAMES},
    "abs": np.absolute,
}
_CONSTANTS = {"pi": float(np.pi), "e": float(np.e)}
_FUNCTIONS = (*_UFUNCS, "where")
_NORMAL = "normal"


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
    if not isinstance(text, str):
        raise EquationError(f"Expected a text such as 'u_x = 1', got {text!r}.")
    # The `=` of <=, >= and != belongs to a comparison.
    sides = re.split(r"(?<![<>!=])=(?!=)", text)
    if len(sides) > 2 or "==" in text:
        raise EquationError(f"An equation has one `=`, got {text!r}. Write for example u_x = 1.")
    left, *right = (_Reader(text, side, symbols, parameters or {}).read() for side in sides)
    return left - right[0] if right else left


class _Reader:
    """Walks the syntax tree of one side of an equation."""

    def __init__(
        self, text: str, side: str, symbols: Symbols, parameters: Mapping[str, float]
    ) -> None:
        self.text = text
        self.side = " ".join(side.split())
        self.symbols = symbols
        # Python reads names in this normal form, so a micro sign is a mu.
        self.parameters = {unicodedata.normalize("NFKC", k): v for k, v in parameters.items()}
        taken = (*symbols.unknowns, *symbols.coordinates, *_FUNCTIONS)
        for name in self.parameters:
            if name in taken or self.derivative(name) is not None:
                raise EquationError(f"The parameter name {name!r} is taken; choose another one.")

    def read(self) -> Expression:
        try:
            tree = ast.parse(self.side, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            message = getattr(error, "msg", None) or str(error) or "it is nested too deeply"
            raise EquationError(
                f"Cannot read {_short(self.side)} in {_short(self.text)}: {message}. "
                "Write for example -nu*u_xx + u_x = exp(x)."
            ) from None
        try:
            expression = as_expression(self.visit(tree.body))
        except RecursionError:
            raise EquationError(
                "The equation's text is nested too deeply to be read; write it as a function."
            ) from None
        refuse_condition(expression, "equation")
        return expression

    def visit(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return self.number(node)
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.Call):
            return self.finite(self.call(node), node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            value = self.visit(node.operand)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            combine, right = _BINARY[type(node.op)], node.right
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
            combine, right = _COMPARE[type(node.ops[0])], node.comparators[0]
        else:
            self.refuse(node)
        # Both sides as expressions: powers of whole numbers would never end, floats overflow.
        values = as_expression(self.visit(node.left)), as_expression(self.visit(right))
        return self.finite(combine(*values), node)

    def finite(self, value: Any, node: ast.expr) -> Any:
        if isinstance(value, Constant) and not np.isfinite(value.value):
            raise EquationError(
                f"{_short(ast.unparse(node))} in {_short(self.text)} is {value.value}; "
                "an equation holds finite real numbers."
            )
        return value

    def number(self, node: ast.Constant) -> Any:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            self.refuse(node)
        return self.finite(as_expression(node.value), node)

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
                f"{name!r} in {_short(self.text)} is not a known function."
                f"{_guess(name, _FUNCTIONS)} Known: {', '.join(sorted(_FUNCTIONS))}."
            )
        if len(arguments) != _UFUNCS[name].nin:
            raise EquationError(
                f"{name} takes {_UFUNCS[name].nin} argument(s), "
                f"got {len(arguments)} in {_short(self.text)}."
            )
        return _UFUNCS[name](*arguments)

    def name(self, name: str) -> Any:
        if name in self.symbols.coordinates or name in self.symbols.unknowns:
            return self.symbols.stand_in(name)
        if name in self.parameters:
            return self.finite(as_expression(self.parameters[name]), ast.Name(name))
        if name in _CONSTANTS:
            return as_expression(_CONSTANTS[name])
        derivative = self.derivative(name)
        if derivative is not None:
            return derivative
        known = (*self.symbols.unknowns, *self.symbols.coordinates, *self.parameters, *_CONSTANTS)
        raise EquationError(
            f"{name!r} in {_short(self.text)} is not known.{_guess(name, known)} "
            f"Known: {', '.join(known)}; derivatives are written "
            f"{self.symbols.unknowns[0]}_{self.symbols.coordinates[0]}. "
            "Other names are parameters: give their values."
        )

    def derivative(self, name: str) -> Expression | None:
        """Return what u_xx, u_n or normal_x stands for; None for any other name."""
        head, _, tail = name.rpartition("_")
        if head in self.symbols.unknowns:
            unknown = self.symbols.stand_in(head)
            along = split_names(tail, self.symbols.coordinates)
            if tail == "n":
                return unknown.dn
            return None if along is None else functools.reduce(Expression.d, along, unknown)
        is_normal = head == _NORMAL and tail in self.symbols.coordinates
        return Normal(tail) if is_normal else None

    def refuse(self, node: ast.expr) -> NoReturn:
        part = ast.get_source_segment(self.side, node) or ast.unparse(node)
        hint = " Write ** for a power." if "^" in part else ""
        raise EquationError(
            f"{_short(part)} in {_short(self.text)} cannot stand in an equation.{hint} Allowed are "
            "numbers, names, + - * / **, comparisons inside where(...), and calls such as exp(x)."
        )


def _short(text: str) -> str:
    return repr(text if len(text) <= 200 else f"{text[:200]}...")


def _guess(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def unknowns_in(
    text: str, coordinates: tuple[str, ...], parameters: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the names that carry a derivative in the text: ``u_xx`` makes u an unknown.

    Names of parameters are left out, so that ``k_x`` may be one.
    """
    names = (n for n in re.findall(r"[^\W\d]\w*", text) if n not in parameters)
    parts = (unicodedata.normalize("NFKC", name).rpartition("_") for name in names)
    found = [head for head, _, tail in parts if head and split_names(tail, coordinates)]
    unknowns = tuple(dict.fromkeys(name for name in found if name != _NORMAL))
    if not unknowns:
        raise EquationError(
            f"No derivative along {', '.join(coordinates)} is found in {_short(text)}. "
            "Write for example -nu*u_xx + u_x = 0."
        )
    return unknowns


_INFIX = {
    **{"less": ("<", 0), "less_equal": ("<=", 0), "greater": (">", 0), "greater_equal": (">=", 0)},
    **{"add": ("+", 1), "subtract": ("-", 1), "multiply": ("*", 2), "divide": ("/", 2)},
    "power": ("**", 4),
}
_ATOM = 5
_Piece = str | tuple[Expression, int]


def to_text(expression: Expression, limit: int = 100_000) -> str:
    """Return the expression as text; `parse` reads it back if it knows all its functions.

    Parameters
    ----------
    expression
        The graph. A part that is used twice is written twice, so a text can be very long.
    limit
        Number of words and signs after which the text breaks off with ``...``.
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
            waiting.extend(reversed(_wrapped(*piece)))
    return "".join(written)


def _wrapped(node: Expression, least: int) -> list[_Piece]:
    """Return what to write for a node, in parentheses if it binds less than it must."""
    pieces, precedence = _pieces(node)
    return pieces if precedence >= least else ["(", *pieces, ")"]


def _pieces(node: Expression) -> tuple[list[_Piece], int]:
    """Return what to write for a node and the precedence of its outermost operation."""
    if not isinstance(node, Apply):
        text = _leaf(node)
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
    pieces: list[_Piece] = ["abs(" if name == "absolute" else f"{name}("]
    for i, argument in enumerate(arguments):
        pieces += [", ", (argument, 0)] if i else [(argument, 0)]
    return [*pieces, ")"], _ATOM


def _leaf(node: Expression) -> str:
    if isinstance(node, Coordinate):
        return node.name
    if isinstance(node, Normal):
        return f"{_NORMAL}_{node.name}"
    if isinstance(node, Derivative):
        letters = "".join(c * n for c, n in zip(node.coordinates, node.orders, strict=True))
        return f"{node.unknown}_{letters}" if letters else node.unknown
    assert isinstance(node, Constant)
    if 1e-3 <= abs(node.value) < 1e5:
        return np.format_float_positional(node.value, trim="-")
    return "0" if repr(node.value) == "0.0" else repr(node.value)
