"""Integrals over solids inside a smooth surface, and fluxes through it."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import DomainError


@pytest.fixture(scope="module")
def solution():
    """Return x^2 + y z + 1 on a ball."""

    def exact(x, y, z):
        return x**2 + y * z + 1

    ball = sf.Ball((0.2, 0.1, -0.3), 0.7)
    return sf.solve(
        sf.Problem(
            ball,
            lambda u, x, y, z: sf.laplacian(u) - 2,
            boundary=lambda u, x, y, z: u - exact(x, y, z),
        ),
        tol=1e-3,
    )


def test_the_integral_over_a_ball(solution):
    volume = 4 / 3 * np.pi * 0.7**3
    exact = volume * (0.2**2 + 0.7**2 / 5 - 0.03 + 1)
    assert solution.integral() == pytest.approx(exact, rel=1e-6)


def test_the_flux_through_a_sphere_is_what_the_equation_says(solution):
    inside = 2 * 4 / 3 * np.pi * 0.7**3
    assert abs(solution.flux("surface")) == pytest.approx(inside, rel=1e-5)


def test_other_solids_are_refused():
    solid = sf.Ball((0, 0, 0), 1) & sf.HalfSpace((0, 0, 0), (1, 1, 0))
    problem = sf.Problem(
        solid, lambda u, x, y, z: sf.laplacian(u), boundary=lambda u, x, y, z: u - x
    )
    with pytest.raises(DomainError, match="solids"):
        sf.solve(problem, tol=1e-2).integral()
