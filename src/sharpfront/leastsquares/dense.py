"""The pseudo-inverse of a dense system, by its singular values. Written against the array API."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sharpfront.arrays import Array, namespace, zeros
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.kernels.assemble import LinearSystem
from sharpfront.leastsquares.contract import Facts, infinite
from sharpfront.rounding import TINY

_ROUNDING = 2.0**-52


@dataclass(frozen=True, eq=False)
class _DenseState:
    """The weighted rows, and the singular values that count with their vectors."""

    system: LinearSystem
    rows: Array
    left: Array
    values: Array
    right: Array
    condition: float
    dead: int


@dataclass(frozen=True)
class SVD:
    """The pseudo-inverse: weights of least norm, singular values below the cutoff dropped."""

    # Relative to the largest singular value; None for max(m, n) times rounding, as `lstsq` has.
    cutoff: float | None = None

    def factor(self, system: LinearSystem) -> _DenseState:
        """Return the factorisation of the system's rows."""
        none = zeros((0, system.columns), system.blocks[0].matrix)
        parts = [none, *(b.weight * b.padded(system.columns) for b in system.blocks)]
        rows = namespace(none).concat(parts, axis=0)
        _check(rows)
        xp = namespace(rows)
        norms = _column_norms(rows)
        dead = int(xp.sum(xp.astype(norms <= _ROUNDING * xp.max(norms), xp.int64)))
        u, values, vt = xp.linalg.svd(rows, full_matrices=False)
        largest = max(float(xp.max(norms)), float(values[0]) if values.shape[0] else 0.0)
        cutoff = max(rows.shape) * _ROUNDING if self.cutoff is None else self.cutoff
        rank = int(xp.sum(xp.astype(values > cutoff * largest, xp.int64)))
        smallest = float(values[-1]) if values.shape[0] == system.columns else 0.0
        condition = largest / smallest if smallest > 0 else math.inf
        return _DenseState(system, rows, u[:, :rank], values[:rank], vt[:rank, :], condition, dead)

    def solve(self, state: _DenseState, rhs: Array) -> tuple[Array, Outcome, Facts]:
        """Return weights, outcome and facts."""
        _check(rhs)
        xp, weighted = namespace(rhs), _weighted(state.system, rhs)
        found = state.right.T @ ((state.left.T @ weighted) / state.values)
        rank, columns = int(state.values.shape[0]), state.system.columns
        outcome = Outcome(OutcomeKind.CONVERGED, "Full rank.")
        if rank < columns:
            outcome = Outcome(OutcomeKind.NEAR_SINGULAR, f"Rank {rank} of {columns} columns.")
        norm = float(xp.linalg.vector_norm(state.rows @ found - weighted))
        return found, outcome, Facts(rank, state.condition, state.dead, norm)


def _check(array: Array) -> None:
    xp = namespace(array)
    if not bool(xp.all(xp.isfinite(array))):
        raise infinite()


def _column_norms(matrix: Array) -> Array:
    xp = namespace(matrix)
    if not matrix.shape[0]:
        return xp.sum(matrix, axis=0)
    largest = xp.max(xp.abs(matrix), axis=0, keepdims=True)
    largest = xp.where(largest > TINY, largest, xp.ones_like(largest))
    # Dividing first keeps squares of tiny entries from underflowing.
    squares = xp.sum((matrix / largest) ** 2, axis=0)
    return xp.squeeze(largest, axis=0) * xp.sqrt(squares)


def _weighted(system: LinearSystem, rhs: Array) -> Array:
    """Return the right-hand side with each block's weight."""
    parts, start = [rhs[:0]], 0
    for block in system.blocks:
        parts.append(block.weight * rhs[start : start + block.rows])
        start += block.rows
    if start != rhs.shape[0]:
        raise LinearSystemError(f"The system has {start} rows, the right-hand side {rhs.shape[0]}.")
    return namespace(rhs).concat(parts)
