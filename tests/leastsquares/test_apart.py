"""Leaves whose unknowns no row couples."""

from dataclasses import replace

import numpy as np
import pytest

from sharpfront.leastsquares.dissection import nested_dissection
from sharpfront.leastsquares.leaf_rows import LeafRows, Reduced, Tie
from sharpfront.leastsquares.leaves import DecoupledLeaves, factor_leaves
from sharpfront.leastsquares.tree import TreeElimination

PAIRS, SIZES = np.array([(0, 1), (1, 2), (0, 2)]), np.array([4, 6, 4])


def doubled(matrix, other):
    """Return rows of two unknowns in turn."""
    none = np.zeros_like(matrix)
    both = np.stack([np.hstack([matrix, none]), np.hstack([none, other])], axis=1)
    return both.reshape(2 * len(matrix), -1)


def system(alike):
    """Three leaves of two unknowns with four functions each."""
    random = np.random.default_rng(3)
    out = []
    for i in range(3):
        draws = [
            random.standard_normal((n, 4))
            for n in (6, 2, *(SIZES[k] // 2 for k in range(3) if i in PAIRS[k]))
        ]
        others = draws if alike else [random.standard_normal(a.shape) for a in draws]
        (own, further, *ties), (own2, further2, *ties2) = draws, others
        rhs = [random.standard_normal((len(own), 2)) for _ in range(2)]
        numbers = [k for k in range(3) if i in PAIRS[k]]
        tied = tuple(
            Tie(k, doubled(a, b), random.standard_normal(SIZES[k]))
            for k, a, b in zip(numbers, ties, ties2, strict=True)
        )
        reduced = Reduced.apart([own, own2], rhs)
        more = (doubled(further, further2),)
        given = random.standard_normal((4, 2))
        out.append(LeafRows(reduced, tied, more, given, 0.7, unknowns=2))
    return out


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("answering", [True, False])
def test_they_are_solved_one_by_one_to_the_same(alike, answering):
    rows = system(alike)
    tree = nested_dissection(np.arange(3.0)[None], PAIRS, SIZES.astype(float))
    elimination = TreeElimination(tree, PAIRS, SIZES)
    assert [len(DecoupledLeaves.of([leaf]).shares) for leaf in rows] == [1 if alike else 2] * 3
    found, wanted = (
        elimination.solve(
            factor_leaves(own, elimination.order, answering=answering),
            lambda which, own=own: [own[i] for i in which],
        )
        for own in (rows, [replace(leaf, unknowns=1) for leaf in rows])
    )
    assert found.residual_norm == pytest.approx(wanted.residual_norm, rel=1e-12)
    for a, b in zip(found.columns, wanted.columns, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-11 * np.abs(b).max())


def test_a_row_of_two_unknowns_keeps_them_together():
    leaf = system(alike=False)[0]
    mixed = leaf.further[0].copy()
    mixed[0] = 1.0
    assert DecoupledLeaves.of([replace(leaf, further=(mixed,))]) is None
    triangle = np.array(leaf.own.triangle)
    triangle[0, 5] = 1e-9
    assert DecoupledLeaves.of([replace(leaf, own=replace(leaf.own, triangle=triangle))]) is None


@pytest.mark.parametrize("alike", [True, False])
def test_rows_reduced_apart_have_the_same_squares(alike):
    random = np.random.default_rng(1)
    one, two = random.standard_normal((2, 7, 4))
    two = one if alike else two
    sides = [random.standard_normal((7, 2)) for _ in range(2)]
    found = Reduced.apart([one, two], sides)
    whole = np.block([[one, np.zeros_like(one)], [np.zeros_like(one), two]])
    wanted = Reduced.of(whole, np.concatenate(sides))
    np.testing.assert_allclose(np.abs(found.triangle), np.abs(wanted.triangle), atol=1e-12)
    np.testing.assert_allclose(
        found.triangle.T @ found.rhs, wanted.triangle.T @ wanted.rhs, atol=1e-12
    )
    assert found.left[0][0, 0] == pytest.approx(wanted.left[0][0, 0])
