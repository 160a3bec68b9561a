"""Newton's method around a strategy for linear problems, as an adaptor.

The same way as on the line: a rough solution first, then one Newton step with each solve. What the
steps are made with is any strategy for linear problems: patches, one over the whole domain, or one
of the user's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sharpfront.adapt import Patches
from sharpfront.adapt.contract import Adaptor, Proposal
from sharpfront.errors import Outcome
from sharpfront.leastsquares import LeastSquares
from sharpfront.mixture import Mixture
from sharpfront.newton.guess import Start
from sharpfront.newton.iterate import Iterate, Remembered
from sharpfront.newton.patches import PatchStrategy
from sharpfront.newton.plain import PlainStrategy
from sharpfront.newton.progress import Progress, not_converged
from sharpfront.newton.rough import RoughSolution, approach
from sharpfront.newton.strategy import LinearStrategy
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.field import Estimate

_NOT_CONVERGED = "no error can be estimated, because Newton's method did not converge"


@dataclass(frozen=True, eq=False)
class NewtonState:
    """Where Newton's method stands."""

    tangent: Tangent  # the problem, ready to be linearised
    inner: Any  # the strategy's state for the linear problem about the last iterate
    iterate: Iterate  # the last iterate
    rough: RoughSolution  # what was found before anything was resolved
    progress: Progress = field(default_factory=Progress)  # Newton's corrections
    best: Any = None  # the best assessed approximation
    refusal: Outcome | None = None  # why no answer can be trusted

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


@dataclass(frozen=True)
class NewtonAround:
    """Newton's method about a strategy for linear problems."""

    # Places functions and checks them.
    inner: Adaptor = field(default_factory=Patches)
    start_from: Start = field(default_factory=Start)  # the guess

    @property
    def _strategy(self) -> LinearStrategy:
        if isinstance(self.inner, Patches):
            return PatchStrategy(self.inner)
        return PlainStrategy(self.inner)

    @property
    def leastsquares(self) -> LeastSquares:
        """The method of the inner adaptor."""
        return self.inner.leastsquares

    def start(self, problem: Problem, tol: float, seed: int) -> NewtonState:
        """Return the state before the first resolved solve: a rough solution."""
        strategy, tangent = self._strategy, Tangent(problem)
        guesses = self.start_from.iterates(problem)
        corrector = strategy.corrector(tangent, guesses, tol, seed)
        rough = approach(problem, guesses, corrector, seed)
        inner = strategy.start(corrector, tangent.at(rough.iterate), tol, seed)
        refusal = None if rough.converged else not_converged(rough.history, rough.solves)
        return NewtonState(tangent, inner, rough.iterate, rough, refusal=refusal)

    def propose(self, state: NewtonState) -> Proposal:
        """Return functions and rows of the linear problem about the last iterate."""
        return self.inner.propose(state.inner)

    def assess(self, state: NewtonState, approximation: Approximation) -> Any:
        """Return how good an approximation is, linearised about itself."""
        about = state.tangent.at(Remembered(approximation))
        return self._strategy.assess(
            state.inner, state.iterate, about, approximation, state.progress
        )

    def observe(self, state: NewtonState, assessment: Any) -> NewtonState:
        """Return the next Newton step on the same functions, others, or an end."""
        best, progress = state.best, state.progress.after(assessment.changed)
        if best is None or assessment.rank < best.rank:
            best = assessment
        state = replace(state, best=best, progress=progress)
        if state.refusal is not None:
            lost = replace(best, estimate=Estimate(np.inf, _NOT_CONVERGED))
            return replace(state, best=lost, inner=replace(state.inner, finished=state.refusal))
        turn = self._strategy.observe(state.inner, assessment, progress)
        return replace(
            state,
            inner=turn.inner,
            iterate=Remembered(assessment.approximation),
            progress=progress.renewed() if turn.renewed else progress,
        )
