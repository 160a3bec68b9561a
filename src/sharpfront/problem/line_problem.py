"""A linear problem of one unknown on an interval as plain data.

    sum_j c_j(x) u^(j)(x) = f(x),    conditions: sums of weighted values and integrals of u^(j).

The one-dimensional solver and its error estimate work on this form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Constant, Expression
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.program import Program
from sharpfront.equation.values import at_points, environment
from sharpfront.errors import ProblemError
from sharpfront.problem import IntegralCondition, Problem

Function = Callable[[FloatArray], FloatArray] | float


@dataclass(frozen=True)
class Term:
    """weight * u^(order)(x)."""

    x: float
    order: int = 0
    weight: float = 1.0


@dataclass(frozen=True)
class IntegralTerm:
    """The integral over the interval of weight(x) u^(order)(x)."""

    weight: Function = 1.0
    order: int = 0


@dataclass(frozen=True)
class LinearCondition:
    """Sum of terms = value."""

    terms: tuple[Term | IntegralTerm, ...]
    value: float = 0.0


@dataclass(frozen=True)
class LineProblem:
    """sum_j coefficients[j](x) u^(j)(x) = source(x) on an interval, with conditions."""

    interval: tuple[float, float]
    coefficients: tuple[Function, ...]
    source: Function = 0.0
    conditions: tuple[LinearCondition, ...] = ()

    @property
    def order(self) -> int:
        """The order m of the equation."""
        return len(self.coefficients) - 1

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """c_0, ..., c_m, f."""
        return (*self.coefficients, self.source)

    @cached_property
    def weights(self) -> tuple[Callable[[FloatArray], FloatArray], ...]:
        """The weights of integral conditions that vary."""
        terms = [t for c in self.conditions for t in c.terms if isinstance(t, IntegralTerm)]
        return tuple([t.weight for t in terms if callable(t.weight)])

    @cached_property
    def values(self) -> FloatArray:
        """The values of the conditions, (conditions,)."""
        return np.array([condition.value for condition in self.conditions], dtype=float)

    def sample(self, x: FloatArray) -> FloatArray:
        """Return c_0(x), ..., c_m(x), f(x) at points (n,), as (m + 2, n)."""
        out = np.empty((len(self.functions), len(x)))
        out[:] = self._constants
        return self._joint(x, out) if self._varying else out

    def _joint(self, x: FloatArray, out: FloatArray) -> FloatArray:
        """Fill in the rows of functions that vary: formulas share what they have in common."""
        if self._program is not None:
            (name,) = {f.coordinate for _, f in self._varying if isinstance(f, Evaluated)}
            with np.errstate(all="ignore"):
                found = self._program.run({("coordinate", name): x}, len(x))
            if np.isfinite(found).all():
                for (i, f), row in zip(self._varying, found, strict=True):
                    out[i] = -row if isinstance(f, Evaluated) and f.sign < 0 else row
                return out
        for i, f in self._varying:
            out[i] = f(x)
        return out

    @cached_property
    def _constants(self) -> FloatArray:
        """The functions that are numbers, zero in the place of others, (m + 2, 1)."""
        return np.array([[0.0 if callable(f) else f] for f in self.functions], dtype=float)

    @cached_property
    def _varying(self) -> list[tuple[int, Callable[[FloatArray], FloatArray]]]:
        return [(i, f) for i, f in enumerate(self.functions) if callable(f)]

    @cached_property
    def _program(self) -> Program | None:
        """All functions that vary as one list of calls, where they are formulas."""
        formulas = [f for _, f in self._varying if isinstance(f, Evaluated)]
        same = len({f.coordinate for f in formulas}) == 1
        if len(formulas) < len(self._varying) or not same:
            return None
        return Program([f.expression for f in formulas])


def value(function: Function, x: FloatArray) -> FloatArray | float:
    """Return a function at points; a constant stays a scalar so that it costs nothing."""
    return function(x) if callable(function) else function


@dataclass(frozen=True, eq=False)
class Evaluated:
    """An expression of the coordinate as a function of points."""

    expression: Expression
    coordinate: str
    what: str
    sign: float = 1.0

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the values at positions, (n,)."""
        leaves = environment((self.coordinate,), x[:, None])
        values = at_points(self.expression, leaves, len(x), self.what)
        return values if self.sign == 1.0 else self.sign * values


def ordinary(problem: Problem) -> LineProblem:
    """Return the plain form of a linear problem with one unknown in one dimension."""
    if len(problem.unknowns) != 1 or problem.domain.dimension != 1:
        raise ProblemError("The plain form exists for one unknown in one dimension.")
    (form,), (name,) = problem.forms, problem.coordinates
    low, high = problem.domain.bounds[:, 0].tolist()
    coefficients: list[Function] = [0.0] * (form.order + 1)
    for term in form.terms:
        coefficients[term.order] = _function(term.coefficient, name, "coefficient")
    source = _function(form.source, name, "source", -1.0)
    conditions = linear_conditions(problem, form.order)
    return LineProblem((low, high), tuple(coefficients), source, conditions)


def linear_conditions(problem: Problem, order: int) -> tuple[LinearCondition, ...]:
    """Return the conditions of a problem of that order, which are linear."""
    coordinates, found = problem.coordinates, list[LinearCondition]()
    low, high = problem.domain.bounds[:, 0].tolist()
    for condition in problem.conditions:
        end = problem.domain.boundary(condition.part)
        found += [_at(form, end.points, end.normals, coordinates) for form in condition.forms]
    if problem.domain.periodic_axes[0]:
        joined = ((Term(low, j), Term(high, j, -1.0)) for j in range(order))
        found += map(LinearCondition, joined)
    for further in problem.further:
        for form in further.forms:
            if isinstance(further, IntegralCondition):
                found.append(_integral(form, coordinates[0], (low, high), further.equals))
            else:
                found.append(_at(form, np.array([further.point]), None, coordinates))
    return tuple(found)


def _function(expression: Expression, name: str, what: str, sign: float = 1.0) -> Function:
    if isinstance(expression, Constant):
        return sign * expression.value
    return Evaluated(expression, name, f"{what} of the equation", sign)


def _at(
    form: LinearForm, point: FloatArray, normal: FloatArray | None, coordinates: tuple[str, ...]
) -> LinearCondition:
    def number(expression: Expression) -> float:
        if isinstance(expression, Constant) and math.isfinite(expression.value):
            return expression.value
        leaves = environment(coordinates, point, normal)
        return float(at_points(expression, leaves, 1, "condition")[0])

    x = float(point[0, 0])
    terms = [Term(x, t.order, number(t.coefficient)) for t in form.terms]
    return LinearCondition(tuple(terms), -number(form.source))


def _integral(
    form: LinearForm, name: str, ends: tuple[float, float], equals: float
) -> LinearCondition:
    functions = [_function(t.coefficient, name, "integrand") for t in form.terms]
    terms = [IntegralTerm(f, t.order) for f, t in zip(functions, form.terms, strict=True)]
    source = integrate(_function(form.source, name, "integrand"), *ends)
    return LinearCondition(tuple(terms), equals - source)


# Cells of the first round, and rounds of halving.
_CELLS, _ROUNDS = 1024, 50
# After so many cells in all they differ by noise, but for those of a spike, which are few.
_MOST, _FEW = 40_000, 500
# Gauss-Legendre with ten points, and Gauss-Lobatto with seven. A jump between two points of one
# rule lies elsewhere between those of the other: one has points at both ends and in the middle.
_GAUSS = np.polynomial.legendre.leggauss(10)
_INNER = np.round(np.polynomial.legendre.Legendre.basis(6).deriv().roots().real, 15)
_PLACES = np.concatenate([[-1.0], np.sort(_INNER), [1.0]])
_LOBATTO = _PLACES, 2.0 / (42.0 * np.polynomial.legendre.legval(_PLACES, [0.0] * 6 + [1.0]) ** 2)


def integrate(
    function: Function, low: float, high: float, edges: FloatArray | None = None, tol: float = 1e-14
) -> float:
    """Return the integral of a function that may jump or have spikes.

    Two rules on even cells, or between the edges given; the cells on which they differ by more than
    `tol` of the whole are halved.
    """
    if not callable(function):
        return function * (high - low)
    edges = np.linspace(low, high, _CELLS + 1) if edges is None else edges
    left, right, total, size, used = edges[:-1], edges[1:], 0.0, 0.0, 0
    for _ in range(_ROUNDS):
        rough, fine = (_by_rule(function, left, right, rule) for rule in (_LOBATTO, _GAUSS))
        gap, used = np.abs(fine - rough), used + len(fine)
        size = max(size, float(np.sum(np.abs(fine))))
        open_ = gap > tol * size
        if used > _MOST and len(gap) > _FEW:
            open_ &= gap > np.partition(gap, -_FEW)[-_FEW]
        total += float(np.sum(fine[~open_]))
        if not open_.any():
            return total
        middle = 0.5 * (left[open_] + right[open_])
        left, right = np.append(left[open_], middle), np.append(middle, right[open_])
    return total + float(np.sum(_by_rule(function, left, right, _GAUSS)))


def _by_rule(
    function: Callable[[FloatArray], FloatArray],
    left: FloatArray,
    right: FloatArray,
    rule: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Return the integral over each cell by points and weights on (-1, 1), (n,)."""
    t, w = rule
    half = 0.5 * (right - left)
    x = 0.5 * (right + left)[:, None] + half[:, None] * t
    return np.asarray(half * (function(x.ravel()).reshape(x.shape) @ w))
