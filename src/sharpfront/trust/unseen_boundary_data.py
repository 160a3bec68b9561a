"""Data on a boundary that no row of a solution has seen.

A bump of 1e-3 in the values on the rim of a disk, on a side of a box or on a face of a cube lies
between all points of the rows there. The finished solution is compared with its conditions at many
more points, and where formulas of the conditions tell of something: where what stands inside their
functions is zero. How points are spread over a curve (`rim`) and over a surface (`faces`) differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.equation.edges import named_in
from sharpfront.equation.expression import Expression
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.values import at_points, environment
from sharpfront.geometry import BoundaryPoints
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation
from sharpfront.trust.settings import TRUST

# Brackets are divided into so many parts at a time, all of them together: a formula takes hardly
# longer at a thousand points than at one.
PARTS_AT_ONCE = 512


class Watched(NamedTuple):
    """Points of parts of the boundary at which a condition is looked at."""

    points: BoundaryPoints
    even: NDArray[np.bool_]  # which of them are spread evenly, and not told by formulas


Watching = Callable[[Sequence[str], Expression], Watched]


def unseen_on_boundary(
    problem: Problem, solution: Approximation, tol: float, watching: Watching
) -> FloatArray | None:
    """Return a place on a boundary at which a solution has not seen its data, (d,).

    `watching` gives points of parts for a residual.
    """
    for residual, parts in _stated(problem):
        found = watching(parts, residual)
        if not len(found.points.points):
            continue
        gaps = _missed(residual, solution, found, tol, problem.domain.sample(TRUST.places))
        if gaps.max() > 0.0:
            return np.asarray(found.points.points[int(np.argmax(gaps))])
    return None


def _stated(problem: Problem) -> list[tuple[Expression, list[str]]]:
    """Return the residuals of conditions that depend on place, with the parts they hold on.

    Values are looked at on all parts of a residual together; fluxes on each, since what is usual on
    one need not be on another.
    """
    out: dict[tuple[int, str], tuple[Expression, list[str]]] = {}
    for condition in problem.conditions:
        for residual in condition.residuals:
            if not named_in(residual).isdisjoint(problem.coordinates):
                flux = any(sum(d.orders) for d in derivatives_in(residual))
                key = id(residual), condition.part if flux else ""
                out.setdefault(key, (residual, []))[1].append(condition.part)
    return list(out.values())


def _missed(
    residual: Expression,
    solution: Approximation,
    found: Watched,
    tol: float,
    inside: FloatArray,
) -> FloatArray:
    """Return by how much more than is allowed data are missed at points, (m,).

    Those that are spread evenly tell what is usual, and points inside how large the solution is.
    """
    points, unknowns = found.points.points, derivatives_in(residual)
    leaves = environment(solution.coordinates, points, found.points.normals)
    leaves |= {d.key: np.zeros(len(points)) for d in unknowns}
    data = np.abs(at_points(residual, leaves, len(points), "residual"))
    left = np.abs(solution.mismatch([residual], found.points)[0])
    if any(sum(d.orders) for d in unknowns):
        # Slopes may be infinite at corners: only data that stand out from others count.
        usual = float(np.quantile(data[found.even], TRUST.usual)) if np.any(found.even) else 0.0
        return np.where(left > 0.5 * data, data - TRUST.fluxes * max(usual, tol), 0.0)
    zero = (0,) * inside.shape[1]
    sizes = [np.abs(solution.values(d.unknown, inside, zero)).max() for d in unknowns]
    return np.asarray(left - TRUST.counts * tol * max(1.0, float(data.max(initial=0.0)), *sizes))


def closed_in(
    signs: Callable[[FloatArray], NDArray[np.int8] | FloatArray],
    start: FloatArray,
    end: FloatArray,
    halvings: int,
) -> tuple[FloatArray, FloatArray]:
    """Return places on both sides of changes of sign between starts and ends, (m, ...) each.

    `signs` takes places between starts and ends, all m of them once or several times in a row.
    """
    if not len(start):
        return start, end
    before, every = signs(start), np.arange(len(start))
    at_once = max(1, math.floor(math.log2(PARTS_AT_ONCE / len(start))))
    shares = np.arange(1, 2**at_once).reshape(-1, *[1] * start.ndim) / 2**at_once
    for _ in range(-(-halvings // at_once)):
        inner = start + shares * (end - start)
        same = signs(inner.reshape(-1, *start.shape[1:])).reshape(len(inner), -1) == before
        # How many in a row are as at the start.
        first = np.where(same.all(axis=0), len(inner), np.argmin(same, axis=0))
        places = np.concatenate([start[None], inner, end[None]])
        start, end = places[first, every], places[first + 1, every]
    return start, end
