"""Which problems patches solve, which need them, and what a problem lacks."""

from __future__ import annotations

from sharpfront.bases.solid_cut_cells import SolidRegion
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.linearise import nonlinear_part
from sharpfront.equation.weak import is_singular
from sharpfront.errors import Outcome
from sharpfront.place.patches.first_patches import has_edges
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.problem import Problem
from sharpfront.rows.integrals import Integrals
from sharpfront.rows.interfaces import interface_lines
from sharpfront.trust.corners import contradicting_sides
from sharpfront.trust.free_corners import twisted
from sharpfront.trust.singular_ends import undetermined
from sharpfront.trust.underdetermined import left_free, left_open


def suits(problem: Problem) -> bool:
    """Tell whether patches solve a problem: on a domain that boxes tile, order up to four."""
    return (
        problem.time is None
        and problem.domain.dimension <= 3
        and (problem.is_linear or not problem.is_singular or _is_mild(problem))
        and _order(problem) <= 4
        and _tiled(problem)
    )


def _is_mild(problem: Problem) -> bool:
    """Tell whether what is not linear in equations holds values alone, and is no load."""
    parts = [nonlinear_part(equation) for equation in problem.equations]
    orders = [sum(leaf.orders) for part in parts for leaf in derivatives_in(part)]
    return not (problem.jumps or any(orders) or any(map(is_singular, parts)))


def _tiled(problem: Problem) -> bool:
    """Tell whether the domain can be tiled, and without charts where jumps are stated.

    Beside curved boundaries something may jump on curves only, not along the axes.

    In space something may jump across one axis only: where such planes cross, solutions may be as
    singular as they like, and exponents are known in the plane.
    """
    tiling = tiling_of(problem.domain)
    if tiling is not None and isinstance(tiling.blocks[0].region, SolidRegion):
        # Over what a surface cuts off a box nothing is integrated yet.
        return not problem.is_singular and not Integrals.stated(problem)
    if tiling is None or not problem.is_singular:
        return tiling is not None
    across = sum(len(x) > 0 for x in interface_lines(problem))
    if across and tiling.blocks[0].region is not None:
        return False
    if tiling.blocks[0].chart is not None:
        return not problem.jumps
    return problem.domain.dimension < 3 or across < 2


def needs_patches(problem: Problem) -> bool:
    """Tell whether patches are to solve a problem: all that they can, except on the line.

    There one equation is solved piece by piece anyway, and patches take fluxes that jump, loads,
    beams with edges in their data, and what is infinite at an end, where they have no points.
    """
    if problem.domain.dimension == 1 and len(problem.unknowns) == 1:
        high = _order(problem) > 2
        poles = problem.has_poles_at_ends and not high
        edges = high and problem.is_linear and has_edges(problem)
        return (problem.is_singular or poles or edges) and suits(problem)
    return suits(problem)


def _order(problem: Problem) -> int:
    """Return the highest order of a derivative in the equations."""
    leaves = (leaf for e in problem.equations for leaf in derivatives_in(e))
    return max((sum(leaf.orders) for leaf in leaves), default=0)


def lacking(problem: Problem, tol: float) -> Outcome | None:
    """Return what a linear problem lacks, if that is plain from its statement.

    Where conditions disagree at corners in the plane, all is well elsewhere (`jumps`).
    """
    missing = left_open(problem) or left_free(problem) or twisted(problem)
    missing = missing or undetermined(problem)
    return (
        missing if problem.domain.dimension == 2 else missing or contradicting_sides(problem, tol)
    )
