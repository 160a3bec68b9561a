"""What the equation and the conditions leave, at points that were not used to fit."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.graph import derivatives_in
from sharpfront.estimate.oracle import Assessment
from sharpfront.kernels.basis import KernelBasis
from sharpfront.problem import IntegralCondition, PointCondition, Problem
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.field import Estimate

# The two-point Gauss rule on a gap of length one.
_GAUSS = (0.5 - 0.5 / 3**0.5, 0.5 + 0.5 / 3**0.5)
_MEANING = (
    "integral of |residual| over the domain plus the largest miss of a condition, at points that "
    "were not used to fit, relative to max(1, max|u|): the size of what is left, no error bound"
)


def assess(problem: Problem, approximation: Approximation, seed: int = 0) -> Assessment:
    """Return residual, mismatch of the conditions and the estimate that follows from them."""
    points, volumes = check_points(problem, approximation, seed)
    residual = np.max(np.abs(approximation.residuals(problem, points)), axis=0)
    faces = problem.domain.boundary
    misses = [
        *(
            float(np.max(np.abs(approximation.mismatch(c.residuals, faces(c.part, 256)))))
            for c in problem.conditions
        ),
        *(_further_miss(approximation, c, points, volumes) for c in problem.further),
        *_seam(problem, approximation),
    ]
    mismatch = max(misses, default=0.0)
    size = max(
        1.0,
        *(
            float(np.max(np.abs(approximation.values(u, points, (0,) * points.shape[1]))))
            for u in problem.unknowns
        ),
    )
    value = (float(np.sum(volumes * residual)) + mismatch) / size
    return Assessment(approximation, points, volumes, residual, mismatch, Estimate(value, _MEANING))


def _further_miss(
    approximation: Approximation,
    condition: PointCondition | IntegralCondition,
    points: FloatArray,
    volumes: FloatArray,
) -> float:
    if isinstance(condition, PointCondition):
        there = np.array([condition.point])
        return max(abs(float(approximation.insert(r, there)[0])) for r in condition.residuals)
    found = [float(volumes @ approximation.insert(r, points)) for r in condition.residuals]
    return max(abs(value - condition.equals) for value in found)


def _seam(problem: Problem, approximation: Approximation) -> list[float]:
    """Return the jumps across the seam of a periodic interval, below the highest derivatives."""
    if problem.domain.periodic_axes != (True,):
        return []
    leaves = {leaf for e in problem.equations for leaf in derivatives_in(e)}
    lower = {(leaf.unknown, j) for leaf in leaves for j in range(leaf.orders[0])}
    ends = problem.domain.bounds
    return [abs(float(np.diff(approximation.values(u, ends, (j,)))[0])) for u, j in lower]


def check_points(
    problem: Problem, approximation: Approximation, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Return check points (m, d) and their volumes (m,).

    In one dimension they lie between neighbouring centres, two in each gap, so that a kernel that
    falls between two rows is seen all the same; beyond, they are quasi-uniform.
    """
    domain = problem.domain
    count = 2 * approximation.kernels + 500
    if domain.dimension > 1:
        points = domain.sample(count, "quasi", seed)
        return points, np.full(count, domain.measure / count)
    low, high = domain.bounds[:, 0]
    centres = [
        basis.centres[:, 0]
        for basis in approximation.bases.values()
        if isinstance(basis, KernelBasis)
    ]
    edges = np.concatenate([np.linspace(low, high, 501), *centres])
    edges = np.unique(edges[(edges >= low) & (edges <= high)])
    gaps = np.diff(edges)
    points = np.concatenate([edges[:-1] + gaps * part for part in _GAUSS])
    return points[:, None], np.concatenate([gaps, gaps]) / 2
