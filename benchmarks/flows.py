"""Driven and heated cavities against published figures, and against differences of our own.

Run by hand: ``python benchmarks/flows.py [REYNOLDS ...] [--heated RAYLEIGH ...] [--tol 1e-3]``.
Prints Markdown. Driven cavities with the classical lid, for the Reynolds numbers of the tables of
Ghia, Ghia & Shin (1982): deviations of both centre lines, and the extrema beside those of Botella &
Peyret (1998) and of a second-order scheme for the stream function, extrapolated from two grids.
Heated cavities: what the warm wall gives off.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import CubicSpline
from scipy.sparse.linalg import spsolve
from suites import flows

import sharpfront as sf

LINE = np.linspace(0, 1, 2001)
GRIDS = (64, 128)
Line = Callable[[Any], Any]


def main() -> None:
    """Solve and print."""
    options = _options()
    for reynolds in options.reynolds:
        solution = _solved(f"Re = {reynolds}", flows.cavity(reynolds, flows.classical_lid), options)
        _compare(reynolds, solution)
    for rayleigh in options.heated:
        solution = _solved(f"Ra = {rayleigh:g}", flows.heated_cavity(rayleigh), options)
        published = flows.NUSSELT.get(rayleigh, float("nan"))
        print(f"\nNusselt number {flows.nusselt(solution):.5f}, published {published}.", flush=True)


def _solved(name: str, problem: sf.Problem, options: argparse.Namespace) -> sf.Solution:
    started = time.process_time()
    solution = sf.solve(problem, tol=options.tol)
    seconds = time.process_time() - started
    counts = solution.diagnostics
    print(f"\n{name}: {solution.outcome.kind}, {solution.kernels} functions, ", end="")
    print(
        f"{counts['newton_steps']} Newton steps, {counts['linear_solves']} linear solves, ", end=""
    )
    print(f"{seconds:.1f} s of one core. {solution.outcome.detail}", flush=True)
    return solution


def _compare(reynolds: int, solution: sf.Solution) -> None:
    if reynolds in flows.GHIA:
        _deviations(flows.GHIA[reynolds], reynolds, solution)
    print("\n| | least u | largest v | least v | v(0.9063, 0.5) |")
    print("| --- | ---: | ---: | ---: | ---: |")
    ours = _figures(lambda y: solution.u(0.5, y), lambda x: solution.v(x, 0.5))
    coarse, fine = (_figures(*differences(reynolds, n)) for n in GRIDS)
    rows = {"patches": ours, "differences, 128": fine, "extrapolated": (4 * fine - coarse) / 3}
    if reynolds in flows.EXTREMA:
        rows["Botella & Peyret"] = np.array(flows.EXTREMA[reynolds])
    for name, figures in rows.items():
        print(f"| {name} | " + " | ".join(f"{f:.5f}" for f in figures) + " |", flush=True)


def _deviations(table: flows.CentreLines, reynolds: int, solution: sf.Solution) -> None:
    u, v = table.deviation(solution)
    print("\n| y | u of Ghia | ours less it | x | v of Ghia | ours less it |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in zip(table.y, table.u, u, table.x, table.v, v, strict=True):
        print("| {:.4f} | {:.5f} | {:.5f} | {:.4f} | {:.5f} | {:.5f} |".format(*row))
    kept = (table.x != flows.DOUBTFUL) | (reynolds != 400)
    print(f"\nLargest: {np.abs(u).max():.5f} of u, {np.abs(v[kept]).max():.5f} of v", end="")
    print("." if kept.all() else f" without x = {flows.DOUBTFUL}, {np.abs(v).max():.5f} with it.")


def _figures(u: Line, v: Line) -> np.ndarray:
    across = v(LINE)
    return np.array([u(LINE).min(), across.max(), across.min(), float(v(flows.DOUBTFUL))])


def differences(reynolds: float, cells: int) -> tuple[CubicSpline, CubicSpline]:
    """Return u(0.5, y) and v(x, 0.5) by central differences for the stream function.

    -nu lap lap psi + psi_y (lap psi)_x - psi_x (lap psi)_y = 0, with the slope at a wall by a
    reflected value beyond it; Newton's method from rest.
    """
    h, n = 1.0 / cells, cells - 1
    one = sp.identity(n)
    d1 = sp.diags([-1.0, 1.0], [-1, 1], shape=(n, n)) / (2 * h)
    d2 = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n)) / h**2
    wall = sp.diags([1.0] + [0.0] * (n - 2) + [1.0])
    ends = sp.diags([-1.0] + [0.0] * (n - 2) + [1.0])
    d4 = sp.diags([1.0, -4.0, 6.0, -4.0, 1.0], range(-2, 3), shape=(n, n)) + wall
    dx, dy = sp.kron(d1, one).tocsr(), sp.kron(one, d1).tocsr()
    bent = sp.kron(d2, one) + sp.kron(one, d2)
    twice = (sp.kron(d4 / h**4, one) + 2 * sp.kron(d2, d2) + sp.kron(one, d4 / h**4)).tocsr()
    # lap psi on a wall is 2 psi / h^2 of the next line, and 2 / h more under the lid.
    wx = (dx @ bent + sp.kron(ends / h**3, one)).tocsr()
    wy = (dy @ bent + sp.kron(one, ends / h**3)).tocsr()
    lid = np.zeros((n, n))
    lid[:, -1] = 1.0
    lid = lid.ravel()
    psi = np.zeros(n * n)
    for _ in range(20):
        left, up, wl, wu = dx @ psi, dy @ psi, wx @ psi, wy @ psi + lid / h**2
        residual = -(twice @ psi + 2 * lid / h**3) / reynolds + up * wl - left * wu
        slope = -twice / reynolds + sp.diags(up) @ wx + sp.diags(wl) @ dy
        slope = slope - sp.diags(left) @ wy - sp.diags(wu) @ dx
        step = spsolve(slope.tocsc(), -residual)
        psi = psi + step
        if np.abs(step).max() < 1e-10:
            break
    whole = np.pad(psi.reshape(n, n), 1)
    places = np.linspace(0, 1, cells + 1)
    middle = cells // 2
    u = (whole[middle, 2:] - whole[middle, :-2]) / (2 * h)
    v = -(whole[2:, middle] - whole[:-2, middle]) / (2 * h)
    return CubicSpline(places, np.r_[0, u, 1]), CubicSpline(places, np.r_[0, v, 0])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reynolds", nargs="*", type=int, default=[100, 400], help="driven cavities")
    parser.add_argument("--heated", nargs="*", type=float, default=[], help="Rayleigh numbers")
    parser.add_argument("--tol", type=float, default=1e-3, help="tolerance")
    return parser.parse_args()


if __name__ == "__main__":
    main()
