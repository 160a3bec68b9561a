"""The contract of a least-squares method: factor once, solve for many right-hand sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from sharpfront.arrays import Array, FloatArray
from sharpfront.errors import LinearSystemError, Outcome


@dataclass(frozen=True)
class Facts:
    """What a factorisation knows of its matrix."""

    rank: int  # numerical rank of the rows
    # Condition number as the method sees it: the ratio of extreme singular values, or of the
    # extreme diagonal entries of R.
    condition: float
    # Columns that are zero to rounding beside the largest one: kernels that see no row.
    dead_columns: int
    residual_norm: float  # euclidean norm of the weighted least-squares residual


class LeastSquares(Protocol):
    """Two functions; the method itself holds only its settings."""

    def factor(self, system: Any) -> Any:
        """Return whatever `solve` needs of the matrix."""

    def solve(self, state: Any, rhs: Array) -> tuple[Array, Outcome, Facts]:
        """Return weights (columns,), an outcome and facts for ``rhs`` as `LinearSystem.rhs`."""


def solution_of(method: LeastSquares, system: Any) -> tuple[Array, Outcome, Facts]:
    """Return weights, outcome and facts of a system with its own right-hand side.

    A method that keeps less where there is no other has a function `once`.
    """
    once: Callable[[Any], tuple[Array, Outcome, Facts]] | None = getattr(method, "once", None)
    if once is not None:
        return once(system)
    return method.solve(method.factor(system), system.rhs)


def infinite() -> LinearSystemError:
    """Return the refusal of a matrix that is not finite."""
    return LinearSystemError(
        "The linear system holds NaN or infinity. Check coefficients and widths of kernels."
    )


@runtime_checkable
class ManySided(Protocol):
    """A method that solves for many right-hand sides at once."""

    def factor(self, system: Any) -> Any:
        """Return whatever `columns` needs of the matrix."""

    def columns(self, state: Any, rhs: FloatArray) -> FloatArray:
        """Return weights (columns, k) for right-hand sides (rows, k)."""

    def transposed(self, state: Any, values: FloatArray) -> FloatArray:
        """Return l (rows,) with l . rhs = values . weights for every right-hand side."""
