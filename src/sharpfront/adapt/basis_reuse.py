"""Another linear problem on the kernels that were placed for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sharpfront.adapt.one_patch import OnePatchState
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.adapt.patchwork.state import PatchAssessment, PatchState
from sharpfront.adapt.patchwork.warm_start import neighbour_of
from sharpfront.adapt.resolve_state import ResolveState
from sharpfront.errors import OutcomeKind
from sharpfront.place.line.breakpoints import survey
from sharpfront.problem import Problem
from sharpfront.problem.family import same_but_numbers
from sharpfront.problem.line_problem import ordinary
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.trust.line_statement import without_implied


def reused_together(
    state: Any, problems: Sequence[Problem], tol: float, surveyed: Sequence[bool]
) -> list[Any]:
    """Return the states of several problems with the same operator, which share what they can."""
    pairs = zip(problems, surveyed, strict=True)
    states = [reused(state, problem, tol, surveyed=look) for problem, look in pairs]
    if isinstance(state, PatchState) and len(states) > 1:
        PatchRows.joined([one.rows for one in states])
    return states


def neighbouring(state: Any, solved: Problem, problem: Problem, tol: float) -> Any:
    """Return the state before the first solve of a problem that differs in numbers from one solved.

    On the kernels on which that ended; None where they will hardly do, or do not pay.
    """
    if not same_but_numbers(solved, problem):
        return None
    # What varies along the coordinates is the same, and was looked at in that solve.
    following = reused(state, problem, tol, surveyed=False)
    if not isinstance(state, PatchState):
        return following
    near = neighbour_of(state, problem)
    return None if near is None else replace(following, near=near)


def may_go_on(state: Any, assessment: Any) -> bool:
    """Tell whether patches that do not resolve a neighbour yet are better cut once than left.

    Not if a certificate was made of them, which takes longer than they do, nor if they are far off.
    """
    if not isinstance(state, PatchState) or not isinstance(assessment, PatchAssessment):
        return False
    found = assessment.certificate
    if found is not None and not found.carried:
        return False
    return float(assessment.tails.tail.max()) <= ADAPT.far * state.tol


def detach(state: Any) -> None:
    """Let a state go its own way, on kernels that are not those of others any more."""
    if isinstance(state, PatchState):
        state.rows.siblings = ()


def reused(state: Any, problem: Problem, tol: float, *, surveyed: bool = True) -> Any:
    """Return the state before the first solve of another problem with the same operator.

    Kernels, and what is known of the operator, are those of the state in which a solve has ended;
    where they do not resolve the new problem, the adaptor goes on as ever. None where the adaptor
    has no such state. If `surveyed`, its data are searched for features between check points; on
    patches also if those of the solve that ended were not.
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
            near=None,
            looked=not surveyed and _is_trusted(state),
        )
    return None


def _is_trusted(state: PatchState) -> bool:
    """Tell whether a solve ended well, after a look at what its patches may not see."""
    return state.finished is not None and state.finished.kind is OutcomeKind.CONVERGED
