"""Coefficients that jump inside a flux, in time: the flux goes on, and the slope does not."""

import numpy as np
import pytest
from scipy.optimize import brentq

import sharpfront as sf
from sharpfront.errors import ProblemError

LINE = sf.Interval(0, 1)


def mode(place, first, second):
    """Return the slowest mode of a rod of two layers, and k m^2."""

    def flux(m):
        n = m * np.sqrt(first / second)
        left = first * m * np.cos(m * place) * np.sin(n * (1 - place))
        return left + second * n * np.cos(n * (1 - place)) * np.sin(m * place)

    grid = np.linspace(0.05, 20, 4001)
    values = flux(grid)
    i = int(np.flatnonzero(values[1:] * values[:-1] < 0)[0])
    m = brentq(flux, grid[i], grid[i + 1], xtol=1e-15)
    n = m * np.sqrt(first / second)
    share = np.sin(m * place) / np.sin(n * (1 - place))
    return (
        lambda x: np.where(x < place, np.sin(m * x), share * np.sin(n * (1 - x))),
        first * m**2,
    )


def layered(place, first, second):
    return lambda x: np.where(x < place, first, second)


def largest_error(solution, exact, place):
    x = np.unique(np.concatenate([np.linspace(0, 1, 101), place + np.geomspace(1e-6, 0.05, 15)]))
    stop = solution.domain.time[1]
    at = [np.full(len(x), t) for t in np.linspace(0.01, 1.0, 6) * stop]
    return max(np.abs(solution(x, t) - exact(x, t)).max() for t in at)


@pytest.mark.parametrize(
    ("place", "first", "second"), [(0.4, 1.0, 10.0), (0.63, 1.0, 0.01), (0.217, 3.0, 0.5)]
)
def test_a_mode_of_two_layers_decays(place, first, second):
    shape, rate = mode(place, first, second)
    k = layered(place, first, second)
    problem = sf.Problem(
        LINE,
        lambda u, x, t: u.dt - (k(x) * u.dx).dx,
        boundary=lambda u, x, t: u,
        initial=shape,
        time=(0, 0.5 / rate),
    )
    found = sf.solve(problem, tol=1e-6)
    error = largest_error(found, lambda x, t: shape(x) * np.exp(-rate * t), place)
    size = max(1.0, np.abs(shape(np.linspace(0, 1, 101))).max())
    assert found.converged and error < min(1e-7, size * found.error_estimate)
    # The flux goes on, not the slope.
    slope, t = found.d("x"), found.domain.time[1]
    beside = slope(np.array([place - 1e-9, place + 1e-9]), np.full(2, t))
    assert first * beside[0] == pytest.approx(second * beside[1], rel=1e-4)


def test_a_wave_in_two_layers(tmp_path):
    place, first, second = 0.35, 1.0, 4.0
    shape, square = mode(place, first, second)
    k = layered(place, first, second)
    problem = sf.Problem(
        LINE,
        lambda u, x, t: u.dtt - (k(x) * u.dx).dx,
        boundary=lambda u, x, t: u,
        initial={"u": shape, "u_t": 0.0},
        time=(0, 0.5),
    )
    found = sf.solve(problem, tol=1e-5)
    error = largest_error(found, lambda x, t: shape(x) * np.cos(np.sqrt(square) * t), place)
    assert found.converged and error < found.error_estimate
    found.save(tmp_path / "layers.npz")
    again = sf.load(tmp_path / "layers.npz")
    x, t = np.linspace(0, 1, 23), np.full(23, 0.3)
    assert np.array_equal(again(x, t), found(x, t))


def test_a_start_whose_flux_does_not_go_on():
    """Far from the start it is forgotten, and the steady state has one flux."""
    place, first, second = 0.4, 1.0, 10.0
    k = layered(place, first, second)
    problem = sf.Problem(
        LINE,
        lambda u, x, t: u.dt - (k(x) * u.dx).dx,
        left=lambda u, x, t: u,
        right=lambda u, x, t: u - 1,
        initial=lambda x: x,
        time=(0, 4),
    )
    found = sf.solve(problem, tol=1e-5)
    flux = 1 / (place / first + (1 - place) / second)
    x = np.linspace(0, 1, 41)
    steady = np.where(x < place, flux * x / first, 1 - flux * (1 - x) / second)
    assert found.converged
    assert np.abs(found(x, np.full(41, 4.0)) - steady).max() < 1e-5


def test_a_conductivity_that_jumps_and_changes_with_time():
    """By the same factor at all times: the slowest mode decays by how much k has added up to."""
    place, first, second = 0.4, 1.0, 10.0
    shape, rate = mode(place, first, second)
    k, speed = layered(place, first, second), 2.0 * rate
    problem = sf.Problem(
        LINE,
        lambda u, x, t: u.dt - (k(x) * (1 + speed * t) * u.dx).dx,
        boundary=lambda u, x, t: u,
        initial=shape,
        time=(0, 0.5 / rate),
    )
    found = sf.solve(problem, tol=1e-6)

    def exact(x, t):
        return shape(x) * np.exp(-rate * (t + speed * t**2 / 2))

    error = largest_error(found, exact, place)
    assert found.converged and error < min(1e-7, found.error_estimate)


def test_a_conductivity_that_jumps_and_changes_with_u():
    """At rest k (u + u^3/3) is a line in each layer, with one flux."""
    place, first, second = 0.4, 1.0, 5.0
    k = layered(place, first, second)
    problem = sf.Problem(
        LINE,
        lambda u, x, t: u.dt - (k(x) * (1 + u**2) * u.dx).dx,
        left=lambda u, x, t: u,
        right=lambda u, x, t: u - 1,
        initial=lambda x: x,
        time=(0, 6),
    )
    found = sf.solve(problem, tol=1e-5)
    flux = (4 / 3) / (place / first + (1 - place) / second)
    x = np.linspace(0, 1, 41)
    whole = np.where(x < place, flux * x / first, 4 / 3 - flux * (1 - x) / second)
    steady = [brentq(lambda u, w=w: u + u**3 / 3 - w, -1, 2, xtol=1e-15) for w in whole]
    assert found.converged
    assert np.abs(found(x, np.full(41, 6.0)) - steady).max() < 1e-5


def two_rods(first, second):
    """Return rods of layers of their own, the second driven by what the first is off."""
    (a, slow), (b, fast) = (mode(*layers) for layers in (first, second))
    k, m = (layered(*layers) for layers in (first, second))

    def one(x, t):
        return a(x) * np.exp(-slow * t)

    problem = sf.Problem(
        LINE,
        lambda u, v, x, t: [
            u.dt - (k(x) * u.dx).dx,
            v.dt - (m(x) * v.dx).dx - v * (u - one(x, t)),
        ],
        boundary=lambda u, v, x, t: [u, v],
        initial={"u": a, "v": b},
        time=(0, 0.5 / max(slow, fast)),
    )
    return problem, one, lambda x, t: b(x) * np.exp(-fast * t)


@pytest.mark.parametrize(
    ("first", "second"),
    [((0.4, 1.0, 10.0), (0.4, 3.0, 0.5)), ((0.3, 1.0, 0.1), (0.9995, 1.0, 4.0))],
)
def test_unknowns_bend_in_ways_of_their_own(first, second, tmp_path):
    problem, one, other = two_rods(first, second)
    found = sf.solve(problem, tol=1e-5)
    x = np.concatenate([np.linspace(0, 1, 101), 0.4 + np.geomspace(1e-6, 0.05, 15)])
    for t in np.linspace(0.1, 1.0, 4) * problem.time[1]:
        assert np.abs(found.u(x, t) - one(x, t)).max() < min(1e-6, found.error_estimate)
        assert np.abs(found.v(x, t) - other(x, t)).max() < min(1e-6, found.error_estimate)
    assert found.converged
    found.save(tmp_path / "rods.npz")
    again = sf.load(tmp_path / "rods.npz")
    assert np.array_equal(again.v(x, t), found.v(x, t))


def test_a_wave_and_heat_in_layers():
    """Elements bend at layers by themselves: shorter ones there left no first step to a wave."""
    place, (a, square), (b, rate) = 0.35, mode(0.35, 1.0, 4.0), mode(0.35, 3.0, 0.5)
    k, m = layered(place, 1.0, 4.0), layered(place, 3.0, 0.5)
    problem = sf.Problem(
        LINE,
        lambda u, v, x, t: [u.dtt - (k(x) * u.dx).dx, v.dt - (m(x) * v.dx).dx],
        boundary=lambda u, v, x, t: [u, v],
        initial={"u": a, "u_t": 0.0, "v": b},
        time=(0, 0.2),
    )
    found = sf.solve(problem, tol=1e-5)
    x = np.linspace(0, 1, 101)
    assert found.converged
    for t in (0.01, 0.2):
        assert np.abs(found.u(x, t) - a(x) * np.cos(np.sqrt(square) * t)).max() < 1e-6
        assert np.abs(found.v(x, t) - b(x) * np.exp(-rate * t)).max() < 1e-6


def test_a_run_of_unknowns_that_bend_is_taken_up_again():
    problem, one, _ = two_rods((0.4, 1.0, 10.0), (0.4, 3.0, 0.5))
    stop = problem.time[1]
    half = sf.solve(problem.replace(time=(0, 0.5 * stop)), tol=1e-5)
    found = sf.solve(problem, tol=1e-5, resume=half)
    x = np.linspace(0, 1, 51)
    assert found.converged
    for t in (0.3 * stop, 0.9 * stop):
        assert np.abs(found.u(x, t) - one(x, t)).max() < 1e-6


@pytest.mark.parametrize(
    "equation",
    [
        lambda u, x, t: u.dt - (layered(0.4, 1.0 + t, 2.0)(x) * u.dx).dx,
        lambda u, x, t: u.dt - (layered(0.4, 1.0 + u**2, 2.0)(x) * u.dx).dx,
        lambda u, x, t: u.dt - u.dxx + (layered(0.4, 1.0, 2.0)(x) * u).dx,
        lambda u, x, t: u.dt - u.dxx - sf.delta(x - 0.3),
        lambda u, x, t: u.dt - (layered(0.4, 1.0, -2.0)(x) * u.dx).dx,
        lambda u, x, t: u.dt - (layered(0.3, 1.0, 2.0)(x - 0.2 * t) * u.dx).dx,
        lambda u, x, t: u.dt - u.dxx + (layered(0.3, 1.0, 2.0)(x - 0.2 * t) * u).dx,
        # No unknown is inside: a load, and a state that jumps.
        lambda u, x, t: u.dt - u.dxx - layered(0.4, 1.0, 0.0)(x).dx,
        lambda u, x, t: u.dt - u.dxx - layered(0.4, 0.0, 1.0)(t).dt,
        # One factor but for 4 % of the time, between the moments at which it is looked at.
        lambda u, x, t: (
            u.dt - (np.where(abs(t - 0.43) < 0.02, 1.0, layered(0.4, 1.0, 2.0)(x)) * u.dx).dx
        ),
    ],
)
def test_what_else_jumps_in_a_derivative_is_refused(equation):
    problem = sf.Problem(
        LINE, equation, boundary=lambda u, x, t: u, initial=lambda x: x * (1 - x), time=(0, 1)
    )
    with pytest.raises(ProblemError, match=r"jump"):
        sf.solve(problem)


def test_a_load_in_time_is_a_narrow_band():
    half = 1e-3
    band = sf.Problem(
        LINE,
        lambda u, x, t: u.dt - u.dxx - np.where(abs(x - 0.3) < half, 1 / (2 * half), 0),
        boundary=lambda u, x, t: u,
        initial=0.0,
        time=(0, 3),
    )
    found = sf.solve(band, tol=1e-4)
    assert found.converged
    assert abs(found(0.3, 3.0) - (0.21 - half / 4)) < 1e-5
    assert abs(found(0.6, 3.0) - 0.3 * 0.4) < 1e-5


def test_on_a_ring_the_flux_is_refused_whose_ends_differ():
    problem = sf.Problem(
        sf.Interval(0, 1, periodic=True),
        lambda u, x, t: u.dt - ((1 + 3 * x) * u.dx).dx,
        initial=lambda x: np.sin(2 * np.pi * x),
        time=(0, 1),
    )
    with pytest.raises(ProblemError, match=r"not periodic; got the flux \(1 \+ 3\*x\)\*u_x"):
        sf.solve(problem)
