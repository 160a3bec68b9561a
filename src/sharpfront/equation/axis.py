"""Equations on the axis r = 0: multiplied by r as often as they are divided by it.

What solves u_rr + u_r / r = f solves r u_rr + u_r = r f, and at r = 0 that says u_r = 0: the
condition that singles out the regular solution.
"""

from __future__ import annotations

import numpy as np

from sharpfront.equation.expression import Apply, Constant, Coordinate, Expression, apply
from sharpfront.equation.graph import coordinates_of, ordered
from sharpfront.equation.linearise import tangent_terms, with_leaves
from sharpfront.errors import EquationError

# Powers of r that are cleared; the Laplacian of a Laplacian has four.
MOST_POWERS = 8


def cleared(residual: Expression, name: str) -> Expression:
    """Return the residual times the powers of a coordinate that it is divided by.

    Of what stays divided by it, as exp(-1 / x) does, it is returned as it is.
    """
    found = residual
    for _ in range(MOST_POWERS + 1):
        if not _is_divided(found, name):
            return found
        found = _times(found, name)
    return residual


def implied(residual: Expression, name: str) -> list[Expression]:
    """Return what a cleared residual says where the coordinate is zero.

    That is it and its derivatives there, as far as they are of lower order: of a plate, of fourth
    order, u_r = 0 and u_rrr = 0. Half of the solutions are regular and need no condition.
    """
    order = _highest(residual, name)
    out: list[Expression] = []
    for _ in range(MOST_POWERS):
        found = with_leaves(residual, {("coordinate", name): Constant(0.0)})
        if _highest(found, name) >= order:
            break
        out += [found] if tangent_terms(found) else []
        if order < 4 or len(out) == order // 2:
            break
        try:
            residual = residual.d(name)
        except EquationError:  # of a function that no derivative is known of
            break
    return out


def _highest(residual: Expression, name: str) -> int:
    """Return the highest order of derivatives along a coordinate."""
    names = coordinates_of(residual)
    return max((t.orders[names.index(name)] for t in tangent_terms(residual)), default=0)


def _is_divided(expression: Expression, name: str) -> bool:
    divisions = (
        node.arguments[1]
        for node in ordered(expression)
        if isinstance(node, Apply) and node.function.evaluate is np.true_divide
    )
    return any(_without(divisor, name) is not None for divisor in divisions)


def _times(node: Expression, name: str) -> Expression:
    """Return a node times the coordinate, taken out of what it is divided by where possible."""
    if isinstance(node, Apply) and _is_divided(node, name):
        kind, parts = node.function.evaluate, node.arguments
        if kind in (np.add, np.subtract, np.negative):
            return apply(kind, *(_times(part, name) for part in parts))
        if kind is np.multiply:
            first = _is_divided(parts[0], name)
            a, b = parts if first else parts[::-1]
            return _times(a, name) * b
        if kind is np.true_divide:
            less = _without(parts[1], name)
            return parts[0] / less if less is not None else _times(parts[0], name) / parts[1]
    return Coordinate(name, coordinates_of(node) or (name,)) * node


def _without(divisor: Expression, name: str) -> Expression | None:
    """Return a divisor without one factor of the coordinate; None if it has none."""
    if isinstance(divisor, Coordinate) and divisor.name == name:
        return Constant(1.0)
    if not isinstance(divisor, Apply):
        return None
    kind, parts = divisor.function.evaluate, divisor.arguments
    if kind is np.multiply:
        for a, b in (parts, parts[::-1]):
            less = _without(a, name)
            if less is not None:
                return less * b
    exponent = Constant(2.0) if kind is np.square else parts[-1]
    if kind not in (np.square, np.power) or not isinstance(exponent, Constant):
        return None
    less = _without(parts[0], name) if exponent.value >= 1 else None
    return None if less is None else parts[0] ** (exponent.value - 1) * less
