"""Another linear problem on the kernels that were placed for one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sharpfront.adapt.breakpoints import survey
from sharpfront.adapt.doubt import without_implied
from sharpfront.adapt.one_patch import OnePatchState
from sharpfront.adapt.patchwork.state import PatchState
from sharpfront.adapt.resolve import ResolveState
from sharpfront.problem import Problem
from sharpfront.problem.line_problem import ordinary


def again(state: Any, problem: Problem, tol: float, *, surveyed: bool = True) -> Any:
    """Return the state before the first solve of another problem with the same operator.

    Kernels, and what is known of the operator, are those of the state in which a solve has ended;
    where they do not resolve the new problem, the adaptor goes on as ever. None where the adaptor
    has no such state. If `surveyed`, its data are searched for features between check points.
    """
    if isinstance(state, ResolveState):
        plain, _ = without_implied(ordinary(problem))
        seen = survey(plain) if surveyed else None
        return replace(
            state,
            problem=plain,
            tol=tol,
            plan=state.kept or state.plan,
            answer=None,
            kept=None,
            stale=0,
            seen=seen,
            cuts=seen.cuts if seen else state.cuts,
            implied=(),
            attempts=0,
            tried=(),
            finished=None,
        )
    if isinstance(state, OnePatchState):
        return state.again(problem, tol)
    if isinstance(state, PatchState):
        return replace(
            state.about(problem),
            tol=tol,
            aim=tol,
            final=False,
            best=None,
            idle=0,
            tried=(),
            unsettled=False,
            finished=None,
        )
    return None
