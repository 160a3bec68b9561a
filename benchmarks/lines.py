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
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline

import sharpfront as sf
from sharpfront.arrays import FloatArray
from sharpfront.catalog import Entry
from sharpfront.equation.graph import derivatives_in
from sharpfront.measure import TimeRule, time_rule
from sharpfront.measure.errors import values_at
from sharpfront.rivals.method_of_lines import Lines

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


class TimedLines(Lines):
    """The lines of the arena, at the moments of a rule and within a time."""

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
            self.time,
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
    def of(cls, entry: Entry, value: float, exact: Exact) -> Truth:
        """Return it for an entry."""
        rule = time_rule(entry, value)
        fields = exact if isinstance(exact, Mapping) else {"u": exact}
        return cls(rule, {n: values_at(f, rule.points) for n, f in fields.items()})

    @property
    def moments(self) -> FloatArray:
        """The moments of the rule."""
        return np.unique(self.rule.points[:, 1])

    def error(self, found: Any) -> float:
        """Return the relative L2 error of a solution."""
        return self.rule.error(found, self.values if len(self.values) > 1 else self.values["u"])


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


def first_grid(entry: Entry, value: float) -> int:
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
    entry: Entry, value: float, error: float, exact: Exact | None = None, limit: float = 60.0
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
        lines = TimedLines(problem, *grid)
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
    entry: Entry, value: float, error: float, exact: Exact | None = None, limit: float = 60.0
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
    entry: Entry, value: float, truth: Truth, how: tuple[int, float, str], cap: float
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
