"""Conditions that are not linear: radiation, hyperbolic and exponential laws, from many guesses."""

import numpy as np
import pytest
from scipy.optimize import brentq

import sharpfront as sf

UNIT = sf.Interval(0, 1)
LAWS = {
    "radiation": (lambda u: u**4, (0.5, 2.0)),
    "hyperbolic": (np.sinh, (1.0, 6.0)),
    "Butler-Volmer": (lambda u: np.exp(3 * u) - np.exp(-2 * u), (2.0, 30.0)),
    "cubic": (lambda u: abs(u) * u * u, (0.2, 20.0)),
}
GUESSES = [None, 0.0, 0.5, 3.0]


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("law", LAWS)
def test_at_one_end(law, guess):
    """-u'' = 0, u(0) = 0: u = s x with s + g(s) = c."""
    g, values = LAWS[law]
    for c in values:
        slope = brentq(lambda s: s + g(s) - c, 0, 10)  # noqa: B023
        problem = sf.Problem(
            UNIT,
            lambda u, x: -u.dxx,
            left=lambda u, x: u,
            right=lambda u, x: u.dn + g(u) - c,  # noqa: B023
        )
        solution = sf.solve(problem, guess=guess)
        assert solution.converged, str(solution.outcome)
        assert abs(solution(1.0) - slope) < 1e-7
        assert solution.diagnostics["linear_solves"] <= 60


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("guess", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("law", LAWS)
def test_at_both_ends(law, guess, sign):
    """-u'' = 2, u_n + g(u) = c at both ends: u = x (1 - x) + g^-1(c + 1) for g that grows."""
    g, (_, c) = LAWS[law]
    base = brentq(lambda v: g(v) - c - 1, 0, 10)
    problem = sf.Problem(
        UNIT, lambda u, x: -u.dxx - 2, boundary=lambda u, x: sign * (u.dn + g(u) - c)
    )
    solution = sf.solve(problem, guess=guess)
    assert solution.converged, str(solution.outcome)
    assert abs(solution(0.5) - 0.25 - base) < 1e-7
    assert solution.diagnostics["linear_solves"] <= 60


@pytest.mark.parametrize("law", ["radiation"])
def test_on_the_sides_of_a_box(law):
    g, (_, c) = LAWS[law]
    base = brentq(lambda v: g(v) - c, 0, 10)
    plate = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) + u - base,
        boundary=lambda u, x, y: u.dn + g(u) - c,
    )
    solution = sf.solve(plate, tol=1e-5, guess=0.5)
    assert solution.converged, str(solution.outcome)
    assert abs(solution(0.3, 0.7) - base) < 1e-4
    assert solution.diagnostics["linear_solves"] <= 60
