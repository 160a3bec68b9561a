"""The catalogue in two dimensions and more: kernels, error on a graded grid, estimate, seconds.

Run by hand: ``python benchmarks/space.py [NAME ...] [--seeds 5] [--tol 1e-6]``. Prints Markdown.
Each problem is solved with the defaults at a tolerance of its own bound, or at the one given.
"""

from __future__ import annotations

import argparse
import time

import sharpfront as sf
from sharpfront import catalog
from sharpfront.catalog import Entry
from sharpfront.measure import max_error

# What is asked of the max error, with at most 4000 kernels.
BOUNDS: list[tuple[Entry, float, float]] = [
    (catalog.OUTFLOW, 1e-2, 1e-6),
    (catalog.OUTFLOW, 1e-3, 1e-6),
    (catalog.OUTFLOW, 1e-4, 1e-6),
    (catalog.CORNER, 1e-2, 1e-5),
    (catalog.CORNER, 1e-3, 1e-4),
    (catalog.FOUR_LAYERS, 1e-2, 1e-5),
    (catalog.FOUR_LAYERS, 1e-4, 1e-4),
    (catalog.CIRCULAR_FRONT, 2e-2, 1e-5),
    (catalog.CIRCULAR_FRONT, 5e-3, 1e-4),
    (catalog.WAVY_FRONT, 1e-2, 1e-4),
    (catalog.WAVY_FRONT, 5e-3, 1e-4),
    (catalog.SHARP_SOURCE, 1e-2, 1e-7),
    (catalog.SQUARE_WAVES, 6.0, 1e-7),
    (catalog.PETAL, 4.0, 1e-7),
    (catalog.L_SHAPE, 4.0, 1e-7),
    (catalog.PIERCED_SQUARE, 4.0, 1e-7),
    (catalog.BIHARMONIC_PETAL, 5.0, 5e-5),
    (catalog.CUBE, 1.0, 1e-5),
    (catalog.BALL, 1.0, 1e-5),
    (catalog.ELLIPSOID, 1.0, 1e-5),
    (catalog.TORUS, 1.0, 1e-5),
    (catalog.HYPERCUBE, 5, 1e-7),
]


def main() -> None:
    """Print the table."""
    options = _options()
    print(
        "| problem | bound | tol | outcome | kernels | solves | max error | estimate | "
        "estimate / error | s |"
    )
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for entry, value, bound in BOUNDS:
        if options.names and entry.name not in options.names:
            continue
        tol = options.tol or bound
        flat = entry is not catalog.HYPERCUBE
        points = entry.points(value, per_axis=options.per_axis) if flat else entry.points(value)
        problem, exact = entry.problem(value), entry.exact(value)
        for seed in range(42, 42 + options.seeds):
            started = time.process_time()
            solution = sf.solve(problem, tol=tol, seed=seed)
            seconds = time.process_time() - started
            error = max_error(solution, exact, points)
            print(
                f"| {entry.name} {value:g} | {bound:.0e} | {tol:.0e} | {solution.outcome.kind} | "
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
    parser.add_argument("--per-axis", type=int, default=200, help="test points along an axis")
    return parser.parse_args()


if __name__ == "__main__":
    main()
