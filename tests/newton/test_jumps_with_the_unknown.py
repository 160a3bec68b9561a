"""Equations that jump with the unknown: their tangents do not show it."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.equation.expression import Derivative
from sharpfront.equation.linearise import nonlinear_in

U = Derivative("u", ("x",), (0,))
JUMPS = {
    "sign": np.sign,
    "where": lambda u: np.where(u > 0, 1.0, -1.0),
    "heaviside": lambda u: 2 * np.heaviside(u, 0.5) - 1,
    "compared": lambda u: 2.0 * (u > 0) - 1.0,
    "floor": lambda u: 2 * np.floor(u) + 1,
}


@pytest.mark.parametrize("name", JUMPS)
def test_what_is_inside_a_jump_counts(name):
    jump = JUMPS[name]
    assert {leaf.key for leaf in nonlinear_in(-U.dxx + 3 * U + jump(U))} == {U.key}


@pytest.mark.parametrize("name", JUMPS)
@pytest.mark.parametrize("share", [0.0, 2.0])
def test_on_a_line(name, share):
    jump = JUMPS[name]

    def exact(x):
        return (x - 0.4) * (1 + x) / 2

    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -u.dxx + share * (u - exact(x)) + jump(u) + 1 - jump(x - 0.4),
        left=lambda u, x: u + 0.2,
        right=lambda u, x: u - 0.6,
    )
    solution = sf.solve(problem, tol=1e-4)
    x = np.linspace(0, 1, 1001)
    error = np.abs(solution(x) - exact(x)).max()
    assert error < 1e-3
    assert not solution.converged or error < 1e-4


@pytest.mark.parametrize("name", JUMPS)
def test_of_systems_and_in_the_plane(name):
    jump = JUMPS[name]
    pair = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (-u.dxx + u + jump(u) + v - 1, -v.dxx + v),
        boundary=lambda u, v, x: (u - 0.5, v),
    )
    square = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) + u + jump(u) - 1,
        boundary=lambda u, x, y: u - 0.5,
    )
    # Where u > 0 the jump is 1: u'' = u, and the least value is 0.5 / cosh(0.5) on the line.
    on_line, plane = sf.solve(pair, tol=1e-4), sf.solve(square, tol=1e-4)
    assert on_line.converged and plane.converged
    assert abs(on_line.u(0.5) - 0.5 / np.cosh(0.5)) < 1e-4
    linear = sf.solve(square.replace(equation=lambda u, x, y: -sf.laplacian(u) + u), tol=1e-4)
    assert abs(plane(0.5, 0.5) - linear(0.5, 0.5)) < 2e-4
