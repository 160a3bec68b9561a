"""Least squares group by group of columns, on the host: linear time in the number of groups.

Rows that cover one group are reduced by QR when the group's turn comes, rows that tie two
neighbours are added, the group's weights are eliminated, and what remains is carried to the next.
A row that covers more groups is split: in each group it defines one border unknown, its part of
the sum, and the border columns travel with the carry to the end.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqrf, dormqr, dtrtrs

from sharpfront.arrays import Array, Host, like, to_host
from sharpfront.assemble import Block, LinearSystem
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.leastsquares.contract import Facts

_SINGULAR = 1e-15


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows over some columns; `places` are their entries in the right-hand side, -1 for zero."""

    matrix: Host
    places: NDArray[np.int64]
    weights: Host

    def values(self, rhs: Host) -> Host:
        """Return the weighted right-hand side of the rows."""
        return np.where(self.places < 0, 0.0, self.weights * rhs[self.places])


class _Reduction:
    """A QR factorisation whose Q stays as LAPACK leaves it: cheap to make and to apply."""

    def __init__(self, matrix: Host) -> None:
        # LAPACK refuses a matrix without rows; a row of zeros changes nothing.
        matrix = matrix if len(matrix) else np.zeros((1, matrix.shape[1]))
        self._raw, self._tau, _, _ = dgeqrf(matrix)
        self.upper = np.triu(self._raw[: min(matrix.shape)])

    def rotated(self, values: Host) -> Host:
        """Return the entries of Q^T values that belong to rows of `upper`."""
        tall = self._raw[:, : len(self._tau)]
        values = values if len(values) else np.zeros(1)
        work = 64 * max(1, len(self._tau))
        out, _, _ = dormqr("L", "T", tall, self._tau, values[:, None], work)
        return np.asarray(out[: len(self.upper), 0])


@dataclass(frozen=True, eq=False)
class _Stage:
    """The elimination of one group: own rows and carry, then ties to the next group."""

    own: _Rows
    first: _Reduction
    ties: _Rows | None
    second: _Reduction | None


@dataclass(frozen=True, eq=False)
class _State:
    system: LinearSystem
    sizes: tuple[int, ...]
    borders: int
    stages: tuple[_Stage, ...]
    scale: Host


@dataclass(frozen=True)
class Blocked:
    """QR of one group of columns after the other; a system without groups is one group.

    Exact rows are not eliminated: they take part with their weight, so give them one. Where the
    columns do not determine each other, some get the weight zero and the residual may not be least.

    Parameters
    ----------
    equilibrate
        Scale columns first; of no use where they are orthonormal already.
    """

    equilibrate: bool = True

    def factor(self, system: LinearSystem) -> _State:
        """Return the reductions of all groups."""
        edges = system.partition or (0, system.columns)
        scale = _column_scale(system) if self.equilibrate else np.ones(system.columns)
        own, ties, borders = _sorted(system, edges, scale)
        sizes = tuple(b - a for a, b in itertools.pairwise(edges))
        stages: list[_Stage] = []
        carry = np.zeros((0, sizes[0] + borders))
        for i, size in enumerate(sizes):
            first = _Reduction(np.concatenate([own[i].matrix, carry]))
            if i == len(sizes) - 1:
                stages.append(_Stage(own[i], first, None, None))
                break
            second = _Reduction(_tied(ties[i].matrix, first.upper, size, sizes[i + 1], borders))
            stages.append(_Stage(own[i], first, ties[i], second))
            carry = second.upper[size:, size:]
        return _State(system, sizes, borders, tuple(stages), scale)

    def solve(self, state: _State, rhs: Array) -> tuple[Array, Outcome, Facts]:
        """Return weights, outcome and facts."""
        right = to_host(rhs)
        _check_rhs(state.system, right)
        rotated, carry = [], np.zeros(0)
        for stage, size in zip(state.stages, state.sizes, strict=True):
            top = stage.first.rotated(np.concatenate([stage.own.values(right), carry]))
            if stage.ties is None or stage.second is None:
                rotated.append(top)
            else:
                both = stage.second.rotated(np.concatenate([stage.ties.values(right), top]))
                rotated.append(both[:size])
                carry = both[size:]
        weights = state.scale * _substituted(state, rotated)
        facts = _facts(state, weights, right)
        full = facts.rank == state.system.columns
        detail = f"Rank {facts.rank} of {state.system.columns} columns."
        kind = OutcomeKind.CONVERGED if full else OutcomeKind.NEAR_SINGULAR
        return like(weights, rhs), Outcome(kind, detail), facts


def _tied(ties: Host, upper: Host, size: int, following: int, borders: int) -> Host:
    """Return ties over the reduced rows; columns are this group, the next one, the border."""
    out = np.zeros((len(ties) + len(upper), size + following + borders))
    out[: len(ties), : size + following] = ties
    out[len(ties) :, :size] = upper[:, :size]
    out[len(ties) :, size + following :] = upper[:, size:]
    return out


def _column_scale(system: LinearSystem) -> Host:
    """Return one over the norms of the columns; one for a column of zeros."""
    largest = np.zeros(system.columns)
    for block in system.blocks:
        if block.rows:
            own = np.max(np.abs(to_host(block.matrix)), axis=0) * block.weight
            part = slice(block.start, block.stop)
            largest[part] = np.maximum(largest[part], own)
    # The largest entry serves as well as the norm, and cannot underflow.
    return np.where(largest > 1e-300, 1.0 / np.where(largest > 1e-300, largest, 1.0), 1.0)


def _check_rhs(system: LinearSystem, rhs: Host) -> None:
    rows = sum(block.rows for block in system.blocks)
    if rhs.shape != (rows,):
        raise LinearSystemError(f"The system has {rows} rows, the right-hand side {rhs.shape}.")
    if not np.isfinite(rhs).all():
        raise LinearSystemError("The right-hand side holds NaN or infinity. Check the sources.")


def _sorted(
    system: LinearSystem, edges: tuple[int, ...], scale: Host
) -> tuple[list[_Rows], list[_Rows], int]:
    """Return the rows of each group with border columns, the ties after each, the borders."""
    groups = len(edges) - 1
    own: list[list[tuple[Block, int]]] = [[] for _ in range(groups)]
    ties: list[list[tuple[Block, int]]] = [[] for _ in range(groups)]
    long: list[tuple[Block, int]] = []
    place = 0
    for block in system.blocks:
        _check(block)
        scaled = to_host(block.matrix) * scale[block.start : block.stop]
        block = replace(block, matrix=scaled)
        first, last = edges.index(block.start), edges.index(block.stop) - 1
        target = own[first] if last == first else ties[first] if last == first + 1 else long
        target.append((block, place))
        place += block.rows
    parts, closing, borders = _split(long, edges)
    rows = [_stacked(own[i], edges[i + 1] - edges[i], borders, parts[i]) for i in range(groups)]
    rows[-1] = _joined(closing, rows[-1])
    tied = [_stacked(ties[i], edges[min(i + 2, groups)] - edges[i], 0, []) for i in range(groups)]
    return rows, tied, borders


def _check(block: Block) -> None:
    if not np.isfinite(to_host(block.matrix)).all():
        raise LinearSystemError(
            "The linear system holds NaN or infinity. Check coefficients and widths of kernels."
        )


def _stacked(
    blocks: list[tuple[Block, int]],
    columns: int,
    borders: int,
    parts: list[tuple[Host, int, float]],
) -> _Rows:
    """Return blocks and parts of long rows; heavy rows first keep Householder's QR accurate."""
    blocks = sorted(blocks, key=lambda item: -item[0].weight)
    matrices = [np.zeros((0, columns + borders))]
    places, weights = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for row, column, weight in parts:
        line = np.zeros((1, columns + borders))
        line[0, :columns], line[0, columns + column] = weight * row, -weight
        matrices.append(line)
        places.append(np.array([-1]))
        weights.append(np.zeros(1))
    for block, place in blocks:
        rows = np.zeros((block.rows, columns + borders))
        rows[:, :columns] = block.weight * to_host(block.matrix)
        matrices.append(rows)
        places.append(place + np.arange(block.rows))
        weights.append(np.full(block.rows, block.weight))
    return _Rows(np.concatenate(matrices), np.concatenate(places), np.concatenate(weights))


def _split(
    long: list[tuple[Block, int]], edges: tuple[int, ...]
) -> tuple[list[list[tuple[Host, int, float]]], list[tuple[Host, int, float]], int]:
    """Cut long rows into unit parts per group; return them, the closing rows and the borders.

    Parts P (r_i w - s_i) and a closing row C (sum_i n_i s_i - b) with the best s_i count like one
    row of weight W, 1 / W^2 = 1 / C^2 + sum_i n_i^2 / P^2: here in equal shares.
    """
    parts: list[list[tuple[Host, int, float]]] = [[] for _ in edges[1:]]
    closing: list[tuple[dict[int, float], int, float]] = []
    borders = 0
    for block, place in long:
        weight = math.sqrt(2.0) * block.weight
        for r, row in enumerate(to_host(block.padded(edges[-1]))):
            scales, total = {}, float(np.linalg.norm(row))
            for i, (start, stop) in enumerate(itertools.pairwise(edges)):
                norm = float(np.linalg.norm(row[start:stop]))
                if norm > 0:
                    parts[i].append((row[start:stop] / norm, borders, weight * total))
                    scales[borders] = norm
                    borders += 1
            closing.append((scales, place + r, weight))
    rows = []
    for scales, place, weight in closing:
        row = np.zeros(borders)
        row[list(scales)] = list(scales.values())
        rows.append((row, place, weight))
    return parts, rows, borders


def _joined(closing: list[tuple[Host, int, float]], last: _Rows) -> _Rows:
    """Return the last group's rows with the closing rows of the border on top."""
    if not closing:
        return last
    head = np.zeros((len(closing), last.matrix.shape[1]))
    for line, (row, _, weight) in zip(head, closing, strict=True):
        line[len(line) - len(row) :] = weight * row
    places = np.array([place for _, place, _ in closing])
    weights = np.array([weight for _, _, weight in closing])
    return _Rows(
        np.concatenate([head, last.matrix]),
        np.concatenate([places, last.places]),
        np.concatenate([weights, last.weights]),
    )


def _substituted(state: _State, rotated: list[Host]) -> Host:
    """Return the weights of all groups, last one first."""
    count = state.sizes[-1] + state.borders
    tail = _back(state.stages[-1].first.upper, rotated[-1], count)
    tail, border = tail[: state.sizes[-1]], tail[state.sizes[-1] :]
    found = [tail]
    for stage, size, right in list(zip(state.stages, state.sizes, rotated, strict=True))[-2::-1]:
        assert stage.second is not None
        upper = stage.second.upper[:size]
        known = np.concatenate([tail, border])
        tail = _back(upper[:, :size], right - upper[:, size:] @ known, size)
        found.append(tail)
    return np.concatenate(found[::-1])


def _back(upper: Host, right: Host, count: int) -> Host:
    """Solve the triangle; a diagonal of zero, where no row speaks of a weight, gives zero."""
    square = np.zeros((count, count))
    rows = min(len(upper), count)
    square[:rows] = upper[:rows]
    padded = np.zeros(count)
    padded[:rows] = right[:rows]
    diagonal = np.abs(np.diagonal(square))
    nothing = diagonal <= 1e-300 + 1e-17 * np.max(diagonal, initial=0.0)
    if nothing.any():
        square[nothing] = np.eye(count)[nothing]
        padded[nothing] = 0.0
    # LAPACK's own routine: SciPy's wrapper takes longer than the solve.
    solved, _ = dtrtrs(square, padded)
    return np.asarray(solved)


def _facts(state: _State, weights: Host, rhs: Host) -> Facts:
    diagonals = []
    # Border unknowns are pivots too: a zero among them is a direction that no row determines.
    sizes = (*state.sizes[:-1], state.sizes[-1] + state.borders)
    for stage, size in zip(state.stages, sizes, strict=True):
        upper = stage.first.upper if stage.second is None else stage.second.upper
        diagonal = np.zeros(size)
        found = np.abs(np.diagonal(upper))[:size]
        diagonal[: len(found)] = found
        diagonals.append(diagonal)
    every = np.concatenate(diagonals)
    largest, smallest = float(np.max(every)), float(np.min(every))
    condition = largest / smallest if smallest > 0 else math.inf
    rank = max(0, int(np.sum(every > _SINGULAR * largest)) - state.borders)
    dead = int(np.sum(every[: sum(state.sizes)] == 0))
    return Facts(rank, condition, dead, _residual_norm(state.system, weights, rhs))


def _residual_norm(system: LinearSystem, weights: Host, rhs: Host) -> float:
    total, place = 0.0, 0
    for block in system.blocks:
        there = to_host(block.matrix) @ weights[block.start : block.stop]
        miss = block.weight * (there - rhs[place : place + block.rows])
        total += float(miss @ miss)
        place += block.rows
    return math.sqrt(total)
