"""A circular front of width 5e-3: its curve is found in the formula, strips along it hold it."""

from pathlib import Path

import sharpfront as sf
from sharpfront import catalog, measure


def main(picture: Path | None = None) -> tuple[float, int]:
    """Return the true max error, and how many functions the front took.

    -w^2 lap u + u = f with u = tanh((r - 1/4)/(2w)), r the distance from the middle of the square.
    """
    w = 5e-3
    entry = catalog.CIRCULAR_FRONT
    solution = sf.solve(entry.problem(w), tol=1e-4)
    print(solution)
    if picture is not None:
        solution.plot("kernels").figure.savefig(picture, dpi=150)
    points = entry.points(w, per_axis=150)
    return measure.max_error(solution, entry.exact(w), points), solution.kernels


if __name__ == "__main__":
    error, functions = main(Path("front.png"))
    print(f"true max error {error:.1e} with {functions} functions")
    print("picture: front.png")
