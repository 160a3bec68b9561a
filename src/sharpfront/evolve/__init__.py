"""Problems in time: kernels that follow the front."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

from sharpfront.budget import DEFAULT, Budget
from sharpfront.errors import OutcomeKind, ProblemError, SharpfrontError
from sharpfront.evolve.wellposed import require_states_that_go_on
from sharpfront.history import TimeStep
from sharpfront.problem import Problem
from sharpfront.solution import Solution


def evolve(
    problem: Problem,
    tol: float,
    *,
    budget: Budget = DEFAULT,
    on_step: Callable[[TimeStep], None] | None = None,
    resume: Solution | None = None,
) -> Solution:
    """Solve a problem in time."""
    require_states_that_go_on(problem)
    if problem.domain.dimension == 1:
        from sharpfront.evolve.line import evolve_line

        return evolve_line(problem, tol, budget=budget, on_step=on_step, resume=resume)
    if problem.domain.dimension == 2:
        return _in_the_plane(problem, tol, budget, on_step, resume)
    raise ProblemError(
        "Problems in time are solved in one and two dimensions; this one has "
        f"{problem.domain.dimension}."
    )


def _in_the_plane(
    problem: Problem,
    tol: float,
    budget: Budget,
    on_step: Callable[[TimeStep], None] | None,
    resume: Solution | None,
) -> Solution:
    """Solve a problem in the plane; what that takes is loaded for it alone, for a second or so."""
    from sharpfront.evolve.patchwork import (
        begins_with_front,
        evolve_patches,
        has_edges,
        needs_patches,
        settles,
    )
    from sharpfront.evolve.plane import evolve_plane
    from sharpfront.trust.initial_data import with_start_seen

    patches = partial(evolve_patches, problem, tol, budget=budget, on_step=on_step, resume=resume)
    begun_there = resume is not None and "on patches" in (resume.checkpoint or ())
    if begun_there or needs_patches(problem) or settles(problem, tol):
        return with_start_seen(problem, patches())

    @cache
    def instead() -> Solution | None:
        try:
            return patches()
        except SharpfrontError:
            return None

    first = resume is None and (begins_with_front(problem) or has_edges(problem))
    along = instead() if first else None
    if along is not None and along.outcome.kind in (OutcomeKind.CONVERGED, OutcomeKind.INTERRUPTED):
        return with_start_seen(problem, along)
    found = evolve_plane(
        problem, tol, budget=budget, on_step=on_step, resume=resume, instead=instead
    )
    if along is not None and along.history:
        found = max(
            along,
            found,
            key=lambda one: (one.converged, one.history[-1].time if one.history else -math.inf),
        )
    return with_start_seen(problem, found)


__all__ = ["evolve"]
