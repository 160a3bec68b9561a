"""Data on curved boundaries that no row of a solution has seen.

A bump of 1e-3 in the values on the rim of a disk lies between all points of the rows there. The
finished solution is compared with its conditions at many more points along the rim, and where
formulas of the conditions tell of something: where what stands inside their functions is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sharpfront.adapt.patchwork.blocks import Tiling
from sharpfront.adapt.patchwork.jumps import Jumps
from sharpfront.arrays import FloatArray
from sharpfront.equation.edges import named_in
from sharpfront.equation.expression import Expression, derivatives_in, evaluate
from sharpfront.equation.focus import inner_arguments
from sharpfront.equation.values import environment
from sharpfront.geometry import BoundaryPoints
from sharpfront.geometry.panels import Ints, Panels
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation

# Points along each panel, and halvings between two of them that lead to a zero.
ALONG, HALVINGS = 64, 50
# Values are unseen where a solution misses them by this many times the tolerance.
UNSEEN = 10.0
# Fluxes are where they are so many times as large as this share of them is.
LARGER, USUAL = 30.0, 0.98


def unseen_on_rim(
    problem: Problem, tiling: Tiling, jumps: Jumps, solution: Approximation, tol: float
) -> FloatArray | None:
    """Return a place on a curved boundary at which a solution has not seen its data, (2,)."""
    panels = Panels((part, curve) for part, curve, wall in tiling.outline if wall is None)
    for condition in problem.conditions:
        own = np.flatnonzero(np.array(panels.parts) == condition.part)
        for residual in condition.residuals if len(own) else ():
            found = _rim(panels, own, residual, problem.coordinates)
            away = jumps.away(found.points)
            rim = BoundaryPoints(found.points[away], found.normals[away])
            missed = _missed(residual, solution, rim, tol)
            if missed.max(initial=0.0) > 0.0:
                return np.asarray(rim.points[int(np.argmax(missed))])
    return None


def _missed(
    residual: Expression, solution: Approximation, rim: BoundaryPoints, tol: float
) -> FloatArray:
    """Return by how much more than is allowed data are missed at points, (m,)."""
    nothing = replace(solution, weights={k: 0.0 * w for k, w in solution.weights.items()})
    data, left = (np.abs(s.mismatch([residual], rim)[0]) for s in (nothing, solution))
    if any(sum(d.orders) for d in derivatives_in(residual)):
        # Slopes may be infinite at corners: only data that stand out from others count.
        usual = float(np.quantile(data, USUAL)) if len(data) else 0.0
        return np.where(left > 0.5 * data, data - LARGER * max(usual, tol), 0.0)
    return np.asarray(left - UNSEEN * tol * max(1.0, float(data.max(initial=0.0))))


def _rim(
    panels: Panels, own: Ints, residual: Expression, coordinates: Sequence[str]
) -> BoundaryPoints:
    """Return points along panels, and those at which formulas of a condition tell of something."""
    where, at = [np.repeat(own, ALONG)], [np.tile(np.linspace(-1.0, 1.0, ALONG), len(own))]
    for inner in inner_arguments(residual):
        if named_in(inner) and not derivatives_in(inner):
            panel, t = _zeros(panels, own, inner, coordinates)
            where.append(panel)
            at.append(t)
    return panels.boundary(np.concatenate(where), np.concatenate(at))[0]


def _zeros(
    panels: Panels, own: Ints, function: Expression, coordinates: Sequence[str]
) -> tuple[Ints, FloatArray]:
    """Return panels and parameters at which a function changes its sign along them."""

    def values(panel: Ints, t: FloatArray) -> FloatArray:
        at, _ = panels.boundary(panel, t)
        found = evaluate(function, environment(coordinates, at.points, at.normals))
        return np.broadcast_to(np.asarray(found, dtype=float), len(t))

    t = np.linspace(-1.0, 1.0, ALONG)
    with np.errstate(all="ignore"):
        signs = np.sign(values(np.repeat(own, ALONG), np.tile(t, len(own)))).reshape(-1, ALONG)
        i, j = np.nonzero(signs[:, :-1] * signs[:, 1:] <= 0.0)
        panel, low, high, before = own[i], t[j], t[j + 1], signs[i, j]
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            same = np.sign(values(panel, middle)) == before
            low, high = np.where(same, middle, low), np.where(same, high, middle)
    return panel, 0.5 * (low + high)
