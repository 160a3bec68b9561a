"""The baseline of the paper: RBF-PIELM with random uniform centres and one width."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from sharpfront.adapt.contract import Proposal, from_rows
from sharpfront.adapt.rows import face_count, soft_rows
from sharpfront.checks import one_of, positive, refusal, whole
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate import Assessment, assess
from sharpfront.kernels import Gaussian, Kernel
from sharpfront.kernels.basis import KernelBasis, isotropic
from sharpfront.leastsquares import SVD, LeastSquares
from sharpfront.mixture import Mixture
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation


@dataclass(frozen=True, eq=False)
class UniformState:
    """The problem, the seed, and whether the one solve has been done."""

    problem: Problem
    seed: int
    tol: float
    finished: Outcome | None = None
    mixture: Mixture | None = None
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
        check_baseline(self)

    def start(self, problem: Problem, tol: float, seed: int) -> UniformState:
        """Return the state before the solve."""
        return UniformState(problem, seed, tol)

    def propose(self, state: UniformState) -> Proposal:
        """Return random centres, one width, fixed rows."""
        problem = state.problem
        bases = uniform_bases(self, problem, state.seed)
        # Another seed than the centres', or rows and centres would be the same points.
        points = problem.domain.sample(self.collocation, self.sampling, state.seed + 10_007)
        per_face = face_count(self.collocation, problem.domain.dimension)
        rows = soft_rows(problem, points, self.penalty, per_face)
        return from_rows(bases, rows, problem.coordinates)

    def assess(self, state: UniformState, approximation: Approximation) -> Assessment:
        """Return the residual-based assessment."""
        return assess(state.problem, approximation, state.seed)

    def observe(self, state: UniformState, assessment: Assessment) -> UniformState:
        """Return the finished state: the baseline does not adapt."""
        kind = (
            OutcomeKind.CONVERGED
            if assessment.estimate.value <= state.tol
            else OutcomeKind.ITERATION_LIMIT
        )
        return replace(state, finished=Outcome(kind), answer=assessment)


def check_baseline(settings: Any) -> None:
    """Refuse settings out of range, those that `Paper` shares with its baseline."""
    whole(settings.kernels, "kernels", 1, "kernels=300")
    positive(settings.overlap, "overlap", "overlap=2.5")
    one_of(settings.centres, "centres", ("quasi", "random"))
    whole(settings.collocation, "collocation", 1, "collocation=1500")
    one_of(settings.sampling, "sampling", ("random", "grid"))
    positive(settings.penalty, "penalty", "penalty=1.0")
    if not isinstance(settings.kernel, Kernel):
        raise refusal("kernel", "a kernel", settings.kernel, "kernel=sf.kernels.Gaussian()")


def uniform_bases(settings: Any, problem: Problem, seed: int) -> dict[str, KernelBasis]:
    """Return for each unknown uniform centres of one width, as `Uniform` and `Paper` say."""
    domain, count, how = problem.domain, settings.kernels, settings.centres
    widths = np.full(count, settings.overlap * (domain.measure / count) ** (1 / domain.dimension))
    return {
        name: isotropic(domain.sample(count, how, seed + i), widths, settings.kernel)
        for i, name in enumerate(problem.unknowns)
    }
