"""Edges in space at which data fit the equation, told before anything is solved."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.calm_edges import are_calm
from sharpfront.place.tiling.tiling import tiling_of

CUBE = sf.Box((0, 1), (0, 1), (0, 1))


def calm(equation, boundary, domain=CUBE, tol=1e-6):
    problem = sf.Problem(domain, equation, boundary=boundary)
    return are_calm(problem, tiling_of(domain), tol)


def bump(x, y, z):
    return np.exp(-100 * ((x - 0.5) ** 2 + (y - 0.4) ** 2 + (z - 0.5) ** 2))


@pytest.mark.parametrize(
    "equation, boundary, fits",
    [
        # Nothing is left of the source at the edges, or of the equation of the data.
        (lambda u, x, y, z: -sf.laplacian(u) - bump(x, y, z), lambda u, x, y, z: u, True),
        (lambda u, x, y, z: sf.laplacian(u) - 6, lambda u, x, y, z: u - x**2 - y**2 - z**2, True),
        (
            lambda u, x, y, z: -sf.laplacian(u) + 3 * u.dx + u - np.exp(x) * (3 + 0 * y),
            lambda u, x, y, z: u - np.exp(x),
            True,
        ),
        # A source, a wind and values that solutions follow only with r^2 log r.
        (lambda u, x, y, z: -sf.laplacian(u) - 1, lambda u, x, y, z: u, False),
        (lambda u, x, y, z: -sf.laplacian(u) + 5 * u.dy, lambda u, x, y, z: u - y * z, False),
        (lambda u, x, y, z: sf.laplacian(u), lambda u, x, y, z: u - x**2, False),
        # Of a mixed derivative across an edge data say nothing, nor do slopes of values.
        (lambda u, x, y, z: sf.laplacian(u) + u.d("x").d("y"), lambda u, x, y, z: u, False),
        (lambda u, x, y, z: sf.laplacian(u), lambda u, x, y, z: u.dn + u, False),
    ],
)
def test_edges_are_calm_where_values_satisfy_the_equation(equation, boundary, fits):
    assert calm(equation, boundary) is fits


def test_values_that_jump_across_an_edge_are_not_calm():
    parts = dict.fromkeys(CUBE.parts, lambda u, x, y, z: u)
    parts["left"] = lambda u, x, y, z: u - 1
    problem = sf.Problem(CUBE, lambda u, x, y, z: sf.laplacian(u), **parts)
    assert not are_calm(problem, tiling_of(CUBE), 1e-3)


def test_edges_inwards_and_curved_ones_are_not_calm_and_balls_have_none():
    def still(u, x, y, z):
        return sf.laplacian(u)

    def zero(u, x, y, z):
        return u

    ball = sf.Ball((0.5, 0.5, 0.5), 0.3)
    assert calm(still, zero, ball)
    assert calm(still, zero, CUBE - ball)
    assert not calm(still, zero, CUBE - sf.Box((0.5, 2), (0.5, 2), (-1, 2)))
    assert not calm(still, zero, ball & sf.Box((0, 1), (0, 1), (0, 0.5)))
