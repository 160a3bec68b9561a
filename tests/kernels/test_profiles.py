"""Kernels: every derivative against high-precision differences of the bare formula."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import array_api_strict
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.errors import BasisError
from sharpfront.kernels import Gaussian, Kernel, kernel_named, profiles
from sharpfront.kernels.profiles import InverseMultiquadric

DIGITS = 40
HYPOTHESIS = settings(deadline=None, max_examples=60, derandomize=True, database=None)
STRICT_DEVICES = [array_api_strict.Device(name) for name in ("CPU_DEVICE", "device1")]


def gaussian(z):
    return mp.exp(-mp.fsum(zi * zi for zi in z) / 2)


def inverse_multiquadric(z):
    return 1 / mp.sqrt(1 + mp.fsum(zi * zi for zi in z))


@dataclass(frozen=True)
class Case:
    kernel: Kernel
    profile: Callable


TABLE = [
    Case(Gaussian(), gaussian),
    Case(InverseMultiquadric(), inverse_multiquadric),
]
every_kernel = pytest.mark.parametrize("case", TABLE, ids=[c.kernel.name for c in TABLE])


def up_to(total, dimension):
    ranges = itertools.product(range(total + 1), repeat=dimension)
    return [orders for orders in ranges if sum(orders) <= total]


def full_shapes(rng, count, dimension):
    """Shapes with all entries, far from symmetric, of sizes from 0.3 to 30 and skewed axes."""
    sizes = 10.0 ** rng.uniform(-0.5, 1.5, size=(count, 1, dimension))
    return rng.standard_normal((count, dimension, dimension)) * sizes


def points_around(rng, centres, shapes, radii):
    """Points whose own coordinate z has the given lengths, for every kernel."""
    points = []
    for centre, shape in zip(centres, shapes, strict=True):
        for radius in radii:
            direction = rng.standard_normal(centre.size)
            z = radius * direction / np.linalg.norm(direction)
            points.append(centre + np.linalg.solve(shape, z))
    return np.array(points)


def reference(profile, points, centres, shapes, orders):
    """d^orders by differences in 40 digits; nothing but the profile and z = S (x - c) is used."""

    def entry(point, centre, shape):
        c, s = [mp.mpf(v) for v in centre], mp.matrix(shape.tolist())

        def phi(*x):
            offset = [xi - ci for xi, ci in zip(x, c, strict=True)]
            rows = range(len(c))
            return profile([mp.fsum(s[i, j] * offset[j] for j in rows) for i in rows])

        at = tuple(mp.mpf(v) for v in point)
        with mp.workdps(DIGITS):
            return float(mp.diff(phi, at, orders)) if any(orders) else float(phi(*at))

    return np.array(
        [[entry(p, c, s) for c, s in zip(centres, shapes, strict=True)] for p in points]
    )


def derivative_scale(shapes, orders):
    """The size of d^orders of a unit profile: the length of each shape column per derivative."""
    lengths = np.linalg.norm(shapes, axis=1)
    return np.prod(lengths ** np.array(orders), axis=1) * math.sqrt(math.factorial(sum(orders)))


def assert_derivatives(case, dimension, all_orders, radii, seed=0, kernels_count=2):
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-1, 1, size=(kernels_count, dimension))
    shapes = full_shapes(rng, kernels_count, dimension)
    points = points_around(rng, centres, shapes, radii)
    for orders in all_orders:
        expected = reference(case.profile, points, centres, shapes, orders)
        got = case.kernel.matrix(points, centres, shapes, orders)
        assert got.shape == (len(points), len(centres))
        error = np.max(np.abs(got - expected) / derivative_scale(shapes, orders))
        assert error < 2e-12, (orders, error)


# At the centre, near it, inside, around the edge of a compact support, outside, in the far tail.
RADII = (0.0, 1e-9, 0.05, 0.4, 0.8, 1 - 1e-6, 1 + 1e-6, 1.5, 4.0, 9.0)


@every_kernel
@pytest.mark.parametrize("dimension", [1, 2])
def test_every_derivative_to_order_four(case, dimension):
    assert_derivatives(case, dimension, up_to(4, dimension), RADII)


@every_kernel
def test_every_derivative_to_order_four_in_three_dimensions(case):
    radii = (0.0, 1e-9, 0.1, 0.5, 1 - 1e-6, 1 + 1e-6, 2.5, 7.0)
    assert_derivatives(case, 3, up_to(4, 3), radii)


@every_kernel
@pytest.mark.parametrize("orders", [(6,), (5,), (6, 0), (3, 3), (1, 5), (4, 2)])
def test_orders_five_and_six(case, orders):
    assert_derivatives(case, len(orders), [orders], (0.0, 1e-3, 0.7, 1.3, 3.0, 6.0))


@every_kernel
@pytest.mark.parametrize("orders", [(1, 1, 1, 1), (0, 2, 0, 1, 1), (0, 0, 2, 0, 0, 2)])
def test_more_than_three_dimensions(case, orders):
    assert_derivatives(case, len(orders), [orders], (0.0, 0.6), kernels_count=1)


# The contract, and what radial kernels share.
BARE = (Kernel, profiles._Radial)


def test_the_table_holds_every_kernel():
    classes = {
        value
        for _, value in inspect.getmembers(profiles, inspect.isclass)
        if value.__module__ == profiles.__name__ and hasattr(value, "matrix") and value not in BARE
    }
    assert classes == {type(case.kernel) for case in TABLE}


@every_kernel
def test_contract(case):
    assert isinstance(case.kernel, Kernel)
    assert type(kernel_named(case.kernel.name)) is type(case.kernel)
    assert case.kernel == type(case.kernel)()


def test_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(BasisError, match=r"'gausian'.*gaussian, inverse-multiquadric"):
        kernel_named("gausian")


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 12, 20])
def test_gaussian_is_hermite_to_full_relative_accuracy_in_the_tail(n):
    width, z = 0.37, np.array([6.5, -8.0, 11.0, 16.0])
    points = (z * width)[:, None]
    got = Gaussian().matrix(points, np.zeros((1, 1)), np.full((1, 1, 1), 1 / width), (n,))[:, 0]
    with mp.workdps(DIGITS):
        s = mp.mpf(1 / width)
        expected = []
        for x in points[:, 0]:
            u = mp.mpf(x) * s
            physicist = mp.hermite(n, u / mp.sqrt(2)) / mp.mpf(2) ** (mp.mpf(n) / 2)
            expected.append(float((-s) ** n * physicist * mp.exp(-u * u / 2)))
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_gaussian_has_a_covariance_of_its_own_per_kernel():
    rng = np.random.default_rng(3)
    factors = rng.standard_normal((4, 3, 3)) + 2 * np.eye(3)
    covariances = factors @ factors.transpose(0, 2, 1)
    centres = rng.standard_normal((4, 3))
    points = rng.standard_normal((5, 3))
    shapes = np.linalg.inv(np.linalg.cholesky(covariances))
    got = Gaussian().matrix(points, centres, shapes, (0, 0, 0))
    offset = points[:, None, :] - centres[None, :, :]
    square = np.einsum("mni,nij,mnj->mn", offset, np.linalg.inv(covariances), offset)
    np.testing.assert_allclose(got, np.exp(-square / 2), rtol=1e-11)


def test_only_the_covariance_matters_not_which_root_of_it():
    rng = np.random.default_rng(4)
    shape = rng.standard_normal((1, 3, 3))
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    points, centre = rng.standard_normal((6, 3)), rng.standard_normal((1, 3))
    for kernel in profiles.KERNELS:
        for orders in up_to(3, 3):
            one = kernel.matrix(points, centre, shape, orders)
            other = kernel.matrix(points, centre, turn @ shape, orders)
            scale = derivative_scale(shape, orders)
            np.testing.assert_allclose(one, other, atol=1e-13 * scale.max(), rtol=0)


def test_far_tails_are_exactly_zero_and_nothing_is_denormal():
    points = np.linspace(-60, 60, 40001)[:, None]
    centres = np.array([[0.0], [1.0], [-2.0]])
    shapes = np.array([1.0, 3.0, 0.5])[:, None, None]
    values = Gaussian().matrix(points, centres, shapes, (0,))
    present = values[values != 0]
    assert present.min() >= 1e-60
    assert not np.any((values != 0) & (np.abs(values) < 1e-300))
    assert np.all(values[np.abs(points[:, 0]) > 17, 0] == 0)
    assert np.all(values[np.abs(points[:, 0]) < 16, 0] > 0)
    # A product of two values, as in every scalar product of columns, is a normal number too.
    assert present.min() ** 2 > np.finfo(float).tiny


@pytest.mark.parametrize("orders", [(1,), (2,), (3,), (4,)])
def test_derivatives_vanish_where_the_value_does(orders):
    points = np.array([[17.0], [40.0], [1e8], [-1e30]])
    got = Gaussian().matrix(points, np.zeros((1, 1)), np.ones((1, 1, 1)), orders)
    assert np.all(got == 0)


dyadic = st.integers(-1024, 1024).map(lambda i: i / 256)


@st.composite
def placed_kernels(draw):
    """Points, centres, a shift (all exact in binary), shapes and orders in 1 to 3 dimensions."""
    d = draw(st.integers(1, 3))
    point, centre, shift = (draw(st.lists(dyadic, min_size=d, max_size=d)) for _ in range(3))
    entries = draw(st.lists(dyadic, min_size=d * d, max_size=d * d))
    orders = draw(st.sampled_from(up_to(4, d)))
    arrays = [np.array([v]) for v in (point, centre, shift)]
    return *arrays, np.array(entries).reshape(1, d, d), orders


@every_kernel
@HYPOTHESIS
@given(placed=placed_kernels())
def test_translation_changes_not_one_bit(case, placed):
    point, centre, shift, shape, orders = placed
    here = case.kernel.matrix(point, centre, shape, orders)
    there = case.kernel.matrix(point + shift, centre + shift, shape, orders)
    assert np.array_equal(here, there)


@every_kernel
@HYPOTHESIS
@given(placed=placed_kernels())
def test_reflection_gives_the_parity_of_the_order(case, placed):
    point, centre, _, shape, orders = placed
    odd = sum(orders) % 2
    here = case.kernel.matrix(point, centre, shape, orders)
    mirrored = case.kernel.matrix(2 * centre - point, centre, shape, orders)
    assert np.array_equal(mirrored, -here if odd else here)


@every_kernel
@HYPOTHESIS
@given(placed=placed_kernels())
def test_names_of_coordinates_do_not_matter(case, placed):
    point, centre, _, shape, orders = placed
    here = case.kernel.matrix(point, centre, shape, orders)
    turned = case.kernel.matrix(
        point[:, ::-1], centre[:, ::-1], shape[:, :, ::-1], tuple(reversed(orders))
    )
    scale = (1 + np.abs(shape).sum()) ** (2 * sum(orders)) * (1 + np.abs(point - centre).max()) ** 4
    np.testing.assert_allclose(turned, here, rtol=1e-9, atol=1e-13 * scale)


@every_kernel
@pytest.mark.parametrize("device", STRICT_DEVICES, ids=str)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_array_api_strict_agrees_with_numpy(case, device, dimension):
    rng = np.random.default_rng(6)
    centres = rng.uniform(size=(3, dimension))
    shapes = full_shapes(rng, 3, dimension)
    points = points_around(rng, centres, shapes, (0.0, 0.3, 0.9, 1.1, 20.0))
    xp = array_api_strict
    strict = [xp.asarray(a, device=device) for a in (points, centres, shapes)]
    for orders in up_to(4, dimension):
        expected = case.kernel.matrix(points, centres, shapes, orders)
        got = case.kernel.matrix(*strict, orders)
        assert type(got) is type(strict[0])
        assert got.device == device
        assert got.dtype == xp.float64
        host = np.asarray(got.to_device(STRICT_DEVICES[0]))
        scale = derivative_scale(shapes, orders)
        np.testing.assert_allclose(host / scale, expected / scale, rtol=1e-12, atol=1e-15)


@every_kernel
def test_no_points_and_no_centres_give_empty_matrices(case):
    points, centres, shapes = np.ones((4, 2)), np.ones((3, 2)), np.ones((3, 2, 2))
    assert case.kernel.matrix(points[:0], centres, shapes, (1, 1)).shape == (0, 3)
    assert case.kernel.matrix(points, centres[:0], shapes[:0], (2, 0)).shape == (4, 0)
