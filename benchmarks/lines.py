"""Peers for problems in time on an interval: the method of lines by hand, and py-pde.

The first is what a careful user of SciPy writes: central differences of second or fourth order on
an even grid (a graded one is of no use to a front that moves), sparse analytic Jacobians, and
``solve_ivp`` with Radau, or with DOP853 where nothing is stiff. The second is py-pde's own
discretisation with SciPy's integrators, timed after it has compiled. Both are given the error to
meet, and look for the cheapest of their grids and tolerances that does.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline

import sharpfront as sf
from sharpfront.arrays import FloatArray
from sharpfront.catalog import TimeEntry, TimeRule, measure, time_rule
from sharpfront.equation.expression import derivatives_in, evaluate
from sharpfront.equation.linearise import tangent_terms
from sharpfront.equation.values import environment, form_values

Exact = Callable[..., Any] | Mapping[str, Callable[..., Any]]
# The finest grid that is tried.
_LARGEST = 300_000
_REPEATS = 3


@dataclass(frozen=True)
class Peer:
    """What a peer needed.

    Parameters
    ----------
    seconds
        Of the processor, for the cheapest run that met the error; infinite if none did.
    error
        Relative L2 over space-time, of that run or of the best one.
    grid
        How it was set, or why there is none.
    """

    seconds: float
    error: float
    grid: str


class OutOfTimeError(Exception):
    """A run took longer than it was given."""


def stencil(offsets: FloatArray, order: int) -> FloatArray:
    """Return the weights of a derivative at 0 from values at offsets, in units of the spacing."""
    powers = np.vander(offsets, increasing=True).T
    right = np.zeros(len(offsets))
    right[order] = factorial(order)
    return np.linalg.solve(powers, right)


def difference_matrix(count: int, spacing: float, order: int, accuracy: int, periodic: bool) -> Any:
    """Return the sparse matrix of a derivative on an even grid; one-sided next to the ends."""
    reach = (order + 1) // 2 + accuracy // 2 - 1
    width = 2 * reach + 1
    rows, columns, values = [], [], []
    inner = np.arange(count) if periodic else np.arange(reach, count - reach)
    weights = stencil(np.arange(-reach, reach + 1.0), order)
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
            values.append(stencil(np.arange(first, first + take) - float(i), order))
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_matrix(entries, shape=(count, count)) / spacing**order


class Lines:
    """A problem with its derivatives in space replaced by differences.

    Values at the ends are eliminated by the conditions: all = keep @ free + given(t).
    """

    def __init__(self, problem: sf.Problem, count: int, accuracy: int) -> None:
        self.problem = problem
        low, high = problem.domain.bounds[:, 0]
        self.periodic = not problem.domain.parts
        self.x = np.linspace(low, high, count + 1)
        if self.periodic:
            self.x = self.x[:-1]
        self.spacing = (high - low) / count
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
            coefficients, _ = form_values(form, self._end(i, self.problem.time[0]), 1)
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
        return environment(("x", "t"), np.array([[self.x[i], t]]), np.array([[normal]]))

    def given(self, t: float) -> FloatArray:
        """Return what the conditions add at a moment, (n,)."""
        out = np.zeros(len(self.x))
        for i, form, own in self.ends:
            out[i] = -np.ravel(evaluate(form.source, self._end(i, t)))[0] / own
        return out

    @cached_property
    def size(self) -> int:
        """The number of free values of one unknown."""
        return self.keep.shape[1]

    def full(self, free: FloatArray, t: float) -> FloatArray:
        """Return the values at all points, (n,)."""
        return np.asarray(self.keep @ free + self.given(t)) if self.ends else free

    def _leaves(self, t: float, y: FloatArray) -> dict[Any, Any]:
        leaves: dict[Any, Any] = {("coordinate", "x"): self.x[self.free], ("coordinate", "t"): t}
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
        blocks = [[None] * len(names) for _ in names]
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
        names = [*self.problem.unknowns, *(["u_t"] if self.second else [])]
        return np.concatenate([states.values(n, points) for n in names])

    def solve(self, tol: float, method: str, moments: FloatArray, limit: float) -> FloatArray:
        """Return the unknowns at moments, (unknowns, n, len(moments))."""
        stop = time.process_time() + limit

        def timed(t: float, y: FloatArray) -> FloatArray:
            if time.process_time() > stop:
                raise OutOfTimeError
            return self.rhs(t, y)

        extra = {"jac": self.jac} if method == "Radau" else {}
        found = solve_ivp(
            timed,
            self.problem.time,
            self.start(),
            method=method,
            t_eval=moments,
            rtol=max(tol, 3e-14),
            atol=tol,
            **extra,
        )
        if not found.success:
            raise ArithmeticError(found.message)
        return found.y

    def fields(self, y: FloatArray, moments: FloatArray) -> Exact:
        """Return the solution as functions of x and t, at these moments; degree five between."""
        count = len(self.problem.unknowns)
        parts = np.split(y[: count * self.size], count)
        each = {
            name: _between(
                self.x,
                [self.full(v, t) for v, t in zip(p.T, moments, strict=True)],
                moments,
                self.spacing * len(self.x) if self.periodic else None,
            )
            for name, p in zip(self.problem.unknowns, parts, strict=True)
        }
        return each if count > 1 else next(iter(each.values()))


def _between(
    x: FloatArray, values: Sequence[FloatArray], moments: FloatArray, period: float | None
) -> Callable[..., Any]:
    """Return the function that splines make of values (n,) at each moment."""

    def field(places: FloatArray, t: FloatArray) -> FloatArray:
        out = np.empty(len(places))
        for moment, v in zip(moments, values, strict=True):
            here = t == moment
            nodes, known = x, v
            if period is not None:
                nodes = np.concatenate([x[-8:] - period, x, x[:8] + period])
                known = np.concatenate([v[-8:], v, v[:8]])
            out[here] = make_interp_spline(nodes, known, k=5)(places[here])
        return out

    return field


@dataclass(frozen=True, eq=False)
class Truth:
    """The exact solution at the points of a rule, computed once."""

    rule: TimeRule
    values: Mapping[str, FloatArray]

    @classmethod
    def of(cls, entry: TimeEntry, value: float, exact: Exact) -> Truth:
        """Return it for an entry."""
        rule = time_rule(entry, value)
        fields = exact if isinstance(exact, Mapping) else {"u": exact}
        return cls(rule, {n: np.asarray(f(rule.x, rule.t)) for n, f in fields.items()})

    @property
    def moments(self) -> FloatArray:
        """The moments of the rule."""
        return np.unique(self.rule.t)

    def error(self, found: Any) -> float:
        """Return the relative L2 error of a solution."""
        kept = {n: (lambda x, t, v=v: v) for n, v in self.values.items()}
        return measure(found, kept if len(kept) > 1 else kept["u"], self.rule).relative


Run = Callable[[int, float, float], tuple[float, float]]


def search(run: Run, error: float, accuracy: int, limit: float, first: int) -> Peer:
    """Return the cheapest grid that meets the error.

    Parameters
    ----------
    run
        ``run(count, tol, limit)`` returns seconds and error; raises `OutOfTimeError`.
    accuracy
        Order of the differences: what a finer grid is expected to bring.
    limit
        Seconds that a run may take.
    first
        Points of the first grid.
    """
    count, best, tried = first, Peer(np.inf, np.inf, "not reached"), np.inf
    while count <= _LARGEST:
        try:
            seconds, reached = run(count, 0.1 * error, min(limit, best.seconds))
        except OutOfTimeError:
            why = f"not within {limit:.3g} s on {count}"
            return best if np.isfinite(best.seconds) else Peer(np.inf, tried, why)
        except ArithmeticError:
            # A front that the grid does not resolve breaks the integrator; a finer one may not.
            seconds, reached = np.inf, 1.0
        tried = min(tried, reached)
        factor = 1.05 * (reached / error) ** (1 / accuracy)
        if reached <= error:
            best = min(best, Peer(seconds, reached, str(count)), key=lambda p: p.seconds)
            if factor > 0.85:
                return _loosened(run, error, best, limit)
            count = int(count * max(factor, 0.4))
        elif np.isfinite(best.seconds):
            return _loosened(run, error, best, limit)
        else:
            count = int(count * np.clip(factor if reached < 0.05 else 2.0, 1.1, 4.0))
    return Peer(np.inf, tried, f"not on {_LARGEST} points")


def first_grid(entry: TimeEntry, value: float) -> int:
    """Return the points of the first grid: two in the width of the narrowest front.

    Coarser ones take longer where they oscillate, and are of no use.
    """
    problem = entry.problem(value)
    low, high = problem.domain.bounds[:, 0]
    moments = np.linspace(*problem.time, 12)[1:]
    widths = [f.width for t in moments for f in entry.features(value)(float(t))]
    return int(np.clip(2 * (high - low) / min(widths, default=1.0), 64, _LARGEST))


def _loosened(run: Run, error: float, best: Peer, limit: float) -> Peer:
    """Return the best after looser tolerances on its grid."""
    for tol in (0.3 * error, error, 3 * error):
        try:
            seconds, reached = run(int(best.grid), tol, min(limit, best.seconds))
        except (OutOfTimeError, ArithmeticError):
            return best
        if reached > error:
            return best
        best = min(best, Peer(seconds, reached, best.grid), key=lambda p: p.seconds)
    return best


def _stiff(problem: sf.Problem) -> bool:
    leaves = [d for e in problem.equations for d in derivatives_in(e)]
    waves = any(d.orders[1] == 2 for d in leaves)
    return not waves and max(d.orders[0] for d in leaves) > 1


def peer(
    entry: TimeEntry, value: float, error: float, exact: Exact | None = None, limit: float = 60.0
) -> Peer:
    """Return the cheapest method of lines by hand that meets a relative L2 error."""
    truth = Truth.of(entry, value, exact if exact is not None else entry.exact(value))
    ways = [(4, "DOP853"), (2, "DOP853")]
    if _stiff(entry.problem(value)):
        ways = [(4, "Radau"), (4, "DOP853"), (2, "Radau")]
    first, best = first_grid(entry, value), Peer(np.inf, np.inf, "not reached")
    for accuracy, method in ways:

        def run(
            count: int, tol: float, cap: float, accuracy: int = accuracy, method: str = method
        ) -> tuple[float, float]:
            return _timed_lines(entry.problem(value), truth, (count, accuracy), (tol, method), cap)

        found = search(run, error, accuracy, min(limit, best.seconds), first)
        best = better(
            Peer(found.seconds, found.error, f"{found.grid} points, order {accuracy}, {method}"),
            best,
        )
    return best


def better(new: Peer, old: Peer) -> Peer:
    """Return the faster of two peers, or the nearer one if both fell short."""
    return min(new, old, key=lambda p: (p.seconds, p.error))


def _timed_lines(
    problem: sf.Problem, truth: Truth, grid: tuple[int, int], how: tuple[float, str], cap: float
) -> tuple[float, float]:
    moments, spent = truth.moments, []
    for _ in range(_REPEATS):
        started = time.process_time()
        lines = Lines(problem, *grid)
        y = lines.solve(*how, moments, cap)
        spent.append(time.process_time() - started)
        if spent[-1] > 2.0:
            break
    return float(np.median(spent)), truth.error(lines.fields(y, moments))


# What py-pde is told: the right-hand sides, and conditions where the interval has ends.
PY_PDE: dict[str, Callable[[float], tuple[dict[str, str], Any]]] = {
    "moving-front": lambda nu: (
        {"u": f"-0.5*d_dx(u) + {nu}*d2_dx2(u)"},
        {"x-": {"value": 1}, "x+": {"value": 0}},
    ),
    "travelling-shock": lambda nu: (
        {"u": f"-u*d_dx(u) + {nu}*d2_dx2(u)"},
        {"value_expression": f"(1 - tanh((x - 0.25 - t/2)/{4 * nu}))/2"},
    ),
    "burgers": lambda nu: ({"u": f"-u*d_dx(u) + {nu}*d2_dx2(u)"}, {"value": 0}),
    "fast-advection": lambda c: ({"u": f"-{c}*d_dx(u)"}, "periodic"),
    "fast-pulse": lambda w: ({"u": "-40*d_dx(u)"}, "periodic"),
    "heat-step": lambda k: ({"u": f"{k}*d2_dx2(u)"}, {"derivative": 0}),
    "heat-hat": lambda k: ({"u": f"{k}*d2_dx2(u)"}, {"value": 0}),
    "nagumo": lambda k: (
        {"u": f"{2 / k}*d2_dx2(u) + {k}*u*(1 - u)*(u - 0.25)"},
        {"value_expression": f"(1 - tanh({k / 4}*(x - 0.25 - t/2)))/2"},
    ),
    "allen-cahn": lambda d: ({"u": f"{d}*d2_dx2(u) + 5*(u - u**3)"}, "periodic"),
    "korteweg-de-vries": lambda d: ({"u": f"-u*d_dx(u) - {d**2}*d_dx(d2_dx2(u))"}, "periodic"),
    "kuramoto-sivashinsky": lambda _: (
        {"u": "-u*d_dx(u) - d2_dx2(u) - d2_dx2(d2_dx2(u))"},
        "periodic",
    ),
    "gray-scott": lambda d: (
        {
            "u": "d2_dx2(u) + 0.02*(1 - u) - u*v**2",
            "v": f"{d}*d2_dx2(v) - 0.0862*v + u*v**2",
        },
        "periodic",
    ),
}
_INTEGRATORS = ("RK45", "LSODA")


def py_pde(
    entry: TimeEntry, value: float, error: float, exact: Exact | None = None, limit: float = 60.0
) -> Peer:
    """Return the cheapest run of py-pde that meets a relative L2 error."""
    if entry.name not in PY_PDE:
        return Peer(np.nan, np.nan, "not stated")
    truth = Truth.of(entry, value, exact if exact is not None else entry.exact(value))
    first, best = first_grid(entry, value), Peer(np.inf, np.inf, "not reached")
    for method in _INTEGRATORS:

        def run(count: int, tol: float, cap: float, method: str = method) -> tuple[float, float]:
            return _timed_py_pde(entry, value, truth, (count, tol, method), cap)

        found = search(run, error, 2, min(limit, best.seconds), first)
        named = Peer(found.seconds, found.error, f"{found.grid} points, {method}")
        best = better(named, best)
    return best


def _timed_py_pde(
    entry: TimeEntry, value: float, truth: Truth, how: tuple[int, float, str], cap: float
) -> tuple[float, float]:
    import pde

    count, tol, method = how
    problem, moments = entry.problem(value), truth.moments
    low, high = problem.domain.bounds[:, 0]
    terms, conditions = PY_PDE[entry.name](value)
    grid = pde.CartesianGrid([[low, high]], count, periodic=conditions == "periodic")
    x = grid.axes_coords[0]
    states = [problem.initial.values(n, x[:, None]) for n in problem.unknowns]
    fields = [pde.ScalarField(grid, s) for s in states]
    state = pde.FieldCollection(fields) if len(fields) > 1 else fields[0]
    equation = pde.PDE(terms, bc=conditions)
    storage, spent = pde.MemoryStorage(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Compiling is not timed; a run of one short step does it.
        arguments = {"solver": "scipy", "method": method, "rtol": tol, "atol": tol}
        equation.solve(state, problem.time[0] + 1e-9, tracker=None, **arguments)
        for _ in range(_REPEATS):
            storage = pde.MemoryStorage()
            watch = _Watch(cap)
            started = time.process_time()
            trackers = [storage.tracker(pde.FixedInterrupts(moments)), watch.tracker(moments)]
            equation.solve(state, problem.time, tracker=trackers, **arguments)
            spent.append(time.process_time() - started)
            if spent[-1] > 2.0:
                break
    data = np.array([np.atleast_2d(d) for d in storage.data])
    period = high - low if conditions == "periodic" else None
    each = {
        n: _between(x, list(data[:, i]), moments, period) for i, n in enumerate(problem.unknowns)
    }
    return float(np.median(spent)), truth.error(each if len(each) > 1 else each["u"])


class _Watch:
    """Stops py-pde at the next moment of the rule once its time is up."""

    def __init__(self, cap: float) -> None:
        self.stop = time.process_time() + cap

    def tracker(self, moments: FloatArray) -> Any:
        """Return the tracker."""
        import pde

        def check(state: Any, t: float) -> None:
            if time.process_time() > self.stop:
                raise OutOfTimeError

        return pde.CallbackTracker(check, interrupts=pde.FixedInterrupts(moments))
