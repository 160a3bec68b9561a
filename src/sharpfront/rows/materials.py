"""Where coefficients jump inside derivatives: the edges of materials, read from the equations."""

from __future__ import annotations

from functools import lru_cache

from sharpfront.equation.edges import jumps_along
from sharpfront.equation.expression import Apply, Expression, Values
from sharpfront.equation.graph import derivatives_in, ordered
from sharpfront.equation.level_curves import Level, levels_of
from sharpfront.equation.linearise import linear_form
from sharpfront.equation.oblique_lines import Line, goes_on, jump_lines, straight_lines
from sharpfront.equation.weak import is_weak
from sharpfront.problem import Problem


def material_edges(problem: Problem) -> list[Level]:
    """Return the curves on which something jumps inside a derivative, but no lines along axes."""
    return [level for level in levels_of(_torn(problem)) if level.jumps]


@lru_cache(maxsize=4)
def material_lines(problem: Problem) -> tuple[Line, ...] | None:
    """Return the straight lines on which something jumps inside a derivative, in the plane.

    None where some of it jumps on a curve, or nobody knows where.
    """
    return jump_lines(_torn(problem), problem.coordinates, problem.domain.bounds)


def torn_across(problem: Problem, line: Line, stretch: Values) -> bool:
    """Tell whether something in the equations jumps across a stretch of a line, (2, 2)."""
    inner = [linear_form(n.arguments[1]) for n in _torn(problem) if isinstance(n, Apply)]
    graphs = [
        g for f in (*problem.forms, *inner) for g in (f.source, *(t.coefficient for t in f.terms))
    ]
    names, bounds = problem.coordinates, problem.domain.bounds
    return not all(goes_on(graph, line, names, bounds, stretch) for graph in graphs)


def _torn(problem: Problem) -> list[Expression]:
    """Return the derivatives of what jumps, or may."""
    nodes = [n for equation in problem.equations for n in ordered(equation)]
    return [n for n in nodes if is_weak(n) and derivatives_in(n) and not _goes_on(problem, n)]


def _goes_on(problem: Problem, node: Expression) -> bool:
    """Tell whether what is differentiated goes on across straight lines across the axes.

    As u - np.where(x + y > 1, (x + y - 1)**1.5, 0) does: then there is nothing to ask for on them.
    """
    assert isinstance(node, Apply)
    form, names, bounds = linear_form(node.arguments[1]), problem.coordinates, problem.domain.bounds
    if len(names) != 2 or any(jumps_along(t.coefficient, n) for t in form.terms for n in names):
        return False
    every = straight_lines([form.source], names, bounds)
    lines = [line for line in every if line.is_slanted]
    return bool(lines) and all(goes_on(form.source, line, names, bounds) for line in lines)
