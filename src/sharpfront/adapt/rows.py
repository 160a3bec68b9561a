"""Rows on fixed collocation points with soft conditions, as the paper has them."""

from __future__ import annotations

import math

from sharpfront.arrays import Host
from sharpfront.assemble import RowSet
from sharpfront.problem import Problem


def soft_rows(
    problem: Problem, collocation: Host, penalty: float, per_face: int
) -> tuple[RowSet, ...]:
    """Return equation rows at the collocation points and penalised rows of the conditions."""
    rows = [RowSet("equation", problem.forms, collocation)]
    for condition in problem.conditions:
        face = problem.domain.boundary(condition.part, per_face)
        rows.append(
            RowSet(condition.part, condition.forms, face.points, face.normals, weight=penalty)
        )
    return tuple(rows)


def face_count(collocation: int, dimension: int) -> int:
    """Return as many points per face as a grid of that many points would have on it."""
    return max(1, round(math.pow(collocation, (dimension - 1) / dimension)))
