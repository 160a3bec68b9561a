"""Traces by iteration, where eliminating all of them would take too long.

In space the last merges of a tree cost the square of the number of moments. Most moments need no
tree: what varies fast along a face is gone at the next one. With triangles R of the leaves the
traces g solve sum R^T R g = sum R^T r. Conjugate gradients find them, each step after the blocks of
single faces were solved, and then, exactly and along the tree, all that reaches farther than
from one face to the next. The number of steps depends neither on the number of patches nor, much,
on their sides. Residuals are found anew from the rows once, which brings lost digits back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sharpfront.arrays import Flags, FloatArray, Ints
from sharpfront.leastsquares.gram import (
    MergePlace,
    TriangleRows,
    back_substituted,
    extremes_of,
    factored,
    operations,
)
from sharpfront.leastsquares.leaves import LeafFactor
from sharpfront.leastsquares.merges import Node, SolvedTraces
from sharpfront.leastsquares.reflectors import packed_triangle, reflected, unpacked
from sharpfront.rounding import TINY

# Merges that take so many operations altogether, half a minute, may be left to the iteration: it
# finds ten digits where elimination finds thirteen.
ITERATED_FROM = 1e12
# In all steps a number of leaves or merges takes as long to read as so many operations of merges.
# On 512 graded patches that all differ steps took 46 s where merges take 18, on equal ones 10.
READ = 1.7e4
# Steps at most, of which 30 to 80 are usual; a round ends when QUIET steps one after the other have
# changed nothing by more than SMALL of the largest moment, or ENOUGH of that of the whole.
MOST, QUIET, SMALL, ENOUGH = 300, 2, 2e-6, 1e-10
# Of two rounds the second finds what the first has left: if that is more than this share of all,
# there is no convergence.
LEFT = 1e-3


def is_large(leaves: Sequence[LeafFactor], nodes: Sequence[Node]) -> bool:
    """Tell whether merges take so long that an iteration may be shorter."""
    return _merging([sum(leaf.sizes) for leaf in leaves], nodes)[0] > ITERATED_FROM


def pays(
    leaves: Sequence[LeafFactor],
    nodes: Sequence[Node],
    far_sizes: Sequence[int],
    far_nodes: Sequence[Node],
) -> bool:
    """Tell whether an iteration takes less time than elimination, if no two merges are alike.

    Given are the merges, and for far moments alone how many leaves have and which merges there are.
    """
    different = {id(leaf.packed): len(leaf.packed) for leaf in leaves}
    sizes = [sum(leaf.sizes) for leaf in leaves]
    read = 2.0 * sum(different.values()) + _merging(far_sizes, far_nodes)[1]
    return _merging(sizes, nodes)[0] > READ * read


def _merging(sizes: Sequence[int], nodes: Sequence[Node]) -> tuple[float, float]:
    """Return about how many operations merges of leaves take, and how many numbers they keep."""
    opens, taken, kept = list(sizes), 0.0, 0.0
    for first, second, shared in nodes:
        rest = opens[first] + opens[second] - 2 * shared
        taken += operations(shared, rest)
        kept += shared * (0.5 * shared + rest)
        opens.append(rest)
    return taken, kept


def iterated_traces(
    leaves: Sequence[LeafFactor],
    index: Sequence[Ints],
    far_nodes: Sequence[Node],
    near: Flags,
    shared: int = 0,
    sides: int = 1,
) -> SolvedTraces | None:
    """Solve for the traces of leaves; None where that does not converge.

    Takes what `merges.orthogonal_traces` does, but that merges eliminate far moments alone, and
    which moments stay near their face.
    """
    rows = TriangleRows(leaves, index, len(near))
    split = _Split.of(leaves, index, far_nodes, near, rows)
    if split is None:
        return None
    columns = rows.rhs[0].shape[1]
    # Of probes a few digits are asked for.
    wanted = np.r_[:sides, columns - shared : columns]
    first = _conjugate_gradients(split, rows.normal(rows.rhs), wanted)
    if first is None:
        return None
    found, before = first
    size = np.abs(found[:, wanted]).max(axis=0)
    left = rows.normal(rows.residuals(found))[:, wanted]
    second = _conjugate_gradients(split, left, np.arange(len(wanted)), ENOUGH * size)
    if second is None or np.any(np.abs(second[0]).max(axis=0) > LEFT * size):
        return None
    found[:, wanted] += second[0]
    left_over, extremes = rows.left(found, shared, sides), extremes_of(split.places)
    return SolvedTraces(found, left_over, extremes, 1, before + second[1])


def _conjugate_gradients(
    split: _Split, rhs: FloatArray, wanted: Ints, enough: FloatArray | float = 0.0
) -> tuple[FloatArray, int] | None:
    """Return moments by conjugate gradients, (moments, k), and in how many steps.

    None after too many. They end when wanted columns change by no more than is enough.
    """
    found = split.far(rhs)
    left = rhs - split.normal(found)
    better = split.both(left)
    way, product = better, np.sum(left * better, axis=0)
    quiet = 0
    for count in range(1, MOST + 1):
        beyond = split.normal(way)
        # Of what is solved to rounding nothing is left to divide by.
        length = product / np.maximum(np.sum(way * beyond, axis=0), TINY)
        found += length * way
        left -= length * beyond
        change, size = (np.abs(x[:, wanted]).max(axis=0) for x in (length * way, found))
        quiet = quiet + 1 if np.all(change <= np.maximum(enough, SMALL * size)) else 0
        if quiet == QUIET:
            return found, count
        better = split.both(left)
        before, product = product, np.sum(left * better, axis=0)
        way = better + product / np.maximum(before, TINY) * way
    return None


class _Split:
    """What solves for the moments of each face, and for all that are far.

    Given are the rows, which moments are far, the merges that eliminate these, and inverses of the
    blocks of faces, those with equally many moments together.
    """

    def __init__(
        self,
        rows: TriangleRows,
        numbers: Ints,
        places: Sequence[MergePlace],
        blocks: Sequence[tuple[Ints, FloatArray]],
    ) -> None:
        self.rows, self.numbers, self.places, self.blocks = rows, numbers, places, blocks

    @classmethod
    def of(
        cls,
        leaves: Sequence[LeafFactor],
        index: Sequence[Ints],
        far_nodes: Sequence[Node],
        near: Flags,
        rows: TriangleRows,
    ) -> _Split | None:
        """Return it for leaves; None where a matrix is not positive definite to rounding."""
        places = factored(*_far_leaves(leaves, index, near), far_nodes)
        if places is None:
            return None
        try:
            blocks = [(own, np.asarray(np.linalg.inv(block))) for own, block in _face_blocks(rows)]
        except np.linalg.LinAlgError:
            return None
        return cls(rows, np.flatnonzero(~near), places, blocks)

    def normal(self, values: FloatArray) -> FloatArray:
        """Return sum R^T R times moments."""
        return self.rows.normal(self.rows.times(values))

    def far(self, rhs: FloatArray) -> FloatArray:
        """Return what far moments alone make of right-hand sides."""
        out = np.zeros_like(rhs)
        out[self.numbers] = back_substituted(self.places, rhs[self.numbers])
        return out

    def both(self, rhs: FloatArray) -> FloatArray:
        """Return the blocks' solution, and what far moments make of what that leaves."""
        out = np.empty_like(rhs)
        for own, inverse in self.blocks:
            out[own] = np.matmul(inverse, rhs[own])
        return out + self.far(rhs - self.normal(out))


def _far_leaves(
    leaves: Sequence[LeafFactor], index: Sequence[Ints], near: Flags
) -> tuple[list[LeafFactor], list[Ints]]:
    """Return leaves without their near moments, and the numbers of those that are left."""
    numbers = np.cumsum(~near) - 1
    made: dict[tuple[int, bytes], FloatArray] = {}
    out, places = [], []
    for leaf, own in zip(leaves, index, strict=True):
        kept = ~near[own]
        key = (id(leaf.packed), kept.tobytes())
        if key not in made:
            raw, _ = reflected(unpacked(leaf.packed)[:, kept], overwrite=True)
            made[key] = packed_triangle(raw[: raw.shape[1]])
        out.append(replace(leaf, packed=made[key]))
        places.append(numbers[own[kept]])
    return out, places


def _face_blocks(rows: TriangleRows) -> list[tuple[Ints, FloatArray]]:
    """Return the moments of faces, (faces, s), and their blocks of sum R^T R, (faces, s, s)."""
    starts: dict[int, list[Ints]] = {}
    for sizes, index in zip(rows.sizes, rows.index, strict=True):
        for size, own in zip(sizes, index[np.cumsum(sizes) - sizes], strict=True):
            starts.setdefault(size, []).append(own)
    firsts = {size: np.unique(np.concatenate(own)) for size, own in starts.items()}
    blocks = {size: np.zeros((len(own), size, size)) for size, own in firsts.items()}
    for packed, sizes, index in zip(rows.packed, rows.sizes, rows.index, strict=True):
        parts = np.split(unpacked(packed), np.cumsum(sizes)[:-1], axis=1)
        for size, part, own in zip(sizes, parts, index[np.cumsum(sizes) - sizes], strict=True):
            # Two leaves that are alike may have one face between them.
            np.add.at(blocks[size], np.searchsorted(firsts[size], own), part.T @ part)
    return [(own[:, None] + np.arange(size), blocks[size]) for size, own in firsts.items()]
