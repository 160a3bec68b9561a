"""Equations of balance whose sources and fluxes through the boundary do not match.

The integral of div F over a domain is what F carries out of it. Where an equation is div F = f and
the conditions give F . n all round, both integrals are known before anything is solved: slopes all
round for diffusion, velocities all round for a flow whose volume is kept. If they differ no
function satisfies the problem, and least squares find a compromise.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.linearise import LinearForm
from sharpfront.errors import EquationError, Outcome, OutcomeKind
from sharpfront.problem import Problem
from sharpfront.rounding import SAME, SLIGHT
from sharpfront.rows.form_values import FormValues, form_at
from sharpfront.trust.settings import TRUST

# Steps of difference quotients of coefficients, in units of the domain.
STEP = 1e-5

# What stands in front of a derivative of an unknown, at points.
Term = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class _Sums:
    """The integrals of an equation of balance."""

    source: float  # of f
    flux: float  # of F . n
    size: float  # of their absolute values


def unbalanced(problem: Problem, told: FloatArray) -> Outcome | None:
    """Return by how much sources and fluxes through the boundary differ, if they do.

    Sums do not see what is narrow, so that this explains why a search does not end, and is no
    reason alone. Where sources are large at places that formulas tell of, (m, d), nothing is said.
    """
    if problem.domain.dimension not in (2, 3) or problem.is_singular:
        return None
    if {c.part for c in problem.conditions} != set(problem.domain.parts):
        return None
    try:
        found = [_difference(problem, form, told) for form in problem.forms]
    except EquationError:
        # Data are infinite at a place that formulas tell of, or close beside the domain.
        return None
    return next((outcome for outcome in found if outcome is not None), None)


def _difference(problem: Problem, form: LinearForm, told: FloatArray) -> Outcome | None:
    """Return by how much the integrals of one equation differ, if they do."""
    # What one equation of first order carries ends where characteristics leave (`excess`).
    alone = form.order == 1 and len(problem.unknowns) == 1
    if alone or _sums(problem, form, TRUST.in_balance, told) is None:
        return None
    counts = (TRUST.in_sums // 2, TRUST.in_sums)
    half, whole = (_sums(problem, form, count, told) for count in counts)
    if half is None or whole is None:
        return None
    apart = abs(whole.source - whole.flux)
    drift = max(abs(half.source - whole.source), abs(half.flux - whole.flux))
    is_off = apart > TRUST.imbalance * whole.size and drift <= TRUST.drift * apart
    return _told(form, whole) if is_off else None


def _told(form: LinearForm, sums: _Sums) -> Outcome:
    """Return the outcome in words."""
    if form.order == 2:
        detail = (
            "Only slopes are given on the boundary. What flows in there must be what the sources "
            f"take, {sums.source:.4g}, and it is {sums.flux:.4g}: no function satisfies both."
        )
        advice = "Change the source or the slopes until they balance, or give a value somewhere."
        return Outcome(OutcomeKind.ILL_POSED, detail, advice)
    names = " and ".join(sorted({term.unknown for term in form.terms}))
    detail = (
        f"The conditions give what {names} carry through the boundary, {sums.flux:.4g} outwards in "
        f"all, and by the equations it is {sums.source:.4g}: no functions satisfy both."
    )
    advice = "Let out what is let in, or leave the outflow free on a part of the boundary."
    return Outcome(OutcomeKind.ILL_POSED, detail, advice)


def _sums(problem: Problem, form: LinearForm, count: int, told: FloatArray) -> _Sums | None:
    """Return the integrals by sums over points; None where they are not known."""
    domain = problem.domain
    points = domain.sample(count)
    inside = form_at(form, problem.coordinates, points)
    if count == TRUST.in_balance and not _is_balance(problem, form, points):
        return None
    largest = float(np.abs(inside.rhs).max())
    hinted = form_at(form, problem.coordinates, told[domain.contains(told)]).rhs
    if not np.abs(hinted).max(initial=0.0) <= TRUST.larger * largest:
        return None
    source = domain.measure * float(inside.rhs.mean())
    size = domain.measure * float(np.abs(inside.rhs).mean())
    flux = 0.0
    for condition in problem.conditions:
        found = domain.boundary(condition.part, max(TRUST.in_balance, count // 10))
        wanted = _outwards(form_at(form, problem.coordinates, found.points), found.normals)
        rows = [
            form_at(f, problem.coordinates, found.points, found.normals) for f in condition.forms
        ]
        given = _given(wanted, rows)
        if given is None:
            return None
        length = domain.boundary_measure(condition.part)
        flux += length * float(given.mean())
        size += length * float(np.abs(given).mean())
    return _Sums(source, flux, size)


def _is_balance(problem: Problem, form: LinearForm, points: FloatArray) -> bool:
    """Tell whether an equation is div F for the F that its highest derivatives tell of."""
    step = STEP * float(np.ptp(problem.domain.bounds, axis=0).max())
    found = _terms(form_at(form, problem.coordinates, points))
    left = dict(found)
    for axis in range(points.shape[1]):
        ends = []
        for sign in (1.0, -1.0):
            moved = points.copy()
            moved[:, axis] += sign * step
            ends.append(_carried(_terms(form_at(form, problem.coordinates, moved)), axis))
        for term, high in ends[0].items():
            slope = (high - ends[1][term]) / (2.0 * step)
            left[term] = left.get(term, 0.0) - slope
    highest = {name: max(sum(o) for n, o in found if n == name) for name, _ in found}
    if not all(0 < order <= 2 for order in highest.values()):
        return False
    size = max(float(np.abs(c).max()) for c in found.values())
    rest = [c for (name, orders), c in left.items() if sum(orders) < highest[name]]
    extent = step / STEP
    return all(float(np.abs(c).max()) <= SLIGHT * size / extent for c in rest)


def _terms(form: FormValues) -> dict[Term, FloatArray]:
    """Return coefficients by the derivatives that they stand in front of."""
    pairs = zip(form.terms, form.coefficients, strict=True)
    return {(term.unknown, tuple(term.orders)): c for term, c in pairs}


def _carried(terms: Mapping[Term, FloatArray], axis: int) -> dict[Term, FloatArray]:
    """Return the part of F along an axis: of each unknown, its highest terms one order lower."""
    out: dict[Term, FloatArray] = {}
    for (name, orders), c in terms.items():
        highest = max(sum(o) for n, o in terms if n == name)
        if sum(orders) == highest and orders[axis]:
            lower = tuple(o - (a == axis) for a, o in enumerate(orders))
            # Of u_xy one half is carried along x and one along y.
            out[name, lower] = c * (orders[axis] / highest)
    return out


def _outwards(form: FormValues, normals: FloatArray) -> dict[Term, FloatArray]:
    """Return F . n in derivatives of the unknowns."""
    out: dict[Term, FloatArray] = {}
    for axis, along in enumerate(normals.T):
        for term, c in _carried(_terms(form), axis).items():
            out[term] = out.get(term, 0.0) + c * along
    return out


def _given(wanted: Mapping[Term, FloatArray], rows: list[FormValues]) -> FloatArray | None:
    """Return what rows of conditions say of F . n at points, (m,); None if they do not."""
    known = [_terms(row) for row in rows]
    names = sorted(set(itertools.chain(wanted, *known)))
    count = len(rows[0].rhs) if rows else 0
    if not count:
        return None
    blank = np.zeros(count)
    matrix = np.stack([[row.get(n, blank) for n in names] for row in known]).transpose(2, 0, 1)
    aim = np.stack([wanted.get(n, blank) for n in names], axis=1)
    shares = np.einsum("mq,mqk->mk", aim, np.linalg.pinv(matrix))
    gap = np.abs(np.einsum("mk,mkq->mq", shares, matrix) - aim).max()
    if not gap <= SAME * np.abs(aim).max():
        return None
    return np.asarray(np.einsum("mk,km->m", shares, np.stack([row.rhs for row in rows])))
