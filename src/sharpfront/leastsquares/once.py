"""Groups of columns eliminated for one right-hand side, which is reduced with the rows.

Nothing is kept but triangles. The ties of a group to the next one meet an identity instead of their
entries in the next: what is left of that times these entries is carried on.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtpsv
from scipy.linalg.lapack import dtrttp

from sharpfront.arrays import FloatArray, all_finite
from sharpfront.errors import LinearSystemError
from sharpfront.kernels.assemble import LinearSystem
from sharpfront.leastsquares.contract import Facts
from sharpfront.leastsquares.groups import SortedRows
from sharpfront.leastsquares.reflectors import reflected

_SINGULAR = 1e-15


@dataclass(frozen=True, eq=False)
class _Substitution:
    """R w = right - link (following w'), with the weights w' of the next group."""

    triangle: FloatArray  # R, its columns one after the other
    right: FloatArray
    diagonal: FloatArray  # sizes of the pivots
    missed: float  # square of what no weights of the group can mend
    link: FloatArray | None = None
    following: FloatArray | None = None

    def weights(self, later: FloatArray | None) -> FloatArray:
        """Return the weights of the group, sums included."""
        right = self.right
        if self.link is not None and self.following is not None and later is not None:
            right = right - self.link @ (self.following @ later)
        return np.asarray(dtpsv(len(right), self.triangle, right))


def solved_once(
    system: LinearSystem, edges: tuple[int, ...], scale: FloatArray | None
) -> tuple[FloatArray, Facts]:
    """Return the weights, (columns,), and what the elimination knows of the matrix."""
    rows = SortedRows(system, edges, scale)
    sizes, sums = [b - a for a, b in itertools.pairwise(edges)], len(rows.long)
    stages: list[_Substitution] = []
    carry: FloatArray | None = None
    left = 0.0
    for group, size in enumerate(sizes):
        count, full = size + sums, rows.own(group)
        if carry is not None:
            full = np.concatenate([full, carry])
        top, missed = _reduced(full, count)
        left += missed
        if group == len(sizes) - 1:
            stages.append(_stage(top, count))
            break
        stage, carry = _passed_on(top, rows.ties(group), count)
        stages.append(stage)
    weights = _substituted(stages, sizes)
    left += sum(stage.missed for stage in stages)
    return weights if scale is None else scale * weights, _facts(stages, sums, left)


def _reduced(full: FloatArray, count: int) -> tuple[FloatArray, float]:
    """Return R with Q^T rhs in its last column, and the square of what is left of that."""
    if not len(full):
        return full, 0.0
    raw, _ = reflected(full, overwrite=True)
    if not all_finite(raw[:, -1]):
        raise LinearSystemError("The right-hand side holds NaN or infinity. Check the sources.")
    return raw[:count], float(raw[count, count]) ** 2 if len(raw) > count else 0.0


def _passed_on(top: FloatArray, ties: FloatArray, count: int) -> tuple[_Substitution, FloatArray]:
    """Return a group's stage with its ties, and the rows that are left for the next group."""
    tied = len(ties)
    both = np.zeros((tied + len(top), count + tied + 1), order="F")
    both[:tied, :count], both[:tied, -1] = ties[:, :count], ties[:, -1]
    both[:tied, count:-1] = np.eye(tied)
    both[tied:, :count], both[tied:, -1] = np.triu(top[:, :count]), top[:, -1]
    raw = reflected(both, overwrite=True)[0] if len(both) else both
    following = np.ascontiguousarray(ties[:, count:-1])
    below = np.triu(raw[count:, count:])
    carry = np.concatenate([below[:, :-1] @ following, below[:, -1:]], axis=1)
    return _stage(raw[:count], count, following), carry


def _stage(upper: FloatArray, count: int, following: FloatArray | None = None) -> _Substitution:
    """Return the stage of a triangle; a diagonal of zero, which no row speaks of, gives zero."""
    if len(upper) < count:
        upper = np.concatenate([upper, np.zeros((count - len(upper), upper.shape[1]))])
    diagonal = np.abs(upper.diagonal())
    nothing = diagonal <= 1e-300 + 1e-17 * np.maximum.reduce(diagonal, initial=0.0)
    missed = 0.0
    if np.count_nonzero(nothing):
        upper = upper.copy()
        missed = float(np.sum(upper[nothing, -1] ** 2))
        upper[nothing] = np.eye(*upper.shape)[nothing]
    triangle, _ = dtrttp(upper[:, :count])
    link = None if following is None else upper[:, count:-1].copy()
    return _Substitution(triangle, upper[:, -1].copy(), diagonal, missed, link, following)


def _substituted(stages: list[_Substitution], sizes: list[int]) -> FloatArray:
    """Return the weights of all groups without their running sums, found from the last one on."""
    later: FloatArray | None = None
    found = []
    for stage, size in zip(stages[::-1], sizes[::-1], strict=True):
        later = stage.weights(later)
        found.append(later[:size])
    return np.concatenate(found[::-1]) if len(found) > 1 else found[0]


def _facts(stages: list[_Substitution], sums: int, left: float) -> Facts:
    # Running sums are pivots too: a zero among them is a direction that no row determines.
    every = np.concatenate([stage.diagonal for stage in stages])
    return facts_of(every, sums * len(stages), math.sqrt(left))


def facts_of(pivots: FloatArray, sums: int, residual: float) -> Facts:
    """Return what pivots, among them those of running sums, say of the matrix."""
    largest, smallest = float(np.maximum.reduce(pivots)), float(np.minimum.reduce(pivots))
    condition = largest / smallest if smallest > 0 else math.inf
    rank = max(0, int(np.count_nonzero(pivots > _SINGULAR * largest)) - sums)
    return Facts(rank, condition, len(pivots) - int(np.count_nonzero(pivots)), residual)
