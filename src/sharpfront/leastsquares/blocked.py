"""Least squares group by group of columns, on the host: linear time in the number of groups.

Rows that cover one group are reduced by QR when the group's turn comes, rows that tie two
neighbours are added, the group's weights are eliminated, and what remains is carried to the next.
A row that covers more groups becomes a chain of ties: each group gets one more unknown, the sum of
the row's terms in the groups before it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from sharpfront.arrays import Array, FloatArray, like, to_host
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.kernels.assemble import Block, LinearSystem
from sharpfront.leastsquares.contract import Facts
from sharpfront.leastsquares.reflectors import Reflection

_SINGULAR = 1e-15


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows over some columns; `places` are their entries in the right-hand side, -1 for zero.

    `held` says that there is no -1 among them.
    """

    places: NDArray[np.int64]
    weights: FloatArray
    held: bool = False

    def scatter(self, values: FloatArray, out: FloatArray) -> None:
        """Add the transposed of `values`, of (m or more, 1), to (rows, 1)."""
        held = self.places >= 0
        own = self.weights[:, None] * values[: len(self.places)]
        np.add.at(out, self.places[held], own[held])

    def values(self, rhs: FloatArray) -> FloatArray:
        """Return the weighted right-hand sides of the rows, (m, k) of (rows, k)."""
        own = self.weights[:, None] * rhs[self.places]
        return own if self.held else np.where(self.places[:, None] < 0, 0.0, own)


@dataclass(frozen=True, eq=False)
class _Stage:
    """The elimination of one group: own rows and carry, then ties to the next group."""

    own: _Rows
    first: Reflection
    ties: _Rows | None
    second: Reflection | None

    def rows_of(self, count: int) -> FloatArray:
        """Return the rows of R that give the group's own weights, reflectors below its diagonal."""
        return self.first.packed if self.second is None else self.second.packed[:count]


@dataclass(frozen=True, eq=False)
class _State:
    """The stages; `sizes` are columns of each group, `sums` unknowns more in each for long rows."""

    system: LinearSystem
    sizes: tuple[int, ...]
    sums: int
    stages: tuple[_Stage, ...]
    scale: FloatArray | None


@dataclass(frozen=True, eq=False)
class _Long:
    """A row over many groups, of unit norm: its entries, its place, and the weight of each link."""

    row: FloatArray
    norm: float
    place: int
    weight: float


@dataclass(frozen=True)
class Blocked:
    """QR of one group of columns after the other; a system without groups is one group.

    Exact rows are not eliminated: they take part with their weight, so give them one. Where the
    columns do not determine each other, some get the weight zero and the residual may not be least.
    """

    equilibrate: bool = True  # scale columns first; of no use where they are orthonormal already

    def factor(self, system: LinearSystem) -> _State:
        """Return the reductions of all groups."""
        edges = system.partition or (0, system.columns)
        scale = _column_scale(system) if self.equilibrate else None
        sizes = tuple(b - a for a, b in itertools.pairwise(edges))
        rows = _Sorted(system, edges, scale)
        sums = len(rows.long)
        stages: list[_Stage] = []
        carry = np.zeros((0, sizes[0] + sums))
        for i, size in enumerate(sizes):
            matrix, own = rows.own(i)
            full = np.concatenate([matrix, carry]) if len(carry) else matrix
            first = Reflection(full, overwrite=True)
            if i == len(sizes) - 1:
                stages.append(_Stage(own, first, None, None))
                break
            matrix, ties = rows.ties(i)
            second = Reflection(_tied(matrix, first.upper))
            stages.append(_Stage(own, first, ties, second))
            carry = second.upper[size + sums :, size + sums :]
        return _State(system, sizes, sums, tuple(stages), scale)

    def solve(self, state: _State, rhs: Array) -> tuple[Array, Outcome, Facts]:
        """Return weights, outcome and facts."""
        right = to_host(rhs)
        weights = self.columns(state, right.reshape((*right.shape, 1)))[:, 0]
        facts = _facts(state, weights, right)
        full = facts.rank == state.system.columns
        detail = f"Rank {facts.rank} of {state.system.columns} columns."
        kind = OutcomeKind.CONVERGED if full else OutcomeKind.NEAR_SINGULAR
        return like(weights, rhs), Outcome(kind, detail), facts

    def columns(self, state: _State, rhs: FloatArray) -> FloatArray:
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

    def transposed(self, state: _State, values: FloatArray) -> FloatArray:
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


def _pulled(state: _State, values: FloatArray) -> list[FloatArray]:
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


def _column_scale(system: LinearSystem) -> FloatArray:
    """Return one over the norms of the columns; one for a column of zeros."""
    largest = np.zeros(system.columns)
    for block in system.blocks:
        if block.rows:
            own = np.max(np.abs(to_host(block.matrix)), axis=0) * block.weight
            part = slice(block.start, block.stop)
            largest[part] = np.maximum(largest[part], own)
    # The largest entry serves as well as the norm, and cannot underflow.
    return np.where(largest > 1e-300, 1.0 / np.where(largest > 1e-300, largest, 1.0), 1.0)


def _check_rhs(system: LinearSystem, rhs: FloatArray) -> None:
    rows = sum(block.rows for block in system.blocks)
    if rhs.ndim != 2 or len(rhs) != rows:
        found = rhs.shape[:-1]
        raise LinearSystemError(f"The system has {rows} rows, the right-hand side {found}.")
    if not np.isfinite(rhs).all():
        raise LinearSystemError("The right-hand side holds NaN or infinity. Check the sources.")


class _Sorted:
    """The rows of each group, and the ties after each: stacked when they are wanted.

    Groups begin at the edges; `scale` has factors of the columns, None for ones.
    """

    def __init__(
        self, system: LinearSystem, edges: tuple[int, ...], scale: FloatArray | None
    ) -> None:
        groups, place = len(edges) - 1, 0
        self._own: list[list[tuple[Block, int]]] = [[] for _ in range(groups)]
        self._ties: list[list[tuple[Block, int]]] = [[] for _ in range(groups)]
        self._edges, self._scale = edges, scale
        self.long: list[_Long] = []
        at = {edge: i for i, edge in enumerate(edges)}
        for block in system.blocks:
            _check(block)
            first, last = at[block.start], at[block.stop] - 1
            if last > first + 1:
                self.long += _long_rows(self._scaled(block), place, edges)
            else:
                (self._own if last == first else self._ties)[first].append((block, place))
            place += block.rows

    def own(self, group: int) -> tuple[FloatArray, _Rows]:
        """Return the rows of one group alone."""
        found = self._stacked(self._own[group], group, 1)
        return _joined(_ends(self.long, self._edges, group), found) if self.long else found

    def ties(self, group: int) -> tuple[FloatArray, _Rows]:
        """Return the rows that tie a group to the next one."""
        found = self._stacked(self._ties[group], group, 2)
        return _joined(_links(self.long, self._edges, group), found) if self.long else found

    def _stacked(
        self, blocks: list[tuple[Block, int]], group: int, count: int
    ) -> tuple[FloatArray, _Rows]:
        edges = self._edges[group : group + count + 1]
        sizes = [b - a for a, b in itertools.pairwise(edges)]
        return _stacked([(self._scaled(b), p) for b, p in blocks], sizes, len(self.long))

    def _scaled(self, block: Block) -> Block:
        if self._scale is None:
            return block
        return replace(block, matrix=to_host(block.matrix) * self._scale[block.start : block.stop])


def _check(block: Block) -> None:
    if not np.isfinite(to_host(block.matrix)).all():
        raise LinearSystemError(
            "The linear system holds NaN or infinity. Check coefficients and widths of kernels."
        )


def _stacked(
    blocks: list[tuple[Block, int]], sizes: list[int], sums: int
) -> tuple[FloatArray, _Rows]:
    """Return blocks over groups of those sizes; heavy rows first keep Householder's QR accurate."""
    blocks = sorted(blocks, key=lambda item: -item[0].weight)
    width, count = sum(sizes) + sums * len(sizes), sum(block.rows for block, _ in blocks)
    # In LAPACK's order, which then needs no copy.
    matrix = np.zeros((count, width), order="F")
    places, weights = np.empty(count, dtype=np.int64), np.empty(count)
    first = 0
    for block, place in blocks:
        own, start = slice(first, first + block.rows), 0
        host = to_host(block.matrix)
        for i, size in enumerate(sizes):
            part = host[:, start : start + size]
            at = start + i * sums
            np.multiply(part, block.weight, out=matrix[own, at : at + size])
            start += size
        places[own] = np.arange(place, place + block.rows)
        weights[own] = block.weight
        first += block.rows
    return matrix, _Rows(places, weights, held=True)


def _long_rows(block: Block, place: int, edges: tuple[int, ...]) -> list[_Long]:
    """Return the rows of a block that covers more than two groups.

    A chain of n links of weight q with the best sums between them counts like one row of weight
    q / sqrt(n): there is one link per group, one that starts at zero, and none to spare.
    """
    out = []
    for r, row in enumerate(to_host(block.padded(edges[-1]))):
        norm = float(np.linalg.norm(row)) or 1.0
        weight = block.weight * norm * math.sqrt(len(edges))
        out.append(_Long(row / norm, norm, place + r, weight))
    return out


def _ends(long: list[_Long], edges: tuple[int, ...], group: int) -> tuple[FloatArray, _Rows]:
    """Return the rows that start the running sums at zero, or close them in the last group."""
    size, count = edges[group + 1] - edges[group], len(long)
    matrix = np.zeros((0, size + count))
    places, weights = np.zeros(0, dtype=np.int64), np.zeros(0)
    if group == 0:
        matrix = np.hstack([np.zeros((count, size)), np.diag([link.weight for link in long])])
        places, weights = np.full(count, -1), np.zeros(count)
    elif group == len(edges) - 2:
        matrix = np.zeros((count, size + count))
        for r, link in enumerate(long):
            matrix[r, :size] = link.weight * link.row[edges[group] :]
            matrix[r, size + r] = link.weight
        places = np.array([link.place for link in long], dtype=np.int64)
        weights = np.array([link.weight / link.norm for link in long])
    return matrix.reshape(-1, size + count), _Rows(places, weights)


def _links(long: list[_Long], edges: tuple[int, ...], group: int) -> tuple[FloatArray, _Rows]:
    """Return the ties: sum before the next group = sum before this one + the terms of this one."""
    size, following, count = *np.diff(edges[group : group + 3]), len(long)
    matrix = np.zeros((count, size + following + 2 * count))
    for r, link in enumerate(long):
        matrix[r, :size] = link.weight * link.row[edges[group] : edges[group + 1]]
        matrix[r, size + r], matrix[r, size + count + following + r] = link.weight, -link.weight
    return matrix, _Rows(np.full(count, -1), np.zeros(count))


def _joined(
    head: tuple[FloatArray, _Rows], rows: tuple[FloatArray, _Rows]
) -> tuple[FloatArray, _Rows]:
    """Return rows with others on top."""
    if not len(head[1].places):
        return rows
    return np.concatenate([head[0], rows[0]]), _Rows(
        np.concatenate([head[1].places, rows[1].places]),
        np.concatenate([head[1].weights, rows[1].weights]),
    )


def _substituted(state: _State, rotated: list[FloatArray]) -> FloatArray:
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


def _facts(state: _State, weights: FloatArray, rhs: FloatArray) -> Facts:
    diagonals = []
    for stage, size in zip(state.stages, state.sizes, strict=True):
        last = stage.first if stage.second is None else stage.second
        diagonal = np.zeros(size + state.sums)
        found = np.abs(np.diagonal(last.packed))[: len(diagonal)]
        diagonal[: len(found)] = found
        diagonals.append(diagonal)
    # Running sums are pivots too: a zero among them is a direction that no row determines.
    every, sums = np.concatenate(diagonals), state.sums * len(state.sizes)
    largest, smallest = float(np.max(every)), float(np.min(every))
    condition = largest / smallest if smallest > 0 else math.inf
    rank = max(0, int(np.sum(every > _SINGULAR * largest)) - sums)
    dead = int(np.sum(every == 0))
    return Facts(rank, condition, dead, _residual_norm(state.system, weights, rhs))


def _residual_norm(system: LinearSystem, weights: FloatArray, rhs: FloatArray) -> float:
    total, place = 0.0, 0
    for block in system.blocks:
        there = to_host(block.matrix) @ weights[block.start : block.stop]
        miss = block.weight * (there - rhs[place : place + block.rows])
        total += float(miss @ miss)
        place += block.rows
    return math.sqrt(total)
