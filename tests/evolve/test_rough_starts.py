"""Starts with infinite slopes or rates, and diffusion that vanishes: against exact solutions."""

import numpy as np
import pytest
from scipy.special import erfc

import sharpfront as sf
from sharpfront.evolve.degenerate_diffusion import with_diffusion
from sharpfront.evolve.time_system import time_system


def heat(initial, left, right, until, diffusivity=1.0, length=1.0):
    return sf.Problem(
        sf.Interval(0, length),
        lambda u, x, t: u.dt - diffusivity * u.dxx,
        left=left,
        right=right,
        initial=initial,
        time=(0, until),
    )


def value(u, x, t):
    return u


def slope(u, x, t):
    return u.dn


def assert_right(solution, exact, tol, soonest=1e-4):
    assert solution.converged
    low, high = solution.domain.bounds[:, 0]
    x, end = np.linspace(low, high, 301), solution.domain.time[1]
    moments = np.geomspace(soonest, 1.0, 15) * end
    since = solution.error_estimate_since or 0.0
    error = max(np.abs(solution(x, t) - exact(x, t)).max() for t in moments if t >= since)
    assert error < min(tol, 3 * solution.error_estimate)


def series(table, start, at, weights, diffusivity):
    """Return the solution by a sum over modes cos or sin(pi k x), with weights at points."""
    k = np.arange(500)
    parts = 2 * (table(np.pi * np.outer(k, at)) * weights) @ start(at)
    parts[0] /= 2

    def exact(x, t):
        return table(np.pi * np.outer(x, k)) @ (parts * np.exp(-diffusivity * (np.pi * k) ** 2 * t))

    return exact


def squared(low, high):
    """Return points and weights for what goes like a root of the distance from low."""
    z, w = np.polynomial.legendre.leggauss(700)
    z, w = (z + 1) / 2, w / 2
    return low + (high - low) * z**2, abs(high - low) * 2 * z * w


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_a_root_at_an_end(tol):
    def start(x):
        return np.sqrt(x) * (1 - x)

    solution = sf.solve(heat(start, value, value, 0.1), tol=tol)
    assert_right(solution, series(np.sin, start, *squared(0, 1), 1.0), tol)


def test_a_cusp_inside():
    def start(x):
        return np.sqrt(np.abs(x - 0.4))

    at, weights = (np.concatenate(p) for p in zip(squared(0.4, 0), squared(0.4, 1), strict=True))
    solution = sf.solve(heat(start, slope, slope, 0.1, 0.1), tol=1e-4)
    assert_right(solution, series(np.cos, start, at, weights, 0.1), 1e-4, soonest=1e-3)


def test_a_value_that_rises_like_a_root_of_time():
    def exact(x, t):
        z = x / (2 * np.sqrt(t))
        return np.sqrt(t) * (np.exp(-z * z) - np.sqrt(np.pi) * z * erfc(z))

    held = heat(lambda x: 0 * x, lambda u, x, t: u - np.sqrt(t), value, 1.0, length=10.0)
    assert_right(sf.solve(held, tol=1e-4), exact, 1e-4)


def test_conditions_hold_in_steps_that_are_far_shorter_than_the_span():
    """A value that jumps at the start: of steps from 1e-14 on, a hundred and more."""
    held = heat(lambda x: 0 * x, lambda u, x, t: u - 1, value, 1.0)
    solution = sf.solve(held, tol=1e-6)
    until = 0.005

    def exact(x, t):
        return erfc(x / (2 * np.sqrt(t)))

    assert solution.converged and solution.error_estimate_since < 1e-5
    x = np.linspace(0, 1, 301)
    for t in np.geomspace(solution.error_estimate_since, until, 9):
        assert np.abs(solution(x, t) - exact(x, t)).max() < 1e-6
    # Conditions are as exact as rounding allows.
    assert np.abs(solution(np.zeros(9), np.geomspace(1e-12, 1, 9)) - 1).max() < 1e-12


def porous(power, factor=1.0):
    """Return u_t = (u^m)_xx from compact data, an equation as a whole times a factor."""
    share, curve = 1 / (power + 1), (power - 1) / (2 * power * (power + 1))

    def exact(x, t):
        inside = 1 - curve * x**2 / (1 + t) ** (2 * share)
        return (1 + t) ** -share * np.maximum(inside, 0.0) ** (1 / (power - 1))

    problem = sf.Problem(
        sf.Interval(-5, 5),
        lambda u, x, t: factor * (u.dt - (u**power).dxx),
        boundary=lambda u, x, t: u,
        initial=lambda x: exact(x, 0.0),
        time=(0, 1),
    )
    return problem, exact


@pytest.mark.parametrize("factor", [1.0, -3.0])
def test_barenblatts_solution_of_a_porous_medium(factor):
    problem, exact = porous(2, factor)
    assert_right(sf.solve(problem, tol=1e-3), exact, 1e-3)


@pytest.mark.slow
def test_barenblatts_solution_with_vertical_fronts():
    problem, exact = porous(3)
    assert_right(sf.solve(problem, tol=1e-2), exact, 1e-2)


def test_diffusion_that_does_not_vanish_is_left_alone():
    for equation in (
        lambda u, x, t: u.dt - ((1 + u) * u.dx).dx,
        lambda u, x, t: u.dt + u * u.dx - 0.1 * u.dxx,
    ):
        system = time_system(
            sf.Problem(
                sf.Interval(0, 1),
                equation,
                boundary=value,
                initial=lambda x: np.sin(np.pi * x),
                time=(0, 1),
            )
        )
        found = with_diffusion(system, 1e-3)
        assert all(a is b for a, b in zip(found.equations, system.equations, strict=True))


@pytest.mark.parametrize("start", [0.0, 2020.0])
@pytest.mark.parametrize(
    "after",
    [
        lambda t: np.where(t > 0, 1.0, 0.0),
        lambda t: np.where(np.sin(2 * np.pi * t) <= 0, 0.0, 1.0),
        lambda t: 1.0 + 0 * t,
    ],
    ids=["where", "square wave", "contradicting"],
)
def test_what_is_switched_on_at_the_start_is_on(start, after):
    """A value of the very moment was met, and from 2020 on no step was short enough."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - 0.1 * u.dxx,
        left=lambda u, x, t: u - after(t - start),
        right=lambda u, x, t: u,
        initial=0.0,
        time=(start, start + 0.2),
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.converged
    assert solution.error_estimate_since - start < 1e-4
    x = np.linspace(0, 1, 101)
    assert np.abs(solution(x, start + 0.1) - erfc(x / 0.2)).max() < 1e-4


@pytest.mark.parametrize("off", [1e-4, 1e-6])
@pytest.mark.parametrize("tol", [1e-6, 1e-8])
def test_a_slope_that_hardly_misses_its_condition_is_met(off, tol):
    """Below 1e-4 it was left as it was, and no step was short enough."""

    def start(x):
        return 1 + off * np.sin(2 * x + 0.3)

    solution = sf.solve(heat(start, slope, slope, 1.0, length=10.0), tol=tol)
    assert solution.converged
    # Nothing flows through the ends.
    x, w = np.polynomial.legendre.leggauss(200)
    mean = w @ solution(5 + 5 * x, 1.0) / 2
    assert abs(mean - 1 - off * (np.cos(0.3) - np.cos(20.3)) / 20) < tol


@pytest.mark.parametrize("share", [0.03, 0.3, 0.7])
@pytest.mark.parametrize("tol", [1e-3, 1e-4])
def test_a_value_that_misses_its_condition_by_less_than_tol_spreads_in_short_steps(share, tol):
    """Steps that time allowed stretched its layer a hundredfold: ever more elements were asked."""

    def held(u, x, t):
        return u - 1

    solution = sf.solve(
        heat(lambda x: 1 + share * tol * np.sin(2 * x + 0.3), held, held, 1.0), tol=tol
    )
    x = np.linspace(0, 1, 101)
    assert solution.converged
    assert np.abs(solution(x, 1.0) - 1).max() < tol
