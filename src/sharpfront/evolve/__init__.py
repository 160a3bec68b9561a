"""Problems in time: kernels that follow the front."""

from __future__ import annotations

from collections.abc import Callable

from sharpfront.budget import DEFAULT, Budget
from sharpfront.errors import ProblemError
from sharpfront.evolve.line import evolve_line
from sharpfront.evolve.patchwork import evolve_patches, needs_patches
from sharpfront.evolve.plane import evolve_plane
from sharpfront.evolve.rothe import evolve_around
from sharpfront.history import TimeStep
from sharpfront.problem import Problem
from sharpfront.solution import Solution
from sharpfront.trust.start import with_start_seen


def evolve(
    problem: Problem,
    tol: float,
    *,
    budget: Budget = DEFAULT,
    on_step: Callable[[TimeStep], None] | None = None,
    resume: Solution | None = None,
) -> Solution:
    """Solve a problem in time."""
    if problem.domain.dimension == 1:
        return evolve_line(problem, tol, budget=budget, on_step=on_step, resume=resume)
    if problem.domain.dimension == 2 and needs_patches(problem):
        found = evolve_patches(problem, tol, budget=budget, on_step=on_step, resume=resume)
        return with_start_seen(problem, found)
    if problem.domain.dimension == 2:
        found = evolve_plane(problem, tol, budget=budget, on_step=on_step, resume=resume)
        return with_start_seen(problem, found)
    raise ProblemError(
        "Problems in time are solved in one and two dimensions; this one has "
        f"{problem.domain.dimension}."
    )


__all__ = ["evolve", "evolve_around"]
