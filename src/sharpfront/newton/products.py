"""Newton's method on products of kernels.

Rough solutions are linear elements on meshes that follow the features, where they can be built, and
a small set of kernels where they cannot (systems, fourth order, four dimensions and more). Then one
Newton step with each solve, assessed by the error equation about what was solved for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from sharpfront.adapt import ResolveSpace
from sharpfront.adapt.axis_features import discover
from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.space_state import SpaceAssessment, SpaceState
from sharpfront.errors import EquationError, LinearSystemError, Outcome, OutcomeKind
from sharpfront.estimate.weak import UnsuitableError
from sharpfront.leastsquares import LeastSquares
from sharpfront.newton.iterate import Iterate, Remembered
from sharpfront.newton.mesh import MeshTable
from sharpfront.newton.progress import Move, Progress, next_move, not_smaller
from sharpfront.newton.rough import SMALL, distance
from sharpfront.newton.strategy import Turn
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.solution.field import Estimate

_AND_CHANGE = "; the last correction of Newton's method is added"


@dataclass(frozen=True, eq=False, kw_only=True)
class SpaceRelinearised(SpaceAssessment):
    """An assessment about the new iterate."""

    problem: Problem  # the linear problem about it
    # The assessment about the old iterate: the kernels' share of the error.
    kernels: SpaceAssessment
    changed: float  # the largest change from the iterate before, relative to max(1, max|u|)


class ProductCorrector:
    """Elements where they can be built, else a small set of kernels that `inner` places."""

    def __init__(self, inner: ResolveSpace, seed: int) -> None:
        self._inner, self._seed = inner, seed
        # Kernels in the place of elements, once it is known that these cannot be built.
        self._kernels: SpaceState | None = None

    def solved(self, linear: Problem) -> Iterate | None:
        """Return the solution of a linear problem; None if there is none."""
        try:
            if self._kernels is None and len(linear.unknowns) == 1:
                found = discover(linear, self._inner.components)
                return Remembered(MeshTable(found.elements.mesh, found.values))
        except UnsuitableError:
            pass
        except (LinearSystemError, EquationError):
            return None
        return self._by_kernels(linear)

    def refined(self, iterate: Iterate) -> bool:
        """Tell that it has not: elements follow the features by themselves."""
        return False

    def _by_kernels(self, linear: Problem) -> Iterate | None:
        try:
            if self._kernels is None:
                self._kernels = self._inner.start(linear, SMALL, self._seed)
            state = replace(self._kernels, problem=linear)
            proposal, method = self._inner.propose(state), self._inner.leastsquares
            system = proposal.system
            weights, _, _ = method.solve(method.factor(system), system.rhs)
        except (LinearSystemError, EquationError):
            return None
        own = split_weights(weights, proposal.bases)
        return Remembered(Approximation(linear.coordinates, proposal.bases, own))


@dataclass(frozen=True)
class ProductStrategy:
    """`ResolveSpace` about one iterate after the other."""

    inner: ResolveSpace  # places kernels and checks them

    @property
    def leastsquares(self) -> LeastSquares:
        """The method of the inner adaptor."""
        return self.inner.leastsquares

    def corrector(
        self, tangent: Tangent, guesses: Sequence[Iterate], tol: float, seed: int
    ) -> ProductCorrector:
        """Return what solves roughly."""
        return ProductCorrector(self.inner, seed)

    def start(
        self, corrector: ProductCorrector, linear: Problem, tol: float, seed: int
    ) -> SpaceState:
        """Return the state before the first solve about a rough solution."""
        return self.inner.start(linear, tol, seed)

    def propose(self, inner: SpaceState) -> Proposal:
        """Return kernels and rows of the linear problem about the last iterate."""
        return self.inner.propose(inner)

    def assess(
        self,
        inner: SpaceState,
        old: Iterate,
        about: Problem,
        approximation: Approximation,
        progress: Progress,
    ) -> SpaceRelinearised:
        """Return the error equation's answer, linearised about what is assessed."""
        kernels = self.inner.assess(inner, approximation)
        changed = distance(about, old, approximation, kernels.points, 1.0)
        found, estimate = kernels, kernels.estimate
        if inner.found is not None:
            try:
                found = self.inner.assess(replace(inner, problem=about), approximation)
                estimate = found.estimate
            except LinearSystemError:
                estimate = Estimate(np.inf, kernels.estimate.meaning)
        else:
            # Comparison does not see what Newton's method has left.
            estimate = Estimate(estimate.value + changed, estimate.meaning + _AND_CHANGE)
        words = {f.name: getattr(found, f.name) for f in fields(SpaceAssessment)}
        words["estimate"] = estimate
        words["rests_on"] = found.rests_on and f"{found.rests_on}, Newton's method by {changed:.1e}"
        return SpaceRelinearised(**words, problem=about, kernels=kernels, changed=changed)

    def observe(self, inner: SpaceState, assessment: SpaceRelinearised, progress: Progress) -> Turn:
        """Return the next Newton step on the same kernels, more kernels, or an end."""
        kernels = assessment.kernels
        move = next_move(kernels.estimate.value, assessment.estimate.value, inner.tol, progress)
        if move is Move.COARSE:
            return Turn(self.inner.observe(inner, kernels), advanced=False, renewed=True)
        inner = replace(inner, problem=assessment.problem)
        if move is Move.NEWTON:
            stuck = progress.stuck()
            inner = replace(inner, finished=stuck) if stuck else inner
            return Turn(inner, advanced=True, renewed=False)
        seen = assessment if move is Move.END else kernels
        return Turn(self.inner.observe(inner, seen), advanced=True, renewed=True)

    def ended(
        self, inner: SpaceState, answer: SpaceAssessment, last: float
    ) -> tuple[SpaceState, SpaceAssessment]:
        """Return the end; as stalled if the kernels alone have met the tolerance."""
        if inner.found is None and answer.look is None:
            assert isinstance(answer, SpaceRelinearised)
            left = answer.changed
            answer = self.inner.looked_at(answer.problem, answer, inner.seed)
            estimate = Estimate(answer.estimate.value + left, answer.estimate.meaning)
            answer = replace(answer, estimate=estimate)
        assert inner.finished is not None
        met = answer.checked and answer.estimate.value <= inner.tol
        if inner.finished.kind is OutcomeKind.CONVERGED and not met:
            detail = (
                f"Estimate {answer.estimate.value:.1e}, while kernels alone meet the tolerance."
            )
            reached = Outcome(OutcomeKind.STALLED, detail, not_smaller(last))
            inner = replace(inner, finished=reached)
        return inner, answer

    def refused(self, inner: SpaceState, outcome: Outcome) -> SpaceState:
        """Return the state that ended without an answer to trust."""
        return replace(inner, finished=outcome)
