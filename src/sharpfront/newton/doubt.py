"""Whether the data determine the solution that Newton's method found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfront.adapt import Resolve
from sharpfront.adapt.resolve_state import Checked, ResolveState
from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.leastsquares import solution_of
from sharpfront.place.line.plan import finer
from sharpfront.problem.line_problem import LineProblem
from sharpfront.trust.conditioning import near_singular

# A vanishing eigenvalue comes out of cells as their error, a hundredth or less: amplification above
# this is looked at again.
QUESTIONABLE = 50.0


def undetermined(
    adaptor: Resolve, state: ResolveState, problem: LineProblem, last: Checked
) -> Outcome | None:
    """Return near-singular where the operator on more kernels says so.

    Cells do not see it where their error keeps a vanishing eigenvalue from zero: a front that
    nothing holds in its place. Nor do the kernels that have just met the tolerance: on 83 of them
    such a front amplified 2e3 times, on 143 4e7. The problem is the linear one about the last
    solution.
    """
    if state.amplification < QUESTIONABLE:
        return None
    asked = replace(state, problem=problem, plan=finer(state.plan))
    return explained(near_singular(_amplified(adaptor, asked, last)))


def _amplified(adaptor: Resolve, state: ResolveState, last: Checked) -> float:
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


def explained(refusal: Outcome | None) -> Outcome | None:
    """Return a near-singular outcome in terms of a nonlinear problem."""
    if refusal is None or refusal.kind is not OutcomeKind.NEAR_SINGULAR:
        return refusal
    return Outcome(
        refusal.kind,
        f"{refusal.detail} This is the linearisation about the solution that Newton's method "
        "found: it stands at a fold, or holds a layer whose position the data do not determine.",
    )
