"""Systems in which one unknown drives another, which is nothing about a guess of zero."""

import numpy as np
import pytest

import sharpfront as sf


@pytest.mark.parametrize("current", [1.0, 1e-3, 30.0])
def test_heat_of_a_current_in_the_plane(current):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda p, h, x, y: (sf.laplacian(p), -sf.laplacian(h) - (p.dx**2 + p.dy**2)),
        left=lambda p, h, x, y: (p, h),
        right=lambda p, h, x, y: (p - current, h),
        boundary=lambda p, h, x, y: (p.dn, h.dn),
    )
    solution = sf.solve(problem, tol=1e-5)
    assert solution.converged
    assert abs(solution.h(0.5, 0.5) - current**2 / 8) < 1e-5 * max(1, current**2 / 8)


@pytest.mark.parametrize("rate", [10.0, 1e3, 1e6])
def test_a_fast_unknown_follows_a_slow_one(rate):
    problem = sf.Problem(
        sf.Interval(0, 10),
        lambda u, v, x: (u.dx + u, v.dx + rate * (v - u**2)),
        left=lambda u, v, x: (u - 1, v),
    )
    solution = sf.solve(problem, tol=1e-6)
    x = np.concatenate([np.linspace(0, 10, 501), np.geomspace(1e-3, 10, 101) / rate])
    truth = rate / (rate - 2) * (np.exp(-2 * x) - np.exp(-rate * x))
    assert solution.converged
    assert np.abs(solution.v(x) - truth).max() < 1e-6


def test_a_chain_of_three():
    problem = sf.Problem(
        sf.Interval(0, 5),
        lambda a, b, c, x: (a.dx + a**2, b.dx - a**2 + b**2, c.dx - b**2),
        left=lambda a, b, c, x: (a - 1, b, c),
    )
    solution = sf.solve(problem, tol=1e-6)
    x = np.linspace(0, 5, 101)
    assert solution.converged
    assert np.abs(solution.a(x) - 1 / (1 + x)).max() < 1e-6
    assert np.abs(solution.a(x) + solution.b(x) + solution.c(x) - 1).max() < 1e-5
