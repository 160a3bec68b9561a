"""Edges of a solid at which given values fit the equation.

At an edge of a right angle the values on both faces give all derivatives of a solution but the
mixed one across it. Where these satisfy the equation the solution has no r^2 log r there: what is
left is as r^4 log r, which patches hold as well as anything else. What the data say is known before
anything is solved; weights and residuals on patches that all touch edges do not tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from sharpfront.adapt.patchwork.edges import SolidEdge, edges_on
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.solid_cut_cells import SolidRegion
from sharpfront.equation.differentiation import partial_derivative
from sharpfront.equation.expression import Coordinate, Expression
from sharpfront.equation.values import at_points, environment
from sharpfront.errors import SharpfrontError
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rows.form_values import form_at


def are_calm(problem: Problem, tiling: Tiling, tol: float) -> bool:
    """Tell whether values on the faces of all edges in space satisfy the equation there.

    To so many tolerances as sources are resolved to, in units of u.
    """
    if problem.domain.dimension != 3 or len(problem.unknowns) > 1 or problem.is_singular:
        return False
    if problem.forms[0].order != 2 or len(tiling.blocks) > 1 or problem.further:
        return False
    return _is_smooth(tiling) and all(
        _is_calm(problem, tiling, line, tol) for line in tiling.corners
    )


def _is_smooth(tiling: Tiling) -> bool:
    """Tell whether curved surfaces of a solid have no edges."""
    region = tiling.blocks[0].region
    if not isinstance(region, SolidRegion):
        return region is None
    curved = [s for s in region.surfaces if s.wall is None]
    every = [(s, s.triangles.middles) for s in curved]
    return all(s.is_curved and len(s.kept(m)[0]) == len(m.points) for s, m in every)


def _is_calm(problem: Problem, tiling: Tiling, line: FloatArray, tol: float) -> bool:
    """Tell whether values fit the equation on all edges of a line; NaN along the line itself."""
    along = np.isnan(line)
    if along.sum() != 1:
        return False
    axis = int(np.argmax(along))
    edges = list(edges_on(problem, tiling, axis, line[~along]))
    try:
        return bool(edges) and all(m <= SETTINGS.source * tol for m in _misfits(problem, edges))
    except SharpfrontError:
        # Data that are not finite, or whose derivatives are not known, tell nothing.
        return False


def _misfits(problem: Problem, edges: list[SolidEdge]) -> Iterator[float]:
    """Yield by how much values on two faces miss each other and the equation, in units of u."""
    extent = float(np.ptp(problem.domain.bounds, axis=0).max())
    for edge in edges:
        found = {face.along: _value_on(problem, face.part) for face in edge.faces}
        values = {along: value for along, value in found.items() if value is not None}
        if edge.angle > 0.75 * math.pi or edge.kinds != ("value", "value") or len(values) < 2:
            yield math.inf
            continue
        points = np.empty((ADAPT.on_ray, 3))
        points[:, [a for a in range(3) if a != edge.axis]] = edge.place
        points[:, edge.axis] = np.linspace(edge.low, edge.high, ADAPT.on_ray)
        yield _at_edge(problem, values, points, extent)


def _value_on(problem: Problem, part: str) -> Expression | None:
    """Return the value that is given on a part of the boundary."""
    (form,) = next(c.forms for c in problem.conditions if c.part == part)
    if len(form.terms) != 1:
        return None
    return -form.source / form.terms[0].coefficient


def _at_edge(
    problem: Problem, values: dict[int, Expression], points: FloatArray, extent: float
) -> float:
    """Return how far values on the faces along two axes are from each other and the equation."""
    names = problem.coordinates
    leaves = environment(names, points)

    def derived(value: Expression, orders: tuple[int, ...]) -> FloatArray:
        for name, times in zip(names, orders, strict=True):
            for _ in range(times):
                value = partial_derivative(value, Coordinate(name, names).key)
        return np.asarray(at_points(value, leaves, len(points), "condition"))

    one, other = values
    apart = np.abs(derived(values[one], (0, 0, 0)) - derived(values[other], (0, 0, 0)))
    form = form_at(problem.forms[0], names, points)
    left, across = -form.rhs, np.full(len(points), np.inf)
    for term, factor in zip(form.terms, form.coefficients, strict=True):
        if term.orders[one] and term.orders[other]:
            return math.inf
        left = left + factor * derived(values[other if term.orders[other] else one], term.orders)
        if 2 in (term.orders[one], term.orders[other]):
            across = np.minimum(across, np.abs(factor))
    # Where the equation misses by m the solution has m / (pi k) r^2 log r.
    missed = extent**2 * np.abs(left) / (math.pi * np.maximum(across, 1e-300))
    return float(max(apart.max(), missed.max()))
