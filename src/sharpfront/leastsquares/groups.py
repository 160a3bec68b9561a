"""Rows of a linear system by the groups of columns that they speak of.

Rows that cover one group are stacked when its turn comes, rows that tie two neighbours beside them.
A row that covers more groups becomes a chain of ties: each group gets one more unknown, the sum of
the row's terms in the groups before it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray, Ints, all_finite, to_host
from sharpfront.kernels.assemble import Block, LinearSystem
from sharpfront.leastsquares.contract import infinite

_Placed = tuple[Block, int]


@dataclass(frozen=True, eq=False)
class Places:
    """Entries of the right-hand side that rows stand for, -1 for zero, and the rows' weights."""

    places: Ints
    weights: FloatArray

    def scatter(self, values: FloatArray, out: FloatArray) -> None:
        """Add the transposed of `values`, of (m or more, 1), to (rows, 1)."""
        held = self.places >= 0
        own = self.weights[:, None] * values[: len(self.places)]
        np.add.at(out, self.places[held], own[held])

    def values(self, rhs: FloatArray) -> FloatArray:
        """Return the weighted right-hand sides of the rows, (m, k) of (rows, k)."""
        own = self.weights[:, None] * rhs[self.places]
        return np.where(self.places[:, None] < 0, 0.0, own)


@dataclass(frozen=True, eq=False)
class _Long:
    """A row over many groups, of unit norm: its entries, and the weight of each link."""

    row: FloatArray
    # Of the right-hand side: the norm that it was divided by, its entry and the place of that.
    norm: float
    value: float
    place: int
    weight: float


class SortedRows:
    """The rows of each group, and the ties after each: stacked when they are wanted.

    Groups begin at the edges; `scale` has factors of the columns, None for ones. The last column of
    what is stacked is the weighted right-hand side.
    """

    def __init__(
        self, system: LinearSystem, edges: tuple[int, ...], scale: FloatArray | None
    ) -> None:
        groups, place = len(edges) - 1, 0
        self._own: list[list[_Placed]] = [[] for _ in range(groups)]
        self._ties: list[list[_Placed]] = [[] for _ in range(groups)]
        self._edges, self._scale = edges, scale
        self.long: list[_Long] = []
        at = {edge: i for i, edge in enumerate(edges)}
        for block in system.blocks:
            first, last = at[block.start], at[block.stop] - 1
            if last > first + 1:
                self.long += self._long_rows(block, place)
            else:
                (self._own if last == first else self._ties)[first].append((block, place))
            place += block.rows
        for found in (*self._own, *self._ties):
            # Heavy rows first keep Householder's QR accurate.
            found.sort(key=lambda item: -item[0].weight)

    def own(self, group: int) -> FloatArray:
        """Return the rows of one group alone, in LAPACK's order, which then needs no copy."""
        found = self._stacked(self._own[group], group, 1)
        return _over(_ends(self.long, self._edges, group), found) if self.long else found

    def own_places(self, group: int) -> Places:
        """Return where those rows stand in the right-hand side."""
        head: list[tuple[int, float]] = []
        if group == 0:
            head = [(-1, 0.0)] * len(self.long)
        elif group == len(self._edges) - 2:
            head = [(link.place, link.weight / link.norm) for link in self.long]
        return _places(head, self._own[group])

    def ties(self, group: int) -> FloatArray:
        """Return the rows that tie a group to the next one."""
        found = self._stacked(self._ties[group], group, 2)
        return _over(_links(self.long, self._edges, group), found) if self.long else found

    def ties_places(self, group: int) -> Places:
        """Return where those rows stand in the right-hand side."""
        return _places([(-1, 0.0)] * len(self.long), self._ties[group])

    def _stacked(self, blocks: list[_Placed], group: int, count: int) -> FloatArray:
        """Return blocks over some groups, each with its running sums after it."""
        edges = self._edges[group : group + count + 1]
        sizes, sums = [b - a for a, b in itertools.pairwise(edges)], len(self.long)
        total = sum([block.rows for block, _ in blocks])
        matrix = np.zeros((total, sum(sizes) + sums * len(sizes) + 1), order="F")
        first = 0
        for block, _ in blocks:
            own, start = matrix[first : first + block.rows], 0
            entries, right = self._entries(block)
            for i, size in enumerate(sizes):
                at = start + i * sums
                np.multiply(
                    entries[:, start : start + size], block.weight, out=own[:, at : at + size]
                )
                start += size
            np.multiply(right, block.weight, out=own[:, -1])
            first += block.rows
        if not all_finite(matrix) and not all_finite(matrix[:, :-1]):
            raise infinite()
        return matrix

    def _entries(self, block: Block) -> tuple[FloatArray, FloatArray]:
        matrix, right = block.entries()
        if self._scale is None:
            return to_host(matrix), to_host(right)
        with np.errstate(invalid="ignore"):
            return to_host(matrix) * self._scale[block.start : block.stop], to_host(right)

    def _long_rows(self, block: Block, place: int) -> list[_Long]:
        """Return the rows of a block that covers more than two groups.

        A chain of n links of weight q with the best sums between them counts like one row of weight
        q / sqrt(n): there is one link per group, one that starts at zero, and none to spare.
        """
        entries, right = self._entries(block)
        if not np.isfinite(entries).all():
            raise infinite()
        padded = np.zeros((block.rows, self._edges[-1]))
        padded[:, block.start : block.stop] = entries
        out = []
        for r, row in enumerate(padded):
            norm = float(np.linalg.norm(row)) or 1.0
            weight = block.weight * norm * math.sqrt(len(self._edges))
            out.append(_Long(row / norm, norm, float(right[r]) / norm, place + r, weight))
        return out


def column_scale(system: LinearSystem) -> FloatArray:
    """Return one over the norms of the columns; one for a column of zeros."""
    largest = np.zeros(system.columns)
    for block in system.blocks:
        if block.rows:
            own = np.max(np.abs(to_host(block.matrix)), axis=0) * block.weight
            part = slice(block.start, block.stop)
            largest[part] = np.maximum(largest[part], own)
    # The largest entry serves as well as the norm, and cannot underflow.
    return np.where(largest > 1e-300, 1.0 / np.where(largest > 1e-300, largest, 1.0), 1.0)


def _places(head: list[tuple[int, float]], blocks: list[_Placed]) -> Places:
    """Return the places of some rows, and those of blocks after them."""
    places = [np.array([p for p, _ in head], dtype=np.int64)]
    weights = [np.array([w for _, w in head], dtype=float)]
    for block, place in blocks:
        places.append(np.arange(place, place + block.rows))
        weights.append(np.full(block.rows, block.weight))
    return Places(np.concatenate(places), np.concatenate(weights))


def _over(head: FloatArray, rows: FloatArray) -> FloatArray:
    """Return rows with others on top."""
    return np.concatenate([head, rows]) if len(head) else rows


def _ends(long: list[_Long], edges: tuple[int, ...], group: int) -> FloatArray:
    """Return the rows that start the running sums at zero, or close them in the last group."""
    size, count = edges[group + 1] - edges[group], len(long)
    matrix = np.zeros((count, size + count + 1))
    if group == 0:
        matrix[:, size:-1] = np.diag([link.weight for link in long])
    elif group == len(edges) - 2:
        for r, link in enumerate(long):
            matrix[r, :size] = link.weight * link.row[edges[group] :]
            matrix[r, size + r], matrix[r, -1] = link.weight, link.weight * link.value
    else:
        return matrix[:0]
    return matrix


def _links(long: list[_Long], edges: tuple[int, ...], group: int) -> FloatArray:
    """Return the ties: sum before the next group = sum before this one + the terms of this one."""
    size, following, count = *np.diff(edges[group : group + 3]), len(long)
    matrix = np.zeros((count, size + following + 2 * count + 1))
    for r, link in enumerate(long):
        matrix[r, :size] = link.weight * link.row[edges[group] : edges[group + 1]]
        matrix[r, size + r], matrix[r, size + count + following + r] = link.weight, -link.weight
    return matrix
