"""Materials and loads with reactions that are not linear."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import ProblemError

SQUARE = sf.Box((0, 1), (0, 1))


def upright(x, y):
    return np.where(x < 0.4, 1.0, 5.0)


def slanted(x, y):
    return np.where(x + y > 1, 7.0, 1.0)


@pytest.mark.parametrize(
    ("k", "exact", "rest"),
    [
        (
            upright,
            lambda x, y: 1 + np.sin(2 * y) * (x - 0.4) / upright(x, y),
            lambda x, y: 4 * np.sin(2 * y) * (x - 0.4),
        ),
        (slanted, lambda x, y: 2 + (x + y - 1) / slanted(x, y), lambda x, y: 0 * x),
    ],
)
def test_a_plate_of_two_materials_with_a_cubic_reaction(k, exact, rest):
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: u**3 - sf.div(k(x, y) * sf.grad(u)) - rest(x, y) - exact(x, y) ** 3,
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-6)
    assert solution.converged, solution.outcome
    x, y = np.random.default_rng(0).random((2, 300))
    error = np.abs(solution(x, y) - exact(x, y)).max()
    assert error < 1e-6
    assert error < 3 * solution.error_estimate + 1e-12


def k_of_rod(x):
    return np.where(x < 0.6, 1.0, 100.0)


@pytest.mark.parametrize(
    ("exact", "rest"),
    [
        (lambda x: 1 + (x - 0.6) / k_of_rod(x), lambda u, x: -(k_of_rod(x) * u.dx).dx),
        (
            lambda x: 1 + np.sin(x) - 0.5 * np.abs(x - 0.3),
            lambda u, x: -u.dxx - np.sin(x) - sf.delta(x - 0.3),
        ),
    ],
)
def test_a_rod_of_two_materials_and_a_load_with_an_exponential_reaction(exact, rest):
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: np.exp(u) - np.exp(exact(x)) + rest(u, x),
        boundary=lambda u, x: u - exact(x),
    )
    solution = sf.solve(problem, tol=1e-8)
    assert solution.converged, solution.outcome
    x = np.linspace(0, 1, 200)
    assert np.abs(solution(x) - exact(x)).max() < 1e-8


@pytest.mark.parametrize(
    "equation",
    [
        lambda u, x, y: -(slanted(x, y) * (1 + u**2) * u.dx).dx - (slanted(x, y) * u.dy).dy - 1,
        lambda u, x, y: -sf.div(slanted(x, y) * sf.grad(u)) + u * u.dx - 1,
    ],
)
def test_fluxes_and_winds_that_are_not_linear_are_refused(equation):
    with pytest.raises(ProblemError, match="terms of values"):
        sf.solve(sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u))
