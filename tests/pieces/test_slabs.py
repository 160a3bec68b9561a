"""Functions of space and time made of slabs: derivatives, joints, files."""

import numpy as np
import pytest

from sharpfront.errors import BasisError
from sharpfront.pieces.motion import Components, Motion
from sharpfront.pieces.radau import STAGES, all_nodes
from sharpfront.pieces.slabs import Slab, SlabBasis, kernels_of, restore_slabs


def moving(at, width, periodic):
    means = np.array([at, 1.4])
    logs = np.log([width, 0.5])
    return Components(means, logs, np.array([0.7, 0.3]), 0.2), at if periodic else 0.0


def made(periodic, kernels=(24, 30)):
    """Return a basis of two slabs and the weights of f(x - t/2, t), fitted at each node."""
    places = [(0.5, 0.25), (0.6, 0.2), (0.9, 0.22)]
    times = [0.0, 0.2, 0.8]
    slabs, weights = [], []
    for i, count in enumerate(kernels):
        (start, zero), (stop, end) = (moving(*places[j], periodic) for j in (i, i + 1))
        span = (times[i], times[i + 1])
        motion = Motion(0.0, 2.0, span, start, stop, periodic, (zero, end))
        slab = Slab(motion, count)
        slabs.append(slab)
        for t in span[0] + motion.dt * all_nodes():
            where = motion.at(float(t))
            xi = (np.arange(4 * count) + 0.5) / (4 * count)
            table = slab.functions.table(xi, 0).values[0]
            values = exact(where.invert(xi).x, t)
            weights.append(np.linalg.lstsq(table, values, rcond=1e-13)[0])
    return SlabBasis(tuple(slabs)), np.concatenate(weights)


def exact(x, t):
    return np.exp(np.sin(np.pi * (x - t / 2))) * (1 + t)


@pytest.fixture(scope="module", params=[False, True], ids=["line", "circle"])
def pair(request):
    return made(request.param)


def grid(times=(0.0, 0.07, 0.2, 0.21, 0.5, 0.8)):
    x = np.linspace(0.0, 2.0, 31)
    return np.array([(a, t) for t in times for a in x])


def test_values_are_those_fitted(pair):
    basis, weights = pair
    points = grid()
    found = basis.values(weights, points, (0, 0))
    assert np.abs(found - exact(*points.T)).max() < 2e-5
    assert basis.size == len(weights) and basis.dimension == 2 and basis.kernels == 30
    assert np.allclose(basis.times, [0.0, 0.2, 0.8])


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_derivatives_in_space_are_differences(pair, order):
    basis, weights = pair
    points = grid((0.1, 0.45))
    points = points[(points[:, 0] > 0.1) & (points[:, 0] < 1.9)]
    h = 2e-3
    stencil = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
    moved = sum(
        w * basis.values(weights, points + np.array([k * h, 0.0]), (order - 1, 0))
        for w, k in zip(stencil, range(-3, 4), strict=True)
    )
    found = basis.values(weights, points, (order, 0))
    assert np.abs(found).max() > 1.0
    assert np.allclose(moved / h, found, rtol=0, atol=1e-6 * np.abs(found).max())


@pytest.mark.parametrize("before", [(0, 0), (1, 0), (2, 0), (0, 1)])
def test_derivatives_in_time_are_differences(pair, before):
    basis, weights = pair
    points = grid((0.1, 0.45))
    h = 1e-3
    stencil = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
    moved = sum(
        w * basis.values(weights, points + np.array([0.0, k * h]), before)
        for w, k in zip(stencil, range(-3, 4), strict=True)
    )
    found = basis.values(weights, points, (before[0], before[1] + 1))
    assert np.abs(found).max() > 1.0
    assert np.allclose(moved / h, found, rtol=0, atol=1e-6 * np.abs(found).max())


def test_several_at_once_in_any_order_of_points(pair):
    basis, weights = pair
    points = grid()
    shuffled = np.random.default_rng(0).permutation(len(points))
    orders = [(0, 0), (0, 1), (2, 0)]
    together = basis.several(weights, points[shuffled], orders)
    for found, order in zip(together, orders, strict=True):
        alone = basis.values(weights, points, order)[shuffled]
        assert np.allclose(found, alone, rtol=0, atol=1e-8 * np.abs(alone).max())


def test_slabs_join(pair):
    """At a joint both slabs give the fitted function; an instant of the joint is the earlier's."""
    basis, weights = pair
    x = np.linspace(0.05, 1.95, 40)
    sides = [
        basis.values(weights, np.column_stack([x, np.full(40, t)]), (0, 0))
        for t in (0.2, np.nextafter(0.2, 1.0))
    ]
    assert np.abs(sides[0] - sides[1]).max() < 2e-5
    first = SlabBasis(basis.slabs[:1])
    part = weights[: first.size]
    here = first.values(part, np.column_stack([x, np.full(40, 0.2)]), (0, 0))
    assert np.array_equal(here, sides[0])


def test_same_coordinate_and_weights_join_exactly():
    components, _ = moving(0.5, 0.1, False)
    spans = [(0.0, 0.5), (0.5, 2.0)]
    slabs = tuple(Slab(Motion(0.0, 2.0, s, components, components), 20) for s in spans)
    size = slabs[0].functions.size
    # Random smooth functions: what the last combinations of kernels hold is rounding.
    random = np.random.default_rng(4)
    levels = random.normal(size=(2 * STAGES + 1, size)) * 0.5 ** np.arange(size)
    weights = np.concatenate([levels[: STAGES + 1].ravel(), levels[STAGES:].ravel()])
    x = np.linspace(0, 2, 20)
    a, b = (
        SlabBasis(slabs).values(weights, np.column_stack([x, np.full(20, t)]), (0, 0))
        for t in (0.5, np.nextafter(0.5, 1.0))
    )
    assert np.allclose(a, b, rtol=0, atol=1e-11)


def test_state_restores_the_same_bits(pair):
    basis, weights = pair
    again = restore_slabs(basis.state())
    points = grid()
    for order in ((0, 0), (3, 0), (0, 1)):
        found = [b.values(weights, points, order) for b in (basis, again)]
        assert np.array_equal(*found)
    assert [s.kernels for s in again.slabs] == [24, 30]
    assert again.slabs[1].motion.zeros == basis.slabs[1].motion.zeros
    assert again.slabs[0].motion.periodic == basis.slabs[0].motion.periodic


def test_circle_is_periodic():
    basis, weights = made(periodic=True)
    points = grid((0.1, 0.6))
    for order in ((0, 0), (2, 0), (0, 1)):
        here = basis.values(weights, points, order)
        turned = basis.values(weights, points + np.array([2.0, 0.0]), order)
        assert np.allclose(here, turned, rtol=0, atol=1e-10 * np.abs(here).max())


@pytest.mark.parametrize("orders", [(5, 0), (0, 3), (1, 2), (4, 1)])
def test_derivatives_that_are_not_there(pair, orders):
    basis, weights = pair
    with pytest.raises(BasisError, match=f"order {orders[0]} in x and {orders[1]} in t"):
        basis.values(weights, grid(), orders)


def test_nothing_is_fitted_with_all_slabs(pair):
    with pytest.raises(BasisError, match="values"):
        pair[0].matrix(grid(), (0, 0))


def test_large_evaluations_are_cut_in_parts(pair, monkeypatch):
    basis, weights = pair
    points = grid()
    whole = basis.values(weights, points, (1, 0))
    monkeypatch.setattr("sharpfront.pieces.slabs._CHUNK", 200)
    parts = basis.values(weights, points, (1, 0))
    assert np.allclose(parts, whole, rtol=0, atol=1e-8 * np.abs(whole).max())


def test_kernels_of_both_kinds():
    assert kernels_of(20, periodic=False).kernels == 20
    assert kernels_of(20, periodic=True).kernels == 21
