"""Waves in a box: solved beside a resonance, refused at one, whatever the mesh makes of them."""

import numpy as np
import pytest

import sharpfront as sf


def waves(wave_number, sides, slope):
    """A plane wave and a smooth part; u given, or u.dn + 2 u on the left."""
    k, (a, b) = wave_number, sides

    def exact(x, y):
        return np.sin(k * (0.6 * x + 0.8 * y) + 0.3) + 0.5 * np.cos(3 * x - y)

    def left(u, x, y):
        slope_out = -0.6 * k * np.cos(k * (0.6 * x + 0.8 * y) + 0.3) + 1.5 * np.sin(3 * x - y)
        return u.dn + 2 * u - slope_out - 2 * exact(x, y)

    problem = sf.Problem(
        sf.Box((0, a), (0, b)),
        lambda u, x, y: sf.laplacian(u) + k**2 * u - 0.5 * (k**2 - 10) * np.cos(3 * x - y),
        boundary=lambda u, x, y: u - exact(x, y),
        **({"left": left} if slope else {}),
    )
    return problem, exact


@pytest.mark.parametrize(
    ("wave_number", "sides", "slope"),
    [(50.0, (1, 1), False), (50.0, (0.6, 0.4), True), (30.0, (1.3, 0.7), False)],
)
def test_short_waves_away_from_a_resonance_are_solved(wave_number, sides, slope):
    problem, exact = waves(wave_number, sides, slope)
    solution = sf.solve(problem, tol=1e-5)
    assert solution.converged, str(solution.outcome)
    x, y = problem.domain.sample(2000).T
    assert np.abs(solution(x, y) - exact(x, y)).max() < 2e-5


@pytest.mark.parametrize(
    ("sides", "modes"),
    [((1.3, 0.7), (1, 2)), ((1.0, 1.0), (5, 5)), ((1.3, 0.7), (6, 3))],
)
def test_a_resonance_is_told_whether_or_not_data_meet_it(sides, modes):
    k = np.pi * np.hypot(modes[0] / sides[0], modes[1] / sides[1])
    problem, _ = waves(k, sides, slope=False)
    assert sf.solve(problem, tol=1e-5).outcome.kind == "near-singular"
    missed = sf.Problem(
        problem.domain,
        lambda u, x, y: sf.laplacian(u) + k**2 * u - np.exp(x),
        boundary=lambda u, x, y: u,
    )
    assert sf.solve(missed, tol=1e-5).outcome.kind == "near-singular"


@pytest.mark.parametrize("corner", [(-0.5, 1.0), (1.5, 2.5)])
def test_waves_that_are_short_in_one_place_take_short_patches_there_only(corner):
    a = 1 / (8 * np.pi)

    def phase(x, y):
        return 1 / (a + np.sqrt((x - corner[0]) ** 2 + (y - corner[1]) ** 2))

    def equation(u, x, y):
        wave = u - np.sin(phase(x, y))
        return -sf.laplacian(wave) - wave * phase(x, y) ** 4

    problem = sf.Problem(
        sf.Box((-0.5, 1.5), (1.0, 2.5)),
        equation,
        boundary=lambda u, x, y: u - np.sin(phase(x, y)),
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged, str(solution.outcome)
    g = np.geomspace(1e-6, 1.0, 60)
    x, y = (c + 1.5 * g * (1 if c < 1.2 else -1) for c in corner)
    x, y = (v.ravel() for v in np.meshgrid(x, y))
    assert np.abs(solution(x, y) - np.sin(phase(x, y))).max() < 1e-3
