"""Nested dissection: in which order groups of columns that share traces are merged.

The tree of merges decides the cost: a node pays with the cube of the traces open around it. Each
set of leaves is ordered in several ways (along the axes, by size, by distance in the graph) and
cut where the traces across the cut are fewest, neither half below a quarter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray

Ints = NDArray[np.int64]
# Neither half of a cut is smaller than this share.
BALANCE = 0.25


@dataclass(frozen=True, eq=False)
class MergeTree:
    """A binary tree: leaves 0 ... n-1, then nodes in an order in which children come first.

    Parameters
    ----------
    leaves
        Their number.
    children
        Pairs of leaves or earlier nodes; node n + i merges ``children[i]``.
    """

    leaves: int
    children: tuple[tuple[int, int], ...]

    @property
    def depths(self) -> Ints:
        """The depth of each leaf and node below the root."""
        total = self.leaves + len(self.children)
        depth = np.zeros(total, dtype=np.int64)
        for i in range(len(self.children) - 1, -1, -1):
            for child in self.children[i]:
                depth[child] = depth[self.leaves + i] + 1
        return depth

    @property
    def order(self) -> Ints:
        """The leaves from one side of the tree to the other: each set of leaves in one run."""
        out: list[int] = []
        stack = [self.leaves + len(self.children) - 1]
        while stack:
            node = stack.pop()
            if node < self.leaves:
                out.append(node)
            else:
                stack += self.children[node - self.leaves]
        return sequence(out)

    @property
    def parents(self) -> Ints:
        """The node that each leaf or node is merged by; -1 for the root."""
        parent = np.full(self.leaves + len(self.children), -1, dtype=np.int64)
        for i, pair in enumerate(self.children):
            parent[list(pair)] = self.leaves + i
        return parent


def nested_dissection(keys: FloatArray, pairs: Ints, weights: FloatArray) -> MergeTree:
    """Return a tree of merges for leaves joined by traces.

    Parameters
    ----------
    keys
        Numbers by which leaves may be ordered, (orderings, n): positions, log of the size.
    pairs
        Leaves that share a trace, (m, 2).
    weights
        Columns of each trace, (m,).
    """
    children: list[tuple[int, int]] = []
    n = keys.shape[1]
    local = np.zeros(n, dtype=np.int64)

    def merged(members: Ints, inside: Ints) -> int:
        if len(members) == 1:
            return int(members[0])
        if len(members) == 2:
            children.append((int(members[0]), int(members[1])))
            return int(n + len(children) - 1)
        local[members] = np.arange(len(members))
        ends = local[pairs[inside]]
        first = _halves(keys[:, members], ends, weights[inside])
        side = first[ends]
        both = side[:, 0] & side[:, 1]
        neither = ~side[:, 0] & ~side[:, 1]
        a = merged(members[first], inside[both])
        b = merged(members[~first], inside[neither])
        children.append((a, b))
        return int(n + len(children) - 1)

    merged(np.arange(n), np.arange(len(pairs)))
    return MergeTree(n, tuple(children))


def _halves(keys: FloatArray, ends: Ints, weights: FloatArray) -> NDArray[np.bool_]:
    """Return which members are in the first half of the cheapest cut."""
    n = keys.shape[1]
    best: tuple[tuple[float, float], NDArray[np.bool_]] | None = None
    orders = [np.argsort(k, kind="stable") for k in keys]
    if n > 8:
        orders.append(np.argsort(_distances(n, ends), kind="stable"))
    low, high = max(1, int(BALANCE * n)), min(n - 1, int(np.ceil((1 - BALANCE) * n)))
    for order in orders:
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        where = np.sort(place[ends], axis=1)
        across = np.bincount(where[:, 0] + 1, weights, n + 2)
        across = across - np.bincount(where[:, 1] + 1, weights, n + 2)
        cost = np.cumsum(across)[low : high + 1]
        k = np.arange(low, high + 1)
        # Of equal cuts the one nearest the middle.
        i = int(np.lexsort((np.abs(k - n / 2), cost))[0])
        score = (float(cost[i]), abs(float(k[i]) - n / 2))
        if best is None or score < best[0]:
            best = (score, place < k[i])
    assert best is not None
    return best[1]


def _distances(n: int, ends: Ints) -> FloatArray:
    """Return the distance of each member, in traces, from one at the rim of the graph."""
    start = 0
    for _ in range(2):
        distance = _breadth_first(n, ends, start)
        start = int(np.argmax(np.where(np.isfinite(distance), distance, -1)))
    return np.where(np.isfinite(distance), distance, n)


def _breadth_first(n: int, ends: Ints, start: int) -> FloatArray:
    distance = np.full(n, np.inf)
    distance[start] = 0
    step = 0
    while True:
        step += 1
        near = distance[ends] < np.inf
        new = ends[near[:, 0] & ~near[:, 1], 1], ends[near[:, 1] & ~near[:, 0], 0]
        fresh = np.concatenate(new)
        if not len(fresh):
            return distance
        distance[fresh] = step


def last_merge(tree: MergeTree, pairs: Ints) -> Ints:
    """Return for each pair of leaves the node at which both are first in one set."""
    parent, depth = tree.parents, tree.depths
    a, b = pairs[:, 0].copy(), pairs[:, 1].copy()
    while True:
        differ = a != b
        if not differ.any():
            return a
        up_a = differ & (depth[a] >= depth[b])
        up_b = differ & (depth[b] >= depth[a])
        a[up_a], b[up_b] = parent[a[up_a]], parent[b[up_b]]


def sequence(values: Sequence[int]) -> Ints:
    """Return whole numbers as an array, also where there are none."""
    return np.asarray(values, dtype=np.int64)
