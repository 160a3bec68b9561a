"""Data on boundaries of the plane that no row of a solution has seen.

A bump of 1e-3 in the values on the rim of a disk, or on a side of a box where its formula has both
coordinates, lies between all points of the rows there. The
finished solution is compared with its conditions at many more points along the rim, and where
formulas of the conditions tell of something: where what stands inside their functions is zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.patchwork.blocks import Tiling
from sharpfront.adapt.patchwork.jumps import Jumps
from sharpfront.arrays import FloatArray
from sharpfront.equation.edges import named_in
from sharpfront.equation.expression import Expression, derivatives_in, evaluate
from sharpfront.equation.focus import inner_arguments
from sharpfront.equation.values import environment
from sharpfront.geometry import BoundaryPoints, Box
from sharpfront.geometry.curves import Curve, ring
from sharpfront.geometry.panels import Ints, Panels
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation

# Points along each panel, of a straight side so many times as many, and halvings between two of
# them that lead to a zero.
ALONG, STRAIGHT, HALVINGS = 64, 8, 50
# Values are unseen where a solution misses them by this many times the tolerance.
UNSEEN = 10.0
# Fluxes are where they are so many times as large as this share of them is.
LARGER, USUAL = 30.0, 0.98


def unseen_on_rim(
    problem: Problem, tiling: Tiling, jumps: Jumps, solution: Approximation, tol: float
) -> FloatArray | None:
    """Return a place on a boundary at which a solution has not seen its data, (2,)."""
    panels = Panels(_curves(tiling))
    count = ALONG if tiling.outline else STRAIGHT * ALONG
    for condition in problem.conditions:
        own = np.flatnonzero(np.array(panels.parts) == condition.part)
        for residual in condition.residuals if len(own) else ():
            if named_in(residual).isdisjoint(problem.coordinates):
                continue
            found = _rim(panels, own, residual, problem.coordinates, count)
            away = jumps.away(found.points)
            # Rounding may lead out of the domain, where formulas need not be defined.
            points = np.clip(found.points[away], *problem.domain.bounds)
            rim = BoundaryPoints(points, found.normals[away])
            even = np.flatnonzero(away) < count * len(own)
            gaps = missed(residual, solution, rim, even, tol)
            if gaps.max(initial=0.0) > 0.0:
                return np.asarray(rim.points[int(np.argmax(gaps))])
    return None


def _curves(tiling: Tiling) -> list[tuple[str, Curve]]:
    """Return the pieces of a boundary, the domain on their left."""
    if tiling.outline:
        return [(part, curve) for part, curve, _ in tiling.outline]
    if isinstance(tiling.domain, Box):
        return _sides(tiling.domain)
    pieces: Mapping[str, Sequence[object]]
    pieces = getattr(tiling.domain, "pieces_in", lambda _: {})(None)
    return [(part, c) for part, own in pieces.items() for c in own if isinstance(c, Curve)]


def _sides(box: Box) -> list[tuple[str, Curve]]:
    """Return the sides of a box in the plane that are not joined to others."""
    (x0, y0), (x1, y1) = box.bounds
    corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    sides = ring(corners)
    # Named by where they are: x has no sides if it is periodic.
    middles = {part: box.boundary(part, 1).points[0] for part in box.parts}
    return [
        (part, side)
        for part, middle in middles.items()
        for side in sides
        if np.allclose(
            middle, 0.5 * (side.start + side.end), rtol=0, atol=1e-9 * (x1 - x0 + y1 - y0)
        )
    ]


def missed(
    residual: Expression,
    solution: Approximation,
    found: BoundaryPoints,
    even: NDArray[np.bool_],
    tol: float,
) -> FloatArray:
    """Return by how much more than is allowed data are missed at points, (m,).

    Those that are spread evenly tell what is usual.
    """
    nothing = replace(solution, weights={k: 0.0 * w for k, w in solution.weights.items()})
    data, left = (np.abs(s.mismatch([residual], found)[0]) for s in (nothing, solution))
    if any(sum(d.orders) for d in derivatives_in(residual)):
        # Slopes may be infinite at corners: only data that stand out from others count.
        usual = float(np.quantile(data[even], USUAL)) if np.any(even) else 0.0
        return np.where(left > 0.5 * data, data - LARGER * max(usual, tol), 0.0)
    return np.asarray(left - UNSEEN * tol * max(1.0, float(data.max(initial=0.0))))


def _rim(
    panels: Panels, own: Ints, residual: Expression, coordinates: Sequence[str], count: int
) -> BoundaryPoints:
    """Return points along panels, and those at which formulas of a condition tell of something."""
    where, at = [np.repeat(own, count)], [np.tile(np.linspace(-1.0, 1.0, count), len(own))]
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
        for _ in range(HALVINGS if len(panel) else 0):
            middle = 0.5 * (low + high)
            same = np.sign(values(panel, middle)) == before
            low, high = np.where(same, middle, low), np.where(same, high, middle)
    return panel, 0.5 * (low + high)
