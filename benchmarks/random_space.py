"""Random manufactured problems in two and three dimensions: how the default does on them.

Run by hand: ``python benchmarks/random_space.py SEED [SEED ...] [--count 50] [--tol 1e-6]
[--plane]``. Prints the problems that are wrong, under-estimated or not converged, and the counts.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

import sharpfront as sf

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "accuracy"))

from space_cases import family, relative_error


def main() -> None:
    """Print what is not as it should be, and the counts."""
    options = _options()
    warnings.simplefilter("ignore")
    counts = dict.fromkeys(("problems", "not converged", "wrong", "under", "over"), 0)
    for case in (c for seed in options.seeds for c in family(seed, options.count)):
        if options.only and case.name.split()[0] not in options.only:
            continue
        if options.plane and case.problem.domain.dimension > 2:
            continue
        started = time.perf_counter()
        solution = sf.solve(case.problem, tol=options.tol, max_kernels=options.max_kernels)
        seconds = time.perf_counter() - started
        error, estimate = relative_error(case, solution), solution.error_estimate
        found = {
            "not converged": not solution.converged,
            "wrong": solution.converged and error > 2 * options.tol,
            "under": error > 5 * estimate and error > 1e-12,
            "over": estimate > 50 * error and error > 1e-12,
        }
        counts["problems"] += 1
        for name, is_so in found.items():
            counts[name] += is_so
        marks = ", ".join(name for name, is_so in found.items() if is_so)
        if marks or options.all:
            print(
                f"{case.name}: {marks or 'fine'}; error {error:.1e}, estimate {estimate:.1e}, "
                f"{solution.kernels} kernels, {len(solution.history)} solves, {seconds:.1f} s; "
                f"{solution.outcome.kind}: {solution.outcome.detail}",
                flush=True,
            )
    print(", ".join(f"{name} {count}" for name, count in counts.items()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--count", type=int, default=50, help="problems for each seed")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--max-kernels", type=int, help="as many as the default allows")
    parser.add_argument("--only", nargs="*", help="names of problems, SEED:NUMBER")
    parser.add_argument("--plane", action="store_true", help="leave out three dimensions")
    parser.add_argument("--all", action="store_true", help="print every problem")
    return parser.parse_args()


if __name__ == "__main__":
    main()
