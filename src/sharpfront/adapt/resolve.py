"""The default in one dimension: find the features, let a mixture place kernels, grow as needed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.resolve_state import Checked, ResolveState
from sharpfront.adapt.settings import RESOLVE
from sharpfront.adapt.uniqueness import confirmed
from sharpfront.budget import Budget
from sharpfront.checks import explained_fields
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.estimate.cells import SingularCellsError
from sharpfront.estimate.line_error import check_line
from sharpfront.leastsquares import Blocked, LeastSquares
from sharpfront.place.line.breakpoints import Cut, Survey, survey
from sharpfront.place.line.feature_search import Discovery, discover, special_points
from sharpfront.place.line.kernel_plan import (
    Plan,
    even_plan,
    first_plan,
    grown,
    slowness,
    wanted_growth,
    with_features,
    within,
)
from sharpfront.place.line.settings import LINE
from sharpfront.place.line.subintervals import between_cuts
from sharpfront.problem import Problem
from sharpfront.problem.line_problem import LineProblem, ordinary
from sharpfront.rounding import EPS
from sharpfront.rows.line_rows import line_system
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.field import Estimate
from sharpfront.trust.advice import Allowance, Solved, rounded_up, short_of_kernels, unlowered
from sharpfront.trust.conditioning import (
    amplification,
    distance,
    growth,
    near_singular,
    within_cells,
)
from sharpfront.trust.line_data import residual_left, unseen
from sharpfront.trust.line_statement import implied_missed, miscounted, vanished, without_implied
from sharpfront.trust.settings import TRUST
from sharpfront.trust.singular_ends import completed, unheld

HIGHEST_ORDER = 6
# Outcomes whose estimate stands or falls with what the check has seen.
_DROWNED = "The rounding of the data alone moves the solution by that, so nothing is known of it."
_CANCELLING = (
    "Where large terms of a formula cancel, write it without them; where a source is narrow and "
    "large, make it wider."
)
_TRUSTED = (OutcomeKind.CONVERGED, OutcomeKind.STALLED, OutcomeKind.UNRESOLVED)
_MEANING = (
    "max error from the error equation L e = f - L u, solved by an exponentially fitted scheme at "
    "points that were not used to fit, with a safety factor of 1.5, relative to max(1, max|u|)"
)
_UNSEEN = "no error can be estimated, because the check has not seen a feature of the data"
_NO_BALANCE = "no error can be estimated, because data do not balance and there is no solution"
_UNKNOWN = "no error can be estimated, because the conditions do not determine one solution"


@explained_fields("sf.Resolve()")
@dataclass(frozen=True)
class Resolve:
    """Kernels in the coordinate of a mixture that weighted EM fits to where the solution changes.

    An exponentially fitted difference scheme finds the features before the first kernel is placed;
    a Gaussian mixture is fitted to what it saw and gives each piece of the interval its own
    coordinate, in which kernels and rows are even; least squares gives the weights; the error
    equation says how wrong they are, and where more kernels are needed.

    Parameters
    ----------
    max_kernels
        Stop rather than use more.
    components
        The most components of a mixture in one piece.
    leastsquares
        Has to follow groups of columns to be fast on many pieces.
    """

    max_kernels: int = 4000
    components: int = 8
    leastsquares: LeastSquares = field(default_factory=lambda: Blocked(equilibrate=False))

    def __post_init__(self) -> None:
        Budget(self.max_kernels, self.components)

    def start(self, problem: Problem, tol: float, seed: int) -> ResolveState:
        """Return the state before the first solve: features found, kernels planned."""
        (name,) = problem.unknowns
        state = self.begin(name, ordinary(problem), tol)
        if state.refusal is None or state.refusal.kind is not OutcomeKind.NEAR_SINGULAR:
            return state
        from sharpfront.trust.underdetermined import left_free

        # What may be added says more than how much data are amplified.
        free = left_free(problem)
        if free is None:
            return state
        detail = f"{state.refusal.detail} {free.detail}"
        return replace(state, refusal=replace(state.refusal, detail=detail))

    def begin(self, name: str, plain: LineProblem, tol: float) -> ResolveState:
        """Return the state before the first solve of a problem in its plain form."""
        check_order(plain.order)
        plain, implied = without_implied(completed(plain))
        refusal = miscounted(plain) or unheld(plain)
        if refusal:
            return self.blind(name, plain, tol, refusal)
        seen = survey(plain)
        cuts = seen.cuts
        try:
            found = _discovered(plain, cuts, seen)
        except SingularCellsError:
            return self.blind(
                name, plain, tol, vanished(plain, seen, cuts) or near_singular(np.inf)
            )
        return replace(self.placed(name, plain, tol, found, seen), implied=implied)

    def placed(
        self, name: str, plain: LineProblem, tol: float, found: Discovery, seen: Survey
    ) -> ResolveState:
        """Return the state with kernels planned on what discovery and a survey have seen."""
        with np.errstate(all="ignore"):
            grown = growth(plain, found)
            amplified = max(amplification(plain, found), grown if grown > TRUST.grown else 0.0)
        stretches = between_cuts(plain.interval, seen.cuts, found)
        plan = first_plan(stretches, tol, self.components, plain.order)
        plan = within(plan, self.max_kernels)
        refusal = near_singular(amplified)
        if plan.kernels > self.max_kernels:
            # What one even piece can do is still assessed.
            refusal = refusal or _crowded(plan)
            plan = even_plan(plain.interval, plain.order, self.max_kernels)
        own = (name, plain, tol, found, plan, refusal, amplified)
        return ResolveState(*own, seen=seen, cuts=seen.cuts)

    def blind(
        self, name: str, plain: LineProblem, tol: float, refusal: Outcome | None
    ) -> ResolveState:
        """Return the state of a problem of which nothing is known, on one even piece."""
        plan = even_plan(plain.interval, plain.order, self.max_kernels)
        return ResolveState(name, plain, tol, None, plan, refusal)

    def propose(self, state: ResolveState) -> Proposal:
        """Return the patches of the plan and their rows."""
        system = line_system(state.problem, state.basis, state.conditions)
        return Proposal({state.unknown: state.basis}, system)

    def assess(self, state: ResolveState, approximation: Approximation) -> Checked:
        """Return the error equation's answer."""
        (weights,) = approximation.weights.values()
        if state.found is None or state.amplification > TRUST.unknowable:
            return _unassessed(state, approximation)
        try:
            with np.errstate(all="ignore"):
                check = check_line(state.problem, state.basis, weights, state.conditions)
        except SingularCellsError:
            return _unassessed(state, approximation)
        blurred = RESOLVE.noise * state.amplification + growth(state.problem, state.found)
        noise = EPS * blurred
        error = RESOLVE.safety * max(check.error, within_cells(check)) + check.floor
        # Of u that is off by as much as it is large, the true size may be anything.
        size = max(1.0, check.size - RESOLVE.unsure * error)
        value = error / size + noise
        if state.crowded:
            # Too few points to see what there is: discovery has seen it.
            value = max(value, distance(approximation, state.found))
        if not np.isfinite(value):
            return _unassessed(state, approximation)
        return Checked(
            approximation,
            check.grid.middles[:, None],
            check.grid.steps,
            np.maximum.reduce(np.abs(check.residual), axis=0),
            max(map(abs, check.misses.tolist()), default=0.0),
            Estimate(value, _MEANING),
            check,
        )

    def observe(self, state: ResolveState, assessment: Checked) -> ResolveState:
        """Return the state with the best answer kept, and more kernels planned or an end."""
        best, error = state.answer, assessment.kernels_share
        stale = state.stale + 1 if best and error > 0.5 * best.kernels_share else 0
        kept = state.kept
        if best is None or error < best.kernels_share:
            best, kept = assessment, state.plan
        tried = (*state.tried, Solved(state.plan.kernels, error))
        state = replace(state, answer=best, kept=kept, stale=stale, tried=tried)
        outcome = self._verdict(state, assessment)
        if outcome and outcome.kind is OutcomeKind.ILL_POSED and state.implied and best:
            state = replace(state, answer=replace(best, estimate=Estimate(np.inf, _NO_BALANCE)))
        if outcome and outcome.kind in _TRUSTED:
            state, outcome = self._doubted(state, outcome)
            if outcome is None:
                return state
        if outcome is None and assessment.check is not None:
            plan, outcome = self._next(state, assessment)
            if outcome is None:
                return replace(state, plan=plan)
        return confirmed(self, replace(state, finished=_explained(state, outcome)))

    def _next(self, state: ResolveState, last: Checked) -> tuple[Plan, Outcome | None]:
        """Return the plan with more kernels where they are needed, or why there is none."""
        base = state.plan
        if state.stale == 2 and state.kept and state.answer and state.answer is not last:
            # The mixture fitted anew made it worse: back to the one before, with more kernels.
            base, last = state.kept, state.answer
        assert last.check is not None
        slow = slowness(*zip(*state.tried, strict=True))
        growth = wanted_growth(
            base, last.check, last.kernels_share, state.tol, RESOLVE.safety, slow
        )
        if state.stale:
            # What is left in one part may be what its neighbours cannot follow.
            beside = np.maximum(np.append(growth[1:], 1.0), np.append(1.0, growth[:-1]))
            growth = np.maximum(growth, np.minimum(beside, LINE.ladder))
        if state.stale > 1:
            # The error falls slower than was expected of it.
            most = max(LINE.growth, state.plan.kernels / base.kernels)
            growth = np.where(growth > 1.0, most, 1.0)
        bigger = grown(base, growth, state.tol, last.check, self.components, state.stale == 1)
        plan = within(bigger, self.max_kernels)
        full = bigger.kernels > self.max_kernels and plan.kernels <= state.plan.kernels
        solves = "one solve" if len(state.tried) == 1 else f"{len(state.tried)} solves"
        used = f"{state.plan.kernels} kernels used in {solves}."
        reached = _reached(state.answer, used)
        if full or plan.kernels > self.max_kernels:
            allowed = Allowance(state.tol, self.max_kernels, type(self).max_kernels, 1)
            return plan, short_of_kernels(reached, _estimated(state), state.tried, allowed)
        if len(state.tried) >= RESOLVE.most_solves:
            return plan, unlowered(reached, _estimated(state), state.tried, 1)
        return plan, None

    def _doubted(
        self, state: ResolveState, outcome: Outcome
    ) -> tuple[ResolveState, Outcome | None]:
        """Return another plan, or no trust, if the survey knows of what the check has not seen."""
        best = state.answer
        if state.seen is None or best is None or best.check is None:
            return state, outcome
        check = best.check
        places, error = unseen(state.problem, state.seen, state.cuts, check, best.approximation)
        enough = max(state.tol, 3.0 * best.estimate.value)
        if RESOLVE.safety * error / max(1.0, check.size) <= enough:
            return state, outcome
        plan = with_features(
            state.plan, places, state.seen.spacing(places), state.tol, self.components
        )
        if state.attempts < RESOLVE.attempts and plan.kernels <= self.max_kernels:
            # What was best so far is best for another problem.
            return replace(state, plan=plan, answer=None, attempts=state.attempts + 1), None
        lost = replace(best, estimate=Estimate(np.inf, _UNSEEN))
        detail = f"A feature near x = {places[0]:.6g} lies between the checking points."
        remedy = "Solve on intervals that end there: kernels are then placed beside it."
        return replace(state, answer=lost), Outcome(OutcomeKind.UNRESOLVED, detail, remedy)

    def _verdict(self, state: ResolveState, last: Checked) -> Outcome | None:
        """Return None to go on."""
        best = state.answer
        if (state.refusal and not state.crowded) or not best or not best.check or not last.check:
            return state.refusal or near_singular(np.inf)
        error, floor = best.estimate.value, last.check.floor / max(1.0, last.check.size)
        if error <= state.tol:
            refused = implied_missed(state.implied, best.approximation, state.tol)
            return refused or Outcome(OutcomeKind.CONVERGED, _reached(best))
        if state.crowded:
            return state.refusal
        stalled = state.stale >= 3 and error < RESOLVE.stall
        if stalled or (floor > state.tol and error < 4.0 * floor):
            if error > RESOLVE.limit * max(floor, EPS):
                return unlowered(_reached(best), error, state.tried, 1)
            if error >= 1.0:
                return Outcome(OutcomeKind.STALLED, _reached(best, _DROWNED), _CANCELLING)
            floored = _reached(best, f"The floor here is about {rounded_up(error):.0e}.")
            return Outcome(OutcomeKind.STALLED, floored)
        return None


def _discovered(problem: LineProblem, cuts: tuple[Cut, ...], seen: Survey) -> Discovery:
    """Return the features."""
    jumps = np.array([cut.above for cut in cuts])
    # Where the leading coefficient vanishes a cell is infinite, and that is found out.
    with np.errstate(all="ignore"):
        return discover(problem, special_points(problem, cuts), jumps, seen)


def _estimated(state: ResolveState) -> float:
    return state.answer.estimate.value if state.answer else np.inf


def _reached(best: Checked | None, detail: str = "") -> str:
    reached = f"Estimated error {best.estimate.value:.1e}. " if best else ""
    return f"{reached}{detail}".strip()


def check_order(order: int) -> None:
    """Refuse equations on a line that have no derivative, or one of too high an order."""
    if 1 <= order <= HIGHEST_ORDER:
        return
    remedy = (
        "Write it as a system of lower order."
        if order
        else "Without a derivative it holds at each point by itself: solve it there."
    )
    raise ProblemError(
        f"Equations of order 1 to {HIGHEST_ORDER} can be solved on an interval, got order {order}. "
        f"{remedy}"
    )


def _crowded(plan: Plan) -> Outcome:
    """Return the end of a solve whose pieces alone take more kernels than are allowed."""
    count, least = len(plan.parts), plan.kernels
    detail = f"The interval falls into {count} pieces, which take {least} kernels at least."
    remedy = f"Raise max_kernels to more than {least}, or solve on shorter intervals."
    return Outcome(OutcomeKind.KERNEL_LIMIT, detail, remedy)


def _explained(state: ResolveState, outcome: Outcome | None) -> Outcome | None:
    """Return the cause instead of its symptom: no kernels resolve an equation without order."""
    if outcome is None or outcome.kind is OutcomeKind.CONVERGED or state.seen is None:
        return outcome
    return vanished(state.problem, state.seen, state.cuts) or outcome


def _unassessed(state: ResolveState, approximation: Approximation) -> Checked:
    """Return what is left of the equation, which says nothing of the error."""
    middles = np.concatenate([patch.places.middles.x for patch in state.plan.patches])
    steps = np.concatenate([np.diff(patch.places.nodes.x) for patch in state.plan.patches])
    residual = np.abs(residual_left(state.problem, approximation, middles))
    return Checked(
        approximation, middles[:, None], steps, residual, np.inf, Estimate(np.inf, _UNKNOWN)
    )
