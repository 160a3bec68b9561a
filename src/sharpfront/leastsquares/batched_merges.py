"""Merges by Gram matrices on a device, those of one level and of equal shape together.

The same as `gram`, in other words for a device: matrices of equal shape are one array, and vectors
go up the tree in one array in which every node has a place for its moments, so that nothing is ever
summed in an order that chance decides. Which moment goes where is found on the device too: the
processor only counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import Array, FloatArray, Ints, namespace, to_host
from sharpfront.leastsquares.device import Device, WholeNumbers, inverse_factors, worst_of
from sharpfront.leastsquares.pooled import pooled
from sharpfront.leastsquares.tree import TreeElimination

# Share of the free memory that merges made at a time may keep: smaller batches are let go sooner.
MERGED_SHARE = 1 / 32


@dataclass(eq=False)
class _GramStack:
    """Gram matrices in one array, (b, n, n), and the order of their moments, (b, n).

    Without an order they are in order. They are let go once all of them are merged.
    """

    grams: Array
    order: Array = None
    merged: int = 0


class _Children(NamedTuple):
    """Children that are in one array."""

    front: int  # which array
    many: int  # how many of its matrices
    places: Array  # where they are there; None if these are all, in order
    where: Array  # where they are in the merge; None likewise

    def arrived(self, numbers: Array) -> _Children:
        """Return the same with numbers that have travelled instead of their places among these."""
        places, where = (at if at is None else numbers[at] for at in (self.places, self.where))
        return self._replace(places=places, where=where)


@dataclass(eq=False)
class _EqualMerges:
    """Merges of equal shape, or filled up to one, b nodes; vectors have places, moments numbers.

    Where a matrix is filled up, moments that are none take part: their place is one after all
    others, where vectors are zero, and so is their number.
    """

    parts: tuple[list[_Children], list[_Children]]  # where the first and the second children are
    sizes: tuple[int, int, int]  # moments shared, and left of the first and of the second
    # Which moments of the first and of the second children come in turn, (b, shared + left) each,
    # -1 for none; None where all do, in order.
    chosen: tuple[Array, Array] | None
    shared: tuple[Array, Array]  # places of those shared in the first and second, (b, shared) each
    opened: Array  # places of the others in both, (b, open)
    out: Array  # where those go in the node's own
    eliminated: Array  # numbers of the shared moments, (b, shared)
    coupled: Array  # numbers of the others, (b, open)
    order: Array  # which of the others come first, (b, open)
    inverse: Array = None  # L^-1 of what is shared
    diagonal: Array = None  # of L
    coupling: Array = None  # L^-1 times what couples shared moments to the others


class _Draft(NamedTuple):
    """A batch of merges that is yet to travel."""

    nodes: Ints  # their numbers among the merges
    sizes: tuple[int, int, int]
    parts: tuple[list[_Children], list[_Children]]
    places: list[slice]  # the first places of the first and second children, and of the nodes
    real: slice | None  # how many moments are shared and left, (3, b); None where all are alike


def _cost(sizes: FloatArray) -> FloatArray:
    """Return the operations that merges of some shapes take, and what they keep, (2, s)."""
    shared, left = sizes[:, 1], sizes[:, 2] + sizes[:, 3]
    operations = shared**3 / 3 + left * shared**2 + 2 * shared * left**2
    return np.stack([operations, shared * (shared + left) + left**2])


@dataclass(eq=False)
class BatchedMerges:
    """All merges of a tree."""

    device: Device  # where
    elimination: TreeElimination  # what is merged
    # The numbers of leaves in batches, and the moments of each, (b,) and (b, g).
    leaves: Sequence[tuple[Ints, Ints]]
    # Bytes taken so far, to which this adds its own.
    needed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        tree, self._nodes = self.elimination.tree, self.elimination.merges
        self.moments, self._first = self.elimination.moments, tree.leaves
        # How many moments each leaf and node has, and what room is made for them.
        self._opened = np.zeros(tree.leaves + len(self._nodes), dtype=np.int64)
        self._room = np.zeros_like(self._opened)
        for numbers, moments in self.leaves:
            self._room[numbers] = moments.shape[1]
            self._opened[numbers] = np.sum(moments < self.moments, axis=1)
        heights = self._counted(tree.depths)
        pools = self._pools(heights)
        for sizes, nodes in pools:
            self._room[nodes + self._first] = sizes[1] + sizes[2]
        self.offsets = np.cumsum(self._room) - self._room
        # One more is the place of what is none.
        self.slots = int(self._room.sum()) + 1
        most = max(len(self._room), *self._room.tolist(), *(sum(sizes) for sizes, _ in pools))
        self._count = self.device.put(np.arange(most))
        # The moments of all leaves and nodes, each at its places.
        self._open = self.device.put(np.full(self.slots, self.moments))
        for numbers, moments in self.leaves:
            self._open[self.places(numbers, moments.shape[1])] = self.device.put(moments)
        self._fronts: list[_GramStack] = []
        self.steps = self._planned(pools)

    def _counted(self, depths: Ints) -> Ints:
        """Find how many moments nodes leave open; return how high each is above its leaves."""
        heights = np.zeros_like(self._opened)
        deepest = np.argsort(-depths[self._first :], kind="stable")
        ends = np.flatnonzero(np.diff(depths[self._first :][deepest])) + 1
        for own in np.split(deepest, ends):
            children, shared = self._nodes[own, :2], self._nodes[own, 2]
            self._opened[own + self._first] = self._opened[children].sum(axis=1) - 2 * shared
            heights[own + self._first] = 1 + heights[children].max(axis=1)
        return heights[self._first :]

    def _pools(self, heights: Ints) -> list[tuple[tuple[int, int, int], Ints]]:
        """Return merges that do not need each other together, with their shape, children first."""
        shared = self._nodes[:, 2:]
        left = self._opened[self._nodes[:, :2]] - shared
        shapes = np.concatenate([shared > 0, shared, left], axis=1)
        out, free = [], self.device.free
        order = np.argsort(heights, kind="stable")
        for level in np.split(order, np.flatnonzero(np.diff(heights[order])) + 1):
            kinds, kind = np.unique(shapes[level], axis=0, return_inverse=True)
            for sizes, own in pooled(kinds, np.bincount(kind.ravel()), 1, _cost, free):
                nodes = level[np.isin(kind.ravel(), own)]
                kept = 8 * float(_cost(np.array([sizes], dtype=float))[1, 0])
                most = max(1, int(MERGED_SHARE * free / kept)) if kept else len(nodes)
                for start in range(0, len(nodes), most):
                    some = nodes[start : start + most]
                    out.append(((sizes[1], sizes[2], sizes[3]), some))
        return out if len(order) else []

    def places(self, numbers: Ints, count: int) -> Array:
        """Return the places of the first moments of leaves or nodes, (b, count)."""
        return self.device.put(self.offsets[numbers])[:, None] + self._count[:count]

    @property
    def extremes(self) -> list[tuple[float, float]]:
        """The smallest and largest diagonal entry of the worst factor of each batch."""
        diagonals = [step.diagonal for step in self.steps if step.sizes[0]]
        if not diagonals:
            return []
        xp = namespace(*diagonals)
        each = [worst_of(d) for d in diagonals]
        return [(low, high) for low, high in to_host(xp.stack(each)).tolist()]

    def _planned(self, pools: Sequence[tuple[tuple[int, int, int], Ints]]) -> list[_EqualMerges]:
        """Return what is done in turn."""
        members = [*(own for own, _ in self.leaves), *(own + self._first for _, own in pools)]
        # The array that each leaf and node is in, and its place there.
        where = np.zeros((2, len(self._room)), dtype=np.int64)
        for i, own in enumerate(members):
            where[0, own], where[1, own] = i, np.arange(len(own))
        numbers, drafts = WholeNumbers(), []
        for sizes, own in pools:
            children = self._nodes[own, :2].T
            one, other = (self._parts(numbers, members, where[:, c]) for c in children)
            places = [numbers.add(self.offsets[c]) for c in (*children, own + self._first)]
            shared = self._nodes[own, 2]
            real = np.stack([shared, *(self._opened[c] - shared for c in children)])
            full = np.array_equal(real, np.repeat([[n] for n in sizes], len(own), axis=1))
            room = np.all(self._room[children] == [[sum(sizes[:2])], [sizes[0] + sizes[2]]])
            counted = None if full and room else numbers.add(real.ravel())
            drafts.append(_Draft(own, sizes, (one, other), places, counted))
        there = numbers.put(self.device) if drafts else None
        return [self._step(there, draft) for draft in drafts]

    def _parts(
        self, numbers: WholeNumbers, members: Sequence[Ints], where: Ints
    ) -> list[_Children]:
        """Return the arrays that children are in, with slices of numbers that are yet to travel."""
        out: list[_Children] = []
        for i in np.unique(where[0]).tolist():
            at = np.flatnonzero(where[0] == i)
            places = where[1, at]
            whole = np.array_equal(places, np.arange(len(members[i])))
            alone = len(at) == where.shape[1]
            own = None if whole else numbers.add(places)
            out.append(_Children(i, len(at), own, None if alone else numbers.add(at)))
        return out

    def _step(self, there: Array, draft: _Draft) -> _EqualMerges:
        xp, (ns, na, nb) = namespace(there), draft.sizes
        counts = ns + na, ns + nb, na + nb
        firsts, seconds, own = (
            there[place][:, None] + self._count[:n]
            for place, n in zip(draft.places, counts, strict=True)
        )
        chosen = None
        if draft.real is not None:
            real = there[draft.real].reshape(3, -1)[:, :, None]
            chosen = tuple(
                self._chosen(ns, n, real[0], left)
                for n, left in zip(counts, real[1:], strict=False)
            )
            firsts, seconds = (
                xp.where(which < 0, self.slots - 1, places[:, :1] + which)
                for which, places in zip(chosen, (firsts, seconds), strict=True)
            )
        opened = xp.concat([firsts[:, ns:], seconds[:, ns:]], axis=1)
        coupled = self._open[opened]
        order = xp.argsort(coupled, axis=1, stable=True)
        self._open[own] = xp.take_along_axis(coupled, order, axis=1)
        out = xp.take_along_axis(own, xp.argsort(order, axis=1), axis=1)
        shared = firsts[:, :ns], seconds[:, :ns]
        one, other = ([part.arrived(there) for part in parts] for parts in draft.parts)
        gone = self._open[shared[0]]
        return _EqualMerges(
            (one, other), draft.sizes, chosen, shared, opened, out, gone, coupled, order
        )

    def _chosen(self, room: int, count: int, shared: Array, left: Array) -> Array:
        """Return which moments of children come in turn, (b, count): `room` for those shared."""
        turn = self._count[:count]
        behind = turn - room
        xp = namespace(turn)
        first = xp.where(turn < shared, turn, -1)
        last = xp.where(behind < left, behind + shared, -1)
        return xp.where(turn < room, first, last)

    def factor(self, grams: Sequence[Array]) -> bool:
        """Merge the leaves' Gram matrices; tell whether all were positive definite."""
        self._fronts = [_GramStack(own) for own in grams]
        good = [self._merged(step) for step in self.steps]
        found = [each for each in good if each is not None]
        return not found or bool(namespace(*found).all(namespace(*found).stack(found)))

    def _taken(self, parts: Sequence[_Children], chosen: Array | None) -> Array:
        """Return Gram matrices in order as one array, (b, n, n)."""
        found = [self._ordered(part, chosen) for part in parts]
        if len(found) == 1:
            return found[0]
        count = sum(part.many for part in parts)
        out = self.device.zeros((count, *found[0].shape[1:]))
        for part, own in zip(parts, found, strict=True):
            out[part.where] = own
        return out

    def _ordered(self, part: _Children, chosen: Array | None) -> Array:
        """Return matrices of one array, rows and columns in the order of their moments."""
        front = self._fronts[part.front]
        grams, order, at = front.grams, front.order, part.places
        front.merged += part.many
        if front.merged == len(grams):
            front.grams = front.order = None
        if order is None and chosen is None:
            return grams if at is None else grams[at]
        xp, (every, n, _) = namespace(grams), grams.shape
        order = order if at is None or order is None else order[at]
        at, real = self._count[:every] if at is None else at, None
        if chosen is not None:
            own = chosen if part.where is None else chosen[part.where]
            real, own = own >= 0, xp.where(own < 0, 0, own)
            order = own if order is None else xp.take_along_axis(order, own, axis=1)
        # Whole rows first: a card copies these twice as fast as single numbers.
        rows = xp.reshape(grams, (every * n, n))[at[:, None] * n + order]
        del grams
        out = xp.take_along_axis(rows, order[:, None, :], axis=2)
        if real is not None:
            # In place: at the top of the tree a copy more is what does not fit.
            kept = xp.astype(real, out.dtype)
            out *= kept[:, :, None]
            out *= kept[:, None, :]
        return out

    def _merged(self, step: _EqualMerges) -> Array | None:
        """Merge; return whether all have factors, as an array, nothing where nothing is shared."""
        chosen = step.chosen or (None, None)
        a, b = (self._taken(*each) for each in zip(step.parts, chosen, strict=True))
        xp, (ns, na, nb) = namespace(a), step.sizes
        good = None
        if ns:
            both = a[:, :ns, :ns] + b[:, :ns, :ns]
            none = None if chosen[0] is None else chosen[0][:, :ns] < 0
            if none is not None:
                turn = self._count[:ns]
                both[:, turn, turn] += xp.astype(none, both.dtype)
            step.inverse, step.diagonal, good = inverse_factors(self.device, both)
            if none is not None:
                step.diagonal = xp.where(none, step.diagonal[:, :1], step.diagonal)
            across = xp.concat([a[:, :ns, ns:], b[:, :ns, ns:]], axis=2)
            step.coupling = step.inverse @ across
            self.needed.append(8 * len(a) * ns * (ns + na + nb))
            left = -step.coupling.mT @ step.coupling
        else:
            left = self.device.zeros((len(a), na + nb, na + nb))
        left[:, :na, :na] += a[:, ns:, ns:]
        left[:, na:, na:] += b[:, ns:, ns:]
        self._fronts.append(_GramStack(left, step.order))
        return None if good is None else xp.all(good)

    def solved(self, work: Array) -> Array:
        """Return all moments for right-hand sides at leaves' places, (slots, k); overwritten."""
        # The last is that of moments that are none.
        found = self.device.zeros((self.moments + 1, work.shape[1]))
        for step in self.steps:
            left = work[step.opened]
            if step.sizes[0]:
                both = work[step.shared[0]] + work[step.shared[1]]
                part = step.inverse @ both
                found[step.eliminated] = part
                left = left - step.coupling.mT @ part
            work[step.out] = left
        for step in reversed(self.steps):
            if step.sizes[0]:
                part = found[step.eliminated] - step.coupling @ found[step.coupled]
                found[step.eliminated] = step.inverse.mT @ part
        return found
