"""What an unknown's own equation and conditions say of it, as if the others were known.

Where unknowns meet in lower terms only, each is made at a corner of what its own highest
derivatives tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sharpfront.equation.expression import (
    TIME,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Leaf,
)
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.linearise import LinearForm, Term, is_linear, substitute, tangent_terms
from sharpfront.equation.trace import Symbols
from sharpfront.problem import Condition, Problem
from sharpfront.rows.row_norm import roughness

# The order of equations for which that is done.
SECOND = 2


def is_decoupled(problem: Problem, unknown: str) -> bool:
    """Tell whether an equation of second order holds highest derivatives of one unknown alone.

    They must not depend on unknowns, and be no other equation's. As high as a second derivative is
    the slope of what is as rough as a slope, such as a pressure's.
    """
    return _own_terms(problem, unknown) is not None


def decoupled(problem: Problem, unknown: str, t: float = 0.0) -> Problem:
    """Return the linear stationary problem of one unknown at a moment, without sources.

    Terms that depend on unknowns are left out. Laplace's equation stands for one that does not
    stand alone.
    """
    space = problem.domain.coordinates

    def insert(leaf: Leaf) -> Expression:
        if isinstance(leaf, Coordinate):
            return Constant(t) if leaf.name == TIME else replace(leaf, coordinates=space)
        if isinstance(leaf, Derivative):
            return Derivative(leaf.unknown, space, leaf.orders[: len(space)])
        return leaf

    terms = _own_terms(problem, unknown)
    if terms is None:
        twice = [tuple(SECOND * (a == b) for b in space) for a in space]
        terms = [Term(unknown, orders, Constant(1.0)) for orders in twice]
    total: Expression = Constant(0.0)
    for term in terms:
        leaf = Derivative(unknown, space, term.orders[: len(space)])
        total = total + substitute(term.coefficient, insert) * leaf
    conditions = tuple(
        Condition(tuple(substitute(r, insert) for r in found), c.part)
        for c in problem.conditions
        if (found := list(_of_unknown(c, unknown)))
    )
    return problem.rewritten(
        symbols=Symbols((unknown,), space),
        time=None,
        equations=(total,),
        conditions=conditions,
        further=(),
    )


def _own_terms(problem: Problem, unknown: str) -> list[Term] | None:
    """Return what stands beside an unknown and its derivatives in its own equation."""
    space = len(problem.domain.coordinates)
    every = [
        LinearForm(tuple(t for t in tangent_terms(e) if not any(t.orders[space:])), Constant(0.0))
        for e in problem.equations
    ]
    rough = roughness(every, problem.unknowns)
    most = [max((t.order + rough[t.unknown] for t in f.terms), default=0) for f in every]
    highest = [
        {t.unknown for t in form.terms if t.order + rough[t.unknown] == order}
        for form, order in zip(every, most, strict=True)
    ]
    mine = [f.terms for f, own in zip(every, highest, strict=True) if unknown in own]
    if len(mine) != 1 or {unknown} not in highest:
        return None
    terms = [t for t in mine[0] if t.unknown == unknown]
    free = [t for t in terms if not derivatives_in(t.coefficient)]
    leads = [t for t in terms if t.order == max(t.order for t in terms)]
    return free if leads[0].order == SECOND and all(t in free for t in leads) else None


def _of_unknown(condition: Condition, unknown: str) -> Iterator[Expression]:
    """Yield the residuals of a condition that hold one unknown alone and are linear in it."""
    for residual in condition.residuals:
        found = {d.unknown for d in derivatives_in(residual)}
        if found == {unknown} and is_linear(residual):
            yield residual
