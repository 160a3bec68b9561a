"""Dense least squares: pivoted QR and SVD, with exact rows eliminated first.

Written against the array API. Exact rows ``C w = g`` are satisfied by w = w0 + Z v, where the
columns of Z span the null space of C, and least squares is left for v.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sharpfront.arrays import Array, namespace, pivoted_qr, solve_triangular
from sharpfront.assemble import Block, LinearSystem
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.leastsquares.contract import Facts

_ROUNDING = 2.0**-52


@dataclass(frozen=True, eq=False)
class _Exact:
    """The exact rows C, by their SVD: right vectors split into range and null space."""

    left: Array
    values: Array
    right: Array
    null: Array
    rank: int

    def particular(self, g: Array) -> Array:
        """Return the smallest w with C w = g."""
        return self.right @ ((self.left.T @ g) / self.values)

    def contradiction(self, g: Array) -> float:
        """Return how much of g no w can reach, relative to g."""
        xp = namespace(g)
        missing = g - self.left @ (self.left.T @ g)
        size = float(xp.linalg.vector_norm(g))
        return float(xp.linalg.vector_norm(missing)) / size if size else 0.0


@dataclass(frozen=True, eq=False)
class _State:
    """What both dense methods share between `factor` and `solve`."""

    system: LinearSystem
    exact: _Exact | None
    soft: Array
    scale: Array
    dead: int
    factors: tuple[Any, ...]
    rank: int
    condition: float


def _stacked(blocks: list[Block]) -> Array:
    xp = namespace(blocks[0].matrix)
    return xp.concat([block.weight * block.matrix for block in blocks], axis=0)


def _check(matrix: Array) -> None:
    xp = namespace(matrix)
    if not bool(xp.all(xp.isfinite(matrix))):
        raise LinearSystemError(
            "The linear system holds NaN or infinity. Check coefficients and widths of kernels."
        )


def _eliminated(system: LinearSystem) -> _Exact | None:
    rows = [b for b in system.blocks if b.exact and b.rows]
    if not rows:
        return None
    matrix = _stacked(rows)
    _check(matrix)
    xp = namespace(matrix)
    left, values, right = xp.linalg.svd(matrix, full_matrices=True)
    small = max(matrix.shape) * _ROUNDING * float(xp.max(values))
    rank = int(xp.sum(xp.astype(values > small, xp.int64)))
    return _Exact(left[:, :rank], values[:rank], right[:rank, :].T, right[rank:, :].T, rank)


def _column_norms(matrix: Array) -> Array:
    xp = namespace(matrix)
    largest = xp.max(xp.abs(matrix)) if matrix.shape[0] else xp.sum(matrix)
    safe = xp.where(largest > 0, largest, xp.ones_like(largest))
    # Dividing first keeps squares of tiny entries from underflowing.
    return safe * xp.sqrt(xp.sum((matrix / safe) ** 2, axis=0))


def _prepare(system: LinearSystem, equilibrate: bool) -> tuple[_Exact | None, Array, Array, int]:
    exact = _eliminated(system)
    soft = _stacked([b for b in system.blocks if not b.exact] or [_no_rows(system)])
    _check(soft)
    xp = namespace(soft)
    norms = _column_norms(soft)
    largest = float(xp.max(norms)) if system.columns else 0.0
    dead = int(xp.sum(xp.astype(norms <= _ROUNDING * largest, xp.int64)))
    reduced = soft if exact is None else soft @ exact.null
    scale = xp.ones(reduced.shape[1], dtype=reduced.dtype)
    if equilibrate:
        norms = _column_norms(reduced)
        scale = xp.where(norms > 0, 1 / xp.where(norms > 0, norms, scale), scale)
    return exact, soft, scale, dead


def _no_rows(system: LinearSystem) -> Block:
    block = system.blocks[0]
    return Block("empty", block.matrix[:0, :], block.rhs[:0])


def _finish(state: _State, rhs: Array, reduced_solution: Any) -> tuple[Array, Outcome, Facts]:
    """Split the right-hand side, solve both parts, and say how it went."""
    xp = namespace(rhs)
    soft_rhs, exact_rhs = _split(state.system, rhs)
    if state.exact is None:
        weights = state.scale * reduced_solution(soft_rhs)
        contradiction = 0.0
    else:
        start = state.exact.particular(exact_rhs)
        v = state.scale * reduced_solution(soft_rhs - state.soft @ start)
        weights = start + state.exact.null @ v
        contradiction = state.exact.contradiction(exact_rhs)
    norm = float(xp.linalg.vector_norm(state.soft @ weights - soft_rhs))
    facts = Facts(state.rank, state.condition, state.dead, norm)
    return weights, _outcome(state, contradiction), facts


def _outcome(state: _State, contradiction: float) -> Outcome:
    if contradiction > 1e-8:
        return Outcome(
            OutcomeKind.ILL_POSED,
            f"Exact rows contradict each other (a part {contradiction:.1e} of their data).",
        )
    if state.rank < state.system.columns:
        return Outcome(
            OutcomeKind.NEAR_SINGULAR, f"Rank {state.rank} of {state.system.columns} columns."
        )
    return Outcome(OutcomeKind.CONVERGED, "Full rank.")


def _split(system: LinearSystem, rhs: Array) -> tuple[Array, Array]:
    xp = namespace(rhs)
    soft, exact, start = [rhs[:0]], [rhs[:0]], 0
    for block in system.blocks:
        part = block.weight * rhs[start : start + block.rows]
        (exact if block.exact else soft).append(part)
        start += block.rows
    if start != rhs.shape[0]:
        raise LinearSystemError(f"The system has {start} rows, the right-hand side {rhs.shape[0]}.")
    return xp.concat(soft), xp.concat(exact)


@dataclass(frozen=True)
class PivotedQR:
    """Rank-revealing QR with column pivoting; columns beyond the rank get weight zero.

    Parameters
    ----------
    cutoff
        Diagonal entries of R below this part of the largest one count as zero.
    equilibrate
        Scale columns to unit norm first.
    """

    cutoff: float = 1e-15
    equilibrate: bool = True

    def factor(self, system: LinearSystem) -> _State:
        """Return the factorisation of the system's rows."""
        exact, soft, scale, dead = _prepare(system, self.equilibrate)
        xp = namespace(soft)
        q, r, order = pivoted_qr((soft if exact is None else soft @ exact.null) * scale[None, :])
        diagonal = xp.abs(xp.linalg.diagonal(r))
        largest = float(diagonal[0]) if diagonal.shape[0] else 0.0
        rank = int(xp.sum(xp.astype(diagonal > self.cutoff * largest, xp.int64)))
        smallest = float(diagonal[rank - 1]) if rank else 0.0
        condition = largest / smallest if rank and rank == r.shape[1] else math.inf
        total = rank + (exact.rank if exact else 0)
        return _State(system, exact, soft, scale, dead, (q, r, order, rank), total, condition)

    def solve(self, state: _State, rhs: Array) -> tuple[Array, Outcome, Facts]:
        """Return weights, outcome and facts."""
        q, r, order, rank = state.factors

        def reduced(b: Array) -> Array:
            xp = namespace(b)
            solved = solve_triangular(r[:rank, :rank], q[:, :rank].T @ b)
            padded = xp.concat([solved, xp.zeros(r.shape[1] - rank, dtype=b.dtype)])
            inverse = sorted(range(len(order)), key=order.__getitem__)
            return xp.take(padded, xp.asarray(inverse, dtype=xp.int64), axis=0)

        return _finish(state, rhs, reduced)


@dataclass(frozen=True)
class SVD:
    """The pseudo-inverse: weights of least norm, singular values below the cutoff dropped.

    Parameters
    ----------
    cutoff
        Relative to the largest singular value; None for max(m, n) times rounding, as `lstsq` has.
    equilibrate
        Scale columns to unit norm first; off, because it changes what "least norm" means.
    """

    cutoff: float | None = None
    equilibrate: bool = False

    def factor(self, system: LinearSystem) -> _State:
        """Return the factorisation of the system's rows."""
        exact, soft, scale, dead = _prepare(system, self.equilibrate)
        matrix = (soft if exact is None else soft @ exact.null) * scale[None, :]
        xp = namespace(matrix)
        u, values, vt = xp.linalg.svd(matrix, full_matrices=False)
        largest = float(values[0]) if values.shape[0] else 0.0
        cutoff = max(matrix.shape) * _ROUNDING if self.cutoff is None else self.cutoff
        rank = int(xp.sum(xp.astype(values > cutoff * largest, xp.int64)))
        full = values.shape[0] == matrix.shape[1] and values.shape[0] > 0
        smallest = float(values[-1]) if full else 0.0
        condition = largest / smallest if smallest > 0 else math.inf
        total = rank + (exact.rank if exact else 0)
        factors = (u[:, :rank], values[:rank], vt[:rank, :])
        return _State(system, exact, soft, scale, dead, factors, total, condition)

    def solve(self, state: _State, rhs: Array) -> tuple[Array, Outcome, Facts]:
        """Return weights, outcome and facts."""
        u, values, vt = state.factors
        return _finish(state, rhs, lambda b: vt.T @ ((u.T @ b) / values))
