"""Patches: few solves, few functions, and what was cut once is not undone."""

import numpy as np
import pytest

import sharpfront as sf

SQUARE = sf.Box((0, 1), (0, 1))


def solved(problem, tol):
    """Solve by patches, which are to be enough."""
    solution = sf.solve(problem, tol=tol, adaptor=sf.Patches())
    assert solution.converged, solution.outcome
    return solution


def largest_error(solution, exact):
    from sharpfront.adapt.patchwork.certify import compared_points

    points = compared_points(solution.approximation.bases["u"].patches)
    truth = exact(*points.T)
    return float(np.abs(solution(*points.T) - truth).max() / max(1.0, np.abs(truth).max()))


@pytest.mark.parametrize(
    ("width", "a", "b"), [(1e-3, 1.0, 1.0), (2e-4, 1.0, 2.0), (4e-3, 0.5, 1.0)]
)
def test_layers_that_meet_in_a_corner_take_one_cut_each(width, a, b):
    def one(s, speed):
        return s - np.exp((s - 1) * speed / width)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: (
            -width * sf.laplacian(u) + a * u.dx + b * u.dy - a * one(y, b) - b * one(x, a)
        ),
        boundary=lambda u, x, y: u - one(x, a) * one(y, b),
    )
    solution = solved(problem, 1e-6)
    assert solution.kernels < 1500
    assert largest_error(solution, lambda x, y: one(x, a) * one(y, b)) < 1e-6


@pytest.mark.parametrize(("x0", "y0", "narrow"), [(0.5, 0.5, 300), (0.31, 0.72, 2000)])
def test_a_peak_takes_patches_where_it_is(x0, y0, narrow):
    def peak(x, y):
        return np.exp(-narrow * ((x - x0) ** 2 + (y - y0) ** 2))

    def source(x, y):
        return (4 * narrow**2 * ((x - x0) ** 2 + (y - y0) ** 2) - 4 * narrow) * peak(x, y)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u) - source(x, y),
        boundary=lambda u, x, y: u - peak(x, y),
    )
    solution = solved(problem, 1e-4)
    assert solution.kernels < 5000
    assert largest_error(solution, peak) < 1e-4


@pytest.mark.parametrize(("low", "high"), [((0, -1), (2, 0)), ((-3, 0.25), (-0.5, 3))])
def test_a_loaded_l_takes_few_solves(low, high):
    quadrant = sf.Box((low[0], high[0]), (low[1], high[1]))
    plate = sf.Box((-1, 1), (-1, 1)) - quadrant
    problem = sf.Problem(plate, lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u)
    solution = solved(problem, 1e-4)
    assert len(solution.history) <= 6
    assert solution.kernels < 12_000


@pytest.mark.parametrize(("width", "wider"), [(1e-3, 2.0), (1e-3, 3.0)])
def test_a_source_with_a_wider_layer_than_the_operators(width, wider):
    def exact(x, y):
        return (1 - np.exp((x - 1) / width)) * np.cos(y + x)

    def residual(u, x, y):
        return -width * sf.laplacian(u) + wider * u.dx

    def source(x, y):
        e, c, s = np.exp((x - 1) / width), np.cos(x + y), np.sin(x + y)
        ux = -e / width * c - (1 - e) * s
        uxx = -e / width**2 * c + 2 * e / width * s - (1 - e) * c
        return -width * (uxx - (1 - e) * c) + wider * ux

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: residual(u, x, y) - source(x, y),
        boundary=lambda u, x, y: u - exact(x, y),
    )
    solution = solved(problem, 1e-6)
    assert solution.kernels < 1500
    assert largest_error(solution, exact) < 1e-6
