"""Newton's method on one patch: one step with each solve, more functions once steps are small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.one_patch import OnePatch, OnePatchAssessment, OnePatchState
from sharpfront.errors import EquationError, LinearSystemError, Outcome
from sharpfront.leastsquares import LeastSquares
from sharpfront.newton.iterate import Iterate, Remembered
from sharpfront.newton.progress import Progress
from sharpfront.newton.rough import distance
from sharpfront.newton.strategy import Turn
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.solution.field import Estimate

_AND_CHANGE = "; the last correction of Newton's method is added"


@dataclass(frozen=True, eq=False, kw_only=True)
class OnePatchRelinearised(OnePatchAssessment):
    """An assessment about the new iterate."""

    problem: Problem  # the linear problem about it
    changed: float  # the largest change from the iterate before, relative to max(1, max|u|)


class OnePatchCorrector:
    """The first functions."""

    def __init__(self, inner: OnePatch, tol: float, seed: int) -> None:
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
class OnePatchStrategy:
    """`OnePatch` about one iterate after the other."""

    inner: OnePatch

    @property
    def leastsquares(self) -> LeastSquares:
        """The method of the inner adaptor."""
        return self.inner.leastsquares

    def corrector(
        self, tangent: Tangent, guesses: Sequence[Iterate], tol: float, seed: int
    ) -> OnePatchCorrector:
        """Return what solves roughly."""
        return OnePatchCorrector(self.inner, tol, seed)

    def start(
        self, corrector: OnePatchCorrector, linear: Problem, tol: float, seed: int
    ) -> OnePatchState:
        """Return the state before the first solve about a rough solution."""
        return self.inner.start(linear, tol, seed)

    def propose(self, inner: OnePatchState) -> Proposal:
        """Return functions and rows of the linear problem about the last iterate."""
        return self.inner.propose(inner)

    def assess(
        self,
        inner: OnePatchState,
        old: Iterate,
        about: Problem,
        approximation: Approximation,
        progress: Progress,
    ) -> OnePatchRelinearised:
        """Return the comparisons about the new iterate, and by how much Newton's method moved."""
        found = self.inner.assess(replace(inner, problem=about), approximation)
        changed = distance(about, old, approximation, found.points, 1.0)
        words = {f.name: getattr(found, f.name) for f in fields(OnePatchAssessment)}
        value = found.estimate.value + changed
        words["estimate"] = Estimate(value, found.estimate.meaning + _AND_CHANGE)
        return OnePatchRelinearised(**words, problem=about, changed=changed)

    def observe(
        self, inner: OnePatchState, assessment: OnePatchRelinearised, progress: Progress
    ) -> Turn:
        """Return the next Newton step on the same functions, more of them, or an end."""
        inner = replace(inner, problem=assessment.problem)
        rest = assessment.estimate.value - assessment.changed
        if assessment.changed > max(inner.tol, rest):
            stuck = progress.stuck()
            inner = replace(inner, best=inner.best or assessment, finished=stuck)
            return Turn(inner, advanced=True, renewed=False)
        return Turn(self.inner.observe(inner, assessment), advanced=True, renewed=True)

    def ended(
        self, inner: OnePatchState, answer: OnePatchAssessment, last: float
    ) -> tuple[OnePatchState, OnePatchAssessment]:
        """Return the end as it is."""
        return inner, inner.best or answer

    def refused(self, inner: OnePatchState, outcome: Outcome) -> OnePatchState:
        """Return the state that ended without an answer to trust."""
        return replace(inner, finished=outcome)
