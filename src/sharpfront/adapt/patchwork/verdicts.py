"""What is made of a solution on patches in the end: believed, contradicted by data, or given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharpfront.adapt.patchwork.state import PatchState, ended, longest_tail, words_of
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.place.patches.data import missed_in
from sharpfront.place.patches.looks import Looks
from sharpfront.place.told import crossings
from sharpfront.problem import Problem
from sharpfront.trust.advice import Allowance, Solved, floor, short_of_kernels, unlowered
from sharpfront.trust.balance import unbalanced
from sharpfront.trust.excess import crowded, given_at_outflow
from sharpfront.trust.unseen import unseen_data, unseen_inside

# Below this an estimate that does not fall may be rounding, which its weights tell.
FLOOR = 1e-9
_UNBALANCED = (
    "No function satisfies the equations and all conditions: more functions leave as much of them, "
    "{:.1e}."
)
_OUTFLOW = (
    "Characteristics leave the domain on {}, where conditions are given too: unless these repeat "
    "what flows in, no function satisfies both. Leave them out."
)
_BALANCE = "Where only slopes are given on the boundary, sources and slopes must balance."


def unseen(state: PatchState) -> float:
    """Return what patches miss of data, about: of a spike that formulas tell of nobody knows."""
    patches = [c.patch for c in state.cells]
    missed = float(missed_in(state.looks, patches).max())
    if missed > state.tol and unseen_inside(state.looks, patches) is not None:
        return max(missed, 1.0)
    return missed


def trusted(state: PatchState) -> PatchState:
    """Return the end of a solution whose estimate is small, if its patches see all data."""
    if state.looked:
        return ended(state, OutcomeKind.CONVERGED)
    found = state.answer.approximation
    basis = next(iter(found.bases.values()))
    assert isinstance(basis, PatchworkBasis)
    looks = state.looks
    if looks.problem is not state.problem:
        # About another iterate of Newton's method.
        looks = Looks(state.problem, state.tiling.marked, state.tol)
    missed = unseen_data(looks, state.tiling, basis.patches, found, state.jumps.away)
    if missed is None:
        return ended(state, OutcomeKind.CONVERGED)
    # Nobody knows how much is missing.
    estimate = state.answer.estimate
    best = replace(state.answer, estimate=replace(estimate, value=max(estimate.value, 1.0)))
    end = ended(replace(state, best=best), OutcomeKind.UNRESOLVED)
    assert end.finished is not None
    words = f" Near {missed.where} formulas have something so narrow that no patch sees it."
    detail = end.finished.detail + words
    return replace(end, finished=Outcome(OutcomeKind.UNRESOLVED, detail, missed.remedy))


def contradicted(state: PatchState) -> Outcome | None:
    """Return which conditions contradict each other, if that is why an estimate does not fall."""
    found, words = state.answer.certificate, crowded(state.problem)
    if not words:
        return without_balance(state.problem)
    assert found is not None
    if found.contradiction < 1.0:
        return None
    detail = f"The equations have room for {words}, and they contradict each other."
    return Outcome(OutcomeKind.ILL_POSED, detail, "Leave out what is too much.")


def without_balance(problem: Problem) -> Outcome | None:
    """Return by how much integrals of sources and of data differ, if that is a contradiction."""
    return unbalanced(problem, crossings(problem))


def given_up(state: PatchState, allowed: Allowance) -> PatchState:
    """Return the end short of the tolerance, with what would help."""
    if told := contradicted(state):
        return replace(state, finished=told)
    if state.jumps.places:
        return ended(state, OutcomeKind.UNRESOLVED)
    if state.rows.is_simple and state.answer.reached <= state.tol:
        return trusted(state)
    best, dimension = state.answer, state.problem.domain.dimension
    reached, value, longest = words_of(best), best.estimate.value, longest_tail(best).estimate
    assert best.certificate is not None
    if not state.final and best.certificate.contradiction >= value:
        detail = f"{reached} {_UNBALANCED.format(best.certificate.contradiction)}"
        return replace(state, finished=Outcome(OutcomeKind.ILL_POSED, detail, _BALANCE))
    tried = as_estimates(state.tried, value, longest)
    if state.final:
        end = short_of_kernels(reached, value, tried, allowed, best.roughest)
    elif value < FLOOR:
        end = floor(reached, value, tried, longest)
    else:
        end = unlowered(reached, value, tried, dimension, best.roughest)
    if leaving := given_at_outflow(state.problem):
        end = replace(end, remedy=_OUTFLOW.format(", ".join(leaving)))
    return replace(state, finished=end)


def as_estimates(tried: Sequence[Solved], value: float, longest: float) -> list[Solved]:
    """Return solves with estimates in the place of their tails, of which the best has both.

    Tails fall as estimates do, which are only taken of those that may be the last. Where they do
    not, none is better than the best.
    """
    share = max(1.0, value / max(longest, 1e-300))
    return [Solved(s.kernels, max(value, share * s.estimate)) for s in tried]
