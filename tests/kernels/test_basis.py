"""Bases: kernels placed in space with shapes of their own and a polynomial tail."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import array_api_strict as strict
import numpy as np
import pytest

from sharpfront.arrays import namespace, to_host
from sharpfront.errors import BasisError
from sharpfront.kernels import Gaussian, Kernel
from sharpfront.kernels.basis import (
    Basis,
    KernelBasis,
    PlacedBasis,
    isotropic,
    restore,
)
from sharpfront.kernels.profiles import KERNELS, InverseMultiquadric

DEVICES = [strict.Device(name) for name in ("CPU_DEVICE", "device1")]
CENTRES = {d: np.random.default_rng(d).uniform(-1, 2, size=(7, d)) for d in (1, 2, 3, 5)}
POINTS = {d: np.random.default_rng(10 + d).uniform(-1, 2, size=(6, d)) for d in (1, 2, 3, 5)}
WIDTHS = np.random.default_rng(20).uniform(0.2, 3, size=7)


def shaped(centres, covariances, kernel=None):
    """Kernels with a full covariance each: shapes are inverse factors of Cholesky's."""
    shapes = np.linalg.inv(np.linalg.cholesky(covariances))
    return KernelBasis(kernel or Gaussian(), centres, shapes)


def covariances(d, count=7):
    factors = np.random.default_rng(30 + d).standard_normal((count, d, d)) + 2 * np.eye(d)
    return factors @ factors.transpose(0, 2, 1)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_isotropic_kernels_are_round_with_one_width_each(d):
    basis = isotropic(CENTRES[d], WIDTHS)
    square = np.sum((POINTS[d][:, None] - CENTRES[d][None]) ** 2, axis=2)
    np.testing.assert_allclose(
        basis.matrix(POINTS[d], (0,) * d), np.exp(-square / (2 * WIDTHS**2)), rtol=1e-13
    )
    assert (basis.size, basis.dimension) == (7, d)
    assert isinstance(basis, Basis)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_covariances_are_the_kernels_own(d):
    basis = shaped(CENTRES[d], covariances(d))
    offset = POINTS[d][:, None] - CENTRES[d][None]
    square = np.einsum("mni,nij,mnj->mn", offset, np.linalg.inv(covariances(d)), offset)
    np.testing.assert_allclose(basis.matrix(POINTS[d], (0,) * d), np.exp(-square / 2), atol=1e-13)
    np.testing.assert_allclose(
        np.einsum("nki,nkj->nij", basis.shapes, basis.shapes),
        np.linalg.inv(covariances(d)),
        rtol=1e-10,
        atol=1e-13,
    )
    assert isinstance(basis, PlacedBasis)
    np.testing.assert_allclose(basis.covariances, covariances(d), rtol=1e-10, atol=1e-13)


def test_covariance_of_a_round_kernel_is_the_square_of_its_width():
    d = 3
    round_ = shaped(CENTRES[d], WIDTHS[:, None, None] ** 2 * np.eye(d))
    for orders in [(0, 0, 0), (1, 0, 2), (0, 4, 0)]:
        np.testing.assert_allclose(
            round_.matrix(POINTS[d], orders),
            isotropic(CENTRES[d], WIDTHS).matrix(POINTS[d], orders),
            rtol=1e-12,
        )


def test_the_kernel_is_a_choice():
    other = InverseMultiquadric()
    assert isotropic(CENTRES[2], WIDTHS).kernel == Gaussian()
    assert isotropic(CENTRES[2], WIDTHS, other).kernel == other
    assert shaped(CENTRES[2], covariances(2), other).kernel == other


@dataclass(frozen=True)
class Multiquadric:
    """sqrt(1 + |z|^2), from outside the package: the contract is all that a basis needs."""

    name = "multiquadric"

    def matrix(self, points, centres, shapes, orders):
        xp = namespace(points)
        z = xp.sum(shapes[None] * (points[:, None, None] - centres[None, :, None]), axis=3)
        return xp.sqrt(1 + xp.sum(z * z, axis=2))


def test_a_kernel_of_the_users_own_joins():
    assert isinstance(Multiquadric(), Kernel)
    basis = isotropic(CENTRES[2], WIDTHS, Multiquadric())
    square = np.sum((POINTS[2][:, None] - CENTRES[2][None]) ** 2, axis=2)
    np.testing.assert_allclose(basis.matrix(POINTS[2], (0, 0)), np.sqrt(1 + square / WIDTHS**2))


@pytest.mark.parametrize("width", [0.0, -1.0, math.nan])
def test_widths_must_be_positive(width):
    widths = WIDTHS.copy()
    widths[3] = width
    with pytest.raises(BasisError, match=r"[Ww]idth"):
        isotropic(CENTRES[2], widths)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("which", ["centres", "shapes"])
def test_centres_and_shapes_must_be_finite(bad, which):
    arrays = {"centres": CENTRES[2].copy(), "shapes": np.tile(np.eye(2), (7, 1, 1))}
    arrays[which].flat[5] = bad
    with pytest.raises(BasisError, match="finite"):
        KernelBasis(Gaussian(), **arrays)


@pytest.mark.parametrize(
    "shape_of_centres, shape_of_shapes",
    [((7,), (7, 1, 1)), ((7, 2), (7, 2)), ((7, 2), (6, 2, 2)), ((7, 2), (7, 3, 3))],
)
def test_centres_and_shapes_must_fit(shape_of_centres, shape_of_shapes):
    with pytest.raises(BasisError, match=r"centres \(n, d\) and shapes \(n, d, d\), got"):
        KernelBasis(Gaussian(), np.zeros(shape_of_centres), np.ones(shape_of_shapes))


@pytest.mark.parametrize("shape", [(4,), (4, 3), (4, 1), (2, 2, 2)])
def test_points_must_have_the_dimension_of_the_basis(shape):
    with pytest.raises(BasisError, match=r"points of shape \(m, 2\)"):
        isotropic(CENTRES[2], WIDTHS).matrix(np.zeros(shape), (0, 0))


@pytest.mark.parametrize("orders", [(), (1,), (0, 0, 1)])
def test_orders_must_have_the_dimension_of_the_basis(orders):
    with pytest.raises(BasisError, match="one order for each of 2 coordinates"):
        isotropic(CENTRES[2], WIDTHS).matrix(POINTS[2], orders)


@pytest.mark.parametrize("kernel", KERNELS)
def test_state_restores_to_the_same_bits(kernel):
    basis = KernelBasis(kernel, CENTRES[2], shaped(CENTRES[2], covariances(2)).shapes)
    again = restore(basis.state())
    assert isinstance(again, KernelBasis)
    for orders in [(0, 0), (1, 2)]:
        assert np.array_equal(basis.matrix(POINTS[2], orders), again.matrix(POINTS[2], orders))


def test_state_of_another_library_is_on_the_host():
    basis = isotropic(strict.asarray(CENTRES[2]), strict.asarray(WIDTHS))
    assert all(type(basis.state()[key]) is np.ndarray for key in ("centres", "shapes"))
    again = restore(basis.state())
    np.testing.assert_array_equal(again.centres, CENTRES[2])


@pytest.mark.parametrize(
    "change, message", [({"type": "wavelets"}, "wavelets"), ({"kernel": "x"}, "no kernel called")]
)
def test_unknown_states_are_refused(change, message):
    with pytest.raises(BasisError, match=message):
        restore(isotropic(CENTRES[1], WIDTHS).state() | change)


def on(device, array):
    return strict.asarray(array, device=device)


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_array_api_strict_agrees_with_numpy(device, d, kernel):
    pairs = [
        (
            isotropic(CENTRES[d], WIDTHS, kernel),
            isotropic(on(device, CENTRES[d]), on(device, WIDTHS), kernel),
        ),
    ]
    own = shaped(CENTRES[d], covariances(d), kernel)
    pairs.append((own, KernelBasis(kernel, on(device, own.centres), on(device, own.shapes))))
    for plain, other in pairs:
        assert other.size == plain.size
        for orders in itertools.product(range(3), repeat=d):
            if sum(orders) > 3:
                continue
            got = other.matrix(on(device, POINTS[d]), orders)
            assert type(got) is type(other.centres)
            assert got.device == device
            expected = plain.matrix(POINTS[d], orders)
            np.testing.assert_allclose(to_host(got), expected, rtol=1e-11, atol=1e-12)
