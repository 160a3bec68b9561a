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
        # LAPACK refuses a matrix without rows; a row of zeros changes nothing.
        matrix = matrix if len(matrix) else np.zeros((1, matrix.shape[1]))
        self._raw, self._tau = reflected(matrix, overwrite=overwrite)
        # R, with reflectors where it is zero: what reads an upper triangle alone needs no copy.
        self.packed = self._raw[: min(matrix.shape)]

    @property
    def upper(self) -> FloatArray:
        """R, (min(m, n), n)."""
        return np.triu(self.packed)

    def rotated(self, values: FloatArray) -> FloatArray:
        """Return Q* values, (m, k), of values (at most m, k) above zeros."""
        return self._applied(values, turned=True)

    def unrotated(self, values: FloatArray) -> FloatArray:
        """Return Q values, (m, k), of values (at most m, k) above zeros."""
        return self._applied(values, turned=False)

    def _applied(self, values: FloatArray, *, turned: bool) -> FloatArray:
        padded = np.zeros((len(self._raw), values.shape[1]), dtype=self._raw.dtype, order="F")
        padded[: len(values)] = values
        tall, room = self._raw[:, : len(self._tau)], 2 * PANEL * max(1, values.shape[1])
        multiply, how = (dormqr, "T")
        if np.iscomplexobj(tall):
            multiply, how = lapack("unmqr", tall), "C"
        how = how if turned else "N"
        out, _, _ = multiply("L", how, tall, self._tau, padded, room, overwrite_c=True)
        return np.asarray(out)
