"""Equations that are infinite at a point about solutions, and finite about zero."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp, solve_ivp
from scipy.optimize import brentq

import sharpfront as sf


def thomas_fermi(length, last):
    """Return u'' = sqrt(u^3 / x), u(0) = 1, u(length) = last, as a function of sqrt(x)."""
    t = np.linspace(0, np.sqrt(length), 200)

    def rates(t, y):
        return np.vstack([2 * t * y[1], 2 * np.maximum(y[0], 0) ** 1.5])

    start = np.vstack([1 + (last - 1) * t / t[-1], -np.ones_like(t)])
    found = solve_bvp(rates, lambda a, b: np.array([a[0] - 1, b[0] - last]), t, start, tol=1e-9)
    assert found.status == 0
    return lambda x: found.sol(np.sqrt(x))[0]


@pytest.mark.parametrize(
    "equation",
    [
        lambda u, x: u.dxx - u**1.5 / np.sqrt(x),
        lambda u, x: u.dxx - np.sqrt(u**3 / x),  # about zero it is 0 / 0 everywhere
    ],
)
@pytest.mark.parametrize(("length", "last"), [(1.0, 0.2), (3.0, 0.1)])
def test_an_atom_is_solved_up_to_its_middle(equation, length, last):
    atom = sf.Problem(
        sf.Interval(0, length), equation, left=lambda u, x: u - 1, right=lambda u, x: u - last
    )
    solution = sf.solve(atom, tol=1e-6)
    assert solution.converged, str(solution.outcome)
    x = length * np.concatenate([np.linspace(0, 1, 200), np.geomspace(1e-9, 1, 100)])
    assert np.abs(solution(x) - thomas_fermi(length, last)(x)).max() < 1e-6


def test_a_pole_in_the_middle_of_a_disk():
    # -u'' - u' / r + u^3 / r = 1 from r = 0, where r u' = 0.
    def from_the_middle(u):
        r = 1e-7
        begin = [u + u**3 * r, u**3 * r]
        rates = lambda r, y: [y[1] / r, y[0] ** 3 - r]  # noqa: E731
        return solve_ivp(rates, (r, 1), begin, rtol=1e-10, atol=1e-12, dense_output=True)

    middle = brentq(lambda u: from_the_middle(u).y[0, -1] - 1, 0.1, 1.0)
    disk = sf.Problem(
        sf.Disk((0.2, 0.1), 1),
        lambda u, x, y: -sf.laplacian(u) + u**3 / np.hypot(x - 0.2, y - 0.1) - 1,
        boundary=lambda u, x, y: u - 1,
    )
    solution = sf.solve(disk, tol=1e-3)
    assert solution.converged, str(solution.outcome)
    r, angle = np.geomspace(1e-6, 1, 60), np.linspace(0, 6, 60)
    exact = from_the_middle(middle).sol(r)[0]
    assert np.abs(solution(0.2 + r * np.cos(angle), 0.1 + r * np.sin(angle)) - exact).max() < 1e-3
