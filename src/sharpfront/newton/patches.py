"""Newton's method on patches: one step with each solve, the patches adapted at the same time.

A first approximation comes from the first patches, refined where its weights do not fall. Then
every solve is a Newton step on patches that were refined for the one before. Once weights and
corrections are small the answer is certified about itself: the richer solution of the certificate
is also what Newton's method would do next, so that its change holds what that has left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from sharpfront.adapt import Patches
from sharpfront.adapt.patchwork.adaptor import AMPLIFIED
from sharpfront.adapt.patchwork.certify import noise_in
from sharpfront.adapt.patchwork.compared import compared_points
from sharpfront.adapt.patchwork.state import PatchAssessment, PatchState
from sharpfront.adapt.patchwork.suitable import lacking
from sharpfront.equation.expression import Constant
from sharpfront.equation.linearise import LinearForm
from sharpfront.errors import EquationError, LinearSystemError, OutcomeKind
from sharpfront.leastsquares.traces import TraceSystem
from sharpfront.newton.guess import constants, rising
from sharpfront.newton.iterate import Constants, Iterate, Remembered, Traced
from sharpfront.newton.progress import SLOW, Progress
from sharpfront.newton.rough import SMALL, distance
from sharpfront.newton.strategy import Turn
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation, split_weights

# Rough solutions are sought on patches as for this tolerance at least: with the functions of looser
# ones Newton's method did not converge for a cavity heated at Ra = 1e6, with these it did. In space
# as for this one, where functions cost most: from zero to the solution of a drawn equation with
# k(u) 23 solves took 26 s with the functions of 1e-5.
COARSEST = 1e-3


@dataclass(frozen=True, eq=False, kw_only=True)
class PatchRelinearised(PatchAssessment):
    """An assessment about the new iterate."""

    problem: Problem  # the linear problem about it
    changed: float  # the largest change from the iterate before, relative to max(1, max|u|)

    @property
    def rank(self) -> tuple[bool, float]:
        """Smaller is better: nothing is an answer before it was certified."""
        return self.certificate is None, self.reached


class PatchCorrector:
    """Patches that resolve a first linear problem's data, refined where rough solutions ask."""

    def __init__(self, inner: Patches, first: Problem, tol: float, seed: int) -> None:
        self._inner, self._first, self._tol, self._seed = inner, first, tol, seed
        self._rough = COARSEST if first.domain.dimension > 2 else min(tol, COARSEST)
        self.state = replace(self._started(self._rough), aim=max(tol, SMALL))

    def _started(self, tol: float) -> PatchState:
        return self._inner.start(self._first, tol, self._seed).of_guess

    def solved(self, linear: Problem) -> Iterate | None:
        """Return the solution of a linear problem; None if there is none."""
        try:
            self.state = self.state.about(linear)
            proposal = self._inner.propose(self.state)
            assert isinstance(proposal.system, TraceSystem)
            system, found = self._inner.leastsquares.factor(proposal.system)
        except (LinearSystemError, EquationError):
            return None
        own, probe = (
            Approximation(linear.coordinates, proposal.bases, split_weights(w, proposal.bases))
            for w in system.weights(found).T[:2]
        )
        finite = all(np.isfinite(w).all() for w in own.weights.values())
        # What makes noise grow without bound has no solution, whatever came out.
        if not (finite and noise_in(probe, self.state.rows) <= AMPLIFIED):
            return None
        return Remembered(own)

    def refined(self, iterate: Iterate) -> bool:
        """Go on with finer patches if the last solution asks for them; tell whether it did."""
        assert isinstance(iterate, Remembered)
        assert isinstance(iterate.inner, Approximation)
        before, self.state = self.state, self._inner.refined(self.state, iterate.inner)
        return self.state is not before

    def resolving(self, linear: Problem) -> PatchState:
        """Return the state about what was found, on patches that resolve the data."""
        state = self.state
        if self._tol < self._rough:
            state = self._started(self._tol)
        return state.about(linear)


def _degenerate(form: LinearForm) -> bool:
    """Tell whether all factors of the highest derivatives are the number zero."""
    highest = [t.coefficient for t in form.terms if t.order == form.order]
    return all(isinstance(c, Constant) and c.value == 0.0 for c in highest)


@dataclass(frozen=True)
class PatchStrategy:
    """`Patches` about one iterate after the other."""

    inner: Patches  # places patches and certifies solutions on them

    def corrector(
        self, tangent: Tangent, guesses: Sequence[Iterate], tol: float, seed: int
    ) -> PatchCorrector:
        """Return what solves roughly, on patches that resolve the data about a guess.

        About a guess that is no formula, an earlier solution or a table, they would be resolved
        with all its errors: they are looked at about constants. So are they about no guess that
        takes the highest derivatives out of an equation.
        """
        smooth = [g for g in guesses if isinstance(g, Constants | Traced)]
        for guess in [*smooth, *constants(tangent.problem), rising(tangent.problem)]:
            try:
                linear = tangent.at(guess)
                if not any(_degenerate(form) for form in linear.forms):
                    return PatchCorrector(self.inner, linear, tol, seed)
            except EquationError:
                continue
        return PatchCorrector(self.inner, tangent.at(guesses[0]), tol, seed)

    def start(
        self, corrector: PatchCorrector, linear: Problem, tol: float, seed: int
    ) -> PatchState:
        """Return the state before the first solve about a rough solution."""
        state = corrector.resolving(linear)
        return replace(state, tol=tol, aim=tol, missing=lacking(linear, tol))

    def assess(
        self,
        inner: PatchState,
        old: Iterate,
        about: Problem,
        approximation: Approximation,
        progress: Progress,
    ) -> PatchRelinearised:
        """Return how weights fall, and once they and the corrections are small a certificate."""
        points = compared_points([c.patch for c in inner.cells])
        points = points[inner.jumps.away(points)]
        changed = distance(about, old, approximation, points, 1.0)
        slow = bool(progress.changes) and changed > SLOW * progress.changes[-1]
        # The next correction is about the square of this one.
        unsettled = changed**2 > inner.tol and not slow
        try:
            own = replace(inner.about(about), unsettled=unsettled)
            found = self.inner.assess(own, approximation)
        except EquationError:
            # The iterate has gone so far that the equation has no values there.
            own, about, changed = replace(inner, unsettled=True), inner.problem, math.inf
            found = self.inner.assess(own, approximation)
        words = {f.name: getattr(found, f.name) for f in fields(PatchAssessment)}
        return PatchRelinearised(**words, problem=about, changed=changed)

    def observe(self, inner: PatchState, assessment: PatchRelinearised, progress: Progress) -> Turn:
        """Return the next Newton step, on the same patches if they will do, or an end."""
        inner = inner.about(assessment.problem)
        if math.isinf(assessment.changed):
            return Turn(replace(inner, finished=progress.lost()), renewed=False)
        value = assessment.reached
        if assessment.certificate is None:
            waiting = inner.final or not np.any(assessment.tails.tail > inner.aim)
        else:
            # A correction above the estimate may be what is left of it.
            waiting = value > inner.tol and assessment.changed > value
        stuck = progress.stuck() if waiting else None
        if stuck is not None and stuck.kind is OutcomeKind.NEWTON:
            return Turn(replace(inner, finished=stuck), renewed=False)
        if waiting and stuck is None:
            return Turn(inner, renewed=False)
        return Turn(self.inner.observe(inner, assessment), renewed=True)
