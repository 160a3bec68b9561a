"""All conditions at one end: Newton's method starts with what an integrator finds."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sharpfront as sf
from sharpfront.newton.initial_values import integrated


def pendulum(length=30.0, side="left"):
    domain = sf.Interval(0, length) if side == "left" else sf.Interval(-length, 0)
    held = {side: lambda u, x: (u - 2.5, u.dx)}
    return sf.Problem(domain, lambda u, x: u.dxx + np.sin(u), **held)


def stepped(rates, start, stop):
    """Return the first component by Runge and Kutta's method of order eight."""
    found = solve_ivp(rates, (0, stop), start, "DOP853", rtol=1e-11, atol=1e-12, dense_output=True)
    return lambda x: found.sol(x)[0]


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_pendulum_over_several_periods(side):
    solution = sf.solve(pendulum(30.0, side), tol=1e-7)
    assert solution.converged
    exact = stepped(lambda t, z: [z[1], -np.sin(z[0])], [2.5, 0], 30)
    x = np.linspace(0, 30, 501)
    assert np.abs(solution(x if side == "left" else -x) - exact(x)).max() < 3e-7


@pytest.mark.parametrize("mu", [1, 20])
def test_van_der_pols_oscillator(mu):
    problem = sf.Problem(
        sf.Interval(0, 20),
        lambda u, x: u.dxx - mu * (1 - u**2) * u.dx + u,
        left=lambda u, x: (u - 2, u.dx),
    )
    solution = sf.solve(problem, tol=1e-6)
    exact = stepped(lambda t, z: [z[1], mu * (1 - z[0] ** 2) * z[1] - z[0]], [2, 0], 20)
    x = np.linspace(0, 20, 501)
    assert solution.converged and np.abs(solution(x) - exact(x)).max() < 3e-6


def test_an_orbit_that_has_no_constant_to_start_from():
    def body(u, v, x):
        cube = (u**2 + v**2) ** 1.5
        return u.dxx + u / cube, v.dxx + v / cube

    orbit = sf.Problem(
        sf.Interval(0, 6.28), body, left=lambda u, v, x: (u - 0.5, u.dx, v, v.dx - 3**0.5)
    )
    solution = sf.solve(orbit, tol=1e-6)
    assert solution.converged
    apart = np.hypot(solution.u(np.pi), solution.v(np.pi))
    assert abs(apart - 1.5) < 1e-5


def test_derivatives_are_those_of_the_equation():
    found = integrated(pendulum())
    x = np.linspace(0.1, 29, 9)[:, None]
    u, slope, bend, beyond = (found.values("u", x, (k,)) for k in range(4))
    assert np.allclose(bend, -np.sin(u)) and np.all(beyond == 0)
    assert np.allclose(slope**2 / 2 - np.cos(u), -np.cos(2.5), atol=1e-4)


@pytest.mark.parametrize(
    "problem",
    [
        sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx + u**2, boundary=lambda u, x: u),
        sf.Problem(sf.Interval(0, 2), lambda u, x: u.dx - u**2, left=lambda u, x: u - 1),
        sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx + u**2, left=lambda u, x: u),
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, v, x: (u.dx - v**2, u**2 + u.dx**2 - 1),
            left=lambda u, v, x: u,
        ),
    ],
    ids=["two ends", "blows up", "too few", "no unknown is held"],
)
def test_what_has_no_states_to_follow(problem):
    assert integrated(problem) is None
