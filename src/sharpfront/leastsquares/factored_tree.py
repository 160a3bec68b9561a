"""A tree factored once, for one right-hand side after the other, in real or complex numbers.

Q is kept of every leaf, and of functions that leaves share what their own columns leave. Traces
are eliminated as for a single solve; data then go up and down the tree by reflections and
substitution alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray, Ints
from sharpfront.leastsquares.gram import MergePlace, back_substituted
from sharpfront.leastsquares.leaf_rows import Tie
from sharpfront.leastsquares.merges import Node, united
from sharpfront.leastsquares.reflectors import RankedReflection, Reflection, lapack
from sharpfront.leastsquares.tree import FEW, TreeElimination
from sharpfront.rounding import CANCELLED, ROUNDED

# Steps of refinement: each brings back the digits that squares of triangles lose.
REFINEMENTS = 2
# Real or complex.
Numbers = NDArray[Any]


@dataclass(frozen=True, eq=False)
class _KeptStep:
    """L L* of what a merge eliminates, and L^-1 times what couples that to what is left open."""

    lower: Numbers
    coupling: Numbers

    def solved(self, rhs: Numbers, *, trans: int) -> Numbers:
        """Return L^-1 rhs, or L^-* rhs."""
        solve = lapack("trtrs", self.lower)
        return np.asarray(solve(self.lower, rhs, lower=1, trans=2 * trans)[0])


@dataclass(frozen=True, eq=False)
class KeptLeaf:
    """The rows of one leaf: ``scale * (A c - data) = 0`` and ties to traces.

    Parameters
    ----------
    matrices
        Rows over its columns times their scale, (m_i, n) each.
    scale
        Of all these rows, (m,).
    ties
        One for each trace the leaf touches.
    redundant
        Whether combinations of the columns may be zero to rounding in all rows.
    shared
        What these rows are of functions that leaves share, (m, functions), on the right-hand side;
        None where there are none.
    """

    matrices: tuple[Numbers, ...]
    scale: FloatArray
    ties: tuple[Tie, ...]
    redundant: bool = False
    shared: Numbers | None = None

    def key(self) -> tuple[int, ...]:
        """Return what leaves have in common that are factored together."""
        return (*map(id, self.matrices), *(id(tie.matrix) for tie in self.ties))


class _Factor:
    """A leaf without its own columns: a triangle over its traces, and the way to and fro."""

    def __init__(self, leaf: KeptLeaf) -> None:
        self.sizes = tuple(len(tie.matrix) for tie in leaf.ties)
        g = sum(self.sizes)
        rows = np.concatenate([*leaf.matrices, *(tie.matrix for tie in leaf.ties)])
        m, n = rows.shape
        if m < n:
            rows = np.concatenate([rows, np.zeros((n - m, n))])
        self._rows, self._scale = len(rows), leaf.scale
        self._own = Reflection(np.asfortranarray(rows), overwrite=True)
        self._rank: RankedReflection | None = None
        across = np.zeros((len(rows), g))
        start = len(leaf.scale)
        across[range(start, start + g), range(g)] = -1.0
        if leaf.redundant:
            self._rank = RankedReflection(self._own.upper)
        top, bottom = self._split(self._own.rotated(across))
        self._top = top
        self._beyond = Reflection(np.asfortranarray(bottom), overwrite=True) if g else None
        self.triangle = self._beyond.upper if self._beyond else np.zeros((0, 0))
        self._solve = lapack("trtrs", self._own.packed)

    def _split(self, turned: Numbers) -> tuple[Numbers, Numbers]:
        """Return what own columns take, and what is left for the traces."""
        n = len(self._own.packed)
        top, rest = turned[:n], turned[n:]
        if self._rank is not None:
            top = self._rank.rotated(top)
            top, rest = top[: self._rank.rank], np.concatenate([top[self._rank.rank :], rest])
        return top, _tall(rest, sum(self.sizes))

    def scaled(self, data: Numbers) -> Numbers:
        """Return data as right-hand sides of its rows."""
        return np.asarray(self._scale[:, None] * data)

    def reduced(self, right: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return sides of the first rows as what own columns and traces' rows take, and is left."""
        whole = np.zeros((self._rows, right.shape[1]), dtype=right.dtype)
        whole[: len(right)] = right
        top, rest = self._split(self._own.rotated(whole))
        if self._beyond is None:
            return top, rest[:0], rest
        turned, own = self._beyond.rotated(rest), len(self.triangle)
        return top, turned[:own], turned[own:]

    def columns(self, top: Numbers, traces: Numbers) -> Numbers:
        """Return the leaf's columns from its data and the moments of its traces."""
        left = top - self._top @ traces if len(traces) else top
        if self._rank is not None:
            return self._rank.columns(left)
        return np.asarray(self._solve(self._own.packed, left)[0])


def _with_ties(shared: Numbers, ties: Sequence[Tie]) -> Numbers:
    """Return sides of functions with those of the rows of ties."""
    count = shared.shape[1]
    none = (np.zeros((len(tie.matrix), count)) for tie in ties)
    own = (z if t.shared is None else t.shared for t, z in zip(ties, none, strict=True))
    return np.concatenate([shared, *own])


def _tall(rows: Numbers, least: int) -> Numbers:
    """Return rows with zeros below until they are as many as columns."""
    if len(rows) >= least:
        return rows
    return np.concatenate([rows, np.zeros((least - len(rows), rows.shape[1]))])


# Matrices of two fronts, each with the columns it has among those of both, shared ones first.
_Parts = Sequence[tuple[Numbers, Ints]]
_Merge = Callable[[_Parts, int, int], tuple[Numbers, Numbers, Numbers]]


class FactoredTree:
    """Leaves and traces, factored.

    Parameters
    ----------
    leaves
        Their rows.
    elimination
        The order in which traces are eliminated.
    """

    def __init__(self, leaves: Sequence[KeptLeaf], elimination: TreeElimination) -> None:
        order = elimination.order
        known: dict[tuple[int, ...], _Factor] = {}
        self._leaves: list[_Factor] = []
        # Of each leaf what its rows are of functions that leaves share.
        self._shared: list[Numbers] = []
        self._index: list[Ints] = []
        for leaf in leaves:
            ties = tuple(sorted(leaf.ties, key=lambda tie: order[tie.trace]))
            turned = replace(leaf, ties=ties)
            if leaf.shared is not None:
                self._shared.append(_with_ties(leaf.shared, ties))
            if turned.key() not in known:
                known[turned.key()] = _Factor(turned)
            factor = known[turned.key()]
            self._leaves.append(factor)
            traces = tuple(tie.trace for tie in ties)
            self._index.append(elimination.moments_of(traces, factor.sizes))
        self._moments = elimination.moments
        self._places = self._eliminated(elimination.nodes) if self._moments else []

    def _eliminated(self, nodes: Sequence[Node]) -> list[MergePlace]:
        """Return the merges: by Gram matrices where there are many moments, else by QR."""
        if self._moments > FEW:
            try:
                grams = [leaf.triangle.conj().T @ leaf.triangle for leaf in self._leaves]
                return self._merges(nodes, grams, _summed)
            except np.linalg.LinAlgError:
                pass
        return self._merges(nodes, [leaf.triangle for leaf in self._leaves], _stacked)

    def _merges(
        self, nodes: Sequence[Node], matrices: Sequence[Numbers], merged: _Merge
    ) -> list[MergePlace]:
        fronts = dict(enumerate(zip(self._index, matrices, strict=True)))
        places = []
        for i, node in enumerate(nodes, len(self._leaves)):
            a, b = fronts.pop(node.first), fronts.pop(node.second)
            index, at_a, at_b = united(a[0][node.shared :], b[0][node.shared :])
            columns = [
                np.concatenate([np.arange(node.shared), node.shared + at]) for at in (at_a, at_b)
            ]
            lower, coupling, rest = merged(
                [(a[1], columns[0]), (b[1], columns[1])], node.shared, len(index)
            )
            fronts[i] = index, rest
            if node.shared:
                start = int(a[0][0])
                step = _KeptStep(lower, coupling)
                places.append(MergePlace(start, start + node.shared, index, step))
        return places

    def solve(self, data: Sequence[Numbers]) -> tuple[list[Numbers], Numbers]:
        """Return the columns of each leaf for its data, (data, k) each, and shared weights."""
        sides = [leaf.scaled(own) for leaf, own in zip(self._leaves, data, strict=True)]
        columns, left = self._solved(sides)
        if not self._shared:
            return columns, np.zeros((0, data[0].shape[1]))
        of_each, weights_of = self._functions
        weights = -weights_of @ left
        return [c + own @ weights for c, own in zip(columns, of_each, strict=True)], weights

    @cached_property
    def _functions(self) -> tuple[list[Numbers], Numbers]:
        """The columns of each leaf that make up for shared functions, and what tells weights."""
        columns, left = self._solved(self._shared)
        return columns, np.linalg.pinv(left, rcond=ROUNDED)

    def _solved(self, sides: Sequence[Numbers]) -> tuple[list[Numbers], Numbers]:
        """Return the columns of each leaf for right-hand sides of rows, and what is left of all."""
        parts = [leaf.reduced(own) for leaf, own in zip(self._leaves, sides, strict=True)]
        kind = np.result_type(*(top for top, *_ in parts))
        traces = np.zeros((self._moments, sides[0].shape[1]), dtype=kind)
        right = [rows for _, rows, _ in parts]
        if self._moments:
            sizes: list[float] = []
            for _ in range(1 + REFINEMENTS):
                change = back_substituted(self._places, self._normal(right, traces))
                traces += change
                sizes.append(float(np.abs(change).max()))
                # The next change is smaller than this one by as much as this is than the last.
                if len(sizes) > 1 and sizes[-1] ** 2 <= CANCELLED * sizes[-2] ** 2:
                    break
        every = [*zip(self._leaves, self._index, parts, strict=True)]
        left = [x for leaf, at, (_, own, x) in every for x in (x, own - leaf.triangle @ traces[at])]
        return [leaf.columns(top, traces[at]) for leaf, at, (top, *_) in every], np.concatenate(
            left
        )

    def _normal(self, right: Sequence[Numbers], traces: Numbers) -> Numbers:
        """Return the sum over leaves of R* (r - R g)."""
        out = np.zeros_like(traces)
        for leaf, index, own in zip(self._leaves, self._index, right, strict=True):
            out[index] += leaf.triangle.conj().T @ (own - leaf.triangle @ traces[index])
        return out


def _stacked(parts: _Parts, shared: int, left: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return L, L^-1 times what couples, and the triangle that is left, of two triangles."""
    rows = []
    for triangle, at in parts:
        own = np.zeros((len(triangle), shared + left), dtype=triangle.dtype)
        own[:, at] = triangle
        rows.append(own)
    tall = np.asfortranarray(_tall(np.concatenate(rows), shared + left))
    whole = Reflection(tall, overwrite=True).upper
    lower = np.asfortranarray(whole[:shared, :shared].conj().T)
    return lower, whole[:shared, shared:], whole[shared:, shared:]


def _summed(parts: _Parts, shared: int, left: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return the same of two Gram matrices; raises `LinAlgError` where they lose too much."""
    whole = np.zeros((shared + left,) * 2, dtype=np.result_type(*(m for m, _ in parts)))
    for matrix, at in parts:
        whole[np.ix_(at, at)] += matrix
    if not shared:
        return np.zeros((0, 0)), np.zeros((0, left)), whole
    lower = np.asfortranarray(np.linalg.cholesky(whole[:shared, :shared]))
    coupling = lapack("trtrs", lower)(lower, whole[:shared, shared:], lower=1)[0]
    return lower, coupling, whole[shared:, shared:] - coupling.conj().T @ coupling
