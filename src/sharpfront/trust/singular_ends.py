"""Whether conditions hold anything at ends of the line at which an equation loses its order.

Close to such an end solutions go as s^r, s the distance from it and r a root of the indicial
equation. x u'' = u' has 1 and x^2: the slope of both is zero at x = 0, so that the condition
u_x = 0 holds none of them, and one stays free. Bessel's equation has 1 and log x: any condition
holds the logarithm. Nonlinear equations are asked about their solutions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Constant, Key
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import EquationError, Outcome, OutcomeKind
from sharpfront.problem import Problem
from sharpfront.problem.line_problem import LinearCondition, LineProblem, Term
from sharpfront.rounding import BISECTIONS, EPS, SLIGHT
from sharpfront.trust.frobenius import KNOWN, Coefficients, Series, local_series
from sharpfront.trust.settings import TRUST

# Where a box is crossed: not in the middle, where something may vanish by symmetry.
ACROSS = 0.37
# A term of a condition: unknown, order of the derivative, weight.
Weighted = tuple[int, int, float]
# Conditions at each end.
Rows = dict[float, list[list[Weighted]]]


def unheld(problem: LineProblem) -> Outcome | None:
    """Return what is wrong where conditions at such an end leave more free than others hold."""
    rows: Rows = {end: [] for end in _lost(problem)}
    if not rows:
        return None
    for condition in problem.conditions:
        for place, own in rows.items():
            if all(_is_at(t, place) for t in condition.terms):
                own.append(_weighted(condition))
    end = _Ends(problem.interval, _sampled(problem), (problem.order,))
    return _unheld(end, rows, len(problem.conditions))


def completed(problem: LineProblem) -> LineProblem:
    """Return a problem with fewer conditions than its order with those that smoothness adds.

    At an end that loses the order the equation itself is a condition, and so are derivatives that
    are zero of all solutions but those that are infinite there. Where they keep some out, as the
    logarithms of Bessel's equation or of a plate in polar coordinates, a smooth solution needs no
    other.
    """
    if len(problem.conditions) >= problem.order:
        return problem
    added = [row for place in _lost(problem) for row in _kept_out(problem, place)]
    missing = problem.order - len(problem.conditions)
    return replace(problem, conditions=(*problem.conditions, *added[:missing]))


def _kept_out(problem: LineProblem, place: float) -> list[LinearCondition]:
    """Return conditions at an end that smooth solutions meet, each of which keeps others out."""
    *coefficients, _, source = problem.sample(np.array([place]))[:, 0].tolist()
    own = [Term(place, j, c) for j, c in enumerate(coefficients) if c]
    rows = [LinearCondition(tuple(own), source)] if own else []
    if _is_bounded(problem, place):
        rows += [LinearCondition((Term(place, j, 1.0),), 0.0) for j in range(problem.order)]
    given = [c for c in problem.conditions if all(_is_at(t, place) for t in c.terms)]
    ends = _Ends(problem.interval, _sampled(problem), (problem.order,))
    left, told = ends.series(place, [_weighted(c) for c in (*given, *rows)])
    held, out = told[: len(given)], list[LinearCondition]()
    for row, values in zip(rows, told[len(given) :, None], strict=True):
        both = np.concatenate([held, values])
        smooth = [(series, v) for series in left or () if (v := series.told(values)) is not None]
        is_met = all(np.abs(v).max() <= KNOWN for _, v in smooth)
        if is_met and len(smooth) < len(left or ()) and _are_independent(both):
            left, held, out = [series for series, _ in smooth], both, [*out, row]
    return out


def _are_independent(rows: FloatArray) -> bool:
    flat = rows.reshape(len(rows), -1)
    return int(np.linalg.matrix_rank(flat / np.abs(flat).max(axis=1, keepdims=True))) == len(flat)


def _is_bounded(problem: LineProblem, place: float) -> bool:
    """Tell whether the source stays bounded beside an end once the equation is divided."""
    low, high = problem.interval
    beside = place + (high - low if place == low else low - high) * SLIGHT * np.array([1.0, 10.0])
    *_, leading, source = problem.sample(beside)
    near, far = np.abs(source / leading)
    return bool(near <= 2.0 * far)


def _is_at(term: object, place: float) -> bool:
    return isinstance(term, Term) and term.x == place


def _weighted(condition: LinearCondition) -> list[Weighted]:
    return [(0, t.order, t.weight) for t in condition.terms if isinstance(t, Term)]


def _sampled(problem: LineProblem) -> Coefficients:
    return lambda x: problem.sample(x)[:-1].T[:, None, None, :]


def _lost(problem: LineProblem) -> list[float]:
    """Return the ends at which the coefficient of the highest derivative vanishes."""
    leading, (low, high) = problem.coefficients[-1], problem.interval
    if not callable(leading):
        return []
    beside = SLIGHT * (high - low)
    ends = np.abs(leading(np.array([low, high, low + beside, high - beside])))
    return [x for x, e, b in zip((low, high), ends[:2], ends[2:], strict=True) if e <= 1e-3 * b]


def undetermined(problem: Problem) -> Outcome | None:
    """Return what is wrong with linear equations that lose their order.

    On boxes equations are asked along each axis for what varies along it alone: close to a side
    that is what counts.
    """
    if not (problem.domain.is_box and _varies(problem)):
        return None
    middle = (1.0 - ACROSS) * problem.domain.bounds[0] + ACROSS * problem.domain.bounds[1]
    lines = [_Line(problem, axis, middle) for axis in range(problem.domain.dimension)]
    found = (line.undetermined() for line in lines if not problem.domain.periodic_axes[line.axis])
    return next((outcome for outcome in found if outcome is not None), None)


def _varies(problem: Problem) -> bool:
    terms = (term for form in problem.forms for term in form.terms)
    return not all(isinstance(term.coefficient, Constant) for term in terms)


@dataclass(frozen=True, eq=False)
class _Line:
    """Equations along an axis, through a point."""

    problem: Problem
    axis: int
    through: FloatArray

    def undetermined(self) -> Outcome | None:
        """Return what is wrong with them on this line."""
        names, forms = self.problem.unknowns, self.problem.forms
        orders = [
            max((o for f in forms for k, o in self._along(f) if k == i), default=0)
            for i in range(len(names))
        ]
        low, high = self.problem.domain.bounds[:, self.axis].tolist()

        def sample(x: FloatArray) -> FloatArray:
            points = np.repeat(self.through[None], len(x), axis=0)
            points[:, self.axis] = x
            out = np.zeros((len(x), len(forms), len(orders), max(orders) + 1))
            leaves = environment(self.problem.coordinates, points)
            for own, form in zip(np.moveaxis(out, 1, 0), forms, strict=True):
                for k, order, values in self._terms(form, leaves, len(x)):
                    own[:, k, order] += values
            return out

        ends = _Ends((low, high), sample, orders)
        inside = ends.lost_inside() if self.problem.domain.dimension == 1 else None
        if inside is not None:
            detail = (
                f"Near x = {inside:.6g} the equations lose their order: they do not give all "
                "highest derivatives there. Solve on intervals that end there."
            )
            return Outcome(OutcomeKind.ILL_POSED, detail)
        rows = self._rows(low, high)
        further = sum(len(c.residuals) for c in self.problem.further)
        return _unheld(ends, rows, sum(map(len, rows.values())) + further, self.name)

    @property
    def name(self) -> str:
        """That of the coordinate."""
        return self.problem.domain.coordinates[self.axis]

    def _along(self, form: LinearForm) -> list[tuple[int, int]]:
        """Return unknown and order of terms along the axis alone, (-1, 0) of others."""
        places = [self.problem.unknowns.index(t.unknown) for t in form.terms]
        own = [t.order == t.orders[self.axis] for t in form.terms]
        orders = [t.order for t in form.terms]
        return [(k, o) if a else (-1, 0) for k, o, a in zip(places, orders, own, strict=True)]

    def _terms(
        self, form: LinearForm, leaves: Mapping[Key, FloatArray], count: int
    ) -> Iterator[tuple[int, int, FloatArray]]:
        """Go through the terms along the axis: unknown, order and coefficient at points."""
        values, _ = form_values(form, leaves, count)
        for (k, order), value in zip(self._along(form), values, strict=True):
            if k >= 0:
                yield k, order, value

    def _rows(self, low: float, high: float) -> Rows:
        """Return the conditions on the two sides."""
        rows: Rows = {low: [], high: []}
        for condition in self.problem.conditions:
            side = self.problem.domain.boundary(condition.part)
            normal = side.normals[:1]
            if abs(normal[0, self.axis]) < 0.5:
                continue
            point = self.through[None].copy()
            point[0, self.axis] = end = high if normal[0, self.axis] > 0 else low
            leaves = environment(self.problem.coordinates, point, normal)
            for form in condition.forms:
                if (-1, 0) in self._along(form):
                    # Slopes along a side are nothing that a line across it knows of.
                    return {}
                terms = [(k, o, float(v[0])) for k, o, v in self._terms(form, leaves, 1)]
                rows[end].append(terms)
        return rows


@dataclass(frozen=True)
class _Ends:
    """An equation beside the ends of an interval."""

    interval: tuple[float, float]
    sample: Coefficients
    orders: Sequence[int]  # of the unknowns

    def series(
        self, place: float, conditions: Sequence[Sequence[Weighted]]
    ) -> tuple[list[Series] | None, FloatArray]:
        """Return solutions beside an end, None if there is nothing special, and rows there."""
        low, high = self.interval
        length = high - low if place == low else low - high
        highest = max((order for terms in conditions for _, order, _ in terms), default=0)
        rows = np.zeros((len(conditions), len(self.orders), highest + 1))
        for row, terms in zip(rows, conditions, strict=True):
            for k, order, weight in terms:
                row[k, order] += weight / length**order

        def beside(s: FloatArray) -> FloatArray:
            found = self.sample(place + length * s)
            return np.asarray(found / length ** np.arange(found.shape[3]))

        try:
            return local_series(beside, self.orders, highest), rows
        except EquationError:
            return None, rows

    def lost_inside(self) -> float | None:
        """Return where highest derivatives cease to be given inside, by a change of sign."""
        x = np.linspace(*self.interval, TRUST.places + 2)[1:-1]
        try:
            leading = self._leading(x)
            found, rows = np.linalg.det(leading), np.abs(leading).max(axis=(0, 2))
            if not (np.abs(found) > EPS**0.5 * np.prod(rows)).any():
                # They are given nowhere: one equation says of them what another does.
                return None
            for i in np.flatnonzero(np.sign(found[1:]) * np.sign(found[:-1]) < 0):
                place, left = self._crossing(x[i], x[i + 1], found[i])
                if left < 1e-3 * np.abs(found[i : i + 2]).min():
                    return place
        except EquationError:
            pass
        return None

    def _crossing(self, low: float, high: float, first: float) -> tuple[float, float]:
        """Return where the determinant changes its sign, and what it is there: not 0 at a jump."""
        found = np.zeros(1)
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            found = np.linalg.det(self._leading(np.array([middle])))
            low, high = (middle, high) if found[0] * first > 0 else (low, middle)
        return low, float(np.abs(found[0]))

    def _leading(self, x: FloatArray) -> FloatArray:
        """Return what multiplies the highest derivatives, (n, equations, unknowns)."""
        values = self.sample(x)
        return np.stack([values[:, :, k, m] for k, m in enumerate(self.orders)], axis=2)


def _unheld(ends: _Ends, rows: Rows, stated: int, name: str = "x") -> Outcome | None:
    for place, conditions in rows.items():
        found, own = ends.series(place, conditions) if conditions else (None, np.zeros(0))
        if found is not None and _free_count(found, own) > stated - len(own):
            return Outcome(
                OutcomeKind.ILL_POSED,
                f"At {name} = {place:.6g} the equation loses its order, and every solution that is "
                "smooth enough meets the condition there: it says nothing, and a solution is left "
                "free.",
                "State a condition that solutions do not meet by themselves: u in the place of its "
                "slope, a higher derivative by an integral, or one at the other end.",
            )
    return None


def _free_count(found: Sequence[Series], rows: FloatArray) -> int:
    """Return how many solutions conditions leave free of those that are not infinite there."""
    told = [values for series in found if (values := series.told(rows)) is not None]
    return len(told) - int(np.linalg.matrix_rank(np.array(told), tol=KNOWN)) if told else 0
