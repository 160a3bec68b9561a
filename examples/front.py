"""A circular front of width 5e-3: kernels find it and lie along it."""

from pathlib import Path

import numpy as np

import sharpfront as sf
from sharpfront import catalog
from sharpfront.adapt import ResolveSpace


def main(picture: Path | None = None) -> tuple[float, float]:
    """Return the true max error and how much longer than wide the kernels on the front are.

    -w^2 lap u + u = f with u = tanh((r - 1/4)/(2w)), r the distance from the middle of the square.
    """
    w = 5e-3
    entry = catalog.CIRCULAR_FRONT
    # By default this front is solved on patches, and only narrower ones in this way.
    solution = sf.solve(entry.problem(w), tol=1e-4, adaptor=ResolveSpace())
    print(solution)
    if picture is not None:
        solution.plot("kernels").figure.savefig(picture, dpi=150)
    basis = solution.approximation.bases["u"]
    near = np.abs(np.hypot(*(basis.centres - 0.5).T) - 0.25) < w
    variances = np.linalg.eigvalsh(basis.covariances[near])
    shape = float(np.median(np.sqrt(variances[:, 1] / variances[:, 0])))
    return catalog.max_error(solution, entry.exact(w), entry.points(w, per_axis=150)), shape


if __name__ == "__main__":
    error, shape = main(Path("front.png"))
    print(f"true max error {error:.1e}; kernels on the front {shape:.0f} times longer than wide")
    print("picture: front.png")
