"""The rows of patches made on a device, those of equal shape together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import Array
from sharpfront.bases.patch import Patch
from sharpfront.leastsquares.batched_leaves import Stack, at_once
from sharpfront.leastsquares.device import Device
from sharpfront.leastsquares.dissection import Ints
from sharpfront.leastsquares.leaves import Tie
from sharpfront.leastsquares.tree import TreeElimination
from sharpfront.rows.batched_equations import EquationBatch
from sharpfront.rows.batched_ties import TieBatch
from sharpfront.rows.conditions import Rows
from sharpfront.rows.equation_rows import EquationRows
from sharpfront.rows.faces import Faces
from sharpfront.rows.ties import TraceTies


class _Shape(NamedTuple):
    """What leaves of one batch have in common, and how many rows of conditions and ties."""

    functions: tuple[int, ...]
    charted: bool
    uneven: bool
    cut: bool
    further: int
    ties: int


class BatchedRows:
    """The rows of all patches of a system on a device.

    Equations and ties make rows one by one, for what is not made in batches; further rows are those
    of conditions of each patch. Traces, which are numbered like the faces, are eliminated in an
    order.
    """

    def __init__(
        self,
        device: Device,
        equations: EquationRows,
        ties: TraceTies,
        patches: Sequence[Patch],
        faces: Faces,
        further: Mapping[int, Sequence[Rows]],
        elimination: TreeElimination,
    ) -> None:
        self.device, self.equations, self.measure = device, equations, ties.measure
        self.patches, self.further = patches, further
        plain = ties.plain(faces)
        own = np.flatnonzero(plain)
        self._ties = TieBatch(device, ties, patches, [faces[k] for k in own.tolist()], own)
        self._order(faces, elimination)
        # Ties that are made one by one.
        self._special: dict[int, list[tuple[int, Tie]]] = {}
        for k in np.flatnonzero(~plain).tolist():
            for side, tie in enumerate(ties.of_face(k, faces[k], patches)):
                patch = faces[k].contacts[side].patch
                self._special.setdefault(patch, []).append((int(self._starts[k, side]), tie))

    def _order(self, faces: Faces, elimination: TreeElimination) -> None:
        """Find the row at which each tie starts in its patch, and the moments of each patch."""
        leaf = faces.pairs.ravel()
        trace = np.repeat(np.arange(len(faces)), 2)
        order = np.lexsort((elimination.rank[trace], leaf))
        sizes = elimination.sizes[trace[order]]
        counts = np.bincount(leaf, elimination.sizes[trace], len(self.patches))
        self._counts = counts.astype(np.int64)
        self._bases = np.cumsum(self._counts) - self._counts
        starts = np.empty(len(leaf), dtype=np.int64)
        starts[order] = np.cumsum(sizes) - sizes - self._bases[leaf[order]]
        self._starts = starts.reshape(-1, 2)
        self._moments = elimination.moments_of(trace[order].tolist(), sizes.tolist())

    def stacks(self, weight: float) -> Iterator[Stack]:
        """Yield the rows of all patches, those of the equation times a weight."""
        shapes: dict[_Shape, list[int]] = {}
        counts = self._counts.tolist()
        for i, patch in enumerate(self.patches):
            further = sum(len(matrix) for matrix, _ in self.further[i])
            uneven, cut = any(m.strength for m in patch.maps), patch.cut is not None
            shape = _Shape(
                patch.functions, patch.chart is not None, uneven, cut, further, counts[i]
            )
            shapes.setdefault(shape, []).append(i)
        for shape, every in shapes.items():
            points = int(np.prod([p + 1 for p in shape.functions])) * len(
                self.measure.problem.forms
            )
            columns = len(self.measure.unknowns) * self.patches[every[0]].size
            rows = points + shape.further + shape.ties
            most = at_once(self.device, rows, columns + shape.ties)
            for start in range(0, len(every), most):
                numbers = np.array(every[start : start + most], dtype=np.int64)
                yield self._stack(shape, numbers, weight)

    def _stack(self, shape: _Shape, numbers: Ints, weight: float) -> Stack:
        patches, put = [self.patches[i] for i in numbers.tolist()], self.device.put
        rest = 0.0
        if shape.cut:
            found = self.equations.reduced(patches, len(self.patches))
            own = put(weight * np.stack([r.triangle for r in found]))
            own_rhs = put(weight * np.stack([r.rhs for r in found]))
            rest = weight**2 * sum(float(np.sum(r.left[0][:, 0] ** 2)) for r in found)
        else:
            own, own_rhs = EquationBatch(self.device, self.measure, patches).rows(weight)
        (b, m, n), k = own.shape, own_rhs.shape[2]
        end = m + shape.further
        rows = self.device.zeros((b, end + shape.ties, n))
        rhs = self.device.zeros((b, end + shape.ties, k))
        rows[:, :m], rhs[:, :m] = own, own_rhs
        if shape.further:
            each = [self.further[i] for i in numbers.tolist()]
            rows[:, m:end] = put(np.stack([np.concatenate([a for a, _ in x]) for x in each]))
            rhs[:, m:end] = put(np.stack([np.concatenate([r for _, r in x]) for x in each]))
        self._tie(rows, rhs, numbers, end)
        moments = self._moments[self._bases[numbers][:, None] + np.arange(shape.ties)]
        return Stack(numbers, moments, rest, rows, rhs)

    def _tie(self, rows: Array, rhs: Array, numbers: Ints, end: int) -> None:
        """Write the ties of patches, which start at a row."""
        place = np.full(len(self.patches), -1)
        place[numbers] = np.arange(len(numbers))
        self._ties.write(rows, place, self._starts + end)
        for j, i in enumerate(numbers.tolist()):
            for start, tie in self._special.get(i, ()):
                own = slice(end + start, end + start + len(tie.matrix))
                rows[j, own] = self.device.put(tie.matrix)
                if tie.offset is not None:
                    rhs[j, own, 0] = self.device.put(tie.offset)
