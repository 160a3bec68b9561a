"""Nonlinear problems in two and more dimensions, as an adaptor.

The same way as on the line: a rough solution first, then one Newton step with each solve, assessed
by the error equation about what was solved for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np

from sharpfront.adapt import ResolveSpace
from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.space_state import SpaceAssessment, SpaceState
from sharpfront.approximation import Approximation
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.leastsquares import LeastSquares
from sharpfront.mixture import Mixture
from sharpfront.newton.guess import Start
from sharpfront.newton.iterate import Iterate, Remembered
from sharpfront.newton.mesh import Found, approach, distance
from sharpfront.newton.settle import Move, Progress, next_move, not_smaller
from sharpfront.newton.story import not_converged
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem
from sharpfront.solution import Estimate

_UNKNOWN = "no error can be estimated, because Newton's method did not converge"
_AND_CHANGE = "; the last correction of Newton's method is added"


@dataclass(frozen=True, eq=False, kw_only=True)
class Relinearised(SpaceAssessment):
    """An assessment about the new iterate.

    Parameters
    ----------
    problem
        The linear problem about it.
    kernels
        The assessment about the old iterate: the kernels' share of the error.
    changed
        The largest change from the iterate before, relative to max(1, max|u|).
    """

    problem: Problem
    kernels: SpaceAssessment
    changed: float


@dataclass(frozen=True, eq=False)
class NewtonSpaceState:
    """Where Newton's method stands.

    Parameters
    ----------
    tangent
        The problem, ready to be linearised.
    inner
        Kernels of the linear problem about the last iterate.
    iterate
        The last iterate.
    rough
        What was found before kernels were placed.
    progress
        Newton's corrections on kernels.
    best
        The best assessed approximation.
    refusal
        Why no answer can be trusted.
    """

    tangent: Tangent
    inner: SpaceState
    iterate: Iterate
    rough: Found
    progress: Progress = field(default_factory=Progress)
    best: SpaceAssessment | None = None
    refusal: Outcome | None = None

    @property
    def mixture(self) -> Mixture | None:
        """The mixture that places the kernels of the next solve."""
        return self.inner.mixture

    @property
    def finished(self) -> Outcome | None:
        """Why it ended."""
        return self.inner.finished

    @property
    def answer(self) -> SpaceAssessment:
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
class NewtonSpace:
    """Newton's method about kernels of `ResolveSpace`.

    Parameters
    ----------
    inner
        Places kernels and checks them.
    start_from
        The guess.
    """

    inner: ResolveSpace = field(default_factory=ResolveSpace)
    start_from: Start = field(default_factory=Start)

    @property
    def leastsquares(self) -> LeastSquares:
        """The method of the inner adaptor."""
        return self.inner.leastsquares

    def start(self, problem: Problem, tol: float, seed: int) -> NewtonSpaceState:
        """Return the state before the first solve on kernels: a rough solution, kernels planned."""
        rough = approach(problem, self.start_from.iterates(problem), self.inner, seed)
        tangent = Tangent(problem)
        inner = self.inner.start(tangent.at(rough.iterate), tol, seed)
        refusal = None if rough.converged else not_converged(rough.history, rough.solves)
        return NewtonSpaceState(tangent, inner, rough.iterate, rough, refusal=refusal)

    def propose(self, state: NewtonSpaceState) -> Proposal:
        """Return kernels and rows of the linear problem about the last iterate."""
        return self.inner.propose(state.inner)

    def assess(self, state: NewtonSpaceState, approximation: Approximation) -> Relinearised:
        """Return the error equation's answer, linearised about what is assessed."""
        kernels = self.inner.assess(state.inner, approximation)
        problem = state.tangent.at(Remembered(approximation))
        changed = distance(problem, state.iterate, approximation, kernels.points, 1.0)
        found, estimate = kernels, kernels.estimate
        if state.inner.found is not None:
            try:
                found = self.inner.assess(replace(state.inner, problem=problem), approximation)
                estimate = found.estimate
            except LinearSystemError:
                estimate = Estimate(np.inf, kernels.estimate.meaning)
        else:
            # Comparison does not see what Newton's method has left.
            estimate = Estimate(estimate.value + changed, estimate.meaning + _AND_CHANGE)
        words = {f.name: getattr(found, f.name) for f in fields(SpaceAssessment)}
        words["estimate"] = estimate
        words["rests_on"] = found.rests_on and f"{found.rests_on}, Newton's method by {changed:.1e}"
        return Relinearised(**words, problem=problem, kernels=kernels, changed=changed)

    def observe(self, state: NewtonSpaceState, assessment: Relinearised) -> NewtonSpaceState:
        """Return the next Newton step on the same kernels, more kernels, or an end."""
        best, progress = state.best, state.progress.after(assessment.changed)
        if best is None or assessment.rank < best.rank:
            best = assessment
        state = replace(state, best=best, progress=progress)
        if state.refusal is not None:
            lost = replace(best, estimate=Estimate(np.inf, _UNKNOWN))
            return replace(state, best=lost, inner=replace(state.inner, finished=state.refusal))
        kernels, inner = assessment.kernels, state.inner
        move = next_move(kernels.estimate.value, assessment.estimate.value, inner.tol, progress)
        if move is Move.COARSE:
            grown = self.inner.observe(inner, kernels)
            return self._ended(replace(state, inner=grown, progress=progress.renewed()))
        inner = replace(inner, problem=assessment.problem)
        state = replace(state, iterate=Remembered(assessment.approximation), inner=inner)
        if move is Move.NEWTON:
            stuck = progress.stuck()
            return replace(state, inner=replace(inner, finished=stuck)) if stuck else state
        seen = assessment if move is Move.END else kernels
        return self._ended(
            replace(state, inner=self.inner.observe(inner, seen), progress=progress.renewed())
        )

    def _ended(self, state: NewtonSpaceState) -> NewtonSpaceState:
        """Return the state; if it is an end, with an estimate as good as any."""
        answer = state.answer
        if state.finished is None or state.inner.found is not None or answer.look is not None:
            return _honest(state)
        assert isinstance(answer, Relinearised)
        left = answer.changed
        seen = self.inner.looked_at(answer.problem, answer, state.inner.seed)
        estimate = Estimate(seen.estimate.value + left, seen.estimate.meaning)
        return _honest(replace(state, best=replace(seen, estimate=estimate)))


def _honest(state: NewtonSpaceState) -> NewtonSpaceState:
    """Return the end as stalled if the kernels alone have met the tolerance."""
    finished = state.finished
    if finished is None or finished.kind is not OutcomeKind.CONVERGED:
        return state
    if state.answer.checked and state.answer.estimate.value <= state.inner.tol:
        return state
    detail = f"Estimate {state.answer.estimate.value:.1e}, while kernels alone meet the tolerance."
    reached = Outcome(OutcomeKind.STALLED, detail, not_smaller(state.progress.last))
    return replace(state, inner=replace(state.inner, finished=reached))
