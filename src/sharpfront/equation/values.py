"""Values of expressions at arrays of points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sharpfront.arrays import Flags
from sharpfront.equation.differentiation import JUMPS
from sharpfront.equation.expression import (
    Apply,
    Constant,
    Coordinate,
    Expression,
    Key,
    Leaf,
    Values,
)
from sharpfront.equation.graph import evaluate, evaluate_nodes, ordered
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.opaque import OpaqueFunction
from sharpfront.errors import EquationError

# What to do about data that are infinite, and about those that are no numbers.
_VANISHING = "multiply the equation by what vanishes there"
_LIMIT = (
    "nan is 0 / 0, 0 * inf, or a root or logarithm of a negative number. Write what has a limit "
    "there so that it is computed, as scipy.special.xlogy(x, x) for x * np.log(x), or as a "
    "function of your own, sf.function(f)(x)"
)

# Where an equation is finite whose poles stand at ends, and what stands for unknowns there.
LOOKED_INSIDE, ANY_VALUE = (1e-9, 1e-6, 0.3, 0.7, 1.0 - 1e-6, 1.0 - 1e-9), 0.7
# What grows more from 1e-6 to 1e-9 before an end than 1/x does has an infinite integral there.
STEEP = 1.5e3


def environment(
    coordinates: Sequence[str], points: Values, normals: Values | None = None
) -> dict[Key, Values]:
    """Return the leaves' values at points (m, d), with normals (m, d) on a boundary."""
    result: dict[Key, Values] = {
        ("coordinate", name): points[:, i] for i, name in enumerate(coordinates)
    }
    if normals is not None:
        space = [name for name in coordinates if name != "t"]
        result |= {("normal", name): normals[:, i] for i, name in enumerate(space)}
    return result


def at_points(
    expression: Expression, leaves: Mapping[Key, Values], count: int, what: str
) -> Values:
    """Return the expression at `count` points, refusing values that are not finite."""
    if isinstance(expression, Constant) and math.isfinite(expression.value):
        return np.full(count, expression.value)
    return _finite(_values(expression, leaves, count), leaves, what)


def _values(expression: Expression, leaves: Mapping[Key, Values], count: int) -> Values:
    with np.errstate(all="ignore"):
        return np.broadcast_to(np.asarray(evaluate(expression, leaves), dtype=float), (count,))


def is_finite(form: LinearForm, coordinates: Sequence[str], points: Values) -> Flags:
    """Tell at which points, (m, d), the coefficients and the source of a form are finite, (m,)."""
    leaves, found = environment(coordinates, points), np.ones(len(points), dtype=bool)
    for graph in (form.source, *(term.coefficient for term in form.terms)):
        found &= np.isfinite(_values(graph, leaves, len(points)))
    return found


def has_poles_at_ends(expression: Expression, name: str, low: float, high: float) -> bool:
    """Tell whether an equation is finite inside an interval and not at its ends, as u_x / x is.

    A source with an infinite integral, as x^-1.5, does not count: nothing would be fine enough.
    """
    nodes = [node for node in ordered(expression) if isinstance(node, Leaf)]
    if not any(isinstance(node, Coordinate) for node in nodes):
        return False
    inside = low + (high - low) * np.array(LOOKED_INSIDE)
    x = np.array([low, high, *inside])

    def with_unknowns(value: float) -> Values:
        leaves: dict[Key, Values] = {node.key: np.asarray(value) for node in nodes}
        return _values(expression, leaves | {("coordinate", name): x}, len(x))

    found, source = np.isfinite(with_unknowns(ANY_VALUE)), np.abs(with_unknowns(0.0)[2:])
    steep = source[0] > STEEP * source[1] or source[-1] > STEEP * source[-2]
    return not found[:2].all() and bool(found[2:].all()) and not steep


def _finite(values: Values, leaves: Mapping[Key, Values], what: str) -> Values:
    finite = np.isfinite(values)
    if not finite.all():
        i = int(np.argmin(finite))
        where = ", ".join(f"{k[1]} = {v[i]:.6g}" for k, v in leaves.items() if k[0] == "coordinate")
        advice = _LIMIT if np.isnan(values[i]) else _VANISHING
        raise EquationError(
            f"The {what} is {values[i]} at {where}. Coefficients and sources must be finite in the "
            f"whole closed domain; {advice}, or cut the domain short of the point."
        )
    return values


def inside_values(
    expression: Expression, leaves: Mapping[Key, Values], inside: Mapping[Key, Values], count: int
) -> Values:
    """Return the expression at `count` points of an edge, as a limit from one side of it.

    `leaves` are the coordinates of the points, `inside` those of points beside them with no edge in
    between: what steps has the step's value there.
    """
    values: dict[int, Values] = {}
    with np.errstate(all="ignore"):
        beside = evaluate_nodes(expression, inside)
        for node in ordered(expression):
            values[id(node)] = _limit(node, values, beside, leaves)
    at_edge = np.broadcast_to(values[id(expression)], (count,))
    return _finite(at_edge, leaves, "coefficient in the equation")


def _limit(
    node: Expression,
    values: Mapping[int, Values],
    beside: Mapping[int, Values],
    leaves: Mapping[Key, Values],
) -> Values:
    if not isinstance(node, Apply):
        return evaluate(node, leaves)
    ufunc, arguments = node.function.evaluate, [values[id(a)] for a in node.arguments]
    if ufunc is np.remainder:
        a, b = (beside[id(n)] for n in node.arguments)
        return np.asarray(arguments[0] - arguments[1] * np.floor_divide(a, b))
    if ufunc in JUMPS:
        return beside[id(node)]
    if isinstance(node.function, OpaqueFunction):
        breaks = (*node.function.breaks, *((),) * len(arguments))
        arguments = [
            _within(a, beside[id(n)], np.array(own)) if own else a
            for a, n, own in zip(arguments, node.arguments, breaks, strict=False)
        ]
    return np.asarray(node.function.evaluate(*arguments), dtype=float)


def _within(values: Values, inside: Values, breaks: Values) -> Values:
    """Return values moved into the piece between breaks in which other values lie."""
    ends = np.concatenate([[-np.inf], breaks, [np.inf]])
    piece = np.searchsorted(breaks, inside)
    low, high = ends[piece], ends[piece + 1]
    # A few floats inside: a function may round its own breaks otherwise.
    reach = 4.0 * np.spacing(np.abs(values))
    return np.asarray(np.clip(values, low + reach, high - reach))


def form_values(
    form: LinearForm, leaves: Mapping[Key, Values], count: int, what: str = "equation"
) -> tuple[tuple[Values, ...], Values]:
    """Return the coefficients of a form's terms and its source at `count` points, (count,) each."""
    coefficients = tuple(
        at_points(term.coefficient, leaves, count, f"coefficient in the {what}")
        for term in form.terms
    )
    return coefficients, at_points(form.source, leaves, count, f"source of the {what}")
