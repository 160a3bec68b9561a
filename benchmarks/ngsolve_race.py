"""Against adaptive finite elements of high order (NGSolve), told nothing of where features are.

Run by hand, once for each side, in an environment that has it:
``python benchmarks/ngsolve_race.py sharpfront [NAME ...]`` and ``... ngsolve [NAME ...]``. Prints a
Markdown row for each problem and tolerance: CPU seconds of one thread until the largest error at
points graded into the feature, relative to max(1, max|u|), is below the tolerance, with the error
and the number of unknowns. Sharpfront is asked for the tolerance and decides when it is done.
Elements are refined where recovered gradients differ most (Zienkiewicz and Zhu), their order is the
best of ORDERS, meshing, assembly, direct solves and marking are counted, and they are stopped by
the true error, which a user does not know.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

TOLERANCES = (1e-3, 1e-5, 1e-7)
ORDERS = (3, 5, 8)
# Elements give up beyond so many unknowns or seconds.
UNKNOWNS, SECONDS = 400_000, 10.0
# Elements whose recovered gradient differs by more than this share of the largest are refined.
MARKED = 0.25


@dataclass(frozen=True)
class Race:
    """-eps lap u + wind . grad u + c u = f with u given by its exact solution on the boundary.

    Parameters
    ----------
    name
        As in the table.
    exact
        Of a module with exp, sin, ... and of x and y.
    eps, wind, c
        The operator.
    features
        Places along x and along y that points are graded into.
    source
        Where given, u is zero on the boundary and `exact` is for comparison only.
    cut
        Whether the domain is the square (-1, 1)^2 without a quadrant, not the unit square.
    """

    name: str
    exact: Callable[[Any, Any, Any], Any]
    eps: float = 1.0
    wind: tuple[float, float] = (0.0, 0.0)
    c: float = 0.0
    features: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    source: Callable[[Any, Any, Any], Any] | None = None
    cut: bool = False

    def points(self) -> np.ndarray[Any, Any]:
        """Return points of the domain, graded into the features, (m, 2)."""
        low = -1.0 if self.cut else 0.0
        axes = []
        for places in self.features:
            steps = np.geomspace(1e-6, 1.0, 60)
            graded = [p + s * steps for p in places for s in (-1, 1)]
            every = np.concatenate([np.linspace(low, 1, 41), *graded])
            axes.append(np.unique(every[(every >= low) & (every <= 1)]))
        x, y = (v.ravel() for v in np.meshgrid(*axes))
        inside = (x <= 0) | (y >= 0) if self.cut else x == x
        return np.stack([x[inside], y[inside]], axis=1)


def _r(m: Any, x: Any, y: Any, cx: float, cy: float) -> Any:
    return m.sqrt((x - cx) ** 2 + (y - cy) ** 2)


def _layer(m: Any, s: Any, width: float) -> Any:
    return 1 - m.exp(-s / width) - m.exp((s - 1) / width)


def _outflow(m: Any, x: Any, y: Any, eps: float = 1e-4) -> Any:
    return (x - m.exp((x - 1) / eps)) * m.sin(math.pi * y)


def _corner(m: Any, x: Any, y: Any, eps: float = 1e-3) -> Any:
    return (x - m.exp((x - 1) / eps)) * (y - m.exp((y - 1) / eps))


def _sharp(m: Any, x: Any, y: Any, width: float = 0.01) -> Any:
    return m.exp(-((x - 0.5) ** 2 + (y - 0.5) ** 2) / (2 * width**2)) / (2 * math.pi * width**2)


def _sharp_exact(m: Any, x: Any, y: Any, width: float = 0.01) -> Any:
    k = np.arange(1, 260)
    g = 2 * np.exp(-((k * np.pi * width) ** 2) / 2) * np.sin(k * np.pi / 2)
    both = g[:, None] * g / (np.pi**2 * (k[:, None] ** 2 + k**2))
    sx, sy = (np.sin(np.pi * np.outer(v, k)) for v in (x, y))
    return np.einsum("mk,kl,ml->m", sx, both, sy, optimize=True)


def races() -> Iterator[Race]:
    """Yield the problems."""
    yield Race("outflow, 1e-4", _outflow, 1e-4, (1, 0), features=((1.0,), ()))
    yield Race("corner, 1e-3", _corner, 1e-3, (1, 1), features=((1.0,), (1.0,)))
    yield Race(
        "four layers, 1e-2",
        lambda m, x, y: _layer(m, x, 1e-2) * _layer(m, y, 1e-2),
        1e-4,
        c=1.0,
        features=((0.0, 1.0), (0.0, 1.0)),
    )
    yield Race(
        "circular front, 1e-2",
        lambda m, x, y: m.tanh((_r(m, x, y, 0.5, 0.5) - 0.25) / 2e-2),
        1e-4,
        c=1.0,
        features=((0.25, 0.75), (0.25, 0.75)),
    )
    middle = ((0.5,), (0.5,))
    yield Race("sharp source, 1e-2", _sharp_exact, features=middle, source=_sharp)
    yield Race(
        "peak, 1e5",
        lambda m, x, y: m.exp(-1e5 * ((x - 0.51) ** 2 + (y - 0.117) ** 2)),
        features=((0.51,), (0.117,)),
    )
    yield Race(
        "L-shape, f = 1",
        lambda m, x, y: np.nan * x,
        features=((0.0,), (0.0,)),
        source=lambda m, x, y: 1 + 0 * x,
        cut=True,
    )
    yield Race(
        "steep wave front",
        lambda m, x, y: m.atan(1000 * (_r(m, x, y, -0.05, -0.05) - 0.7)),
        features=((0.65, 0.445), (0.65, 0.445)),
    )


def by_sharpfront(race: Race, tol: float) -> tuple[float, float, int]:
    """Return seconds, error and functions."""
    import sharpfront as sf

    box = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0)) if race.cut else sf.Box((0, 1), (0, 1))
    functions = _Functions()

    def equation(u: Any, x: Any, y: Any) -> Any:
        e = u if race.source else u - race.exact(functions, x, y)
        f = race.source(functions, x, y) if race.source else 0.0
        a, b = race.wind
        return -race.eps * sf.laplacian(e) + a * e.dx + b * e.dy + race.c * e - f

    given = None if race.source else race.exact
    problem = sf.Problem(
        box,
        equation,
        **dict.fromkeys(box.parts, lambda u, x, y: u - (given(functions, x, y) if given else 0.0)),
    )
    started = time.process_time()
    solution = sf.solve(problem, tol=tol)
    seconds = time.process_time() - started
    points = race.points()
    values = reference(race, points)
    error = float(np.abs(solution(*points.T) - values).max() / max(1.0, np.abs(values).max()))
    return seconds, error if solution.converged else math.inf, solution.kernels


class _Functions:
    """NumPy's functions by NGSolve's names."""

    def __init__(self) -> None:
        self.exp, self.sin, self.cos, self.sqrt = np.exp, np.sin, np.cos, np.sqrt
        self.tanh: Callable[[Any], Any] = np.tanh
        self.atan = np.arctan


def reference(race: Race, points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the solution at points; on the L from a file that the side of sharpfront writes."""
    if not race.cut:
        return np.asarray(race.exact(_Functions(), *points.T))
    try:
        return np.load(REFERENCE)
    except OSError:
        import sharpfront as sf

        box = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))
        held = dict.fromkeys(box.parts, lambda u, x, y: u)
        problem = sf.Problem(box, lambda u, x, y: -sf.laplacian(u) - 1, **held)
        values = sf.solve(problem, tol=1e-9, max_kernels=150_000)(*points.T)
        np.save(REFERENCE, values)
        return np.asarray(values)


REFERENCE = "/tmp/ngsolve_race_l_shape.npy"


def by_elements(race: Race, order: int) -> Iterator[tuple[float, float, int]]:
    """Yield seconds so far, error and unknowns on ever finer meshes."""
    import ngsolve as ng
    from netgen.geom2d import SplineGeometry

    started = time.process_time()
    geometry = SplineGeometry()
    if race.cut:
        corners = [(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)]
        own = [geometry.AppendPoint(*p) for p in corners]
        for i, p in enumerate(own):
            geometry.Append(["line", p, own[(i + 1) % len(own)]], bc="wall")
    else:
        geometry.AddRectangle((0, 0), (1, 1), bc="wall")
    mesh = ng.Mesh(geometry.GenerateMesh(maxh=0.25))
    x, y = ng.x, ng.y
    functions = _Functions()
    for name in ("exp", "sin", "cos", "sqrt", "atan"):
        setattr(functions, name, getattr(ng, name))
    functions.tanh = lambda z: 1 - 2 / (1 + ng.exp(2 * z))
    given = ng.CF(0.0) if race.source else race.exact(functions, x, y)
    source = race.source(functions, x, y) if race.source else _applied(race, given, x, y)
    space = ng.H1(mesh, order=order, dirichlet="wall", autoupdate=True)
    flux = ng.VectorH1(mesh, order=order, autoupdate=True)
    u, v = space.TnT()
    wind = ng.CF(race.wind)
    bonus = ng.dx(bonus_intorder=6)
    a = ng.BilinearForm(space)
    a += (race.eps * ng.grad(u) * ng.grad(v) + wind * ng.grad(u) * v + race.c * u * v) * ng.dx
    f = ng.LinearForm(space)
    f += source * v * bonus
    found = ng.GridFunction(space, autoupdate=True)
    recovered = ng.GridFunction(flux, autoupdate=True)
    points = race.points()
    truth = reference(race, points)
    aside = 0.0
    while True:
        a.Assemble()
        f.Assemble()
        found.Set(given, definedon=mesh.Boundaries("wall"))
        rest = f.vec - a.mat * found.vec
        inverse = a.mat.Inverse(space.FreeDofs(), inverse="umfpack" if any(race.wind) else "")
        found.vec.data += inverse * rest
        now = time.process_time()
        values = np.asarray(found(mesh(*points.T))).ravel()
        error = float(np.abs(values - truth).max() / max(1.0, np.abs(truth).max()))
        aside += time.process_time() - now
        yield time.process_time() - started - aside, error, space.ndof
        recovered.Set(ng.grad(found))
        gap = recovered - ng.grad(found)
        marks = np.asarray(ng.Integrate(gap * gap, mesh, ng.VOL, element_wise=True))
        mesh.ngmesh.Elements2D().NumPy()["refine"] = marks > MARKED * marks.max()
        mesh.Refine()


def _applied(race: Race, u: Any, x: Any, y: Any) -> Any:
    """Return the operator applied to a coefficient function."""
    ux, uy = u.Diff(x), u.Diff(y)
    a, b = race.wind
    return -race.eps * (ux.Diff(x) + uy.Diff(y)) + a * ux + b * uy + race.c * u


def elements_to(race: Race) -> dict[float, tuple[float, float, int, int]]:
    """Return for each tolerance the fewest seconds, with the error, unknowns and order."""
    best: dict[float, tuple[float, float, int, int]] = {}
    for order in ORDERS:
        left = list(TOLERANCES)
        for seconds, error, unknowns in by_elements(race, order):
            for tol in [t for t in left if error <= t]:
                left.remove(tol)
                if tol not in best or seconds < best[tol][0]:
                    best[tol] = seconds, error, unknowns, order
            if not left or seconds > SECONDS or unknowns > UNKNOWNS:
                break
    return best


def main() -> None:
    """Run one side and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=("sharpfront", "ngsolve"))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    print("| problem | tol | s | error | unknowns |\n| --- | ---: | ---: | ---: | ---: |")
    for race in races():
        if options.names and not any(n in race.name for n in options.names):
            continue
        if options.side == "ngsolve":
            best = elements_to(race)
            for tol in TOLERANCES:
                s, error, count, order = best.get(tol, (math.inf, math.inf, 0, 0))
                row = f"{s:.2f} | {error:.1e} | {count} of order {order}"
                print(f"| {race.name} | {tol:.0e} | {row} |", flush=True)
            continue
        for tol in TOLERANCES:
            s, error, count = by_sharpfront(race, tol)
            print(f"| {race.name} | {tol:.0e} | {s:.2f} | {error:.1e} | {count} |", flush=True)


if __name__ == "__main__":
    main()
