"""The coordinate of a circle, and kernels that are exactly periodic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.pieces.ring import PeriodicKernels, Ring, periodic_kernels
from sharpfront.pieces.tables import WIDTH

PROPERTY = settings(max_examples=30, deadline=None, derandomize=True, database=None)


def ring(means=(0.4,), scales=(1e-2,), shares=(1.0,), even=0.1, zero=0.9, ends=(0.0, 1.0)):
    return Ring(*ends, np.array(means), np.array(scales), np.array(shares), even, zero)


RINGS = {
    "one": ring(),
    "narrow": ring(scales=(1e-7,)),
    "wide": ring(scales=(0.5,), even=0.3),
    "at the seam": ring(means=(0.0,), scales=(1e-3,), zero=0.5),
    "two": ring((0.2, 0.95), (1e-3, 1e-2), (0.6, 0.4), 0.2, 0.55),
    "long": ring((3.0,), (0.01,), (1.0,), 0.1, -7.0, (-7.0, 13.0)),
}


@pytest.mark.parametrize("one", RINGS.values(), ids=RINGS.keys())
def test_a_turn_is_one_and_slopes_are_periodic(one):
    x = np.linspace(one.low, one.high, 37)
    points, next_turn = one.nearest(x), one.nearest(x + one.length)
    assert np.allclose(one.xi(next_turn) - one.xi(points), 1.0, rtol=0, atol=1e-12)
    assert np.allclose(one.xi(one.nearest(np.array([one.zero]))), 0.0, atol=1e-13)
    slopes = one.derivatives(points, 4), one.derivatives(next_turn, 4)
    scale = one.scales.min()
    size = one.derivatives(one.nearest(one.means), 1).max() / scale ** np.arange(4)
    # A rounding of x, in scales of the narrowest component.
    near = 100 * np.finfo(float).eps * (one.length + abs(one.low)) / scale
    assert np.all(np.abs(slopes[0] - slopes[1]).max(axis=1) <= near * size)
    assert np.all(slopes[0][0] >= one.even / one.length)


@pytest.mark.parametrize("one", RINGS.values(), ids=RINGS.keys())
def test_derivatives_of_the_coordinate(one):
    scale = one.scales.min()
    if scale < 1e-5:
        pytest.skip("differences need digits")
    x = one.means[0] + scale * np.linspace(-3.1, 4.3, 40)
    h = 0.02 * scale
    found = one.derivatives(one.nearest(x), 4)
    weights = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0

    def moved(f):
        return sum(w * f(x + k * h) for w, k in zip(weights, range(-3, 4), strict=True)) / h

    assert np.allclose(moved(lambda z: one.xi(one.nearest(z))), found[0], rtol=1e-7)
    for k in range(3):
        expected = moved(lambda z, k=k: one.derivatives(one.nearest(z), 4)[k])
        assert np.allclose(expected, found[k + 1], rtol=0, atol=1e-6 * np.abs(found[k + 1]).max())


@pytest.mark.parametrize("one", RINGS.values(), ids=RINGS.keys())
def test_inverse(one):
    xi = np.linspace(-1.3, 2.2, 400)
    points = one.invert(xi)
    assert np.all(np.diff(points.x) > 0)
    # What a rounding of x is worth in xi.
    slope = one.derivatives(points, 1)[0]
    floor = 4 * np.finfo(float).eps * (np.abs(points.x) + one.length) * slope
    assert np.all(np.abs(one.xi(points) - xi) <= 1e-13 + floor)


@pytest.mark.parametrize("count", [1, 9, 32, 33])
def test_kernels_are_made_odd(count):
    kernels = periodic_kernels(count)
    assert kernels.kernels == kernels.size == count | 1


@PROPERTY
@given(st.integers(2, 30), st.floats(-2.0, 2.0), st.integers(-3, 3))
def test_kernels_are_periodic_in_every_derivative(half, s, turns):
    kernels = PeriodicKernels(2 * half + 1)
    here = kernels.table(np.array([s]), 4).values
    there = kernels.table(np.array([s + turns]), 4).values
    size = np.abs(kernels.table(np.linspace(0, 1, 60), 4).values).max(axis=(1, 2))
    assert np.all(np.abs(here - there).max(axis=(1, 2)) <= 1e-12 * size * kernels.kernels)


@pytest.mark.parametrize("count", [5, 21, 41])
def test_kernels_span_the_gaussians(count):
    """Each periodic Gaussian is a combination of the functions, each function of the Gaussians."""
    s = np.arange(4 * count) / (4 * count)
    images = np.arange(-6, 7)
    gap = s[:, None, None] - np.arange(count)[:, None] / count - images
    gaussians = np.exp(-0.5 * (gap * count / WIDTH) ** 2).sum(axis=2)
    functions = periodic_kernels(count).table(s, 0).values[0]
    assert np.linalg.matrix_rank(functions) == count
    weights = np.linalg.lstsq(functions, gaussians, rcond=None)[0]
    assert np.abs(functions @ weights - gaussians).max() < 1e-12
    if count == 5:
        # Of many Gaussians rounding leaves too little to go back.
        back = np.linalg.lstsq(gaussians, functions, rcond=None)[0]
        assert np.abs(gaussians @ back - functions).max() < 1e-6


def test_the_last_function_is_that_of_the_gaussians():
    """In more digits: what it has of Gaussians that alias is a twentieth of it."""
    count, k = 41, 20
    s = np.arange(50).astype(np.longdouble) / 50
    pi = np.longdouble("3.14159265358979323846264338")
    at = np.arange(count).astype(np.longdouble) / count
    gap = s[:, None, None] - at[:, None] - np.arange(-3, 4)
    width = np.longdouble(WIDTH) / count
    gaussians = np.exp(-0.5 * (gap / width) ** 2).sum(axis=2)
    waves = gaussians @ np.cos(2 * pi * k * at)
    table = periodic_kernels(count).table(s.astype(float), 0).values[0]
    factor = waves[0] / table[0, k]
    assert np.allclose((waves / factor).astype(float), table[:, k], atol=1e-3)


def test_kernels_lose_no_digits():
    values = periodic_kernels(101).table(np.arange(404) / 404, 0).values[0]
    assert np.linalg.cond(values) < 10


def test_kernels_derivatives():
    kernels, s, h = periodic_kernels(15), np.linspace(0, 1, 31), 1e-3
    values = kernels.table(s, 4).values
    weights = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
    for k in range(4):
        moved = sum(
            w * kernels.table(s + j * h, 4).values[k]
            for w, j in zip(weights, range(-3, 4), strict=True)
        )
        assert np.allclose(moved / h, values[k + 1], rtol=0, atol=1e-7 * np.abs(values).max())


def test_kernels_resolve_smooth_periodic_functions():
    kernels = periodic_kernels(41)
    fit, check = np.arange(82) / 82, np.linspace(0.003, 0.997, 100)

    def f(s):
        return np.exp(np.sin(2 * np.pi * s))

    weights = np.linalg.lstsq(kernels.table(fit, 0).values[0], f(fit), rcond=None)[0]
    assert np.abs(kernels.sums(check, weights, 0)[0] - f(check)).max() < 1e-12


def test_sums_of_several_weights():
    kernels, s = periodic_kernels(9), np.linspace(0, 1, 5)
    weights = np.random.default_rng(1).normal(size=(9, 2))
    found = kernels.sums(s, weights, 2)
    assert found.shape == (3, 5, 2)
    assert np.allclose(found[2, :, 1], kernels.table(s, 2).values[2] @ weights[:, 1])
