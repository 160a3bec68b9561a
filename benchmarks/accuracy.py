"""Every problem of the accuracy table: kernels, solves, true error, estimate. Prints Markdown.

Run by hand: ``python benchmarks/accuracy.py``. The problems are those of ``tests/accuracy``, which
assert the bounds; this prints the figures.
"""

from __future__ import annotations

import sys
from pathlib import Path

import sharpfront as sf

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.accuracy.accuracy_cases import CASES
from tests.accuracy.test_accuracy_table import relative_error


def main() -> None:
    """Print the table and its summary."""
    print("| problem | kernels | solves | true error | estimate | estimate / truth |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    errors, ratios, kernels = [], [], []
    for case in CASES:
        solution = sf.solve(case.problem, tol=1e-8)
        error = relative_error(case, solution)
        ratio = solution.error_estimate / error
        name = case.name if solution.converged else f"{case.name} ({solution.outcome.kind})"
        print(
            f"| {name} | {solution.kernels} | {len(solution.history)} | {error:.1e} | "
            f"{solution.error_estimate:.1e} | {ratio:.2g} |"
        )
        errors.append(error)
        ratios.append(ratio)
        kernels.append(solution.kernels)
    middle = len(CASES) // 2
    print(
        f"\n{len(CASES)} problems: largest true error {max(errors):.1e}, median of kernels "
        f"{sorted(kernels)[middle]}, estimate over truth {min(ratios):.2g} to {max(ratios):.2g} "
        f"(median {sorted(ratios)[middle]:.2g})."
    )


if __name__ == "__main__":
    main()
