"""What a solution on patches leaves of the equation and of the conditions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.equation.expression import Expression
from sharpfront.geometry import BoundaryPoints
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation

# Positions on each axis of a patch at which the residual is looked at.
_CHECKED = np.array([-0.9, -0.4, 0.3, 0.8])
POINTS = ("points", "normals")


def residual_on(
    problem: Problem, approximation: Approximation, patches: Sequence[Patch]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return points of patches, their shares of volume, and what equations leave there."""
    points, volumes = [], []
    for patch in patches:
        points.append(patch.spread(_CHECKED))
        size = patch.cut.measure if patch.cut else float(np.prod(patch.sides))
        volumes.append(np.full(len(points[-1]), size / len(points[-1])))
    every = np.concatenate(points)
    left = np.abs(approximation.residuals(problem, every)).max(axis=0)
    return every, np.concatenate(volumes), left


def mismatch_of(problem: Problem, approximation: Approximation) -> float:
    """Return the largest miss of a condition on the boundary."""
    parts: dict[tuple[Expression, ...], list[BoundaryPoints]] = {}
    for c in problem.conditions:
        parts.setdefault(c.residuals, []).append(problem.domain.boundary(c.part, ADAPT.places))
    misses = []
    for residuals, own in parts.items():
        points, normals = (np.concatenate([getattr(b, k) for b in own]) for k in POINTS)
        found = approximation.mismatch(residuals, BoundaryPoints(points, normals))
        misses.append(float(np.abs(found).max()))
    return max(misses, default=0.0)
