"""Layers on a line: where k jumps in (k u_x)_x the flux goes on, and the slope does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.equation.edges import Edge, edges_along
from sharpfront.equation.expression import TIME, Constant, Coordinate, Derivative, Expression, Leaf
from sharpfront.equation.graph import derivatives_in, evaluate, ordered
from sharpfront.equation.linearise import substitute, tangent_terms
from sharpfront.equation.weak import is_delta, is_weak
from sharpfront.errors import ProblemError
from sharpfront.pieces.frame import Bends
from sharpfront.problem import Problem

_KNOWN = (
    "With time= a coefficient that jumps inside a derivative is known as k(x) in "
    "(k(x) * u.dx).dx, for one unknown on an interval that is not periodic"
)


def layers_of(equations: Sequence[Expression], problem: Problem) -> Bends | None:
    """Return where slopes of the unknown bend, None if nowhere, or say what is not known."""
    nodes = [n for e in equations for n in ordered(e)]
    fluxes = {id(n): n.arguments[1] for n in nodes if is_weak(n) and derivatives_in(n)}
    if problem.jumps or any(map(is_delta, nodes)):
        raise ProblemError("sf.delta and sf.jump are not known with time=; leave time= out.")
    if not fluxes:
        return None
    if len(problem.unknowns) > 1 or len(fluxes) > 1 or problem.domain.periodic_axes[0]:
        raise ProblemError(f"{_KNOWN}; got more than that.")
    return _bends(next(iter(fluxes.values())), problem)


def _bends(flux: Expression, problem: Problem) -> Bends | None:
    """Return where the factor of the slope in a flux jumps, and by how much slopes differ."""
    x = problem.coordinates[0]
    low, high = (float(v) for v in problem.domain.bounds[:, 0])
    slopes = [t for t in tangent_terms(flux) if t.orders == (1, 0)]
    others = [d for d in derivatives_in(flux) if d.orders not in ((0, 0), (1, 0))]
    factor = slopes[0].coefficient if slopes else Constant(0.0)
    timed = any(isinstance(n, Coordinate) and n.name == TIME for n in ordered(factor))
    rest = substitute(flux, _without_slope)
    if others or timed or derivatives_in(factor) or edges_along(rest, x, low, high):
        raise ProblemError(
            f"{_KNOWN}, with nothing else that jumps in the derivative; got the flux {flux!r}."
        )
    edges = edges_along(factor, x, low, high)
    sides = np.array([_beside(factor, x, edge, high - low) for edge in edges]).reshape(-1, 2)
    if np.any(sides[:, 0] * sides[:, 1] <= 0.0):
        raise ProblemError(f"The factor of {flux!r} vanishes or changes its sign where it jumps.")
    jumps = sides[:, 0] != sides[:, 1]
    if not jumps.any():
        return None
    # Slopes on both sides are to each other as 1/k; their mean is that of a smooth function.
    inverse = 1.0 / sides[jumps]
    places = np.array([edge.above for edge in edges])[jumps]
    return Bends(places, (2.0 * inverse / inverse.sum(axis=1, keepdims=True)).T)


def _without_slope(leaf: Leaf) -> Expression:
    return Constant(0.0) if isinstance(leaf, Derivative) and any(leaf.orders) else leaf


def _beside(factor: Expression, x: str, edge: Edge, length: float) -> tuple[float, float]:
    """Return the factor on both sides of an edge."""
    aside = 1e-13 * length
    at = np.array([edge.below - aside, edge.above + aside])
    left, right = np.broadcast_to(evaluate(factor, {("coordinate", x): at}), (2,))
    return float(left), float(right)
