"""The one file that names an array library.

Kernels, bases, assembly and dense least squares are written against the array API standard and
get everything that the standard lacks from here: conversion to and from NumPy, pivoted QR,
triangular solves, and the number of BLAS threads.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import array_api_compat
import numpy as np
import scipy.linalg
from numpy.typing import NDArray

# Arrays of any library that follows the standard; there is no common static type yet.
Array = Any
Host = NDArray[np.float64]


def namespace(*arrays: Array) -> Any:
    """Return the array API namespace that the arrays belong to."""
    return array_api_compat.array_namespace(*arrays)


def to_host(array: Array) -> Host:
    """Return the array as a NumPy array of doubles."""
    if isinstance(array, np.ndarray):
        return np.asarray(array, dtype=float)
    if hasattr(array, "detach"):
        array = array.detach()
    if array_api_compat.is_array_api_obj(array) and str(array_api_compat.device(array)) != "cpu":
        array = array_api_compat.to_device(array, "cpu")
    return np.asarray(array, dtype=float)


def like(values: Any, example: Array) -> Array:
    """Return host values as an array of the library, type and device of the example."""
    if isinstance(example, np.ndarray):
        return np.asarray(values, dtype=example.dtype)
    xp = namespace(example)
    return xp.asarray(
        np.asarray(values, dtype=float).tolist(),
        dtype=example.dtype,
        device=array_api_compat.device(example),
    )


def pivoted_qr(matrix: Array) -> tuple[Array, Array, list[int]]:
    """Return Q (m, r), R (r, n) and the column order with ``matrix[:, order] = Q R``.

    LAPACK's column pivoting where the array is NumPy's; elsewhere a plain QR on the device and
    the pivoting on its small triangular factor on the host.
    """
    if isinstance(matrix, np.ndarray):
        q, r, order = scipy.linalg.qr(matrix, mode="economic", pivoting=True, check_finite=False)
        return q, r, [int(i) for i in order]
    xp = namespace(matrix)
    q, r = xp.linalg.qr(matrix)
    q2, r2, order = scipy.linalg.qr(to_host(r), mode="economic", pivoting=True)
    return q @ like(q2, matrix), like(r2, matrix), [int(i) for i in order]


def solve_triangular(upper: Array, rhs: Array) -> Array:
    """Return the solution of ``upper @ x = rhs`` for an upper triangular matrix."""
    if isinstance(upper, np.ndarray):
        return scipy.linalg.solve_triangular(upper, rhs, check_finite=False)
    return namespace(upper, rhs).linalg.solve(upper, rhs)


@functools.cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """Run the block with that many BLAS threads.

    The systems here are small and tall: on a shared machine two threads were measured ten times
    slower than one on 900 x 300 matrices, so the solver asks for one.
    """
    with _controller().limit(limits=count, user_api="blas"):
        yield
