"""Least squares along a tree: leaves with columns of their own, joined by traces.

    minimise  sum over leaves |A c - b|^2 + sum over ties |T c - g - t|^2

over the leaves' columns c and the traces g, each shared by two leaves. A leaf's own columns are
eliminated by QR, and a triangle over its traces is passed up; two neighbours are merged by QR of
their stacked triangles, which eliminates the traces that only they share. Everything is orthogonal,
and no Q is stored. Open traces are ordered by the node at which they are eliminated, deepest
first; so the traces two children share come first in both, and all blocks stay upper triangular.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dtpmqrt, dtpqrt, dtrtrs

from sharpfront.arrays import Host
from sharpfront.leastsquares.dissection import Ints, MergeTree, last_merge, sequence
from sharpfront.leastsquares.reflectors import reflected

# Columns that LAPACK's kernel for stacked triangles works on at a time.
BLOCK = 32
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Tie:
    """Rows ``matrix @ c - g = offset`` that tie a leaf to a trace g.

    Parameters
    ----------
    trace
        The number of the trace.
    matrix
        (size of the trace, columns of the leaf).
    offset
        What the leaf's side differs by, for the first right-hand side, (size of the trace,);
        nothing if None.
    """

    trace: int
    matrix: Host
    offset: Host | None = None


@dataclass(frozen=True, eq=False)
class LeafRows:
    """The rows of one leaf.

    Parameters
    ----------
    matrix, rhs
        Rows over the leaf's columns alone, (m, n) and (m, k) for k right-hand sides.
    ties
        One for each trace the leaf touches.
    """

    matrix: Host
    rhs: Host
    ties: tuple[Tie, ...]


@dataclass(frozen=True, eq=False)
class LeafFactor:
    """A leaf after elimination: c = start - response g, and a triangle over its traces."""

    traces: tuple[int, ...]
    sizes: tuple[int, ...]
    start: Host
    response: Host
    triangle: Host
    rhs: Host
    rest: float
    extremes: tuple[float, float]

    def renumbered(self, traces: Sequence[int], order: Mapping[int, int]) -> LeafFactor:
        """Return the leaf with other numbers for its traces, eliminated in another order.

        Parameters
        ----------
        traces
            The new number of each trace, in the order of `traces`.
        order
            A rank for each new number.
        """
        ranks = [order[t] for t in traces]
        if ranks == sorted(ranks):
            return replace(self, traces=tuple(traces))
        moved = sorted(range(len(traces)), key=lambda i: ranks[i])
        parts = np.split(np.arange(len(self.triangle)), np.cumsum(self.sizes)[:-1])
        columns = np.concatenate([parts[i] for i in moved])
        n = len(self.triangle)
        raw, _ = reflected(np.column_stack([self.triangle[:, columns], self.rhs]))
        return replace(
            self,
            traces=tuple(traces[i] for i in moved),
            sizes=tuple(self.sizes[i] for i in moved),
            response=self.response[:, columns],
            triangle=np.triu(raw[:, :n]),
            rhs=raw[:, n:].copy(order="F"),
        )


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


def factor_leaves(leaves: Sequence[LeafRows], order: Mapping[int, int]) -> list[LeafFactor]:
    """Eliminate the own columns of every leaf.

    Leaves with the same matrices and the same order of traces share one factorisation, with a
    right-hand side for each.

    Parameters
    ----------
    leaves
        The rows of each.
    order
        A rank for each trace; those to be eliminated first come first.
    """
    groups: dict[tuple[int, ...], list[tuple[int, LeafRows]]] = {}
    for i, leaf in enumerate(leaves):
        ties = tuple(sorted(leaf.ties, key=lambda tie: order[tie.trace]))
        key = (id(leaf.matrix), *(id(tie.matrix) for tie in ties))
        groups.setdefault(key, []).append((i, replace(leaf, ties=ties)))
    found: dict[int, LeafFactor] = {}
    for group in groups.values():
        factors = _factor([leaf for _, leaf in group])
        found |= {i: factor for (i, _), factor in zip(group, factors, strict=True)}
    return [found[i] for i in range(len(leaves))]


def _factor(leaves: Sequence[LeafRows]) -> list[LeafFactor]:
    """Eliminate the columns of leaves with the same matrices."""
    stack, n, g = _stacked(leaves)
    # Right-hand sides are columns too: their part of R is Q^T rhs, and below it what is left.
    raw, _ = reflected(stack, overwrite=True)
    diagonal = np.abs(np.diagonal(raw)[:n])
    extremes = (float(diagonal.min()), float(diagonal.max()))
    both, _ = dtrtrs(raw[:n, :n], raw[:n, n:])
    triangle = np.triu(raw[n : n + g, n : n + g])
    left = np.sum(np.triu(raw[n + g :, n + g :]) ** 2, axis=0)
    k = leaves[0].rhs.shape[1]
    out = []
    for j, leaf in enumerate(leaves):
        own = slice(n + g + j * k, n + g + (j + 1) * k)
        out.append(
            LeafFactor(
                tuple(t.trace for t in leaf.ties),
                tuple(len(t.matrix) for t in leaf.ties),
                both[:, g + j * k : g + (j + 1) * k],
                both[:, :g],
                triangle,
                raw[n : n + g, own].copy(order="F"),
                float(left[j * k]),
                extremes,
            )
        )
    return out


def _stacked(leaves: Sequence[LeafRows]) -> tuple[Host, int, int]:
    """Return [A 0 b; T -I 0] with all leaves' right-hand sides, own columns and trace columns."""
    first = leaves[0]
    m, n = first.matrix.shape
    g = sum(len(t.matrix) for t in first.ties)
    k = first.rhs.shape[1]
    stack = np.zeros((max(m, n) + g, n + g + k * len(leaves)), order="F")
    stack[:m, :n] = first.matrix
    if g:
        stack[m : m + g, :n] = np.concatenate([t.matrix for t in first.ties])
    stack[range(m, m + g), range(n, n + g)] = -1.0
    for j, leaf in enumerate(leaves):
        stack[:m, n + g + j * k : n + g + (j + 1) * k] = leaf.rhs
        start = m
        for tie in leaf.ties:
            if tie.offset is not None:
                stack[start : start + len(tie.offset), n + g + j * k] = tie.offset
            start += len(tie.matrix)
    return stack, n, g


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
        columns = [_columns(leaf, traces) for leaf in leaves]
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


def _columns(leaf: LeafFactor, traces: Sequence[Host]) -> Host:
    """Return the solution of a leaf from the values of its traces."""
    if not leaf.traces:
        return leaf.start
    around = np.concatenate([traces[t] for t in leaf.traces])
    return np.asarray(leaf.start - leaf.response @ around)
