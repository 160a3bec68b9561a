"""A tree that is factored once against dense least squares."""

from dataclasses import replace

import numpy as np
import pytest

from sharpfront.leastsquares import factored_tree as kept_module
from sharpfront.leastsquares.dissection import nested_dissection
from sharpfront.leastsquares.factored_tree import FactoredTree, KeptLeaf
from sharpfront.leastsquares.leaf_rows import Tie
from sharpfront.leastsquares.tree import TreeElimination

COUNT, OWN, ROWS, TRACE = 5, 6, 8, 2


def _chain(rng, kind, redundant):
    """Return leaves in a row, each joined to the next by one trace."""
    leaves = []
    for i in range(COUNT):
        matrix = rng.standard_normal((ROWS, OWN)) + 0 * kind
        matrix = matrix + (kind.imag * 1j * rng.standard_normal((ROWS, OWN)) if kind.imag else 0)
        traces = [t for t in (i - 1, i) if 0 <= t < COUNT - 1]
        ties = [rng.standard_normal((TRACE, OWN)) for _ in traces]
        if redundant:
            matrix[:, -1] = matrix[:, 0]
            ties = [np.column_stack([t[:, :-1], t[:, 0]]) for t in ties]
        own = tuple(Tie(t, m) for t, m in zip(traces, ties, strict=True))
        leaves.append(KeptLeaf((matrix,), rng.uniform(0.5, 2, ROWS), own, redundant))
    return leaves


def _dense(leaves, data):
    """Return what leaves least of all rows, by one dense fit: columns, traces, shared weights."""
    inner = COUNT * OWN + (COUNT - 1) * TRACE
    shared = [np.zeros((ROWS, 0)) if leaf.shared is None else leaf.shared for leaf in leaves]
    width = inner + shared[0].shape[1]
    rows, right = [], []
    for i, (leaf, own) in enumerate(zip(leaves, data, strict=True)):
        block = np.zeros((ROWS, width), dtype=complex)
        block[:, i * OWN : (i + 1) * OWN] = leaf.matrices[0]
        block[:, inner:] = -shared[i]
        rows.append(block)
        right.append(leaf.scale[:, None] * own)
        for tie in leaf.ties:
            block = np.zeros((TRACE, width), dtype=complex)
            block[:, i * OWN : (i + 1) * OWN] = tie.matrix
            at = COUNT * OWN + tie.trace * TRACE
            block[:, at : at + TRACE] = -np.eye(TRACE)
            rows.append(block)
            right.append(np.zeros((TRACE, own.shape[1])))
    matrix, values = np.concatenate(rows), np.concatenate(right)
    return np.linalg.lstsq(matrix, values, rcond=1e-12)[0]


@pytest.mark.parametrize("redundant", [False, True])
@pytest.mark.parametrize("kind", [1.0 + 0j, 1.0 + 1j], ids=["real", "complex"])
@pytest.mark.parametrize("many", [0, 5000], ids=["gram", "qr"])
def test_columns_are_those_of_a_dense_fit(kind, redundant, many, monkeypatch):
    monkeypatch.setattr(kept_module, "FEW", many)
    rng = np.random.default_rng(3)
    leaves = _chain(rng, kind if kind.imag else 1.0 + 0j, redundant)
    if not kind.imag:
        leaves = [KeptLeaf((m.matrices[0].real,), m.scale, m.ties, m.redundant) for m in leaves]
    pairs = np.stack([np.arange(COUNT - 1), np.arange(1, COUNT)], axis=1)
    sizes = np.full(COUNT - 1, TRACE)
    tree = nested_dissection(np.arange(COUNT, dtype=float)[None], pairs, sizes.astype(float))
    kept = FactoredTree(leaves, TreeElimination(tree, pairs, sizes))
    for _ in range(2):
        data = [rng.standard_normal((ROWS, 3)) for _ in leaves]
        best = _dense(leaves, data)
        found = np.concatenate(kept.solve(data)[0])
        own = [leaf.matrices[0] for leaf in leaves]
        for i, block in enumerate(own):
            here = slice(i * OWN, (i + 1) * OWN)
            np.testing.assert_allclose(block @ found[here], block @ best[here], atol=1e-9)


def test_weights_of_shared_functions_are_those_of_a_dense_fit():
    rng = np.random.default_rng(4)
    leaves = [
        replace(leaf, shared=rng.standard_normal((ROWS, 2)))
        for leaf in _chain(rng, 1.0 + 1j, redundant=False)
    ]
    pairs = np.stack([np.arange(COUNT - 1), np.arange(1, COUNT)], axis=1)
    sizes = np.full(COUNT - 1, TRACE)
    tree = nested_dissection(np.arange(COUNT, dtype=float)[None], pairs, sizes.astype(float))
    data = [rng.standard_normal((ROWS, 3)) for _ in leaves]
    columns, weights = FactoredTree(leaves, TreeElimination(tree, pairs, sizes)).solve(data)
    best = _dense(leaves, data)
    np.testing.assert_allclose(np.concatenate(columns), best[: COUNT * OWN], atol=1e-9)
    np.testing.assert_allclose(weights, best[-2:], atol=1e-9)
