"""Elimination in batches gives what the processor gives, on NumPy and, where it is, on torch."""

import itertools
import os
import sys
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.leastsquares.numpy_device import Host
from tests.leastsquares.test_gram import PAIR, PLATE, SQUARE, of_order_two

import sharpfront as sf
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.arrays import to_host
from sharpfront.bases.patch import Patch
from sharpfront.errors import ArgumentError, DeviceError, DeviceMemoryError, MissingExtraError
from sharpfront.leastsquares import (
    batched_leaves,
    batched_merges,
    batched_tree,
)
from sharpfront.leastsquares import device as factors
from sharpfront.leastsquares.batched_leaves import orthonormal
from sharpfront.leastsquares.device import VARIABLE, Card, device_named, inverse_factors
from sharpfront.leastsquares.traces import Tree
from sharpfront.maps import AxisMap
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.solve import strategy


def through_torch():
    """Torch on the processor, or on a card if one is named."""
    pytest.importorskip("torch")
    return Card(os.environ.get("SHARPFRONT_TEST_DEVICE", "cpu"))


DEVICES = pytest.mark.parametrize("device", [Host, through_torch])


def between(lines, functions, chart=None):
    """The patches between lines, (place, strength of the map above it) each or places alone."""
    ends = [[(x, 0.0) if isinstance(x, float) else x for x in own] for own in lines]
    sides = [[AxisMap(a, b, k) for (a, k), (b, _) in itertools.pairwise(x)] for x in ends]
    return tuple(Patch(maps, functions, chart) for maps in itertools.product(*sides))


def solved(problem, lines, functions, tree, heavier=1.0):
    """The solution on the patches between lines, and the columns in order."""
    return solved_on(problem, between(lines, functions), tree, heavier)


def solved_on(problem, patches, tree, heavier=1.0):
    """The solution on patches, and the columns in order."""
    rows = PatchRows(problem, 1)
    system = patch_system(rows, tiling_of(problem.domain), patches, heavier)
    found = tree.factor(system)[1]
    return found, system.arranged(found.columns)


def assert_same(problem, lines, functions, device, rel=1e-9, heavier=1.0):
    assert_same_on(problem, between(lines, functions), device, rel, heavier)


def assert_same_on(problem, patches, device, rel=1e-9, heavier=1.0):
    found, columns = solved_on(problem, patches, Tree(device=device, large=1), heavier)
    wanted, others = solved_on(problem, patches, Tree(), heavier)
    assert found.refinements is not None
    scale = np.abs(others).max(axis=0)
    assert np.all(np.abs(columns - others).max(axis=0) <= rel * scale)
    assert found.residual_norm == pytest.approx(wanted.residual_norm, rel=1e-6, abs=1e-12)
    assert found.condition == pytest.approx(wanted.condition, rel=0.1)


@DEVICES
@settings(derandomize=True, deadline=None, max_examples=6)
@given(
    st.sampled_from([0.0, 0.7]),
    st.floats(-20, 20),
    st.floats(-300, 100),
    st.integers(2, 4),
    st.booleans(),
    st.sampled_from([1.0, 30.0]),
)
def test_a_device_solves_what_the_processor_solves(device, c, d, k, n, graded, heavier):
    even = np.linspace(0, 1, n + 1)
    lines = [(even**3 if graded else even).tolist(), even.tolist()]
    assert_same(of_order_two(c, d, k), lines, (6, 7), device(), heavier=heavier)


@DEVICES
def test_a_layer_a_plate_a_system_an_integral_and_a_cube(device):
    layer = sf.Problem(
        SQUARE,
        lambda u, x, y: -1e-6 * sf.laplacian(u) + u - np.cos(x * y),
        boundary=lambda u, x, y: u,
    )
    only_slopes = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u) - np.pi**2 * np.cos(np.pi * x),
        boundary=lambda u, x, y: u.dn,
        conditions=sf.integral(lambda u, x, y: u, 2.0),
    )
    narrow, lines = [0.0, 3e-3, 0.997, 1.0], [0.0, 0.3, 0.5, 1.0]
    assert_same(layer, [narrow] * 2, (10, 10), device())
    for problem in (PLATE, PAIR, only_slopes):
        assert_same(problem, [lines] * 2, (8, 8), device(), 1e-8)
    cube = sf.Problem(
        sf.Box((0, 1), (0, 1), (0, 1)),
        lambda u, x, y, z: sf.laplacian(u) - x * y + u,
        boundary=lambda u, x, y, z: u - z,
    )
    assert_same(cube, [[0.0, 0.4, 1.0]] * 3, (4, 4, 4), device())


def on_square(equation, boundary=lambda u, x, y: u):
    return sf.Problem(SQUARE, equation, boundary=boundary)


LINES = [0.0, 0.3, 0.6, 1.0]


@DEVICES
@pytest.mark.parametrize("at", [0.3, 0.6])
def test_rows_made_on_a_device_are_those_made_one_by_one(device, at):
    place, narrow = device(), [[0.0, 1e-3, 0.999, 1.0], [0.0, at, 1.0]]
    moved = on_square(lambda u, x, y: -1e-3 * sf.laplacian(u) + (1 + x) * u.dx - np.cos(x * y))
    crowded = [[(0.0, 3.0), (at, 0.0), 1.0], [0.0, (at, -2.0), 1.0]]
    for lines in (narrow, crowded):
        assert_same(moved, lines, (8, 7), place)
    split = on_square(lambda u, x, y: -sf.div(np.where(x < at, 1.0, 50.0) * sf.grad(u)) - y)
    assert_same(split, [LINES] * 2, (6, 5), place)
    # Its means are not told by the patches' points.
    steep = on_square(lambda u, x, y: -sf.laplacian(u) - abs(x - at) ** -0.4)
    assert_same(steep, [LINES] * 2, (6, 6), place)
    inflow = on_square(
        lambda u, x, y: -sf.div((1 + x * y) * sf.grad(u)) + u.dx - np.exp(x),
        lambda u, x, y: u.dn + u - y,
    )
    hanging = [(0.0, at, 0.0, 1.0), (at, 1.0, 0.0, 0.5), (at, 1.0, 0.5, 1.0)]
    patches = [Patch((AxisMap(a, b), AxisMap(c, d)), (8, 7)) for a, b, c, d in hanging]
    assert_same_on(inflow, (*patches[:2], replace(patches[2], functions=(7, 9))), place, heavier=30)


def of_many_shapes(seed, splits=12):
    """Patches of the square split at random, each with functions of its own."""
    rng = np.random.default_rng(seed)
    boxes = [((0.0, 1.0), (0.0, 1.0))]
    for _ in range(splits):
        box = boxes.pop(int(rng.integers(len(boxes))))
        cut = rng.random(2) < 0.7
        halves = [
            [(a, (a + b) / 2), ((a + b) / 2, b)] if own else [(a, b)]
            for (a, b), own in zip(box, cut, strict=True)
        ]
        boxes += itertools.product(*halves)
    return tuple(
        Patch((AxisMap(*x), AxisMap(*y)), tuple(rng.integers(5, 9, 2).tolist())) for x, y in boxes
    )


@DEVICES
@pytest.mark.parametrize("seed", range(3))
def test_patches_of_many_shapes_are_filled_up_to_few(monkeypatch, device, seed):
    patches, place = of_many_shapes(seed), device()
    problem = on_square(
        lambda u, x, y: -sf.div((1.5 + np.sin(x * y)) * sf.grad(u)) + x * u.dy - np.exp(x),
        lambda u, x, y: u.dn + u - y,
    )
    taken = []
    eliminated = batched_tree.eliminated
    monkeypatch.setattr(
        batched_tree,
        "eliminated",
        lambda device, stack: taken.append(stack) or eliminated(device, stack),
    )
    monkeypatch.setattr(factors, "SPARE", 1.0)
    assert_same_on(problem, patches, place)
    assert len(taken) == 1
    assert taken[0].inside is not None
    # What is filled up changes nothing but rounding.
    monkeypatch.setattr(factors, "IN_VAIN", 1e-30)
    few, many = solved_on(problem, patches, Tree(device=place, large=1)), len({*patches})
    assert len(taken) > many / 2
    monkeypatch.setattr(factors, "IN_VAIN", 1e30)
    all_, columns = solved_on(problem, patches, Tree(device=place, large=1))
    np.testing.assert_allclose(columns, few[1], atol=1e-11 * np.abs(columns).max())
    assert all_.condition == pytest.approx(few[0].condition)
    assert_same_on(PAIR, patches, place, 1e-8)


@DEVICES
@pytest.mark.parametrize(("slope", "alike"), [(0.0, True), (1e-7, False)])
def test_leaves_with_the_same_rows_are_eliminated_once(monkeypatch, device, slope, alike):
    place, even, found = device(), np.linspace(0, 1, 7).tolist(), []
    kinds = batched_leaves._kinds
    monkeypatch.setattr(
        batched_leaves, "_kinds", lambda *given: found.append(kinds(*given)) or found[-1]
    )
    monkeypatch.setattr(batched_leaves, "MANY_ALIKE", 1.2)
    problem = on_square(
        lambda u, x, y: -sf.laplacian(u) + (3 + slope * x * y) * u - np.exp(x * y),
        lambda u, x, y: u - y,
    )
    assert_same(problem, [even, even], (6, 6), place)
    assert any(own is not None for own in found) is alike


@DEVICES
def test_rows_in_charts(device):
    slanted = sf.Polygon([(0, 0), (2, 0), (1.5, 1.2), (0.1, 1)])
    problem = sf.Problem(
        slanted, lambda u, x, y: -sf.laplacian(u) + y * u.dx - x, boundary=lambda u, x, y: u
    )
    patches: list[Patch] = []
    for block in tiling_of(slanted).blocks:
        lines = [np.linspace(0, x[-1], 3).tolist() for x in block.lines]
        patches += between(lines, (7, 7), block.chart)
    assert_same_on(problem, tuple(patches), device())


@DEVICES
def test_factors_are_made_of_halves(monkeypatch, device):
    monkeypatch.setattr(factors, "MATRICES", 2)
    monkeypatch.setattr(factors, "COLUMNS", 3)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4, 30, 11))
    grams = rows.mT @ rows
    place = device()
    inverse, diagonal, good = (to_host(a) for a in inverse_factors(place, place.put(grams)))
    assert good.all()
    lower = np.linalg.cholesky(grams)
    np.testing.assert_allclose(inverse, np.linalg.inv(lower), atol=1e-13)
    np.testing.assert_allclose(diagonal, np.linalg.diagonal(lower), rtol=1e-13)
    grams[1, 8, 8] = grams[2, 0, 0] = -1.0
    bad = to_host(inverse_factors(place, place.put(grams)).good)
    np.testing.assert_array_equal(bad, [True, False, False, True])


@DEVICES
def test_the_same_bits_come_twice(device):
    lines = [np.linspace(0, 1, 7).tolist()] * 2
    tree = Tree(device=device(), large=1)
    found = [solved(of_order_two(0.0, 1.0, 3.0), lines, (4, 4), tree)[1] for _ in range(2)]
    np.testing.assert_array_equal(*found)


@DEVICES
@pytest.mark.parametrize("exponent", [0, 3, 6, 9])
def test_columns_that_are_nearly_dependent_become_orthonormal(device, exponent):
    rng = np.random.default_rng(exponent)
    rows = rng.standard_normal((3, 40, 20))
    rows[:, :, 7] = rows[:, :, 8] + 10.0**-exponent * rng.standard_normal((3, 40))
    rows /= np.linalg.norm(rows, axis=1)[:, None, :]
    place = device()
    q, factors, diagonal = orthonormal(place, place.put(rows))
    q, diagonal, *factors = (to_host(a) for a in (q, diagonal, *factors))
    np.testing.assert_allclose(q.mT @ q, np.broadcast_to(np.eye(20), (3, 20, 20)), atol=1e-13)
    upper = q.mT @ rows
    lost = 1e-13 + 1e-15 * 10.0**exponent
    np.testing.assert_allclose(upper, np.triu(upper), atol=10 * lost)
    np.testing.assert_allclose(np.abs(np.linalg.diagonal(upper)), diagonal, rtol=10 * lost)
    for factor in factors:
        upper = upper @ factor.mT
    np.testing.assert_allclose(upper, np.broadcast_to(np.eye(20), (3, 20, 20)), atol=100 * lost)


@pytest.mark.parametrize("where", ["leaves", "merges"])
def test_what_a_device_loses_is_left_to_the_processor(monkeypatch, where):
    if where == "leaves":
        monkeypatch.setattr(batched_leaves, "orthonormal", lambda *_: None)
    else:
        monkeypatch.setattr(batched_merges.BatchedMerges, "factor", lambda *_: False)
    lines = [[0.0, 0.4, 1.0]] * 2
    _, found = solved(of_order_two(0.5, 1.0, 0.0), lines, (6, 6), Tree(device=Host(), large=1))
    _, wanted = solved(of_order_two(0.5, 1.0, 0.0), lines, (6, 6), Tree())
    np.testing.assert_array_equal(found, wanted)


class Small(Host):
    """A device whose memory is too small for what leaves keep, or for anything."""

    def __init__(self, times):
        self.times = times

    @contextmanager
    def guarded(self, needed):
        yield
        self.times -= 1
        if self.times >= 0:
            raise DeviceMemoryError(sum(needed), 2**20)


def test_a_device_with_too_little_memory_works_in_slices():
    problem, lines = of_order_two(0.5, 1.0, 0.0), [[0.0, 0.4, 0.7, 1.0]] * 2
    _, wanted = solved(problem, lines, (6, 6), Tree(device=Host(), large=1))
    _, found = solved(problem, lines, (6, 6), Tree(device=Small(1), large=1))
    np.testing.assert_array_equal(found, wanted)
    with pytest.raises(
        DeviceMemoryError, match=r"0\.000977 GB of memory free, and more than 0\.0003"
    ):
        solved(problem, lines, (6, 6), Tree(device=Small(2), large=1))


def test_few_moments_stay_on_the_processor():
    class Never(Host):
        def put(self, array):
            raise AssertionError

    problem, lines = of_order_two(0.0, 1.0, 0.0), [[0.0, 0.4, 1.0]] * 2
    _, wanted = solved(problem, lines, (5, 5), Tree())
    _, found = solved(problem, lines, (5, 5), Tree(device=Never()))
    np.testing.assert_array_equal(found, wanted)


def test_a_device_is_asked_for_by_name(monkeypatch):
    problem = of_order_two(0.4, 2.0, 1.0)
    asked = []
    monkeypatch.setattr(strategy, "device_named", lambda name: asked.append(name) or Host())
    adaptor = sf.Patches(leastsquares=Tree(large=1))
    found = sf.solve(problem, adaptor=adaptor, device="cuda", tol=1e-2)
    assert asked == ["cuda"]
    assert found.converged
    assert found(0.3, 0.6) == pytest.approx(sf.solve(problem, tol=1e-2)(0.3, 0.6), abs=1e-10)


def test_a_device_that_cannot_be_had_is_refused_in_words(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert device_named(None) is None
    assert device_named("cpu") is None
    with pytest.raises(ArgumentError, match="device='cuda'"):
        device_named(3)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"sharpfront\[gpu\]"):
        sf.solve(of_order_two(0.0, 0.0, 0.0), device="cuda")
    monkeypatch.setenv(VARIABLE, "cuda")
    with pytest.raises(MissingExtraError):
        sf.solve(of_order_two(0.0, 0.0, 0.0))
    line = sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx - 1, boundary=lambda u, x: u)
    assert sf.solve(line).converged
    with pytest.raises(sf.SharpfrontError, match="not solved on patches"):
        sf.solve(line, device="cuda")


def test_a_card_that_is_not_there_is_refused_in_words():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("There is one.")
    with pytest.raises(DeviceError, match="not there"):
        Card("cuda")
    with pytest.raises(DeviceError, match="double precision"):
        Card("meta")
