"""Derivatives of the functions that may stand in an equation, one line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp

from sharpfront.equation.expression import Apply, Constant, Expression, apply_function
from sharpfront.errors import EquationError

Partial = Callable[..., Any]

_STEP_LIKE = (
    np.sign,
    np.heaviside,
    np.floor,
    np.ceil,
    np.rint,
    np.trunc,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.equal,
    np.not_equal,
    np.logical_and,
    np.logical_or,
    np.logical_not,
    np.bitwise_and,
    np.bitwise_or,
    np.invert,
    np.floor_divide,
)


def _where(condition: Any, a: Any, b: Any) -> Expression:
    # `a` and `b` may both be plain numbers; np.where is traced through its condition.
    result: Expression = np.where(condition, a, b)
    return result


def _power_by_exponent(a: Expression, b: Expression) -> Any:
    return a**b * np.log(a)


_RULES: dict[np.ufunc, tuple[Partial, ...]] = {
    np.add: (lambda a, b: 1, lambda a, b: 1),
    np.subtract: (lambda a, b: 1, lambda a, b: -1),
    np.multiply: (lambda a, b: b, lambda a, b: a),
    np.true_divide: (lambda a, b: 1 / b, lambda a, b: -a / b**2),
    np.power: (lambda a, b: b * a ** (b - 1), _power_by_exponent),
    np.float_power: (lambda a, b: b * a ** (b - 1), _power_by_exponent),
    np.remainder: (lambda a, b: 1, lambda a, b: -np.floor_divide(a, b)),
    np.negative: (lambda a: -1,),
    np.positive: (lambda a: 1,),
    np.absolute: (np.sign,),
    np.fabs: (np.sign,),
    np.square: (lambda a: 2 * a,),
    np.sqrt: (lambda a: 0.5 / np.sqrt(a),),
    np.cbrt: (lambda a: 1 / (3 * np.cbrt(a) ** 2),),
    np.reciprocal: (lambda a: -1 / a**2,),
    np.exp: (np.exp,),
    np.exp2: (lambda a: np.log(2) * np.exp2(a),),
    np.expm1: (np.exp,),
    np.log: (lambda a: 1 / a,),
    np.log2: (lambda a: 1 / (np.log(2) * a),),
    np.log10: (lambda a: 1 / (np.log(10) * a),),
    np.log1p: (lambda a: 1 / (1 + a),),
    np.sin: (np.cos,),
    np.cos: (lambda a: -np.sin(a),),
    np.tan: (lambda a: 1 + np.tan(a) ** 2,),
    np.arcsin: (lambda a: 1 / np.sqrt(1 - a**2),),
    np.arccos: (lambda a: -1 / np.sqrt(1 - a**2),),
    np.arctan: (lambda a: 1 / (1 + a**2),),
    np.arctan2: (lambda a, b: b / (a**2 + b**2), lambda a, b: -a / (a**2 + b**2)),
    np.hypot: (lambda a, b: a / np.hypot(a, b), lambda a, b: b / np.hypot(a, b)),
    np.sinh: (np.cosh,),
    np.cosh: (np.sinh,),
    np.tanh: (lambda a: 1 - np.tanh(a) ** 2,),
    np.arcsinh: (lambda a: 1 / np.sqrt(1 + a**2),),
    np.arccosh: (lambda a: 1 / np.sqrt(a**2 - 1),),
    np.arctanh: (lambda a: 1 / (1 - a**2),),
    np.logaddexp: (lambda a, b: sp.expit(a - b), lambda a, b: sp.expit(b - a)),
    np.maximum: (lambda a, b: _where(a >= b, 1, 0), lambda a, b: _where(a >= b, 0, 1)),
    np.minimum: (lambda a, b: _where(a <= b, 1, 0), lambda a, b: _where(a <= b, 0, 1)),
    sp.erf: (lambda a: 2 / np.sqrt(np.pi) * np.exp(-(a**2)),),
    sp.erfc: (lambda a: -2 / np.sqrt(np.pi) * np.exp(-(a**2)),),
    sp.expit: (lambda a: sp.expit(a) * sp.expit(-a),),
    sp.j0: (lambda a: -sp.j1(a),),
    **{f: (lambda *a: 0,) * f.nin for f in _STEP_LIKE},
}


def partial(node: Apply, i: int) -> Expression:
    """Return the derivative of a node along its i-th argument."""
    result = _partial(node, i)
    return result if isinstance(result, Expression) else Constant(float(result))


def _partial(node: Apply, i: int) -> Any:
    function = node.function
    if function.evaluate is np.where:
        condition = node.arguments[0]
        return 0 if i == 0 else _where(condition, float(i == 1), float(i == 2))
    if isinstance(function.evaluate, np.ufunc):
        rules = _RULES.get(function.evaluate)
        if rules is not None:
            return rules[i](*node.arguments)
        raise EquationError(
            f"The derivative of {function.name} is not known here. "
            f"Write sf.function({function.name}, derivative=...) and give it."
        )
    derivatives = getattr(function, "derivatives", ())
    if i >= len(derivatives):
        raise EquationError(
            f"This equation needs the derivative of sf.function {function.name!r} along its "
            f"argument {i + 1}. Give it: sf.function(f, derivative=df)."
        )
    return apply_function(derivatives[i], *node.arguments)
