"""What the constants of the adaptation on patches do: each halved and doubled on drawn problems.

Run by hand: ``python benchmarks/sensitivity.py [NAME ...]``. Prints a Markdown row for each
constant and factor: functions and CPU seconds in units of those with the constant as it is, summed
over the problems, the smallest ratio of estimate to error, the largest error in tolerances among
what is called converged, and how many are not.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
from engine import error_of
from suites.nist import wedge
from suites.row import Row, harmonic, loaded, poisson

import sharpfront as sf
from sharpfront.place.patches.settings import SETTINGS


def drawn(seed: int = 4) -> Iterator[Row]:
    """Yield problems with drawn places, angles and widths."""
    draw = np.random.default_rng(seed)
    for low, high, tol in ((1.15, 1.4, 1e-5), (1.45, 1.75, 1e-3)):
        omega = np.pi * draw.uniform(low, high)
        exact = functools.partial(wedge, omega)
        yield Row("corner", functools.partial(_sector, omega, exact), tol, {"u": exact})
    place, steep = draw.uniform(-0.2, 0.1, 2), draw.uniform(15, 25)
    front = functools.partial(_front, place, steep)
    box = sf.Box((0, 1), (0, 1))
    yield Row("front", functools.partial(poisson, box, front), 1e-4, {"u": front})
    eps = 10 ** draw.uniform(-4, -2)
    layers = functools.partial(_layers, eps)
    yield Row("layers", functools.partial(_convected, eps, layers), 1e-5, {"u": layers})
    yield Row("wake", functools.partial(_wake, 10 ** draw.uniform(-3, -2)), 1e-4)
    turned = draw.uniform(0, 1)
    star = [
        (r * np.cos(t), r * np.sin(t))
        for r, t in zip([1, 0.5] * 4, turned + np.arange(8) * np.pi / 4, strict=True)
    ]
    yield Row("star", lambda: loaded(sf.Polygon(star)), 1e-3)
    yield Row("plate", functools.partial(_plate, draw.uniform(50, 500)), 1e-4)


def _sector(omega: float, exact: Callable[..., Any]) -> sf.Problem:
    angles = np.linspace(0, omega, 5)
    rim = [(float(np.cos(t)), float(np.sin(t))) for t in angles]
    return harmonic(sf.Polygon([(0.0, 0.0), *rim]), exact)


def _front(place: Any, steep: float, x: Any, y: Any) -> Any:
    return np.arctan(steep * (np.sqrt((x - place[0]) ** 2 + (y - place[1]) ** 2) - 0.7))


def _layers(eps: float, x: Any, y: Any) -> Any:
    return (x - np.exp((x - 1) / eps)) * (y - np.exp((y - 1) / eps)) * np.cos(x + 2 * y)


def _convected(eps: float, exact: Callable[..., Any]) -> sf.Problem:
    def equation(u: Any, x: Any, y: Any) -> Any:
        e = u - exact(x, y)
        return -eps * sf.laplacian(e) + e.dx + e.dy

    return sf.Problem(sf.Box((0, 1), (0, 1)), equation, boundary=lambda u, x, y: u - exact(x, y))


def _wake(eps: float) -> sf.Problem:
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -eps * sf.laplacian(u) + u.dx - 1,
        boundary=lambda u, x, y: u,
    )


def _plate(load: float) -> sf.Problem:
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: sf.laplacian(sf.laplacian(u)) - load,
        boundary=lambda u, x, y: (u, u.dn),
    )


def measured() -> dict[str, tuple[int, float, float, float, bool]]:
    """Return functions, seconds, estimate / error, error in tolerances and whether converged."""
    out = {}
    for i, row in enumerate(drawn()):
        started = time.process_time()
        solution = sf.solve(row.problem(), tol=row.tol)
        seconds = time.process_time() - started
        errors = [error_of(solution, f, u) for u, f in row.exact.items()]
        error = max(errors, default=np.nan)
        ratio = solution.error_estimate / error
        out[f"{row.name} {i}"] = (
            solution.kernels, seconds, ratio, error / row.tol, solution.converged,
        )  # fmt: skip
    return out


def line(name: str, own: dict[str, Any], usual: dict[str, Any]) -> str:
    """Return a row of the table."""
    functions, seconds = (
        sum(v[k] for v in own.values()) / sum(v[k] for v in usual.values()) for k in (0, 1)
    )
    ratio = np.nanmin([v[2] for v in own.values()])
    worst = np.nanmax([v[3] if v[4] else np.nan for v in own.values()])
    failed = [k for k, v in own.items() if not v[4]]
    return (
        f"| {name} | {functions:.2f} | {seconds:.2f} | {ratio:.2g} | {worst:.2g} | "
        f"{', '.join(failed)} |"
    )


def main() -> None:
    """Run and print."""
    names = sys.argv[1:]
    measured()
    usual = measured()
    print("| constant | functions | s | least est/err | largest err/tol | not converged |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    print(line("as they are", usual, usual), flush=True)
    for field in fields(SETTINGS):
        name, value = field.name, getattr(SETTINGS, field.name)
        if names and name not in names:
            continue
        for factor in (0.5, 2.0):
            # Frozen for all but this study.
            object.__setattr__(SETTINGS, name, type(value)(value * factor))
            own = measured()
            object.__setattr__(SETTINGS, name, value)
            told = "=" if all(own[k][0] == usual[k][0] for k in own) else ""
            print(line(f"{name} {value:g} x {factor:g} {told}", own, usual), flush=True)


if __name__ == "__main__":
    main()
