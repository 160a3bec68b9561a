"""An outflow layer of width 1e-4 on a square: six digits in a fraction of a second."""

import numpy as np

import sharpfront as sf


def main() -> float:
    """Solve -eps lap u + u_x = f with u = (x - exp((x - 1)/eps)) sin(pi y), return the max error.

    The flow leaves through the right side, where u falls from 1 to 0 within a few eps.
    """
    eps = 1e-4

    def exact(x, y):
        return (x - np.exp((x - 1) / eps)) * np.sin(np.pi * y)

    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: (
            -eps * sf.laplacian(u) + u.dx - np.sin(np.pi * y) - eps * np.pi**2 * exact(x, y)
        ),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-6)
    print(solution)
    # Points that crowd into the layer along x, and even ones along y.
    x = np.concatenate([np.linspace(0, 1, 100), 1 - np.geomspace(eps / 1000, 1, 400)])[:, None]
    y = np.linspace(0, 1, 100)
    return float(np.max(np.abs(solution(x, y) - exact(x, y))))


if __name__ == "__main__":
    print(f"true max error {main():.1e}")
