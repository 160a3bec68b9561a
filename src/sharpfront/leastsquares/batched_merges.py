"""Merges by Gram matrices on a device, those of one level and of equal shape together.

The same as `gram`, in other words for a device: matrices of equal shape are one array, and vectors
go up the tree in one array in which every node has a place for its moments, so that nothing is ever
summed in an order that chance decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import Array, namespace
from sharpfront.device import Device
from sharpfront.leastsquares.dissection import Ints
from sharpfront.leastsquares.kinds import Kinds
from sharpfront.leastsquares.merges import Node


class Front(NamedTuple):
    """A Gram matrix: the array it is in, its place there, and the order of all its moments."""

    grams: Array
    place: int
    order: Ints | None = None


@dataclass(eq=False)
class _Step:
    """Merges of equal shape, (b, count) nodes of b kinds.

    Parameters
    ----------
    kinds
        Their numbers.
    sizes
        Moments that are shared, and that are left of the first and of the second.
    places
        Where open moments of both go among all, (b, open).
    shared, opened
        Places of vectors: the shared ones of the first and of the second child,
        (2, b, count, shared), and the others of both, (b, count, open).
    out
        Where those go in the node's own.
    eliminated, coupled
        Numbers of moments, (b, count, shared) and (b, count, open).
    inverse, diagonal, coupling
        L^-1, the diagonal of L, and L^-1 times what couples shared moments to the open ones.
    """

    kinds: list[int]
    sizes: tuple[int, int, int]
    places: Ints
    shared: Array
    opened: Array
    out: Array
    eliminated: Array
    coupled: Array
    inverse: Array = None
    diagonal: Array = None
    coupling: Array = None


@dataclass(eq=False)
class BatchedMerges:
    """All merges of a tree.

    Parameters
    ----------
    device
        Where.
    kinds, nodes
        What is merged.
    moments
        The number of all moments.
    needed
        Bytes taken so far, to which this adds its own.
    """

    device: Device
    kinds: Kinds
    nodes: Sequence[Node]
    moments: int
    needed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        lengths = np.array([len(own) for own in self.kinds.opens], dtype=np.int64)
        self.offsets = np.cumsum(lengths) - lengths
        self.slots = int(lengths.sum())
        leaves = len(self.kinds.opens) - len(self.nodes)
        self._nodes: dict[int, list[int]] = {}
        for i, number in enumerate(self.kinds.of[leaves:]):
            self._nodes.setdefault(number, []).append(i)
        self._first = leaves
        self.steps = [step for level in self.kinds.levels for step in self._steps_of(level)]

    @property
    def largest_front(self) -> int:
        """Columns of the largest merge that eliminates anything."""
        return max((sum(step.sizes) for step in self.steps if step.sizes[0]), default=0)

    @property
    def extremes(self) -> list[tuple[float, float]]:
        """The smallest and largest diagonal entry of the factors of each step."""
        diagonals = [step.diagonal for step in self.steps if step.sizes[0]]
        return [(float(d.min()), float(d.max())) for d in diagonals]

    def _steps_of(self, level: Sequence[int]) -> list[_Step]:
        """Return merges that do not need each other, by shapes."""
        shapes: dict[tuple[int, ...], list[int]] = {}
        for number in level:
            merge = self.kinds.merges[number]
            sizes = (merge.shared, len(merge.at_first), len(merge.at_second))
            shapes.setdefault((*sizes, len(self._nodes[number])), []).append(number)
        return [self._step(numbers, key[:3]) for key, numbers in shapes.items()]

    def _step(self, numbers: list[int], sizes: tuple[int, ...]) -> _Step:
        ns, na, nb = sizes
        merges = [self.kinds.merges[number] for number in numbers]
        places = np.array([np.concatenate([m.at_first, m.at_second]) for m in merges])
        nodes = np.array([self._nodes[number] for number in numbers])
        own = [[self.nodes[i] for i in row] for row in nodes.tolist()]
        first, second = (
            self.offsets[np.array([[getattr(n, side) for n in row] for row in own])][..., None]
            for side in ("first", "second")
        )
        shared = np.stack([first, second]) + np.arange(ns)
        opened = np.concatenate([first + ns + np.arange(na), second + ns + np.arange(nb)], axis=2)
        out = self.offsets[nodes + self._first][..., None] + places[:, None, :]
        starts = [[self.kinds.opens[n.first][:1].sum() for n in row] for row in own]
        gone = np.array(starts, dtype=np.int64)[..., None] + np.arange(ns)
        coupled = np.array([[self.kinds.open_of(n) for n in row] for row in own], dtype=np.int64)
        index = [self.device.put(a) for a in (shared, opened, out, gone, coupled)]
        return _Step(numbers, (ns, na, nb), places, *index)

    def factor(self, fronts: dict[int, Front]) -> bool:
        """Merge Gram matrices of the leaves' kinds; tell whether all were positive definite."""
        users = dict(self.kinds.users)
        for step in self.steps:
            merges = [self.kinds.merges[number] for number in step.kinds]
            a, b = (
                self._taken(fronts, users, [getattr(m, side) for m in merges])
                for side in ("first", "second")
            )
            if not self._merged(step, a, b, fronts):
                return False
        return True

    def _taken(
        self, fronts: dict[int, Front], users: dict[int, int], numbers: Sequence[int]
    ) -> Array:
        """Return Gram matrices as one array, (b, n, n); their last users let them go."""
        sources: dict[int, tuple[Front, list[int], list[int]]] = {}
        for j, number in enumerate(numbers):
            front = fronts[number]
            _, places, where = sources.setdefault(id(front.grams), (front, [], []))
            places.append(front.place)
            where.append(j)
            users[number] -= 1
        for number in set(numbers):
            if not users[number]:
                del fronts[number]
        parts = [(self._ordered(front, places), where) for front, places, where in sources.values()]
        if len(parts) == 1:
            return parts[0][0]
        out = self.device.zeros((len(numbers), *parts[0][0].shape[1:]))
        for part, where in parts:
            out[where] = part
        return out

    def _ordered(self, front: Front, places: list[int]) -> Array:
        """Return some matrices of an array, rows and columns in the order of their moments."""
        if front.order is None:
            return front.grams[places]
        order = front.order[places]
        if np.all(order == order[0]):
            grams = front.grams if places == list(range(len(front.grams))) else front.grams[places]
            # Run by run: a card copies these five times sooner than single rows and columns.
            cuts = np.flatnonzero(np.diff(order[0]) != 1) + 1
            runs = [slice(run[0], run[-1] + 1) for run in np.split(order[0], cuts) if len(run)]
            xp = namespace(grams)
            grams = xp.concat([grams[:, run, :] for run in runs], axis=1) if runs else grams
            return xp.concat([grams[:, :, run] for run in runs], axis=2) if runs else grams
        index, batch = self.device.put(order), self.device.put(np.array(places))[:, None, None]
        return front.grams[batch, index[:, :, None], index[:, None, :]]

    def _merged(self, step: _Step, a: Array, b: Array, fronts: dict[int, Front]) -> bool:
        xp, (ns, na, nb) = namespace(a), step.sizes
        count, no = len(step.kinds), na + nb
        good = True
        if ns:
            lower, fine = self.device.cholesky(a[:, :ns, :ns] + b[:, :ns, :ns])
            good = bool(xp.all(fine))
            # A card multiplies vectors by the inverse ten times sooner than it solves for them.
            step.inverse = self.device.solved(lower, self.device.put(np.eye(ns)))
            step.diagonal = xp.linalg.diagonal(lower)
            across = xp.concat([a[:, :ns, ns:], b[:, :ns, ns:]], axis=2)
            step.coupling = step.inverse @ across
            self.needed.append(8 * count * ns * (ns + no))
            left = -(step.coupling.mT @ step.coupling)
        else:
            left = self.device.zeros((count, no, no))
        left[:, :na, :na] += a[:, ns:, ns:]
        left[:, na:, na:] += b[:, ns:, ns:]
        order = np.argsort(step.places, axis=1)
        fronts.update({number: Front(left, j, order) for j, number in enumerate(step.kinds)})
        return good

    def solved(self, work: Array) -> Array:
        """Return all moments for right-hand sides.

        Parameters
        ----------
        work
            At the places of the leaves' moments, (slots, k); overwritten.
        """
        k = work.shape[1]
        found = self.device.zeros((self.moments, k))
        for step in self.steps:
            ns = step.sizes[0]
            left = gathered(work, step.opened)
            if ns:
                both = gathered(work, step.shared[0]) + gathered(work, step.shared[1])
                part = step.inverse @ both
                found[step.eliminated] = spread(part, k)
                left = left - step.coupling.mT @ part
            work[step.out] = spread(left, k)
        for step in reversed(self.steps):
            if step.sizes[0]:
                part = gathered(found, step.eliminated)
                part = part - step.coupling @ gathered(found, step.coupled)
                found[step.eliminated] = spread(step.inverse.mT @ part, k)
        return found


def gathered(values: Array, index: Array) -> Array:
    """Return values (slots, k) at places (b, count, n) as matrices, (b, n, count k)."""
    b, count, n = index.shape
    xp = namespace(values)
    return xp.reshape(xp.permute_dims(values[index], (0, 2, 1, 3)), (b, n, count * values.shape[1]))


def spread(matrices: Array, k: int) -> Array:
    """Return the matrices of `gathered` as values, (b, count, n, k)."""
    b, n, many = matrices.shape
    xp = namespace(matrices)
    return xp.permute_dims(xp.reshape(matrices, (b, n, many // k, k)), (0, 2, 1, 3))
