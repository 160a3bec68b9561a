"""Random manufactured problems in time on an interval: how the default does on them.

Run by hand: ``python benchmarks/random_time.py SEED [SEED ...] [--count 40] [--tol 1e-6]
[--limit 30] [--only SEED:NUMBER ...]``. The exact solution is a smooth wave and one to three
tanh, erf, sech or Gaussian profiles that travel, swing, steepen and spread, with widths of 1e-1 to
1e-4 of the interval; the source and the data at the ends follow from it. Prints a row for each
problem and the counts. A run that is out of time, in seconds of the processor, is interrupted and
keeps what it has.
"""

from __future__ import annotations

import argparse
import signal
import sys

# This folder has a file named like a module of the standard library; it must not come first.
sys.path.append(sys.path.pop(0))

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

import sharpfront as sf
from sharpfront.measure import max_error

X, T = sp.symbols("x t", real=True)
EQUATIONS = ("transport", "burgers", "bistable", "system", "wave")
ENDS = ("dirichlet", "neumann", "robin", "periodic")
SHAPES: dict[str, Callable[[Any], Any]] = {
    "tanh": sp.tanh,
    "erf": sp.erf,
    "sech": lambda z: 2 * sp.exp(-sp.sqrt(z**2 + sp.Rational(1, 4))),
    "gauss": lambda z: sp.exp(-(z**2)),
}
MOMENTS, EVEN, NEAR = 61, 401, 161


@dataclass(frozen=True)
class Box:
    """Interval and span, and the coordinates s and tau that go from 0 to 1 over them."""

    low: float
    length: float
    start: float
    span: float
    periodic: bool

    @property
    def s(self) -> Any:
        """From 0 to 1 over the interval."""
        return (X - self.low) / self.length

    @property
    def tau(self) -> Any:
        """From 0 to 1 over the span."""
        return (T - self.start) / self.span


@dataclass(frozen=True)
class Feature:
    """A profile: its value, and its place and width in s as expressions in time."""

    value: Any
    place: Any
    width: Any
    periodic: bool
    words: str


@dataclass(frozen=True)
class Case:
    """A problem with its exact solution."""

    name: str
    problem: sf.Problem
    exact: dict[str, Callable[..., Any]]
    features: tuple[Feature, ...]
    box: Box


def numeric(expression: Any) -> Callable[..., Any]:
    """Return a vectorised function of x and t."""
    function = sp.lambdify((X, T), expression, modules=["scipy", "numpy"], cse=True)

    def values(x: Any, t: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.nan_to_num(function(x, t)) + 0.0 * (x + t)

    return values


def known(expression: Any) -> Any:
    """Return the same for an equation or a condition, with derivatives for those who need them."""
    return sf.function(numeric(expression), tuple(numeric(sp.diff(expression, c)) for c in (X, T)))


def feature(rng: np.random.Generator, box: Box, narrowest: float) -> Feature:
    """Return a profile that moves."""
    tau = box.tau
    kind = str(rng.choice(list(SHAPES)))
    width = sp.Float(10.0 ** rng.uniform(np.log10(narrowest), -1))
    first, speed, swing = rng.uniform(0.1, 0.9), rng.normal() * 0.5, 0.0
    words = f"{kind} {float(width):.0e}"
    change = str(rng.choice(["travels", "swings", "steepens", "spreads"]))
    if change == "swings":
        swing = rng.uniform(0.05, 0.3)
    if change == "steepens":
        width = width * (sp.Float(max(narrowest / float(width), 0.1)) ** tau)
    if change == "spreads":
        width = sp.sqrt(width**2 + rng.uniform(0, 0.02) * tau)
    place = first + speed * tau + swing * sp.sin(rng.uniform(2, 8) * tau)
    gap = box.s - place
    if box.periodic:
        whole = kind in ("tanh", "erf")
        gap = sp.sin(2 * sp.pi * gap) / (2 * sp.pi) if whole else sp.sin(sp.pi * gap) / sp.pi
    value = rng.normal() * SHAPES[kind](gap / width)
    return Feature(value, place, width, box.periodic, f"{words} {change}")


def state(rng: np.random.Generator, box: Box, narrowest: float) -> tuple[Any, list[Feature]]:
    """Return an exact solution and its profiles."""
    parts = [feature(rng, box, narrowest) for _ in range(int(rng.integers(1, 4)))]
    turns = 2 * sp.pi * int(rng.integers(1, 3)) if box.periodic else rng.uniform(0.5, 6)
    wave = sp.sin(turns * box.s + rng.uniform(0, 6)) * sp.cos(rng.uniform(0, 4) * box.tau)
    return rng.normal() * wave + sum(p.value for p in parts), parts


def thinnest(parts: list[Feature], box: Box) -> float:
    """Return the smallest width in s at any moment."""
    ends = [box.start, box.start + box.span]
    return min(float(p.width.subs(T, t)) for p in parts for t in ends)


def operator(kind: str, rng: np.random.Generator, box: Box, thin: float) -> Callable[..., Any]:
    """Return residuals without a source; they take SymPy functions as well as unknowns."""
    one, two = 1.0 / box.span, box.length / box.span
    nu = box.length**2 / box.span * 10.0 ** rng.uniform(-5, -1)
    a, b, k = rng.normal() * two, rng.normal() * two, 10.0 ** rng.uniform(-0.5, 0.7) * one
    turns = 2 * np.pi / box.length

    def coefficient(x: Any, t: Any, sin: Callable[[Any], Any]) -> Any:
        return a * (1 + 0.5 * sin(turns * (x - box.low) + 2 * one * (t - box.start)))

    if kind == "transport":
        return lambda u, x, t, sin: u.dt + coefficient(x, t, sin) * u.dx - nu * u.dxx + k * plain(u)
    if kind == "burgers":
        # With less diffusion than this, errors grow without bound in a front that is held.
        nu = max(nu, rng.uniform(1, 3) * thin * box.length**2 / box.span)
        return lambda u, x, t, sin: u.dt + two * plain(u) * u.dx - nu * u.dxx
    if kind == "bistable":
        return lambda u, x, t, sin: u.dt - nu * u.dxx + k * (plain(u) ** 3 - plain(u))
    if kind == "system":
        return lambda u, v, x, t, sin: (
            u.dt + coefficient(x, t, sin) * u.dx - nu * u.dxx + k * plain(u) * plain(v),
            v.dt + b * v.dx - 2 * nu * v.dxx + k * (plain(v) - plain(u)),
        )
    speed = (0.3 + abs(rng.normal())) * two
    return lambda u, x, t, sin: u.dtt - speed**2 * u.dxx + k * u.dt


class Known:
    """An exact solution that answers to the names of derivatives."""

    def __init__(self, expression: Any) -> None:
        self.expression = expression

    def __getattr__(self, name: str) -> Any:
        symbols = {"x": X, "t": T}
        return sp.diff(self.expression, *[symbols[c] for c in name[1:]])


def plain(u: Any) -> Any:
    """Return an unknown, or an exact solution as an expression."""
    return u.expression if isinstance(u, Known) else u


def sources(apply: Callable[..., Any], exact: dict[str, Any]) -> tuple[Callable[..., Any], ...]:
    """Return what the exact solution leaves of the equations, as functions of x and t."""
    left = apply(*(Known(e) for e in exact.values()), X, T, sp.sin)
    return tuple(numeric(residual) for residual in (left if isinstance(left, tuple) else (left,)))


def conditions(
    kind: str, rng: np.random.Generator, box: Box, exact: dict[str, Any]
) -> dict[str, Callable[..., Any]]:
    """Return the conditions on both ends, none on a circle."""
    if kind == "periodic":
        return {}
    values = [known(e) for e in exact.values()]
    slopes = [known(sp.diff(e, X)) for e in exact.values()]
    beta = rng.uniform(0.2, 3) / box.length

    def one(u: Any, x: Any, t: Any, i: int, outward: float) -> Any:
        off = u - values[i](x, t)
        if kind == "dirichlet":
            return off
        flux = u.dn - outward * slopes[i](x, t)
        return flux if kind == "neumann" else flux + beta * off

    def end(outward: float) -> Callable[..., Any]:
        if len(exact) == 1:
            return lambda u, x, t: one(u, x, t, 0, outward)
        return lambda u, v, x, t: (one(u, x, t, 0, outward), one(v, x, t, 1, outward))

    return {"left": end(-1.0), "right": end(1.0)}


def made(seed: int, number: int) -> Case:
    """Return a problem."""
    rng = np.random.default_rng([seed, number])
    kind, ends = str(rng.choice(EQUATIONS)), str(rng.choice(ENDS, p=[0.4, 0.2, 0.15, 0.25]))
    length, span = 10.0 ** rng.uniform(-1, 1), 10.0 ** rng.uniform(-1, 1)
    low, start = rng.choice([0, -length, 0.7]), rng.choice([0, -1, 5])
    box = Box(float(low), length, float(start), span, ends == "periodic")
    narrowest = 10.0 ** rng.uniform(-4, -1.3)
    names = ("u", "v") if kind == "system" else ("u",)
    made_of = [state(rng, box, narrowest) for _ in names]
    exact = {name: each[0] for name, each in zip(names, made_of, strict=True)}
    parts = [p for _, ps in made_of for p in ps]
    apply = operator(kind, rng, box, thinnest(parts, box))
    given = [sf.function(f) for f in sources(apply, exact)]
    begin = [numeric(e) for e in exact.values()]
    if kind == "wave":
        begin.append(numeric(sp.diff(exact["u"], T)))
    initial = tuple(lambda x, f=f: f(x, box.start) for f in begin)

    def alone(u: Any, x: Any, t: Any) -> Any:
        return apply(u, x, t, np.sin) - given[0](x, t)

    def both(u: Any, v: Any, x: Any, t: Any) -> Any:
        return tuple(r - f(x, t) for r, f in zip(apply(u, v, x, t, np.sin), given, strict=True))

    problem = sf.Problem(
        sf.Interval(box.low, box.low + length, periodic=box.periodic),
        both if kind == "system" else alone,
        initial=initial if len(initial) > 1 else initial[0],
        time=(box.start, box.start + span),
        **conditions(ends, rng, box, exact),
    )
    words = f"{seed}:{number} {kind} {ends}: {', '.join(p.words for p in parts)}"
    functions = {name: numeric(e) for name, e in exact.items()}
    return Case(words, problem, functions, tuple(parts), box)


def true_error(case: Case, solution: sf.Solution) -> float:
    """Return the largest error of any unknown, relative to max(1, max|u|)."""
    box, (start, stop) = case.box, solution.domain.time
    # Uneven moments: no step ends where it is looked at, other than the first and the last.
    share = np.linspace(0, 1, MOMENTS) ** 1.1
    points = []
    for moment in np.concatenate([start + (stop - start) * share, [stop]]):
        s = [np.linspace(0, 1, EVEN)]
        for part in case.features:
            place, width = (float(sp.sympify(e).subs(T, moment)) for e in (part.place, part.width))
            near = place + width * np.linspace(-8, 8, NEAR)
            s += [np.mod(near, 1.0), np.mod(near + 0.5, 1.0)] if part.periodic else [near]
        x = box.low + box.length * np.unique(np.clip(np.concatenate(s), 0.0, 1.0))
        x = np.minimum(x, box.low + box.length)
        points.append(np.column_stack([x, np.full_like(x, moment)]))
    return max_error(solution, case.exact, np.concatenate(points))


def interrupt(*_: object) -> None:
    """Interrupt a run as Ctrl-C does."""
    raise KeyboardInterrupt


def solved(case: Case, tol: float, limit: float) -> tuple[sf.Solution | str, float]:
    """Return the solution, or the words of an exception, and the seconds that it took."""
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        return sf.solve(case.problem, tol=tol), time.process_time() - started
    except (Exception, KeyboardInterrupt) as reason:
        words = f"{type(reason).__name__}: {reason}".splitlines()[0]
        return words, time.process_time() - started
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def cases(seeds: list[int], count: int, only: list[str] | None) -> Iterator[Case]:
    """Yield the problems of all seeds."""
    for seed in seeds:
        for number in range(count):
            if not only or f"{seed}:{number}" in only:
                yield made(seed, number)


def row(case: Case, tol: float, limit: float, counts: dict[str, int]) -> str:
    """Solve a problem, count it, and return its row."""
    counts["problems"] += 1
    solution, seconds = solved(case, tol, limit)
    if isinstance(solution, str):
        counts["raised"] += 1
        return f"| {case.name} | raised: {solution[:150]} | | | | | | {seconds:.1f} |"
    error, estimate = true_error(case, solution), solution.error_estimate
    found = {
        "converged": solution.converged,
        "wrong": solution.converged and error > 3 * tol,
        "under-estimated": estimate < error / 3 and error > 1e-12,
        "not converged": not solution.converged,
        "timeouts": solution.outcome.kind == "interrupted",
    }
    for name, is_so in found.items():
        counts[name] += is_so
    marks = ", ".join(n for n in ("wrong", "under-estimated") if found[n])
    reached = (solution.domain.time[1] - case.box.start) / case.box.span
    kind = str(solution.outcome.kind) + (f" at {reached:.2g}" if reached < 0.999 else "")
    kernels = max((s.kernels for s in solution.history), default=0)
    ratio = estimate / error if error else np.inf
    return (
        f"| {case.name} | {kind}{f' ({marks.upper()})' if marks else ''} | {error:.1e} "
        f"| {estimate:.1e} | {ratio:.1f} | {kernels} | {len(solution.history)} | {seconds:.1f} |"
    )


def main() -> None:
    """Print the table and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--count", type=int, default=40, help="problems for each seed")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for a problem")
    parser.add_argument("--only", nargs="*", help="names of problems, SEED:NUMBER")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, interrupt)
    names = "problems", "converged", "wrong", "under-estimated", "not converged", "timeouts"
    counts = dict.fromkeys((*names, "raised"), 0)
    print("| problem | outcome | error | estimate | ratio | kernels | steps | s |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for case in cases(options.seeds, options.count, options.only):
        print(row(case, options.tol, options.limit, counts), flush=True)
    print("\n" + ", ".join(f"{name} {count}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
