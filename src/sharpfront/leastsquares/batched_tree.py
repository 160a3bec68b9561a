"""Elimination along a tree on a device: leaves and merges in batches, with refinement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

import numpy as np

from sharpfront.arrays import Array, FloatArray, to_host
from sharpfront.errors import DeviceMemoryError
from sharpfront.leastsquares.batched_leaves import LeafBatch, Stack, eliminated
from sharpfront.leastsquares.batched_merges import BatchedMerges
from sharpfront.leastsquares.device import Device
from sharpfront.leastsquares.refinement import refined
from sharpfront.leastsquares.tree import TreeElimination, TreeSolution


def solved_on_device(
    device: Device, elimination: TreeElimination, stacks: Callable[[], Iterable[Stack]]
) -> TreeSolution | None:
    """Eliminate and substitute on a device; None where Gram matrices lose too many digits.

    If its memory is too small, what leaves keep stays with the processor. `stacks` returns the rows
    of all leaves.
    """
    with suppress(DeviceMemoryError):
        return _solved(device, elimination, stacks(), frugal=False)
    # Not before the error is gone, which holds all that was in memory.
    return _solved(device, elimination, stacks(), frugal=True)


def _solved(
    device: Device, elimination: TreeElimination, stacks: Iterable[Stack], *, frugal: bool
) -> TreeSolution | None:
    needed: list[int] = []
    batches: list[LeafBatch] = []
    with device.guarded(needed):
        for stack in stacks:
            batch = eliminated(device, stack)
            if batch is None:
                return None
            if frugal:
                batch.move(to_host)
            needed.append(batch.size)
            batches.append(batch)
            # The last ones take memory that merges need.
            del stack
        return _Solve(device, elimination, batches, needed).solution()


class _Solve:
    """Leaves after elimination, and how they are joined."""

    def __init__(
        self,
        device: Device,
        elimination: TreeElimination,
        batches: Sequence[LeafBatch],
        needed: list[int],
    ) -> None:
        self.device, self.elimination, self.batches = device, elimination, batches
        leaves = [(batch.numbers, batch.moments) for batch in batches]
        self.merges = BatchedMerges(device, elimination, leaves, needed)
        self.moments = [device.put(moments) for _, moments in leaves]
        self.slots = [self.merges.places(own, moments.shape[1]) for own, moments in leaves]
        self.columns = batches[0].rhs.shape[2]

    def solution(self) -> TreeSolution | None:
        grams = [batch.gram for batch in self.batches]
        for batch in self.batches:
            batch.gram = None
        if not self.merges.factor(grams):
            return None
        start = self._summed(batch.rhs for batch in self.batches)
        better = refined(self.merges.solved(start), self._step)
        if better is None:
            return None
        return self._written(*better)

    def _summed(self, left: Iterable[Array]) -> Array:
        """Return N^T times what is left of the leaves' rows at the places of their moments."""
        work = self.device.zeros((self.merges.slots, self.columns))
        for batch, slots, own in zip(self.batches, self.slots, left, strict=True):
            rows = batch.each(self.device.put(batch.rows))
            work[slots] = rows.mT @ self.device.put(own)
        return work

    def _residuals(self, found: Array) -> Iterator[Array]:
        for batch, moments in zip(self.batches, self.moments, strict=True):
            rows = batch.each(self.device.put(batch.rows))
            yield self.device.put(batch.rhs) - rows @ found[moments]

    def _step(self, found: Array) -> Array:
        return self.merges.solved(self._summed(self._residuals(found)))

    def _written(self, found: Array, taken: int) -> TreeSolution:
        columns: list[FloatArray] = [np.zeros((0, self.columns))] * self.elimination.tree.leaves
        rest = sum(float((own[:, :, 0] ** 2).sum()) for own in self._residuals(found))
        for batch, moments in zip(self.batches, self.moments, strict=True):
            response = batch.each(self.device.put(batch.response))
            own = to_host(self.device.put(batch.start) - response @ found[moments])
            for i, number in enumerate(batch.numbers.tolist()):
                columns[number] = own[i] if batch.inside is None else own[i, batch.inside[i]]
        each = [to_host(batch.extremes).tolist() for batch in self.batches]
        extremes = [*self.merges.extremes, *((low, high) for low, high in each)]
        rest += sum(batch.rest for batch in self.batches)
        left = (np.array([[np.sqrt(rest)]]),)
        return TreeSolution.of(columns, left, extremes, taken)[0]
