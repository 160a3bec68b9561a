"""Traces eliminated by Gram matrices, with refinement on the leaves' own rows.

With triangles R and right-hand sides r of the leaves the traces g solve sum R^T R g = sum R^T r, a
system that is positive definite and as sparse as the tree: neighbours are merged by Cholesky's
factor of what they share and a Schur complement. That is half the work of QR and nearly all of it
matrix products, but squares the condition. Steps of refinement with the residuals r - R g, by the
same factors, bring the digits back; their size tells whether they do (`refinement`). Where they do
not fall, QR has to be taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtpmv, dtpsv
from scipy.linalg.lapack import dtrttp

from sharpfront.arrays import FloatArray, Ints
from sharpfront.leastsquares.leaf_rows import Remainder, remainder
from sharpfront.leastsquares.leaves import LeafFactor
from sharpfront.leastsquares.merges import Node, SolvedTraces, united
from sharpfront.leastsquares.parallel_lapack import add_gram, factor_cholesky, solve_triangle
from sharpfront.leastsquares.refinement import refined
from sharpfront.leastsquares.reflectors import unpacked
from sharpfront.leastsquares.threads import cores, mapped

# Up to so many columns a triangle is not spread out to be multiplied.
FEW_COLUMNS = 8


class Merge(NamedTuple):
    """The kinds that are merged, how many moments they share, where their open ones go."""

    first: int
    second: int
    shared: int
    at_first: Ints
    at_second: Ints


@dataclass(frozen=True, eq=False)
class Kinds:
    """Merges that are alike: equal leaves make equal merges, each of which is made once."""

    merges: dict[int, Merge]  # how each kind of node is made of two others, those first
    of: list[int]  # the kind of each leaf and node
    opens: list[Ints]  # the moments of each leaf and node that are left in it
    users: dict[int, int]  # how many kinds are made of each

    @classmethod
    def among(
        cls, leaves: Sequence[Hashable], index: Sequence[Ints], nodes: Sequence[Node]
    ) -> Kinds:
        """Return the kinds of a tree's nodes, children first.

        Given is what tells the matrix of one leaf from another's, and the moments of each.
        """
        numbers: dict[Hashable, int] = {}
        merges: dict[int, Merge] = {}
        of = [numbers.setdefault(("leaf", leaf), len(numbers)) for leaf in leaves]
        users = dict.fromkeys(of, 0)
        opens = list(index)
        for node in nodes:
            a, b = of[node.first], of[node.second]
            left, right = opens[node.first][node.shared :], opens[node.second][node.shared :]
            union, at_a, at_b = united(left, right)
            key = (a, b, node.shared, at_a.tobytes(), at_b.tobytes())
            number = numbers.setdefault(key, len(numbers))
            if number not in merges:
                merges[number] = Merge(a, b, node.shared, at_a, at_b)
                users[number] = 0
                users[a] += 1
                users[b] += 1
            of.append(number)
            opens.append(union)
        return cls(merges, of, opens, users)

    @property
    def levels(self) -> list[list[int]]:
        """Kinds of nodes that do not need each other together, those that need no others first."""
        level: dict[int, int] = {}
        for number, merge in self.merges.items():
            level[number] = 1 + max(level.get(merge.first, 0), level.get(merge.second, 0))
        out: list[list[int]] = [[] for _ in range(max(level.values(), default=0))]
        for number, k in level.items():
            out[k - 1].append(number)
        return out


@dataclass(eq=False)
class _GramFront:
    """A Gram matrix over open moments, of a leaf once it is wanted, and how many merges want it.

    Only its lower half is made.
    """

    gram: FloatArray | None = None
    packed: FloatArray | None = None  # the leaf's triangle
    users: int = 0


@dataclass(frozen=True, eq=False)
class _Eliminated:
    """L L^T of what is shared, and L^-1 times what couples it to the open moments."""

    lower: FloatArray  # the columns of L one after the other, from the diagonal on
    diagonal: FloatArray
    coupling: FloatArray

    @classmethod
    def of(cls, factor: FloatArray, coupling: FloatArray) -> _Eliminated:
        """Return it from a matrix that has L on and below its diagonal, (n, n)."""
        packed = dtrttp(factor, uplo="L")[0] if len(factor) else np.empty(0)
        return cls(packed, np.diagonal(factor).copy(), coupling)

    def solved(self, rhs: FloatArray, *, trans: int) -> FloatArray:
        """Return L^-1 rhs, or L^-T rhs, (n, k)."""
        n = len(self.diagonal)
        return np.stack([dtpsv(n, self.lower, x, lower=1, trans=trans) for x in rhs.T], axis=1)


@dataclass(frozen=True, eq=False)
class MergePlace:
    """A merge at its place: the moments it eliminates and those it couples them to."""

    start: int
    stop: int
    open: Ints
    step: Any  # has `coupling`, and `solved` by the factor of what is eliminated


def gram_traces(
    leaves: Sequence[LeafFactor],
    index: Sequence[Ints],
    nodes: Sequence[Node],
    moments: int,
    shared: int = 0,
    sides: int = 1,
) -> SolvedTraces | None:
    """Solve for the traces of leaves; None where refinement does not bring the digits back.

    Takes what `merges.orthogonal_traces` does.
    """
    places = factored(leaves, index, nodes)
    if places is None:
        return None
    rows = TriangleRows(leaves, index, moments)
    found = back_substituted(places, rows.normal(rows.rhs))
    better = refined(
        found, lambda found: back_substituted(places, rows.normal(rows.residuals(found)))
    )
    if better is None:
        return None
    found, taken = better
    return SolvedTraces(found, rows.left(found, shared, sides), extremes_of(places), taken)


def extremes_of(places: Sequence[MergePlace]) -> list[tuple[float, float]]:
    """Return the smallest and largest diagonal entry of each factor."""
    diagonals = {id(p.step): p.step.diagonal for p in places}
    return [(float(d.min()), float(d.max())) for d in diagonals.values()]


class TriangleRows:
    """The leaves' triangles as rows over all moments, those that are equal together."""

    def __init__(self, leaves: Sequence[LeafFactor], index: Sequence[Ints], moments: int) -> None:
        self.moments = moments
        groups: dict[int, list[int]] = {}
        for i, leaf in enumerate(leaves):
            groups.setdefault(id(leaf.packed), []).append(i)
        self.packed = [leaves[own[0]].packed for own in groups.values()]
        self.sizes = [leaves[own[0]].sizes for own in groups.values()]
        self.index = [np.stack([index[i] for i in own], axis=1) for own in groups.values()]
        self._places = np.concatenate([i.ravel() for i in self.index])
        # (moments of a leaf, right-hand sides, leaves)
        self.rhs = [np.stack([leaves[i].rhs for i in own], axis=2) for own in groups.values()]

    def residuals(self, values: FloatArray) -> list[FloatArray]:
        """Return what traces leave of the rows."""
        return [rhs - own for rhs, own in zip(self.rhs, self.times(values), strict=True)]

    def times(self, values: FloatArray) -> list[FloatArray]:
        """Return the rows times traces (moments, k), (moments of a leaf, k, leaves) each."""
        return [
            _times(packed, values[index].transpose(0, 2, 1), turned=False)
            for packed, index in zip(self.packed, self.index, strict=True)
        ]

    def left(self, values: FloatArray, shared: int, sides: int) -> list[Remainder]:
        """Return the same as what is left of right-hand sides; see `remainders.remainder`."""
        return [
            remainder(part.transpose(0, 2, 1).reshape(-1, part.shape[1]), shared, sides)
            for part in self.residuals(values)
        ]

    def normal(self, rows: Sequence[FloatArray]) -> FloatArray:
        """Return the sum of R^T times rows over the leaves, (moments, k)."""
        each = [
            _times(packed, own, turned=True).transpose(0, 2, 1).reshape(-1, own.shape[1])
            for packed, own in zip(self.packed, rows, strict=True)
        ]
        # Every moment belongs to two leaves, which may be alike.
        every = np.concatenate(each)
        sums = [np.bincount(self._places, column, self.moments) for column in every.T]
        return np.stack(sums, axis=1)


def _times(packed: FloatArray, columns: FloatArray, *, turned: bool) -> FloatArray:
    """Return a triangle without its zeros, or what it is turned, times columns (n, ...)."""
    if not len(columns):
        return columns
    n, flat = len(columns), columns.reshape(len(columns), -1)
    if flat.shape[1] > FEW_COLUMNS:
        triangle = unpacked(packed)
        return np.tensordot(triangle.T if turned else triangle, columns, axes=1)
    each = [dtpmv(n, packed, column, trans=int(turned)) for column in flat.T]
    return np.stack(each, axis=1).reshape(columns.shape)


def factored(
    leaves: Sequence[LeafFactor], index: Sequence[Ints], nodes: Sequence[Node]
) -> list[MergePlace] | None:
    """Return all merges; None where a Gram matrix is not positive definite to rounding."""
    kinds = Kinds.among([id(leaf.packed) for leaf in leaves], index, nodes)
    fronts = {number: _GramFront(users=users) for number, users in kinds.users.items()}
    for leaf, number in zip(leaves, kinds.of, strict=False):
        fronts[number].packed = leaf.packed
    steps: dict[int, _Eliminated] = {}
    # One by one kinds come children first, so that few fronts are held at a time.
    levels = kinds.levels if cores() > 1 else [[number] for number in kinds.merges]
    for numbers in levels:
        own = [kinds.merges[number] for number in numbers]
        pairs = [[_taken(fronts[m.first]), _taken(fronts[m.second])] for m in own]
        work = sum(operations(m.shared, len(m.at_first) + len(m.at_second)) for m in own)
        made = mapped(lambda each: _merged(*each), list(zip(own, pairs, strict=True)), work)
        del pairs
        for number, found in zip(numbers, made, strict=True):
            if found is None:
                return None
            steps[number], fronts[number].gram = found
    places = []
    made_of = zip(kinds.of[len(leaves) :], kinds.opens[len(leaves) :], nodes, strict=True)
    for number, opens, node in made_of:
        if node.shared:
            start = int(kinds.opens[node.first][0])
            stop = start + node.shared
            places.append(MergePlace(start, stop, opens, steps[number]))
    return places


def operations(shared: int, left: int) -> float:
    """Return about how many operations a merge takes that leaves so many moments open."""
    return shared * (shared**2 / 3.0 + float(left) * (shared + left))


def _taken(front: _GramFront) -> FloatArray:
    """Return a Gram matrix for one of its users; the last one takes it away."""
    gram = front.gram
    if gram is None:
        assert front.packed is not None
        triangle = unpacked(front.packed)
        gram = front.gram = np.zeros(triangle.shape, order="F")
        add_gram(gram, triangle, 1.0)
    front.users -= 1
    if not front.users:
        front.gram = None
    return gram


def _merged(merge: Merge, grams: list[FloatArray]) -> tuple[_Eliminated, FloatArray] | None:
    """Return what eliminates the moments that two Gram matrices share, and what is left.

    The list is emptied, so that no matrix is held longer than it is read.
    """
    ns, no = merge.shared, len(merge.at_first) + len(merge.at_second)
    out, coupling = np.zeros((no, no), order="F"), np.empty((ns, no), order="F")
    lower = np.zeros((ns, ns), order="F")
    for at in (merge.at_first, merge.at_second):
        gram, runs = grams.pop(0), _runs(at)
        lower += gram[:ns, :ns]
        for k, (c, j) in enumerate(runs):
            coupling[:, c] = gram[ns + j.start : ns + j.stop, :ns].T
            for r, i in runs[k:]:
                out[r, c] = gram[ns + i.start : ns + i.stop, ns + j.start : ns + j.stop]
        del gram
    if ns:
        if not factor_cholesky(lower):
            return None
        solve_triangle(lower, coupling, lower=True)
        add_gram(out, coupling, -1.0)
    return _Eliminated.of(lower, coupling), out


def _runs(places: Ints) -> list[tuple[slice, slice]]:
    """Return runs of places that follow each other, and where they come from."""
    if not len(places):
        return []
    cuts = np.flatnonzero(np.diff(places) != 1) + 1
    ends = [0, *cuts.tolist(), len(places)]
    firsts = places[ends[:-1]].tolist()
    return [
        (slice(p, p + j - i), slice(i, j))
        for p, (i, j) in zip(firsts, itertools.pairwise(ends), strict=True)
    ]


def back_substituted(places: Sequence[MergePlace], rhs: NDArray[Any]) -> NDArray[Any]:
    """Return the solution of the factored system for right-hand sides, which are overwritten."""
    for p in places:
        rhs[p.start : p.stop] = p.step.solved(rhs[p.start : p.stop], trans=0)
        rhs[p.open] -= p.step.coupling.conj().T @ rhs[p.start : p.stop]
    for p in reversed(places):
        left = rhs[p.start : p.stop] - p.step.coupling @ rhs[p.open]
        rhs[p.start : p.stop] = p.step.solved(left, trans=1)
    return rhs
