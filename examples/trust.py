"""What the library says when there is no answer, or no accurate one."""

import numpy as np

import sharpfront as sf


def main() -> dict[str, str]:
    """Return the outcome of three problems that should not be trusted."""
    interval = sf.Interval(0, 1)
    resonance = sf.Problem(interval, lambda u, x: u.dxx + np.pi**2 * u - 1, boundary=lambda u, x: u)
    forgotten = sf.Problem(interval, lambda u, x: -1e-3 * u.dxx + u.dx, left=lambda u, x: u)
    layer = sf.Problem(
        interval,
        lambda u, x: -1e-4 * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )
    outcomes = {
        "a resonance": sf.solve(resonance).outcome,
        "a condition forgotten": sf.solve(forgotten).outcome,
        "more digits than there are": sf.solve(layer, tol=1e-16).outcome,
    }
    for name, outcome in outcomes.items():
        print(f"{name}: {outcome}\n")
    return {name: str(outcome.kind) for name, outcome in outcomes.items()}


if __name__ == "__main__":
    main()
