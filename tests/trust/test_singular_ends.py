"""Ends at which an equation loses its order: infinite coefficients, conditions that say nothing."""

import numpy as np
import pytest
from scipy.special import jv

import sharpfront as sf


def given(number):
    return lambda u, x: u - number


def slope(u, x):
    return u.dx


def solved(equation, left=None, right=None, ends=(0, 1), tol=1e-8, **options):
    parts = {k: v for k, v in (("left", left), ("right", right)) if v is not None}
    return sf.solve(sf.Problem(sf.Interval(*ends), equation, **parts), tol=tol, **options)


@pytest.mark.parametrize(
    ("equation", "left", "right"),
    [
        (lambda u, x: x * u.dxx - u.dx, slope, given(1)),
        (lambda u, x: u.dxx - u.dx / x, slope, given(1)),
        (lambda u, x: (1 - x) * u.dxx + u.dx, given(1), slope),
        (lambda u, x: x * u.dxx - 2 * u.dx + u, lambda u, x: u - 2 * u.dx, given(1)),
        (lambda u, x: x**2 * u.dxx - 2 * x * u.dx + 2 * u, given(0), given(1)),
        (lambda u, x: u.dxx + u / (4 * x**2), given(0), given(1)),
        (lambda u, x: x * u.dx - 2 * u, given(0), None),
    ],
)
def test_a_condition_that_all_solutions_meet_holds_none(equation, left, right):
    """They were called converged: two discretisations agree on one of many solutions."""
    outcome = solved(equation, left, right).outcome
    assert outcome.kind == "ill-posed" and "says nothing" in outcome.detail


def sphere(x):
    return np.sinc(x / np.pi)


@pytest.mark.parametrize(
    ("equation", "left", "right", "ends", "exact"),
    [
        (lambda u, x: x * u.dxx - u.dx, given(0), given(1), (0, 1), np.square),
        (lambda u, x: u.dxx - 2 * u / x**2, given(0), given(1), (0, 1), np.square),
        (lambda u, x: x * u.dxx + u.dx - 4 * x, slope, given(1), (0, 1), np.square),
        (lambda u, x: u.dxx + u.dx / x + u, slope, given(jv(0, 9)), (0, 9), lambda x: jv(0, x)),
        (lambda u, x: u.dxx + 2 / x * u.dx + u, lambda u, x: (u - 1, u.dx), None, (0, 9), sphere),
        (lambda u, x: u.dxx + np.exp(x) / x * u.dx, slope, given(2), (0, 1), lambda x: 2 + 0 * x),
        (lambda u, x: u.dxx - u.dx / (1 - x) - 4, given(1), slope, (0, 1), lambda x: (1 - x) ** 2),
        (
            lambda u, x: u.dxx + 2 / x * u.dx + u**5,
            lambda u, x: (u - 1, u.dx),
            None,
            (0, 5),
            lambda x: (1 + x**2 / 3) ** -0.5,
        ),
    ],
)
def test_what_is_infinite_at_an_end_is_solved_as_it_is_written(equation, left, right, ends, exact):
    solution = solved(equation, left, right, ends)
    x = np.linspace(*ends, 301)
    assert solution.converged
    assert np.abs(solution(x) - exact(x)).max() < 1e-8


def test_poles_that_no_factor_clears_are_solved_on_patches():
    solution = solved(lambda u, x: u.dxx - np.log(x), given(0), given(0), tol=1e-6)
    x = np.linspace(0.001, 1, 301)
    exact = x**2 / 2 * np.log(x) - 0.75 * x**2 + 0.75 * x
    assert solution.converged and np.abs(solution(x) - exact).max() < 1e-6


def test_a_pole_of_an_eigenvalue_problem_is_cleared():
    atom = sf.Problem(
        sf.Interval(0, 60),
        lambda u, lam, x: -u.dxx / 2 - u / x - lam * u,
        boundary=lambda u, x: u,
    )
    assert np.abs(sf.eigs(atom, k=2, near=-0.5).values - [-0.5, -0.125]).max() < 1e-8
