"""Least squares group by group of columns, on the host: linear time in the number of groups.

Rows that cover one group are reduced by QR when the group's turn comes, rows that tie two
neighbours are added, the group's weights are eliminated, and what remains is carried to the next.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtrtrs

from sharpfront.arrays import Array, FloatArray, like, to_host
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.kernels.assemble import LinearSystem
from sharpfront.leastsquares.contract import Facts
from sharpfront.leastsquares.groups import Places, SortedRows, column_scale
from sharpfront.leastsquares.once import facts_of, solved_once
from sharpfront.leastsquares.reflectors import Reflection


@dataclass(frozen=True, eq=False)
class _GroupElimination:
    """The elimination of one group: own rows and carry, then ties to the next group."""

    own: Places
    first: Reflection
    ties: Places | None
    second: Reflection | None

    def rows_of(self, count: int) -> FloatArray:
        """Return the rows of R that give the group's own weights, reflectors below its diagonal."""
        return self.first.packed if self.second is None else self.second.packed[:count]


@dataclass(frozen=True, eq=False)
class _BlockedState:
    """The stages; `sizes` are columns of each group, `sums` unknowns more in each for long rows."""

    system: LinearSystem
    sizes: tuple[int, ...]
    sums: int
    stages: tuple[_GroupElimination, ...]
    scale: FloatArray | None


@dataclass(frozen=True)
class Blocked:
    """QR of one group of columns after the other; a system without groups is one group.

    Exact rows are not eliminated: they take part with their weight, so give them one. Where the
    columns do not determine each other, some get the weight zero and the residual may not be least.
    """

    equilibrate: bool = True  # scale columns first; of no use where they are orthonormal already

    def factor(self, system: LinearSystem) -> _BlockedState:
        """Return the reductions of all groups."""
        edges = system.partition or (0, system.columns)
        scale = column_scale(system) if self.equilibrate else None
        sizes = tuple(b - a for a, b in itertools.pairwise(edges))
        rows = SortedRows(system, edges, scale)
        sums = len(rows.long)
        stages: list[_GroupElimination] = []
        carry = np.zeros((0, sizes[0] + sums))
        for i, size in enumerate(sizes):
            matrix, own = rows.own(i)[:, :-1], rows.own_places(i)
            full = np.concatenate([matrix, carry]) if len(carry) else matrix
            first = Reflection(full, overwrite=True)
            if i == len(sizes) - 1:
                stages.append(_GroupElimination(own, first, None, None))
                break
            matrix, ties = rows.ties(i)[:, :-1], rows.ties_places(i)
            second = Reflection(_tied(matrix, first.upper))
            stages.append(_GroupElimination(own, first, ties, second))
            carry = second.upper[size + sums :, size + sums :]
        return _BlockedState(system, sizes, sums, tuple(stages), scale)

    def solve(self, state: _BlockedState, rhs: Array) -> tuple[Array, Outcome, Facts]:
        """Return weights, outcome and facts."""
        right = to_host(rhs)
        weights = self.columns(state, right.reshape((*right.shape, 1)))[:, 0]
        facts = _facts(state, weights, right)
        return like(weights, rhs), _outcome(facts.rank, state.system.columns), facts

    def once(self, system: LinearSystem) -> tuple[Array, Outcome, Facts]:
        """Return what `solve` does for the system's own right-hand side, and keep nothing."""
        edges = system.partition or (0, system.columns)
        scale = column_scale(system) if self.equilibrate else None
        weights, facts = solved_once(system, edges, scale)
        return weights, _outcome(facts.rank, system.columns), facts

    def columns(self, state: _BlockedState, rhs: FloatArray) -> FloatArray:
        """Return weights (columns, k) for right-hand sides (rows, k)."""
        _check_rhs(state.system, rhs)
        rotated, carry = [], np.zeros((0, rhs.shape[1]))
        for stage, size in zip(state.stages, state.sizes, strict=True):
            own = stage.own.values(rhs)
            top = _rotated(stage.first, np.concatenate([own, carry]) if len(carry) else own)
            if stage.ties is None or stage.second is None:
                rotated.append(top)
            else:
                both = _rotated(stage.second, np.concatenate([stage.ties.values(rhs), top]))
                rotated.append(both[: size + state.sums])
                carry = both[size + state.sums :]
        found = _substituted(state, rotated)
        return found if state.scale is None else state.scale[:, None] * found

    def transposed(self, state: _BlockedState, values: FloatArray) -> FloatArray:
        """Return l (rows,) with l . rhs = values . weights for every right-hand side.

        The steps of `columns` backwards, each transposed.
        """
        pulled = _pulled(state, values if state.scale is None else state.scale * values)
        out = np.zeros((sum(block.rows for block in state.system.blocks), 1))
        carry = np.zeros((0, 1))
        for stage, top in zip(state.stages[::-1], pulled[::-1], strict=True):
            if stage.ties is not None and stage.second is not None:
                both = stage.second.unrotated(np.concatenate([top, carry]))
                stage.ties.scatter(both, out)
                top = both[len(stage.ties.places) :][: len(stage.first.packed)]
            found = stage.first.unrotated(top)
            stage.own.scatter(found, out)
            carry = found[len(stage.own.places) :]
        return np.asarray(out[:, 0])


def _outcome(rank: int, columns: int) -> Outcome:
    kind = OutcomeKind.CONVERGED if rank == columns else OutcomeKind.NEAR_SINGULAR
    return Outcome(kind, f"Rank {rank} of {columns} columns.")


def _pulled(state: _BlockedState, values: FloatArray) -> list[FloatArray]:
    """Return what each rotated right-hand side counts in a sum of weights, (n_i, 1) each."""
    found: list[FloatArray] = []
    start, known = 0, np.zeros((state.sizes[0] + state.sums, 1))
    for stage, size in zip(state.stages, state.sizes, strict=True):
        count = size + state.sums
        upper = stage.rows_of(count)
        right = -known
        right[:size, 0] += values[start : start + size]
        start += size
        solved = _back(upper[:, :count], right, count, transposed=True)[: len(upper)]
        found.append(solved)
        known = upper[:, count:].T @ solved
    return found


def _rotated(reflection: Reflection, values: FloatArray) -> FloatArray:
    """Return the entries of Q^T values that belong to rows of R."""
    return reflection.rotated(values)[: len(reflection.packed)]


def _tied(ties: FloatArray, upper: FloatArray) -> FloatArray:
    """Return ties over the reduced rows, which have nothing in the columns of the next group."""
    following = ties.shape[1] - upper.shape[1]
    return np.concatenate([ties, np.pad(upper, ((0, 0), (0, following)))])


def _check_rhs(system: LinearSystem, rhs: FloatArray) -> None:
    rows = sum(block.rows for block in system.blocks)
    if rhs.ndim != 2 or len(rhs) != rows:
        found = rhs.shape[:-1]
        raise LinearSystemError(f"The system has {rows} rows, the right-hand side {found}.")
    if not np.isfinite(rhs).all():
        raise LinearSystemError("The right-hand side holds NaN or infinity. Check the sources.")


def _substituted(state: _BlockedState, rotated: list[FloatArray]) -> FloatArray:
    """Return the weights of all groups without their running sums, found from the last one on."""
    tail, found = np.zeros((0, rotated[0].shape[1])), []
    for stage, size, right in list(zip(state.stages, state.sizes, rotated, strict=True))[::-1]:
        count = size + state.sums
        upper = stage.rows_of(count)
        known = upper[:, count:] @ tail if len(tail) else 0.0
        tail = _back(upper[:, :count], right - known, count)
        found.append(tail[:size])
    return np.concatenate(found[::-1]) if len(found) > 1 else found[0]


def _back(
    upper: FloatArray, right: FloatArray, count: int, *, transposed: bool = False
) -> FloatArray:
    """Solve the triangle; a diagonal of zero, where no row speaks of a weight, gives zero."""
    square = np.zeros((count, count))
    rows = min(len(upper), count)
    square[:rows] = upper[:rows]
    padded = np.zeros((count, right.shape[1]))
    padded[: len(right)] = right[:count]
    diagonal = np.abs(np.diagonal(square))
    nothing = diagonal <= 1e-300 + 1e-17 * np.max(diagonal, initial=0.0)
    if nothing.any():
        square[nothing] = np.eye(count)[nothing]
    if not transposed:
        padded[nothing] = 0.0
    # LAPACK's own routine: SciPy's wrapper takes longer than the solve.
    solved, _ = dtrtrs(square, padded, trans=int(transposed))
    if transposed:
        solved[nothing] = 0.0
    return np.asarray(solved)


def _facts(state: _BlockedState, weights: FloatArray, rhs: FloatArray) -> Facts:
    diagonals = []
    for stage, size in zip(state.stages, state.sizes, strict=True):
        last = stage.first if stage.second is None else stage.second
        diagonal = np.zeros(size + state.sums)
        found = np.abs(np.diagonal(last.packed))[: len(diagonal)]
        diagonal[: len(found)] = found
        diagonals.append(diagonal)
    # Running sums are pivots too: a zero among them is a direction that no row determines.
    every, sums = np.concatenate(diagonals), state.sums * len(state.sizes)
    return facts_of(every, sums, _residual_norm(state.system, weights, rhs))


def _residual_norm(system: LinearSystem, weights: FloatArray, rhs: FloatArray) -> float:
    total, place = 0.0, 0
    for block in system.blocks:
        there = to_host(block.matrix) @ weights[block.start : block.stop]
        miss = block.weight * (there - rhs[place : place + block.rows])
        total += float(miss @ miss)
        place += block.rows
    return math.sqrt(total)
