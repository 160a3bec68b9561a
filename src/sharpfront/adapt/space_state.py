"""What the adaptor in space tries, what it knows, and what became of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sharpfront.adapt.advice import Solved
from sharpfront.adapt.axis_features import Marginals
from sharpfront.adapt.reweighed import SecondLook
from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome
from sharpfront.estimate import Assessment
from sharpfront.mixture import Mixture
from sharpfront.pieces import coordinate
from sharpfront.pieces.tensor import TensorBasis, axis_of_size
from sharpfront.problem import Problem


@dataclass(frozen=True, eq=False)
class Trial:
    """What is solved: functions along each axis, and a factor on the mixtures' deviations."""

    functions: tuple[int, ...]
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class SpaceAssessment(Assessment):
    """An assessment with what its estimate was made of."""

    # The error equation's answer, or the change from the solution before, infinite without one.
    raw: float
    # Factor on it, from solutions that changed by more than their estimates said, or whose residual
    # did not fall.
    doubt: float
    look: SecondLook | None = None  # what other weights of the rows say, where they were asked
    rests_on: str = ""  # what the estimate rests on where there is no error equation, in words
    # How many times the kernels' equations amplify changes; 0 where that was not asked.
    amplified: float = 0.0

    @property
    def checked(self) -> bool:
        """Whether another solution or the error equation stands behind the estimate."""
        return math.isfinite(self.raw)

    @property
    def rank(self) -> tuple[bool, float]:
        """Smaller is better: nothing is an answer before it was compared with something."""
        return not self.checked, self.estimate.value


@dataclass(frozen=True, eq=False)
class SpaceState:
    """Where the adaptation stands."""

    # What is solved, how well, and the seed.
    problem: Problem
    tol: float
    seed: int
    found: Marginals | None  # what elements found; None where they cannot be built
    mixtures: tuple[Mixture | None, ...]  # along each axis; None where nothing is narrow
    suspect: bool  # whether elements cannot tell the problem from one with many solutions
    # What is proposed next, and what is to be tried after it at the same size.
    trial: Trial
    pending: tuple[Trial, ...] = ()
    tuned: bool = False  # whether the mixtures' widths have been tried
    missing: Outcome | None = None  # what the problem lacks, if that is plain from its statement
    # The trial and assessment with the smallest estimate.
    best: tuple[Trial, SpaceAssessment] | None = None
    last: SpaceAssessment | None = None  # the assessment before, to compare with
    idle: int = 0  # growths in a row that did not lower the estimate
    tried: tuple[Solved, ...] = ()  # kernels and estimate of each solve
    finished: Outcome | None = None  # why it ended

    @property
    def mixture(self) -> Mixture | None:
        """The axes' mixtures as one in space."""
        return in_space(self.mixtures, self.problem.domain.bounds, self.trial.scale)

    @property
    def answer(self) -> SpaceAssessment:
        """The assessment with the smallest estimate."""
        assert self.best is not None
        return self.best[1]


def in_space(
    mixtures: tuple[Mixture | None, ...], bounds: FloatArray, scale: float = 1.0
) -> Mixture | None:
    """Return mixtures along the axes as one in space: each component fills the other axes."""
    low, high = bounds
    weights, means, covariances = [], [], []
    for i, mixture in enumerate(mixtures):
        if mixture is None:
            continue
        for w, m, c in zip(mixture.weights, mixture.means, mixture.covariances, strict=True):
            mean, variance = 0.5 * (low + high), (high - low) ** 2 / 12.0
            mean[i], variance[i] = m[0], scale**2 * c[0, 0]
            weights.append(w)
            means.append(mean)
            covariances.append(np.diag(variance))
    if not weights:
        return None
    share = np.array(weights) / np.sum(weights)
    return Mixture(share, np.array(means), np.array(covariances))


def basis_of(state: SpaceState) -> TensorBasis:
    """Return the products of the state's trial."""
    assert isinstance(state.trial, Trial)
    bounds = state.problem.domain.bounds.T
    axes = []
    for (low, high), mixture, count in zip(
        bounds, state.mixtures, state.trial.functions, strict=True
    ):
        scaled = mixture and Mixture(
            mixture.weights, mixture.means, state.trial.scale**2 * mixture.covariances
        )
        axes.append(axis_of_size(coordinate(float(low), float(high), scaled), count))
    return TensorBasis(tuple(axes))
