"""What is stated once too often: conditions beyond those that equations have room for.

Least squares find something for any number of rows. Where conditions contradict each other it is a
compromise, which more functions need not change by much, so that comparisons say it is accurate.
What rows leave tells: it does not fall with more functions.
"""

from __future__ import annotations

import numpy as np

from sharpfront.adapt.freedom import left_free
from sharpfront.arrays import FloatArray
from sharpfront.equation.linearise import LinearForm
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.problem import Problem
from sharpfront.rows.values import FormValues, form_at

# Points inside and on each part of the boundary, and directions, that are looked at.
INSIDE, BESIDE, DIRECTIONS = 20, 400, 24
FEW = 100
# Waves so many times shorter than the domain tell the order of equations together, once twice as
# short ones agree: lower terms are small beside the highest.
SHORT = (1e6, 1e9, 1e12)
# Of its largest size a determinant that is nowhere smaller than this vanishes in no direction.
ELLIPTIC = 1e-6
# Sources and slopes that differ by more than this share of their sizes do not balance, once sums
# over so many points agree with sums over half of them to a tenth of it.
IMBALANCE = 1e-2
MOST = 40_000
# Terms smaller than this share of the largest are rounding.
ROUNDING = 1e-12


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
    points = problem.domain.sample(INSIDE)
    ways = np.random.default_rng(0).normal(size=(DIRECTIONS, d))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    forms = [form_at(f, problem.coordinates, points) for f in problem.forms]
    names = list(problem.unknowns)

    def sizes(factor: float) -> FloatArray:
        symbol = np.zeros((INSIDE, DIRECTIONS, len(names), len(names)), dtype=complex)
        waves = 1j * factor / float(np.ptp(problem.domain.bounds, axis=0).max()) * ways
        for i, form in enumerate(forms):
            for term, c in zip(form.terms, form.coefficients, strict=True):
                powers = np.prod(waves ** np.array(term.orders), axis=1)
                symbol[:, :, i, names.index(term.unknown)] += np.outer(c, powers)
        return np.asarray(np.abs(np.linalg.det(symbol)))

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
        found = problem.domain.boundary(condition.part, BESIDE)
        form = form_at(problem.forms[0], problem.coordinates, found.points)
        outwards = np.sum(_slopes(form) * found.normals, axis=1)
        if np.max(outwards) > ROUNDING * np.max(np.abs(_slopes(form))):
            out.append(condition.part)
    return out


def unbalanced(problem: Problem) -> Outcome | None:
    """Return by how much sources and slopes differ, where only slopes are given.

    That is known of div(A grad u) = f with a constant A and A grad u . n = g all round. What is
    narrow is not seen by sums, so that this explains why a search failed, and is no reason alone.
    """
    if len(problem.unknowns) > 1 or problem.domain.dimension not in (2, 3):
        return None
    (form,) = problem.forms
    if form.order != 2 or problem.is_singular or _balance(problem, form, FEW) is None:
        return None
    whole = [_balance(problem, form, count) for count in (MOST // 2, MOST)]
    assert whole[0] is not None and whole[1] is not None
    (_, _, half), (source, slopes, size) = whole[0], whole[1]
    settled = abs(half - size) <= 0.1 * IMBALANCE * size
    drift = max(abs(a - b) for a, b in zip(whole[0][:2], whole[1][:2], strict=True))
    if not settled or drift > 0.1 * abs(source - slopes):
        return None
    if abs(source - slopes) <= IMBALANCE * size:
        return None
    detail = (
        "Only slopes are given on the boundary. What flows in there must be what the sources take, "
        f"{source:.4g}, and it is {slopes:.4g}: no function satisfies both."
    )
    advice = "Change the source or the slopes until they balance, or give a value somewhere."
    return Outcome(OutcomeKind.ILL_POSED, detail, advice)


def _slopes(form: FormValues) -> FloatArray:
    """Return the coefficients of first derivatives, (m, d)."""
    pairs = zip(form.terms, form.coefficients, strict=True)
    first = [np.outer(c, term.orders) for term, c in pairs if sum(term.orders) == 1]
    return np.asarray(sum(first), dtype=float)


def _balance(problem: Problem, form: LinearForm, count: int) -> tuple[float, float, float] | None:
    """Return the integrals of f, of g and of their sizes; None where that is not the problem."""
    domain, d = problem.domain, problem.domain.dimension
    parts = domain.parts
    if {c.part for c in problem.conditions} != set(parts) or any(domain.periodic_axes):
        return None
    points = domain.sample(count)
    inside = form_at(form, problem.coordinates, points)
    tensor = np.zeros((d, d))
    largest = max(float(np.abs(c).max()) for c in inside.coefficients)
    for term, c in zip(inside.terms, inside.coefficients, strict=True):
        if np.ptp(c) > ROUNDING * largest:
            return None
        if sum(term.orders) < 2:
            if np.abs(c).max() > ROUNDING * largest:
                return None
            continue
        i, j = np.repeat(np.arange(d), term.orders)
        tensor[i, j] += 0.5 * float(c[0])
        tensor[j, i] += 0.5 * float(c[0])
    source = domain.measure * float(inside.rhs.mean())
    size = domain.measure * float(np.abs(inside.rhs).mean())
    slopes = 0.0
    for condition in problem.conditions:
        if len(condition.forms) != 1:
            return None
        found = domain.boundary(condition.part, count // 10)
        given = form_at(condition.forms[0], problem.coordinates, found.points, found.normals)
        flux = found.normals @ tensor
        lower = [
            c for t, c in zip(given.terms, given.coefficients, strict=True) if not sum(t.orders)
        ]
        if given.order != 1 or any(np.any(c) for c in lower):
            return None
        own = _slopes(given)
        factor = np.sum(own * flux, axis=1) / np.sum(flux * flux, axis=1)
        if np.abs(own - factor[:, None] * flux).max() > 1e-9 * np.abs(own).max():
            return None
        length = domain.boundary_measure(condition.part)
        slopes += length * float(np.mean(given.rhs / factor))
        size += length * float(np.mean(np.abs(given.rhs / factor)))
    return source, slopes, size
