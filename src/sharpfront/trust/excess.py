"""What is stated once too often: conditions beyond those that equations have room for.

Least squares find something for any number of rows. Where conditions contradict each other it is a
compromise, which more functions need not change by much, so that comparisons say it is accurate.
What rows leave tells: it does not fall with more functions.
"""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.problem import Problem
from sharpfront.rows.values import FormValues, form_at
from sharpfront.trust.freedom import left_free

# Points inside and on each part of the boundary, and directions, that are looked at.
IN_DOMAIN, ON_SIDE, DIRECTIONS = 20, 400, 24
# Waves so many times shorter than the domain tell the order of equations together, once twice as
# short ones agree: lower terms are small beside the highest.
SHORT = (1e6, 1e9, 1e12)
# Of its largest size a determinant that is nowhere smaller than this vanishes in no direction.
ELLIPTIC = 1e-6
# Terms smaller than this share of the largest are rounding.
NO_TERM = 1e-12


def crowded(problem: Problem) -> str:
    """Return in words which conditions are more than elliptic equations have room for.

    A plate may be held up at points; in equations of order two a point is nothing.
    """
    if problem.domain.dimension > 3 or problem.is_singular:
        return ""
    order = _order(problem)
    if problem.domain.dimension == 1 and order is not None:
        given = sum(len(c.residuals) for c in (*problem.conditions, *problem.further))
        return f"{order} conditions together; {given} were given" if given > order else ""
    if not order or order % 2:
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


def _order(problem: Problem) -> int | None:
    """Return the order of elliptic equations together, that of the determinant of their symbol.

    None if they are not elliptic.
    """
    d = problem.domain.dimension
    points = problem.domain.sample(IN_DOMAIN)
    ways = np.random.default_rng(0).normal(size=(DIRECTIONS, d))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    forms = [form_at(f, problem.coordinates, points) for f in problem.forms]
    names = list(problem.unknowns)

    def sizes(factor: float) -> FloatArray:
        symbol = np.zeros((IN_DOMAIN, DIRECTIONS, len(names), len(names)), dtype=complex)
        waves = 1j * factor / float(np.ptp(problem.domain.bounds, axis=0).max()) * ways
        for i, form in enumerate(forms):
            for term, c in zip(form.terms, form.coefficients, strict=True):
                powers = np.prod(waves ** np.array(term.orders), axis=1)
                symbol[:, :, i, names.index(term.unknown)] += np.outer(c, powers)
        found = symbol[:, :, 0, 0] if len(names) == 1 else np.linalg.det(symbol)
        return np.asarray(np.abs(found))

    for short in SHORT:
        one, two = sizes(short), sizes(2 * short)
        if not np.all(one > ELLIPTIC * one.max(axis=1, keepdims=True)):
            return None
        orders = np.log2(two / one)
        order = round(float(orders.mean()))
        if np.abs(orders - order).max() < 1e-3:
            return order
    return None


def given_at_outflow(problem: Problem) -> list[str]:
    """Return parts on which conditions are given where characteristics leave the domain.

    For one equation of first order in a plane or in space.
    """
    if len(problem.unknowns) > 1 or problem.domain.dimension < 2 or problem.forms[0].order != 1:
        return []
    out = []
    for condition in problem.conditions:
        found = problem.domain.boundary(condition.part, ON_SIDE)
        form = form_at(problem.forms[0], problem.coordinates, found.points)
        outwards = np.sum(_slopes(form) * found.normals, axis=1)
        if np.max(outwards) > NO_TERM * np.max(np.abs(_slopes(form))):
            out.append(condition.part)
    return out


def _slopes(form: FormValues) -> FloatArray:
    """Return the coefficients of first derivatives, (m, d)."""
    pairs = zip(form.terms, form.coefficients, strict=True)
    first = [np.outer(c, term.orders) for term, c in pairs if sum(term.orders) == 1]
    return np.asarray(sum(first), dtype=float)
