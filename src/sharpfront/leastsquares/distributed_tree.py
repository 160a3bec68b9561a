"""Elimination along a tree on a cluster: subtrees are tasks, and what travels are traces.

The tree is cut into parts of about equal size, a few for each worker. One task assembles the leaves
of a part, eliminates their columns and merges them; all of that stays with its worker. What goes on
is a triangle over the moments of traces at the rim of the part. The merges above are tasks too, and
on the way down moments travel back. A task is a function of its arguments alone, so that what a
worker loses is made again by another. Merges are made by QR, in the order of one machine: the
answer is the same up to rounding, and to the last bit where no two leaves are alike.
"""

from __future__ import annotations

import heapq
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sharpfront.arrays import FloatArray, Ints, blas_threads
from sharpfront.leastsquares.cluster import as_bytes, gathered
from sharpfront.leastsquares.leaf_rows import Remainder, joined, remainder
from sharpfront.leastsquares.leaves import LeafFactor, factor_leaves
from sharpfront.leastsquares.merges import Elimination, Front, Node, merged, substituted
from sharpfront.leastsquares.tree import TreeElimination, TreeSolution

if TYPE_CHECKING:
    from sharpfront.leastsquares.traces import TraceSystem

# Parts for each worker: with one, all would wait for the slowest; more have longer rims.
PARTS = 4
# Leaves of a part that are not worth a task.
FEWEST = 8


@dataclass(frozen=True, eq=False)
class _Known:
    """Values of some moments: their numbers in order, and (moments, k)."""

    index: Ints
    values: FloatArray

    def at(self, wanted: Ints) -> FloatArray:
        return np.asarray(self.values[np.searchsorted(self.index, wanted)])


@dataclass(frozen=True, eq=False)
class _Subtree:
    """A part of the tree after elimination, as its worker keeps it."""

    front: Front
    steps: list[Elimination]
    leaves: list[LeafFactor]
    index: list[Ints]
    left: Remainder


@dataclass(frozen=True, eq=False)
class _Answer:
    """What a part or a merge above tells in the end."""

    columns: list[FloatArray]
    left: Remainder
    extremes: list[tuple[float, float]]


def solved_on_cluster(
    client: Any, system: TraceSystem, elimination: TreeElimination
) -> TreeSolution:
    """Return the solution of a system, by the workers of a cluster."""
    workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
    parts, above = _cut(elimination, PARTS * workers)
    first = system.count
    nodes = elimination.nodes

    def submit(function: Any, *arguments: Any) -> Any:
        return client.submit(function, *arguments, pure=False)

    shared = submit(_same, as_bytes((system.rows, elimination)))
    own = {root: submit(_eliminated, shared, *_within(nodes, first, root)) for root in parts}
    fronts = {root: submit(_front_of, part) for root, part in own.items()}
    steps: dict[int, Any] = {}
    for root in above:
        node = nodes[root - first]
        steps[root] = submit(_merged_above, fronts[node.first], fronts[node.second], node)
        fronts[root] = submit(_front_above, steps[root])
    known: dict[int, Any] = {}
    for root in reversed(above):
        known[root] = submit(_descended, steps[root], known.get(root))
        node = nodes[root - first]
        known[node.first] = known[node.second] = known[root]
    asked = [submit(_answered, own[root], known.get(root)) for root in parts]
    answers: list[_Answer] = gathered(
        client, [*asked, *(submit(_answered_above, steps[root], system.shared) for root in above)]
    )
    columns: list[Any] = [None] * first
    for root, answer in zip(parts, answers, strict=False):
        for leaf, found in zip(_within(nodes, first, root)[0], answer.columns, strict=True):
            columns[leaf] = found
    left = joined([answer.left for answer in answers])
    extremes = [pair for answer in answers for pair in answer.extremes]
    return TreeSolution.of(columns, left, extremes, None)[0]


def _cut(elimination: TreeElimination, count: int) -> tuple[list[int], list[int]]:
    """Return the roots of about so many parts, and the merges above them, children first."""
    first = elimination.tree.leaves
    sizes = [1] * first
    for node in elimination.nodes:
        sizes.append(sizes[node.first] + sizes[node.second])
    root = len(sizes) - 1
    parts, above = [(-sizes[root], root)], []
    while len(parts) < count and -parts[0][0] >= 2 * FEWEST:
        _, largest = heapq.heappop(parts)
        above.append(largest)
        node = elimination.nodes[largest - first]
        for child in (node.first, node.second):
            heapq.heappush(parts, (-sizes[child], child))
    return sorted(r for _, r in parts), sorted(above)


def _within(nodes: Sequence[Node], first: int, root: int) -> tuple[list[int], list[int]]:
    """Return the leaves of a part and its merges, children first."""
    leaves, inner, stack = [], [], [root]
    while stack:
        i = stack.pop()
        if i < first:
            leaves.append(i)
        else:
            inner.append(i)
            stack += nodes[i - first][:2]
    return sorted(leaves), sorted(inner)


def _same(packed: bytes) -> bytes:
    """Return what it is given: the task by which all others get at the statement of a system."""
    return packed


def _eliminated(shared: bytes, leaves: list[int], inner: list[int]) -> _Subtree:
    """Return a part with all its leaves and merges eliminated."""
    # Each task has rows of its own: they remember tables, and tasks may run at the same time.
    rows, elimination = pickle.loads(shared)
    nodes, first = elimination.nodes, elimination.tree.leaves
    with blas_threads(1):
        factors = factor_leaves(rows(leaves), elimination.order)
        index = [elimination.moments_of(leaf.traces, leaf.sizes) for leaf in factors]
        fronts = {
            i: Front(own, leaf.triangle, leaf.rhs)
            for i, leaf, own in zip(leaves, factors, index, strict=True)
        }
        steps, left = [], [leaf.left for leaf in factors]
        for i in inner:
            node = nodes[i - first]
            fronts[i], step, lost = merged(fronts.pop(node.first), fronts.pop(node.second), node)
            left.append(remainder(lost, left[0][0].shape[1] - 1))
            if step is not None:
                steps.append(step)
    (front,) = fronts.values()
    return _Subtree(front, steps, factors, index, joined(left))


def _front_of(part: _Subtree) -> Front:
    return part.front


_Merged = tuple[Front, Elimination | None, FloatArray]


def _merged_above(a: Front, b: Front, node: Node) -> _Merged:
    with blas_threads(1):
        return merged(a, b, node)


def _front_above(step: _Merged) -> Front:
    return step[0]


def _descended(step: _Merged, known: _Known | None) -> _Known:
    """Return the moments around a merge and those it eliminates, from those around it."""
    around = step[0].index
    values = np.zeros((0, step[0].rhs.shape[1])) if known is None else known.at(around)
    return _traces_found([] if step[1] is None else [step[1]], _Known(around, values))


def _traces_found(steps: Sequence[Elimination], known: _Known) -> _Known:
    """Return moments with those that steps eliminated, the last step first."""
    every = np.sort(np.concatenate([known.index, *(step.shared for step in steps)]))
    values = np.zeros((len(every), known.values.shape[1]))
    values[np.searchsorted(every, known.index)] = known.values
    for step in reversed(steps):
        open_ = values[np.searchsorted(every, step.open)]
        values[np.searchsorted(every, step.shared)] = substituted(step, open_)
    return _Known(every, values)


def _answered(part: _Subtree, known: _Known | None) -> _Answer:
    """Return the columns of a part's leaves from the moments at its rim."""
    around = part.front.index
    k = part.front.rhs.shape[1]
    start = _Known(around, np.zeros((0, k)) if known is None else known.at(around))
    found = _traces_found(part.steps, start)
    columns = [
        leaf.columns(found.at(own)) for leaf, own in zip(part.leaves, part.index, strict=True)
    ]
    extremes = [*(s.extremes for s in part.steps), *(leaf.extremes for leaf in part.leaves)]
    return _Answer(columns, part.left, extremes)


def _answered_above(step: _Merged, shared: int) -> _Answer:
    _, made, lost = step
    extremes = [made.extremes] if made else []
    return _Answer([], remainder(lost, shared), extremes)
