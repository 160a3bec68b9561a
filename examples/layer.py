"""A boundary layer of width 1e-6: five lines, nine digits."""

import numpy as np

import sharpfront as sf


def main() -> float:
    """Solve -nu u'' + u' = 0, u(0) = 0, u(1) = 1 and return the true max error."""
    nu = 1e-6
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -nu * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )
    solution = sf.solve(problem)
    print(solution)
    # Points that crowd into the layer: an even grid would not see it.
    x = 1 - np.geomspace(nu / 1000, 1, 2000)
    return float(np.max(np.abs(solution(x) - np.exp((x - 1) / nu))))


if __name__ == "__main__":
    print(f"true max error {main():.1e}")
