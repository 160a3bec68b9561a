"""Time to a given true error against ``scipy.integrate.solve_bvp``, in one process.

Run by hand: ``python benchmarks/bvp.py``. One BLAS thread; processor time, medians of at least five
runs. The peer gets analytic Jacobians, the loosest quarter-decade tolerance that meets the error,
and the best of three starting meshes. Ours gets the loosest of three tolerances around the error.
Errors are max errors on points graded into the features. The cold column is the first solve of a
fresh process, where the tables of kernels are not made yet.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_bvp

import sharpfront as sf
from sharpfront import catalog, measure
from sharpfront.arrays import blas_threads
from sharpfront.catalog import Entry
from sharpfront.rivals.contract import Subject
from sharpfront.rivals.scipy_bvp import FirstOrder

CASES: tuple[tuple[Entry, float], ...] = (
    (catalog.SINGLE_LAYER, 1e-4),
    (catalog.TWIN_LAYER, 1e-4),
    (catalog.REACTION, 1e-4),
    (catalog.TURNING_POINT, 1e-4),
    (catalog.SPIKE, 1e-3),
    (catalog.SPIKE, 1e-4),
    (catalog.OSCILLATION, 50.0),
    (catalog.SINGLE_LAYER, 1e-6),
)
TARGETS = (1e-6, 1e-9)


def median_ms(work: Callable[[], Any], runs: int) -> float:
    """Return the median processor time of a call in milliseconds."""
    times = []
    for _ in range(runs):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return 1e3 * statistics.median(times)


def ours(entry: Entry, parameter: float, target: float) -> tuple[float, str]:
    """Return the time of our solve that meets the target, and how it was set."""
    problem, exact = entry.problem(parameter), entry.exact(parameter)
    points = measure.graded_points(problem.domain, entry.features(parameter))
    best = (np.inf, "not reached")
    for tol in (3 * target, target, target / 3):
        solution = sf.solve(problem, tol=tol)
        error = measure.max_error(solution, exact, points)
        if error <= target:
            # A problem of its own for each run, so that nothing is left over from the last one.
            stated = [entry.problem(parameter) for _ in range(21)]
            ms = median_ms(lambda tol=tol, stated=stated: sf.solve(stated.pop(), tol=tol), 21)
            best = min(best, (ms, f"{solution.kernels:3d} kernels, error {error:.0e}"))
    return best


def peer(entry: Entry, parameter: float, target: float) -> tuple[float, str]:
    """Return the best time of solve_bvp that meets the target, and how it was set."""
    problem, exact = entry.problem(parameter), entry.exact(parameter)
    points = measure.graded_points(problem.domain, entry.features(parameter))
    system = FirstOrder(Subject(problem))
    best = (np.inf, "not reached")
    for nodes in (10, 50, 200):
        mesh = np.linspace(*problem.domain.bounds[:, 0], nodes)
        for tol in 10.0 ** -np.arange(2, 12.01, 0.25):
            call = lambda tol=tol, mesh=mesh: solve_bvp(  # noqa: E731
                system.right,
                system.ends_missed,
                mesh,
                np.zeros((2, len(mesh))),
                tol=tol,
                max_nodes=200_000,
                fun_jac=system.right_jacobian,
                bc_jac=system.ends_jacobian,
            )
            started = time.perf_counter()
            result = call()
            if time.perf_counter() - started > 5:
                break
            error = measure.max_error(lambda x, r=result: r.sol(x)[0], exact, points)
            if result.status == 0 and error <= target:
                best = min(best, (median_ms(call, 5), f"{nodes} nodes, tol {tol:.0e}"))
                break
    return best


_COLD = """
import time
import sharpfront as sf
from sharpfront import catalog
entry = catalog.named({name!r})
problem = entry.problem({parameter!r})
started = time.perf_counter()
sf.solve(problem, tol={tol!r})
print(1e3 * (time.perf_counter() - started))
"""


def cold_ms(entry: Entry, parameter: float, tol: float) -> float:
    """Return the time of the first solve in fresh processes, the median of three."""
    code = _COLD.format(name=entry.name, parameter=parameter, tol=tol)
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    return statistics.median(float(run.stdout) for run in runs)


def import_seconds() -> tuple[float, float]:
    """Return the median times of importing sharpfront, and of SciPy's linalg alone."""
    code = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"

    def seconds(module: str) -> float:
        command = [sys.executable, "-c", code.format(module)]
        runs = [
            subprocess.run(command, capture_output=True, text=True, check=True) for _ in "12345"
        ]
        return statistics.median(float(run.stdout) for run in runs)

    return seconds("sharpfront"), seconds("scipy.linalg")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-cold", action="store_true", help="leave out the first solves")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    mine, theirs = import_seconds()
    print(f"import sharpfront {mine:.2f} s (scipy.linalg alone {theirs:.2f} s)")
    print(f"{'problem':24s} error |   ours    cold | solve_bvp | ratio | ours with; solve_bvp with")
    with blas_threads(1):
        for entry, parameter in CASES:
            for target in TARGETS:
                (a, how), (b, peer_how) = (
                    ours(entry, parameter, target),
                    peer(entry, parameter, target),
                )
                cold = np.nan if options.no_cold else cold_ms(entry, parameter, target)
                print(
                    f"{entry.name + f' {parameter:g}':24s} {target:.0e} | {a:6.2f} {cold:7.1f} | "
                    f"{b:9.1f} | {b / a:5.1f} | {how}; {peer_how}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
