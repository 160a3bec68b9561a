"""The engine on published problems in the plane, at its defaults.

Run by hand: ``python benchmarks/engine.py [NAME ...] [--reference]``. Prints Markdown, a row for
each problem whose name contains one of the names, or for all. Errors are the largest inside every
patch, relative to max(1, max|u|); where no solution is known, against a solution to a hundredth of
the tolerance, if asked for. Seconds are those of one core.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from suites import nist, scalar, systems
from suites.row import Row

import sharpfront as sf
from sharpfront.bases.patchwork import PatchworkBasis

# Positions on each axis of a patch at which errors are measured: many more than those at which the
# solver compares.
_MEASURED = np.unique([*-np.cos(np.pi * np.arange(24) / 23), *np.linspace(-1.0, 1.0, 23)])


def main() -> None:
    """Solve and print."""
    options = _options()
    rows = itertools.chain(nist.rows(), scalar.rows(), systems.rows())
    print("| problem | tol | outcome | estimate | error | est/err | functions | solves | s |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        if not options.names or any(name.lower() in row.name.lower() for name in options.names):
            print(line(row, options.reference), flush=True)


def line(row: Row, reference: bool) -> str:
    """Return a row of the table."""
    started = time.process_time()
    try:
        solution = solved(row, row.tol)
    except sf.SharpfrontError as error:
        return f"| {row.name} | {row.tol:.0e} | {type(error).__name__} | | | | | | |"
    seconds = time.process_time() - started
    exact = dict(row.exact)
    if reference and not exact and not row.figures:
        better = solved(row, 0.01 * row.tol)
        exact = {u: _values(better, u) for u in solution.unknowns}
    errors = [error_of(solution, f, u) for u, f in exact.items()]
    figures = {k: f(solution) for k, f in row.figures.items()}
    told = f"{max(errors):.1e}" if errors else ""
    told += ", ".join(f"{k} {v:.1e}" for k, v in figures.items())
    ratio = f"{solution.error_estimate / max(errors):.2g}" if errors else ""
    solves = solution.diagnostics.get("linear_solves", len(solution.history))
    return (
        f"| {row.name} | {row.tol:.0e} | {solution.outcome.kind} | {solution.error_estimate:.1e} | "
        f"{told} | {ratio} | {solution.kernels} | {solves} | {seconds:.1f} |"
    )


def solved(row: Row, tol: float) -> sf.Solution:
    """Return the solution at defaults; one equation of order two on a box on patches too."""
    return sf.solve(row.problem(), tol=tol, **_options_of(row))


def _options_of(row: Row) -> dict[str, Any]:
    problem = row.problem()
    adaptor = sf.Patches(**row.options)
    return {"adaptor": adaptor} if problem.is_linear else {}


def _values(solution: sf.Solution, unknown: str) -> Callable[..., Any]:
    return lambda *x: getattr(solution, unknown)(*x)


def error_of(solution: sf.Solution, exact: Callable[..., Any], unknown: str) -> float:
    """Return the largest error inside every patch, each as the limit from its own inside."""
    basis, weights = (getattr(solution.approximation, k)[unknown] for k in ("bases", "weights"))
    if not isinstance(basis, PatchworkBasis):
        return math.nan
    worst, size = 0.0, 1.0
    for patch in basis.patches:
        points = patch.spread(_MEASURED)
        middle = points.mean(axis=0)
        points = middle + (points - middle) * (1 - 1e-12)
        truth = np.asarray(exact(*points.T))
        gap = np.abs(basis.values(weights, points, (0,) * points.shape[1]) - truth).max()
        worst, size = max(worst, float(gap)), max(size, float(np.abs(truth).max()))
    return worst / size


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names")
    parser.add_argument("--reference", action="store_true", help="solve again, more tightly")
    return parser.parse_args()


if __name__ == "__main__":
    main()
