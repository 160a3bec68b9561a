"""The catalogue in two dimensions and more: kernels, error on a graded grid, estimate, seconds.

Run by hand: ``python benchmarks/space.py [NAME ...] [--seeds 5] [--tol 1e-6]``. Prints Markdown.
The rows are those of the frozen table, ``tests/accuracy/space_table.csv``, with the defaults at its
tolerances, or at the one given.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

# This folder has a file named like a module of the standard library; it must not come first.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tests.accuracy import frozen

import sharpfront as sf
from sharpfront.catalog import named
from sharpfront.measure import max_error

# Test points along an axis, by dimension; in more than three what the catalogue has.
PER_AXIS = {2: 200, 3: 40}


def main() -> None:
    """Print the table."""
    options = _options()
    print(
        "| problem | tol | outcome | functions | solves | max error | estimate | "
        "estimate / error | s |"
    )
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in frozen.table("space"):
        if options.names and row["problem"] not in options.names:
            continue
        entry, value = named(row["problem"]), float(row["value"])
        tol = options.tol or float(row["tol"])
        problem, exact = entry.problem(value), entry.exact(value)
        points = entry.points(value, per_axis=PER_AXIS.get(problem.domain.dimension))
        for seed in range(42, 42 + options.seeds):
            started = time.process_time()
            solution = sf.solve(problem, tol=tol, seed=seed)
            seconds = time.process_time() - started
            error = max_error(solution, exact, points)
            print(
                f"| {entry.name} {value:g} | {tol:.0e} | {solution.outcome.kind} | "
                f"{solution.kernels} | {len(solution.history)} | {error:.1e} | "
                f"{solution.error_estimate:.1e} | {solution.error_estimate / error:.2g} | "
                f"{seconds:.1f} |",
                flush=True,
            )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="entries of the catalogue, all by default")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds")
    parser.add_argument("--tol", type=float, default=0.0, help="tolerance for all of them")
    return parser.parse_args()


if __name__ == "__main__":
    main()
