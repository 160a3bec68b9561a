"""The same layer by the paper's algorithm and by the default: what each says of itself."""

import sharpfront as sf
from sharpfront import catalog, measure


def main() -> dict[str, tuple[float, float]]:
    """Return for each method its own estimate and its true max error."""
    nu = 1e-4
    entry = catalog.SINGLE_LAYER
    problem = entry.problem(nu)
    points = measure.graded_points(problem.domain, entry.features(nu))
    results = {}
    for name, adaptor in {"paper": sf.Paper(), "default": sf.Resolve()}.items():
        solution = sf.solve(problem, adaptor=adaptor)
        error = measure.max_error(solution, entry.exact(nu), points)
        print(f"{name:8s} {solution}; true error {error:.1e}")
        results[name] = (solution.error_estimate, error)
    return results


if __name__ == "__main__":
    main()
