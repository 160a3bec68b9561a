"""QR by Householder's reflectors, as LAPACK leaves it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqrf, dormqr, dtpttr, dtrttp, get_lapack_funcs

from sharpfront.arrays import FloatArray
from sharpfront.errors import LinearSystemError

# Columns that LAPACK works on at a time. Given less room it takes fewer: with SciPy's own default,
# three, 590 x 472 take 2.4 times as long.
PANEL = 32
# Columns that add less than this share of the largest to redundant ones add rounding.
RANK = 1e-13


def lapack(name: str, *arrays: NDArray[Any]) -> Any:
    """Return LAPACK's routine of a name for numbers like those of arrays, real or complex."""
    found: Any = get_lapack_funcs((name,), arrays)
    return found[0]


def reflected(matrix: FloatArray, *, overwrite: bool = False) -> tuple[FloatArray, FloatArray]:
    """Return R above the reflectors, and their factors.

    Parameters
    ----------
    matrix
        (m, n); not copied if it is in Fortran's order and may be overwritten.
    overwrite
        Whether it may.
    """
    if not len(matrix):
        return matrix, np.zeros(0)
    room = PANEL * max(1, matrix.shape[1])
    factored = lapack("geqrf", matrix) if np.iscomplexobj(matrix) else dgeqrf
    raw, tau, _, info = factored(matrix, lwork=room, overwrite_a=overwrite)
    if info != 0:
        raise LinearSystemError(f"LAPACK refused the QR factorisation (info = {info}).")
    return raw, tau


def upper_half(raw: FloatArray) -> FloatArray:
    """Return what LAPACK leaves of a triangle without what is below it, in its order."""
    return unpacked(packed_triangle(raw))


def packed_triangle(raw: FloatArray) -> FloatArray:
    """Return the columns of a triangle one after the other, down to the diagonal."""
    return np.asarray(dtrttp(raw)[0])


def unpacked(columns: FloatArray) -> FloatArray:
    """Return a triangle from its columns."""
    n = math.isqrt(2 * len(columns))
    return np.asarray(dtpttr(n, columns)[0])


class Reflection:
    """A QR factorisation, real or complex, whose Q is never formed: cheap to make and to apply."""

    def __init__(self, matrix: FloatArray, *, overwrite: bool = False) -> None:
        self._keep(*reflected(matrix, overwrite=overwrite))

    @classmethod
    def of(cls, raw: FloatArray, tau: FloatArray) -> Reflection:
        """Return what `reflected` has found."""
        found = object.__new__(cls)
        found._keep(raw, tau)
        return found

    def _keep(self, raw: FloatArray, tau: FloatArray) -> None:
        self._raw, self._tau = raw, tau
        # R, with reflectors where it is zero: what reads an upper triangle alone needs no copy.
        self.packed = raw[: min(raw.shape)]

    @property
    def upper(self) -> FloatArray:
        """R, (min(m, n), n)."""
        return np.triu(self.packed)

    def rotated(self, values: FloatArray) -> FloatArray:
        """Return Q* values, (m, k), of values (m, k); fewer stand above zeros."""
        return self._applied(values, turned=True)

    def unrotated(self, values: FloatArray) -> FloatArray:
        """Return Q values, (m, k), of the first m values; fewer stand above zeros."""
        return self._applied(values, turned=False)

    def _applied(self, values: FloatArray, *, turned: bool) -> FloatArray:
        padded = np.zeros((len(self._raw), values.shape[1]), dtype=self._raw.dtype, order="F")
        padded[: len(values)] = values[: len(padded)]
        if not len(self._tau):
            return padded
        tall, room = self._raw[:, : len(self._tau)], 2 * PANEL * max(1, values.shape[1])
        multiply, how = (dormqr, "T")
        if np.iscomplexobj(tall):
            multiply, how = lapack("unmqr", tall), "C"
        how = how if turned else "N"
        out, _, _ = multiply("L", how, tall, self._tau, padded, room, overwrite_c=True)
        return np.asarray(out)


class RankedReflection(Reflection):
    """That of a triangle of which combinations of columns may be zero to rounding.

    Those are left out. Columns are found once all right-hand sides are known: answers to single
    ones may be as large as 1 / RANK and cancel.
    """

    def __init__(self, triangle: FloatArray) -> None:
        sizes = np.linalg.norm(triangle, axis=0)
        self._scale = 1.0 / np.where(sizes > 0, sizes, 1.0)
        scaled = triangle * self._scale
        raw, pivots, tau, _, _ = lapack("geqp3", scaled)(scaled)
        self._keep(raw, tau)
        diagonal = np.abs(np.diagonal(raw))
        self.rank = max(1, int(np.sum(diagonal > RANK * diagonal[0])))
        self._columns = pivots[: self.rank] - 1
        self.triangle = np.triu(raw[: self.rank, : self.rank])

    def columns(self, rows: FloatArray) -> FloatArray:
        """Return the columns from the first `rank` rows, those left out zero."""
        out = np.zeros((len(self._scale), rows.shape[1]), dtype=rows.dtype)
        out[self._columns] = lapack("trtrs", self.triangle, rows)(self.triangle, rows)[0]
        return np.asarray(out * self._scale[:, None])
