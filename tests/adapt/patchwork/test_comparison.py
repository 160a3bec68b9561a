"""Where solutions on patches are compared: errors that swing are seen."""

import itertools

import numpy as np
import pytest
from scipy.special import eval_gegenbauer

import sharpfront as sf
from sharpfront.adapt.patchwork.comparison import compared_at
from sharpfront.measure import max_error


@pytest.mark.parametrize("held", [0, 1, 2])
@pytest.mark.parametrize("growth", [-8.0, 0.0, 3.0])
@pytest.mark.parametrize(("dimension", "part"), [(1, 0.8), (2, 0.35), (3, 0.35)])
def test_errors_of_any_degree_are_seen(held, growth, dimension, part):
    z = np.linspace(-1, 1, 4001)

    def swinging(p, at):
        shape = (1 - at * at) ** held * eval_gegenbauer(p - 2 * held, held + 0.5, at)
        return np.exp(growth * at) * shape

    at = np.array(compared_at(dimension))
    for p, share in itertools.product(range(4, 25), (0.0, 1.0, -1.0)):
        seen, whole = (swinging(p, x) + share * swinging(p + 1, x) for x in (at, z))
        assert np.abs(seen).max() > part * np.abs(whole).max()


@pytest.mark.parametrize("waves", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("tol", [1e-3, 1e-5, 1e-7])
def test_estimates_in_the_plane_see_errors_that_swing(waves, tol):
    def exact(x, y):
        return np.sin(waves * np.pi * x) * np.sin(np.pi * y)

    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) - (waves**2 + 1) * np.pi**2 * exact(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=tol)
    x, y = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201))
    assert solution.converged
    assert np.abs(solution(x, y) - exact(x, y)).max() < 1.3 * solution.error_estimate


@pytest.mark.parametrize("seed", range(6))
def test_estimates_of_pairs_on_the_line_are_their_errors(seed):
    """At ten positions of a patch they were 0.2 to 1.0 times the error."""
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.uniform([1, 0, -2, 1], [8, 3, 1, 8])
    u_is, v_is = (lambda x: np.sin(a * x + b)), (lambda x: np.exp(c * x) * np.cos(d * x))

    def second(x):
        return np.exp(c * x) * ((c * c - d * d) * np.cos(d * x) - 2 * c * d * np.sin(d * x))

    pair = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (
            -u.dxx + u * v - a * a * u_is(x) - u_is(x) * v_is(x),
            -v.dxx + v * u**2 + second(x) - v_is(x) * u_is(x) ** 2,
        ),
        boundary=lambda u, v, x: (u - u_is(x), v - v_is(x)),
    )
    solution = sf.solve(pair, tol=1e-6)
    assert solution.converged
    x = np.linspace(0, 1, 5001)
    errors = [max_error(got, want, x) for got, want in ((solution.u, u_is), (solution.v, v_is))]
    assert 0.8 * max(errors) < solution.error_estimate < 2 * max(errors) + 1e-12


@pytest.mark.parametrize("power", [0.6, 0.7])
def test_a_source_that_is_infinite_on_a_side(power):
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) + power * (power - 1) * x ** (power - 2),
        boundary=lambda u, x, y: u - x**power,
    )
    solution = sf.solve(problem, tol=1e-6)
    x, y = np.meshgrid(np.geomspace(1e-10, 1, 300), np.linspace(0, 1, 40))
    assert solution.converged
    assert np.abs(solution(x, y) - x**power).max() < 1e-6


def test_thin_slanted_shapes_are_looked_at_across():
    """All points stood on the middle line: the error was 1e-4, 120 times the estimate."""

    def exact(x, y):
        return np.sin(x + y)

    needle = sf.Ellipse((0, 0), (5, 0.05), angle=0.7)
    problem = sf.Problem(
        needle,
        lambda u, x, y: -sf.laplacian(u) - 2 * exact(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = sf.solve(problem, tol=1e-4)
    assert solution.converged
    points = needle.sample(1000).T
    error = np.abs(solution(*points) - exact(*points)).max()
    assert error < 2 * solution.error_estimate
