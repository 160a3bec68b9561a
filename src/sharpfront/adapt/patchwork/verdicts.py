"""What is made of a solution on patches in the end: believed, contradicted by data, or given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharpfront.adapt.patchwork.jumps import in_words
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.adapt.patchwork.state import PatchAssessment, PatchState, longest_tail
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.place.formula_features import crossings
from sharpfront.place.patches.data_probes import DataProbes
from sharpfront.place.patches.data_resolution import missed_in
from sharpfront.problem import Problem
from sharpfront.trust.advice import Allowance, Solved, floor, short_of_kernels, unlowered
from sharpfront.trust.balance import unbalanced
from sharpfront.trust.overdetermined import crowded, given_at_outflow
from sharpfront.trust.unseen_data import unseen_data, unseen_inside

_JUMPS = (
    "The solution or its slopes jump there, and no number of patches resolves that. Let data that "
    "meet there agree, or lead one value to the other over a short stretch."
)
_SLOPES = (
    "The solution or its slopes jump there, and what counts like a slope, such as a pressure, is "
    "unbounded: no number of patches resolves that. Let values and slopes of the data that meet "
    "there agree with each other and with the equations of first order: a lid comes to rest at its "
    "ends together with its slope."
)
_LATE = (
    "Data that meet there disagree, or bend and are carried into the domain as they are, or an "
    "unknown such as a pressure is unbounded, as it is at corners that point inwards: no number of "
    "patches resolves that. Let data agree and bend less, round the corner off, or use the "
    "solution farther away only."
)
_UNBALANCED = (
    "No function satisfies the equations and all conditions: more functions leave as much of them, "
    "{:.1e}."
)
_OUTFLOW = (
    "Characteristics leave the domain on {}, where conditions are given too: unless these repeat "
    "what flows in, no function satisfies both. Leave them out."
)
_BALANCE = "Where only slopes are given on the boundary, sources and slopes must balance."


def ended(state: PatchState, kind: OutcomeKind) -> PatchState:
    """Return the end, with what is known about the answer."""
    found = state.answer.certificate
    assert found is not None
    detail = words_of(state.answer)
    if kind is OutcomeKind.NEAR_SINGULAR:
        detail += f" Noise of size one in its data grows to {found.amplification:.0e}."
    elif state.jumps.places:
        stated, value = state.jumps.stated, found.value
        told = f" ({'; '.join(dict.fromkeys(stated))})" if stated else ""
        detail += (
            f" It does not settle at {state.jumps}{told}, however small the patches there; farther "
            f"than {state.jumps.radius:.2g} from there the estimate is {value:.1e}."
        )
        if state.final and value > state.tol:
            detail += " For less than that raise max_kernels."
        known = len(stated) == len(state.jumps.places)
        kind = OutcomeKind.CONTRADICTION if known else OutcomeKind.UNRESOLVED
        advice = _SLOPES if max(state.rows.rough.values()) > 0 else _JUMPS
        advice = advice if known else _LATE
        return replace(state, finished=Outcome(kind, detail, advice))
    elif state.jumps.held:
        detail += f" Given values jump at {in_words(state.jumps.held)}, and functions with them."
    return replace(state, finished=Outcome(kind, detail))


def words_of(assessment: PatchAssessment) -> str:
    """Return in words what was reached, and what that rests on."""
    basis = next(iter(assessment.approximation.bases.values()))
    assert isinstance(basis, PatchworkBasis)
    count = len(basis.patches)
    patches = f"{count} patches" if count > 1 else "one patch"
    found = assessment.certificate
    assert found is not None
    if found.carried:
        return (
            f"Estimate {assessment.estimate.value:.1e} with {basis.size} functions on {patches} of "
            "a neighbour: that of the neighbour times how much longer the tails of weights are."
        )
    closer = f", patches closer to the ends of interfaces by {found.vertices:.1e}"
    held = "; its softest motion is still held back" if found.held else ""
    moved = f"; by one with more functions it is off by {found.moved:.1e}" if found.moved else ""
    return (
        f"Estimate {assessment.estimate.value:.1e} with {basis.size} functions on {patches}: two "
        f"more along every axis change it by {found.change:.1e}, other weights of the rows by "
        f"{found.norm:.1e}{closer if found.vertices else ''}{moved}{held}."
    )


def unseen(state: PatchState) -> float:
    """Return what patches miss of data, about: of a spike that formulas tell of nobody knows."""
    patches = [c.patch for c in state.cells]
    missed = float(missed_in(state.looks, patches).max())
    if missed <= state.tol or unseen_inside(state.looks, patches, state.jumps.away) is None:
        return missed
    return max(missed, 1.0)


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
        looks = DataProbes(state.problem, state.tiling.marked, state.tol)
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
    elif value < ADAPT.may_be_rounding:
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
