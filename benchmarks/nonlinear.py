"""Nonlinear problems against ``scipy.integrate.solve_bvp``, time to a given true error.

Run by hand: ``python benchmarks/nonlinear.py``. One process, one BLAS thread, medians of at least
five runs. The peer gets analytic Jacobians, the loosest of some tolerances that meets the error,
the best of four starting meshes, and the same guess as ours (zero where the catalogue gives none).
It has no continuation of its own. Errors are max errors on points graded into the features.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from bvp import median_ms
from scipy.integrate import solve_bvp

import sharpfront as sf
from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.catalog import Entry, named
from sharpfront.measure import Feature, graded_points, max_error
from sharpfront.newton import Start
from sharpfront.newton.iterate import Constants, Iterate
from sharpfront.newton.line_tangent import LineTangent
from sharpfront.problem.line_problem import Term

TARGETS = (1e-6, 1e-9)
MESHES = (10, 50, 200, 1000)
TOLERANCES = tuple(10.0 ** (-k / 2) for k in range(4, 27))


def _friction(nu: float) -> sf.Problem:
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -nu * u.dxx + u * u.dx + u,
        left=lambda u, x: u - 1,
        right=lambda u, x: u + 0.5,
    )


@dataclass(frozen=True, eq=False)
class Stated:
    """A problem like those of the catalogue."""

    name: str
    problem: Callable[[float], sf.Problem]
    exact: Callable[[float], Callable[..., Any]]
    features: Callable[[float], tuple[Feature, ...]]
    values: tuple[float, ...]
    guess: Callable[..., Any]

    def points(self, value: float) -> FloatArray:
        """Return test points, (m,)."""
        return graded_points(self.problem(value).domain, self.features(value))


# The reference is our own at 1e-11; the tests compare it with the peer's at its smallest tolerance.
FRICTION = Stated(
    "friction-shock",
    _friction,
    lambda nu: sf.solve(_friction(nu), tol=1e-11),
    lambda nu: (Feature(0.75, nu),),
    (1e-2, 1e-3, 1e-4),
    lambda x: 1 - 1.5 * x,
)
BURGERS = named("burgers-source")
GUESSED = Stated(
    "burgers-source from sin",
    BURGERS.problem,
    BURGERS.exact,
    BURGERS.features,
    BURGERS.values,
    np.sin,
)
NAMES = (
    "pinned-shock",
    "reaction-layer",
    "twin-reaction",
    "bratu",
    "bratu-upper",
    "troesch",
    "beam",
)
ENTRIES = (GUESSED, FRICTION, BURGERS, *map(named, NAMES))


def ours(entry: Entry | Stated, value: float, target: float) -> tuple[float, str]:
    """Return the time of our solve that meets the target, and how it was set."""
    exact, points = entry.exact(value), entry.points(value)
    best = (np.inf, "not reached")
    for tol in (3 * target, target, target / 3):
        solution = sf.solve(entry.problem(value), tol=tol, guess=entry.guess)
        error = max_error(solution, exact, points)
        if error <= target:
            stated = [entry.problem(value) for _ in range(7)]
            ms = median_ms(lambda t=tol, p=stated: sf.solve(p.pop(), tol=t, guess=entry.guess), 7)
            counts = solution.diagnostics
            how = (
                f"{solution.kernels} kernels, {counts['rough_solves']} + {counts['newton_steps']} "
                f"solves, error {error:.0e}"
            )
            best = min(best, (ms, how))
    return best


class System:
    """A problem as a first-order system with analytic Jacobians, for the peer.

    The plain linear forms about y give the highest derivative and its tangents.
    """

    def __init__(self, entry: Entry | Stated, value: float) -> None:
        problem = entry.problem(value)
        self.start: Iterate = Start(entry.guess).iterates(problem)[0]
        self.tangent = LineTangent(problem, self.start)
        self.order = self.tangent.order
        self.interval = self.tangent.interval
        self.linear = self.tangent.at(Constants())
        self.fixed = [t.x for c in self.linear.conditions for t in c.terms if isinstance(t, Term)]

    def _data(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return self.tangent.sample(_Given(x, y), 1.0, x)

    def fun(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return y'."""
        data = self._data(x, y)
        rest = data[-1] - np.sum(data[: self.order] * y, axis=0)
        return np.vstack([y[1:], rest / data[self.order]])

    def jac(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the Jacobian, (m, m, n)."""
        m, data = self.order, self._data(x, y)
        out = np.zeros((m, m, len(x)))
        for i in range(m - 1):
            out[i, i + 1] = 1.0
        out[m - 1] = -data[:m] / data[m]
        return out

    def bc(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return what the conditions leave."""
        return np.array(
            [
                sum(
                    t.weight * (left if t.x == self.interval[0] else right)[t.order]
                    for t in c.terms
                )
                - c.value
                for c in self.linear.conditions
            ]
        )

    def bc_jac(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the Jacobians of the conditions."""
        m = self.order
        out = np.zeros((2, m, m))
        for i, c in enumerate(self.linear.conditions):
            for t in c.terms:
                out[0 if t.x == self.interval[0] else 1, i, t.order] += t.weight
        return out[0], out[1]

    def solve(self, mesh: int, tol: float) -> Any:
        """Return the peer's result, None if it broke down."""
        x = np.linspace(*self.interval, mesh)
        y = [self.start.values(self.tangent.name, x[:, None], (j,)) for j in range(self.order)]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return solve_bvp(
                    self.fun,
                    self.bc,
                    x,
                    np.array(y),
                    tol=tol,
                    max_nodes=30_000,
                    fun_jac=self.jac,
                    bc_jac=self.bc_jac,
                )
            except (ValueError, ArithmeticError, sf.SharpfrontError):
                return None


class _Given:
    """Values at the very points that are asked for."""

    def __init__(self, x: FloatArray, y: FloatArray) -> None:
        self._y = y

    def values(self, unknown: str, points: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        """Return the derivative of that order."""
        (order,) = orders
        return self._y[order] if order < len(self._y) else np.zeros(self._y.shape[1])


def peer(entry: Entry | Stated, value: float, target: float) -> tuple[float, str]:
    """Return the best time of solve_bvp that meets the target, and how it was set."""
    system = System(entry, value)
    exact, points = entry.exact(value), entry.points(value)
    if not set(system.fixed) <= set(system.interval):
        return np.nan, "no conditions inside"
    best = (np.inf, "not reached")
    for mesh in MESHES:
        failures = 0
        for tol in TOLERANCES:
            started = time.perf_counter()
            result = system.solve(mesh, tol)
            spent = 1e3 * (time.perf_counter() - started)
            failures += result is None or not result.success
            if spent > max(4 * best[0], 30_000.0) or failures > 2:
                break
            if result is None or not result.success:
                continue
            error = max_error(lambda x, r=result: r.sol(x)[0], exact, points)
            if error <= target:
                ms = median_ms(lambda m=mesh, t=tol: system.solve(m, t), 5)
                best = min(best, (ms, f"{mesh} -> {len(result.x)} nodes, error {error:.0e}"))
                break
    return best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a problem's name")
    options = parser.parse_args()
    print("| problem | true error | ours, ms | `solve_bvp`, ms | ratio | ours | peer |")
    print("| --- | ---: | ---: | ---: | ---: | --- | --- |")
    total = np.zeros(2)
    with blas_threads(1):
        for entry in ENTRIES:
            if options.only not in entry.name:
                continue
            for value in entry.values:
                for target in TARGETS:
                    a, how = ours(entry, value, target)
                    b, peer_how = peer(entry, value, target)
                    if np.isfinite(a + b):
                        total += (a, b)
                    print(
                        f"| {entry.name} {value:g} | {target:.0e} | {a:.1f} | {b:.1f} | "
                        f"{b / a:.1f} | {how} | {peer_how} |",
                        flush=True,
                    )
    a, b = total
    print(f"| all that both solved | | {a:.0f} | {b:.0f} | {b / a:.1f} | | |")


if __name__ == "__main__":
    main()
