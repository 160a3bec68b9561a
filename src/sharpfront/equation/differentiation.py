"""Derivatives of the functions that may stand in an equation, one line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sp

from sharpfront.equation.edges import CONDITIONS, jumps_along
from sharpfront.equation.expression import (
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Key,
    Leaf,
    Normal,
    apply_function,
    as_expression,
    is_zero,
)
from sharpfront.equation.graph import derivatives_in, folded, ordered
from sharpfront.equation.weak import is_delta, is_weak, weak_derivative
from sharpfront.errors import EquationError

Partial = Callable[..., Any]

_STEP_LIKE = CONDITIONS | {
    *(np.sign, np.heaviside, np.floor, np.ceil, np.rint, np.trunc, np.floor_divide),
    *(np.isnan, np.isfinite),
}
# Functions with jumps: their derivative says nothing of whether they are linear.
JUMPS = _STEP_LIKE | {np.remainder}

_CHOICES: dict[np.ufunc, np.ufunc] = {
    np.maximum: np.greater_equal,
    np.minimum: np.less_equal,
    np.fmax: np.greater_equal,
    np.fmin: np.less_equal,
}


def _power_by_exponent(a: Expression, b: Expression) -> Any:
    # a**b * log(a), with the limit 0 where a = 0 < b.
    return sp.xlogy(a**b, a)


def _no_derivative_by_order(n: Expression, a: Expression) -> Any:
    raise EquationError(
        "The order of a Bessel function must be a number: its derivative is not known."
    )


_RULES: dict[np.ufunc, tuple[Partial, ...]] = {
    np.add: (lambda a, b: 1, lambda a, b: 1),
    np.subtract: (lambda a, b: 1, lambda a, b: -1),
    np.multiply: (lambda a, b: b, lambda a, b: a),
    np.true_divide: (lambda a, b: 1 / b, lambda a, b: -a / b**2),
    np.power: (lambda a, b: b * a ** (b - 1), _power_by_exponent),
    np.float_power: (lambda a, b: b * a ** (b - 1), _power_by_exponent),
    np.remainder: (lambda a, b: 1, lambda a, b: -np.floor_divide(a, b)),
    np.negative: (lambda a: -1,),
    np.deg2rad: (lambda a: np.pi / 180,),
    np.radians: (lambda a: np.pi / 180,),
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
    sp.erf: (lambda a: 2 / np.sqrt(np.pi) * np.exp(-(a**2)),),
    sp.erfc: (lambda a: -2 / np.sqrt(np.pi) * np.exp(-(a**2)),),
    sp.erfcx: (lambda a: 2 * a * sp.erfcx(a) - 2 / np.sqrt(np.pi),),
    sp.ndtr: (lambda a: np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi),),
    sp.expit: (lambda a: sp.expit(a) * sp.expit(-a),),
    sp.expm1: (np.exp,),
    sp.log1p: (lambda a: 1 / (1 + a),),
    sp.xlogy: (lambda a, b: np.log(b), lambda a, b: a / b),
    sp.j0: (lambda a: -sp.j1(a),),
    sp.j1: (lambda a: (sp.j0(a) - sp.jv(2, a)) / 2,),
    sp.jv: (_no_derivative_by_order, lambda n, a: (sp.jv(n - 1, a) - sp.jv(n + 1, a)) / 2),
    **{f: (lambda *a: 0,) * f.nin for f in sorted(_STEP_LIKE, key=lambda f: f.__name__)},
}


def total_derivative(expression: Expression, coordinate: str) -> Expression:
    """Return d/d(coordinate) by the chain rule, raising the derivatives of the unknowns.

    Of what jumps along the coordinate, as in (k(x) u')', it is the derivative in the sense of
    distributions.
    """

    def seed(leaf: Leaf) -> Expression:
        if isinstance(leaf, Derivative):
            return leaf.raised(coordinate)
        if isinstance(leaf, Normal):
            raise EquationError("A normal has no derivative: differentiate before `.dn`.")
        return Constant(float(isinstance(leaf, Coordinate) and leaf.name == coordinate))

    classical = differentiate(expression, seed)
    if not _jumps(expression, coordinate):
        return classical
    return weak_derivative(classical, expression, coordinate)


def _jumps(expression: Expression, coordinate: str) -> bool:
    """Tell whether a derivative along a coordinate would miss what the expression jumps by.

    Without it the slope of u would go on where k jumps instead of the flux k u', and the answer
    would be wrong without a word.
    """
    if any(is_delta(node) for node in ordered(expression)):
        return True
    found = jumps_along(expression, coordinate)
    for switch in found:
        inside = derivatives_in(switch.argument)
        if inside:
            raise EquationError(
                f"The derivative of an expression that jumps with {inside[0].unknown} was asked "
                f"for: where {switch.argument!r} passes through {switch.first:g}, that is no "
                "function. Write what jumps outside of the derivative, or make it continuous."
            )
    return bool(found)


def partial_derivative(expression: Expression, key: Key) -> Expression:
    """Return the derivative with respect to one leaf, all other leaves held."""
    return differentiate(expression, lambda leaf: Constant(float(leaf.key == key)))


def differentiate(expression: Expression, seed: Callable[[Leaf], Expression]) -> Expression:
    """Return the derivative of the graph, given the derivative of each leaf."""
    return folded(
        expression, lambda node: seed(node) if isinstance(node, Leaf) else Constant(0.0), _chain
    )


def _chain(node: Apply, tangents: list[Expression]) -> Expression:
    evaluate = node.function.evaluate
    if evaluate is np.where:
        return _chosen(node.arguments[0], *tangents[1:])
    if evaluate in _CHOICES:
        return _chosen(_CHOICES[evaluate](*node.arguments), *tangents)
    if is_weak(node):
        return tangents[0]
    if is_delta(node):
        return Constant(0.0)
    total: Expression = Constant(0.0)
    for i, tangent in enumerate(tangents):
        if not is_zero(tangent):
            total = total + partial(node, i) * tangent
    return total


def _chosen(condition: Any, a: Expression, b: Expression) -> Expression:
    # A choice of tangents, not a sum of 1 * a + 0 * b: the one not chosen may be infinite.
    if isinstance(a, Constant) and isinstance(b, Constant) and a.value == b.value:
        return a
    return as_expression(np.where(condition, a, b))


def partial(node: Apply, i: int) -> Expression:
    """Return the derivative of a node along its i-th argument."""
    function = node.function
    if isinstance(function.evaluate, np.ufunc):
        rules = _RULES.get(function.evaluate)
        if rules is not None:
            found = rules[i](*node.arguments)
            return found if isinstance(found, Expression) else Constant(float(found))
        raise EquationError(
            f"The derivative of {function.name} is not known here. "
            f"Write sf.function({function.name}, derivative=...) and give it."
        )
    derivatives = getattr(function, "derivatives", ())
    if i >= len(derivatives):
        raise EquationError(
            f"This equation needs the derivative of sf.function {function.name!r} along its "
            f"argument {i + 1}. Give it: sf.function(f, derivative=df), for several arguments "
            "derivative=(df1, df2); for a second derivative, derivative=sf.function(df, ...)."
        )
    return apply_function(derivatives[i], *node.arguments)
