"""Newton's method about any strategy: a step with each solve, other functions once it is small.

All that is asked of a strategy is the contract of `adapt`, with a state that is a dataclass and has
the fields `problem`, `tol` and `finished`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

from sharpfront.adapt.contract import Adaptor
from sharpfront.errors import EquationError, LinearSystemError, ProblemError
from sharpfront.estimate import Assessment
from sharpfront.newton.iterate import Iterate, Remembered
from sharpfront.newton.progress import Progress
from sharpfront.newton.rough import distance
from sharpfront.newton.strategy import Turn
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.solution.field import Estimate

_AND_CHANGE = "; the last correction of Newton's method is added"
_ASKED = ("problem", "tol", "finished")


@dataclass(frozen=True, eq=False, kw_only=True)
class AboutItself(Assessment):
    """An assessment about the new iterate."""

    found: Assessment  # the strategy's own
    problem: Problem  # the linear problem about it
    changed: float  # the largest change from the iterate before, relative to max(1, max|u|)

    @property
    def rank(self) -> tuple[bool, float]:
        """That of the strategy's own."""
        return self.found.rank


class FirstFunctions:
    """A strategy's first functions, as what solves roughly."""

    def __init__(self, inner: Adaptor, tol: float, seed: int) -> None:
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

    def refined(self, iterate: Iterate) -> bool:
        """Tell that it has not."""
        return False


@dataclass(frozen=True)
class PlainStrategy:
    """A strategy about one iterate after the other."""

    inner: Adaptor

    def corrector(
        self, tangent: Tangent, guesses: Sequence[Iterate], tol: float, seed: int
    ) -> FirstFunctions:
        """Return what solves roughly."""
        return FirstFunctions(self.inner, tol, seed)

    def start(self, corrector: FirstFunctions, linear: Problem, tol: float, seed: int) -> Any:
        """Return the state before the first solve about a rough solution."""
        state = self.inner.start(linear, tol, seed)
        if not is_dataclass(state) or not all(hasattr(state, name) for name in _ASKED):
            raise ProblemError(
                f"For a nonlinear problem the state of {type(self.inner).__name__} must be a "
                f"dataclass with the fields {', '.join(_ASKED)}, got {type(state).__name__}."
            )
        return state

    def assess(
        self,
        inner: Any,
        old: Iterate,
        about: Problem,
        approximation: Approximation,
        progress: Progress,
    ) -> AboutItself:
        """Return the assessment about the new iterate, and by how much Newton's method moved."""
        found = self.inner.assess(replace(inner, problem=about), approximation)
        changed = distance(about, old, approximation, found.points, 1.0)
        estimate = Estimate(found.estimate.value + changed, found.estimate.meaning + _AND_CHANGE)
        return AboutItself(
            found.approximation,
            found.points,
            found.volumes,
            found.residual,
            found.mismatch,
            estimate,
            found=replace(found, estimate=estimate),
            problem=about,
            changed=changed,
        )

    def observe(self, inner: Any, assessment: AboutItself, progress: Progress) -> Turn:
        """Return the next Newton step on the same functions, others, or an end."""
        inner = replace(inner, problem=assessment.problem)
        rest = assessment.estimate.value - assessment.changed
        if assessment.changed > max(inner.tol, rest):
            return Turn(replace(inner, finished=progress.stuck()), renewed=False)
        return Turn(self.inner.observe(inner, assessment.found), renewed=True)
