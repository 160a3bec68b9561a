"""Merges by Gram matrices give what QR gives, or step aside."""

import itertools
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.bases.patch import Patch
from sharpfront.leastsquares import gram as gram_module
from sharpfront.leastsquares import threads
from sharpfront.leastsquares.dissection import nested_dissection
from sharpfront.leastsquares.leaves import factor_leaves
from sharpfront.leastsquares.reflectors import packed_triangle
from sharpfront.leastsquares.tree import TreeElimination
from sharpfront.maps import AxisMap
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.rows.patch_rows import PatchRows

SQUARE = sf.Box((0, 1), (0, 1))


def eliminated(problem, lines, functions):
    """The elimination of a problem on the patches between lines, and its leaves."""
    sides = [[AxisMap(a, b) for a, b in itertools.pairwise(x)] for x in lines]
    patches = tuple(Patch((a, b), functions) for a in sides[0] for b in sides[1])
    system = patch_system(PatchRows(problem, 1), tiling_of(SQUARE), patches)
    tree = nested_dissection(system.orderings, system.pairs, system.sizes.astype(float))
    elimination = TreeElimination(tree, system.pairs, system.sizes)
    return elimination, factor_leaves(system.rows(range(len(patches))), elimination.order)


def of_order_two(c, d, k):
    return sf.Problem(
        SQUARE,
        lambda u, x, y: (
            -(1 + c * x) * sf.laplacian(u) + d * u.dx + k * u - np.exp(x) * np.sin(4 * y)
        ),
        boundary=lambda u, x, y: u - x,
    )


def assert_same(found, wanted, rel=1e-9):
    for a, b in zip(found.columns, wanted.columns, strict=True):
        np.testing.assert_allclose(a, b, atol=rel * max(1.0, np.abs(b).max()))
    assert found.residual_norm == pytest.approx(wanted.residual_norm, rel=1e-6, abs=1e-12)


@settings(derandomize=True, deadline=None, max_examples=8)
@given(
    st.sampled_from([0.0, 0.7]),
    st.floats(-20, 20),
    st.floats(-300, 100),
    st.integers(2, 5),
    st.booleans(),
)
def test_gram_matrices_solve_what_qr_solves(c, d, k, n, graded):
    even = np.linspace(0, 1, n + 1)
    lines = [(even**3 if graded else even).tolist(), even.tolist()]
    elimination, leaves = eliminated(of_order_two(c, d, k), lines, (6, 7))
    found, wanted = (elimination.solve(leaves, gram=g) for g in (True, False))
    assert found.refinements is not None and wanted.refinements is None
    assert found.condition == pytest.approx(wanted.condition, rel=0.1)
    assert_same(found, wanted)


PLATE = sf.Problem(
    SQUARE,
    lambda u, x, y: u.dxxxx + 2 * u.dxxyy + u.dyyyy - np.cos(3 * x * y),
    boundary=lambda u, x, y: (u, u.dn),
)
PAIR = sf.Problem(
    SQUARE,
    lambda u, v, x, y: (sf.laplacian(u) - 9 * v, sf.laplacian(v) + x * u.dy - 1),
    boundary=lambda u, v, x, y: (u, v - y),
)


def test_a_plate_and_a_system():
    lines = [[0.0, 0.3, 0.5, 1.0]] * 2
    for problem in (PLATE, PAIR):
        elimination, leaves = eliminated(problem, lines, (8, 8))
        found, wanted = (elimination.solve(leaves, gram=g) for g in (True, False))
        assert_same(found, wanted, 1e-8)


@pytest.mark.parametrize("share", [3e-5, 1e-5, 1e-9])
def test_rows_that_gram_matrices_lose_are_left_to_qr(share):
    """Moments of very different sizes: with their squares the small ones are rounding."""
    elimination, leaves = eliminated(of_order_two(0.5, 1.0, 0.0), [[0.0, 0.4, 1.0]] * 2, (6, 6))
    odd = []
    for leaf in leaves:
        mixed = leaf.triangle @ (
            np.ones((len(leaf.triangle),) * 2) + share * np.eye(len(leaf.triangle))
        )
        upper = np.linalg.qr(np.column_stack([mixed, leaf.rhs]), mode="r")
        n = len(leaf.triangle)
        odd.append(replace(leaf, packed=packed_triangle(upper[:n, :n]), rhs=upper[:n, n:]))
    found, wanted = (elimination.solve(odd, gram=g) for g in (True, False))
    assert found.refinements is None
    for a, b in zip(found.columns, wanted.columns, strict=True):
        np.testing.assert_array_equal(a, b)


def test_equal_merges_are_made_once(monkeypatch):
    made = []
    plain = gram_module._merged
    monkeypatch.setattr(gram_module, "_merged", lambda *each: made.append(0) or plain(*each))
    lines = [np.linspace(0, 1, 17).tolist()] * 2
    counts = []
    for c in (0.0, 0.3):
        elimination, leaves = eliminated(of_order_two(c, 1.0, 0.0), lines, (4, 4))
        made.clear()
        elimination.solve(leaves, gram=True)
        counts.append(len(made))
    assert counts[1] == 255
    assert counts[0] < 128


@pytest.mark.parametrize("gram", [True, False])
def test_threads_change_nothing(monkeypatch, gram):
    """Not a bit: each leaf and merge is made by one of them."""
    lines = [np.linspace(0, 1, 5).tolist()] * 2
    problem = of_order_two(0.4, 3.0, -20.0)
    one, leaves = eliminated(problem, lines, (5, 6))
    wanted = one.solve(leaves, gram=gram)
    monkeypatch.setattr(threads, "WORTH", 0.0)
    for module in (threads, gram_module):
        monkeypatch.setattr(module, "cores", lambda: 4)
    many, leaves = eliminated(problem, lines, (5, 6))
    found = many.solve(leaves, gram=gram)
    for a, b in zip(found.columns, wanted.columns, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("asked, most", [("1", 1), ("3", 3), ("", 10**6), ("many", 10**6)])
def test_no_more_threads_than_asked_for(monkeypatch, asked, most):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert 1 <= threads.cores() <= most


def test_little_work_is_done_by_one_thread():
    doing = threads.mapped(lambda _: threading.get_ident(), range(8), 0.5 * threads.WORTH)
    assert set(doing) == {threading.get_ident()}


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("cores", [1, 3])
def test_the_next_is_made_while_the_last_is_worked_on(monkeypatch, count, cores):
    monkeypatch.setattr(threads, "cores", lambda: cores)
    here, workers = threading.get_ident(), set()

    def made(item):
        assert threading.get_ident() == here
        return item + 1

    def worked_on(item):
        workers.add(threading.get_ident())
        return 10 * item

    assert [*threads.overlapped(made, worked_on, range(count))] == [
        10 * (i + 1) for i in range(count)
    ]
    assert (here in workers) == (count == 1 or (cores == 1 and count > 0))
