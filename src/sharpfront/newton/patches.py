"""Newton's method on patches: one step with each solve, the patches adapted at the same time.

A first approximation comes from the first patches, refined where its weights do not fall. Then
every solve is a Newton step on patches that were refined for the one before. Once weights and
corrections are small the answer is certified about itself: the richer solution of the certificate
is also what Newton's method would do next, so that its change holds what that has left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.adapt import Patches
from sharpfront.adapt.patchwork.applicability import lacking
from sharpfront.adapt.patchwork.certify import noise_in
from sharpfront.adapt.patchwork.comparison import compared_points
from sharpfront.adapt.patchwork.state import PatchState
from sharpfront.equation.expression import Constant, is_zero
from sharpfront.equation.values import is_finite
from sharpfront.errors import EquationError, LinearSystemError, Outcome, OutcomeKind
from sharpfront.leastsquares.traces import TraceSystem
from sharpfront.newton.function_corrector import FunctionCorrector, distance
from sharpfront.newton.guess import constants, rising
from sharpfront.newton.initial_values import Integrated
from sharpfront.newton.iterate import Constants, Iterate, Remembered, Traced
from sharpfront.newton.other_solutions import led_elsewhere, other_than_zero
from sharpfront.newton.rough_solution import RoughSolution
from sharpfront.newton.settings import NEWTON
from sharpfront.newton.strategy import AboutItself, NewtonState, NextStep, not_converged
from sharpfront.newton.tangent import Tangent
from sharpfront.place.patches.poles import with_poles
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.trust.settings import TRUST


class PatchCorrector(FunctionCorrector):
    """Patches that resolve a first linear problem's data, refined where rough solutions ask."""

    def __init__(
        self,
        inner: Patches,
        problem: Problem,
        guesses: Sequence[Iterate],
        first: Problem,
        tol: float,
        seed: int,
    ) -> None:
        super().__init__(problem, guesses, seed)
        self._inner, self._first, self._tol, self._seed = inner, first, tol, seed
        self._rough = NEWTON.coarsest if first.domain.dimension > 2 else min(tol, NEWTON.coarsest)
        self.state = replace(self._started(self._rough), aim=max(tol, NEWTON.rough_enough))

    def of(self, problem: Problem) -> PatchCorrector:
        """Return what solves another problem roughly."""
        strategy = PatchStrategy(self._inner)
        return strategy.corrector(Tangent(problem), constants(problem), self._tol, self._seed)

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
        if not (finite and noise_in(probe, self.state.rows) <= TRUST.amplified):
            return None
        return Remembered(own)

    def refined(self, iterate: Iterate, turn: int) -> Iterate | None:
        """Go on with finer patches if the last solution asks for them; None if it does not."""
        assert isinstance(iterate, Remembered)
        assert isinstance(iterate.inner, Approximation)
        before, self.state = self.state, self._inner.refined(self.state, iterate.inner)
        return None if self.state is before else iterate

    def resolving(self, linear: Problem) -> PatchState:
        """Return the state about what was found, on patches that resolve the data."""
        state = self.state
        if self._tol < self._rough:
            state = self._started(self._tol)
        return state.about(linear)


def _usable(linear: Problem) -> bool:
    """Tell whether a linearisation is of full order, and finite inside."""
    inside = linear.domain.sample(NEWTON.looked_at, "quasi", 0)
    for form in linear.forms:
        highest = [t.coefficient for t in form.terms if t.order == form.order]
        if all(is_zero(c) for c in highest):
            return False
        if not is_finite(form, linear.coordinates, inside).all():
            return False
    return True


def _varying(linear: Problem) -> int:
    """Return how many coefficients and sources vary."""
    graphs = [g for f in linear.forms for g in (f.source, *(t.coefficient for t in f.terms))]
    return sum(not isinstance(graph, Constant) for graph in graphs)


def _poles(linear: Problem) -> int:
    """Return at how many points a source or a coefficient is infinite."""
    tiling = tiling_of(linear.domain)
    return 0 if tiling is None else len(with_poles(linear, tiling).marked)


@dataclass(frozen=True)
class PatchStrategy:
    """`Patches` about one iterate after the other."""

    inner: Patches  # places patches and certifies solutions on them

    def tangent(self, problem: Problem, guesses: Sequence[Iterate]) -> Tangent:
        """Return the problem, ready to be linearised."""
        return Tangent(problem)

    def corrector(
        self, tangent: Tangent, guesses: Sequence[Iterate], tol: float, seed: int
    ) -> PatchCorrector:
        """Return what solves roughly, on patches that resolve the data about a guess.

        About a guess that is no formula, an earlier solution or a table, they would be resolved
        with all its errors: they are looked at about constants. So are they about no guess that
        takes the highest derivatives out of an equation, or a pole that others leave in it.
        """
        problem = tangent.problem
        smooth = [g for g in guesses if isinstance(g, Constants | Traced | Integrated)]
        found = []
        for guess in [*smooth, *constants(problem), rising(problem)]:
            try:
                linear = tangent.at(guess)
                found += [linear] * _usable(linear)
            except EquationError:
                continue
            # About zero u^3 / x has no pole, and the solution has to know of it.
            if len(found) > 1 or (found and not isinstance(guess, Constants)):
                break
        first = found[0] if found else tangent.at(guesses[0])
        if len(found) > 1 and _varying(found[1]) > _varying(first):
            first = max(found, key=_poles)
        return PatchCorrector(self.inner, problem, guesses, first, tol, seed)

    def start(
        self,
        tangent: Tangent,
        corrector: PatchCorrector,
        rough: RoughSolution[Iterate],
        tol: float,
        seed: int,
    ) -> tuple[PatchState, Outcome | None]:
        """Return the state before the first solve about a rough solution."""
        linear = tangent.at(rough.iterate)
        state = corrector.resolving(linear)
        state = replace(state, tol=tol, aim=tol, missing=lacking(linear, tol))
        return state, not_converged(rough)

    def assess(
        self, state: NewtonState, about: Problem, approximation: Approximation
    ) -> AboutItself:
        """Return how weights fall, and once they and the corrections are small a certificate."""
        inner, changes = state.inner, state.progress.changes
        points = compared_points([c.patch for c in inner.cells])
        points = points[inner.jumps.away(points)]
        changed = distance(about, state.iterate, approximation, points, 1.0)
        slow = bool(changes) and changed > NEWTON.slow * changes[-1]
        # The next correction is about the square of this one.
        waiting = changed**2 > inner.tol and not slow
        own = replace(inner.about(about), unsettled=waiting)
        found = self.inner.assess(own, approximation)
        return AboutItself.of(found, about, changed)

    def observe(self, state: NewtonState, assessment: AboutItself) -> NextStep:
        """Return the next Newton step, on the same patches if they will do, or an end."""
        found, progress = assessment.found, state.progress
        inner = state.inner.about(assessment.problem)
        value = found.reached
        if found.certificate is None:
            waiting = inner.final or not np.any(found.tails.tail > inner.aim)
        else:
            # A correction above the estimate may be what is left of it.
            waiting = value > inner.tol and assessment.changed > value
            waiting = waiting or progress.left > inner.tol
        stuck = progress.stuck() if waiting else None
        if stuck is not None and stuck.kind is OutcomeKind.NEWTON:
            return NextStep(replace(inner, finished=stuck), renewed=False)
        if waiting and stuck is None:
            return NextStep(inner, renewed=False)
        return NextStep(self.inner.observe(inner, found), renewed=True)

    def another(self, state: NewtonState, inner: PatchState) -> Outcome | None:
        """Return what speaks for another solution: than zero, or on the line by the gradual way."""
        problem = state.tangent.problem
        zero = not any(w.any() for w in inner.answer.approximation.weights.values())
        if zero or problem.domain.dimension > 1:
            return other_than_zero(self, state, inner)
        corrector = self.corrector(state.tangent, constants(problem), inner.tol, 0)
        return led_elsewhere(state.rough, corrector, state.rough.iterate, Constants())
