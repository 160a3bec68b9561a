"""Races jaxhps on its own two examples in the plane. Prints Markdown.

Run by hand, one thread: ``OMP_NUM_THREADS=1 python benchmarks/jaxhps_race.py``, with jaxhps
installed. Both problems are those of its hp_convergence_2D_problems: one with winds and held
values, one of waves with impedances, whose complex unknown is two real ones here. jaxhps is told
the number of levels and of points along an axis; all pairs are tried, and the least processor time
of two warm runs among those whose true error is small enough counts, compilation left out (the
first run is printed as well). sharpfront is given the statement and a tolerance, and its time
includes its own estimate.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jaxhps
import numpy as np

import sharpfront as sf

WANTED = (1e-3, 1e-5, 1e-7, 1e-9)
LEVELS, POINTS = (2, 3, 4), (12, 16, 20)
SQUARE = sf.Box((-1, 1), (-1, 1))
K, WAVES, ETA = 5, 10 * np.pi, 4.0


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return processor seconds and what came out."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def domain_of(levels: int, points: int) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Return a domain of jaxhps, its points, and what all its problems state of Laplace's terms."""
    root = jaxhps.DiscretizationNode2D(xmin=-1.0, xmax=1.0, ymin=-1.0, ymax=1.0)
    domain = jaxhps.Domain(p=points, q=points - 2, root=root, L=levels)
    x, y = np.moveaxis(np.asarray(domain.interior_points), -1, 0)
    ones = jax.numpy.ones(x.shape)
    return domain, x, y, {"domain": domain, "D_xx_coefficients": ones, "D_yy_coefficients": ones}


def of_winds(x: Any, y: Any) -> Any:
    """Return the solution of the first problem."""
    return np.sin(WAVES * x) * np.sin(np.pi * y)


def source_of_winds(x: Any, y: Any) -> Any:
    """Return its source."""
    along = WAVES * np.cos(WAVES * x) * np.sin(np.pi * y) * np.cos(K * y)
    across = np.pi * np.sin(WAVES * x) * np.cos(np.pi * y) * np.sin(K * y)
    return -(np.pi**2 + WAVES**2) * of_winds(x, y) - along + across


def winds_by_jaxhps(levels: int, points: int) -> float:
    """Return the error of jaxhps on the first problem."""
    domain, x, y, laplace = domain_of(levels, points)
    problem = jaxhps.PDEProblem(
        **laplace,
        D_x_coefficients=jax.numpy.asarray(-np.cos(K * y)),
        D_y_coefficients=jax.numpy.asarray(np.sin(K * y)),
        source=jax.numpy.asarray(source_of_winds(x, y)),
    )
    jaxhps.build_solver(problem)
    found = jaxhps.solve(problem, jax.numpy.zeros(len(domain.boundary_points)))
    return float(np.abs(np.asarray(found) - of_winds(x, y)).max())


def of_waves(x: Any, y: Any) -> Any:
    """Return the solution of the second problem, which is complex."""
    return np.exp(20j * x) + np.exp(30j * y)


def bump(x: Any, y: Any) -> Any:
    """Return the factor of the unknown."""
    return 1 + np.exp(-50 * (x**2 + y**2))


def waves_by_jaxhps(levels: int, points: int) -> float:
    """Return the error of jaxhps on the second problem, relative to the solution."""
    domain, x, y, laplace = domain_of(levels, points)
    problem = jaxhps.PDEProblem(
        **laplace,
        I_coefficients=jax.numpy.asarray(bump(x, y)),
        use_ItI=True,
        eta=ETA,
    )
    jaxhps.build_solver(problem)
    a, b = np.asarray(domain.boundary_points).T
    side = len(a) // 4
    slopes = np.concatenate(
        [
            -30j * np.exp(30j * b[:side]),
            20j * np.exp(20j * a[side : 2 * side]),
            30j * np.exp(30j * b[2 * side : 3 * side]),
            -20j * np.exp(20j * a[3 * side :]),
        ]
    )
    data = jax.numpy.asarray(slopes + 1j * ETA * of_waves(a, b))
    source = -400 * np.exp(20j * x) - 900 * np.exp(30j * y) + bump(x, y) * of_waves(x, y)
    found = jaxhps.solve(problem, data, source=jax.numpy.asarray(source))
    return float(np.abs(np.asarray(found) - of_waves(x, y)).max()) / 2.0


def winds(tol: float) -> sf.Solution:
    """Solve the first problem."""
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: (
            sf.laplacian(u) - np.cos(K * y) * u.dx + np.sin(K * y) * u.dy - source_of_winds(x, y)
        ),
        boundary=lambda u: u,
    )
    return sf.solve(problem, tol=tol)


def waves(tol: float) -> sf.Solution:
    """Solve the second problem."""

    def equations(u: Any, v: Any, x: Any, y: Any) -> Any:
        factor = bump(x, y)
        real = -400 * np.cos(20 * x) - 900 * np.cos(30 * y)
        imaginary = -400 * np.sin(20 * x) - 900 * np.sin(30 * y)
        return (
            sf.laplacian(u) + factor * (u - np.cos(20 * x) - np.cos(30 * y)) - real,
            sf.laplacian(v) + factor * (v - np.sin(20 * x) - np.sin(30 * y)) - imaginary,
        )

    def held(sign: int, axis: str) -> Any:
        def condition(u: Any, v: Any, x: Any, y: Any) -> Any:
            number, along = (20, x) if axis == "x" else (30, y)
            real = -sign * number * np.sin(number * along)
            imaginary = sign * number * np.cos(number * along)
            p, q = np.cos(20 * x) + np.cos(30 * y), np.sin(20 * x) + np.sin(30 * y)
            return (u.dn - ETA * (v - q) - real, v.dn + ETA * (u - p) - imaginary)

        return condition

    sides = {"left": (-1, "x"), "right": (1, "x"), "bottom": (-1, "y"), "top": (1, "y")}
    problem = sf.Problem(SQUARE, equations, **{name: held(*side) for name, side in sides.items()})
    return sf.solve(problem, tol=tol)


def error_of(solution: sf.Solution, name: str) -> float:
    """Return the largest error on a fine grid, relative to the solution."""
    x, y = np.meshgrid(np.linspace(-1, 1, 401), np.linspace(-1, 1, 401))
    if name == "winds":
        return float(np.abs(solution(x, y) - of_winds(x, y)).max())
    found = solution.u(x, y) + 1j * solution.v(x, y)
    return float(np.abs(found - of_waves(x, y)).max()) / 2.0


def main() -> None:
    """Print the table."""
    jax.config.update("jax_enable_x64", True)
    print(
        "| problem | wanted | jaxhps s | first run s | levels, points | its error | unknowns | ",
        end="",
    )
    print("here s | error | estimate | unknowns |")
    print("| --- |" + " ---: |" * 10, flush=True)
    for name, peer, own in (("winds", winds_by_jaxhps, winds), ("waves", waves_by_jaxhps, waves)):
        runs = []
        for levels, points in itertools.product(LEVELS, POINTS):
            first, error = seconds(partial(peer, levels, points))
            again = min(seconds(partial(peer, levels, points))[0] for _ in range(2))
            runs.append((again, first, f"{levels}, {points}", error, 4**levels * points**2))
        own(1e-2)
        for wanted in WANTED:
            good = [run for run in runs if run[3] <= wanted]
            text = "no | | | | "
            if good:
                again, first, pair, error, size = min(good)
                text = f"{again:.3f} | {first:.2f} | {pair} | {error:.1e} | {size}"
            (spent, solution), (least, _) = (seconds(partial(own, wanted)) for _ in range(2))
            print(
                f"| {name} | {wanted:.0e} | {text} | {min(spent, least):.3f} | "
                f"{error_of(solution, name):.1e} | {solution.error_estimate:.1e} | "
                f"{solution.history[-1].kernels} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
