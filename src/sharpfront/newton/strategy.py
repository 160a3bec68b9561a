"""What Newton's method asks of a strategy for linear problems, and where it stands itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from sharpfront.errors import Outcome
from sharpfront.estimate import Assessment
from sharpfront.mixture import Mixture
from sharpfront.newton.iterate import Iterate
from sharpfront.newton.progress import Progress
from sharpfront.newton.rough import Corrector, RoughSolution
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.field import Estimate

_CORRECTION = "the last correction of Newton's method, relative to max(1, max|u|)"
_UNKNOWN = "no error can be estimated: the outcome says why the answer cannot be trusted"


@dataclass(frozen=True, eq=False, kw_only=True)
class AboutItself(Assessment):
    """An assessment of a solution with the linear problem about itself."""

    found: Any  # the strategy's own
    problem: Any  # that linear problem; None where it has no finite values
    changed: float  # the largest change from the iterate before, relative to max(1, max|u|)

    @classmethod
    def of(cls, found: Any, problem: Any, changed: float) -> AboutItself:
        """Return what a strategy says of a solution, and by how much Newton's method moved it."""
        shown = (found.approximation, found.points, found.volumes, found.residual, found.mismatch)
        return cls(*shown, found.estimate, found=found, problem=problem, changed=changed)

    @property
    def rank(self) -> tuple[bool, float]:
        """That of the strategy's own."""
        rank: tuple[bool, float] = self.found.rank
        return rank


@dataclass(frozen=True, eq=False)
class NewtonState:
    """Where Newton's method stands."""

    tangent: Any  # the problem, ready to be linearised
    inner: Any  # the strategy's state for the linear problem about the last iterate
    iterate: Iterate  # the last iterate
    rough: RoughSolution[Any]  # what was found before anything was resolved
    refusal: Outcome | None = None  # why no answer can be trusted
    progress: Progress = field(default_factory=Progress)  # Newton's corrections
    best: Any = None  # the best assessed approximation

    @property
    def mixture(self) -> Mixture | None:
        """The mixture that places the kernels of the next solve."""
        mixture: Mixture | None = self.inner.mixture
        return mixture

    @property
    def finished(self) -> Outcome | None:
        """Why it ended."""
        finished: Outcome | None = self.inner.finished
        return finished

    @property
    def answer(self) -> Any:
        """The best assessed approximation."""
        assert self.best is not None
        return self.best

    @property
    def diagnostics(self) -> Mapping[str, float]:
        """Counts of steps and solves."""
        return {
            "newton_steps": self.progress.steps,
            "linear_solves": self.rough.solves + self.progress.steps,
            "rough_solves": self.rough.solves,
            "last_change": self.progress.last,
        }


@dataclass(frozen=True, eq=False)
class Turn:
    """What comes after an assessed solve."""

    inner: Any  # the strategy's next state
    # Whether the strategy has seen the solution, and goes on with other functions or has ended.
    renewed: bool
    stays: bool = False  # whether the solution is worse than the iterate, which stays
    forgotten: bool = False  # whether what was best has missed something


class LinearStrategy(Protocol):
    """A strategy for linear problems about one iterate after the other."""

    def tangent(self, problem: Problem, guesses: Sequence[Iterate]) -> Any:
        """Return the problem, ready to be linearised."""

    def corrector(
        self, tangent: Any, guesses: Sequence[Iterate], tol: float, seed: int
    ) -> Corrector[Any]:
        """Return what solves roughly, from one of some guesses."""

    def start(
        self, tangent: Any, corrector: Any, rough: RoughSolution[Any], tol: float, seed: int
    ) -> tuple[Any, Outcome | None]:
        """Return the state before the first solve about a rough solution; why none is trusted."""

    def assess(self, state: NewtonState, about: Any, approximation: Approximation) -> AboutItself:
        """Return how good a solution is, with the linear problem about itself."""

    def observe(self, state: NewtonState, assessment: Any) -> Turn:
        """Return what comes next."""


def untrusted(assessment: Any) -> Any:
    """Return an answer of which nothing can be said."""
    return replace(assessment, estimate=Estimate(np.inf, _UNKNOWN))


def unsettled(assessment: Any, last: float) -> Any:
    """Return an answer at which Newton's method has not settled: its last step counts as error."""
    if not assessment.estimate.value < last:
        return assessment
    return replace(assessment, estimate=Estimate(last, _CORRECTION))
