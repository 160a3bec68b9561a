"""What is stated once too often: conditions beyond those that equations have room for.

Least squares find something for any number of rows. Where conditions contradict each other it is a
compromise, which more functions need not change by much, so that comparisons say it is accurate.
What rows leave tells: it does not fall with more functions.
"""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.problem import Problem
from sharpfront.rounding import ROUNDED
from sharpfront.rows.form_values import FormValues, form_at
from sharpfront.trust.ellipticity import elliptic_order
from sharpfront.trust.settings import TRUST
from sharpfront.trust.underdetermined import left_free


def crowded(problem: Problem) -> str:
    """Return in words which conditions are more than elliptic equations have room for.

    A plate may be held up at points; in equations of order two a point is nothing.
    """
    if problem.domain.dimension > 3 or problem.is_singular:
        return ""
    order = elliptic_order(problem)
    if problem.domain.dimension == 1 and order is not None:
        given = sum(len(c.residuals) for c in (*problem.conditions, *problem.further))
        return f"{order} conditions together; {given} were given" if given > order else ""
    if not order:
        return ""
    room = order // 2
    for c in problem.conditions:
        if len(c.residuals) > room:
            each = f"{room} condition{'' if room == 1 else 's'} on each part of the boundary"
            return f"{each}; {len(c.residuals)} were given on {c.part}"
    full = {c.part for c in problem.conditions if len(c.residuals) == room}
    whole = full == set(problem.domain.parts) and not any(problem.domain.periodic_axes)
    alone = len(problem.unknowns) == room == 1 and problem.further and whole
    if alone and left_free(problem.rewritten(further=())) is None:
        return "conditions on the boundary only; further ones were given inside"
    return ""


def given_at_outflow(problem: Problem) -> list[str]:
    """Return parts on which conditions are given where characteristics leave the domain.

    For one equation of first order in a plane or in space.
    """
    if len(problem.unknowns) > 1 or problem.domain.dimension < 2 or problem.forms[0].order != 1:
        return []
    out = []
    for condition in problem.conditions:
        found = problem.domain.boundary(condition.part, TRUST.places)
        form = form_at(problem.forms[0], problem.coordinates, found.points)
        outwards = np.sum(_slopes(form) * found.normals, axis=1)
        if np.max(outwards) > ROUNDED * np.max(np.abs(_slopes(form))):
            out.append(condition.part)
    return out


def _slopes(form: FormValues) -> FloatArray:
    """Return the coefficients of first derivatives, (m, d)."""
    pairs = zip(form.terms, form.coefficients, strict=True)
    first = [np.outer(c, term.orders) for term, c in pairs if sum(term.orders) == 1]
    return np.asarray(sum(first), dtype=float)
