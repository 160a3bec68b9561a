"""From the graph to SymPy."""

from __future__ import annotations

import functools
import importlib
import operator
from typing import Any

import numpy as np
import scipy.special as sp

from sharpfront.equation.expression import (
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Normal,
)
from sharpfront.equation.graph import folded
from sharpfront.equation.opaque import OpaqueFunction
from sharpfront.equation.printer import NORMAL
from sharpfront.equation.symbolic import JOINED, NAMED, RELATIONS, Build
from sharpfront.equation.trace import is_condition
from sharpfront.equation.weak import WeakDerivative, is_delta
from sharpfront.errors import EquationError, MissingExtraError

# Whole numbers up to here are exact as floats.
_EXACT = 2.0**53
_OF_TRUTHS = (np.logical_and, np.logical_or, np.logical_xor, np.logical_not)


def sympy_module() -> Any:
    """Return SymPy, or say which extra brings it."""
    try:
        return importlib.import_module("sympy")
    except ImportError:
        raise MissingExtraError("sympy", "symbolic") from None


def to_expression(expression: Expression) -> Any:
    """Return a graph as a SymPy expression, unknowns as functions of the coordinates."""
    sympy, table = sympy_module(), _functions()
    return folded(
        expression,
        lambda node: _symbol(node, sympy),
        lambda node, made: _applied(node, made, sympy, table),
    )


def _symbol(node: Expression, sympy: Any) -> Any:
    if isinstance(node, Constant):
        whole = node.value.is_integer() and abs(node.value) < _EXACT
        return sympy.Integer(int(node.value)) if whole else sympy.Float(node.value)
    if isinstance(node, Coordinate):
        return sympy.Symbol(node.name)
    if isinstance(node, Normal):
        return sympy.Symbol(f"{NORMAL}_{node.name}")
    assert isinstance(node, Derivative)
    places = [sympy.Symbol(c) for c in node.coordinates]
    unknown = sympy.Function(node.unknown)(*places)
    along = [(x, n) for x, n in zip(places, node.orders, strict=True) if n]
    return sympy.Derivative(unknown, *along) if along else unknown


def _applied(node: Apply, made: list[Any], sympy: Any, table: dict[Any, Build]) -> Any:
    function = node.function
    if function.evaluate is np.where:
        sides = [_number(a, m, sympy) for a, m in zip(node.arguments[1:], made[1:], strict=True)]
        return _choice(sympy, _truth(node.arguments[0], made[0], sympy), *sides)
    if isinstance(function, WeakDerivative):
        return sympy.Derivative(made[1], sympy.Symbol(function.coordinate), evaluate=False)
    if is_delta(node):
        return sympy.DiracDelta(made[0])
    as_read = _truth if function.evaluate in _OF_TRUTHS else _number
    parts = [as_read(a, m, sympy) for a, m in zip(node.arguments, made, strict=True)]
    if function.evaluate in table:
        return table[function.evaluate](*parts)
    if isinstance(function, OpaqueFunction):
        return sympy.Function(function.name, _imp_=staticmethod(function))(*parts)
    raise EquationError(
        f"{function.name} has no counterpart in SymPy. Write it out in terms of functions that "
        "SymPy knows, or wrap it as sf.function(f)(x)."
    )


def _choice(sympy: Any, when: Any, a: Any, b: Any) -> Any:
    return sympy.Piecewise((a, when), (b, True), evaluate=False)


def _truth(argument: Expression, made: Any, sympy: Any) -> Any:
    """Return a comparison as it is, and a number as the question whether it is not zero."""
    return made if is_condition(argument) else sympy.Ne(made, 0)


def _number(argument: Expression, made: Any, sympy: Any) -> Any:
    """Return a number as it is, and a comparison as one or zero."""
    return _choice(sympy, made, 1, 0) if is_condition(argument) else made


# There under names of its own, those that are read too and a few more.
_NAMED: dict[Any, str] = {f: n for n, f in {**NAMED, **RELATIONS, **JOINED}.items()} | {
    **{np.sqrt: "sqrt", np.fabs: "Abs", np.fmax: "Max", np.fmin: "Min"}
}


@functools.cache
def _functions() -> dict[Any, Build]:
    """Return what stands in SymPy for each function."""
    s = sympy_module()
    written: dict[Any, Build] = {
        np.add: operator.add,
        np.subtract: operator.sub,
        np.multiply: operator.mul,
        np.true_divide: operator.truediv,
        **dict.fromkeys((np.power, np.float_power), operator.pow),
        np.negative: operator.neg,
        np.positive: operator.pos,
        np.reciprocal: lambda a: 1 / a,
        np.square: lambda a: a**2,
        np.cbrt: lambda a: s.sign(a) * s.Abs(a) ** s.Rational(1, 3),
        np.hypot: lambda a, b: s.sqrt(a**2 + b**2),
        np.trunc: lambda a: s.sign(a) * s.floor(s.Abs(a)),
        np.floor_divide: lambda a, b: s.floor(a / b),
        np.exp2: lambda a: s.Integer(2) ** a,
        np.expm1: lambda a: s.exp(a) - 1,
        np.log2: lambda a: s.log(a) / s.log(2),
        np.log10: lambda a: s.log(a) / s.log(10),
        np.log1p: lambda a: s.log(1 + a),
        np.logaddexp: lambda a, b: s.log(s.exp(a) + s.exp(b)),
        **dict.fromkeys((np.deg2rad, np.radians), lambda a: a * s.pi / 180),
        sp.erfcx: lambda a: s.exp(a**2) * s.erfc(a),
        sp.ndtr: lambda a: s.erfc(-a / s.sqrt(2)) / 2,
        sp.expit: lambda a: 1 / (1 + s.exp(-a)),
        sp.xlogy: lambda a, b: _choice(s, s.Eq(a, 0), s.Integer(0), a * s.log(b)),
        sp.j0: lambda a: s.besselj(0, a),
        sp.j1: lambda a: s.besselj(1, a),
    }
    return written | {f: getattr(s, name) for f, name in _NAMED.items()}
