"""Least squares along a tree: leaves with columns of their own, joined by traces.

    minimise  sum over leaves |A c - b|^2 + sum over ties |T c - g - t|^2

over the leaves' columns c and the traces g, each shared by two leaves. A leaf passes up a triangle
over its traces (`leaves`); two neighbours are merged by QR of their stacked triangles, which
eliminates the traces that only they share. Everything is orthogonal,
and no Q is stored. Open traces are ordered by the node at which they are eliminated, deepest
first; so the traces two children share come first in both, and all blocks stay upper triangular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtpmqrt, dtpqrt, dtrtrs

from sharpfront.arrays import Host
from sharpfront.leastsquares.dissection import Ints, MergeTree, last_merge, sequence
from sharpfront.leastsquares.leaves import LeafFactor

# Columns that LAPACK's kernel for stacked triangles works on at a time.
BLOCK = 32
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class TreeSolution:
    """What came out.

    Parameters
    ----------
    columns
        The solution of each leaf, (n, k) for k right-hand sides.
    residual_norm
        Norm of all rows' residual, for the first right-hand side.
    condition
        Ratio of the extreme diagonal entries of the triangles, a lower bound of the condition.
    largest_front
        Columns of the largest merge.
    """

    columns: list[Host]
    residual_norm: float
    condition: float
    largest_front: int


@dataclass(frozen=True, eq=False)
class _Front:
    """A set of merged leaves: open traces, a triangle over them, its right-hand side."""

    traces: Ints
    triangle: Host
    rhs: Host


@dataclass(frozen=True, eq=False)
class _Elimination:
    """What is needed to go down again: R11 g_shared = r1 - R12 g_open."""

    shared: Ints
    open: Ints
    upper: Host
    coupling: Host
    rhs: Host


class TreeElimination:
    """The elimination order of traces for a tree of leaves.

    Parameters
    ----------
    tree
        In which order leaves are merged.
    pairs
        The two leaves of each trace, (traces, 2).
    sizes
        Columns of each trace, (traces,).
    """

    def __init__(self, tree: MergeTree, pairs: Ints, sizes: Ints) -> None:
        self.tree, self.sizes = tree, sizes
        node = last_merge(tree, pairs) if len(pairs) else sequence([])
        depth = tree.depths[node] if len(pairs) else node
        # Deepest node first; ties by the node and then by the trace's number.
        order = np.lexsort((np.arange(len(pairs)), node, -depth))
        self.rank = np.empty(len(pairs), dtype=np.int64)
        self.rank[order] = np.arange(len(pairs))
        self.order = dict(enumerate(self.rank.tolist()))
        self.node = node

    def solve(self, leaves: Sequence[LeafFactor]) -> TreeSolution:
        """Merge up and substitute down."""
        fronts: dict[int, _Front] = {
            i: _Front(sequence(leaf.traces), leaf.triangle, leaf.rhs)
            for i, leaf in enumerate(leaves)
        }
        rest = sum(leaf.rest for leaf in leaves)
        extremes = [leaf.extremes for leaf in leaves]
        steps: list[_Elimination] = []
        for i, (a, b) in enumerate(self.tree.children):
            front, step, lost = self._merge(self.tree.leaves + i, fronts.pop(a), fronts.pop(b))
            fronts[self.tree.leaves + i] = front
            rest += lost
            if step is not None:
                steps.append(step)
                diagonal = np.abs(np.diagonal(step.upper))
                extremes.append((float(diagonal.min()), float(diagonal.max())))
        traces = self._down(steps, leaves[0].rhs.shape[1])
        columns = [leaf.columns(traces) for leaf in leaves]
        largest = max((len(s.upper) + s.coupling.shape[1] for s in steps), default=0)
        condition = max(high / max(low, _TINY) for low, high in extremes)
        return TreeSolution(columns, float(np.sqrt(rest)), condition, largest)

    def _merge(self, node: int, a: _Front, b: _Front) -> tuple[_Front, _Elimination | None, float]:
        # The shared traces come first in both children.
        shared = a.traces[self.node[a.traces] == node]
        ns = int(self.sizes[shared].sum())
        traces, at_a, at_b = self._open(a.traces[len(shared) :], b.traces[len(shared) :])
        no, k = len(at_a) + len(at_b), a.rhs.shape[1]
        triangle, rhs = np.zeros((no, no), order="F"), np.zeros((no, k), order="F")
        triangle[np.ix_(at_a, at_a)] = a.triangle[ns:, ns:]
        triangle[np.ix_(at_b, at_b)] = b.triangle[ns:, ns:]
        rhs[at_a], rhs[at_b] = a.rhs[ns:], b.rhs[ns:]
        if not ns:
            return _Front(traces, triangle, rhs), None, 0.0
        top, bottom = np.zeros((ns, no + k), order="F"), np.zeros((ns, no + k), order="F")
        top[:, at_a], top[:, no:] = a.triangle[:ns, ns:], a.rhs[:ns]
        bottom[:, at_b], bottom[:, no:] = b.triangle[:ns, ns:], b.rhs[:ns]
        upper, v, t, _ = dtpqrt(ns, min(BLOCK, ns), a.triangle[:ns, :ns], b.triangle[:ns, :ns])
        top, bottom, _ = dtpmqrt(ns, v, t, top, bottom, trans=b"T", overwrite_a=1, overwrite_b=1)
        step = _Elimination(shared, traces, np.triu(upper), top[:, :no], top[:, no:])
        lost = bottom[:, no:].copy(order="F")
        if no:
            triangle, v, t, _ = dtpqrt(0, min(BLOCK, no), triangle, bottom[:, :no], overwrite_a=1)
            rhs, lost, _ = dtpmqrt(0, v, t, rhs, lost, trans=b"T", overwrite_a=1, overwrite_b=1)
            triangle = np.triu(triangle)
        return _Front(traces, triangle, rhs), step, float(np.sum(lost[:, 0] ** 2))

    def _open(self, a: Ints, b: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the open traces of two children in order, and the columns of each child's."""
        traces = np.concatenate([a, b])
        order = np.argsort(self.rank[traces], kind="stable")
        sizes = self.sizes[traces]
        start = np.empty(len(traces), dtype=np.int64)
        start[order] = np.cumsum(sizes[order]) - sizes[order]
        ranges = [np.arange(s, s + n) for s, n in zip(start.tolist(), sizes.tolist(), strict=True)]
        none = sequence([])
        return (
            traces[order],
            np.concatenate([none, *ranges[: len(a)]]),
            np.concatenate([none, *ranges[len(a) :]]),
        )

    def _down(self, steps: Sequence[_Elimination], count: int) -> list[Host]:
        values: list[Host] = [np.zeros((0, count))] * len(self.sizes)
        for step in reversed(steps):
            rhs = step.rhs
            if len(step.open):
                rhs = rhs - step.coupling @ np.concatenate([values[t] for t in step.open])
            found, _ = dtrtrs(step.upper, rhs)
            ends = np.cumsum(self.sizes[step.shared])[:-1]
            for trace, part in zip(step.shared.tolist(), np.split(found, ends), strict=True):
                values[trace] = part
        return values
