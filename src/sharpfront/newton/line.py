"""Newton's method on the line: kernels of `Resolve` about one iterate after the other.

Cells find the solution roughly (`cells`), a mixture places kernels on what they saw, and from there
one Newton step goes with each solve: the system is the equation about the last iterate, and the
check is the error equation about the new one, L(v) e = -F(v), whose answer holds the error of the
kernels and what is left of Newton's method alike. Kernels are added only once the second is small
beside the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.adapt import Resolve
from sharpfront.adapt.resolve_state import ResolveState
from sharpfront.adapt.uniqueness import undetermined
from sharpfront.errors import EquationError, Outcome, OutcomeKind
from sharpfront.newton.branches import several
from sharpfront.newton.cells import CellCorrector, dense_nodes, even_nodes, resolving_nodes
from sharpfront.newton.guess import Start
from sharpfront.newton.iterate import Constants, Interpolated, Iterate, LineTable, Remembered
from sharpfront.newton.line_tangent import LineTangent, single_unknown
from sharpfront.newton.other_solutions import another, elsewhere, growing_modes, led_elsewhere
from sharpfront.newton.rough_solution import RoughSolution
from sharpfront.newton.settings import NEWTON
from sharpfront.newton.strategy import (
    AboutItself,
    Move,
    NewtonState,
    NextStep,
    next_move,
    not_converged,
    unsettled,
    untrusted,
)
from sharpfront.place.line.breakpoints import Survey, survey
from sharpfront.place.line.feature_search import special_points
from sharpfront.problem import Problem
from sharpfront.problem.line_problem import LineProblem
from sharpfront.solution.approximation import Approximation
from sharpfront.trust.conditioning import near_singular
from sharpfront.trust.line_statement import miscounted
from sharpfront.trust.singular_ends import unheld


def explained(refusal: Outcome | None) -> Outcome | None:
    """Return a near-singular outcome in terms of a nonlinear problem."""
    if refusal is None or refusal.kind is not OutcomeKind.NEAR_SINGULAR:
        return refusal
    return Outcome(
        refusal.kind,
        f"{refusal.detail} This is the linearisation about the solution that Newton's method "
        "found: it stands at a fold, or holds a layer whose position the data do not determine.",
    )


@dataclass(frozen=True)
class LineStrategy:
    """Kernels of `Resolve` about one iterate after the other."""

    inner: Resolve  # places kernels and checks them
    begin: Start  # the guess

    def tangent(self, problem: Problem, guesses: Sequence[Iterate]) -> LineTangent:
        """Return the problem, ready to be linearised."""
        single_unknown(problem)
        return LineTangent(problem, guesses[-1])

    def corrector(
        self, tangent: LineTangent, guesses: Sequence[Iterate], tol: float, seed: int
    ) -> CellCorrector:
        """Return cells, on nodes that see the data and the guess."""
        plain, data = tangent.at(guesses[-1]), _data(tangent, guesses[-1])
        fixed, known = special_points(plain, data.cuts), self.begin.nodes
        if known is None:
            dense = dense_nodes(tangent, guesses[0], data, fixed)
        else:
            dense = resolving_nodes(tangent, guesses[0], known)
        nodes = even_nodes(tangent) if dense is None else dense
        even, solvable = dense is None, miscounted(plain) is None
        return CellCorrector(tangent, nodes, fixed, seen=data, even=even, solvable=solvable)

    def start(
        self,
        tangent: LineTangent,
        corrector: CellCorrector,
        rough: RoughSolution[LineTable],
        tol: float,
        seed: int,
    ) -> tuple[ResolveState, Outcome | None]:
        """Return the state with kernels planned on what cells have seen."""
        name, plain = tangent.name, tangent.at(rough.iterate)
        found = corrector.discovery(rough.iterate) if rough.converged else None
        refusal = miscounted(plain) or (not_converged(rough) if rough.attempted else None)
        if found is None:
            inner = self.inner.blind(name, plain, tol, near_singular(np.inf))
        else:
            assert corrector.seen is not None
            inner = self.inner.placed(name, plain, tol, found, corrector.seen)
        return inner, refusal or explained(inner.refusal)

    def assess(
        self, state: NewtonState, about: LineProblem, approximation: Approximation
    ) -> AboutItself:
        """Return the error equation's answer about the solution, and the kernels' share of it."""
        inner = state.inner
        found = self.inner.assess(replace(inner, problem=about), approximation)
        if found.check is None:
            return AboutItself.of(found, about, np.inf)
        new, old = found.check.values, state.iterate.values(inner.unknown, found.points, (0,))
        changed = float(np.abs(new - old).max()) / max(1.0, float(np.abs(new).max()))
        if found.estimate.value > inner.tol:
            # About the old iterate: without what Newton's method has left.
            kernels = self.inner.assess(inner, approximation)
            found = replace(found, check=kernels.check, share=kernels.estimate.value)
            if found.share > max(NEWTON.coarse, inner.tol):
                found = unsettled(found, changed)
        return AboutItself.of(found, about, changed)

    def observe(self, state: NewtonState, assessment: AboutItself) -> NextStep:
        """Return the next Newton step on the same kernels, more kernels, or an end."""
        inner, found, progress = state.inner, assessment.found, state.progress
        if found.check is None:
            return NextStep(self.inner.observe(inner, found), renewed=True)
        doubt = explained(undetermined(self.inner, inner, assessment.problem, found))
        if doubt:
            return NextStep(replace(inner, finished=doubt, answer=untrusted(found)), renewed=True)
        move = next_move(found.kernels_share, found.estimate.value, inner.tol, progress)
        if move is Move.COARSE:
            return NextStep(self.inner.observe(inner, found), renewed=True, stays=True)
        inner = replace(inner, problem=assessment.problem)
        if move is Move.END:
            return self._ended(state, inner, assessment)
        stuck = progress.stuck()
        if move is Move.NEWTON:
            return NextStep(replace(inner, finished=stuck), renewed=False)
        following = self.inner.observe(inner, found)
        if following.finished and assessment.changed > found.estimate.value and stuck is None:
            # A correction above the estimate may be what is left of it.
            return NextStep(inner, renewed=False)
        return NextStep(following, renewed=True)

    def _ended(self, state: NewtonState, inner: ResolveState, last: AboutItself) -> NextStep:
        """Return what the inner adaptor makes of an answer that is good enough."""
        if inner.seen is not None and inner.seen.explicit:
            inner = replace(inner, seen=_seen(state.tangent, inner.seen, last))
        inner = self.inner.observe(inner, last.found)
        if inner.finished and inner.finished.kind is OutcomeKind.CONVERGED:
            inner = replace(inner, finished=unheld(inner.problem) or inner.finished)
        return NextStep(inner, renewed=True, forgotten=inner.answer is None)

    def another(self, state: NewtonState, inner: ResolveState) -> Outcome | None:
        """Return what speaks for another solution.

        One is looked for if modes grow about this one or it is zero, from shapes of any size; about
        a stable one along what it responds with. Beyond second order, where modes do not tell, the
        gradual way is gone.
        """
        known, found, ended = state.rough.iterate, inner.found, inner.finished
        if found is None or ended is None:
            return None
        cells = CellCorrector(state.tangent, known.nodes, np.zeros(0))
        problem, tangent = state.tangent.problem, state.tangent
        if not cells.seen_values(known).any() or growing_modes(inner.problem, found.system):
            return another(cells, known, (cells.begun(g) for g in elsewhere(problem)))
        if tangent.order == 2:
            return several(cells, known, found.system, ended)
        if tangent.order < 2:
            return None
        return led_elsewhere(state.rough, cells, known, cells.begun(Constants()))


def _data(tangent: LineTangent, guess: Iterate) -> Survey:
    """Return the data of an equation about numbers, since the solution is smooth between jumps.

    Ones leave no coefficient out; where they are not finite, what a guess is in the middle.
    """
    if tangent.steady and not tangent.explicit:
        # Nothing varies but weights in conditions, whatever the numbers are.
        ones, stated = (1.0,) * (tangent.order + 1), tangent.conditions(guess, 1.0)
        return survey(LineProblem(tangent.interval, ones, 0.0, stated))
    count = max(tangent.order, 2)
    try:
        return survey(tangent.frozen(np.ones(count)))
    except EquationError:
        middle = np.array([[0.5 * sum(tangent.interval)]])
        about = [float(guess.values(tangent.name, middle, (j,))[0]) for j in range(count)]
        return survey(tangent.frozen(np.array(about)))


def _seen(tangent: LineTangent, seen: Survey, last: AboutItself) -> Survey:
    """Return the survey about the last solution, interpolated from where it was checked."""
    middles = np.unique(last.found.check.grid.middles)
    iterate = Remembered(last.approximation, tangent.highest)
    table = Interpolated(iterate, tangent.name, tangent.order, middles)
    rows = tangent.sample(table, 1.0, seen.x)
    kept = [None if old is None else new for old, new in zip(seen.rows, rows, strict=False)]
    return replace(seen, rows=(*kept, *seen.rows[len(kept) :]))
