"""Leaves of a tree eliminated: what is left of their rows is a triangle over their traces.

Leaves whose unknowns no row couples: a real and an imaginary part inside a domain, say.

Each unknown is eliminated by itself, which takes a quarter of the time for two of them, and half of
that where their rows are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.leastsquares.leaf_rows import (
    LeafRows,
    Matrix,
    Reduced,
    Remainder,
    Tie,
    fresh,
    joined,
    remainder,
)
from sharpfront.leastsquares.parallel_lapack import reduce_below, reflect, solve_triangle
from sharpfront.leastsquares.reflectors import (
    PANEL,
    RankedReflection,
    packed_triangle,
    reflected,
    unpacked,
)
from sharpfront.leastsquares.threads import mapped


@dataclass(frozen=True, eq=False)
class DecoupledLeaves:
    """Leaves with the same matrices, in which no row couples two unknowns."""

    leaves: Sequence[LeafRows]
    # The unknown of each row, of each matrix but the first.
    owners: Sequence[Ints]

    @classmethod
    def of(cls, leaves: Sequence[LeafRows]) -> DecoupledLeaves | None:
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
        alike = all(
            np.array_equal(np.asarray(a), np.asarray(b))
            for own in every[1:]
            for a, b in zip(own[0].matrices, every[0][0].matrices, strict=True)
        )
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


# Columns that LAPACK's kernel for rows below a triangle works on at a time.
BLOCK = 16


@dataclass(frozen=True, eq=False)
class LeafFactor:
    """A leaf after elimination: c = start - response g, and a triangle over its traces.

    Where `back` is given that is not c yet.
    """

    traces: tuple[int, ...]
    sizes: tuple[int, ...]
    start: FloatArray
    response: FloatArray | None  # None where it is found anew from the leaf's rows (`solved`)
    packed: FloatArray  # the triangle without its zeros
    rhs: FloatArray
    left: Remainder  # what is left of the rows
    extremes: tuple[float, float]
    back: RankedReflection | None = None

    @property
    def triangle(self) -> FloatArray:
        """The triangle over the traces, (g, g), made whenever it is asked for."""
        return unpacked(self.packed)

    def renumbered(self, traces: Sequence[int], order: Sequence[int]) -> LeafFactor:
        """Return the leaf with other numbers for its traces, eliminated in another order."""
        ranks = [order[t] for t in traces]
        if ranks == sorted(ranks):
            return replace(self, traces=tuple(traces))
        moved = sorted(range(len(traces)), key=lambda i: ranks[i])
        n = len(self.rhs)
        parts = np.split(np.arange(n), np.cumsum(self.sizes)[:-1])
        columns = np.concatenate([parts[i] for i in moved])
        raw, _ = reflected(np.column_stack([self.triangle[:, columns], self.rhs]))
        return replace(
            self,
            traces=tuple(traces[i] for i in moved),
            sizes=tuple(self.sizes[i] for i in moved),
            response=None if self.response is None else self.response[:, columns],
            packed=packed_triangle(raw[:, :n]),
            rhs=raw[:, n:].copy(order="F"),
        )

    def columns(self, moments: FloatArray) -> FloatArray:
        """Return the solution of the leaf from the moments of its traces."""
        own = self.start
        if self.traces:
            assert self.response is not None
            own = own - self.response @ moments
        return np.asarray(own if self.back is None else self.back.columns(own))


Group = list[tuple[int, LeafRows]]


def grouped(leaves: Sequence[LeafRows], order: Sequence[int]) -> list[Group]:
    """Return leaves with the same matrices together, numbered, ties in the order of elimination.

    The order has a rank for each trace; those to be eliminated first come first.
    """
    groups: dict[tuple[float, ...], Group] = {}
    for i, leaf in enumerate(leaves):
        turned = leaf.turned(order)
        groups.setdefault((leaf.weight, *map(id, turned.matrices)), []).append((i, turned))
    return list(groups.values())


def factor_leaves(
    leaves: Sequence[LeafRows], order: Sequence[int], *, answering: bool = True
) -> list[LeafFactor]:
    """Eliminate the own columns of every leaf.

    Leaves with the same matrices and the same order of traces share one factorisation, with a
    right-hand side for each. If they need not keep how they answer to traces, `solved` finds what
    is asked for anew.
    """
    groups = grouped(leaves, order)
    own = [[leaf for _, leaf in group] for group in groups]
    work = sum(_leaf_operations(group) for group in own)
    found: dict[int, LeafFactor] = {}
    made = mapped(lambda group: _factor(group, answering), own, work)
    for group, factors in zip(groups, made, strict=True):
        found |= {i: factor for (i, _), factor in zip(group, factors, strict=True)}
    return [found[i] for i in range(len(leaves))]


def _leaf_operations(leaves: Sequence[LeafRows]) -> float:
    """Return about how many operations it takes to eliminate equal leaves."""
    n, k = leaves[0].own.rhs.shape
    rows = sum(map(len, leaves[0].further)) + sum(len(t.matrix) for t in leaves[0].ties)
    return float(2 * n * rows * (n + 2 * (rows + k * len(leaves))))


def solved(leaves: Sequence[LeafRows], traces: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the solutions of leaves that kept no answers, from the moments of their traces."""

    def one(leaf: LeafRows, moments: FloatArray) -> FloatArray:
        n, rhs = len(leaf.own.rhs), leaf.right_sides
        rhs[len(rhs) - len(moments) :] += moments
        top, bottom = np.asfortranarray(rhs[:n]), np.asfortranarray(rhs[n:])
        solve_triangle(_below_triangle(leaf, top, bottom), top)
        return top

    work = sum(_leaf_operations([leaf]) for leaf in leaves)
    return mapped(lambda own: one(*own), list(zip(leaves, traces, strict=True)), work)


def _below_triangle(leaf: LeafRows, top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return the triangle of all rows over a leaf's columns; what is beside them is rotated."""
    n = len(top)
    upper = fresh(leaf.own.triangle)
    if leaf.weight != 1.0:
        upper *= leaf.weight
    if len(bottom):
        below = np.empty((len(bottom), n), order="F")
        np.concatenate(leaf.matrices[1:], out=below)
        reduce_below(upper, below, top, bottom, min(BLOCK, n))
    return upper


def _factor(leaves: Sequence[LeafRows], answering: bool) -> list[LeafFactor]:
    """Eliminate the columns of leaves with the same matrices."""
    parts = DecoupledLeaves.of(leaves)
    if parts is not None:
        return parts.together([f for own in parts.shares for f in _factor(own, answering)])
    first = leaves[0]
    k = first.own.rhs.shape[1]
    sizes = tuple(len(t.matrix) for t in first.ties)
    g = sum(sizes)
    top, bottom = _beside(leaves, g)
    upper = _below_triangle(first, top, bottom)
    back = None
    if first.redundant:
        back = RankedReflection(upper)
        upper, rotated = back.triangle, back.rotated(top)
        # The rows of columns that add nothing are left for the traces.
        top = rotated[: back.rank]
        bottom = np.asfortranarray(np.concatenate([rotated[back.rank :], bottom]))
    elif answering:
        solve_triangle(upper, top)
    else:
        top = np.zeros((0, top.shape[1]))
    diagonal = np.abs(np.diagonal(upper))
    extremes = (float(diagonal.min()), float(diagonal.max()))
    if g:
        reflect(bottom, PANEL)
    triangle = packed_triangle(bottom[:g, :g])
    rows = np.triu(bottom[g:, g:]) if g and len(bottom) > g else bottom[g:, g:]
    out = []
    for j, leaf in enumerate(leaves):
        own = slice(g + j * k, g + (j + 1) * k)
        before = leaf.own.left
        here = remainder(rows[:, j * k : (j + 1) * k], before[0].shape[1] - 1, len(before))
        rest = joined([tuple(leaf.weight * part for part in before), here])
        traces = tuple(t.trace for t in leaf.ties)
        rhs = bottom[:g, own].copy(order="F")
        response = top[:, :g] if len(top) else None
        out.append(
            LeafFactor(traces, sizes, top[:, own], response, triangle, rhs, rest, extremes, back)
        )
    return out


def _beside(leaves: Sequence[LeafRows], g: int) -> tuple[FloatArray, FloatArray]:
    """Return the columns of the traces and of all right-hand sides, beside triangle and rows."""
    n, k = leaves[0].own.rhs.shape
    m = sum(map(len, leaves[0].further))
    top = np.zeros((n, g + k * len(leaves)), order="F")
    bottom = np.zeros((m + g, g + k * len(leaves)), order="F")
    np.fill_diagonal(bottom[m:, :g], -1.0)
    for j, leaf in enumerate(leaves):
        own = slice(g + j * k, g + (j + 1) * k)
        rhs = leaf.right_sides
        top[:, own], bottom[:, own] = rhs[:n], rhs[n:]
    return top, bottom
