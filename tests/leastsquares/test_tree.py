"""Elimination along a tree gives what a dense least-squares solve gives."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharpfront.leastsquares import traces
from sharpfront.leastsquares.dissection import MergeTree, last_merge, nested_dissection
from sharpfront.leastsquares.leaf_rows import LeafRows, Reduced, Tie
from sharpfront.leastsquares.leaves import factor_leaves
from sharpfront.leastsquares.traces import TraceSystem, Tree
from sharpfront.leastsquares.tree import TreeElimination


def leaf_system(seed, leaves, extra=0.5):
    """Leaves in a random connected graph, with random rows."""
    random = np.random.default_rng(seed)
    pairs = [(int(random.integers(i)), i) for i in range(1, leaves)]
    pairs += [
        p for p in itertools.combinations(range(leaves), 2) if random.random() < extra / leaves
    ]
    pairs = sorted(set(pairs))
    sizes = random.integers(1, 4, len(pairs))
    rows = []
    for i in range(leaves):
        n = int(random.integers(2, 6))
        own = [k for k, pair in enumerate(pairs) if i in pair]
        ties = tuple(Tie(k, random.standard_normal((sizes[k], n))) for k in own)
        m, more = n + int(random.integers(0, 4)), int(random.integers(0, 3))
        own = Reduced.of(random.standard_normal((m, n)), random.standard_normal((m, 2)))
        further = (random.standard_normal((1, n)),) * more
        rhs = random.standard_normal((more, 2)) if more else None
        rows.append(LeafRows(own, ties, further, rhs, float(random.uniform(0.5, 2.0))))
    keys = random.standard_normal((2, leaves))
    return rows, np.array(pairs, dtype=np.int64).reshape(-1, 2), sizes.astype(np.int64), keys


def dense(rows, sizes):
    """Return the columns of all leaves and the residual norm from one dense solve."""
    starts = np.concatenate([[0], np.cumsum([len(r.own.triangle) for r in rows])])
    offset = starts[-1] + np.concatenate([[0], np.cumsum(sizes)])
    blocks, rhs = [], []
    for i, leaf in enumerate(rows):
        own = slice(starts[i], starts[i + 1])
        matrix = np.concatenate([leaf.weight * leaf.own.triangle, *leaf.further])
        block = np.zeros((len(matrix), offset[-1]))
        block[:, own] = matrix
        blocks.append(block)
        rhs += [leaf.weight * leaf.own.rhs, *([] if leaf.rhs is None else [leaf.rhs])]
        for tie in leaf.ties:
            block = np.zeros((len(tie.matrix), offset[-1]))
            block[:, own] = tie.matrix
            block[:, offset[tie.trace] : offset[tie.trace + 1]] = -np.eye(len(tie.matrix))
            blocks.append(block)
            rhs.append(np.zeros((len(tie.matrix), leaf.own.rhs.shape[1])))
    a, b = np.concatenate(blocks), np.concatenate(rhs)
    x = np.linalg.lstsq(a, b, rcond=None)[0]
    rest = sum(r.weight**2 * np.sum(r.own.left[0][:, 0] ** 2) for r in rows)
    left = np.sqrt(np.sum((a @ x - b)[:, 0] ** 2) + rest)
    return [x[s:e] for s, e in itertools.pairwise(starts)], left


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 12), st.booleans())
def test_a_tree_solves_what_a_dense_method_solves(seed, leaves, gram):
    rows, pairs, sizes, keys = leaf_system(seed, leaves)
    tree = nested_dissection(keys, pairs, sizes.astype(float))
    elimination = TreeElimination(tree, pairs, sizes)
    found = elimination.solve(factor_leaves(rows, elimination.order), gram=gram)
    wanted, norm = dense(rows, sizes)
    for a, b in zip(found.columns, wanted, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9 * max(1.0, np.abs(b).max()))
    assert found.residual_norm == pytest.approx(norm, abs=1e-9)


def as_system(rows, pairs, sizes, keys):
    def arranged(columns):
        return np.concatenate(columns)

    return TraceSystem(
        lambda: [(id(rows), i) for i in range(len(rows))],
        lambda which: [rows[i] for i in which],
        pairs,
        sizes,
        keys,
        arranged,
    )


def test_leaves_that_come_again_are_not_assembled_again_and_give_the_same():
    rows, pairs, sizes, keys = leaf_system(5, 9)
    method = Tree()
    first = method.factor(as_system(rows, pairs, sizes, keys))[1]

    def refuse(which):
        assert not list(which)
        return []

    again = as_system(rows, pairs, sizes, -keys[::-1])
    again = replace(again, rows=refuse)
    second = method.factor(again)[1]
    for a, b in zip(first.columns, second.columns, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9 * max(1.0, np.abs(a).max()))


def test_equal_leaves_share_a_factorisation():
    rows, *_ = leaf_system(3, 2, extra=0)
    other = replace(rows[0], own=replace(rows[0].own, rhs=rows[0].own.rhs + 1.0))
    one, two = factor_leaves([rows[0], other], [0])
    (alone,) = factor_leaves([other], [0])
    assert one.response is two.response or np.shares_memory(one.response, two.response)
    np.testing.assert_allclose(two.start, alone.start)
    np.testing.assert_allclose(np.abs(two.rhs), np.abs(alone.rhs))


def test_leaves_that_keep_no_answers_are_solved_from_their_rows(monkeypatch):
    rows, pairs, sizes, keys = leaf_system(5, 9)
    wanted = Tree().factor(as_system(rows, pairs, sizes, keys))[1]
    monkeypatch.setattr(traces, "FORGETTING", 1)
    system = replace(as_system(rows, pairs, sizes, keys), alike=False, light=True)
    method = Tree()
    for _ in range(2):
        found = method.factor(system)[1]
        assert all(leaf.response is None for leaf in method._known.values())
        for a, b in zip(found.columns, wanted.columns, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12 * max(1.0, np.abs(b).max()))


def test_the_last_merge_of_two_leaves():
    tree = MergeTree(4, np.array([(0, 1), (2, 3), (4, 5)]))
    pairs = np.array([(0, 1), (2, 3), (0, 3)])
    assert last_merge(tree, pairs).tolist() == [4, 5, 6]
    assert tree.depths.tolist() == [2, 2, 2, 2, 1, 1, 0]


def test_a_chain_is_cut_in_the_middle():
    pairs = np.array([(i, i + 1) for i in range(7)])
    tree = nested_dissection(np.arange(8.0)[None], pairs, np.ones(7))
    assert tree.depths.max() == 3


def test_a_strip_rolled_up_is_cut_across():
    # Neighbours along the strip share traces, neighbouring turns do not: no axis cuts it cheaply.
    angle = 2.0 * np.pi * np.sqrt(np.arange(1.0, 200.0))
    keys = np.array([angle * np.cos(angle), angle * np.sin(angle)])
    pairs = np.stack([np.arange(198), np.arange(1, 199)], axis=1)
    tree = nested_dissection(keys, pairs, np.ones(198))
    assert np.bincount(last_merge(tree, pairs))[-1] == 1
