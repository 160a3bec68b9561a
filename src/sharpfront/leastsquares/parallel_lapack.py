"""LAPACK on all cores: SciPy's own routines, called without the interpreter's lock.

`scipy.linalg` holds the lock in these, so that threads would wait for each other.
Arrays are doubles in Fortran's order and are overwritten.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import LinearSystemError
from sharpfront.rounding import EPS

_LEFT, _TRANSPOSED, _PLAIN, _UPPER, _LOWER = b"L", b"T", b"N", b"U", b"L"


@cache
def _routine(name: str) -> Any:
    """Return a routine of LAPACK or BLAS that SciPy offers to compiled code."""
    from scipy.linalg import cython_blas, cython_lapack

    offered: dict[str, Any] = {**cython_blas.__pyx_capi__, **cython_lapack.__pyx_capi__}
    capsule = offered[name]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    signature = api.PyCapsule_GetName(capsule)
    # Calls by such a prototype let go of the lock.
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (signature.count(b",") + 1))
    return prototype(api.PyCapsule_GetPointer(capsule, signature))


@lru_cache(maxsize=1024)
def _number(value: int) -> Any:
    """Return a number as Fortran takes it; no routine changes one."""
    return ctypes.byref(ctypes.c_int(value))


def _called(name: str, *arguments: bytes | int | FloatArray) -> int:
    """Call a routine of LAPACK; return its last argument, whether it went well."""
    info = ctypes.c_int(0)
    _routine(name)(*_passed(name, arguments), ctypes.byref(info))
    if info.value < 0:
        raise LinearSystemError(f"LAPACK's {name} refused its argument {-info.value}.")
    return info.value


def _passed(name: str, arguments: Sequence[bytes | int | float | FloatArray]) -> list[Any]:
    """Return arguments as Fortran takes them."""
    passed: list[Any] = []
    for argument in arguments:
        if isinstance(argument, bytes):
            passed.append(argument)
        elif isinstance(argument, int):
            passed.append(_number(argument))
        elif isinstance(argument, float):
            passed.append(ctypes.byref(ctypes.c_double(argument)))
        elif argument.flags.f_contiguous and argument.dtype == np.float64:
            passed.append(argument.__array_interface__["data"][0])
        else:
            raise ValueError(f"{name} takes doubles in Fortran's order, got {argument.flags}")
    return passed


def reduce_below(
    upper: FloatArray, below: FloatArray, top: FloatArray, bottom: FloatArray, block: int
) -> None:
    """Reduce rows (m, n) below a triangle (n, n) to zero, and rotate what is beside both along.

    Beside them stand (n, k) and (m, k); so many columns are worked on at a time.
    """
    (m, n), k = below.shape, top.shape[1]
    if not (m and n):
        return
    t, work = np.empty((block, n), order="F"), np.empty(block * max(n, k))
    _called("dtpqrt", m, n, 0, block, upper, n, below, m, t, block, work)
    if k:
        sizes = (m, k, n, 0, block)
        _called(
            "dtpmqrt", *(_LEFT, _TRANSPOSED), *sizes, *(below, m, t, block, top, n, bottom, m), work
        )


def reflect(matrix: FloatArray, block: int) -> None:
    """Overwrite rows (m, n) by R above Householder's reflectors, so many columns at a time."""
    m, n = matrix.shape
    if m and n:
        room = block * n
        _called("dgeqrf", m, n, matrix, m, np.empty(min(m, n)), np.empty(room), room)


def solve_triangle(triangle: FloatArray, rhs: FloatArray, *, lower: bool = False) -> None:
    """Overwrite right-hand sides, (n, k), by the solution for a triangle.

    A zero on its diagonal, of what no row determines, is taken for rounding: noise then grows
    beyond all bounds, which is how that is found. LAPACK by itself would leave all as it is.
    """
    n, k = rhs.shape
    side = _LOWER if lower else _UPPER
    if n and k and _called("dtrtrs", side, _PLAIN, _PLAIN, n, k, triangle, n, rhs, n):
        # A triangle with rounding in the place of zeros on its diagonal.
        held = triangle.copy(order="F")
        diagonal = np.diagonal(held)
        least = EPS * (float(np.abs(diagonal).max()) or 1.0)
        np.fill_diagonal(held, np.where(diagonal == 0, least, diagonal))
        _called("dtrtrs", side, _PLAIN, _PLAIN, n, k, held, n, rhs, n)


def factor_cholesky(matrix: FloatArray) -> bool:
    """Overwrite the lower half of a symmetric matrix by its factor; tell whether it has one."""
    n = len(matrix)
    return _called("dpotrf", _LOWER, n, matrix, n) == 0


def add_gram(matrix: FloatArray, rows: FloatArray, factor: float) -> None:
    """Add a factor times rows^T rows, (m, n), to the lower half of a matrix (n, n)."""
    m, n = rows.shape
    if m and n:
        sizes = (_LOWER, _TRANSPOSED, n, m)
        _routine("dsyrk")(*_passed("dsyrk", (*sizes, factor, rows, m, 1.0, matrix, n)))
