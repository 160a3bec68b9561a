"""Fronts, pulses, flows and rough starts in time in the plane: what is reached in how long.

Run by hand: ``python benchmarks/plane_time.py [--only NAME ...] [--tol 1e-3] [--limit 150]
[--patches]``. Prints a row for each problem: oblique shocks, growing circles, a turned cone and
pulse, spots of Gray and Scott, vortices of Taylor and Green, a lid that starts, heat from a start
that misses its conditions, and a pulse that a disk reflects. Errors are largest ones at points that
are graded into fronts, from the moment on from which the estimate holds, relative to
max(1, max|u|). Seconds are of the processor; a run that is out of time is ended by its steps and
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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import j0, j1, jn_zeros

import sharpfront as sf
from sharpfront.arrays import blas_threads
from sharpfront.evolve.patchwork import evolve_patches
from sharpfront.measure import max_error

Formula = Callable[..., Any]
UNIT = sf.Box((0, 1), (0, 1))
WIDE = sf.Box((-1, 1), (-1, 1))
# Places and moments at which errors are measured.
PLACES, MOMENTS = 4000, 12


@dataclass(frozen=True)
class Stated:
    """A problem, exact solutions by unknown, how fronts lie, and its tolerance."""

    problem: sf.Problem
    tol: float
    exact: Mapping[str, Formula] = field(default_factory=dict)
    distance: Formula | None = None  # from the front, with its width
    width: float = 1.0
    since: float = 0.0  # share of the span from which on it is compared


class OutOfTimeError(BaseException):
    """Raised when the time is over."""


def oblique(nu: float, tol: float, end: float = 1.0) -> Stated:
    """Return the shock of Burgers' equation that runs from a corner to the middle of a square."""

    def exact(x: Any, y: Any, t: Any) -> Any:
        return (1.0 - np.tanh((x + y - t) / (4 * nu))) / 2

    problem = sf.Problem(
        UNIT,
        lambda u, x, y, t: u.dt + u * u.dx + u * u.dy - nu * sf.laplacian(u),
        boundary=lambda u, x, y, t: u - exact(x, y, t),
        initial=lambda x, y: exact(x, y, 0.0),
        time=(0, end),
    )
    return Stated(problem, tol, {"u": exact}, lambda x, y, t: x + y - t, 4 * nu)


def circle(w: float, tol: float) -> Stated:
    """Return the growing circle of the catalogue."""
    from sharpfront.catalog import named

    entry = named("growing-circle")

    def distance(x: Any, y: Any, t: Any) -> Any:
        return np.hypot(x, y) - 0.5 - 0.4 * t

    return Stated(entry.problem(w), tol, {"u": entry.exact(w)}, distance, w)


def pulse(w: float, tol: float) -> Stated:
    """Return the turning pulse of the catalogue."""
    from sharpfront.catalog import named

    entry = named("turning-pulse")

    def distance(x: Any, y: Any, t: Any) -> Any:
        a = 2 * np.pi * t
        return np.hypot(x - 0.5 * np.cos(a), y - 0.5 * np.sin(a))

    return Stated(entry.problem(w), tol, {"u": entry.exact(w)}, distance, 2 * w)


def cone(tol: float) -> Stated:
    """Return a cone that is turned once, without diffusion."""

    def exact(x: Any, y: Any, t: Any) -> Any:
        away = np.hypot(x - 0.5 * np.cos(t), y - 0.5 * np.sin(t))
        return np.maximum(0.0, 1.0 - away / 0.3)

    problem = sf.Problem(
        WIDE,
        lambda u, x, y, t: u.dt + x * u.dy - y * u.dx,
        boundary=lambda u, x, y, t: u,
        initial=lambda x, y: np.maximum(0, 1 - np.sqrt((x - 0.5) ** 2 + y**2) / 0.3),
        time=(0, 2 * np.pi),
    )

    def distance(x: Any, y: Any, t: Any) -> Any:
        return np.hypot(x - 0.5 * np.cos(t), y - 0.5 * np.sin(t))

    return Stated(problem, tol, {"u": exact}, distance, 0.1)


def spots(tol: float, end: float = 100.0) -> Stated:
    """Return a spot of Gray and Scott that grows in a periodic box."""
    rate, loss, first, second = 0.035, 0.0625, 2e-5, 1e-5

    def bump(x: Any, y: Any) -> Any:
        return np.exp(-((x - 0.5) ** 2 + (y - 0.45) ** 2) / 0.1**2)

    problem = sf.Problem(
        sf.Box((0, 1), (0, 1), periodic=("x", "y")),
        lambda u, v, x, y, t: (
            u.dt - first * sf.laplacian(u) + u * v**2 - rate * (1 - u),
            v.dt - second * sf.laplacian(v) - u * v**2 + (rate + loss) * v,
        ),
        initial={
            "u": lambda x, y: 1 - 0.5 * bump(x, y),
            "v": lambda x, y: 0.25 * bump(x, y),
        },
        time=(0, end),
    )
    return Stated(problem, tol)


def vortices(tol: float, nu: float = 0.05, end: float = 1.0) -> Stated:
    """Return vortices of Taylor and Green, which fade."""
    k = 2 * np.pi

    def fade(t: Any) -> Any:
        return np.exp(-2 * nu * k**2 * t)

    exact = {
        "u": lambda x, y, t: np.sin(k * x) * np.cos(k * y) * fade(t),
        "v": lambda x, y, t: -np.cos(k * x) * np.sin(k * y) * fade(t),
    }
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1), periodic=("x", "y")),
        lambda u, v, p, x, y, t: (
            u.dt + u * u.dx + v * u.dy + p.dx - nu * sf.laplacian(u),
            v.dt + u * v.dx + v * v.dy + p.dy - nu * sf.laplacian(v),
            u.dx + v.dy,
        ),
        conditions=[sf.at((0.0, 0.0), lambda u, v, p, x, y, t: p)],
        initial={
            "u": lambda x, y: np.sin(k * x) * np.cos(k * y),
            "v": lambda x, y: -np.cos(k * x) * np.sin(k * y),
        },
        time=(0, end),
    )
    return Stated(problem, tol, exact)


def lid(tol: float, reynolds: float = 100.0, end: float = 0.5) -> Stated:
    """Return a cavity at rest whose lid comes to its speed in a time of 0.1."""

    def pull(x: Any, t: Any) -> Any:
        return 16 * x**2 * (1 - x) ** 2 * (1 - np.exp(-((t / 0.1) ** 2)))

    def walls(u: Any, v: Any, p: Any, x: Any, y: Any, t: Any) -> Any:
        return u, v

    problem = sf.Problem(
        UNIT,
        lambda u, v, p, x, y, t: (
            u.dt + u * u.dx + v * u.dy + p.dx - sf.laplacian(u) / reynolds,
            v.dt + u * v.dx + v * v.dy + p.dy - sf.laplacian(v) / reynolds,
            u.dx + v.dy,
        ),
        left=walls,
        right=walls,
        bottom=walls,
        top=lambda u, v, p, x, y, t: (u - pull(x, t), v),
        conditions=[sf.at((0.5, 0.5), lambda u, v, p, x, y, t: p)],
        initial={"u": 0.0, "v": 0.0},
        time=(0, end),
    )
    return Stated(problem, tol)


def sudden(tol: float) -> Stated:
    """Return a plate of temperature one whose sides are held at zero from the start on."""

    def line(x: Any, t: Any) -> Any:
        odd = np.pi * np.arange(1, 1200, 2)
        odd = odd[odd**2 * t < 40]
        return (4 / odd * np.exp(-(odd**2) * t) * np.sin(np.multiply.outer(x, odd))).sum(axis=-1)

    problem = sf.Problem(
        UNIT,
        lambda u, x, y, t: u.dt - sf.laplacian(u),
        boundary=lambda u, x, y, t: u,
        initial=1.0,
        time=(0, 0.1),
    )
    exact = {"u": lambda x, y, t: line(x, t) * line(y, t)}
    return Stated(problem, tol, exact, lambda x, y, t: np.minimum(x, y), 0.02, 0.01)


def drum(tol: float, w: float = 0.2) -> Stated:
    """Return a round pulse in a disk that comes back from its rim."""
    zeros = jn_zeros(0, 60)
    r, weight = np.polynomial.legendre.leggauss(400)
    r, weight = (r + 1) / 2, weight / 2
    shape = np.exp(-((r / w) ** 2))
    shares = [2 / j1(z) ** 2 * np.sum(weight * r * shape * j0(z * r)) for z in zeros]

    def exact(x: Any, y: Any, t: Any) -> Any:
        away = np.hypot(x, y)
        return sum(a * j0(z * away) * np.cos(z * t) for a, z in zip(shares, zeros, strict=True))

    problem = sf.Problem(
        sf.Disk((0, 0), 1),
        lambda u, x, y, t: u.dtt - sf.laplacian(u),
        boundary=lambda u, x, y, t: u,
        initial=(lambda x, y: np.exp(-(x**2 + y**2) / w**2), 0.0),
        time=(0, 1.5),
    )
    return Stated(problem, tol, {"u": exact})


PROBLEMS: dict[str, Callable[[], Stated]] = {
    "shock-1e-2": lambda: oblique(1e-2, 1e-3),
    "shock-1e-2-fine": lambda: oblique(1e-2, 1e-6),
    "shock-1e-3": lambda: oblique(1e-3, 1e-3),
    "shock-1e-3-fine": lambda: oblique(1e-3, 1e-6),
    "shock-1e-4": lambda: oblique(1e-4, 1e-3),
    "shock-1e-4-fine": lambda: oblique(1e-4, 1e-6),
    "circle-0.1": lambda: circle(0.1, 1e-2),
    "circle-0.02": lambda: circle(0.02, 1e-2),
    "pulse": lambda: pulse(0.05, 1e-3),
    "cone": lambda: cone(5e-2),
    "spots": lambda: spots(1e-3),
    "vortices": lambda: vortices(1e-3),
    "vortices-fine": lambda: vortices(1e-6),
    "lid": lambda: lid(1e-3),
    "sudden": lambda: sudden(1e-3),
    "sudden-fine": lambda: sudden(1e-6),
    "drum": lambda: drum(1e-2),
}


def places(own: Stated, t: float) -> Any:
    """Return points spread over the domain, and such as crowd about fronts."""
    points = own.problem.domain.sample(PLACES)
    if own.distance is None:
        return points
    dense = own.problem.domain.sample(40 * PLACES)
    far = np.abs(own.distance(*dense.T, t)) / own.width
    draw = np.random.default_rng(0).uniform(size=len(dense))
    near = dense[draw < 0.5 / (1.0 + far**2)][:PLACES]
    if own.width < 1e-3:
        # Points on the front's own width, along straight lines x + y = t.
        rng = np.random.default_rng(1)
        along, across = rng.uniform(size=PLACES), rng.uniform(-3, 3, PLACES) * own.width
        x = np.clip(along * min(t, 2 - t) + max(0.0, t - 1.0), 0, 1)
        near = np.stack([x, np.clip(t - x + across, 0, 1)], axis=1)
    return np.concatenate([points, near])


def error_of(own: Stated, solution: sf.Solution) -> float:
    """Return the largest error relative to max(1, max|u|)."""
    start, stop = solution.domain.time
    since = max(solution.error_estimate_since or start, start + own.since * (stop - start))
    found = [(places(own, float(t)), t) for t in np.linspace(since, stop, MOMENTS)]
    points = np.concatenate([np.column_stack([p, np.full(len(p), t)]) for p, t in found])
    return max_error(solution, own.exact, points) if own.exact else np.nan


def out_of_time(*_: Any) -> None:
    """End a run."""
    raise OutOfTimeError


def row(name: str, options: argparse.Namespace) -> str:
    """Solve a problem and return its row."""
    own = PROBLEMS[name]()
    tol = options.tol or own.tol
    seen: list[Any] = []
    solve = evolve_patches if options.patches else sf.solve
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, options.limit)
    try:
        solution = solve(own.problem, tol=tol, on_step=seen.append)
    except (OutOfTimeError, sf.SharpfrontError) as reason:
        words = (
            type(reason).__name__ + " " + str(reason).splitlines()[0][:60] if str(reason) else ""
        )
        seconds = time.process_time() - began
        at = f"to {seen[-1].time:.3g}, {len(seen)} steps, {seen[-1].kernels}" if seen else "no step"
        return f"| {name} | {tol:.0e} | {words or 'out of time'} {at} | | | | {seconds:.1f} |"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.process_time() - began
    off = error_of(own, solution) if solution.history else np.nan
    most = max((s.kernels for s in solution.history), default=0)
    cells = [
        name,
        f"{tol:.0e}",
        f"{off:.1e}",
        f"{solution.error_estimate:.1e}, {solution.outcome.kind.value} "
        f"to {solution.domain.time[1]:.3g}",
        f"{most}",
        f"{len(solution.history)}",
        f"{seconds:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--tol", type=float)
    parser.add_argument("--limit", type=float, default=150.0)
    parser.add_argument("--patches", action="store_true", help="on patches whatever the problem")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, out_of_time)
    print("| problem | tol | largest error | estimate | functions | steps | s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with blas_threads(1):
        for name in options.only:
            print(row(name, options), flush=True)


if __name__ == "__main__":
    main()
