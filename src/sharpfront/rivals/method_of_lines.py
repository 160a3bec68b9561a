"""The method of lines: differences of sixth order on an even grid, and SciPy's integrators.

What a careful user of SciPy writes. The grid is even, for a graded one is of no use to a front that
moves; Jacobians are sparse and analytic.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import product
from math import factorial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.interpolate import make_interp_spline

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Constant
from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.linearise import tangent_terms
from sharpfront.equation.values import environment, form_values
from sharpfront.problem import Problem
from sharpfront.problem.initial import velocity_name
from sharpfront.rivals.contract import Found, Rival, Setting, Subject

# Order of the differences, and degree of the splines between the points.
_ACCURACY, _SPLINE = 6, 5


def stencil(offsets: FloatArray, order: int) -> FloatArray:
    """Return the weights of a derivative at 0 from values at offsets, in units of the spacing."""
    powers = np.vander(offsets, increasing=True).T
    right = np.zeros(len(offsets))
    right[order] = factorial(order)
    return np.asarray(np.linalg.solve(powers, right), dtype=float)


def difference_matrix(count: int, spacing: float, order: int, accuracy: int, periodic: bool) -> Any:
    """Return the sparse matrix of a derivative on an even grid; one-sided next to the ends."""
    reach = (order + 1) // 2 + accuracy // 2 - 1
    width = 2 * reach + 1
    rows, columns, values = [], [], []
    inner = np.arange(count) if periodic else np.arange(reach, count - reach)
    weights = stencil(np.arange(-reach, reach + 1, dtype=float), order)
    for offset, weight in zip(range(-reach, reach + 1), weights, strict=True):
        rows.append(inner)
        columns.append((inner + offset) % count)
        values.append(np.full(len(inner), weight))
    if not periodic:
        # One point more keeps the order where the stencil is not symmetric.
        take = width if order == 1 else width + 1
        for i in (*range(reach), *range(count - reach, count)):
            first = 0 if i < reach else count - take
            rows.append(np.full(take, i))
            columns.append(np.arange(first, first + take))
            values.append(stencil(np.arange(first, first + take, dtype=float) - i, order))
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_matrix(entries, shape=(count, count)) / spacing**order


class Lines:
    """A problem with its derivatives in space replaced by differences.

    Values at the ends are eliminated by the conditions: all = keep @ free + given(t).
    """

    def __init__(self, problem: Problem, count: int, accuracy: int = _ACCURACY) -> None:
        self.problem = problem
        assert problem.time is not None
        self.time = problem.time
        low, high = problem.domain.bounds[:, 0]
        self.periodic = not problem.domain.parts
        self.x = np.linspace(low, high, count + 1)
        if self.periodic:
            self.x = self.x[:-1]
        self.spacing = float(high - low) / count
        self.accuracy = accuracy
        leaves = [d for e in problem.equations for d in derivatives_in(e)]
        self.second = any(d.orders[1] == 2 for d in leaves)
        self.matrices = {k: self.matrix(k) for k in {d.orders[0] for d in leaves}}
        self._eliminate()
        self.inner = {k: (m @ self.keep)[self.free] for k, m in self.matrices.items()}
        self.inner_all = {k: m[self.free] for k, m in self.matrices.items()}
        self.tangents = [tangent_terms(e) for e in problem.equations]

    def matrix(self, order: int) -> Any:
        """Return the matrix of a derivative on all points."""
        if order == 0:
            return sparse.identity(len(self.x), format="csr")
        return difference_matrix(len(self.x), self.spacing, order, self.accuracy, self.periodic)

    def _eliminate(self) -> None:
        count = len(self.x)
        self.ends: list[tuple[int, Any, float]] = []
        self.free: slice
        self.keep: Any
        if self.periodic:
            self.free, self.keep = slice(None), sparse.identity(count, format="csr")
            return
        self.free = slice(1, count - 1)
        keep = sparse.lil_matrix((count, count - 2))
        keep[np.arange(1, count - 1), np.arange(count - 2)] = 1.0
        slopes = self.matrix(1)
        for condition in self.problem.conditions:
            i = 0 if condition.part == "left" else count - 1
            (form,) = condition.forms
            coefficients, _ = form_values(form, self._end(i, self.time[0]), 1)
            row = np.zeros(count)
            for term, c in zip(form.terms, coefficients, strict=True):
                row += c[0] * (slopes[i].toarray()[0] if term.orders[0] else np.eye(1, count, i)[0])
            own = row[i]
            row[i] = 0.0
            near = np.flatnonzero(row)
            keep[i, near - 1] = -row[near] / own
            self.ends.append((i, form, own))
        self.keep = keep.tocsr()

    def _end(self, i: int, t: float) -> dict[Any, FloatArray]:
        normal = -1.0 if i == 0 else 1.0
        return environment(
            self.problem.coordinates, np.array([[self.x[i], t]]), np.array([[normal]])
        )

    def given(self, t: float) -> FloatArray:
        """Return what the conditions add at a moment, (n,)."""
        out = np.zeros(len(self.x))
        for i, form, own in self.ends:
            out[i] = -np.ravel(evaluate(form.source, self._end(i, t)))[0] / own
        return out

    @cached_property
    def size(self) -> int:
        """The number of free values of one unknown."""
        return int(self.keep.shape[1])

    def full(self, free: FloatArray, t: float) -> FloatArray:
        """Return the values at all points, (n,)."""
        return np.asarray(self.keep @ free + self.given(t)) if self.ends else free

    def _leaves(self, t: float, y: FloatArray) -> dict[Any, Any]:
        place, moment = (("coordinate", name) for name in self.problem.coordinates)
        leaves: dict[Any, Any] = {place: self.x[self.free], moment: t}
        for u, name in enumerate(self.problem.unknowns):
            values = self.full(y[u * self.size : (u + 1) * self.size], t)
            for order, matrix in self.inner_all.items():
                leaves[("derivative", name, (order, 0))] = matrix @ values
            leaves[("derivative", name, (0, 1))] = leaves[("derivative", name, (0, 2))] = 0.0
        return leaves

    def rhs(self, t: float, y: FloatArray) -> FloatArray:
        """Return y'."""
        leaves = self._leaves(t, y)
        parts = [
            -np.broadcast_to(evaluate(e, leaves), (self.size,)) for e in self.problem.equations
        ]
        return np.concatenate([y[self.size :], *parts] if self.second else parts)

    def jac(self, t: float, y: FloatArray) -> Any:
        """Return the sparse Jacobian."""
        leaves, names = self._leaves(t, y), self.problem.unknowns
        blocks: list[list[Any]] = [[None] * len(names) for _ in names]
        for i, terms in enumerate(self.tangents):
            for term in (term for term in terms if not term.orders[1]):
                c = np.broadcast_to(evaluate(term.coefficient, leaves), (self.size,))
                block = sparse.diags(-c) @ self.inner[term.orders[0]]
                j = names.index(term.unknown)
                blocks[i][j] = block if blocks[i][j] is None else blocks[i][j] + block
        if self.second:
            blocks = [[None, sparse.identity(self.size)], [blocks[0][0], None]]
        return sparse.bmat(blocks, format="csc")

    def start(self) -> FloatArray:
        """Return y at the start."""
        states, points = self.problem.initial, self.x[self.free][:, None]
        assert states is not None
        names = [*self.problem.unknowns]
        names += [velocity_name(n) for n in names] if self.second else []
        return np.concatenate([states.values(n, points) for n in names])

    def field(self, index: int, state: Callable[[float], FloatArray]) -> Callable[..., Any]:
        """Return an unknown as a function of x and t from the state at any moment."""

        def at(x: Any, t: Any) -> Any:
            x, t = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(t, dtype=float))
            out = np.empty(x.shape)
            for moment in np.unique(t):
                own = state(moment)[index * self.size : (index + 1) * self.size]
                nodes, values = self._extended(self.full(own, moment))
                here = t == moment
                out[here] = make_interp_spline(nodes, values, k=_SPLINE)(x[here])
            return out

        return at

    def _extended(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not self.periodic:
            return self.x, values
        period, k = self.spacing * len(self.x), 8
        nodes = np.concatenate([self.x[-k:] - period, self.x, self.x[:k] + period])
        return nodes, np.concatenate([values[-k:], values, values[:k]])


def unit_rate(problem: Problem) -> bool:
    """Tell whether each equation is u_t, or u_tt, plus terms without derivatives in time."""
    for equation, name in zip(problem.equations, problem.unknowns, strict=True):
        rates = [t for t in tangent_terms(equation) if t.orders[-1]]
        if len(rates) != 1 or rates[0].unknown != name or any(rates[0].orders[:-1]):
            return False
        factor = rates[0].coefficient
        if not isinstance(factor, Constant) or factor.value != 1.0:
            return False
    return True


class MethodOfLines(Rival):
    """Ever finer grids with tolerances to match."""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        problem = subject.problem
        if problem.time is None:
            return "the problem has no time"
        if problem.domain.dimension > 1:
            return "it is written for intervals"
        if problem.further or problem.is_singular or not unit_rate(problem):
            return "it takes u_t = ... with conditions at the two ends"
        ends = len(problem.domain.parts)
        one = all(len(c.residuals) == 1 for c in problem.conditions)
        if len(problem.conditions) != ends or not one or (ends and len(problem.unknowns) > 1):
            return "it takes one condition at each end of one unknown"
        return ""

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return grids, tolerances and integrators."""
        leaves = [d for e in subject.problem.equations for d in derivatives_in(e)]
        waves = any(d.orders[1] == 2 for d in leaves)
        stiff = not waves and max(d.orders[0] for d in leaves) > 1
        ways = ("Radau", "BDF") if stiff else ("DOP853",)
        coarse = ((64, 1e-3), (128, 1e-4), (256, 1e-5), (512, 1e-6))
        grids = (*coarse, (1024, 1e-6), (2048, 1e-7), (4096, 1e-8), (8192, 1e-9))
        return tuple(
            Setting(f"{n} points, tol {tol:.0e}, {way}", {"count": n, "tol": tol, "way": way})
            for (n, tol), way in product(grids, ways)
        )

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return splines of the lines at every moment."""
        from scipy.integrate import solve_ivp

        way, tol = setting.values["way"], setting.values["tol"]
        lines = Lines(subject.problem, setting.values["count"])
        extra: dict[str, Any] = {} if way == "DOP853" else {"jac": lines.jac}
        options: dict[str, Any] = {"method": way, "rtol": tol, "atol": tol, "dense_output": True}
        found = solve_ivp(lines.rhs, lines.time, lines.start(), **options, **extra)
        if not found.success or found.sol is None:
            raise ArithmeticError(found.message)
        return {n: lines.field(i, found.sol) for i, n in enumerate(subject.problem.unknowns)}


LINES = MethodOfLines(
    "lines",
    "method of lines",
    "Hairer and Wanner, Solving Ordinary Differential Equations II (1996), by scipy's solve_ivp",
)
