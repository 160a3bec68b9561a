"""Bumps that formulas tell of: where they are, how far they reach, and what they take."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.place.patches.bumps import bumps_of

SQUARE = sf.Box((0, 1), (0, 1))


def gauss(x, y, centre, steep, angle=0.0):
    """Return exp(-a s^2 - b t^2) in turned coordinates."""
    s = (x - centre[0]) * np.cos(angle) + (y - centre[1]) * np.sin(angle)
    t = (y - centre[1]) * np.cos(angle) - (x - centre[0]) * np.sin(angle)
    return np.exp(-(steep[0] * s**2 + steep[1] * t**2))


def poisson(exact):
    """Return -lap u = f with the values of a function on the boundary."""
    return sf.Problem(
        SQUARE,
        lambda u, x, y: -sf.laplacian(u - exact(x, y)),
        boundary=lambda u, x, y: u - exact(x, y),
    )


@pytest.mark.parametrize("angle", [0.0, 0.6])
def test_place_and_reach_are_those_of_the_bump(angle):
    centre, steep = (0.613, 0.287), (4e3, 5e4)
    problem = poisson(lambda x, y: gauss(x, y, centre, steep, angle) + np.sin(3 * x + y))
    (bump,) = bumps_of(problem, 20.0)
    np.testing.assert_allclose(bump.centre, centre, atol=1e-6)
    edge = [bump.centre + bump.reach * side for side in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    # Nowhere on the sides of the box about it is more left than was asked for.
    along = np.linspace(-1, 1, 201)
    for axis in range(2):
        sides = np.tile(bump.centre + bump.reach, (201, 1))
        sides[:, 1 - axis] = bump.centre[1 - axis] + along * bump.reach[1 - axis]
        left = gauss(*sides.T, centre, steep, angle).max()
        assert np.exp(-20.0 - np.log(1e6)) < left < np.exp(-20.0)
    assert np.all(np.array(edge) > 0)


def test_each_bump_is_found_once():
    def exact(x, y):
        wide, narrow = gauss(x, y, (0.3, 0.3), (2e4, 2e4)), gauss(x, y, (0.7, 0.6), (3e5, 3e5))
        return wide + narrow * (1 + x)

    centres = sorted(tuple(np.round(b.centre, 6)) for b in bumps_of(poisson(exact), 20.0))
    assert centres == [(0.3, 0.3), (0.7, 0.6)]


@pytest.mark.parametrize(
    "exact",
    [
        lambda x, y: np.exp(-((np.hypot(x - 0.5, y - 0.5) - 0.3) ** 2) / 1e-4),  # a ring
        lambda x, y: np.exp(-x / 1e-3) + 0 * y,  # a layer
        lambda x, y: np.exp(-3 * (x - 0.5) ** 2 - 2 * (y - 0.5) ** 2),  # nothing narrow
        lambda x, y: np.exp(-1e4 * ((x - 1.5) ** 2 + (y - 0.5) ** 2)),  # not in the domain
    ],
)
def test_what_is_no_bump_is_not_taken_for_one(exact):
    assert bumps_of(poisson(exact), 20.0) == []


def test_a_peak_takes_few_functions():
    def exact(x, y):
        return gauss(x, y, (0.51, 0.117), (1e5, 1e5))

    solution = sf.solve(poisson(exact), tol=1e-5)
    away = np.geomspace(1e-5, 0.3, 60)
    x, y = 0.51 + 0.6 * away, 0.117 + 0.8 * away
    assert solution.converged
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1e-5
    # With halving alone 4 300.
    assert solution.kernels < 2_800


def test_ridges_are_no_bumps():
    """Along a ridge second derivatives are zero, or rounding of either sign."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        a, w, c = rng.uniform(0, np.pi), 10 ** rng.uniform(-3, -1), rng.uniform(0, 1)

        def equation(u, x, y, a=a, w=w, c=c):
            return -sf.laplacian(u) - np.exp(-(((np.cos(a) * x + np.sin(a) * y - c) / w) ** 2))

        assert bumps_of(sf.Problem(SQUARE, equation, boundary=lambda u, x, y: u), 20.0) == []
