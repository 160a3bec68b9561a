"""Layers on a line: where k jumps in (k u_x)_x the flux goes on, and the slope does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.equation.edges import Edge, edges_along, places_along, switches
from sharpfront.equation.expression import TIME, Constant, Expression
from sharpfront.equation.graph import derivatives_in, evaluate, ordered
from sharpfront.equation.linearise import tangent_terms, with_leaves
from sharpfront.equation.weak import is_delta, is_weak
from sharpfront.errors import ProblemError
from sharpfront.pieces.frame import Bends
from sharpfront.problem import Problem
from sharpfront.rounding import SAME

_KNOWN = (
    "With time= a coefficient that jumps inside a derivative is known as k in (k * u.dx).dx, "
    "where k may depend on x, t and u and jumps by the same factor at all times and values, on "
    "an interval that is not periodic"
)
# Moments, beside those between switches, and values of the unknown at which a factor is looked at
# on both sides of an edge.
_MOMENTS, _VALUES = 9, 33


def layers_of(
    equations: Sequence[Expression], problem: Problem, companions: Sequence[str]
) -> Bends | None:
    """Return where slopes of the unknowns bend, None if nowhere, or say what is not known.

    `companions` are the unknowns whose rates follow the others, as unknowns of their own.
    """
    nodes = [n for e in equations for n in ordered(e)]
    weak = [n for n in nodes if is_weak(n)]
    fluxes: list[Expression] = [n.arguments[1] for n in weak]
    if problem.jumps or any(map(is_delta, nodes)):
        raise ProblemError(
            "sf.delta and sf.jump are not known with time=. Write a load as a narrow band, "
            "np.where(abs(x - a) < h, 1 / (2 * h), 0): h may be small, and u is off by h / 4 times "
            "the load over the diffusivity where it acts, by less elsewhere."
        )
    if not fluxes:
        return None
    moving = next((f for f in fluxes if any(s.moves for s in switches(f))), None)
    if moving is not None:
        raise ProblemError(
            f"{_KNOWN}, at places that stay; got the flux {moving!r}. Round what moves, as "
            "(1 + np.tanh((x - a - b * t) / w)) / 2, w as narrow as the tolerance asks for."
        )
    if problem.domain.periodic_axes[0]:
        raise ProblemError(f"{_KNOWN}; got the flux {fluxes[0]!r}.")
    ratios: dict[str, dict[float, float]] = {}
    for flux in fluxes:
        unknown, own = _jumps(flux, problem)
        if ratios.setdefault(unknown, own) != own:
            raise ProblemError(f"{_KNOWN}, and all fluxes of {unknown} alike; got {flux!r} too.")
    places = np.unique([place for own in ratios.values() for place in own])
    if not len(places):
        return None
    rows = [[ratios.get(u, {}).get(p, 1.0) for p in places] for u in problem.unknowns]
    rows += [rows[problem.unknowns.index(u)] for u in companions]
    found = np.array(rows[:1] if all(row == rows[0] for row in rows) else rows)
    # Slopes on both sides are to each other as 1/k; their mean is that of a smooth function.
    inverse = np.stack([found, np.ones_like(found)])
    return Bends(places, 2.0 * inverse / inverse.sum(axis=0))


def _jumps(flux: Expression, problem: Problem) -> tuple[str, dict[float, float]]:
    """Return whose slope a flux has, and by how many times its factor jumps at which places."""
    x = problem.coordinates[0]
    low, high = (float(v) for v in problem.domain.bounds[:, 0])
    slopes = [t for t in tangent_terms(flux) if t.orders == (1, 0)]
    others = [d for d in derivatives_in(flux) if d.orders not in ((0, 0), (1, 0))]
    factor = slopes[0].coefficient if slopes else Constant(0.0)
    bends = any(any(d.orders) for d in derivatives_in(factor))
    rest = with_leaves(flux, {d.key: Constant(0.0) for d in derivatives_in(flux) if any(d.orders)})
    if len(slopes) > 1 or others or bends or edges_along(rest, x, low, high):
        raise ProblemError(
            f"{_KNOWN}, with nothing else that jumps in the derivative; got the flux {flux!r}."
        )
    edges = edges_along(factor, x, low, high)
    ratios = np.array([_ratio(factor, edge, problem) for edge in edges])
    if np.isnan(ratios).any():
        raise ProblemError(f"{_KNOWN}; got the flux {flux!r}.")
    if np.any(ratios <= 0.0):
        raise ProblemError(f"The factor of {flux!r} vanishes or changes its sign where it jumps.")
    found = {e.above: float(r) for e, r in zip(edges, ratios, strict=True) if r != 1.0}
    return slopes[0].unknown if slopes else problem.unknowns[0], found


def _ratio(factor: Expression, edge: Edge, problem: Problem) -> float:
    """Return the factor on the right of an edge over that on its left, nan if that changes.

    It is taken at moments of the span and at values of the unknowns of all sizes.
    """
    assert problem.time is not None
    (low,), (high,) = problem.domain.bounds
    aside = 1e-13 * (high - low)
    at = np.array([edge.below - aside, edge.above + aside])
    sizes = np.sinh(np.linspace(-10.0, 10.0, _VALUES))
    between = np.array(
        [problem.time[0], *places_along(factor, TIME, *problem.time), problem.time[1]]
    )
    moments = [*np.linspace(*problem.time, _MOMENTS), *(between[1:] + between[:-1]) / 2]
    x, t, u = np.meshgrid(at, moments, sizes, indexing="ij")
    leaves = {("coordinate", problem.coordinates[0]): x.ravel(), ("coordinate", TIME): t.ravel()}
    # Unknowns have values of their own.
    own = {name: np.roll(u, 7 * i, axis=2).ravel() for i, name in enumerate(problem.unknowns)}
    leaves |= {d.key: own[d.unknown] for d in derivatives_in(factor)}
    with np.errstate(all="ignore"):
        left, right = np.broadcast_to(evaluate(factor, leaves), x.size).reshape(2, -1)
        # Where both are zero, or a value is none that the unknown may have, nothing is told.
        told = np.isfinite(left) & np.isfinite(right) & ((left != 0.0) | (right != 0.0))
        ratios = right[told] / left[told]
    if not ratios.size or not np.isfinite(ratios).all():
        return 0.0
    first = float(np.median(ratios))
    same = np.abs(ratios - first) <= SAME * abs(first)
    return first if same.all() else float("nan")
