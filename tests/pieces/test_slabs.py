"""Functions of space and time made of slabs: derivatives, joints, files."""

import numpy as np
import pytest

from sharpfront.bases.radau import all_nodes
from sharpfront.errors import BasisError
from sharpfront.evolve.mesh import Mesher
from sharpfront.pieces.elements import reference
from sharpfront.pieces.frame import Frame
from sharpfront.pieces.slabs import Slab, SlabBasis, restore_slabs


def exact(x, t):
    return np.exp(np.sin(np.pi * (x - t / 2))) * (1 + t)


def made(ring, order=4, points=7):
    """Return a basis of two slabs and the weights of `exact`, interpolated at each node of time."""
    tables = reference(order, points)
    mesher = Mesher(tables, ring, np.zeros(0), 1000)
    slabs, weights = [], []
    for (start, stop), count, stages in (((0.0, 0.2), 14, 5), ((0.2, 0.8), 18, 7)):
        even = np.linspace(0.0, 2.0, count + 1)
        nodes = even + 0.05 * np.sin(np.pi * even)
        velocities = 0.1 * np.sin(np.pi * even) + (0.3 if ring else 0.0)
        slab = Slab(start, stop, Frame(tables, nodes, velocities, ring), stages)
        slabs.append(slab)
        for t in start + slab.dt * all_nodes(stages):
            values = mesher.interpolant(slab.at(t).nodes, lambda x, t=t: exact(x, t)[:, None])
            weights.append(values[:, 0])
    return SlabBasis(tuple(slabs)), np.concatenate(weights)


@pytest.fixture(scope="module", params=[False, True], ids=["line", "circle"])
def pair(request):
    return made(request.param)


def grid(times=(0.0, 0.07, 0.2, 0.21, 0.5, 0.8)):
    x = np.linspace(0.0, 2.0, 31)
    return np.array([(a, t) for t in times for a in x])


def test_values_are_those_of_the_function(pair):
    basis, weights = pair
    points = grid()
    found = basis.values(weights, points, (0, 0))
    assert np.abs(found - exact(*points.T)).max() < 1e-4
    ends = points[np.isin(points[:, 1], (0.0, 0.2, 0.8))]
    assert np.abs(basis.values(weights, ends, (0, 0)) - exact(*ends.T)).max() < 1e-8
    assert basis.size == len(weights) and basis.dimension == 2
    assert basis.kernels == basis.slabs[1].frame.size
    assert np.allclose(basis.times, [0.0, 0.2, 0.8])


STENCIL = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0


def differences(basis, weights, points, step, orders):
    """Return a derivative by differences along a step."""
    moved = sum(
        w * basis.values(weights, points + k * np.asarray(step), orders)
        for w, k in zip(STENCIL, range(-3, 4), strict=True)
    )
    return moved / np.max(step)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_in_space_are_differences(pair, order):
    basis, weights = pair
    points = grid((0.1, 0.45))
    points = points[(points[:, 0] > 0.1) & (points[:, 0] < 1.9)]
    found = basis.values(weights, points, (order, 0))
    moved = differences(basis, weights, points, (1e-4, 0.0), (order - 1, 0))
    assert np.abs(found).max() > 1.0
    assert np.allclose(moved, found, rtol=0, atol=1e-5 * np.abs(found).max())


@pytest.mark.parametrize("before", [(0, 0), (1, 0), (2, 0), (0, 1)])
def test_derivatives_in_time_are_differences(pair, before):
    basis, weights = pair
    points = grid((0.1, 0.45))
    found = basis.values(weights, points, (before[0], before[1] + 1))
    moved = differences(basis, weights, points, (0.0, 1e-4), before)
    assert np.abs(found).max() > 1.0
    assert np.allclose(moved, found, rtol=0, atol=1e-5 * np.abs(found).max())


def test_several_at_once_in_any_order_of_points(pair):
    basis, weights = pair
    points = grid()
    shuffled = np.random.default_rng(0).permutation(len(points))
    orders = [(0, 0), (0, 1), (2, 0)]
    together = basis.several(weights, points[shuffled], orders)
    for found, order in zip(together, orders, strict=True):
        alone = basis.values(weights, points, order)[shuffled]
        assert np.allclose(found, alone, rtol=0, atol=1e-12 * np.abs(alone).max())


def test_slabs_join(pair):
    """At a joint both slabs give the function; an instant of the joint is the earlier's."""
    basis, weights = pair
    x = np.linspace(0.05, 1.95, 40)
    sides = [
        basis.values(weights, np.column_stack([x, np.full(40, t)]), (0, 0))
        for t in (0.2, np.nextafter(0.2, 1.0))
    ]
    assert np.abs(sides[0] - sides[1]).max() < 1e-7
    first = SlabBasis(basis.slabs[:1])
    part = weights[: first.size]
    here = first.values(part, np.column_stack([x, np.full(40, 0.2)]), (0, 0))
    assert np.array_equal(here, sides[0])


def test_state_restores_the_same_bits(pair):
    basis, weights = pair
    again = restore_slabs(basis.state())
    points = grid()
    for order in ((0, 0), (3, 0), (0, 1)):
        found = [b.values(weights, points, order) for b in (basis, again)]
        assert np.array_equal(*found)
    assert [s.frame.ring for s in again.slabs] == [s.frame.ring for s in basis.slabs]


def test_files_of_earlier_versions_have_five_stages(pair):
    state = pair[0].state()
    del state["stages"]
    assert [slab.stages for slab in restore_slabs(state).slabs] == [5, 5]


def test_circle_is_periodic():
    basis, weights = made(ring=True)
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
    monkeypatch.setattr("sharpfront.pieces.slabs._POINTS_AT_ONCE", 20)
    assert np.allclose(basis.values(weights, points, (1, 0)), whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("order", "points"), [(2, 5), (2, 6), (4, 6), (4, 7)])
@pytest.mark.parametrize("ring", [False, True])
def test_polynomials_of_the_degree_are_held_exactly(order, points, ring):
    tables = reference(order, points)
    mesher = Mesher(tables, ring, np.zeros(0), 100)
    nodes = np.linspace(0.0, 1.0, 13) + 0.02 * np.sin(2 * np.pi * np.linspace(0, 1, 13))
    frame = mesher.frame(nodes)
    x = np.linspace(0.0, 1.0, 101)

    def of(at):
        wave = np.cos(2 * np.pi * at)
        return np.stack([wave, 1.0 + 0 * at if ring else at**tables.degree], axis=1)

    found = frame.evaluate(mesher.interpolant(nodes, of), x)
    assert np.allclose(found[:, 1], of(x)[:, 1], rtol=0, atol=1e-11)
    assert np.abs(found[:, 0] - of(x)[:, 0]).max() < 1e-6
