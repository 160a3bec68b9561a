"""What solve is asked for, checked before anything is solved."""

from __future__ import annotations

from sharpfront.adapt.contract import Adaptor
from sharpfront.adapt.resolve import check_order
from sharpfront.budget import Budget
from sharpfront.checks import flag, function, refusal
from sharpfront.equation.expression import IMAGINARY, SPECTRAL, is_zero
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.linearise import is_linear, nonlinear_part
from sharpfront.equation.weak import is_singular
from sharpfront.errors import ProblemError
from sharpfront.problem import Problem
from sharpfront.solution import Solution

# What is asked for if nothing is said, in one dimension and beyond.
TOLERANCE, SPACE_TOLERANCE = 1e-8, 1e-6


def check_options(adaptor: object, on_step: object, progress: object, resume: object) -> None:
    """Refuse options of the wrong kind before anything is looked at."""
    flag(progress, "progress")
    if on_step is not None:
        function(on_step, "on_step", "on_step=print")
    if resume is not None and not isinstance(resume, Solution):
        raise refusal("resume", "a Solution, as solve returned it or sf.load read it", resume)
    if adaptor is not None and (isinstance(adaptor, type) or not hasattr(adaptor, "propose")):
        raise refusal("adaptor", "an adaptor with its settings", adaptor, "adaptor=sf.Resolve()")


def refuse_singular(problem: Problem, adaptor: Adaptor | None) -> None:
    """Refuse fluxes that jump, loads and stated jumps where no patches can hold them.

    Marches on the line and in the plane read their fluxes themselves.
    """
    dimension = problem.domain.dimension
    marched = problem.time is not None and (dimension == 1 or (dimension == 2 and adaptor is None))
    if not problem.is_singular or marched:
        return
    from sharpfront.adapt.patchwork import Patches, suits

    if suits(problem) and isinstance(adaptor, Patches | None):
        return
    what = "The problem has a derivative across a coefficient that jumps, sf.delta or sf.jump"
    if suits(problem):
        raise ProblemError(f"{what}; only sf.Patches() solves that. Leave adaptor= out.")
    raise ProblemError(
        f"{what}. Those are solved where it is linear but for terms of values, such as u**3, and "
        "lies on an interval, on a box or polygon in the plane, with sf.jump only if its sides are "
        "parallel to the axes, or in space with jumps across one axis only and no time=. If k is "
        "continuous in (k * u.dx).dx, write the product rule, k * u.dxx + k_x * u.dx."
        f"{_not_linear(problem)}"
    )


def _not_linear(problem: Problem) -> str:
    """Return which term is not linear where it has to be, as the end of a message."""
    parts = [nonlinear_part(e) for e in problem.equations]
    many = [d for part in parts for d in derivatives_in(part) if any(d.orders)]
    refused = many or problem.jumps or any(map(is_singular, parts))
    stated = [e for j in problem.jumps for e in (*j.residuals, *j.equals) if not is_linear(e)]
    terms = [e for e in (*stated, *(parts if refused else ())) if not is_zero(e)]
    return f" Not linear here is {terms[0]!r}." if terms else ""


def checked(problem: object, budget: Budget) -> tuple[Problem, float]:
    """Return a problem that can be solved, and the tolerance for it."""
    if not isinstance(problem, Problem):
        raise ProblemError(
            f"solve expects a Problem, got {type(problem).__name__}. A function that returns one "
            "will do as well, with its parameters: sf.solve(layer, nu=1e-2)."
        )
    _refuse_parameters(problem)
    if problem.domain.dimension == 1 and problem.time is None:
        check_order(max(sum(leaf.orders) for e in problem.equations for leaf in derivatives_in(e)))
    usual = TOLERANCE if problem.domain.dimension == 1 else SPACE_TOLERANCE
    return problem, usual if budget.tol is None else budget.tol


def _refuse_parameters(problem: Problem) -> None:
    """Refuse eigenvalue problems and complex coefficients, which have other ways."""
    if SPECTRAL in problem.parameters_left:
        raise ProblemError(
            "The problem has a spectral parameter lam, so its eigenvalues are wanted: write "
            "sf.eigs(problem). If lam is a number, capture it or give it in parameters=."
        )
    if problem.parameters_left & {IMAGINARY}:
        raise ProblemError(
            "The problem has complex coefficients, and sf.solve works with real ones. Write it for "
            "the real and the imaginary part as two unknowns."
        )
