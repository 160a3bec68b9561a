"""Leaves of a tree: rows over columns of their own, tied to traces.

    minimise  |w (R c - r)|^2 + |A c - b|^2 + sum over ties |T c - g - t|^2

over a leaf's columns c. The rows that make up most of a leaf come reduced to a triangle R, so that
they need not be reduced again with other ties or another weight w.

Matrices that are few numbers times what many leaves share: made whenever they are read.

What least squares leave of their rows, and functions that are chosen to leave less.

Some functions may belong to no leaf: they are of all leaves together, such as those of a corner.
Their rows stand on the right-hand side, with a column each. What is left of these columns and of
a side that is solved for is kept as rows over them; of all rows together then the best sum of the
columns is a small least-squares problem.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import lstsq

from sharpfront.arrays import FloatArray, Ints
from sharpfront.leastsquares.parallel_lapack import reflect
from sharpfront.leastsquares.reflectors import PANEL, upper_half
from sharpfront.rounding import ROUNDED

# For each side that is solved for, what is left of it and of the shared functions as rows over
# these.
Remainder = tuple[FloatArray, ...]


def remainder(rows: FloatArray, shared: int, sides: int = 1) -> Remainder:
    """Return what is left of right-hand sides as few rows with the same squares, for each side.

    Parameters
    ----------
    rows
        Over all right-hand sides, (m, k).
    shared
        How many of the last columns are those of shared functions.
    sides
        How many of the first ones are solved for. Those between are probes and do not count.
    """
    functions = range(rows.shape[1] - shared, rows.shape[1])
    return tuple(_fewer([rows[:, [j, *functions]]]) for j in range(sides))


def joined(parts: Sequence[Remainder]) -> Remainder:
    """Return remainders as one."""
    return tuple(_fewer(own) for own in zip(*parts, strict=True))


def _fewer(rows: Sequence[FloatArray]) -> FloatArray:
    if rows[0].shape[1] == 1:
        return np.array([[math.sqrt(sum(float(np.vdot(part, part)) for part in rows))]])
    kept = np.concatenate(rows)
    return kept if len(kept) <= kept.shape[1] else np.asarray(np.linalg.qr(kept, mode="r"))


def least(left: FloatArray) -> tuple[FloatArray, float]:
    """Return how much of each shared function leaves least, and what is left then."""
    if left.shape[1] == 1:
        return np.zeros(0), float(np.linalg.norm(left[:, 0]))
    strengths = np.asarray(lstsq(left[:, 1:], -left[:, 0], cond=ROUNDED)[0])
    return strengths, float(np.linalg.norm(left[:, 0] + left[:, 1:] @ strengths))


@dataclass(frozen=True, eq=False)
class Scaled:
    """Rows that come in equal parts, each with a factor."""

    factors: tuple[float, ...]
    rows: FloatArray  # (m, n)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    @property
    def size(self) -> int:
        """How many numbers it takes."""
        return len(self.factors)

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        """Return the rows, (m, n)."""
        each = np.repeat(self.factors, len(self.rows) // len(self.factors))
        return np.asarray(each[:, None] * self.rows)


@dataclass(frozen=True, eq=False)
class Summed:
    """A square matrix with few entries: the sum of some, each with a factor."""

    factors: FloatArray  # (k,)
    entries: FloatArray  # of each, (k, e)
    places: Ints  # of the entries, columns one after the other
    columns: int

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.columns

    @property
    def size(self) -> int:
        """How many numbers it takes."""
        return len(self.factors)

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        """Return the matrix, (n, n), in Fortran's order."""
        out = np.zeros(self.columns**2)
        out[self.places] = self.factors @ self.entries
        return out.reshape(self.columns, self.columns).T


Matrix = FloatArray | Scaled | Summed


def fresh(matrix: Matrix) -> FloatArray:
    """Return a matrix in Fortran's order that may be overwritten."""
    return np.asarray(matrix) if isinstance(matrix, Summed) else np.array(matrix, order="F")


@dataclass(frozen=True, eq=False)
class Tie:
    """Rows ``matrix @ c - g = offset`` that tie a leaf to a trace g."""

    trace: int  # the number of the trace
    matrix: Matrix  # (size of the trace, columns of the leaf)
    # What the leaf's side differs by, for the first right-hand side, (size of the trace,), or for
    # each of several that are solved for, (size of the trace, sides); nothing if None.
    offset: FloatArray | None = None
    # The same for functions that some leaves share, (size of the trace, shared).
    shared: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Reduced:
    """Rows after QR."""

    # (n, n) and (n, k) for k right-hand sides.
    triangle: Matrix
    rhs: FloatArray
    # What no columns can make smaller.
    left: Remainder = field(default_factory=lambda: (np.zeros((1, 1)),))

    @classmethod
    def of(cls, matrix: FloatArray, rhs: FloatArray, shared: int = 0) -> Reduced:
        """Return rows (m, n) with right-hand sides (m, k) reduced.

        So many of the last right-hand sides are those of functions that all leaves share.
        """
        triangle, own, rest = _triangle(matrix, rhs)
        return cls(triangle, own, remainder(rest, shared))

    @classmethod
    def apart(
        cls, matrices: Sequence[FloatArray], sides: Sequence[FloatArray], shared: int = 0
    ) -> Reduced:
        """Return rows of several unknowns reduced, those of each over its own columns alone.

        Where all matrices are equal one is reduced.
        """
        k = sides[0].shape[1]
        if all(np.array_equal(matrix, matrices[0]) for matrix in matrices[1:]):
            triangle, own, rest = _triangle(matrices[0], np.concatenate(sides, axis=1))
            columns = [slice(j * k, (j + 1) * k) for j in range(len(sides))]
            parts = [(triangle, own[:, c], rest[:, c]) for c in columns]
        else:
            parts = [_triangle(*both) for both in zip(matrices, sides, strict=True)]
        left = joined([remainder(rest, shared) for _, _, rest in parts])
        rhs, done = np.concatenate([own for _, own, _ in parts]), 0
        whole = np.zeros((len(rhs), len(rhs)), order="F")
        for triangle, _, _ in parts:
            here = slice(done, done := done + len(triangle))
            whole[here, here] = triangle
        return cls(whole, rhs, left)


def _triangle(matrix: FloatArray, rhs: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the triangle of rows, what is beside it of right-hand sides, and what is below."""
    m, n = matrix.shape
    stack = np.zeros((max(m, n), n + rhs.shape[1]), order="F")
    stack[:m, :n], stack[:m, n:] = matrix, rhs
    reflect(stack, PANEL)
    # Right-hand sides are columns too: their part of R is Q^T rhs, and below it what is left.
    return upper_half(stack[:n, :n]), stack[:n, n:].copy(), np.triu(stack[n:, n:])


@dataclass(frozen=True, eq=False)
class LeafRows:
    """The rows of one leaf."""

    own: Reduced  # most of the rows over the leaf's columns alone, reduced
    ties: tuple[Tie, ...]  # one for each trace the leaf touches
    # More rows over its columns, (m_i, n) each, and the right-hand sides of all, (m, k).
    further: tuple[FloatArray, ...] = ()
    rhs: FloatArray | None = None
    weight: float = 1.0  # factor on the reduced rows
    # Whether combinations of the columns may be zero to rounding in all rows.
    redundant: bool = False
    # The columns are those of so many unknowns, equally many each, one after the other.
    unknowns: int = 1

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """All rows but the factor on the first, (m_i, n) each; those of ties come last."""
        return (self.own.triangle, *self.further, *(tie.matrix for tie in self.ties))

    @property
    def right_sides(self) -> FloatArray:
        """What all rows are to be, (m, k)."""
        n, k = self.own.rhs.shape
        m = n + sum(map(len, self.further))
        out = np.zeros((m + sum(len(tie.matrix) for tie in self.ties), k))
        out[:n] = self.weight * self.own.rhs
        if self.rhs is not None:
            out[n:m] = self.rhs
        for tie in self.ties:
            if tie.offset is not None:
                offset = tie.offset.reshape(len(tie.matrix), -1)
                out[m : m + len(offset), : offset.shape[1]] = offset
            if tie.shared is not None:
                out[m : m + len(tie.shared), k - tie.shared.shape[1] :] = tie.shared
            m += len(tie.matrix)
        return out

    def turned(self, order: Sequence[int]) -> LeafRows:
        """Return the rows with ties in the order of elimination, a rank for each trace."""
        return replace(self, ties=tuple(sorted(self.ties, key=lambda tie: order[tie.trace])))

    def wider(self, count: int, padded: Mapping[int, FloatArray]) -> LeafRows:
        """Return the rows with further columns, of zeros; `padded` has each matrix with them."""
        own = replace(
            self.own,
            triangle=padded[id(self.own.triangle)],
            rhs=np.concatenate([self.own.rhs, np.zeros((count, self.own.rhs.shape[1]))]),
        )
        ties = tuple(replace(t, matrix=padded[id(t.matrix)]) for t in self.ties)
        further = tuple(padded[id(m)] for m in self.further)
        return replace(self, own=own, ties=ties, further=further, unknowns=1)


def together(leaves: Sequence[LeafRows]) -> LeafRows:
    """Return leaves that differ in what is solved for as one with several such sides.

    Probes and functions that all leaves share are those of the first.
    """
    first = leaves[0]
    own = Reduced(
        first.own.triangle,
        _beside_each_other([leaf.own.rhs for leaf in leaves]),
        tuple(part for leaf in leaves for part in leaf.own.left),
    )
    rhs = [leaf.rhs for leaf in leaves if leaf.rhs is not None]
    ties = []
    for each in zip(*(leaf.ties for leaf in leaves), strict=True):
        none = np.zeros(len(each[0].matrix))
        offsets = [none if tie.offset is None else tie.offset for tie in each]
        plain = all(tie.offset is None for tie in each)
        ties.append(each[0] if plain else replace(each[0], offset=np.stack(offsets, axis=1)))
    both = _beside_each_other(rhs) if rhs else None
    return replace(first, own=own, rhs=both, ties=tuple(ties))


def _beside_each_other(sides: Sequence[FloatArray]) -> FloatArray:
    """Return the first columns of right-hand sides, then what the first of them has beside it."""
    return np.column_stack([*(own[:, 0] for own in sides), sides[0][:, 1:]])
