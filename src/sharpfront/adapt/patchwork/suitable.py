"""Which problems patches solve, which need them, and what a problem lacks."""

from __future__ import annotations

from sharpfront.adapt.corners import contradiction
from sharpfront.adapt.embedded import even_mesh
from sharpfront.adapt.freedom import left_free
from sharpfront.adapt.patchwork.start import has_edges
from sharpfront.adapt.patchwork.tiling import tiling_of
from sharpfront.adapt.questions import left_open
from sharpfront.equation.expression import derivatives_in
from sharpfront.errors import LinearSystemError, Outcome
from sharpfront.estimate.elements import Elements
from sharpfront.estimate.weak import UnsuitableError
from sharpfront.geometry import Box, Interval
from sharpfront.problem import Problem
from sharpfront.rows.interfaces import interface_lines

# Nodes of the mesh on which conditions are compared where they meet.
LOOKED = 400


def suits(problem: Problem) -> bool:
    """Tell whether patches solve a problem: on a domain that boxes tile, order up to four."""
    return (
        problem.time is None
        and problem.domain.dimension <= 3
        and (problem.is_linear or not problem.is_singular)
        and _order(problem) <= 4
        and _tiled(problem)
    )


def _tiled(problem: Problem) -> bool:
    """Tell whether the domain can be tiled, and by boxes without charts where something jumps.

    In space something may jump across one axis only: where such planes cross, solutions may be as
    singular as they like, and exponents are known in the plane.
    """
    tiling = tiling_of(problem.domain)
    if tiling is None or not problem.is_singular:
        return tiling is not None
    across = sum(len(x) > 0 for x in interface_lines(problem))
    return not tiling.blocks[0].chart and (problem.domain.dimension < 3 or across < 2)


def needs_patches(problem: Problem) -> bool:
    """Tell whether one basis on the whole domain will not do, or could not be judged.

    Beside corners that point inwards smooth functions on the whole domain do not converge, and for
    systems and beyond order two nothing but patches says how large their error is. On the line one
    equation is solved piece by piece anyway; of beams those with edges in their data need patches.
    In space patches are faster than one basis wherever both were tried, which is linear equations
    up to order two.
    """
    if problem.time is not None or problem.domain.dimension > 3:
        return False
    if problem.is_singular:
        return suits(problem)
    single, plain = len(problem.unknowns) == 1, _order(problem) <= 2
    if problem.domain.dimension == 3:
        return problem.is_linear and plain and suits(problem)
    if single and isinstance(problem.domain, Interval):
        edged = problem.is_linear and not plain and has_edges(problem)
        return edged and suits(problem)
    if single and isinstance(problem.domain, Box) and plain:
        return False
    return suits(problem)


def _order(problem: Problem) -> int:
    """Return the highest order of a derivative in the equations."""
    leaves = (leaf for e in problem.equations for leaf in derivatives_in(e))
    return max((sum(leaf.orders) for leaf in leaves), default=0)


def lacking(problem: Problem, tol: float) -> Outcome | None:
    """Return what a linear problem lacks, if that is plain from its statement.

    Where conditions disagree at corners in the plane, all is well elsewhere (`jumps`).
    """
    missing = left_open(problem) or left_free(problem)
    return missing if problem.domain.dimension == 2 else missing or _contradiction(problem, tol)


def _contradiction(problem: Problem, tol: float) -> Outcome | None:
    """Return where conditions that give u disagree, for one equation of second order."""
    if len(problem.unknowns) > 1 or problem.domain.dimension == 1:
        return None
    try:
        return contradiction(Elements.build(problem, even_mesh(problem.domain, LOOKED)), tol)
    except (UnsuitableError, LinearSystemError):
        return None
