"""Least squares group by group of columns, on the host: linear time in the number of groups.

Rows that cover one group are reduced by QR when the group's turn comes, rows that tie two
neighbours are added, the group's weights are eliminated, and what remains is carried to the next.
The ties meet an identity instead of their entries in the next group: what is left of that times
these entries is carried on. The system's own right-hand side is reduced with the rows; for others
the reflections are kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtpsv
from scipy.linalg.lapack import dtrtrs, dtrttp

from sharpfront.arrays import Array, Flags, FloatArray, all_finite, like, to_host
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.kernels.assemble import LinearSystem
from sharpfront.leastsquares.contract import Facts
from sharpfront.leastsquares.groups import Places, SortedRows, column_scale
from sharpfront.leastsquares.reflectors import Reflection, reflected, unpacked

_SINGULAR = 1e-15
_NO_NUMBER = "The right-hand side holds NaN or infinity. Check the sources."


@dataclass(frozen=True, eq=False)
class _Triangle:
    """R w = right - link (following w'), with the weights w' of the next group."""

    packed: FloatArray  # R, its columns one after the other
    right: FloatArray
    diagonal: FloatArray  # sizes of the pivots
    nothing: Flags  # which of them no row speaks of: their weights are zero
    missed: float  # square of what no weights of the group can mend
    link: FloatArray | None
    following: FloatArray | None

    @classmethod
    def of(cls, upper: FloatArray, count: int, following: FloatArray | None = None) -> _Triangle:
        """Return it from so many columns of R, those of the link and the right-hand side."""
        if len(upper) < count:
            upper = np.concatenate([upper, np.zeros((count - len(upper), upper.shape[1]))])
        diagonal = np.abs(upper.diagonal())
        nothing = diagonal <= 1e-300 + 1e-17 * np.maximum.reduce(diagonal, initial=0.0)
        missed = 0.0
        if np.count_nonzero(nothing):
            upper = upper.copy()
            missed = float(np.sum(upper[nothing, -1] ** 2))
            upper[nothing] = np.eye(*upper.shape)[nothing]
        packed, _ = dtrttp(upper[:, :count])
        link = None if following is None else upper[:, count:-1].copy()
        return cls(packed, upper[:, -1].copy(), diagonal, nothing, missed, link, following)

    def coupled(self, later: FloatArray | None) -> FloatArray | float:
        """Return what the weights of the next group add."""
        if self.link is None or self.following is None or later is None:
            return 0.0
        return np.asarray(self.link @ (self.following @ later))

    def solved(self, right: FloatArray, *, transposed: bool) -> FloatArray:
        """Return R^-1 right, or R^-T right, (n, k); zero where no row speaks of a weight."""
        right[self.nothing] *= transposed
        # LAPACK's own routine: SciPy's wrapper takes longer than the solve.
        found, _ = dtrtrs(unpacked(self.packed), right, trans=int(transposed))
        found[self.nothing] = 0.0
        return np.asarray(found)


@dataclass(frozen=True, eq=False)
class _Rotations:
    """How right-hand sides are reduced: own rows and what is carried, then ties to the next."""

    own: Places
    first: Reflection
    ties: Places | None
    second: Reflection | None
    carried: int  # rows that are left for the next group


@dataclass(frozen=True, eq=False)
class _Elimination:
    """The groups of a system eliminated, each with running sums for long rows."""

    system: LinearSystem
    sizes: tuple[int, ...]  # columns of each group
    sums: int
    scale: FloatArray | None
    triangles: list[_Triangle]
    rotations: list[_Rotations]  # none where nothing is kept
    left: float  # square of what weights leave of the system's own right-hand side

    def facts(self, residual: float) -> Facts:
        """Return what pivots say of the matrix."""
        # Running sums are pivots too: a zero among them is a direction that no row determines.
        pivots = np.concatenate([triangle.diagonal for triangle in self.triangles])
        largest, smallest = float(np.maximum.reduce(pivots)), float(np.minimum.reduce(pivots))
        condition = largest / smallest if smallest > 0 else math.inf
        sums = self.sums * len(self.sizes)
        rank = max(0, int(np.count_nonzero(pivots > _SINGULAR * largest)) - sums)
        return Facts(rank, condition, len(pivots) - int(np.count_nonzero(pivots)), residual)

    def joined(self, found: Sequence[FloatArray]) -> FloatArray:
        """Return weights of all groups, given from the last one on, without running sums."""
        own = [w[:size] for w, size in zip(found[::-1], self.sizes, strict=True)]
        whole = np.concatenate(own) if len(own) > 1 else own[0]
        return whole if self.scale is None else (self.scale * whole.T).T


@dataclass(frozen=True)
class Blocked:
    """QR of one group of columns after the other; a system without groups is one group.

    Exact rows are not eliminated: they take part with their weight, so give them one. Where the
    columns do not determine each other, some get the weight zero and the residual may not be least.
    """

    equilibrate: bool = True  # scale columns first; of no use where they are orthonormal already

    def factor(self, system: LinearSystem) -> _Elimination:
        """Return the reductions of all groups."""
        return self._eliminated(system, keep=True)

    def solve(self, state: _Elimination, rhs: Array) -> tuple[Array, Outcome, Facts]:
        """Return weights, outcome and facts."""
        right = to_host(rhs)
        weights = self.columns(state, right.reshape((*right.shape, 1)))[:, 0]
        facts = state.facts(_residual_norm(state.system, weights, right))
        return like(weights, rhs), _outcome(facts.rank, state.system.columns), facts

    def once(self, system: LinearSystem) -> tuple[Array, Outcome, Facts]:
        """Return what `solve` does for the system's own right-hand side, and keep nothing."""
        state = self._eliminated(system, keep=False)
        later: FloatArray | None = None
        found = []
        for t in state.triangles[::-1]:
            later = np.asarray(dtpsv(len(t.right), t.packed, t.right - t.coupled(later)))
            found.append(later)
        facts = state.facts(math.sqrt(state.left))
        return state.joined(found), _outcome(facts.rank, system.columns), facts

    def _eliminated(self, system: LinearSystem, *, keep: bool) -> _Elimination:
        edges = system.partition or (0, system.columns)
        scale = column_scale(system) if self.equilibrate else None
        rows = SortedRows(system, edges, scale)
        sizes, sums = tuple(b - a for a, b in itertools.pairwise(edges)), len(rows.long)
        triangles: list[_Triangle] = []
        rotations: list[_Rotations] = []
        carry, left = np.zeros((0, 0)), 0.0
        for group, size in enumerate(sizes):
            count, full = size + sums, rows.own(group)
            full = np.concatenate([full, carry]) if len(carry) else full
            raw, tau = _reduced(full)
            last = float(raw[count, count]) if len(raw) > count else 0.0
            left += last * last  # infinite where a power would be an error
            top, second, ties = raw[:count], None, None
            if group == len(sizes) - 1:
                triangles.append(_Triangle.of(top, count))
                carry = full[:0]
            else:
                tied = rows.ties(group)
                second = _reduced(_met(top, tied, count))
                following = np.ascontiguousarray(tied[:, count:-1])
                triangles.append(_Triangle.of(second[0][:count], count, following))
                below = np.triu(second[0][count:, count:])
                carry = np.concatenate([below[:, :-1] @ following, below[:, -1:]], axis=1)
            if keep:
                ties = None if second is None else rows.ties_places(group)
                kept = Reflection.of(raw, tau), ties, second and Reflection.of(*second)
                rotations.append(_Rotations(rows.own_places(group), *kept, len(carry)))
        left += sum(triangle.missed for triangle in triangles)
        return _Elimination(system, sizes, sums, scale, triangles, rotations, left)

    def columns(self, state: _Elimination, rhs: FloatArray) -> FloatArray:
        """Return weights (columns, k) for right-hand sides (rows, k)."""
        _check_rhs(state.system, rhs)
        rotated, carry = [], np.zeros((0, rhs.shape[1]))
        for turn, triangle in zip(state.rotations, state.triangles, strict=True):
            right, count = np.zeros((len(triangle.right), rhs.shape[1])), len(triangle.right)
            own = np.concatenate([turn.own.values(rhs), carry])
            top = turn.first.rotated(own)[:count]
            if turn.ties is not None and turn.second is not None:
                top = turn.second.rotated(np.concatenate([turn.ties.values(rhs), top]))
                carry = top[count : count + turn.carried]
            right[: len(top)] = top[:count]
            rotated.append(right)
        found: list[FloatArray] = []
        for triangle, right in zip(state.triangles[::-1], rotated[::-1], strict=True):
            later = found[-1] if found else None
            found.append(triangle.solved(right - triangle.coupled(later), transposed=False))
        return state.joined(found)

    def transposed(self, state: _Elimination, values: FloatArray) -> FloatArray:
        """Return l (rows,) with l . rhs = values . weights for every right-hand side.

        The steps of `columns` backwards, each transposed.
        """
        pulled = _pulled(state, values if state.scale is None else state.scale * values)
        out = np.zeros((sum(block.rows for block in state.system.blocks), 1))
        carry = np.zeros((0, 1))
        for turn, top in zip(state.rotations[::-1], pulled[::-1], strict=True):
            if turn.ties is not None and turn.second is not None:
                both = turn.second.unrotated(np.concatenate([top, carry]))
                turn.ties.scatter(both, out)
                top = both[len(turn.ties.places) :]
            found = turn.first.unrotated(top)
            turn.own.scatter(found, out)
            carry = found[len(turn.own.places) :]
        return np.asarray(out[:, 0])


def _outcome(rank: int, columns: int) -> Outcome:
    kind = OutcomeKind.CONVERGED if rank == columns else OutcomeKind.NEAR_SINGULAR
    return Outcome(kind, f"Rank {rank} of {columns} columns.")


def _reduced(full: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return R with Q^T rhs in its last column above reflectors, and their factors."""
    raw, tau = reflected(full, overwrite=True)
    if not all_finite(raw[:, -1]):
        raise LinearSystemError(_NO_NUMBER)
    return raw, tau


def _met(top: FloatArray, ties: FloatArray, count: int) -> FloatArray:
    """Return ties over the reduced rows, an identity in the place of the next group's columns."""
    tied = len(ties)
    both = np.zeros((tied + len(top), count + tied + 1), order="F")
    both[:tied, :count], both[:tied, -1] = ties[:, :count], ties[:, -1]
    both[:tied, count:-1] = np.eye(tied)
    both[tied:, :count], both[tied:, -1] = np.triu(top[:, :count]), top[:, -1]
    return both


def _pulled(state: _Elimination, values: FloatArray) -> list[FloatArray]:
    """Return what each rotated right-hand side counts in a sum of weights, (n_i, 1) each."""
    found: list[FloatArray] = []
    start, known = 0, np.zeros((len(state.triangles[0].right), 1))
    for triangle, size in zip(state.triangles, state.sizes, strict=True):
        right = -known
        right[:size, 0] += values[start : start + size]
        start += size
        found.append(triangle.solved(right, transposed=True))
        if triangle.link is not None and triangle.following is not None:
            known = triangle.following.T @ (triangle.link.T @ found[-1])
    return found


def _check_rhs(system: LinearSystem, rhs: FloatArray) -> None:
    rows = sum(block.rows for block in system.blocks)
    if rhs.ndim != 2 or len(rhs) != rows:
        found = rhs.shape[:-1]
        raise LinearSystemError(f"The system has {rows} rows, the right-hand side {found}.")
    if not np.isfinite(rhs).all():
        raise LinearSystemError(_NO_NUMBER)


def _residual_norm(system: LinearSystem, weights: FloatArray, rhs: FloatArray) -> float:
    total, place = 0.0, 0
    for block in system.blocks:
        there = to_host(block.matrix) @ weights[block.start : block.stop]
        miss = block.weight * (there - rhs[place : place + block.rows])
        total += float(miss @ miss)
        place += block.rows
    return math.sqrt(total)
