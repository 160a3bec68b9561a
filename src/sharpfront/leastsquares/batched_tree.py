"""Elimination along a tree on a device: leaves and merges in batches, with refinement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

import numpy as np

from sharpfront.arrays import Array, FloatArray, to_host
from sharpfront.device import Device
from sharpfront.errors import DeviceMemoryError
from sharpfront.leastsquares.batched_leaves import LeafBatch, Stack, eliminated
from sharpfront.leastsquares.batched_merges import BatchedMerges, Front, gathered, spread
from sharpfront.leastsquares.dissection import Ints, sequence
from sharpfront.leastsquares.kinds import Kinds
from sharpfront.leastsquares.refinement import refined
from sharpfront.leastsquares.tree import TreeElimination, TreeSolution


def solved_on_device(
    device: Device, elimination: TreeElimination, stacks: Callable[[], Iterable[Stack]]
) -> TreeSolution | None:
    """Eliminate and substitute on a device; None where Gram matrices lose too many digits.

    If its memory is too small, what leaves keep stays with the processor.

    Parameters
    ----------
    device
        Where.
    elimination
        The tree.
    stacks
        Returns the rows of all leaves.
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
        count = elimination.tree.leaves
        kinds_of: list[tuple[int, int]] = [(0, 0)] * count
        index: list[Ints] = [sequence([])] * count
        for i, batch in enumerate(batches):
            for j, own in enumerate(batch.numbers.tolist()):
                for leaf, moments in zip(own, batch.moments[j], strict=True):
                    kinds_of[leaf], index[leaf] = (i, j), moments
        self.kinds = Kinds.among(kinds_of, index, elimination.nodes)
        self.merges = BatchedMerges(
            device, self.kinds, elimination.nodes, elimination.moments, needed
        )
        self.moments = [device.put(batch.moments) for batch in batches]
        self.slots = [
            device.put(
                self.merges.offsets[batch.numbers][..., None] + np.arange(batch.moments.shape[2])
            )
            for batch in batches
        ]
        self.columns = batches[0].rhs.shape[2] // batches[0].numbers.shape[1]

    def solution(self) -> TreeSolution | None:
        fronts: dict[int, Front] = {}
        for batch in self.batches:
            for j, own in enumerate(batch.numbers[:, 0].tolist()):
                fronts[self.kinds.of[own]] = Front(batch.gram, j)
            batch.gram = self.device.zeros((0, 0, 0))
        if not self.merges.factor(fronts):
            return None
        start = self._summed(batch.rhs for batch in self.batches)
        better = refined(self.merges.solved(start), self._step)
        if better is None:
            return None
        return self._written(*better)

    def _summed(self, rows: Iterable[Array]) -> Array:
        """Return N^T times rows of the leaves at the places of their moments."""
        work = self.device.zeros((self.merges.slots, self.columns))
        for batch, slots, own in zip(self.batches, self.slots, rows, strict=True):
            normal = self.device.put(batch.rows).mT @ self.device.put(own)
            work[slots] = spread(normal, self.columns)
        return work

    def _residuals(self, found: Array) -> Iterator[Array]:
        for batch, moments in zip(self.batches, self.moments, strict=True):
            rhs, rows = self.device.put(batch.rhs), self.device.put(batch.rows)
            yield rhs - rows @ gathered(found, moments)

    def _step(self, found: Array) -> Array:
        return self.merges.solved(self._summed(self._residuals(found)))

    def _written(self, found: Array, taken: int) -> TreeSolution:
        k = self.columns
        columns: list[FloatArray] = [np.zeros((0, k))] * self.elimination.tree.leaves
        rest = sum(float((own[:, :, ::k] ** 2).sum()) for own in self._residuals(found))
        for batch, moments in zip(self.batches, self.moments, strict=True):
            response, start = self.device.put(batch.response), self.device.put(batch.start)
            own = to_host(spread(start - response @ gathered(found, moments), k))
            for numbers, each in zip(batch.numbers.tolist(), own, strict=True):
                for number, values in zip(numbers, each, strict=True):
                    columns[number] = values
        extremes = [*self.merges.extremes, *(batch.extremes for batch in self.batches)]
        rest += sum(batch.rest for batch in self.batches)
        return TreeSolution.of(columns, rest, extremes, self.merges.largest_front, taken)
