"""Patches in charts of quadrilaterals: the map, its inverse, the chain rule, several charts."""

import itertools

import numpy as np
import pytest

from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis, restore_patchwork
from sharpfront.maps import AxisMap, Quadrilateral

SEEDS = range(4)


def quadrilateral(seed):
    """Return a square with its corners moved, turned and scaled."""
    random = np.random.default_rng(seed)
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) + random.uniform(-0.2, 0.2, (4, 2))
    turn = random.uniform(0, 2 * np.pi)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    corners = 10 ** random.uniform(-1, 1) * corners @ rotation.T + random.uniform(-5, 5, 2)
    return Quadrilateral(tuple(map(tuple, corners.tolist())))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chart_and_its_inverse(seed):
    chart = quadrilateral(seed)
    at = np.random.default_rng(seed).random((200, 2)) * chart.size
    np.testing.assert_allclose(chart.inverse(chart.points(at)), at, atol=1e-11 * chart.size.max())
    for axis, end in itertools.product((0, 1), (0, 1)):
        ends = np.zeros((2, 2))
        ends[1, 1 - axis] = chart.size[1 - axis]
        ends[:, axis] = end * chart.size[axis]
        np.testing.assert_allclose(chart.points(ends), chart.edge(axis, end), atol=1e-12)


def one_patch(chart, functions):
    sides = tuple(AxisMap(0.0, float(length)) for length in chart.size)
    return PatchworkBasis((Patch(sides, functions, chart),))


@pytest.mark.parametrize("seed", SEEDS)
def test_polynomials_in_space_have_their_derivatives_up_to_order_four(seed):
    """Along the sides of a chart x and y are linear, so that polynomials in them are held."""
    chart, random = quadrilateral(seed), np.random.default_rng(seed)
    basis = one_patch(chart, (5, 5))
    points = chart.points(random.random((60, 2)) * chart.size)
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    exact = np.polynomial.Polynomial(random.standard_normal(5))

    def of(x, orders):
        # q(a x + b y) with q of degree four.
        scaled = (x - low) / size
        k = sum(orders)
        inner = scaled @ np.array([0.7, -0.4])
        return exact.deriv(k)(inner) * (0.7 / size[0]) ** orders[0] * (-0.4 / size[1]) ** orders[1]

    weights = np.linalg.lstsq(basis.matrix(points, (0, 0)), of(points, (0, 0)), rcond=None)[0]
    for orders in itertools.product(range(5), repeat=2):
        if sum(orders) <= 4:
            wanted = of(points, orders)
            scale = max(np.abs(wanted).max(), np.prod(size ** -np.array(orders, dtype=float)))
            np.testing.assert_allclose(
                basis.values(weights, points, orders), wanted, atol=1e-8 * scale
            )


def pair():
    """Return two charts with a common side, the second of them in two patches."""
    a, b, c, d, e, f = (0.0, 0.0), (1.0, 0.2), (1.1, 1.0), (0.0, 0.9), (2.0, 0.0), (2.2, 1.3)
    charts = Quadrilateral((a, b, c, d)), Quadrilateral((c, b, e, f))
    whole = one_patch(charts[0], (4, 3)).patches
    along, across = charts[1].size.tolist()
    halves = AxisMap(0.0, 0.5 * along), AxisMap(0.5 * along, along)
    rest = (Patch((half, AxisMap(0.0, across)), (3, 5), charts[1]) for half in halves)
    return PatchworkBasis((*whole, *rest))


def test_values_are_the_matrix_times_the_weights():
    basis, random = pair(), np.random.default_rng(0)
    weights, points = random.standard_normal(basis.size), basis.centres
    for orders in ((0, 0), (1, 0), (0, 2), (2, 1)):
        found = basis.values(weights, points, orders)
        np.testing.assert_allclose(found, basis.matrix(points, orders) @ weights, rtol=1e-9)


def test_points_belong_to_the_chart_they_lie_in():
    basis = pair()
    owners = np.repeat(np.arange(3), np.diff(basis.starts))
    assert np.array_equal(basis.owner(basis.centres), owners)
    assert set(basis.owner(np.array([[-3.0, 0.5], [5.0, 0.5]])).tolist()) <= {0, 1, 2}


def test_charts_are_made_again_from_the_state():
    basis, random = pair(), np.random.default_rng(1)
    weights = random.standard_normal(basis.size)
    again = restore_patchwork(basis.state())
    for orders in ((0, 0), (1, 1)):
        assert np.array_equal(
            again.values(weights, basis.centres, orders),
            basis.values(weights, basis.centres, orders),
        )


def test_several_sums_are_the_same_as_one_by_one():
    charts = [quadrilateral(0), quadrilateral(1)]
    boxes = [
        one_patch(chart, counts).patches[0]
        for chart, counts in zip(charts, [(3, 5), (4, 4)], strict=True)
    ]
    basis = PatchworkBasis(tuple(boxes))
    random = np.random.default_rng(5)
    points = np.concatenate([chart.points(random.random((9, 2)) * chart.size) for chart in charts])
    weights = random.standard_normal((3, basis.size))
    one_by_one = [basis.values(own, points, (0, 0)) for own in weights]
    np.testing.assert_allclose(basis.sums(weights, points), one_by_one, atol=1e-12)
