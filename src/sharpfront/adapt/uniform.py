"""The baseline of the paper: RBF-PIELM with random uniform centres and one width."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from sharpfront.adapt.contract import Proposal, from_rows
from sharpfront.arrays import FloatArray
from sharpfront.checks import one_of, positive, refusal, whole
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.estimate import Assessment, assess
from sharpfront.kernels import Gaussian, Kernel
from sharpfront.kernels.assemble import RowSet
from sharpfront.kernels.basis import KernelBasis, isotropic
from sharpfront.leastsquares import SVD, LeastSquares
from sharpfront.mixture import Mixture
from sharpfront.problem import IntegralCondition, PointCondition, Problem
from sharpfront.solution.approximation import Approximation


@dataclass(frozen=True, eq=False)
class KernelState:
    """Kernels of the next solve, fixed rows, and the mixture that the kernels were drawn from."""

    problem: Problem
    seed: int
    tol: float
    collocation: FloatArray
    bases: Mapping[str, KernelBasis]
    iteration: int = 0
    mixture: Mixture | None = None
    finished: Outcome | None = None
    answer: Assessment | None = None


@dataclass(frozen=True)
class Uniform:
    """One solve on random uniform centres of equal width.

    Parameters
    ----------
    kernels
        N.
    overlap
        Width over mean spacing: s = overlap (|Omega| / N)^(1/d); 2.5 in the paper.
    centres
        ``quasi``: random and evenly spread, which gives the paper's figure for every seed.
        ``random``: independent draws. Their gaps make even a constant hard to represent, and the
        result varies widely from seed to seed.
    collocation
        Number of rows of the equation, 1500 in the paper.
    sampling
        Random or gridded collocation points; the paper says "uniformly".
    penalty
        The weight lambda of condition rows. The paper names it and gives no value; with 1 its
        baseline figure comes out.
    leastsquares
        The paper's pseudo-inverse.
    kernel
        The profile, the paper's Gaussian by default.
    """

    kernels: int = 300
    overlap: float = 2.5
    centres: Literal["quasi", "random"] = "quasi"
    collocation: int = 1500
    sampling: Literal["random", "grid"] = "random"
    penalty: float = 1.0
    leastsquares: LeastSquares = field(default_factory=SVD)
    kernel: Kernel = field(default_factory=Gaussian)

    def __post_init__(self) -> None:
        whole(self.kernels, "kernels", 1, "kernels=300")
        positive(self.overlap, "overlap", "overlap=2.5")
        one_of(self.centres, "centres", ("quasi", "random"))
        whole(self.collocation, "collocation", 1, "collocation=1500")
        one_of(self.sampling, "sampling", ("random", "grid"))
        positive(self.penalty, "penalty", "penalty=1.0")
        if not isinstance(self.kernel, Kernel):
            raise refusal("kernel", "a kernel", self.kernel, "kernel=sf.kernels.Gaussian()")

    def start(self, problem: Problem, tol: float, seed: int) -> KernelState:
        """Return the state before the first solve: random centres of one width, and rows."""
        domain, count = problem.domain, self.kernels
        widths = np.full(count, self.overlap * (domain.measure / count) ** (1 / domain.dimension))
        bases = {
            name: isotropic(domain.sample(count, self.centres, seed + i), widths, self.kernel)
            for i, name in enumerate(problem.unknowns)
        }
        # Another seed than the centres', or rows and centres would be the same points.
        points = domain.sample(self.collocation, self.sampling, seed + 10_007)
        return KernelState(problem, seed, tol, points, bases)

    def propose(self, state: KernelState) -> Proposal:
        """Return the state's kernels and the fixed rows."""
        problem = state.problem
        per_face = face_count(self.collocation, problem.domain.dimension)
        rows = soft_rows(problem, state.collocation, self.penalty, per_face)
        return from_rows(state.bases, rows, problem.coordinates)

    def assess(self, state: KernelState, approximation: Approximation) -> Assessment:
        """Return the residual-based assessment."""
        return assess(state.problem, approximation, state.seed)

    def observe(self, state: KernelState, assessment: Assessment) -> KernelState:
        """Return the finished state: the baseline does not adapt."""
        kind = (
            OutcomeKind.CONVERGED
            if assessment.estimate.value <= state.tol
            else OutcomeKind.ITERATION_LIMIT
        )
        return replace(state, finished=Outcome(kind), answer=assessment)


def soft_rows(
    problem: Problem, collocation: FloatArray, penalty: float, per_face: int
) -> tuple[RowSet, ...]:
    """Return equation rows at the collocation points and penalised rows of the conditions."""
    unfit = any(isinstance(c, IntegralCondition) for c in problem.further)
    if unfit or any(problem.domain.periodic_axes):
        raise ProblemError(
            "The adaptors Uniform and Paper take conditions on the boundary and at points; "
            "integral and periodic ones need the default adaptor."
        )
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


def face_count(collocation: int, dimension: int) -> int:
    """Return as many points per face as a grid of that many points would have on it."""
    return max(1, round(math.pow(collocation, (dimension - 1) / dimension)))
