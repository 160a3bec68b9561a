"""Traces eliminated by QR: the triangles of two neighbours stacked, orthogonal throughout.

No Q is stored. Moments that two children share come first in both, and all blocks stay upper
triangular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dtpmqrt, dtpqrt

from sharpfront.arrays import FloatArray, Ints
from sharpfront.leastsquares.leaf_rows import Remainder, remainder
from sharpfront.leastsquares.leaves import LeafFactor
from sharpfront.leastsquares.parallel_lapack import solve_triangle

# Columns that LAPACK's kernel for stacked triangles works on at a time.
STACKED_BLOCK = 32


class Node(NamedTuple):
    """A merge: its two children, leaves or earlier nodes, and how many moments it eliminates."""

    first: int
    second: int
    shared: int


@dataclass(frozen=True, eq=False)
class SolvedTraces:
    """Traces that solve the leaves' triangles."""

    moments: FloatArray  # of all traces, (moments, k)
    left: list[Remainder]  # what is left of the rows
    # The smallest and largest diagonal entry of each merge's triangle.
    extremes: list[tuple[float, float]]
    refinements: int | None = None  # steps of refinement; None where all merges were orthogonal
    iterations: int = 0  # steps of the iteration; none where all traces were eliminated


def united(a: Ints, b: Ints) -> tuple[Ints, Ints, Ints]:
    """Return two sets of moments as one in order, and the places of each in it."""
    at_a = np.arange(len(a)) + np.searchsorted(b, a)
    at_b = np.arange(len(b)) + np.searchsorted(a, b)
    both = np.empty(len(a) + len(b), dtype=np.int64)
    both[at_a], both[at_b] = a, b
    return both, at_a, at_b


@dataclass(frozen=True, eq=False)
class Front:
    """A set of merged leaves: open moments, a triangle over them, its right-hand side."""

    index: Ints
    triangle: FloatArray
    rhs: FloatArray


@dataclass(frozen=True, eq=False)
class Elimination:
    """What is needed to go down again: R11 g_shared = r1 - R12 g_open."""

    shared: Ints
    open: Ints
    upper: FloatArray
    coupling: FloatArray
    rhs: FloatArray

    @property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest diagonal entry of the triangle."""
        diagonal = np.abs(np.diagonal(self.upper))
        return float(diagonal.min()), float(diagonal.max())


def substituted(step: Elimination, open_: FloatArray) -> FloatArray:
    """Return the moments that a merge eliminated, from those it left open, (shared, k)."""
    found = np.asfortranarray(step.rhs - step.coupling @ open_)
    solve_triangle(np.asfortranarray(step.upper), found)
    return found


def orthogonal_traces(
    leaves: Sequence[LeafFactor],
    index: Sequence[Ints],
    nodes: Sequence[Node],
    moments: int,
    shared: int = 0,
    sides: int = 1,
) -> SolvedTraces:
    """Solve for the traces of leaves after the elimination of their own columns.

    The index has the numbers of each leaf's moments; nodes are the merges, children first. So many
    of the last right-hand sides are those of shared functions, so many of the first solved for.
    """
    fronts = {
        i: Front(own, leaf.triangle, leaf.rhs)
        for i, (leaf, own) in enumerate(zip(leaves, index, strict=True))
    }
    steps: list[Elimination] = []
    left: list[Remainder] = []
    for i, node in enumerate(nodes, len(leaves)):
        fronts[i], step, lost = merged(fronts.pop(node.first), fronts.pop(node.second), node)
        left.append(remainder(lost, shared, sides))
        if step is not None:
            steps.append(step)
    out = np.zeros((moments, leaves[0].rhs.shape[1]))
    for step in reversed(steps):
        out[step.shared] = substituted(step, out[step.open])
    return SolvedTraces(out, left, [step.extremes for step in steps])


def merged(a: Front, b: Front, node: Node) -> tuple[Front, Elimination | None, FloatArray]:
    """Return two fronts as one, what eliminates the moments they share, and the rows lost."""
    ns = node.shared
    index, at_a, at_b = united(a.index[ns:], b.index[ns:])
    no, k = len(index), a.rhs.shape[1]
    triangle, rhs = np.zeros((no, no), order="F"), np.zeros((no, k), order="F")
    triangle[np.ix_(at_a, at_a)] = a.triangle[ns:, ns:]
    triangle[np.ix_(at_b, at_b)] = b.triangle[ns:, ns:]
    rhs[at_a], rhs[at_b] = a.rhs[ns:], b.rhs[ns:]
    if not ns:
        return Front(index, triangle, rhs), None, np.zeros((0, k))
    top, bottom = np.zeros((ns, no + k), order="F"), np.zeros((ns, no + k), order="F")
    top[:, at_a], top[:, no:] = a.triangle[:ns, ns:], a.rhs[:ns]
    bottom[:, at_b], bottom[:, no:] = b.triangle[:ns, ns:], b.rhs[:ns]
    upper, v, t, _ = dtpqrt(ns, min(STACKED_BLOCK, ns), a.triangle[:ns, :ns], b.triangle[:ns, :ns])
    top, bottom, _ = dtpmqrt(ns, v, t, top, bottom, trans=b"T", overwrite_a=1, overwrite_b=1)
    step = Elimination(a.index[:ns], index, upper, top[:, :no], top[:, no:])
    lost = bottom[:, no:].copy(order="F")
    if no:
        triangle, v, t, _ = dtpqrt(
            0, min(STACKED_BLOCK, no), triangle, bottom[:, :no], overwrite_a=1
        )
        rhs, lost, _ = dtpmqrt(0, v, t, rhs, lost, trans=b"T", overwrite_a=1, overwrite_b=1)
    return Front(index, triangle, rhs), step, np.asarray(lost)
