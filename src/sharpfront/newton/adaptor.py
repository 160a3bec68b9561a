"""Newton's method around a strategy for linear problems, as an adaptor.

A rough solution comes first, then one Newton step goes with each solve. What the steps are made
with is any strategy for linear problems: kernels of the line, patches, one over the whole domain,
or one of the user's own.

Newton's method about any strategy: a step with each solve, other functions once it is small.

All that is asked of a strategy is the contract of `adapt`, with a state that is a dataclass and has
the fields `problem`, `tol` and `finished`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from typing import Any

from sharpfront.adapt import Patches, Resolve, Uniform
from sharpfront.adapt.contract import Adaptor, Proposal
from sharpfront.errors import (
    EquationError,
    LinearSystemError,
    Outcome,
    OutcomeKind,
    ProblemError,
)
from sharpfront.leastsquares import LeastSquares
from sharpfront.newton.function_corrector import FunctionCorrector, distance
from sharpfront.newton.guess import Start
from sharpfront.newton.iterate import Iterate, Remembered
from sharpfront.newton.line import LineStrategy
from sharpfront.newton.other_solutions import other_than_zero
from sharpfront.newton.patches import PatchStrategy
from sharpfront.newton.rough_solution import RoughSolution, approach
from sharpfront.newton.strategy import (
    AboutItself,
    LinearStrategy,
    NewtonState,
    NextStep,
    not_converged,
    unsettled,
    untrusted,
)
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.solution.field import Estimate

_AND_CHANGE = "; the last correction of Newton's method is added"
_LEAD = (
    "Or begin closer to the solution, with guess=, or lead a parameter to it: "
    "solve(lambda p: problem(p), continuation=[easy, ..., wanted])."
)
_ASKED = ("problem", "tol", "finished")


class FirstFunctions(FunctionCorrector):
    """A strategy's first functions, as what solves roughly."""

    def __init__(
        self, inner: Adaptor, problem: Problem, guesses: Sequence[Iterate], tol: float, seed: int
    ) -> None:
        super().__init__(problem, guesses, seed)
        self._inner, self._tol, self._seed = inner, tol, seed

    def solved(self, linear: Problem) -> Iterate | None:
        """Return the solution of a linear problem; None if there is none."""
        method = self._inner.leastsquares
        try:
            proposal = self._inner.propose(self._inner.start(linear, self._tol, self._seed))
            weights, _, _ = method.solve(method.factor(proposal.system), proposal.system.rhs)
        except (LinearSystemError, EquationError):
            return None
        own = split_weights(weights, proposal.bases)
        return Remembered(Approximation(linear.coordinates, proposal.bases, own))


@dataclass(frozen=True)
class PlainStrategy:
    """A strategy about one iterate after the other."""

    inner: Adaptor

    def tangent(self, problem: Problem, guesses: Sequence[Iterate]) -> Tangent:
        """Return the problem, ready to be linearised."""
        return Tangent(problem)

    def corrector(
        self, tangent: Tangent, guesses: Sequence[Iterate], tol: float, seed: int
    ) -> FirstFunctions:
        """Return what solves roughly."""
        return FirstFunctions(self.inner, tangent.problem, guesses, tol, seed)

    def start(
        self,
        tangent: Tangent,
        corrector: FirstFunctions,
        rough: RoughSolution[Iterate],
        tol: float,
        seed: int,
    ) -> tuple[Any, Outcome | None]:
        """Return the state before the first solve about a rough solution."""
        state = self.inner.start(tangent.at(rough.iterate), tol, seed)
        if not is_dataclass(state) or not all(hasattr(state, name) for name in _ASKED):
            raise ProblemError(
                f"For a nonlinear problem the state of {type(self.inner).__name__} must be a "
                f"dataclass with the fields {', '.join(_ASKED)}, got {type(state).__name__}."
            )
        return state, not_converged(rough)

    def assess(
        self, state: NewtonState, about: Problem, approximation: Approximation
    ) -> AboutItself:
        """Return the assessment about the new iterate, and by how much Newton's method moved."""
        found = self.inner.assess(replace(state.inner, problem=about), approximation)
        changed = distance(about, state.iterate, approximation, found.points, 1.0)
        estimate = Estimate(found.estimate.value + changed, found.estimate.meaning + _AND_CHANGE)
        return AboutItself.of(replace(found, estimate=estimate), about, changed)

    def observe(self, state: NewtonState, assessment: AboutItself) -> NextStep:
        """Return the next Newton step on the same functions, others, or an end."""
        inner = replace(state.inner, problem=assessment.problem)
        rest = assessment.estimate.value - assessment.changed
        if assessment.changed > max(inner.tol, rest):
            return NextStep(replace(inner, finished=state.progress.stuck()), renewed=False)
        return NextStep(self.inner.observe(inner, assessment.found), renewed=True)

    def another(self, state: NewtonState, inner: Any) -> Outcome | None:
        """Return what speaks for another solution than zero."""
        return other_than_zero(self, state, inner)


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
        turn = self._asked(state, self._strategy.observe(state, assessment))
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

    def _asked(self, state: NewtonState, turn: NextStep) -> NextStep:
        """Return the turn, not with a converged answer that no guess has chosen of several.

        What is not resolved may be nowhere near where Newton's method has put functions.
        """
        ended, chosen = turn.inner.finished, self.start_from.given is not None
        if ended is not None and ended.kind is OutcomeKind.UNRESOLVED:
            ended = replace(ended, remedy=f"{ended.advice} {_LEAD}")
            return replace(turn, inner=replace(turn.inner, finished=ended))
        if ended is None or ended.kind is not OutcomeKind.CONVERGED or chosen:
            return turn
        doubt = self._strategy.another(state, turn.inner)
        return turn if doubt is None else replace(turn, inner=replace(turn.inner, finished=doubt))


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
