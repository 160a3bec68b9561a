"""Least squares along a tree: leaves with columns of their own, joined by traces.

    minimise  sum over leaves |A c - b|^2 + sum over ties |T c - g - t|^2

over the leaves' columns c and the traces g, each shared by two leaves. A leaf passes up a triangle
over its traces (`leaves`). What is left, a problem of the traces alone, is solved by merging
neighbours, which eliminates the traces that only they share: by QR of stacked triangles (`merges`)
or by Gram matrices (`gram`). Moments of traces are numbered in the order in which they are
eliminated, deepest node first; so those that two children share come first in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sharpfront.arrays import Flags, FloatArray, Ints
from sharpfront.leastsquares.dissection import MergeTree, last_merge, sequence
from sharpfront.leastsquares.gram import gram_traces
from sharpfront.leastsquares.iterative_traces import is_large, iterated_traces, pays
from sharpfront.leastsquares.leaf_rows import LeafRows, Remainder, joined, least
from sharpfront.leastsquares.leaves import LeafFactor, solved
from sharpfront.leastsquares.merges import Node, SolvedTraces, orthogonal_traces
from sharpfront.rounding import TINY

# Traces with so many moments in all are eliminated by Gram matrices, unless refinement shows that
# these lose digits; where most leaves are like others, so that few merges differ, from FEW on.
# Smaller matrices are multiplied hardly faster than reduced by QR, and need no refinement then:
# merges of 144 patches that all differ, 6000 moments, take 0.77 of the time that QR takes.
# Trees that are kept, of steps in time, begin at FEW too: complex moments take two thirds.
MANY, FEW = 5000, 1500
# Leaves that have no matrices in common are assembled so many at a time: with 256 columns each
# their rows take 25 MB, which is no longer noticed beside the rest.
AT_ONCE = 32

Assembled = Callable[[Sequence[int]], list[LeafRows]]
Near = Callable[[], Flags]


@dataclass(frozen=True, eq=False)
class TreeSolution:
    """What came out."""

    # The solution of each leaf, (n, k): of the side that is solved for, those of shared functions
    # added to it, and of the probes.
    columns: list[FloatArray]
    residual_norm: float  # norm of all rows' residual, for the side that is solved for
    # Ratio of the extreme diagonal entries of the triangles, a lower bound of the condition.
    condition: float
    refinements: int | None = None  # steps of refinement; None where all merges were orthogonal
    strengths: FloatArray = field(default_factory=lambda: np.zeros(0))  # of shared functions
    iterations: int = 0  # steps of the iteration; none where all traces were eliminated

    @classmethod
    def of(
        cls,
        columns: list[FloatArray],
        left: Remainder,
        extremes: Iterable[tuple[float, float]],
        refinements: int | None,
    ) -> list[TreeSolution]:
        """Return the solution for each side, from what is left of the rows, and extreme entries."""
        condition = max(high / max(low, TINY) for low, high in extremes)
        out = []
        if left[0].shape[1] == len(left) == 1:
            return [cls(columns, least(left[0])[1], condition, refinements)]
        for side, own in enumerate(left):
            strengths, norm = least(own)
            probes = slice(len(left), columns[0].shape[1] - len(strengths))
            alone = [np.column_stack([c[:, side], c[:, probes]]) for c in columns]
            for found, c in zip(alone, columns, strict=True):
                found[:, 0] += c[:, probes.stop :] @ strengths
            out.append(cls(alone, norm, condition, refinements, strengths))
        return out


class TreeElimination:
    """The elimination order of traces for a tree of leaves.

    Given are the two leaves of each trace, (traces, 2), and its columns.
    """

    def __init__(self, tree: MergeTree, pairs: Ints, sizes: Ints) -> None:
        self.tree, self.pairs, self.sizes = tree, pairs, sizes
        node = last_merge(tree, pairs) if len(pairs) else sequence([])
        depth = tree.depths[node] if len(pairs) else node
        # Deepest node first; ties by the node and then by the trace's number.
        order = np.lexsort((np.arange(len(pairs)), node, -depth))
        rank = np.empty(len(pairs), dtype=np.int64)
        rank[order] = np.arange(len(pairs))
        self.rank = rank  # of each trace in the order of elimination
        ends = np.cumsum(sizes[order])
        self._starts = np.empty(len(pairs), dtype=np.int64)
        self._starts[order] = ends - sizes[order]
        self.moments = int(ends[-1]) if len(ends) else 0
        counts = np.bincount(node, sizes, tree.leaves + len(tree.children)).astype(np.int64)
        # The children of each merge, and how many moments it eliminates, (nodes, 3).
        self.merges = np.column_stack([tree.children, counts[tree.leaves :]])

    @cached_property
    def order(self) -> list[int]:
        """The rank of each trace."""
        return self.rank.tolist()

    @cached_property
    def nodes(self) -> list[Node]:
        """The merges."""
        return [Node(*each) for each in self.merges.tolist()]

    def solve(
        self,
        leaves: Sequence[LeafFactor],
        rows: Assembled | None = None,
        *,
        gram: bool | None = None,
        near: Near | None = None,
    ) -> TreeSolution:
        """Return the solution for the only side, or the first, that is solved for."""
        return self.solve_sides(leaves, rows, gram=gram, near=near)[0]

    def solve_sides(
        self,
        leaves: Sequence[LeafFactor],
        rows: Assembled | None = None,
        *,
        gram: bool | None = None,
        near: Near | None = None,
    ) -> list[TreeSolution]:
        """Merge up and substitute down; returns the solution for each side that is solved for.

        Parameters
        ----------
        leaves
            After the elimination of their own columns.
        rows
            Returns the rows of leaves with given numbers, where leaves did not keep their answers.
        gram
            Whether to merge by Gram matrices, where these will do; by default if it pays.
        near
            Tells which moments, those of one trace after another, stay near it: with them large
            systems are solved by iteration.
        """
        index = [self.moments_of(leaf.traces, leaf.sizes) for leaf in leaves]
        found: SolvedTraces | None = None
        shared, sides = leaves[0].left[0].shape[1] - 1, len(leaves[0].left)
        different = len({id(leaf.packed) for leaf in leaves})
        many = MANY if 2 * different > len(leaves) else FEW
        if self.moments and (self.moments > many if gram is None else gram):
            found = self._iterated(leaves, index, near, shared, sides)
            if found is None:
                found = gram_traces(leaves, index, self.nodes, self.moments, shared, sides)
        if found is None:
            found = orthogonal_traces(leaves, index, self.nodes, self.moments, shared, sides)
        columns = self._columns(leaves, [found.moments[own] for own in index], rows)
        extremes = [*found.extremes, *(leaf.extremes for leaf in leaves)]
        left = joined([*found.left, *(leaf.left for leaf in leaves)])
        out = TreeSolution.of(columns, left, extremes, found.refinements)
        return [replace(own, iterations=found.iterations) for own in out]

    def _iterated(
        self,
        leaves: Sequence[LeafFactor],
        index: Sequence[Ints],
        near: Near | None,
        shared: int,
        sides: int,
    ) -> SolvedTraces | None:
        """Return traces by iteration, where that is shorter and converges."""
        if near is None or not is_large(leaves, self.nodes):
            return None
        local, traces = near(), range(len(self.sizes))
        far = np.diff(np.cumsum(np.r_[0, ~local])[np.r_[0, np.cumsum(self.sizes)]])
        nodes = TreeElimination(self.tree, self.pairs, far).nodes
        counts = [int(far[list(leaf.traces)].sum()) for leaf in leaves]
        if not pays(leaves, self.nodes, counts, nodes):
            return None
        ordered = np.empty_like(local)
        ordered[self.moments_of(traces, self.sizes.tolist())] = local
        return iterated_traces(leaves, index, nodes, ordered, shared, sides)

    def _columns(
        self, leaves: Sequence[LeafFactor], traces: Sequence[FloatArray], rows: Assembled | None
    ) -> list[FloatArray]:
        """Return the solutions of leaves from the moments of their traces."""
        out: dict[int, FloatArray] = {}
        again = [i for i, leaf in enumerate(leaves) if leaf.traces and leaf.response is None]
        for start in range(0, len(again), AT_ONCE):
            assert rows is not None
            some = again[start : start + AT_ONCE]
            turned = [leaf.turned(self.order) for leaf in rows(some)]
            out |= zip(some, solved(turned, [traces[i] for i in some]), strict=True)
        return [
            out[i] if i in out else leaf.columns(own)
            for i, (leaf, own) in enumerate(zip(leaves, traces, strict=True))
        ]

    def moments_of(self, traces: Sequence[int], sizes: Sequence[int]) -> Ints:
        """Return the numbers of the moments of traces."""
        counts = sequence(sizes)
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        return np.repeat(self._starts[sequence(traces)] - (ends - counts), counts) + np.arange(
            total
        )
