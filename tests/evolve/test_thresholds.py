"""Rates that jump where an unknown passes a value."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.equation.edges import switches
from sharpfront.evolve.thresholds import without_thresholds
from sharpfront.evolve.time_system import time_system

LEVEL = 0.3


def speed_and_rates(level):
    """Return the speed of McKean's front, and how it rises and falls."""
    # a m = (1 - a) p for p, m = (-+ c + sqrt(c^2 + 4)) / 2, so that the slope goes on.
    share = (1 - 2 * level) / np.sqrt(level * (1 - level))
    root = np.sqrt(share**2 + 4)
    return share, (root - share) / 2, (root + share) / 2


def front(x, t, level=LEVEL):
    speed, rise, fall = speed_and_rates(level)
    z = x - speed * t
    return np.where(
        z > 0,
        level * np.exp(-fall * np.maximum(z, 0)),
        1 - (1 - level) * np.exp(rise * np.minimum(z, 0)),
    )


def mckean(source):
    """Return McKean's front over a time of one."""
    return sf.Problem(
        sf.Interval(-8, 10),
        lambda u, x, t: u.dt - u.dxx + u - source(u),
        boundary=lambda u, x, t: u - front(x, t),
        initial=lambda x: front(x, 0.0),
        time=(0, 1),
    )


@pytest.mark.parametrize(
    "source",
    [
        lambda u: np.where(u > LEVEL, 1.0, 0.0),
        lambda u: np.heaviside(u - LEVEL, 0.5),
        lambda u: 1.0 - (u < LEVEL),
    ],
)
def test_a_front_whose_source_jumps_with_u(source):
    solution = sf.solve(mckean(source), tol=1e-3)
    x = np.linspace(-8, 10, 401)
    error = np.abs(solution.u(x, np.ones_like(x)) - front(x, 1.0)).max()
    assert solution.converged
    assert error < min(solution.error_estimate, 1e-3)


@pytest.mark.parametrize(("level", "tol"), [(0.25, 1e-4), (0.3, 1e-4), (0.35, 1e-3), (0.4, 1e-3)])
def test_a_jump_that_goes_along_between_two_points_is_seen(level, tol):
    """Long elements that go along with it do not see where it is, and its speed is wrong.

    It goes from element to element if nodes are slower, in far more and shorter steps.
    """
    problem = sf.Problem(
        sf.Interval(-8, 16),
        lambda u, x, t: u.dt - u.dxx + u - np.where(u > level, 1.0, 0.0),
        boundary=lambda u, x, t: u - front(x, t, level),
        initial=lambda x: front(x, 0.0, level),
        time=(0, 4),
    )
    solution = sf.solve(problem, tol=tol)
    x = np.linspace(-8, 16, 2401)
    error = max(np.abs(solution(x, t) - front(x, t, level)).max() for t in np.linspace(0.1, 4, 40))
    assert solution.converged and error < min(0.3 * solution.error_estimate, tol)
    assert len(solution.history) <= 10


@pytest.mark.parametrize("level", [0.13, 0.4, 0.9])
def test_a_switch_that_holds_the_solution(level):
    """It rises until it is at the switch, and stays there."""
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - 0.1 * u.dxx - np.where(u < level, 1.0, -1.0),
        boundary=lambda u, x, t: u.dn,
        initial=lambda x: 0 * x,
        time=(0, 1),
    )
    solution = sf.solve(problem, tol=1e-3)
    t = np.linspace(0, 1, 101)
    error = np.abs(solution(0.5, t) - np.minimum(t, level)).max()
    assert solution.converged
    assert error < min(solution.error_estimate, 1e-3)


def test_what_is_rounded_and_what_is_not():
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: (
            u.dt
            - u.dxx
            - np.where((u > 0.5) & ~(u > 0.8) | (u < -1), x, t)
            - np.sign(u - 0.2)
            - np.where(x < 0.5, 1.0, 0.0)
            - np.abs(u)
            - np.where(u.dx > 0.0, 1.0, 0.0)
        ),
        boundary=lambda u, x, t: u,
        initial=0.0,
        time=(0, 1),
    )
    system = time_system(problem)
    smooth = without_thresholds(system, 1e-8)
    # Left are those on x, on a slope, and the bend of |u|.
    assert sum(len(switches(e.expression)) for e in smooth.equations) == 3
    leaves = {("coordinate", "x"): np.array([0.7]), ("coordinate", "t"): np.array([0.3])}
    for level in (-1.5, 0.0, 0.1, 0.6, 0.9):
        for orders in ((0, 1), (1, 0), (2, 0)):
            leaves["derivative", "u", orders] = np.array([-1.0])
        leaves["derivative", "u", (0, 0)] = np.array([level])
        values = [s.equations[0].at(leaves, 1)[0] for s in (system, smooth)]
        assert values[0] == pytest.approx(values[1], abs=1e-9)


def test_without_thresholds_nothing_is_changed():
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx - np.where(x < 0.5, 1.0, 0.0) * u,
        boundary=lambda u, x, t: u,
        initial=0.0,
        time=(0, 1),
    )
    system = time_system(problem)
    assert without_thresholds(system, 1e-6) is system


def driven(speed=0.6, reach=0.05, height=10.0, diffusion=0.02):
    """Return a source in a window that goes along, and the wave that it drives."""
    p = speed / diffusion

    def wave(s):
        slope = -height / speed * (1 - np.exp(-2 * p * reach))
        top = -slope / p
        inner = np.clip(s, -reach, reach)
        grown = (np.exp(-2 * p * reach) - np.exp(-p * (inner + reach))) / p
        within = top + height / speed * (reach - inner + grown)
        return np.where(s > reach, top * np.exp(-p * np.maximum(s - reach, 0.0)), within)

    def exact(x, t):
        return wave(x - 0.2 - speed * t)

    given = sf.function(exact)
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: (
            u.dt - diffusion * u.dxx - np.where(np.abs(x - 0.2 - speed * t) < reach, height, 0.0)
        ),
        boundary=lambda u, x, t: u - given(x, t),
        initial=lambda x: exact(x, 0.0),
        time=(0, 1),
    )
    return problem, exact


@pytest.mark.parametrize("tol", [1e-3, 1e-4])
def test_a_window_that_goes_along_is_followed(tol):
    """Steps ended where it came to one Gauss point after the other."""
    problem, exact = driven()
    solution = sf.solve(problem, tol=tol)
    assert solution.converged and len(solution.history) < 300
    x, t = np.meshgrid(np.linspace(0, 1, 401), np.linspace(0, 1, 41))
    assert np.abs(solution(x, t) - exact(x, t)).max() < tol * np.abs(exact(x, t)).max()


def test_a_diffusivity_that_jumps_at_a_place_that_moves():
    def stated(tol):
        return sf.solve(
            sf.Problem(
                sf.Interval(0, 1),
                lambda u, x, t: u.dt - np.where(x < 0.3 + 0.4 * t, 0.1, 0.01) * u.dxx,
                boundary=lambda u, x, t: u,
                initial=lambda x: np.sin(np.pi * x),
                time=(0, 1),
            ),
            tol=tol,
        )

    rough, fine = stated(1e-2), stated(1e-3)
    assert rough.converged and fine.converged
    x, t = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 21))
    assert np.abs(rough(x, t) - fine(x, t)).max() < 1e-2
