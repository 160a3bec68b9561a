"""Corners of plates at which nothing holds the plate: they need a condition of their own.

Where two free sides of a plate meet, moments and shear forces that vanish along both leave a force
at the corner open: w = x y has no moments across the axes and no shear force, and twists the plate
by any amount. A minimum of energy has no such force, so that the twisting moment, w_xy at a right
angle, is zero there, which no condition on a side says.
"""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Expression
from sharpfront.equation.graph import derivatives_in
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.geometry.curves import Curve
from sharpfront.problem import PointCondition, Problem
from sharpfront.rounding import SAME


def free_corners(problem: Problem) -> FloatArray:
    """Return the corners of a plate at which sides meet that hold neither values nor slopes."""
    domain = problem.domain
    none = np.empty((0, domain.dimension))
    plate = len(problem.unknowns) == 1 and _order(problem.equations[0], domain.dimension) == 4
    if domain.dimension != 2 or not plate or not len(domain.corners):
        return none
    held = [c.part for c in problem.conditions if min(_order(r, 2) for r in c.residuals) < 2]
    bare = set(domain.parts).difference(c.part for c in problem.conditions)
    ends = [_ends(problem, part) for part in (*held, *bare)]
    others = np.concatenate([none, *ends])
    near = SAME * float(np.ptp(domain.bounds, axis=0).max())
    gaps = np.linalg.norm(domain.corners[:, None] - others[None], axis=2)
    return np.asarray(domain.corners[~np.any(gaps <= near, axis=1)])


def twisted(problem: Problem) -> Outcome | None:
    """Return what is missing where free sides of a plate meet; None if nothing is."""
    points = [c.point for c in problem.further if isinstance(c, PointCondition)]
    said = np.array(points).reshape(-1, problem.domain.dimension)
    near = SAME * float(np.ptp(problem.domain.bounds, axis=0).max())
    for corner in free_corners(problem):
        if not np.any(np.abs(said - corner).max(axis=1, initial=0.0) <= near):
            return Outcome(OutcomeKind.ILL_POSED, words(problem, corner))
    return None


def words(problem: Problem, corner: FloatArray) -> str:
    """Return what is wrong at a corner."""
    (name,), place = problem.unknowns, ", ".join(f"{x:.6g}" for x in corner)
    names = ", ".join((name, *problem.coordinates[:2]))
    mixed = f"{name}.d{''.join(problem.coordinates[:2])}"
    return (
        f"At the corner ({place}) two sides meet on which neither {name} nor a slope of it is "
        "given, as of a plate that is free there: that leaves a force at the corner open. If there "
        "is none the twisting moment is zero, for sides along the axes "
        f"conditions=[sf.at(({place}), lambda {names}: {mixed})]."
    )


def _order(residual: Expression, dimension: int) -> int:
    """Return the highest order of a derivative in space."""
    leaves = derivatives_in(residual)
    return max((sum(leaf.orders[:dimension]) for leaf in leaves), default=0)


def _ends(problem: Problem, part: str) -> FloatArray:
    """Return where the smooth pieces of a part end, (k, 2)."""
    curves = [c for c in problem.domain.smooth_pieces(part) if isinstance(c, Curve)]
    found = [c.at(np.array([0.0, c.measure])).points for c in curves if not c.closed]
    return np.concatenate([np.empty((0, 2)), *found])
