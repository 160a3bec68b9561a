"""Leaves whose unknowns no row couples: a real and an imaginary part inside a domain, say.

Each unknown is eliminated by itself, which takes a quarter of the time for two of them, and half of
that where their rows are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.leastsquares.dissection import Ints
from sharpfront.leastsquares.leaf_rows import LeafRows, Reduced, Tie
from sharpfront.leastsquares.light import Matrix
from sharpfront.leastsquares.reflectors import packed_triangle
from sharpfront.leastsquares.remainders import joined

if TYPE_CHECKING:
    from sharpfront.leastsquares.leaves import LeafFactor


@dataclass(frozen=True, eq=False)
class Apart:
    """Leaves with the same matrices, in which no row couples two unknowns."""

    leaves: Sequence[LeafRows]
    # The unknown of each row, of each matrix but the first.
    owners: Sequence[Ints]

    @classmethod
    def of(cls, leaves: Sequence[LeafRows]) -> Apart | None:
        """Return leaves that fall apart; None where they do not."""
        first = leaves[0]
        if first.unknowns < 2 or first.redundant:
            return None
        triangle, size = np.asarray(first.own.triangle), len(first.own.rhs) // first.unknowns
        # Most equations that couple unknowns show it in their last columns.
        if triangle[: -2 * size, -size - 1].any() or triangle[:-size, -1].any():
            return None
        owners = []
        for matrix in first.matrices[1:]:
            found = _owners(matrix, first.unknowns)
            if found is None:
                return None
            owners.append(found)
        for j in range(1, first.unknowns):
            if triangle[: j * size, j * size : (j + 1) * size].any():
                return None
        return cls(leaves, owners)

    @property
    def shares(self) -> list[list[LeafRows]]:
        """The rows of each unknown of all leaves; those of unknowns with equal rows together."""
        every = [
            [self._share(leaf, which) for leaf in self.leaves]
            for which in range(self.leaves[0].unknowns)
        ]
        alike = all(_equal(own[0], every[0][0]) for own in every[1:])
        return [[leaf for own in every for leaf in own]] if alike else every

    def _share(self, leaf: LeafRows, which: int) -> LeafRows:
        """Return the rows of one unknown."""
        size, count = len(leaf.own.rhs) // leaf.unknowns, len(leaf.further)
        columns = slice(which * size, (which + 1) * size)
        mine = [owner == which for owner in self.owners]

        def picked(matrix: Matrix, rows: Ints) -> FloatArray:
            return np.asfortranarray(np.asarray(matrix)[rows, columns])

        triangle = np.asfortranarray(np.asarray(leaf.own.triangle)[columns, columns])
        # What is left belongs to all of them: the first has it.
        left = tuple(part if which == 0 else np.zeros_like(part) for part in leaf.own.left)
        further = tuple(picked(m, own) for m, own in zip(leaf.further, mine, strict=False))
        rhs = leaf.rhs
        if rhs is not None:
            rhs = rhs[np.concatenate(mine[:count])]
        ties = tuple(
            Tie(t.trace, picked(t.matrix, own), *(_rows(x, own) for x in (t.offset, t.shared)))
            for t, own in zip(leaf.ties, mine[count:], strict=True)
        )
        return LeafRows(
            Reduced(triangle, leaf.own.rhs[columns], left), ties, further, rhs, leaf.weight
        )

    def together(self, found: Sequence[LeafFactor]) -> list[LeafFactor]:
        """Return the leaves from what was eliminated of each unknown of all of them, in turn."""
        first, count = self.leaves[0], len(self.leaves)
        n, size = len(first.own.rhs), len(first.own.rhs) // first.unknowns
        every = self.owners[len(first.further) :]
        sizes = tuple(len(own) for own in every)
        moments = np.concatenate([np.zeros(0, dtype=np.int64), *every])
        places = [np.flatnonzero(moments == which) for which in range(first.unknowns)]
        shares = [found[which * count : (which + 1) * count] for which in range(first.unknowns)]
        g = len(moments)
        triangle, response = np.zeros((g, g), order="F"), np.zeros((n, g))
        for which, (own, at) in enumerate(zip(shares, places, strict=True)):
            triangle[np.ix_(at, at)] = own[0].triangle
            if own[0].response is not None:
                response[which * size : (which + 1) * size, at] = own[0].response
        upper = packed_triangle(triangle)
        out = []
        for own in zip(*shares, strict=True):
            rhs = np.empty((g, own[0].rhs.shape[1]), order="F")
            for factor, at in zip(own, places, strict=True):
                rhs[at] = factor.rhs
            extremes = min(f.extremes[0] for f in own), max(f.extremes[1] for f in own)
            out.append(
                replace(
                    own[0],
                    sizes=sizes,
                    start=np.concatenate([f.start for f in own]),
                    response=None if own[0].response is None else response,
                    packed=upper,
                    rhs=rhs,
                    left=joined([f.left for f in own]),
                    extremes=extremes,
                )
            )
        return out


def _owners(matrix: Matrix, unknowns: int) -> Ints | None:
    """Return the unknown of each row, the first if it has none; None if one has two."""
    touched = np.asarray(matrix).reshape(len(matrix), unknowns, -1).any(axis=2)
    return None if (touched.sum(axis=1) > 1).any() else touched.argmax(axis=1)


def _rows(values: FloatArray | None, which: Ints) -> FloatArray | None:
    return None if values is None else values[which]


def _equal(one: LeafRows, other: LeafRows) -> bool:
    pairs = zip(one.matrices, other.matrices, strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)
