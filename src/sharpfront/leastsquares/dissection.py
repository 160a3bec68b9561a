"""Nested dissection: in which order groups of columns that share traces are merged.

The tree of merges decides the cost: a node pays with the cube of the traces open around it. Each
set of leaves is ordered in several ways (along the axes, by size) and cut where the traces across
the cut are fewest, neither half below a quarter. Sets whose cut is dearer than that of a square of
equal leaves are also ordered by distance in the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import Flags, FloatArray
from sharpfront.arrays import Ints as Ints

# Neither half of a cut is smaller than this share.
BALANCE = 0.25
# Sets with more members may also be ordered by distance in the graph.
FAR = 8


@dataclass(frozen=True, eq=False)
class MergeTree:
    """A binary tree: leaves 0 ... n-1, then nodes in an order in which children come first."""

    leaves: int  # their number
    # Pairs of leaves or earlier nodes, (nodes, 2); node n + i merges ``children[i]``.
    children: Ints

    @cached_property
    def depths(self) -> Ints:
        """The depth of each leaf and node below the root."""
        depth = np.zeros(self.leaves + len(self.children), dtype=np.int64)
        nodes, below = np.array([len(depth) - 1]), 0
        while len(nodes := nodes[nodes >= self.leaves]):
            below += 1
            nodes = self.children[nodes - self.leaves].ravel()
            depth[nodes] = below
        return depth

    @property
    def order(self) -> Ints:
        """The leaves from one side of the tree to the other: each set of leaves in one run."""
        out: list[int] = []
        pairs = self.children.tolist()
        stack = [self.leaves + len(pairs) - 1]
        while stack:
            node = stack.pop()
            if node < self.leaves:
                out.append(node)
            else:
                stack += pairs[node - self.leaves]
        return sequence(out)

    @property
    def parents(self) -> Ints:
        """The node that each leaf or node is merged by; -1 for the root."""
        parent = np.full(self.leaves + len(self.children), -1, dtype=np.int64)
        parent[self.children] = self.leaves + np.arange(len(self.children))[:, None]
        return parent


def nested_dissection(keys: FloatArray, pairs: Ints, weights: FloatArray) -> MergeTree:
    """Return a tree of merges for leaves joined by traces.

    All sets of one depth are cut at once. Keys are numbers by which leaves may be ordered,
    (orderings, n): positions, log of the size; pairs are leaves that share a trace, (m, 2), and
    weights the columns of each.
    """
    n = keys.shape[1]
    # Places in each ordering, ties by the number of the leaf: whole numbers are sorted faster.
    # Orderings that are the same, as sizes of equal leaves and a position may be, count once.
    ranks = np.argsort(np.argsort(keys, axis=1, kind="stable"), axis=1)
    same = [any(np.array_equal(own, other) for other in ranks[:i]) for i, own in enumerate(ranks)]
    ranks = ranks[~np.array(same)]
    children = np.zeros((n - 1, 2), dtype=np.int64)
    # A set of m leaves is made by m - 1 nodes in a row, the last of which is the set.
    members, sizes, nodes = np.arange(n), np.array([n]), np.array([0])
    while True:
        starts = np.cumsum(sizes) - sizes
        two = sizes == 2
        children[nodes[two]] = members[starts[two][:, None] + np.arange(2)]
        large = sizes > 2
        members = members[np.repeat(large, sizes)]
        sizes, nodes = sizes[large], nodes[large]
        if not len(sizes):
            return MergeTree(n, children)
        sets = _Sets(members, sizes, pairs, weights, n)
        first = sets.first_halves(ranks)
        counts = np.bincount(sets.of, first, len(sizes)).astype(np.int64)
        # Those in the first halves before those in the second, as they were among themselves.
        members = sets.parted(first, counts)
        halves = np.stack([counts, sizes - counts], axis=1)
        below = np.stack([nodes, nodes + counts - 1], axis=1)
        starts = (np.cumsum(halves) - halves.ravel()).reshape(-1, 2)
        made = n + below + halves - 2
        children[nodes + sizes - 2] = np.where(halves == 1, members[starts], made)
        pairs, weights = sets.uncut(first)
        sizes, nodes = halves.ravel(), below.ravel()


class _Sets:
    """Sets of leaves, each in a run, and the traces inside these.

    Leaves are in order within each set, `total` in all; traces that are not inside a set do not
    count.
    """

    def __init__(
        self, members: Ints, sizes: Ints, pairs: Ints, weights: FloatArray, total: int
    ) -> None:
        self.members, self.sizes, self.starts = members, sizes, np.cumsum(sizes) - sizes
        self._total = total
        self.of = np.repeat(np.arange(len(sizes)), sizes)
        self._within = np.arange(len(members)) - self.starts[self.of]
        place = np.full(total, -1)
        place[members] = np.arange(len(members))
        ends = place[pairs]
        inside = ends[:, 0] >= 0
        self.pairs, self.weights, self.ends = pairs[inside], weights[inside], ends[inside]

    def uncut(self, first: Flags) -> tuple[Ints, FloatArray]:
        """Return the traces inside halves, and their weights."""
        sides = first[self.ends]
        kept = sides[:, 0] == sides[:, 1]
        return self.pairs[kept], self.weights[kept]

    def parted(self, first: Flags, counts: Ints) -> Ints:
        """Return the members, in each set those in its first half first, of which so many are."""
        before: Ints = np.cumsum(first) - first
        before = before - before[self.starts][self.of]
        place = np.where(first, before, counts[self.of] + self._within - before)
        out = np.empty_like(self.members)
        out[self.starts[self.of] + place] = self.members
        return out

    def first_halves(self, ranks: Ints) -> Flags:
        """Return which members are in the first half of the cheapest cut of their set.

        Leaves have ranks in orderings, (orderings, total).
        """
        first, cost = self._halves(self.of * ranks.shape[1] + ranks[:, self.members])
        traces = self.of[self.ends[:, 0]]
        number = np.maximum(1, np.bincount(traces, minlength=len(cost)))
        mean = np.bincount(traces, self.weights, len(cost)) / number
        dear = (self.sizes > FAR) & (cost > np.sqrt(self.sizes) * mean)
        if dear.any():
            # The chosen sets.
            part = _Sets(
                self.members[dear[self.of]], self.sizes[dear], self.pairs, self.weights, self._total
            )
            far = part.distances()
            codes = (part.of * (far.max() + 1) + far) * len(far) + np.arange(len(far))
            own, cheaper = part._halves(codes[None])
            better = np.zeros(len(cost), dtype=bool)
            better[dear] = cheaper < cost[dear]
            first[better[self.of]] = own[better[dear][part.of]]
        return first

    def _halves(self, codes: Ints) -> tuple[Flags, FloatArray]:
        """Return which members are in the first half of the cheapest cut, and what cuts cost.

        Members have codes in orderings, (orderings, members), that sort them within their sets.
        """
        order = np.argsort(codes, axis=1)
        place = np.empty_like(order)
        np.put_along_axis(place, order, np.broadcast_to(self._within, order.shape), axis=1)
        least, nearest, cut = self._cuts(place)
        # The first of the cheapest, of these the nearest to the middle.
        cost = least.min(axis=0)
        nearest[least > cost] = np.inf
        best = np.argmin(nearest, axis=0)
        own = place[best[self.of], np.arange(len(self.of))]
        return np.asarray(own < cut[best, np.arange(len(best))][self.of]), cost

    def _cuts(self, place: Ints) -> tuple[FloatArray, FloatArray, Ints]:
        """Return what the best cut of each set costs, how far it is from the middle, and where.

        For each ordering, of which members have their places in their sets: (orderings, sets).
        """
        rows, count = place.shape
        one, other = (place[:, own] for own in self.ends.T)
        base = self.starts[self.of[self.ends[:, 0]]] + 1
        base = base + (count + 1) * np.arange(rows)[:, None]
        weights = np.broadcast_to(self.weights, base.shape).ravel()
        open_, shut = (
            np.bincount((base + where).ravel(), weights, rows * (count + 1))
            for where in (np.minimum(one, other), np.maximum(one, other))
        )
        # Cut before member k, so many columns go across.
        cost = np.cumsum((open_ - shut).reshape(rows, -1), axis=1, dtype=float)[:, :-1]
        size, k = self.sizes[self.of], self._within
        low = np.maximum(1, (BALANCE * size).astype(np.int64))
        high = np.minimum(size - 1, np.ceil((1 - BALANCE) * size).astype(np.int64))
        cost[:, (k < low) | (k > high)] = np.inf
        least = np.minimum.reduceat(cost, self.starts, axis=1)
        # Of equal cuts the one nearest the middle.
        off = np.where(cost == least[:, self.of], np.abs(k - size / 2), np.inf)
        nearest = np.minimum.reduceat(off, self.starts, axis=1)
        cut = np.where(off == nearest[:, self.of], k, count)
        return least, nearest, np.minimum.reduceat(cut, self.starts, axis=1)

    def distances(self) -> Ints:
        """Return the distance of each member, in traces, from one at the rim of its set."""
        both = np.concatenate([self.ends, self.ends[:, ::-1]])
        both = both[np.argsort(both[:, 0], kind="stable")]
        heads = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=len(self.of)))])
        far = _breadth_first(heads, both[:, 1], self.starts)
        most = np.maximum.reduceat(far, self.starts)
        rim = np.where(far == most[self.of], np.arange(len(far)), len(far))
        far = _breadth_first(heads, both[:, 1], np.minimum.reduceat(rim, self.starts))
        return np.where(far >= 0, far, self.sizes[self.of])


def _breadth_first(heads: Ints, tails: Ints, front: Ints) -> Ints:
    """Return distances from the nearest of some members; -1 where there is no way.

    The neighbours of member i are ``tails[heads[i] : heads[i + 1]]``.
    """
    distance = np.full(len(heads) - 1, -1)
    distance[front] = step = 0
    label = np.empty_like(distance)
    while len(front):
        step += 1
        counts = heads[front + 1] - heads[front]
        ends = np.cumsum(counts)
        near = tails[np.repeat(heads[front] - (ends - counts), counts) + np.arange(ends[-1])]
        near = near[distance[near] < 0]
        distance[near] = step
        # Each once.
        label[near] = np.arange(len(near))
        front = near[label[near] == np.arange(len(near))]
    return distance


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
