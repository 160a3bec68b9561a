"""Whether data on the line determine the answer that was found."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.resolve_state import Checked, ResolveState
from sharpfront.adapt.settings import RESOLVE
from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.leastsquares import LeastSquares, solution_of
from sharpfront.place.line.kernel_plan import finer
from sharpfront.problem.line_problem import LineProblem
from sharpfront.solution.field import Estimate
from sharpfront.trust.conditioning import disagreement, near_singular

_APART = "difference of two independent discretisations, which do not confirm each other"
_FREE = "no error can be estimated: something may be added to the solution"


class Proposing(Protocol):
    """What makes rows of a state and solves them."""

    @property
    def leastsquares(self) -> LeastSquares:
        """How they are solved."""

    def propose(self, state: ResolveState) -> Proposal:
        """Return the rows."""


def undetermined(
    adaptor: Proposing, state: ResolveState, problem: LineProblem, last: Checked
) -> Outcome | None:
    """Return near-singular where the operator on more kernels says so.

    Cells do not see it where their error keeps a vanishing eigenvalue from zero: a front that
    nothing holds in its place, a resonance of an equation whose coefficients vary. Nor do the
    kernels that have just met the tolerance: on 83 of them such a front amplified 2e3 times, on
    143 4e7. The problem is a linear one, about the last solution if it is Newton's.
    """
    if state.amplification < RESOLVE.questionable:
        return None
    asked = replace(state, problem=problem, plan=finer(state.plan))
    return near_singular(_amplified(adaptor, asked, last))


def _amplified(adaptor: Proposing, state: ResolveState, last: Checked) -> float:
    """Return max|L^-1 (sum_j |c_j| / L^j) g| for a smooth function g of size one."""
    problem, method = state.problem, adaptor.leastsquares
    low, high = problem.interval

    def source(x: FloatArray) -> FloatArray:
        data = problem.sample(x)[:-1]
        terms = sum(np.abs(c) / (high - low) ** j for j, c in enumerate(data))
        # Neither even nor odd: g must not miss a mode by symmetry.
        return np.asarray(terms * np.cos(0.7 + 2.3 * (x - low) / (high - low)))

    nothing = tuple(replace(c, value=0.0) for c in problem.conditions)
    asked = replace(problem, source=source, conditions=nothing)
    proposal = adaptor.propose(replace(state, problem=asked))
    weights, _, _ = solution_of(method, proposal.system)
    (basis,) = proposal.bases.values()
    return float(np.abs(basis.values(weights, last.points, (0,))).max())


def confirmed(adaptor: Proposing, state: ResolveState) -> ResolveState:
    """Return the end as near-singular if nothing confirms the answer, or it is not the only one.

    Data may happen to leave alone what is free, as even ones do an odd mode on its resonance.
    """
    best = state.answer
    if best is None or best.check is None or state.found is None:
        return state
    apart = disagreement(best.check, state.found)
    if apart > best.estimate.value:
        answer = replace(best, estimate=Estimate(apart, _APART))
        detail = f"Two independent discretisations give solutions that differ by {apart:.1e}."
        return replace(state, answer=answer, finished=Outcome(OutcomeKind.NEAR_SINGULAR, detail))
    ended = state.finished is not None and state.finished.kind is OutcomeKind.CONVERGED
    if not ended or state.amplification < RESOLVE.resonant:
        return state
    doubt = undetermined(adaptor, state, state.problem, best)
    if doubt is None:
        return state
    return replace(state, answer=replace(best, estimate=Estimate(np.inf, _FREE)), finished=doubt)
