"""Why an answer may not be trusted: estimates called into question, unknowns left open."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import fields

from sharpfront.adapt.embedded import even_mesh
from sharpfront.adapt.product_rows import Nudge
from sharpfront.adapt.space_state import SpaceAssessment, SpaceState
from sharpfront.approximation import Approximation
from sharpfront.equation.expression import Derivative
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate import Assessment
from sharpfront.estimate.check import change
from sharpfront.estimate.elements import can_be_built
from sharpfront.problem import Condition, Problem
from sharpfront.solution import Estimate

# Weight of a nudge by the root of the tolerance: what it moves a solution by is the square of its
# weight over that of the weakest mode. The first solves are nudged; the answer is not one of them.
NUDGE, NUDGED = 1e-3, 2
# An unknown that comes this close to what it is nudged to is not determined by the problem.
TAKEN = 1e-3
# A change from the last solution larger than this many estimates calls them into question.
SURPRISE = 2.0
# Comparison of solutions counts on no faster convergence than this from one to the next.
LEAST_RATIO = 0.1
_COMPARED = 3000


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


def compared(state: SpaceState, found: Assessment, undetermined: str) -> SpaceAssessment:
    """Take the estimate by comparison down by as much as it fell from the last one."""
    value = found.estimate.value
    if state.last is None:
        return _as_space(found, value, math.inf, 1.0, undetermined)
    return _as_space(found, extrapolated(state.last.raw, value), value, 1.0, undetermined)


def extrapolated(before: float, change: float) -> float:
    """Return the error of a solution from the last two changes that led to it.

    The last change is the error of the solution before. This one's is smaller as that change was
    smaller than the one before it, but what is taken from that is limited, and three times it is
    said.
    """
    if not 0 < change < before < math.inf:
        return change
    return change * min(1.0, 3.0 * max(change / before, LEAST_RATIO))


def _as_space(
    found: Assessment, value: float, raw: float, doubt: float, undetermined: str = ""
) -> SpaceAssessment:
    words = {f.name: getattr(found, f.name) for f in fields(found)}
    words["estimate"] = Estimate(value, found.estimate.meaning)
    return SpaceAssessment(**words, raw=raw, doubt=doubt, undetermined=undetermined)


def nudge_for(state: SpaceState) -> Nudge | None:
    """Return what an unknown is asked to be at a point, another value for each solve."""
    if state.found is not None or len(state.estimates) >= NUDGED:
        return None
    point = state.problem.domain.sample(1, "random", state.seed)[0]
    return Nudge(point, math.pi * (1 + len(state.estimates)), NUDGE * math.sqrt(state.tol))


def undetermined(state: SpaceState, approximation: Approximation) -> str:
    """Return the name of an unknown that takes whatever value it is nudged to, if any."""
    nudge = nudge_for(state)
    if nudge is None:
        return ""
    zero = (0,) * len(nudge.point)
    for unknown in state.problem.unknowns:
        found = float(approximation.values(unknown, nudge.point[None], zero)[0])
        if abs(found - nudge.value) < TAKEN * abs(nudge.value):
            return unknown
    return ""


def left_open(problem: Problem) -> Outcome | None:
    """Return what is wrong where an elliptic equation has a boundary without a condition."""
    held = {condition.part for condition in problem.conditions}
    bare = [part for part in problem.domain.parts if part not in held]
    if not bare or len(problem.unknowns) > 1 or problem.domain.dimension not in (2, 3):
        return None
    held_all = copy(problem)
    (name,) = problem.unknowns
    value = Derivative(name, problem.coordinates, (0,) * len(problem.coordinates))
    held_all.conditions = tuple(Condition((value,), part) for part in problem.domain.parts)
    held_all.further = ()
    if not can_be_built(held_all, even_mesh(problem.domain, 400)):
        return None
    return Outcome(
        OutcomeKind.ILL_POSED,
        f"The equation is elliptic and there is no condition on {', '.join(bare)}.",
    )
