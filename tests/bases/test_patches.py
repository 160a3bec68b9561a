"""Legendre products on mapped boxes: values, derivatives, and patches side by side."""

import numpy as np
import pytest

from sharpfront.bases.legendre import gauss, gauss_table, legendre_table
from sharpfront.bases.patch import Patch, product_matrix
from sharpfront.bases.patchwork import PatchworkBasis, restore_patchwork
from sharpfront.maps import AxisMap

MAPS = [AxisMap(0.2, 0.9), AxisMap(-1.0, 2.0, 3.0), AxisMap(0.5, 0.501, -4.5)]


def test_polynomials_are_orthonormal_in_the_mean():
    _, w = gauss(12)
    table = gauss_table(12, 10, 0)[0]
    np.testing.assert_allclose((table * w[:, None]).T @ table, np.eye(10), atol=1e-13)


def test_derivatives_of_polynomials():
    z = np.linspace(-0.9, 0.9, 7)
    table = legendre_table(z, 9, 4)
    for k in range(9):
        exact = np.polynomial.legendre.Legendre.basis(k) * np.sqrt(2 * k + 1)
        for m in range(5):
            np.testing.assert_allclose(table[m, :, k], exact.deriv(m)(z), atol=1e-9)


@pytest.mark.parametrize("axis", MAPS)
def test_a_map_and_its_inverse(axis):
    z = np.linspace(-1, 1, 21)
    np.testing.assert_allclose(axis.inverse(axis.points(z)), z, atol=1e-12)
    assert axis.points(np.array([-1.0, 1.0])) == pytest.approx([axis.low, axis.high])


@pytest.mark.parametrize("axis", MAPS)
def test_derivatives_of_mapped_functions(axis):
    patch = Patch((axis,), (6,))
    z = np.array([-0.6, 0.1, 0.7])
    x = axis.points(z)
    found = patch.axis_table(0, x, 4)
    for m in range(1, 5):
        # The spacing of points there: differences of a function on its own scale.
        h = 1e-4 / axis.slopes(z, 1)[0]
        up, down = (patch.axis_table(0, x + s * h, m - 1)[m - 1] for s in (1, -1))
        slope = (up - down) / (2 * h[:, None])
        np.testing.assert_allclose(found[m], slope, rtol=1e-5, atol=1e-6 * np.abs(found[m]).max())


def square():
    sides = [AxisMap(0.0, 0.25), AxisMap(0.25, 1.0, 2.0)]
    return PatchworkBasis(tuple(Patch((a, b), (4, 5)) for a in sides for b in sides))


@pytest.mark.parametrize("count", [40, 400])
def test_values_are_the_matrix_times_the_weights(count):
    basis, random = square(), np.random.default_rng(0)
    weights, points = random.standard_normal(basis.size), random.random((count, 2))
    for orders in ((0, 0), (1, 0), (0, 2), (2, 1)):
        np.testing.assert_allclose(
            basis.values(weights, points, orders), basis.matrix(points, orders) @ weights
        )


def test_points_belong_to_the_patch_they_lie_in():
    basis = square()
    points = np.array([[0.1, 0.1], [0.1, 0.9], [0.3, 0.1], [1.0, 1.0], [1.2, -0.1]])
    assert basis.owner(points).tolist() == [0, 1, 2, 3, 2]


def test_a_patchwork_is_made_again_from_its_state():
    basis, random = square(), np.random.default_rng(1)
    weights, points = random.standard_normal(basis.size), random.random((20, 2))
    again = restore_patchwork(basis.state())
    assert np.array_equal(
        again.values(weights, points, (1, 1)), basis.values(weights, points, (1, 1))
    )


def test_products_are_numbered_with_the_last_axis_fastest():
    a, b = np.array([[1.0, 2.0]]), np.array([[1.0, 10.0, 100.0]])
    assert product_matrix([a, b]).tolist() == [[1, 10, 100, 2, 20, 200]]


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_at_no_points_there_are_no_values(dimension):
    ends = [np.linspace(0.0, 1.0, 3), *[np.array([0.0, 1.0])] * (dimension - 1)]
    halves = [AxisMap(a, b) for a, b in zip(ends[0], ends[0][1:], strict=False)]
    rest = (AxisMap(0.0, 1.0),) * (dimension - 1)
    basis = PatchworkBasis(tuple(Patch((m, *rest), (3,) * dimension) for m in halves))
    orders = (1, *(0,) * (dimension - 1))
    assert basis.values(np.ones(basis.size), np.zeros((0, dimension)), orders).shape == (0,)
    assert basis.matrix(np.zeros((0, dimension)), orders).shape == (0, basis.size)
