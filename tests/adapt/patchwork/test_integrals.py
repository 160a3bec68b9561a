"""Conditions on integrals and at points, on patches."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import OutcomeKind

L_SHAPE = sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0))


def wavy(x, y):
    return np.cos(np.pi * x) * np.cos(np.pi * y)


def slopes_all_round(conditions, balance=0.0):
    """The equation of cos(pi x) cos(pi y), with no flux on any side of an L."""
    return sf.Problem(
        L_SHAPE,
        lambda u, x, y: -sf.laplacian(u) - 2 * np.pi**2 * wavy(x, y) - balance,
        boundary=lambda u, x, y: u.dn,
        conditions=conditions,
    )


def inside(count=500):
    points = np.random.default_rng(1).uniform(-1, 1, (count, 2))
    return points[L_SHAPE.contains(points)].T


@pytest.mark.parametrize(("weight", "equals"), [(1.0, 4.5), (3.0, -2.0)])
def test_slopes_all_round_with_an_integral(weight, equals):
    # The integral of cos cos over the L is zero.
    problem = slopes_all_round([sf.integral(lambda u, x, y: weight * u, equals=equals)])
    solution = sf.solve(problem, tol=1e-6)
    x, y = inside()
    truth = wavy(x, y) + equals / (3 * weight)
    error = np.abs(solution(x, y) - truth).max() / np.abs(truth).max()
    assert solution.converged and error < 1e-6
    assert error < 3 * solution.error_estimate


def test_an_integral_over_a_part():
    # Over the square (-1, 0) x (0, 1), whose edges cut the patches.
    def part(x, y):
        return np.where((x < -0.3) & (y > 0.2), 1.0, 0.0)

    problem = slopes_all_round([sf.integral(lambda u, x, y: part(x, y) * u)])
    solution = sf.solve(problem, tol=1e-6)
    mean = (np.sin(-0.3 * np.pi) / np.pi / 0.7) * (-np.sin(0.2 * np.pi) / np.pi / 0.8)
    x, y = inside()
    assert solution.converged
    np.testing.assert_allclose(solution(x, y), wavy(x, y) - mean, atol=2e-6)


@pytest.mark.parametrize("point", [(-0.5, 0.5), (0.0, 0.5), (-1.0, -1.0)])
def test_slopes_all_round_with_a_point(point):
    problem = slopes_all_round([sf.at(point, lambda u, x, y: u - 2)])
    solution = sf.solve(problem, tol=1e-6)
    x, y = inside()
    assert solution.converged
    np.testing.assert_allclose(solution(x, y), wavy(x, y) + 2 - wavy(*point), atol=3e-6)


@pytest.mark.parametrize("balance", [1.0, -0.1])
def test_sources_and_slopes_that_do_not_balance(balance):
    problem = slopes_all_round([sf.integral(lambda u, x, y: u)], balance)
    solution = sf.solve(problem, tol=1e-3)
    assert solution.outcome.kind is OutcomeKind.ILL_POSED
    assert "until they balance" in str(solution.outcome)


def test_a_system_on_the_line_by_integrals_alone():
    problem = sf.Problem(
        sf.Interval(0, 3),
        lambda u, v, x: (u.dx - v, v.dx + np.where(x < 1, 1, 4) * u),
        conditions=[
            sf.integral(lambda u, v, x: u, equals=1.0),
            sf.integral(lambda u, v, x: x * v, equals=-0.5),
        ],
    )
    solution = sf.solve(problem, tol=1e-9)
    assert solution.converged
    z, w = np.polynomial.legendre.leggauss(60)
    total = np.zeros(2)
    for a, b in ((0, 1), (1, 3)):
        x = 0.5 * (a + b) + 0.5 * (b - a) * z
        total += 0.5 * (b - a) * np.array([w @ solution.u(x), w @ (x * solution.v(x))])
    np.testing.assert_allclose(total, [1.0, -0.5], atol=1e-9)


def test_a_rod_of_layers_held_by_its_mean():
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: (np.where(x < 0.25, 1.0, 3.0) * u.dx).dx,
        boundary=lambda u, x: np.where(x < 0.25, 1.0, 3.0) * u.dx - 6,
        conditions=[sf.integral(lambda u, x: u)],
    )
    solution = sf.solve(problem)
    x = np.linspace(0, 1, 50)
    shape = np.where(x < 0.25, 6 * x, 1.5 + 2 * (x - 0.25))
    mean = 0.25 * 0.75 + 0.75 * (1.5 + 0.75)
    assert solution.converged
    np.testing.assert_allclose(solution(x), shape - mean, atol=1e-10)
