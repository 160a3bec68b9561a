"""Maps along one axis of many patches: tables, places and means as arrays of one shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.boxes import Boxes, distinct
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch
from sharpfront.rows.moments import means


@dataclass(frozen=True, eq=False)
class Axis:
    """The maps along one axis of patches, and how many functions there are with each."""

    owners: Sequence[Patch]  # one with each of the maps and numbers of functions
    which: Ints  # which of these each patch has, (b,)
    axis: int
    count: int  # points with most functions

    @classmethod
    def of(cls, boxes: Boxes, numbers: Ints, axis: int, functions: int) -> Axis:
        """Return the maps of some patches along an axis, with no more functions than that."""
        own = np.stack([boxes.maps[numbers, axis], boxes.functions[numbers, axis]], axis=1)
        first, which = distinct(own)
        owners = [boxes.patches[i] for i in numbers[first].tolist()]
        return cls(owners, which, axis, functions + 1)

    @property
    def counts(self) -> list[int]:
        """How many points there are with each map."""
        return [p.functions[self.axis] + 1 for p in self.owners]

    def filled(self, each: Sequence[FloatArray], *, last: bool = False) -> FloatArray:
        """Return numbers along points as one array, filled up with zeros or with the last ones."""
        out = np.zeros((len(each), self.count))
        for row, own in zip(out, each, strict=True):
            row[: len(own)], row[len(own) :] = own, own[-1] if last else 0.0
        return out

    @property
    def nodes(self) -> list[FloatArray]:
        """The Gauss points of the reference cell with each map."""
        return [gauss(n)[0] for n in self.counts]

    @property
    def places(self) -> FloatArray:
        """The same in the chart, (maps, n)."""
        every = zip(self.owners, self.nodes, strict=True)
        return self.filled([p.maps[self.axis].points(z) for p, z in every], last=True)

    @property
    def units(self) -> FloatArray:
        """How long the reference cell seems there, (maps, n)."""
        every = zip(self.owners, self.nodes, strict=True)
        return self.filled([2.0 / p.maps[self.axis].slopes(z, 1)[0] for p, z in every], last=True)

    def tables(self, order: int) -> FloatArray:
        """Return d^k of the functions at the points, (maps, order + 1, n, functions)."""
        out = np.zeros((len(self.owners), order + 1, self.count, self.count - 1))
        for table, patch, n in zip(out, self.owners, self.counts, strict=True):
            table[:, :n, : n - 1] = patch.gauss_along(self.axis, n, order)
        return out

    @property
    def means(self) -> FloatArray:
        """What takes values at points to means with polynomials, (maps, n, n)."""
        out = np.zeros((len(self.owners), self.count, self.count))
        for matrix, n in zip(out, self.counts, strict=True):
            matrix[:n, :n] = means(n)
        return out

    @property
    def highest(self) -> FloatArray:
        """Ones for the two highest polynomials with each map, (maps, n)."""
        return self.filled([np.where(np.arange(n) < n - 2, 0.0, 1.0) for n in self.counts])
