"""Newton's method about any strategy: a step with each solve, other functions once it is small.

All that is asked of a strategy is the contract of `adapt`, with a state that is a dataclass and has
the fields `problem`, `tol` and `finished`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

from sharpfront.adapt.contract import Adaptor
from sharpfront.errors import EquationError, LinearSystemError, Outcome, ProblemError
from sharpfront.newton.functions import FunctionCorrector, distance
from sharpfront.newton.iterate import Iterate, Remembered
from sharpfront.newton.progress import not_converged
from sharpfront.newton.rough import RoughSolution
from sharpfront.newton.strategy import AboutItself, NewtonState, Turn
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.solution.field import Estimate

_AND_CHANGE = "; the last correction of Newton's method is added"
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

    def observe(self, state: NewtonState, assessment: AboutItself) -> Turn:
        """Return the next Newton step on the same functions, others, or an end."""
        inner = replace(state.inner, problem=assessment.problem)
        rest = assessment.estimate.value - assessment.changed
        if assessment.changed > max(inner.tol, rest):
            return Turn(replace(inner, finished=state.progress.stuck()), renewed=False)
        return Turn(self.inner.observe(inner, assessment.found), renewed=True)
