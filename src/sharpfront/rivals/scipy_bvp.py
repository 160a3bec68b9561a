"""SciPy's ``solve_bvp``, with analytic Jacobians and the best of several starting meshes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Derivative, Expression
from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.linearise import Term, tangent_terms
from sharpfront.equation.values import environment
from sharpfront.rivals.contract import Found, Rival, Setting, Subject, tried


class FirstOrder:
    """An equation u^(m) = F(x, u, ..., u^(m-1)) as a system y = (u, u', ..., u^(m-1))."""

    def __init__(self, subject: Subject) -> None:
        problem = self.problem = subject.problem
        (self.equation,), (self.unknown,) = problem.equations, problem.unknowns
        self.order = max(d.orders[0] for d in derivatives_in(self.equation))
        self.terms = tangent_terms(self.equation)
        self.ends = [
            (c.part == "left", r, tangent_terms(r)) for c in problem.conditions for r in c.residuals
        ]

    def leaves(self, x: FloatArray, y: FloatArray, normal: float | None = None) -> dict[Any, Any]:
        """Return the values of the leaves for y (m, n), the highest derivative being zero."""
        normals = None if normal is None else np.full((len(x), 1), normal)
        found: dict[Any, Any] = dict(environment(self.problem.coordinates, x[:, None], normals))
        for k in range(self.order + 1):
            values = y[k] if k < self.order else np.zeros(len(x))
            found["derivative", self.unknown, (k,)] = values
        return found

    def leading(self, leaves: dict[Any, Any], count: int) -> FloatArray:
        """Return the factor of the highest derivative, which does not depend on it."""
        term = next(t for t in self.terms if t.orders[0] == self.order)
        return np.broadcast_to(evaluate(term.coefficient, leaves), (count,))

    def right(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return y'."""
        leaves = self.leaves(x, y)
        rest = np.broadcast_to(evaluate(self.equation, leaves), (len(x),))
        return np.vstack([y[1:], -rest / self.leading(leaves, len(x))])

    def right_jacobian(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return dy'/dy, (m, m, n)."""
        leaves, m = self.leaves(x, y), self.order
        found = np.zeros((m, m, len(x)))
        found[np.arange(m - 1), np.arange(1, m)] = 1.0
        leading = self.leading(leaves, len(x))
        for term in self.terms:
            if term.orders[0] < m:
                found[-1, term.orders[0]] = -evaluate(term.coefficient, leaves) / leading
        return found

    def _at_end(self, left: bool, ya: FloatArray, yb: FloatArray) -> dict[Any, Any]:
        low, high = self.problem.domain.bounds[:, 0]
        x, y, normal = (low, ya, -1.0) if left else (high, yb, 1.0)
        return self.leaves(np.array([x]), y[:, None], normal)

    def ends_missed(self, ya: FloatArray, yb: FloatArray) -> FloatArray:
        """Return by how much the conditions are missed, (m,)."""
        return np.array(
            [float(np.ravel(evaluate(r, self._at_end(a, ya, yb)))[0]) for a, r, _ in self.ends]
        )

    def ends_jacobian(self, ya: FloatArray, yb: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return their derivatives by the values at both ends, (m, m) each."""
        found = np.zeros((2, self.order, self.order))
        for i, (left, _, terms) in enumerate(self.ends):
            leaves = self._at_end(left, ya, yb)
            for term in terms:
                value = float(np.ravel(evaluate(term.coefficient, leaves))[0])
                found[0 if left else 1, i, term.orders[0]] += value
        return found[0], found[1]


def _affine_in_highest(equation: Expression, terms: Sequence[Term], order: int) -> bool:
    highest = [t for t in terms if t.orders[0] == order]
    inside = [d for t in highest for d in derivatives_in(t.coefficient)]
    return len(highest) == 1 and all(
        isinstance(d, Derivative) and d.orders[0] < order for d in inside
    )


class SolveBvp(Rival):
    """Tolerances on three starting meshes."""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        problem = subject.problem
        if problem.time is not None or problem.domain.dimension > 1:
            return "it is for intervals"
        if len(problem.unknowns) > 1:
            return "systems are not written for it here"
        if problem.further or problem.jumps or problem.is_singular or not problem.domain.parts:
            return "it takes conditions at the two ends only"
        system = FirstOrder(subject)
        if len(system.ends) != system.order:
            return "it needs as many conditions as the order"
        if not _affine_in_highest(system.equation, system.terms, system.order):
            return "the highest derivative cannot be solved for"
        return ""

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return tolerances and nodes."""
        tols = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
        return tried("tol {tol:.0e} from {nodes} nodes", tol=tols, nodes=(10, 50, 200))

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return its spline."""
        from scipy.integrate import solve_bvp

        system = FirstOrder(subject)
        low, high = subject.problem.domain.bounds[:, 0]
        x = np.linspace(low, high, setting.values["nodes"])
        start = [subject.start(x[:, None])[system.unknown]]
        for _ in range(system.order - 1):
            start.append(np.gradient(start[-1], x))
        options: dict[str, Any] = {"tol": setting.values["tol"], "max_nodes": 200_000}
        options |= {"fun_jac": system.right_jacobian, "bc_jac": system.ends_jacobian}
        result = solve_bvp(system.right, system.ends_missed, x, np.array(start), **options)
        if result.status != 0:
            raise ArithmeticError(result.message)
        return {system.unknown: lambda x: result.sol(x)[0]}


SOLVE_BVP = SolveBvp(
    "solve_bvp",
    "scipy solve_bvp",
    "Kierzenka and Shampine, A BVP solver based on residual control, ACM TOMS 27 (2001)",
)
