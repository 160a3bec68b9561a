"""Why an answer may not be trusted: estimates called into question, unknowns left open."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np

from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.reweighed import SecondLook
from sharpfront.adapt.space_state import SpaceAssessment, SpaceState
from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Derivative
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate import Assessment
from sharpfront.estimate.elements import can_be_built
from sharpfront.estimate.space_error import change, fall
from sharpfront.geometry.meshes.shape_mesh import even_mesh
from sharpfront.kernels.assemble import LinearSystem
from sharpfront.leastsquares import LeastSquares
from sharpfront.problem import Condition, Problem
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.solution.field import Estimate

# Twice the change under other weights is said: where nothing else saw the error, the change alone
# was down to 0.4 of it on drawn problems.
SAFETY = 2.0
# A mode that is this much larger than all it leaves in the rows is not determined by the problem.
# Free ones reach 1e10 to 1e13 as soon as the functions resolve them; the bending of a clamped beam
# 200 times as long as thick 4e9, 40 times 7e6.
UNDETERMINED = 1e10
# From one solve to the next the size of the weakest mode grows by 1 to 3 if it is determined, by a
# hundred and more while the functions are still resolving one that is not.
GROWING = 30.0
# A change from the last solution larger than this many estimates calls them into question.
SURPRISE = 2.0
# Comparison of solutions counts on no faster convergence than this from one to the next.
LEAST_RATIO = 0.1
_COMPARED = 3000
_INVERSE_STEPS = 3


def doubted(state: SpaceState, found: Assessment) -> SpaceAssessment:
    """Call the estimate into question by how far the solution moved from the last one."""
    value, doubt = found.estimate.value, 1.0
    if state.last is not None:
        step = max(1, len(found.points) // _COMPARED)
        new, old = found.approximation, state.last.approximation
        moved = change(state.problem, new, old, found.points[::step])
        expected = value + state.last.raw
        if moved > SURPRISE * expected:
            doubt = moved / expected
    return _as_space(found, doubt * value, value, doubt)


def compared(state: SpaceState, found: Assessment, points: FloatArray) -> SpaceAssessment:
    """Take the estimate by comparison down by as much as it fell from the last one.

    Only solutions whose residual falls as functions are added are compared with profit.
    """
    last, moved = state.last, found.estimate.value
    if last is None:
        return _as_space(found, moved, moved, 1.0)
    if found.approximation.kernels > last.approximation.kernels:
        left = fall(state.problem, found.approximation, last.approximation, points)
        raw, doubt, value = moved, unfallen(left), extrapolated(last.raw, moved)
    else:
        # As many functions with other widths: the last change of their number still holds.
        raw, doubt, value = max(moved, last.raw), last.doubt, moved
    words = f"fewer functions change it by {raw:.1e}"
    return replace(_as_space(found, raised(value, doubt), raw, doubt), rests_on=words)


def confirmed(
    found: SpaceAssessment, look: SecondLook, before: SecondLook | None
) -> SpaceAssessment:
    """Return the assessment with what other weights of the rows say of it, now and before."""
    growing = before is not None and look.stability > GROWING * before.stability
    doubt = math.inf if growing else found.doubt
    value = raised(max(SAFETY * look.moved, look.carried), doubt)
    if found.checked:
        value = max(value, found.estimate.value)
    others = f"other weights of the rows by {look.moved:.1e}, the residual by {look.carried:.1e}"
    words = ", ".join(part for part in (found.rests_on, others) if part)
    estimate = Estimate(value, found.estimate.meaning)
    return replace(found, estimate=estimate, doubt=doubt, look=look, rests_on=words)


def unfallen(left: float) -> float:
    """Return a factor on an estimate from what is left of the residual after a growth.

    If every growth leaves the share q, all further ones together change q / (1 - q) of the last.
    """
    if left <= 0.5:
        return 1.0
    return left / (1.0 - left) if left < 1.0 else math.inf


def raised(value: float, doubt: float) -> float:
    """Return an estimate times a factor, up to one: nothing is known then."""
    return min(doubt * max(value, 1e-300), max(value, 1.0))


def extrapolated(before: float, change: float) -> float:
    """Return the error of a solution from the last two changes that led to it.

    The last change is the error of the solution before. This one's is smaller as that change was
    smaller than the one before it, but what is taken from that is limited, and three times it is
    said.
    """
    if not 0 < change < before < math.inf:
        return change
    return change * min(1.0, 3.0 * max(change / before, LEAST_RATIO))


def amplification(problem: Problem, proposal: Proposal, method: LeastSquares) -> float:
    """Return how many times kernels amplify a change of the equation, max|u| / max|v|.

    L u = s v with no data and s = sum_j |c_j| / l^j for a domain of size l, a few times with v the
    last u: as on an interval it is of order one for problems with a maximum principle, and beyond
    all bounds at a resonance or where a condition is missing. Kernels that resolve the waves tell
    these from a problem beside them, which no mesh does.
    """
    rows, system = proposal.rows[0], proposal.system
    assert isinstance(system, LinearSystem)
    points, state = np.asarray(rows.points), method.factor(system)
    size = float(np.ptp(problem.domain.bounds, axis=0).max())
    values, _ = form_values(
        rows.forms[0], environment(problem.coordinates, points), len(points), "equation"
    )
    terms = zip(rows.forms[0].terms, values, strict=True)
    strength = np.sum([np.abs(v) / size**term.order for term, v in terms], axis=0)
    u, largest = 1.0 + np.random.default_rng(0).random(len(points)), 0.0
    for _ in range(_INVERSE_STEPS):
        source = strength * u / np.abs(u).max() / np.asarray(system.blocks[0].norms)
        rest = [np.zeros(block.rows) for block in system.blocks[1:]]
        weights, _, _ = method.solve(state, np.concatenate([source, *rest]))
        found = Approximation(
            problem.coordinates, proposal.bases, split_weights(weights, proposal.bases)
        )
        u = found.values(problem.unknowns[0], points, (0,) * points.shape[1])
        if not np.all(np.isfinite(u)) or not np.any(u):
            return math.inf
        largest = max(largest, float(np.abs(u).max()))
    return largest


def _as_space(found: Assessment, value: float, raw: float, doubt: float) -> SpaceAssessment:
    words = {f.name: getattr(found, f.name) for f in fields(found)}
    words["estimate"] = Estimate(value, found.estimate.meaning)
    return SpaceAssessment(**words, raw=raw, doubt=doubt)


def many_solutions(assessment: SpaceAssessment) -> Outcome | None:
    """Return what is wrong where a mode leaves nothing in the rows but rounding."""
    look = assessment.look
    if look is None or look.stability < UNDETERMINED:
        return None
    detail = (
        f"There is a mode of {' and '.join(look.weakest)} that leaves {1 / look.stability:.0e} of "
        "its size in the equations and conditions: the problem cannot be told from one with many "
        "solutions."
    )
    return Outcome(OutcomeKind.NEAR_SINGULAR, detail)


def left_open(problem: Problem) -> Outcome | None:
    """Return what is wrong where an elliptic equation has a boundary without a condition."""
    held = {condition.part for condition in problem.conditions}
    bare = [part for part in problem.domain.parts if part not in held]
    if not bare or len(problem.unknowns) > 1 or problem.domain.dimension not in (2, 3):
        return None
    (name,) = problem.unknowns
    value = Derivative(name, problem.coordinates, (0,) * len(problem.coordinates))
    conditions = tuple(Condition((value,), part) for part in problem.domain.parts)
    held_all = problem.rewritten(conditions=conditions, further=())
    if not can_be_built(held_all, even_mesh(problem.domain, 400)):
        return None
    return Outcome(
        OutcomeKind.ILL_POSED,
        f"The equation is elliptic and there is no condition on {', '.join(bare)}.",
    )
