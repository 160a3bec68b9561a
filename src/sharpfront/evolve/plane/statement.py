"""The equation and its conditions as programs with their tangents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import Host
from sharpfront.equation.expression import Expression, Key, derivatives_in
from sharpfront.equation.linearise import tangent_terms
from sharpfront.errors import ProblemError
from sharpfront.pieces.plane.product import Orders
from sharpfront.newton.program import Program
from sharpfront.problem import Problem


@dataclass(frozen=True, eq=False)
class Values:
    """A residual at points, and its derivatives by u_t and by each derivative in the plane."""

    residual: Host
    rate: Host
    tangents: Mapping[Orders, Host]


class Residual:
    """One residual with its tangents, in axes of the kernels.

    Parameters
    ----------
    expression
        The residual.
    problem
        Where it comes from.
    axes
        Which coordinates of the plane are the first and the second axis.
    """

    def __init__(self, expression: Expression, problem: Problem, axes: Orders) -> None:
        self._axes = axes
        self._names = problem.coordinates
        self._unknown = problem.unknowns[0]
        self._orders = [t.orders for t in tangent_terms(expression)]
        self._value = Program([expression])
        tangents = [t.coefficient for t in tangent_terms(expression)]
        self._all = Program([expression, *tangents])

    def value(
        self, points: Host, t: float, outer: Mapping[Orders, Host], rate: Host, normals: Host | None
    ) -> Host:
        """Return the residual at points (m, 2), with derivatives in the plane (m,)."""
        leaves = self._leaves(points, t, outer, rate, normals)
        return np.asarray(self._value.run(leaves, len(points))[0])

    def values(
        self, points: Host, t: float, outer: Mapping[Orders, Host], rate: Host, normals: Host | None
    ) -> Values:
        """Return the residual and its tangents."""
        leaves = self._leaves(points, t, outer, rate, normals)
        residual, *found = self._all.run(leaves, len(points))
        by_rate, tangents = np.zeros(len(points)), {}
        for orders, values in zip(self._orders, found, strict=True):
            if orders[2]:
                by_rate = values
            else:
                tangents[orders[self._axes[0]], orders[self._axes[1]]] = values
        return Values(residual, by_rate, tangents)

    def _leaves(
        self, points: Host, t: float, outer: Mapping[Orders, Host], rate: Host, normals: Host | None
    ) -> dict[Key, Host]:
        leaves: dict[Key, Host] = {
            ("coordinate", self._names[0]): points[:, 0],
            ("coordinate", self._names[1]): points[:, 1],
            ("coordinate", self._names[2]): np.full(len(points), t),
            ("derivative", self._unknown, (0, 0, 1)): rate,
        }
        for orders, values in outer.items():
            own = (orders[self._axes[0]], orders[self._axes[1]], 0)
            leaves["derivative", self._unknown, own] = values
        if normals is not None:
            leaves["normal", self._names[0]] = normals[:, 0]
            leaves["normal", self._names[1]] = normals[:, 1]
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
    equation: Residual
    conditions: Mapping[str, Residual]


def statement(problem: Problem, axes: Orders = (0, 1)) -> Statement:
    """Return the statement of a problem.

    Raises
    ------
    ProblemError
        If it is not one equation of first order in time and second in the plane, with one
        condition on each part of the boundary.
    """
    _check(problem)
    equation = Residual(problem.equations[0], problem, axes)
    conditions = {c.part: Residual(c.residuals[0], problem, axes) for c in problem.conditions}
    return Statement(problem, axes, equation, conditions)


def _check(problem: Problem) -> None:
    if problem.time is None or problem.domain.dimension != 2:
        raise ProblemError(
            f"Expected a problem in time on a domain of the plane, got {problem.domain!r} and "
            f"time = {problem.time}."
        )
    if len(problem.unknowns) != 1:
        raise ProblemError(
            f"In the plane and in time one unknown is solved for, got {', '.join(problem.unknowns)}."
        )
    if any(problem.domain.periodic_axes):
        raise ProblemError("Periodic boxes are not solved in time; state conditions on all sides.")
    if problem.further:
        raise ProblemError("Conditions at points and on integrals are not taken in time.")
    _check_orders(problem.equations, "equation")
    for condition in problem.conditions:
        _check_orders(condition.residuals, f"condition on {condition.part}")


def _check_orders(residuals: Sequence[Expression], what: str) -> None:
    if len(residuals) != 1:
        raise ProblemError(f"The {what} has {len(residuals)} residuals; an equation of second "
                           "order takes one.")
    for leaf in derivatives_in(residuals[0]):
        in_plane, in_time = sum(leaf.orders[:2]), leaf.orders[2]
        if in_plane > 2 or in_time > 1 or (in_plane and in_time):
            raise ProblemError(
                f"The {what} has a derivative of orders {leaf.orders}; in the plane and in time "
                "u.dt and derivatives in space up to the second are taken."
            )
        if in_time and what != "equation":
            raise ProblemError(f"The {what} has u.dt; conditions hold u and its slopes.")
