"""The equation and its conditions with their tangents, in the axes of the kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Expression, Key
from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.linearise import tangent_terms
from sharpfront.errors import ProblemError
from sharpfront.pieces.plane.product import Orders
from sharpfront.problem import Problem


class Known(NamedTuple):
    """What is known at points: places (m, 2), time, derivatives in the axes, u_t, normals."""

    points: FloatArray
    t: float
    outer: Mapping[Orders, FloatArray]
    rate: FloatArray
    normals: FloatArray | None = None


class Values(NamedTuple):
    """A residual at points, and its derivatives by u_t and by each derivative in the plane."""

    residual: FloatArray
    rate: FloatArray
    tangents: Mapping[Orders, FloatArray]


class ProductResidual:
    """One residual with its tangents, for a first and a second axis of the plane."""

    def __init__(self, expression: Expression, problem: Problem, axes: Orders) -> None:
        self._expression = expression
        self._terms = tangent_terms(expression)
        self._axes = axes
        self._names = problem.coordinates
        self._unknown = problem.unknowns[0]

    def value(self, known: Known) -> FloatArray:
        """Return the residual at points, (m,); not a number where it has no value."""
        return self._evaluated(self._expression, self._leaves(known), len(known.points))

    def values(self, known: Known) -> Values:
        """Return the residual and its tangents."""
        leaves, count = self._leaves(known), len(known.points)
        rate, tangents = np.zeros(count), {}
        for term in self._terms:
            found = self._evaluated(term.coefficient, leaves, count)
            if term.orders[2]:
                rate = found
            else:
                tangents[term.orders[self._axes[0]], term.orders[self._axes[1]]] = found
        return Values(self._evaluated(self._expression, leaves, count), rate, tangents)

    def _evaluated(
        self, what: Expression, leaves: Mapping[Key, FloatArray], count: int
    ) -> FloatArray:
        with np.errstate(all="ignore"):
            return np.array(np.broadcast_to(evaluate(what, leaves), (count,)), dtype=float)

    def _leaves(self, known: Known) -> dict[Key, FloatArray]:
        x, y, t = self._names
        leaves: dict[Key, FloatArray] = {
            ("coordinate", x): known.points[:, 0],
            ("coordinate", y): known.points[:, 1],
            ("coordinate", t): np.full(len(known.points), known.t),
            ("derivative", self._unknown, (0, 0, 1)): known.rate,
        }
        for orders, values in known.outer.items():
            own = (orders[self._axes[0]], orders[self._axes[1]], 0)
            leaves["derivative", self._unknown, own] = values
        if known.normals is not None:
            leaves["normal", x] = known.normals[:, 0]
            leaves["normal", y] = known.normals[:, 1]
        return leaves


@dataclass(frozen=True, eq=False)
class Statement:
    """A problem in the plane and in time, ready to be put into numbers.

    Parameters
    ----------
    problem
        As stated.
    axes
        Which coordinates of the plane are the first and the second axis of the kernels.
    equation
        The residual of the equation.
    conditions
        The residual on each part of the boundary.
    """

    problem: Problem
    axes: Orders
    equation: ProductResidual
    conditions: Mapping[str, ProductResidual]


def statement(problem: Problem, axes: Orders = (0, 1)) -> Statement:
    """Return the statement of a problem: one equation, of first order in time, second in the plane.

    ProblemError if it is another, or has not one condition on each part of the boundary.
    """
    _check(problem)
    equation = ProductResidual(problem.equations[0], problem, axes)
    conditions = {
        c.part: ProductResidual(c.residuals[0], problem, axes) for c in problem.conditions
    }
    return Statement(problem, axes, equation, conditions)


def _check(problem: Problem) -> None:
    if problem.time is None or problem.domain.dimension != 2:
        raise ProblemError(
            f"Expected a problem in time on a domain of the plane, got {problem.domain!r} and "
            f"time = {problem.time}."
        )
    if len(problem.unknowns) != 1:
        names = ", ".join(problem.unknowns)
        raise ProblemError(f"In the plane and in time one unknown is solved for, got {names}.")
    if any(problem.domain.periodic_axes):
        raise ProblemError("Periodic boxes are not solved in time; state conditions on all sides.")
    if problem.further:
        raise ProblemError("Conditions at points and on integrals are not taken in time.")
    _check_orders(problem.equations, "equation")
    for condition in problem.conditions:
        _check_orders(condition.residuals, f"condition on {condition.part}")


def _check_orders(residuals: Sequence[Expression], what: str) -> None:
    if len(residuals) != 1:
        raise ProblemError(
            f"The {what} has {len(residuals)} residuals; one is taken for an equation of second "
            "order in space."
        )
    for leaf in derivatives_in(residuals[0]):
        in_plane, in_time = sum(leaf.orders[:2]), leaf.orders[2]
        if in_plane > 2 or in_time > 1 or (in_plane and in_time):
            raise ProblemError(
                f"The {what} has a derivative of orders {leaf.orders}; in the plane and in time "
                "u.dt and derivatives in space up to the second are taken."
            )
        if what != "equation" and (in_time or in_plane > 1):
            raise ProblemError(f"The {what} may hold u and its first derivatives in space only.")
