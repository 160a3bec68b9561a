"""Curved shapes in the plane at the solver's defaults: smooth problems, small holes, layers.

Run by hand: ``python benchmarks/curves.py [NAME ...]``. Prints Markdown, a row for each problem
whose name contains one of the names, or for all. Errors are the largest over points of the domain,
of its boundary, of lines along the normals that are graded into layers and of every patch, relative
to max(1, max|u|). Seconds are those of one core.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ive, kve
from suites.row import Row

import sharpfront as sf
from sharpfront.catalog import BIHARMONIC_PETAL, PETAL, PIERCED_SQUARE
from sharpfront.measure import max_error

SQUARE = sf.Box((0, 1), (0, 1))
# Depths at which points are looked at along normals, as shares of the domain's size.
DEPTHS = np.concatenate([[0.0], np.geomspace(1e-6, 0.3, 24)])


def main() -> None:
    """Solve and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names")
    names = parser.parse_args().names
    print("| problem | tol | outcome | estimate | error | functions | solves | s |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for row in rows():
        if not names or any(name.lower() in row.name.lower() for name in names):
            print(line(row), flush=True)


def line(row: Row) -> str:
    """Return a row of the table."""
    problem = row.problem()
    started = time.process_time()
    try:
        solution = sf.solve(problem, tol=row.tol)
    except sf.SharpfrontError as error:
        return f"| {row.name} | {row.tol:.0e} | {type(error).__name__} | | | | | |"
    seconds = time.process_time() - started
    errors = [_error(solution, problem.domain, f, u) for u, f in row.exact.items()]
    solves = solution.diagnostics.get("linear_solves", len(solution.history))
    return (
        f"| {row.name} | {row.tol:.0e} | {solution.outcome.kind} | {solution.error_estimate:.1e} | "
        f"{max(errors, default=math.nan):.1e} | {solution.kernels} | {solves} | {seconds:.1f} |"
    )


def _error(solution: sf.Solution, domain: Any, exact: Any, unknown: str) -> float:
    found = [domain.boundary(part, 200) for part in domain.parts]
    points = np.concatenate([b.points for b in found])
    normals = np.concatenate([b.normals for b in found])
    size = float(np.ptp(domain.bounds, axis=0).max())
    lines = [points - size * d * normals for d in DEPTHS]
    patches = solution.approximation.bases[unknown].patches
    inside = [patch.spread(np.array([-0.97, -0.6, 0.03, 0.5, 0.99])) for patch in patches]
    every = np.concatenate([domain.sample(4000), *lines, *inside])
    every = every[domain.contains(every)]
    return max_error(getattr(solution, unknown), exact, every)


def rows() -> Iterator[Row]:
    """Yield all problems."""
    yield from _smooth()
    yield from _holes()
    yield from _others()
    yield from _layers()
    yield from _fronts()


def _wavy(x: Any, y: Any) -> Any:
    return np.exp(x) * np.sin(2 * y) + np.cos(5 * x - 3 * y)


def _poisson(domain: Any, kind: str = "values") -> sf.Problem:
    def source(x: Any, y: Any) -> Any:
        return 3 * np.exp(x) * np.sin(2 * y) + 34 * np.cos(5 * x - 3 * y)

    def boundary(u: Any, x: Any, y: Any) -> Any:
        value, slope = u - _wavy(x, y), u.dn - _wavy(x, y).dn
        return {"values": value, "mixed": value + slope}[kind]

    return sf.Problem(domain, lambda u, x, y: -sf.laplacian(u) - source(x, y), boundary=boundary)


def _ellipse(a: float = 1.0, b: float = 0.5) -> Any:
    return sf.Implicit(lambda x, y: (x / a) ** 2 + (y / b) ** 2 - 1, ((-1.2, 1.2), (-1.2, 1.2)))


def _petal() -> Any:
    def level(x: Any, y: Any) -> Any:
        return np.hypot(x, y) - 1 - 0.3 * np.cos(5 * np.arctan2(y, x))

    return sf.Implicit(level, ((-1.5, 1.5), (-1.5, 1.5)))


def _smooth() -> Iterator[Row]:
    ring = sf.Disk((0, 0), 1) - sf.Disk((0.2, 0.1), 0.4).named("hole")
    shapes = {
        "disk": lambda: sf.Disk((0.1, -0.2), 0.9),
        "ellipse": _ellipse,
        "petal": _petal,
        "eccentric ring": lambda: ring,
        "square with a hole": lambda: SQUARE - sf.Disk((0.5, 0.5), 0.2),
        "box and disk": lambda: sf.Box((0, 1), (0, 0.6)) | sf.Disk((0.5, 0.6), 0.4),
        "half disk": lambda: sf.Disk((0, 0), 1) & sf.HalfSpace((0, 0.1), (0.1, 1)),
        "triangle with a hole": lambda: (
            sf.Polygon([(0, 0), (2, 0), (0.5, 1.5)]) - sf.Disk((0.8, 0.5), 0.3)
        ),
    }
    for name, shape in shapes.items():
        for kind in ("values", "mixed"):
            exact = {"u": _wavy}
            yield Row(f"{name}, {kind}", lambda s=shape, k=kind: _poisson(s(), k), 1e-6, exact)
    yield Row("disk to 1e-10, values", lambda: _poisson(sf.Disk((0, 0), 1)), 1e-10, {"u": _wavy})
    for entry in (PETAL, PIERCED_SQUARE, BIHARMONIC_PETAL):
        value = entry.values[0]
        yield Row(
            f"catalogue: {entry.name}",
            lambda e=entry, v=value: e.problem(v),
            1e-6,
            {"u": entry.exact(value)},
        )


def _holes() -> Iterator[Row]:
    for radius in (1e-1, 1e-2, 1e-4):

        def exact(x: Any, y: Any) -> Any:
            return np.log(np.hypot(x - 0.4, y - 0.55)) / 5 + x

        def problem(radius: float = radius, exact: Any = exact) -> sf.Problem:
            return sf.Problem(
                SQUARE - sf.Disk((0.4, 0.55), radius),
                lambda u, x, y: sf.laplacian(u),
                boundary=lambda u, x, y: u - exact(x, y),
            )

        yield Row(f"small hole, {radius:.0e}", problem, 1e-6, {"u": exact})


def _others() -> Iterator[Row]:
    def plate() -> sf.Problem:
        shape = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0)) - sf.Disk((-0.5, 0.3), 0.2)
        return sf.Problem(
            shape,
            lambda u, x, y: -sf.laplacian(u) - 1,
            boundary=lambda u, x, y: u,
            surface=lambda u, x, y: u.dn + 2 * u,
        )

    yield Row("L-shaped plate with a cooled hole", plate, 1e-6, {})

    def bump(x: Any, y: Any) -> Any:
        return np.exp(0.5 * x) * np.cos(y)

    def nonlinear() -> sf.Problem:
        return sf.Problem(
            sf.Disk((0, 0), 1),
            lambda u, x, y: -sf.laplacian(u) + u**3 - 0.75 * bump(x, y) - bump(x, y) ** 3,
            boundary=lambda u, x, y: u - bump(x, y),
        )

    yield Row("nonlinear, disk", nonlinear, 1e-6, {"u": bump})

    def p(x: Any, y: Any) -> Any:
        return np.sin(x + y)

    def stokes() -> sf.Problem:
        # Velocity from the stream function cos x cos y.
        def vx(x: Any, y: Any) -> Any:
            return -np.cos(x) * np.sin(y)

        def vy(x: Any, y: Any) -> Any:
            return np.sin(x) * np.cos(y)

        return sf.Problem(
            sf.Disk((0, 0), 1) - sf.Disk((0.1, 0), 0.3),
            lambda u, v, p, x, y: (
                -sf.laplacian(u) + p.dx - 2 * vx(x, y) - np.cos(x + y),
                -sf.laplacian(v) + p.dy - 2 * vy(x, y) - np.cos(x + y),
                u.dx + v.dy,
            ),
            boundary=lambda u, v, p, x, y: (u - vx(x, y), v - vy(x, y)),
            conditions=sf.at((0.9, 0.0), lambda u, v, p, x, y: p - np.sin(0.9)),
        )

    yield Row(
        "Stokes, ring",
        stokes,
        1e-6,
        {"u": lambda x, y: -np.cos(x) * np.sin(y), "p": p},
    )


def _layers() -> Iterator[Row]:
    for w in (0.1, 0.01, 1e-3):

        def rim(x: Any, y: Any, w: float = w) -> Any:
            r = np.hypot(x, y)
            return 1 - ive(0, r / w) / ive(0, 1 / w) * np.exp((r - 1) / w)

        def ring(x: Any, y: Any, w: float = w) -> Any:
            a, b, r = 0.4, 1.0, np.hypot(x, y)
            far = math.exp((a - b) / w)
            matrix = [[ive(0, a / w) * far, kve(0, a / w)], [ive(0, b / w), kve(0, b / w) * far]]
            c, d = np.linalg.solve(matrix, [1.0, 1.0])
            outer, inner = ive(0, r / w) * np.exp((r - b) / w), kve(0, r / w) * np.exp((a - r) / w)
            return 1 - c * outer - d * inner

        disk, eps = sf.Disk((0, 0), 1), w * w
        for name, shape, exact in (
            ("disk", disk, rim),
            ("ring", disk - sf.Disk((0, 0), 0.4), ring),
        ):
            yield Row(
                f"{name}, eps = {eps:g}",
                lambda s=shape, e=eps: _reaction(s, e),
                1e-8,
                {"u": exact},
            )
    shapes = {
        "ellipse": _ellipse,
        "petal": _petal,
        "quartic": lambda: sf.Implicit(
            lambda x, y: x**4 + 1.5 * y**4 + 0.4 * x * y - 1, ((-1.5, 1.5), (-1.5, 1.5))
        ),
        "ring with a gap of 0.01": lambda: sf.Disk((0, 0), 1) - sf.Disk((0.49, 0), 0.5),
    }
    for name, shape in shapes.items():
        for eps in (1e-2, 1e-4, 1e-6, 1e-8):
            yield Row(f"{name}, eps = {eps:g}", lambda s=shape, e=eps: _reaction(s(), e), 1e-8, {})
    cornered = {
        "half disk": lambda: sf.Disk((0, 0), 1) & sf.HalfSpace((0, 0), (0, -1)),
        "lens": lambda: sf.Disk((-0.5, 0), 1) & sf.Disk((0.5, 0), 1),
        "quarter disk": lambda: sf.Disk((0, 0), 1) & sf.Box((0, 2), (0, 2)),
        "box with a bite at a corner": lambda: SQUARE - sf.Disk((1, 1), 0.4),
        "box with a bite in a side": lambda: SQUARE - sf.Disk((0.5, 1), 0.3),
        "box and disk": lambda: sf.Box((0, 1), (0, 0.6)) | sf.Disk((0.5, 0.6), 0.4),
    }
    for name, shape in cornered.items():
        for eps in (1e-2, 1e-4, 1e-6):
            yield Row(f"{name}, eps = {eps:g}", lambda s=shape, e=eps: _reaction(s(), e), 1e-6, {})
    for eps in (1e-2, 1e-3, 1e-4):
        yield Row(
            f"wind on a disk, eps = {eps:g}",
            lambda e=eps: sf.Problem(
                sf.Disk((0, 0), 1),
                lambda u, x, y: -e * sf.laplacian(u) + u.dx - 1,
                boundary=lambda u, x, y: u,
            ),
            1e-6,
            {},
        )
        yield Row(f"Hemker, eps = {eps:g}", lambda e=eps: _hemker(e), 1e-5, {})
        yield Row(f"Hemker at 20 degrees, eps = {eps:g}", lambda e=eps: _oblique(e), 1e-3, {})


def _hemker(eps: float) -> sf.Problem:
    """Return the wind past a hot disk, the upper half of it."""
    half = sf.Box((-3, 9), (0, 4)) - sf.Disk((0, 0), 1).named("disk")
    return sf.Problem(
        half,
        lambda u, x, y: -eps * sf.laplacian(u) + u.dx,
        left=lambda u, x, y: u,
        right=lambda u, x, y: u.dn,
        bottom=lambda u, x, y: u.dn,
        top=lambda u, x, y: u.dn,
        disk=lambda u, x, y: u - 1,
    )


def _oblique(eps: float) -> sf.Problem:
    """Return the same with a wind across the axes, all of it."""
    a, b = math.cos(math.radians(20)), math.sin(math.radians(20))
    return sf.Problem(
        sf.Box((-3, 9), (-4, 4)) - sf.Disk((0, 0), 1).named("disk"),
        lambda u, x, y: -eps * sf.laplacian(u) + a * u.dx + b * u.dy,
        boundary=lambda u, x, y: u.dn,
        left=lambda u, x, y: u,
        bottom=lambda u, x, y: u,
        disk=lambda u, x, y: u - 1,
    )


def _fronts() -> Iterator[Row]:
    """Yield fronts along curves, and straight ones that cross, -lap u = f."""
    for w in (1e-2, 1e-3, 1e-4):
        yield _circle(w)
        yield _wave(w)
    for centre, radius in (((-0.05, -0.05), 0.7), ((1.5, 0.25), 0.92)):
        yield _steep(centre, radius)
    for w in (1e-2, 1e-3, 1e-4):
        for name, turn in (("lines", 1.3), ("lines at 30 degrees", math.pi / 6)):
            yield _crossing_lines(f"crossing {name}, width {w:g}", turn, w)


def _front(name: str, exact: Any, laplacian: Any) -> Row:
    def problem() -> sf.Problem:
        return sf.Problem(
            SQUARE,
            lambda u, x, y: sf.laplacian(u) - laplacian(x, y),
            boundary=lambda u, x, y: u - exact(x, y),
        )

    return Row(name, problem, 1e-7, {"u": exact})


def _circle(w: float) -> Row:
    def step(x: Any, y: Any) -> tuple[Any, Any]:
        r = np.hypot(x - 0.5, y - 0.5)
        return r, np.tanh((0.3 - r) / w)

    def exact(x: Any, y: Any) -> Any:
        return step(x, y)[1] * (1 + x / 2) + np.sin(x + 3 * y)

    def laplacian(x: Any, y: Any) -> Any:
        r, t = step(x, y)
        steep = (1 - t * t) / w
        across = -2 * t * steep / w - steep / r
        return across * (1 + x / 2) - steep * (x - 0.5) / r - 10 * np.sin(x + 3 * y)

    return _front(f"circular front, width {w:g}", exact, laplacian)


def _wave(w: float) -> Row:
    def step(x: Any, y: Any) -> Any:
        return np.tanh((y - 0.5 - 0.1 * np.sin(2 * np.pi * x)) / w)

    def exact(x: Any, y: Any) -> Any:
        return step(x, y) + np.cos(x - y)

    def laplacian(x: Any, y: Any) -> Any:
        t = step(x, y)
        slope, bend = 0.2 * np.pi * np.cos(2 * np.pi * x), 0.4 * np.pi**2 * np.sin(2 * np.pi * x)
        steep = (1 - t * t) / w
        return -2 * t * steep / w * (1 + slope**2) + steep * bend - 2 * np.cos(x - y)

    return _front(f"wavy front, width {w:g}", exact, laplacian)


def _steep(centre: tuple[float, float], radius: float) -> Row:
    def away(x: Any, y: Any) -> Any:
        return np.hypot(x - centre[0], y - centre[1])

    def exact(x: Any, y: Any) -> Any:
        return np.arctan(1000 * (away(x, y) - radius))

    def laplacian(x: Any, y: Any) -> Any:
        r = away(x, y)
        z = 1000 * (r - radius)
        return 1000 / ((1 + z * z) * r) - 2e6 * z / (1 + z * z) ** 2

    return _front(f"steep wave front about {centre}", exact, laplacian)


def _crossing_lines(name: str, turn: float, w: float) -> Row:
    normals = [(math.cos(a), math.sin(a)) for a in (0.4, 0.4 + turn)]

    def steps(x: Any, y: Any) -> list[Any]:
        return [np.tanh((a * (x - 0.52) + b * (y - 0.46)) / w) for a, b in normals]

    def exact(x: Any, y: Any) -> Any:
        one, two = steps(x, y)
        return one + 0.5 * two + np.sin(x + 3 * y)

    def equation(u: Any, x: Any, y: Any) -> Any:
        one, two = (-2 * s * (1 - s * s) / w**2 for s in steps(x, y))
        return sf.laplacian(u) - one - 0.5 * two + 10 * np.sin(x + 3 * y)

    def problem() -> sf.Problem:
        return sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u - exact(x, y))

    return Row(name, problem, 1e-7, {"u": exact})


def _reaction(domain: Any, eps: float) -> sf.Problem:
    return sf.Problem(
        domain, lambda u, x, y: -eps * sf.laplacian(u) + u - 1, boundary=lambda u, x, y: u
    )


if __name__ == "__main__":
    main()
