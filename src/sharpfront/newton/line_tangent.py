"""Newton's linear problems on the line, in the plain form and without walking graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray, all_finite, remembered
from sharpfront.equation.expression import Constant, Coordinate, Key
from sharpfront.equation.graph import ordered
from sharpfront.equation.linearise import nonlinear_in
from sharpfront.equation.operator import Operator
from sharpfront.errors import EquationError, ProblemError
from sharpfront.newton.iterate import Constants, Iterate
from sharpfront.newton.tangent import Tangent, highest_order, is_steady
from sharpfront.problem import Problem
from sharpfront.problem.line_problem import (
    Function,
    LinearCondition,
    LineProblem,
    linear_conditions,
    ordinary,
)


@dataclass(frozen=True, eq=False)
class _Row:
    """One of the functions c_0, ..., c_m, f of a linear problem about an iterate."""

    rows: Callable[[FloatArray], FloatArray]
    index: int

    def __call__(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.rows(x)[self.index])


class _Sampled:
    """All functions of one linear problem; those at the points asked for last are kept."""

    def __init__(self, tangent: LineTangent, iterate: Iterate, stiffness: float) -> None:
        self._tangent, self._iterate, self._stiffness = tangent, iterate, stiffness
        self._last: tuple[FloatArray, FloatArray] | None = None

    def __call__(self, x: FloatArray) -> FloatArray:
        # A solver asks for one function after the other with the same array.
        if self._last is None or self._last[0] is not x:
            self._last = x, self._tangent.sample(self._iterate, self._stiffness, x)
        return self._last[1]


def single_unknown(problem: Problem) -> str:
    """Return the name of the only unknown; ProblemError if there are several."""
    if len(problem.unknowns) > 1:
        raise ProblemError(
            f"Resolve takes one unknown, this problem has {', '.join(problem.unknowns)}. Leave "
            "adaptor= out, or use Patches, which takes systems in one dimension too."
        )
    return problem.unknowns[0]


class LineTangent:
    """A nonlinear problem of one unknown on an interval, linearised about iterates.

    It is made about one at which the problem is finite.
    """

    def __init__(self, problem: Problem, about: Iterate) -> None:
        (self.name,), (equation,) = problem.unknowns, problem.equations
        self.problem, self.order = problem, highest_order(problem)
        self._operator = Operator(equation)
        terms = self._operator.terms
        self._orders = [t.orders[0] for t in terms]
        self._constant = {
            t.orders[0]: t.coefficient.value for t in terms if isinstance(t.coefficient, Constant)
        }
        self._about = about
        inside = {leaf.orders[0] for leaf in nonlinear_in(equation)}
        # What the equation is linear in cancels from the source.
        self.needed = sorted(inside)
        self.highest = max(inside, default=0)
        low, high = problem.domain.bounds[:, 0].tolist()
        self.interval = low, high
        # Whether all conditions are linear.
        self.steady = is_steady(problem)
        # Whether the coordinate itself stands in the equation.
        self.explicit = any(isinstance(node, Coordinate) for node in ordered(equation))
        self._conditions = linear_conditions(problem, self.order) if self.steady else ()

    def at(self, iterate: Iterate, stiffness: float = 1.0) -> LineProblem:
        """Return the linear problem about an iterate.

        The stiffness is a factor on the derivative of the highest order of an equation that is not
        linear, and tells how far conditions that are not are led back to the guess: above one an
        easier problem.
        """
        conditions = self.conditions(iterate, stiffness)
        stiffness = 1.0 if self._operator.is_linear else stiffness
        sampled = _Sampled(self, iterate, stiffness)
        coefficients: list[Function] = [0.0] * (self.order + 1)
        for j in self._orders:
            factor = stiffness if j == self.order else 1.0
            known = self._constant.get(j)
            coefficients[j] = _Row(sampled, j) if known is None else factor * known
        source = _Row(sampled, self.order + 1)
        return LineProblem(self.interval, tuple(coefficients), source, conditions)

    def frozen(self, values: FloatArray) -> LineProblem:
        """Return the linear problem about numbers in the place of u, u', ..., everywhere.

        Its functions vary with the coordinate alone: constants are plain numbers.
        """
        numbers: dict[tuple[str, tuple[int, ...]], float] = {
            (self.name, (j,)): float(v) for j, v in enumerate(values)
        }
        return ordinary(self._eased_by(1.0).at(Constants(numbers)))

    def sample(self, iterate: Iterate, stiffness: float, x: FloatArray) -> FloatArray:
        """Return c_0, ..., c_m and the source f at positions, (m + 2, n)."""
        points = x[:, None]
        put = {j: iterate.values(self.name, points, (j,)) for j in self.needed}
        return self.filled(put, stiffness, x)

    def filled(self, put: dict[int, FloatArray], stiffness: float, x: FloatArray) -> FloatArray:
        """Return what `sample` does, given those derivatives of the iterate that are needed."""
        stiffness = 1.0 if self._operator.is_linear else stiffness
        leaves: dict[Key, FloatArray | float] = {("coordinate", self.problem.coordinates[0]): x}
        for j in range(self.order + 1):
            factor = stiffness if j == self.order else 1.0
            own = put.get(j, 0.0)
            leaves["derivative", self.name, (j,)] = own if factor == 1.0 else factor * own
        with np.errstate(all="ignore"):
            values = self._operator.program.run(leaves, len(x))
        if not all_finite(values):
            raise EquationError(_not_finite(values, x))
        out = np.zeros((self.order + 2, len(x)))
        source = out[-1]
        np.negative(values[0], out=source)
        for j, row in zip(self._orders, values[1:], strict=True):
            out[j] = row
            if j == self.order and stiffness != 1.0:
                out[j] *= stiffness
            if j in put:
                source += out[j] * put[j]
        return out

    def residuals(self, put: dict[int, FloatArray], x: FloatArray) -> FloatArray:
        """Return the equation with zero for those derivatives that are not needed, (n,).

        What it is linear in is left out so; what overflows is not finite.
        """
        leaves: dict[Key, FloatArray | float] = {("coordinate", self.problem.coordinates[0]): x}
        for j in range(self.order + 1):
            leaves["derivative", self.name, (j,)] = put.get(j, 0.0)
        with np.errstate(all="ignore"):
            return np.asarray(self._operator.program.run(leaves, len(x))[0])

    def conditions(self, iterate: Iterate, factor: float) -> tuple[LinearCondition, ...]:
        """Return the conditions about an iterate, led back to the guess by a factor above one."""
        if self.steady:
            return self._conditions
        return ordinary(self._eased_by(factor).at(iterate)).conditions

    @remembered()
    def _eased_by(self, factor: float) -> Tangent:
        return Tangent(self.problem, factor, self._about)


def _not_finite(values: FloatArray, x: FloatArray) -> str:
    i = int(np.argmin(np.isfinite(values).all(axis=0)))
    return (
        f"The equation or its linearisation is not finite at x = {x[i]:.6g} about an iterate. "
        "Give a guess= about which it is, for example guess=1.0 for log(u) or 1/u; where iterates "
        "leave what a function takes, as sqrt(u) below zero, write one that goes on, for example "
        "np.sqrt(np.maximum(u, 1e-12))."
    )
