"""Dense least squares: pivoted QR and SVD, with exact rows eliminated first.

Written against the array API. With columns scaled by D, exact rows ``C w = g`` are satisfied by
w = D (w0 + Z v), where the columns of Z span the null space of C D, and least squares is left for
v. Scaling comes first: Z mixes columns, and one much smaller than the others would drown in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sharpfront.arrays import Array, namespace, pivoted_qr, solve_triangular, take, zeros
from sharpfront.assemble import LinearSystem
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.leastsquares.contract import Facts

_ROUNDING = 2.0**-52
# A norm below this counts as zero, so that its inverse stays finite.
_NOTHING = 1e-300


@dataclass(frozen=True, eq=False)
class _Exact:
    """The exact rows C, by the SVD of C with unit rows: right vectors of range and null space.

    Unit rows, because an exact row must hold however small it is beside the others.
    """

    norms: Array
    left: Array
    values: Array
    right: Array
    null: Array
    rank: int

    def particular(self, g: Array) -> Array:
        """Return the smallest w with C w = g."""
        return self.right @ ((self.left.T @ (g / self.norms)) / self.values)

    def contradiction(self, g: Array) -> float:
        """Return how much of g no w can reach, relative to g."""
        xp = namespace(g)
        unit = g / self.norms
        missing = unit - self.left @ (self.left.T @ unit)
        size = float(xp.linalg.vector_norm(unit))
        return float(xp.linalg.vector_norm(missing)) / size if size else 0.0

    @property
    def condition(self) -> float:
        """Ratio of the extreme singular values that count."""
        return float(self.values[0]) / float(self.values[-1]) if self.rank else 1.0


@dataclass(frozen=True, eq=False)
class _Rows:
    """The weighted rows with scaled columns; `reduced` are the soft rows times the null space.

    `size` is the largest norm of a soft column: what the reduced rows are small beside when exact
    rows leave them nothing but rounding.
    """

    system: LinearSystem
    exact: _Exact | None
    soft: Array
    reduced: Array
    scale: Array
    size: float
    dead: int


@dataclass(frozen=True, eq=False)
class _State:
    """What both dense methods share between `factor` and `solve`."""

    rows: _Rows
    factors: tuple[Any, ...]
    rank: int
    condition: float


def _prepare(system: LinearSystem, equilibrate: bool) -> _Rows:
    hard = _stacked(system, exact=True)
    soft = _stacked(system, exact=False)
    _check(hard)
    _check(soft)
    xp = namespace(soft)
    fitted, held = _norms(soft, 0), _norms(hard, 0)
    norms = xp.maximum(fitted, held)
    dead = int(xp.sum(xp.astype(norms <= _ROUNDING * xp.max(norms), xp.int64)))
    scale = zeros((system.columns,), soft) + 1
    if equilibrate:
        scale = 1 / _safe(xp.where(fitted > _NOTHING, fitted, held))
    soft = soft * scale[None, :]
    exact = _eliminated(hard * scale[None, :]) if hard.shape[0] else None
    reduced = soft if exact is None else soft @ exact.null
    return _Rows(system, exact, soft, reduced, scale, float(xp.max(_norms(soft, 0))), dead)


def _stacked(system: LinearSystem, exact: bool) -> Array:
    blocks = [b for b in system.blocks if b.exact == exact]
    # The empty part at the front keeps the number of columns where there is no block.
    none = zeros((0, system.columns), system.blocks[0].matrix)
    parts = [none, *(b.weight * b.padded(system.columns) for b in blocks)]
    return namespace(parts[0]).concat(parts, axis=0)


def _check(array: Array) -> None:
    xp = namespace(array)
    if not bool(xp.all(xp.isfinite(array))):
        raise LinearSystemError(
            "The linear system holds NaN or infinity. Check coefficients and widths of kernels."
        )


def _norms(matrix: Array, axis: int) -> Array:
    """Return the norms of columns (axis 0) or rows (axis 1)."""
    xp = namespace(matrix)
    if not matrix.shape[axis]:
        return xp.sum(matrix, axis=axis)
    largest = _safe(xp.max(xp.abs(matrix), axis=axis, keepdims=True))
    # Dividing first keeps squares of tiny entries from underflowing.
    squares = xp.sum((matrix / largest) ** 2, axis=axis)
    return xp.squeeze(largest, axis=axis) * xp.sqrt(squares)


def _safe(norms: Array) -> Array:
    """Return norms to divide by: one in place of nothing."""
    xp = namespace(norms)
    return xp.where(norms > _NOTHING, norms, xp.ones_like(norms))


def _eliminated(matrix: Array) -> _Exact:
    xp = namespace(matrix)
    norms = _safe(_norms(matrix, 1))
    left, values, right = xp.linalg.svd(matrix / norms[:, None], full_matrices=True)
    small = max(matrix.shape) * _ROUNDING * float(values[0])
    rank = int(xp.sum(xp.astype(values > small, xp.int64)))
    return _Exact(norms, left[:, :rank], values[:rank], right[:rank, :].T, right[rank:, :].T, rank)


def _rank(rows: _Rows, values: Array, cutoff: float | None) -> int:
    """Return how many of the values are more than that part of the largest one."""
    xp = namespace(values)
    if cutoff is None:
        cutoff = max(rows.soft.shape) * _ROUNDING
    return int(xp.sum(xp.astype(values > cutoff * _largest(rows, values), xp.int64)))


def _largest(rows: _Rows, values: Array) -> float:
    return max(rows.size, float(values[0])) if values.shape[0] else rows.size


def _state(rows: _Rows, factors: tuple[Any, ...], values: Array, rank: int) -> _State:
    """Return the state whose reduced rows have these values, descending, and this rank."""
    exact = rows.exact
    condition = exact.condition if exact else 1.0
    if columns := rows.reduced.shape[1]:
        smallest = float(values[-1]) if values.shape[0] == columns else 0.0
        ratio = _largest(rows, values) / smallest if smallest > 0 else math.inf
        condition = max(condition, ratio)
    return _State(rows, factors, rank + (exact.rank if exact else 0), condition)


def _finish(
    state: _State, rhs: Array, fit: Callable[[Array], Array]
) -> tuple[Array, Outcome, Facts]:
    """Split the right-hand side, solve both parts, and say how it went."""
    xp = namespace(rhs)
    _check(rhs)
    rows = state.rows
    soft_rhs, exact_rhs = _split(rows.system, rhs)
    contradiction = 0.0
    if rows.exact is None:
        scaled = fit(soft_rhs)
    else:
        start = rows.exact.particular(exact_rhs)
        scaled = start + rows.exact.null @ fit(soft_rhs - rows.soft @ start)
        contradiction = rows.exact.contradiction(exact_rhs)
    norm = float(xp.linalg.vector_norm(rows.soft @ scaled - soft_rhs))
    facts = Facts(state.rank, state.condition, rows.dead, norm)
    return rows.scale * scaled, _outcome(state, contradiction), facts


def _outcome(state: _State, contradiction: float) -> Outcome:
    columns = state.rows.system.columns
    if contradiction > 1e-8:
        return Outcome(
            OutcomeKind.ILL_POSED,
            f"Exact rows contradict each other (a part {contradiction:.1e} of their data).",
        )
    if state.rank < columns:
        return Outcome(OutcomeKind.NEAR_SINGULAR, f"Rank {state.rank} of {columns} columns.")
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
    """Rank-revealing QR with column pivoting; columns beyond the rank get weight zero."""

    # Diagonal entries of R below this part of the largest one count as zero; None for max(m, n)
    # times rounding. Columns kept below that are noise: a random 900 x 300 matrix of rank 100 has
    # 18 diagonal entries above 1e-15 too many, and weights of 1e12 from them.
    cutoff: float | None = None
    equilibrate: bool = True  # scale columns to unit norm first

    def factor(self, system: LinearSystem) -> _State:
        """Return the factorisation of the system's rows."""
        rows = _prepare(system, self.equilibrate)
        q, r, order = pivoted_qr(rows.reduced)
        xp = namespace(r)
        diagonal = xp.abs(xp.linalg.diagonal(r))
        rank = _rank(rows, diagonal, self.cutoff)
        inverse = sorted(range(len(order)), key=order.__getitem__)
        return _state(rows, (q[:, :rank], r[:rank, :rank], inverse), diagonal, rank)

    def solve(self, state: _State, rhs: Array) -> tuple[Array, Outcome, Facts]:
        """Return weights, outcome and facts."""
        q, r, inverse = state.factors

        def fit(b: Array) -> Array:
            solved = solve_triangular(r, q.T @ b)
            padding = zeros((len(inverse) - r.shape[1],), b)
            return take(namespace(b).concat([solved, padding]), inverse)

        return _finish(state, rhs, fit)


@dataclass(frozen=True)
class SVD:
    """The pseudo-inverse: weights of least norm, singular values below the cutoff dropped."""

    # Relative to the largest singular value; None for max(m, n) times rounding, as `lstsq` has.
    cutoff: float | None = None
    # Scale columns to unit norm first; off, because it changes what "least norm" means.
    equilibrate: bool = False

    def factor(self, system: LinearSystem) -> _State:
        """Return the factorisation of the system's rows."""
        rows = _prepare(system, self.equilibrate)
        u, values, vt = namespace(rows.reduced).linalg.svd(rows.reduced, full_matrices=False)
        rank = _rank(rows, values, self.cutoff)
        return _state(rows, (u[:, :rank], values[:rank], vt[:rank, :]), values, rank)

    def solve(self, state: _State, rhs: Array) -> tuple[Array, Outcome, Facts]:
        """Return weights, outcome and facts."""
        u, values, vt = state.factors
        return _finish(state, rhs, lambda b: vt.T @ ((u.T @ b) / values))
