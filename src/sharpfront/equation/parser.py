"""The reader of equations: a whitelist over Python's syntax tree.

Nothing is ever evaluated: a node of the tree that is not named here is an error.
"""

from __future__ import annotations

import ast
import functools
import itertools
import operator
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.special as sp

from sharpfront.checks import did_you_mean
from sharpfront.equation.calculus import SYSTEMS, laplacian
from sharpfront.equation.expression import (
    SPECTRAL,
    Constant,
    Coordinate,
    Expression,
    Normal,
    Parameter,
    as_expression,
    split_names,
)
from sharpfront.equation.graph import coordinates_of
from sharpfront.equation.printer import NORMAL
from sharpfront.equation.repair import repaired
from sharpfront.equation.trace import Symbols, refuse_condition
from sharpfront.equation.weak import delta
from sharpfront.errors import EquationError

Parameters = Mapping[str, float | Expression]
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
UFUNCS: dict[str, np.ufunc] = {
    **{name: getattr(np, name) for name in _NUMPY_NAMES},
    **{name: getattr(sp, name) for name in _SCIPY_NAMES},
    "abs": np.absolute,
}
_CONSTANTS = {"pi": float(np.pi), "e": float(np.e)}
# Functions of expressions: derivatives of products, where u_xx has no room for them.
_CALCULUS = ("diff", "laplacian")
FUNCTIONS = (*UFUNCS, "where", "delta", *_CALCULUS)
_FUNCTION_SYNONYMS = {
    **{f"a{n}": f"arc{n}" for n in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
    **{"ln": "log", "lg": "log10", "max": "maximum", "min": "minimum", "sgn": "sign"},
    **{"if": "where", "piecewise": "where", "pow": "float_power", "mod": "remainder"},
    **{"lap": "laplacian", "derivative": "diff", "step": "heaviside"},
}


class TextError(EquationError):
    """A text that cannot be read, with the piece of it that is wrong, as it is written there."""

    def __init__(self, message: str, part: str = "") -> None:
        super().__init__(message)
        self.part = part


class Reader:
    """Walks the syntax tree of one side of an equation.

    With a list for what is `found`, mistakes go there, and a nameless symbol stands in their place.
    """

    def __init__(
        self,
        text: str,
        side: str,
        symbols: Symbols,
        parameters: Parameters,
        found: list[TextError] | None = None,
    ) -> None:
        self.text = text
        self.side = " ".join(side.split())
        self.symbols = symbols
        self.found = found
        # Python reads names in this normal form, so a micro sign is a mu.
        self.parameters = {unicodedata.normalize("NFKC", k): v for k, v in parameters.items()}
        # A parameter may be called delta, as many are; the load then has no name here.
        functions = (f for f in FUNCTIONS if f != "delta")
        taken = (*symbols.unknowns, *symbols.coordinates, *functions)
        for name in self.parameters:
            if name in taken or self.derivative(name) is not None:
                raise TextError(f"The parameter name {name!r} is taken; choose another one.", name)

    def read(self, *, condition: bool = False) -> Expression:
        """Return the expression of this side."""
        try:
            tree = ast.parse(self.side, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            message = getattr(error, "msg", None) or str(error) or "it is nested too deeply"
            meant = self.meant(self.side)
            raise TextError(
                f"Cannot read {short(self.side)} in {short(self.text)}: {message}."
                + (meant or " Write for example -nu*u_xx + u_x = exp(x)."),
                self.side,
            ) from None
        try:
            expression = as_expression(self.visit(tree.body))
        except RecursionError:
            raise EquationError(
                "The equation's text is nested too deeply to be read; write it as a function."
            ) from None
        if not condition:
            refuse_condition(expression, "equation")
        return expression

    def meant(self, text: str) -> str:
        """Return the question whether another text is meant; nothing where none is known."""
        found = repaired(text, self.symbols.coordinates, FUNCTIONS)
        return f" Did you mean {short(found)}?" if found else ""

    def visit(self, node: ast.expr) -> Any:
        """Return what a node stands for."""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return self.finite(as_expression(node.value), node)
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.Call):
            return self.finite(self.call(node), node)
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Invert):
            value = as_expression(self.visit(node.operand))
            if isinstance(node.op, ast.Not):
                return np.logical_not(value)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BoolOp):
            join: Any = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return functools.reduce(join, [as_expression(self.visit(v)) for v in node.values])
        if isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
            # ``0 < x < 1`` means what it means on paper.
            sides = [as_expression(self.visit(side)) for side in (node.left, *node.comparators)]
            pairs = zip(node.ops, itertools.pairwise(sides), strict=True)
            links = [_COMPARE[type(op)](left, right) for op, (left, right) in pairs]
            return self.finite(functools.reduce(np.logical_and, links), node)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            # Both sides as expressions: powers of whole numbers would never end, floats overflow.
            left, right = (as_expression(self.visit(side)) for side in (node.left, node.right))
            return self.finite(_BINARY[type(node.op)](left, right), node)
        return self.refuse(node)

    def finite(self, value: Any, node: ast.expr) -> Any:
        """Return the value unless it is a number that is not finite."""
        if not self.found and isinstance(value, Constant) and not np.isfinite(value.value):
            return self.complain(
                f"{short(ast.unparse(node))} in {short(self.text)} is {value.value}; "
                "an equation holds finite real numbers.",
                self.written(node),
            )
        return value

    def call(self, node: ast.Call) -> Any:
        """Return a function of expressions."""
        if not isinstance(node.func, ast.Name) or node.keywords:
            return self.refuse(node)
        name = node.func.id
        if name in _CALCULUS:
            return self.calculus(name, node)
        arguments = [as_expression(self.visit(a)) for a in node.args]
        if name == "where":
            if len(arguments) != 3:
                return self.complain(
                    f"where takes (condition, a, b), got {len(arguments)} arguments.", name
                )
            return np.where(*arguments)
        if name == "delta" and len(arguments) == 1 and name not in self.parameters:
            return delta(arguments[0])
        if name not in UFUNCS:
            return self.complain(
                f"{name!r} in {short(self.text)} is not a known function."
                f"{self.not_called(name, node)} Known: {', '.join(sorted(FUNCTIONS))}.",
                name,
            )
        if len(arguments) != UFUNCS[name].nin:
            return self.complain(
                f"{name} takes {UFUNCS[name].nin} argument(s), "
                f"got {len(arguments)} in {short(self.text)}.",
                name,
            )
        return UFUNCS[name](*arguments)

    def not_called(self, name: str, node: ast.Call) -> str:
        """Return what is meant by u(x), by x(1 - x), or by a misspelt function."""
        if name not in (*self.symbols.unknowns, *self.symbols.coordinates, *self.parameters):
            return did_you_mean(name, FUNCTIONS, _FUNCTION_SYNONYMS)
        inside = [ast.unparse(a) for a in node.args]
        if name in self.symbols.unknowns and set(inside) <= set(self.symbols.coordinates):
            return f" Did you mean {name!r}? Unknowns are written without their coordinates."
        if name in self.symbols.unknowns and all(isinstance(a, ast.Constant) for a in node.args):
            return (
                f" For {name} at a place write {name!r} alone: a condition belongs to a part of "
                f"the boundary, left='{name} = 0', or to sf.at(place, ...)."
            )
        return f" Did you mean {f'{name}*({chr(44).join(inside)})'!r}?"

    def calculus(self, name: str, node: ast.Call) -> Any:
        """Return ``laplacian(k*u)`` or ``diff(k*u_x, x)``."""
        places = [a.id for a in node.args[1:] if isinstance(a, ast.Name)]
        meant = SYSTEMS if name == "laplacian" else self.symbols.coordinates
        known = [c for c in places if c in meant]
        whole = len(node.args) < 3 if name == "laplacian" else len(node.args) > 1
        if not whole or len(known) != len(node.args) - 1:
            return self.complain(
                f"{name} in {short(self.text)} is written laplacian(u), or diff(u, x) with one or "
                f"more of {', '.join(self.symbols.coordinates)} after the expression.",
                name,
            )
        value = as_expression(self.visit(node.args[0]))
        # An expression without coordinates or unknowns is a number.
        if not coordinates_of(value):
            return Constant(0.0)
        return (
            laplacian(value, *known)
            if name == "laplacian"
            else functools.reduce(Expression.d, known, value)
        )

    def name(self, name: str) -> Any:
        """Return what a name stands for."""
        if name in self.symbols.coordinates or name in self.symbols.unknowns:
            return self.symbols.stand_in(name)
        if name in self.parameters:
            return self.finite(as_expression(self.parameters[name]), ast.Name(name))
        if name in _CONSTANTS:
            return as_expression(_CONSTANTS[name])
        derivative = self.derivative(name)
        if derivative is not None:
            return derivative
        if name == SPECTRAL:
            return Parameter(SPECTRAL)
        known = (*self.symbols.unknowns, *self.symbols.coordinates, *self.parameters, *_CONSTANTS)
        written = [f"{u}_{c}" for u in self.symbols.unknowns for c in self.symbols.coordinates[:1]]
        hint = f"; derivatives are written {written[0]}" if written else ""
        # A function without parentheses shows in what stands behind it.
        as_on_paper = self.meant(self.side if name in FUNCTIONS else name)
        meant = self.derivative_meant(name) or as_on_paper or did_you_mean(name, known)
        return self.complain(
            f"{name!r} in {short(self.text)} is not known.{meant} "
            f"Known: {', '.join(known)}{hint}. Other names are parameters: give their values.",
            name,
        )

    def derivative_meant(self, name: str) -> str:
        """Return the question whether uxx, u_XX or du is a derivative; nothing for other names."""
        for unknown in self.symbols.unknowns:
            tail = name.removeprefix(unknown).strip("_").lower()
            if name.startswith(unknown) and split_names(tail, self.symbols.coordinates):
                return f" Did you mean '{unknown}_{tail}'?"
            if name == f"d{unknown}" and self.symbols.coordinates:
                return f" Did you mean the derivative '{unknown}_{self.symbols.coordinates[0]}'?"
        return ""

    def derivative(self, name: str) -> Expression | None:
        """Return what u_xx, u_n or normal_x stands for; None for any other name."""
        head, _, tail = name.rpartition("_")
        if head in self.symbols.unknowns:
            unknown = self.symbols.stand_in(head)
            along = split_names(tail, self.symbols.coordinates)
            if tail == "n":
                return unknown.dn
            return None if along is None else functools.reduce(Expression.d, along, unknown)
        is_normal = head == NORMAL and tail in self.symbols.coordinates
        return Normal(tail) if is_normal else None

    def refuse(self, node: ast.expr) -> Any:
        """Complain about a node that is not on the list."""
        part = self.written(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
            # It binds so loosely that its operands are half the equation.
            part = "^"
        hint = " Write ** for a power." if "^" in part else ""
        hint += self.meant(self.side)
        stand_in = self.complain(
            f"{short(part)} in {short(self.text)} cannot stand in an equation.{hint} Allowed are "
            "numbers, names, + - * / **, comparisons inside where(...), and calls such as exp(x).",
            part,
        )
        if isinstance(node, ast.BinOp):
            self.visit(node.left), self.visit(node.right)
        return stand_in

    def written(self, node: ast.expr) -> str:
        """Return the text of a node."""
        return ast.get_source_segment(self.side, node) or ast.unparse(node)

    def complain(self, message: str, part: str) -> Expression:
        """Raise the error, or keep it and go on with something that has no value."""
        if self.found is None:
            raise TextError(message, part)
        self.found.append(TextError(message, part))
        return Coordinate("?", ("?",))


def short(text: str) -> str:
    """Return a text in quotes, cut off where it is long."""
    return repr(text if len(text) <= 200 else f"{text[:200]}...")
