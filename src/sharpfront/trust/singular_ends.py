"""Whether conditions hold anything at ends of the line at which an equation loses its order.

Close to such an end solutions go as s^r, s the distance from it and r a root of the indicial
equation. x u'' = u' has 1 and x^2: the slope of both is zero at x = 0, so that the condition
u_x = 0 holds none of them, and one stays free. Bessel's equation has 1 and log x: any condition
holds the logarithm. Nonlinear equations are asked about their solutions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Key
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import EquationError, Outcome, OutcomeKind
from sharpfront.problem import Problem
from sharpfront.problem.line_problem import LineProblem, Term
from sharpfront.trust.frobenius import BESIDE, KNOWN, Coefficients, Series, local_series

# Conditions at each end by their terms: unknown, order of the derivative, weight.
Rows = dict[float, list[list[tuple[int, int, float]]]]


def unheld(problem: LineProblem) -> Outcome | None:
    """Return what is wrong where conditions at such an end leave more free than others hold."""
    rows: Rows = {end: [] for end in _lost(problem)}
    if not rows:
        return None
    for condition in problem.conditions:
        terms = [t for t in condition.terms if isinstance(t, Term) and t.x in rows]
        if len(terms) == len(condition.terms) and len({t.x for t in terms}) == 1:
            rows[terms[0].x].append([(0, t.order, t.weight) for t in terms])

    def sample(x: FloatArray) -> FloatArray:
        return problem.sample(x)[:-1].T[:, None, None, :]

    return _unheld(problem.interval, sample, (problem.order,), rows, len(problem.conditions))


def _lost(problem: LineProblem) -> list[float]:
    """Return the ends at which the coefficient of the highest derivative vanishes."""
    leading, (low, high) = problem.coefficients[-1], problem.interval
    if not callable(leading):
        return []
    beside = BESIDE * (high - low)
    ends = np.abs(leading(np.array([low, high, low + beside, high - beside])))
    return [x for x, e, b in zip((low, high), ends[:2], ends[2:], strict=True) if e <= 1e-3 * b]


def unheld_system(problem: Problem) -> Outcome | None:
    """Return the same of linear equations for several unknowns on an interval."""
    if problem.domain.dimension != 1 or problem.domain.periodic_axes[0]:
        return None
    orders = [_order(problem.forms, name) for name in problem.unknowns]
    low, high = problem.domain.bounds[:, 0].tolist()
    rows: Rows = {low: [], high: []}
    for condition in problem.conditions:
        end = problem.domain.boundary(condition.part)
        leaves = environment(problem.coordinates, end.points, end.normals)
        for form in condition.forms:
            rows[float(end.points[0, 0])].append(
                [(k, order, float(v[0])) for k, order, v in _terms(problem, form, leaves, 1)]
            )

    def sample(x: FloatArray) -> FloatArray:
        leaves = environment(problem.coordinates, x[:, None])
        out = np.zeros((len(x), len(problem.forms), len(orders), max(orders) + 1))
        for own, form in zip(np.moveaxis(out, 1, 0), problem.forms, strict=True):
            for k, order, values in _terms(problem, form, leaves, len(x)):
                own[:, k, order] += values
        return out

    stated = (*problem.conditions, *problem.further)
    return _unheld((low, high), sample, orders, rows, sum(len(c.residuals) for c in stated))


@dataclass(frozen=True)
class _Beside:
    """Coefficients by distances from an end, in units of the interval."""

    sample: Coefficients
    place: float
    length: float  # from this end to the other, below zero from the high one

    def __call__(self, s: FloatArray) -> FloatArray:
        found = self.sample(self.place + self.length * s)
        return found / self.length ** np.arange(found.shape[3])


def _order(forms: Sequence[LinearForm], unknown: str) -> int:
    return max((t.order for f in forms for t in f.terms if t.unknown == unknown), default=0)


def _terms(
    problem: Problem, form: LinearForm, leaves: Mapping[Key, FloatArray], count: int
) -> Iterator[tuple[int, int, FloatArray]]:
    """Go through the terms of a form: unknown, order and coefficient at points."""
    values, _ = form_values(form, leaves, count)
    for term, value in zip(form.terms, values, strict=True):
        yield problem.unknowns.index(term.unknown), term.order, value


def _unheld(
    interval: tuple[float, float],
    sample: Coefficients,
    orders: Sequence[int],
    rows: Rows,
    stated: int,
) -> Outcome | None:
    length = interval[1] - interval[0]
    for place, inward in zip(interval, (1.0, -1.0), strict=True):
        own = _weights(rows.get(place, []), len(orders), inward / length)
        if not len(own):
            continue
        beside = _Beside(sample, place, inward * length)
        try:
            found = local_series(beside, orders, own.shape[2] - 1)
        except EquationError:
            continue
        if found is not None and _left_free(found, own) > stated - len(own):
            return Outcome(
                OutcomeKind.ILL_POSED,
                f"At x = {place:.6g} the equation loses its order, and every solution that is "
                "smooth enough meets the condition there: it says nothing, and a solution is left "
                "free.",
                "State a condition that solutions do not meet by themselves: u in the place of its "
                "slope, a higher derivative by an integral, or one at the other end.",
            )
    return None


def _weights(
    conditions: Sequence[Sequence[tuple[int, int, float]]], unknowns: int, unit: float
) -> FloatArray:
    """Return the weights of conditions in units of the interval, (conditions, unknowns, orders)."""
    highest = max((order for terms in conditions for _, order, _ in terms), default=0)
    out = np.zeros((len(conditions), unknowns, highest + 1))
    for row, terms in zip(out, conditions, strict=True):
        for k, order, weight in terms:
            row[k, order] += weight * unit**order
    return out


def _left_free(found: Sequence[Series], rows: FloatArray) -> int:
    """Return how many solutions conditions leave free of those that are not infinite there."""
    told = [values for series in found if (values := series.told(rows)) is not None]
    return len(told) - int(np.linalg.matrix_rank(np.array(told), tol=KNOWN)) if told else 0
