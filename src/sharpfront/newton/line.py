"""Nonlinear problems of one unknown on an interval, as an adaptor.

Cells find the solution roughly (`cells`), a mixture places kernels on what they saw, and from there
one Newton step goes with each solve: the system is the equation about the last iterate, and the
check is the error equation about the new one, L(v) e = -F(v), whose answer holds the error of the
kernels and what is left of Newton's method alike. Kernels are added only once the second is small
beside the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from sharpfront.adapt import Resolve
from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.resolve import crowded
from sharpfront.adapt.resolve_state import Checked, ResolveState
from sharpfront.errors import EquationError, Outcome, OutcomeKind
from sharpfront.leastsquares import LeastSquares
from sharpfront.mixture import Mixture
from sharpfront.newton.cells import Cells, First, approach_on_cells
from sharpfront.newton.deflation import another
from sharpfront.newton.doubt import explained, undetermined
from sharpfront.newton.guess import Start
from sharpfront.newton.iterate import Interpolated, Iterate, Remembered
from sharpfront.newton.line_tangent import LineTangent, single_unknown
from sharpfront.newton.progress import Move, Progress, next_move, not_converged
from sharpfront.place.line.breakpoints import Survey, survey
from sharpfront.place.line.discover import special_points
from sharpfront.place.line.plan import even_plan, first_plan, within
from sharpfront.place.line.subintervals import between_cuts
from sharpfront.problem import Problem
from sharpfront.problem.line_problem import LineProblem
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.field import Estimate
from sharpfront.trust.conditioning import GROWN, amplification, growth, near_singular
from sharpfront.trust.line_statement import miscounted

_CORRECTION = "the last correction of Newton's method, relative to max(1, max|u|)"
_UNDETERMINED = "no error can be estimated, because the data do not determine the solution"


@dataclass(frozen=True, eq=False)
class LineRelinearised(Checked):
    """An assessment by the error equation about the new iterate."""

    problem: LineProblem | None = None  # the linear problem about it
    # The assessment by the error equation about the old iterate: the kernels' share, without what
    # Newton's method has left.
    kernels: Checked | None = None
    # The largest change from the iterate before, relative to max(1, max|u|).
    changed: float = np.inf


@dataclass(frozen=True, eq=False)
class LineState:
    """Where Newton's method stands."""

    tangent: LineTangent  # the problem, ready to be linearised
    inner: ResolveState  # kernels and plan of the linear problem about the last iterate
    iterate: Any  # the last iterate
    cells: Cells | None = None  # what was found on cells; None if the problem was refused before
    progress: Progress = field(default_factory=Progress)  # Newton's changes on kernels
    answer: Checked | None = None  # the best assessed approximation
    # Whether equation or conditions vary with the coordinate beside the unknown.
    explicit: bool = True

    @property
    def mixture(self) -> Mixture | None:
        """The mixture that places the kernels of the next solve."""
        return self.inner.mixture

    @property
    def finished(self) -> Outcome | None:
        """Why it ended."""
        return self.inner.finished

    @property
    def diagnostics(self) -> Mapping[str, float]:
        """Counts of steps and solves."""
        on_cells = self.cells.solves if self.cells else 0
        return {
            "newton_steps": self.progress.steps,
            "linear_solves": on_cells + self.progress.steps,
            "cell_solves": on_cells,
            "last_change": self.progress.last,
        }


@dataclass(frozen=True)
class NewtonLine:
    """Newton's method about kernels of `Resolve`."""

    inner: Resolve = field(default_factory=Resolve)  # places kernels and checks them
    start_from: Start = field(default_factory=Start)  # the guess

    @property
    def leastsquares(self) -> LeastSquares:
        """The method of the inner adaptor."""
        return self.inner.leastsquares

    def start(self, problem: Problem, tol: float, seed: int) -> LineState:
        """Return the state before the first solve: the solution found on cells, kernels planned."""
        name = single_unknown(problem)
        guesses = self.start_from.iterates(problem)
        tangent = LineTangent(problem, guesses[-1])
        plain = tangent.at(guesses[-1])
        refusal = miscounted(plain)
        if refusal:
            blind = even_plan(plain.interval, plain.order, self.inner.max_kernels)
            return LineState(
                tangent, ResolveState(name, plain, tol, None, blind, refusal), guesses[-1]
            )
        data = _data(tangent, guesses[-1])
        fixed = special_points(plain, data.cuts)
        cells = approach_on_cells(tangent, guesses, First(data, fixed, self.start_from.nodes))
        state = self._planned(name, cells, data, tol)
        return LineState(tangent, state, cells.table, cells, explicit=data.explicit)

    def _planned(self, name: str, cells: Cells, data: Survey, tol: float) -> ResolveState:
        plain, found, most = cells.linear, cells.found, self.inner.max_kernels
        amplified = _amplification(plain, cells)
        refusal = explained(near_singular(amplified))
        if cells.attempted and not cells.converged:
            refusal = not_converged(cells.history, cells.solves)
        if found is None or not cells.converged:
            blind = even_plan(plain.interval, plain.order, most)
            return ResolveState(name, plain, tol, None, blind, refusal)
        stretches = between_cuts(plain.interval, data.cuts, found)
        plan = within(first_plan(stretches, tol, self.inner.components, plain.order), most)
        if plan.kernels > most:
            refusal = refusal or crowded(plan)
            plan = even_plan(plain.interval, plain.order, most)
        return ResolveState(
            name, plain, tol, found, plan, refusal, amplified, seen=data, cuts=data.cuts
        )

    def propose(self, state: LineState) -> Proposal:
        """Return kernels and rows of the linear problem about the last iterate."""
        return self.inner.propose(state.inner)

    def assess(self, state: LineState, approximation: Approximation) -> Checked:
        """Return the error equation's answer, linearised about what is assessed."""
        (name,) = approximation.bases
        if state.inner.found is None:
            return self.inner.assess(state.inner, approximation)
        iterate = Remembered(approximation, state.tangent.highest)
        problem = state.tangent.at(iterate)
        found = self.inner.assess(replace(state.inner, problem=problem), approximation)
        if found.check is None:
            return found
        met = found.estimate.value <= state.inner.tol
        kernels = found if met else self.inner.assess(state.inner, approximation)
        new, old = found.check.values, state.iterate.values(name, found.points, (0,))
        changed = float(np.abs(new - old).max()) / max(1.0, float(np.abs(new).max()))
        words = {f.name: getattr(found, f.name) for f in fields(found)}
        return LineRelinearised(**words, problem=problem, kernels=kernels, changed=changed)

    def observe(self, state: LineState, assessment: Checked) -> LineState:
        """Return the next Newton step on the same kernels, more kernels, or an end."""
        if not isinstance(assessment, LineRelinearised) or assessment.problem is None:
            inner = self.inner.observe(state.inner, assessment)
            return replace(state, inner=inner, answer=inner.answer)
        best, inner, kernels = state.answer, state.inner, assessment.kernels
        progress = state.progress.after(assessment.changed)
        if best is None or assessment.estimate.value < best.estimate.value:
            best = assessment
        state = replace(state, answer=best, progress=progress)
        assert kernels is not None
        move = next_move(kernels.estimate.value, assessment.estimate.value, inner.tol, progress)
        doubtful = inner.refusal or undetermined(self.inner, inner, assessment.problem, assessment)
        if doubtful:
            return _refused(state, doubtful)
        if move is Move.COARSE:
            return _grown(state, self.inner.observe(inner, kernels))
        iterate = Remembered(assessment.approximation, state.tangent.highest)
        inner = replace(inner, problem=assessment.problem)
        state = replace(state, iterate=iterate, inner=inner)
        if move is Move.END:
            return self._ended(state, assessment)
        if move is Move.NEWTON:
            stuck = progress.stuck()
            return _grown(state, replace(inner, finished=stuck)) if stuck else state
        return _grown(state, self.inner.observe(inner, kernels))

    def _ended(self, state: LineState, assessment: LineRelinearised) -> LineState:
        """Return what the inner adaptor makes of an answer that is good enough."""
        inner = state.inner
        if state.explicit and inner.seen is not None:
            inner = replace(inner, seen=_seen(state, inner.seen, assessment))
        inner = self.inner.observe(inner, assessment)
        if inner.finished and inner.finished.kind is OutcomeKind.CONVERGED:
            inner = replace(inner, finished=self._alone(state) or inner.finished)
        return replace(state, inner=inner, answer=inner.answer or state.answer)

    def _alone(self, state: LineState) -> Outcome | None:
        """Return what speaks for other solutions, where no guess has chosen this one."""
        if self.start_from.given is not None or state.cells is None:
            return None
        return another(state.tangent, state.cells)


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


def _seen(state: LineState, seen: Survey, last: LineRelinearised) -> Survey:
    """Return the survey about the last iterate, interpolated from where it was checked."""
    if last.check is None:
        return seen
    tangent, middles = state.tangent, np.unique(last.check.grid.middles)
    table = Interpolated.of(state.iterate, tangent.name, tangent.order, middles)
    rows = tangent.sample(table, 1.0, seen.x)
    kept = [None if old is None else new for old, new in zip(seen.rows, rows, strict=False)]
    return replace(seen, rows=(*kept, *seen.rows[len(kept) :]))


def _amplification(plain: LineProblem, cells: Cells) -> float:
    if cells.found is None:
        return np.inf
    with np.errstate(all="ignore"):
        grown = growth(plain, cells.found)
        return max(amplification(plain, cells.found), grown if grown > GROWN else 0.0)


def _grown(state: LineState, inner: ResolveState) -> LineState:
    """Return the state with other kernels; at an end, the last correction counts as error."""
    answer, last = state.answer, state.progress.last
    if inner.finished is not None and answer is not None and answer.estimate.value < last:
        answer = replace(answer, estimate=Estimate(last, _CORRECTION))
    return replace(state, inner=inner, answer=answer, progress=state.progress.renewed())


def _refused(state: LineState, why: Outcome) -> LineState:
    """Return the end with an answer of which nothing can be said."""
    assert state.answer is not None
    lost = replace(state.answer, estimate=Estimate(np.inf, _UNDETERMINED))
    return replace(state, answer=lost, inner=replace(state.inner, finished=why))
