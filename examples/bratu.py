"""Nonlinear: Bratu's equation has two solutions, and a guess says which one is meant."""

import numpy as np
from scipy.optimize import brentq

import sharpfront as sf


def main() -> dict[str, float]:
    """Solve u'' + exp(u) = 0, u(0) = u(1) = 0 and return the true max error of both solutions.

    u = 2 log(cosh(a/4) / cosh(a (x - 1/2)/2)) with a = sqrt(2) cosh(a/4), which has two roots.
    """
    problem = sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx + np.exp(u), boundary=lambda u, x: u)
    x = np.linspace(0, 1, 1001)
    errors = {}
    for name, bracket in {"lower": (0, 4), "upper": (4, 20)}.items():
        a = brentq(lambda a: a - np.sqrt(2) * np.cosh(a / 4), *bracket, xtol=1e-14)
        height = 2 * np.log(np.cosh(a / 4))
        solution = sf.solve(problem, guess=lambda x, h=height: 4 * h * x * (1 - x))
        exact = 2 * np.log(np.cosh(a / 4) / np.cosh(a * (x - 0.5) / 2))
        errors[name] = float(np.max(np.abs(solution(x) - exact)))
        print(f"{name}: u(1/2) = {solution(0.5):.9f}, {solution}")
    return errors


if __name__ == "__main__":
    for which, error in main().items():
        print(f"{which} solution: true max error {error:.1e}")
