"""Rows on fixed collocation points with soft conditions, as the paper has them."""

from __future__ import annotations

import math

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError
from sharpfront.kernels.assemble import RowSet
from sharpfront.problem import IntegralCondition, PointCondition, Problem


def soft_rows(
    problem: Problem, collocation: FloatArray, penalty: float, per_face: int
) -> tuple[RowSet, ...]:
    """Return equation rows at the collocation points and penalised rows of the conditions."""
    _refuse_unfit(problem)
    rows = [RowSet("equation", problem.forms, collocation)]
    for condition in problem.conditions:
        face = problem.domain.boundary(condition.part, per_face)
        rows.append(
            RowSet(condition.part, condition.forms, face.points, face.normals, weight=penalty)
        )
    for further in problem.further:
        if isinstance(further, PointCondition):
            point = np.array([further.point])
            rows.append(RowSet("at", further.forms, point, weight=penalty))
    return tuple(rows)


def _refuse_unfit(problem: Problem) -> None:
    unfit = any(isinstance(c, IntegralCondition) for c in problem.further)
    if unfit or any(problem.domain.periodic_axes):
        raise ProblemError(
            "The adaptors Uniform and Paper take conditions on the boundary and at points; "
            "integral and periodic ones need the default adaptor."
        )


def face_count(collocation: int, dimension: int) -> int:
    """Return as many points per face as a grid of that many points would have on it."""
    return max(1, round(math.pow(collocation, (dimension - 1) / dimension)))
