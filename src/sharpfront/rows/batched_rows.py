"""The rows of patches made on a device, those of about equal shape together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import Array, Flags, FloatArray, Ints
from sharpfront.bases.boxes import distinct
from sharpfront.bases.total_degree import is_joint, products
from sharpfront.leastsquares.batched_leaves import Stack, at_once
from sharpfront.leastsquares.device import Device, pooled
from sharpfront.leastsquares.leaf_rows import Tie
from sharpfront.leastsquares.tree import TreeElimination
from sharpfront.rows.batched_equations import EquationBatch
from sharpfront.rows.batched_ties import TieBatch
from sharpfront.rows.conditions import Rows
from sharpfront.rows.equation_rows import EquationRows
from sharpfront.rows.faces import Faces
from sharpfront.rows.trace_ties import TraceTies


class _Shape(NamedTuple):
    """What leaves of one batch have in common, and room for how many functions and rows."""

    functions: tuple[int, ...]
    charted: int
    uneven: int
    cut: int
    alone: int  # the same for leaves that have the same numbers of functions; zero where these vary
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
        faces: Faces,
        further: Mapping[int, Sequence[Rows]],
        elimination: TreeElimination,
    ) -> None:
        self.device, self.equations, self.measure = device, equations, ties.measure
        self.boxes, self.patches, self.further = faces.boxes, faces.boxes.patches, further
        plain = ties.plain(faces)
        self._ties = TieBatch(device, ties, faces, np.flatnonzero(plain))
        self._order(faces, elimination)
        # Ties that are made one by one.
        self._special: dict[int, list[tuple[int, Tie]]] = {}
        for k in np.flatnonzero(~plain).tolist():
            for side, tie in ties.of_face(k, faces[k], self.patches).items():
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
        # The last is none.
        self._moments = np.append(
            elimination.moments_of(trace[order].tolist(), sizes.tolist()), elimination.moments
        )

    def stacks(self, weight: float) -> Iterator[Stack]:
        """Yield the rows of all patches, those of the equation times a weight."""
        for shape, every in self._shapes():
            points = math.prod(p + 1 for p in shape.functions) * len(self.measure.problem.forms)
            rows = points + shape.further + shape.ties
            columns = self._columns(shape.functions)
            most = at_once(self.device, rows, columns + shape.ties)
            for start in range(0, len(every), most):
                yield self._stack(shape, every[start : start + most], weight)

    def _columns(self, functions: tuple[int, ...]) -> int:
        """Return how many columns go with so many functions along axes."""
        every = products(functions, is_joint(len(functions)))
        return len(self.measure.unknowns) * int(every.shape[1])

    def _shapes(self) -> list[tuple[_Shape, Ints]]:
        """Return patches that are worked on together, filled up to a shape."""
        boxes, count = self.boxes, len(self.patches)
        further = np.zeros(count, dtype=np.int64)
        for i, own in self.further.items():
            further[i] = sum(len(matrix) for matrix, _ in own)
        # Functions up to a joint degree, and those of boxes that are cut, are not filled up.
        exact = boxes.cut | is_joint(boxes.maps.shape[1])
        alone = np.where(exact, 1 + distinct(boxes.functions)[1], 0)
        keys = [boxes.charted, boxes.uneven.any(axis=1), boxes.cut, alone, further, self._counts]
        every = np.concatenate([np.stack(keys, axis=1), boxes.functions], axis=1)
        first, kind = distinct(every)
        out = []
        free = self.device.free
        for sizes, kinds in pooled(every[first], np.bincount(kind), 4, self._cost, free):
            members = np.flatnonzero(np.isin(kind, kinds))
            out.append((_Shape(sizes[6:], *sizes[:6]), members))
        return out

    def _cost(self, shapes: FloatArray) -> FloatArray:
        """Return the operations that leaves of some shapes take, and what they keep, (2, s)."""
        n = np.prod(shapes[:, 6:], axis=1) * len(self.measure.unknowns)
        points = np.prod(shapes[:, 6:] + 1, axis=1) * len(self.measure.problem.forms)
        g = shapes[:, 5]
        m = points + shapes[:, 4] + g
        operations = n * n * (6 * m + n) + 4 * m * n * g + 2 * m * g * g
        return np.stack([operations, (m + n + g) * g])

    def _stack(self, shape: _Shape, numbers: Ints, weight: float) -> Stack:
        rest = 0.0
        if shape.cut:
            patches, put = [self.patches[i] for i in numbers.tolist()], self.device.put
            found = self.equations.reduced(patches, len(self.patches))
            own = put(weight * np.stack([r.triangle for r in found]))
            own_rhs = put(weight * np.stack([r.rhs for r in found]))
            rest = weight**2 * sum(float(np.sum(r.left[0][:, 0] ** 2)) for r in found)
        else:
            batch = EquationBatch(self.device, self.measure, self.boxes, numbers, shape.functions)
            own, own_rhs = batch.rows(weight)
        (b, m, n), k = own.shape, own_rhs.shape[2]
        end = m + shape.further
        rows = self.device.zeros((b, end + shape.ties, n))
        rhs = self.device.zeros((b, end + shape.ties, k))
        rows[:, :m], rhs[:, :m] = own, own_rhs
        del own, own_rhs
        inside = self._inside(shape, numbers, n)
        self._condition(rows, rhs, numbers, slice(m, end), inside)
        self._tie(rows, rhs, numbers, end, shape.functions, inside)
        real = self._counts[numbers]
        turn = np.arange(shape.ties)
        places = np.where(turn < real[:, None], self._bases[numbers][:, None] + turn, -1)
        return Stack(numbers, self._moments[places], rest, rows, rhs, inside)

    def _inside(self, shape: _Shape, numbers: Ints, columns: int) -> Flags | None:
        """Return which columns are functions of each patch; None where all are."""
        functions = self.boxes.functions[numbers]
        if shape.alone or np.all(functions == shape.functions):
            return None
        out = np.ones((len(numbers), *shape.functions), dtype=bool)
        for a, n in enumerate(shape.functions):
            own = np.arange(n) < functions[:, a, None]
            out &= own.reshape(-1, *(n if b == a else 1 for b in range(len(shape.functions))))
        return np.tile(out.reshape(len(numbers), -1), len(self.measure.unknowns))

    def _condition(
        self, rows: Array, rhs: Array, numbers: Ints, where: slice, inside: Flags | None
    ) -> None:
        """Write the rows of conditions."""
        count = where.stop - where.start
        if not count:
            return
        matrices = np.zeros((len(numbers), count, rows.shape[2]))
        right = np.zeros((len(numbers), count, rhs.shape[2]))
        for j, i in enumerate(numbers.tolist()):
            start = 0
            for matrix, values in self.further[i]:
                own = slice(start, start + len(matrix))
                matrices[j][own, slice(None) if inside is None else inside[j]] = matrix
                right[j, own] = values
                start = own.stop
        rows[:, where], rhs[:, where] = self.device.put(matrices), self.device.put(right)

    def _tie(
        self,
        rows: Array,
        rhs: Array,
        numbers: Ints,
        end: int,
        functions: tuple[int, ...],
        inside: Flags | None,
    ) -> None:
        """Write the ties of patches, which start at a row."""
        place = np.full(len(self.patches), -1)
        place[numbers] = np.arange(len(numbers))
        self._ties.write(rows, place, self._starts + end, functions)
        for i in sorted(self._special.keys() & set(numbers.tolist())):
            j = int(place[i])
            for start, tie in self._special[i]:
                own = slice(end + start, end + start + len(tie.matrix))
                matrix = np.zeros((len(tie.matrix), rows.shape[2]))
                matrix[:, slice(None) if inside is None else inside[j]] = tie.matrix
                rows[j, own] = self.device.put(matrix)
                if tie.offset is not None:
                    rhs[j, own, 0] = self.device.put(tie.offset)
