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

from sharpfront.arrays import Array, namespace, to_host
from sharpfront.leastsquares.batched_factors import inverse_factors
from sharpfront.leastsquares.device import Device
from sharpfront.leastsquares.dissection import Ints
from sharpfront.leastsquares.merges import Node


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


class _Numbers:
    """Whole numbers that travel to a device together: each journey waits for all work there."""

    def __init__(self) -> None:
        self._each: list[tuple[Ints, int]] = []

    def add(self, numbers: Ints) -> slice:
        """Return where numbers will be."""
        start = self._each[-1][1] if self._each else 0
        place = slice(start, start + len(numbers))
        self._each.append((numbers, place.stop))
        return place

    def put(self, device: Device) -> Array:
        """Return all of them on a device."""
        return device.put(np.concatenate([numbers for numbers, _ in self._each]))


@dataclass(eq=False)
class _EqualMerges:
    """Merges of equal shape, b nodes; vectors have places, moments have numbers."""

    parts: tuple[list[_Children], list[_Children]]  # where the first and the second children are
    sizes: tuple[int, int, int]  # moments shared, and left of the first and of the second
    shared: tuple[Array, Array]  # places of those shared in the first and second, (b, shared) each
    opened: Array  # places of the others in both, (b, open)
    out: Array  # where those go in the node's own
    eliminated: Array  # numbers of the shared moments, (b, shared)
    coupled: Array  # numbers of the others, (b, open)
    order: Array  # which of the others come first, (b, open)
    inverse: Array = None  # L^-1 of what is shared
    diagonal: Array = None  # of L
    coupling: Array = None  # L^-1 times what couples shared moments to the others


@dataclass(eq=False)
class BatchedMerges:
    """All merges of a tree."""

    device: Device  # where
    nodes: Sequence[Node]  # what is merged, children first
    # The numbers of leaves in batches, and the moments of each, (b,) and (b, g).
    leaves: Sequence[tuple[Ints, Ints]]
    moments: int  # the number of all moments
    # Bytes taken so far, to which this adds its own.
    needed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        first = sum(len(numbers) for numbers, _ in self.leaves)
        opened, levels = [0] * first, [0] * first
        for numbers, moments in self.leaves:
            for number in numbers.tolist():
                opened[number] = moments.shape[1]
        for a, b, shared in self.nodes:
            opened.append(opened[a] + opened[b] - 2 * shared)
            levels.append(1 + max(levels[a], levels[b]))
        lengths = np.array(opened, dtype=np.int64)
        self.offsets = np.cumsum(lengths) - lengths
        self.slots = int(lengths.sum())
        self._count = self.device.put(np.arange(max(len(opened), *opened)))
        # The moments of all leaves and nodes, each at its places.
        self._open = self.device.put(np.zeros(self.slots, dtype=np.int64))
        for numbers, moments in self.leaves:
            self._open[self.places(numbers, moments.shape[1])] = self.device.put(moments)
        self._fronts: list[_GramStack] = []
        self.steps = self._planned(np.array(levels[first:], dtype=np.int64), lengths)

    def places(self, numbers: Ints, count: int) -> Array:
        """Return the places of the first moments of leaves or nodes, (b, count)."""
        return self.device.put(self.offsets[numbers])[:, None] + self._count[:count]

    @property
    def largest_front(self) -> int:
        """Columns of the largest merge that eliminates anything."""
        return max((sum(step.sizes) for step in self.steps if step.sizes[0]), default=0)

    @property
    def extremes(self) -> list[tuple[float, float]]:
        """The smallest and largest diagonal entry of all factors."""
        diagonals = [step.diagonal for step in self.steps if step.sizes[0]]
        if not diagonals:
            return []
        xp = namespace(*diagonals)
        each = [xp.stack([xp.min(d), xp.max(d)]) for d in diagonals]
        return [(low, high) for low, high in to_host(xp.stack(each)).tolist()]

    def _planned(self, levels: Ints, lengths: Ints) -> list[_EqualMerges]:
        """Return merges that do not need each other together, by shapes, children first."""
        every = np.array(self.nodes, dtype=np.int64).reshape(-1, 3)
        left = lengths[every[:, :2]] - every[:, 2:]
        keys = np.concatenate([levels[:, None], every[:, 2:], left], axis=1)
        kinds, kind = np.unique(keys, axis=0, return_inverse=True)
        order = np.argsort(kind.ravel(), kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(kind.ravel()))[:-1])
        first = len(lengths) - len(every)
        members = [*(own for own, _ in self.leaves), *(own + first for own in groups)]
        # The array that each leaf and node is in, and its place there.
        where = np.zeros((2, len(lengths)), dtype=np.int64)
        for i, own in enumerate(members):
            where[0, own], where[1, own] = i, np.arange(len(own))
        numbers, drafts = _Numbers(), []
        for own, (_, ns, na, nb) in zip(groups, kinds.tolist(), strict=True):
            children = every[own, :2].T
            parts = tuple(self._parts(numbers, members, where[:, c]) for c in children)
            places = [numbers.add(self.offsets[c]) for c in (*children, own + first)]
            drafts.append((parts, places, (ns, na, nb)))
        there = numbers.put(self.device) if drafts else None
        return [self._step(there, *draft) for draft in drafts]

    def _parts(self, numbers: _Numbers, members: Sequence[Ints], where: Ints) -> list[_Children]:
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

    def _step(
        self,
        there: Array,
        parts: Sequence[list[_Children]],
        places: Sequence[slice],
        sizes: tuple[int, int, int],
    ) -> _EqualMerges:
        ns, na, nb = sizes
        xp = namespace(there)
        firsts, seconds, own = (
            there[place][:, None] + self._count[:n]
            for place, n in zip(places, (ns + na, ns + nb, na + nb), strict=True)
        )
        opened = xp.concat([firsts[:, ns:], seconds[:, ns:]], axis=1)
        coupled = self._open[opened]
        order = xp.argsort(coupled, axis=1)
        self._open[own] = xp.take_along_axis(coupled, order, axis=1)
        out = xp.take_along_axis(own, xp.argsort(order, axis=1), axis=1)
        shared = firsts[:, :ns], seconds[:, :ns]
        one, other = ([part.arrived(there) for part in own_parts] for own_parts in parts)
        gone = self._open[shared[0]]
        return _EqualMerges((one, other), sizes, shared, opened, out, gone, coupled, order)

    def factor(self, grams: Sequence[Array]) -> bool:
        """Merge the leaves' Gram matrices; tell whether all were positive definite."""
        self._fronts = [_GramStack(own) for own in grams]
        good = [self._merged(step) for step in self.steps]
        found = [each for each in good if each is not None]
        return not found or bool(namespace(*found).all(namespace(*found).stack(found)))

    def _taken(self, parts: Sequence[_Children]) -> Array:
        """Return Gram matrices in order as one array, (b, n, n)."""
        found = [self._ordered(part) for part in parts]
        if len(found) == 1:
            return found[0]
        count = sum(part.many for part in parts)
        out = self.device.zeros((count, *found[0].shape[1:]))
        for part, own in zip(parts, found, strict=True):
            out[part.where] = own
        return out

    def _ordered(self, part: _Children) -> Array:
        """Return matrices of one array, rows and columns in the order of their moments."""
        front = self._fronts[part.front]
        grams, order, at = front.grams, front.order, part.places
        front.merged += part.many
        if front.merged == len(grams):
            front.grams = front.order = None
        if order is None:
            return grams if at is None else grams[at]
        xp, (every, n, _) = namespace(grams), grams.shape
        order, at = (order, self._count[:every]) if at is None else (order[at], at)
        # Whole rows first: a card copies these twice as fast as single numbers.
        rows = xp.reshape(grams, (every * n, n))[at[:, None] * n + order]
        return xp.take_along_axis(rows, order[:, None, :], axis=2)

    def _merged(self, step: _EqualMerges) -> Array | None:
        """Merge; return whether all have factors, as an array, nothing where nothing is shared."""
        a, b = (self._taken(parts) for parts in step.parts)
        xp, (ns, na, nb) = namespace(a), step.sizes
        good = None
        if ns:
            factors = inverse_factors(self.device, a[:, :ns, :ns] + b[:, :ns, :ns])
            step.inverse, step.diagonal, good = factors
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
        found = self.device.zeros((self.moments, work.shape[1]))
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
