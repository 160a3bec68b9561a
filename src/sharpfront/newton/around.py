"""Newton's method around a strategy for linear problems, as an adaptor.

A rough solution comes first, then one Newton step goes with each solve. What the steps are made
with is any strategy for linear problems: kernels of the line, patches, one over the whole domain,
or one of the user's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from sharpfront.adapt import Patches, Resolve, Uniform
from sharpfront.adapt.contract import Adaptor, Proposal
from sharpfront.errors import EquationError, ProblemError
from sharpfront.leastsquares import LeastSquares
from sharpfront.newton.guess import Start
from sharpfront.newton.iterate import Remembered
from sharpfront.newton.line import LineStrategy
from sharpfront.newton.patches import PatchStrategy
from sharpfront.newton.plain import PlainStrategy
from sharpfront.newton.rough import approach
from sharpfront.newton.strategy import (
    AboutItself,
    LinearStrategy,
    NewtonState,
    unsettled,
    untrusted,
)
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation


@dataclass(frozen=True)
class NewtonAround:
    """Newton's method about a strategy for linear problems."""

    # Places functions and checks them.
    inner: Adaptor = field(default_factory=Patches)
    start_from: Start = field(default_factory=Start)  # the guess

    @property
    def _strategy(self) -> LinearStrategy:
        if isinstance(self.inner, Resolve):
            return LineStrategy(self.inner, self.start_from)
        if isinstance(self.inner, Patches):
            return PatchStrategy(self.inner)
        return PlainStrategy(self.inner)

    @property
    def leastsquares(self) -> LeastSquares:
        """The method of the inner adaptor."""
        return self.inner.leastsquares

    def start(self, problem: Problem, tol: float, seed: int) -> NewtonState:
        """Return the state before the first resolved solve: a rough solution."""
        strategy, guesses = self._strategy, self.start_from.iterates(problem)
        tangent = strategy.tangent(problem, guesses)
        corrector = strategy.corrector(tangent, guesses, tol, seed)
        rough = approach(guesses, corrector)
        inner, refusal = strategy.start(tangent, corrector, rough, tol, seed)
        return NewtonState(tangent, inner, rough.iterate, rough, refusal)

    def propose(self, state: NewtonState) -> Proposal:
        """Return functions and rows of the linear problem about the last iterate."""
        return self.inner.propose(state.inner)

    def assess(self, state: NewtonState, approximation: Approximation) -> AboutItself:
        """Return how good an approximation is, linearised about itself."""
        about = state.tangent.at(Remembered(approximation, state.tangent.highest))
        try:
            return self._strategy.assess(state, about, approximation)
        except EquationError:
            found = self.inner.assess(state.inner, approximation)
            return AboutItself.of(found, None, math.inf)

    def observe(self, state: NewtonState, assessment: Any) -> NewtonState:
        """Return the next Newton step on the same functions, others, or an end."""
        best, progress = state.best, state.progress.after(assessment.changed)
        if best is None or assessment.rank < best.rank:
            best = assessment
        state = replace(state, best=best, progress=progress)
        refusal = progress.lost() if assessment.problem is None else state.refusal
        if refusal is not None:
            inner = replace(state.inner, finished=refusal)
            return replace(state, best=untrusted(best), inner=inner)
        turn = self._strategy.observe(state, assessment)
        if turn.inner.finished is not None:
            best = turn.inner.answer if turn.renewed else unsettled(best, progress.last)
        elif turn.forgotten:
            best = untrusted(assessment)
        iterate = Remembered(assessment.approximation, state.tangent.highest)
        return replace(
            state,
            inner=turn.inner,
            best=best,
            iterate=state.iterate if turn.stays else iterate,
            progress=progress.renewed() if turn.renewed else progress,
        )


def newton_adaptor(inner: Adaptor, start: Start) -> NewtonAround:
    """Return the adaptor that solves nonlinear problems with the functions of a linear one."""
    if isinstance(inner, Uniform):
        # The paper's method, to the letter.
        raise ProblemError(
            f"{type(inner).__name__} solves linear problems only, and this one is not linear. "
            "Leave adaptor= out, or use Resolve for one unknown in one dimension and Patches "
            "otherwise."
        )
    return NewtonAround(inner, start)
