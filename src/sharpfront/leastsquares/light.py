"""Matrices that are few numbers times what many leaves share: made whenever they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Scaled:
    """Rows that come in equal parts, each with a factor."""

    factors: tuple[float, ...]
    rows: FloatArray  # (m, n)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    @property
    def size(self) -> int:
        """How many numbers it takes."""
        return len(self.factors)

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        """Return the rows, (m, n)."""
        each = np.repeat(self.factors, len(self.rows) // len(self.factors))
        return np.asarray(each[:, None] * self.rows)


@dataclass(frozen=True, eq=False)
class Summed:
    """A square matrix with few entries: the sum of some, each with a factor."""

    factors: FloatArray  # (k,)
    entries: FloatArray  # of each, (k, e)
    places: NDArray[np.int64]  # of the entries, columns one after the other
    columns: int

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.columns

    @property
    def size(self) -> int:
        """How many numbers it takes."""
        return len(self.factors)

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        """Return the matrix, (n, n), in Fortran's order."""
        out = np.zeros(self.columns**2)
        out[self.places] = self.factors @ self.entries
        return out.reshape(self.columns, self.columns).T


Matrix = FloatArray | Scaled | Summed


def fresh(matrix: Matrix) -> FloatArray:
    """Return a matrix in Fortran's order that may be overwritten."""
    return np.asarray(matrix) if isinstance(matrix, Summed) else np.array(matrix, order="F")
