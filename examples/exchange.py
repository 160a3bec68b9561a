"""A system: two streams side by side that exchange heat, with a layer in one of them."""

import numpy as np

import sharpfront as sf


def main() -> float:
    """Solve -eps u'' + u - v = 0, -v'' + v - u = f and return the true max error of both.

    v = x (1 - x) + sin(pi x) and u = v + exp(-x/s) + exp((x - 1)/s), s = sqrt(eps), up to what
    eps v'' adds, which goes into the right-hand side.
    """
    eps = 1e-6
    s = np.sqrt(eps)

    def cold(x):
        return x * (1 - x) + np.sin(np.pi * x)

    def bent(x):
        return -2 - np.pi**2 * np.sin(np.pi * x)

    def warm(x):
        return cold(x) + np.exp(-x / s) + np.exp((x - 1) / s)

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (
            -eps * u.dxx + u - v + eps * bent(x),
            -v.dxx + v - u + bent(x) + np.exp(-x / s) + np.exp((x - 1) / s),
        ),
        boundary=lambda u, v, x: (u - warm(x), v - cold(x)),
    )
    solution = sf.solve(problem)
    print(solution)
    near = s * np.geomspace(1e-3, 1 / s / 2, 1000)
    x = np.concatenate([near, 1 - near])
    return float(max(abs(solution.u(x) - warm(x)).max(), abs(solution.v(x) - cold(x)).max()))


if __name__ == "__main__":
    print(f"true max error {main():.1e}")
