"""In time: a shock of width 1e-3 that travels, held by nodes that travel with it."""

import numpy as np

import sharpfront as sf


def main() -> float:
    """Solve Burgers' equation u_t + u u_x = nu u_xx and return the true max error.

    u = (1 - tanh((x - t/2 - 1/4)/(4 nu)))/2, a step from one to zero that moves at half a unit.
    """
    nu = 2.5e-4

    def exact(x, t):
        return 0.5 * (1 - np.tanh((x - t / 2 - 0.25) / (4 * nu)))

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt + u * u.dx - nu * u.dxx,
        initial=lambda x: exact(x, 0.0),
        left=lambda u, x, t: u - exact(x, t),
        right=lambda u, x, t: u - exact(x, t),
        time=(0, 1),
    )
    solution = sf.solve(problem, tol=1e-5)
    print(solution)
    errors = []
    for t in (0.0, 0.3, 0.7, 1.0):
        # Points that crowd into the shock, wherever it is.
        x = 0.25 + t / 2 + 40 * nu * np.linspace(-1, 1, 801)
        errors.append(np.max(np.abs(solution(x, np.full_like(x, t)) - exact(x, t))))
    return float(max(errors))


if __name__ == "__main__":
    print(f"true max error {main():.1e}")
