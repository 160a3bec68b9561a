"""Legendre polynomials, orthonormal in the mean over [-1, 1]: sqrt(2k + 1) P_k."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sharpfront.arrays import Host


def legendre_table(z: Host, count: int, order: int = 0) -> Host:
    """Return the first polynomials and their derivatives at z, (order + 1, n, count).

    P_(k+1) from the three-term recurrence, P^(m)_(k+1) = (2k + 1) P^(m-1)_k + P^(m)_(k-1).
    """
    out = np.zeros((order + 1, count, len(z)))
    out[0, 0] = 1.0
    if count > 1:
        out[0, 1] = z
        if order:
            out[1, 1] = 1.0
    for k in range(1, count - 1):
        out[0, k + 1] = ((2 * k + 1) * z * out[0, k] - k * out[0, k - 1]) / (k + 1)
        for m in range(1, order + 1):
            out[m, k + 1] = (2 * k + 1) * out[m - 1, k] + out[m, k - 1]
    out *= np.sqrt(2.0 * np.arange(count) + 1.0)[:, None]
    return np.ascontiguousarray(out.transpose(0, 2, 1))


@lru_cache(maxsize=256)
def gauss(count: int) -> tuple[Host, Host]:
    """Return Gauss-Legendre points in [-1, 1] and weights that sum to one."""
    z, w = np.polynomial.legendre.leggauss(count)
    return z, 0.5 * w


@lru_cache(maxsize=512)
def gauss_table(points: int, count: int, order: int) -> Host:
    """Return `legendre_table` at Gauss points, (order + 1, points, count)."""
    return legendre_table(gauss(points)[0], count, order)


@lru_cache(maxsize=256)
def end_table(count: int, order: int) -> Host:
    """Return the polynomials and derivatives at -1 and 1, (order + 1, 2, count)."""
    return legendre_table(np.array([-1.0, 1.0]), count, order)


@lru_cache(maxsize=256)
def derivative_matrix(count: int, order: int) -> Host:
    """Return the weights of the polynomials' derivatives, (count, count): an upper triangle.

    P'_n = sum of (2k + 1) P_k over k = n - 1, n - 3, ...
    """
    if order == 0:
        return np.eye(count)
    gap = np.arange(count)[None, :] - np.arange(count)[:, None]
    norms = np.sqrt(2.0 * np.arange(count) + 1.0)
    first = np.where((gap > 0) & (gap % 2 == 1), norms[:, None] * norms[None, :], 0.0)
    return np.asarray(first @ derivative_matrix(count, order - 1))


@lru_cache(maxsize=256)
def projection(points: int, count: int) -> Host:
    """Return what takes values at Gauss points, times roots of their weights, to weights of P_k.

    Its rows are orthonormal, (count, points).
    """
    return np.ascontiguousarray(
        (gauss_table(points, count, 0)[0] * np.sqrt(gauss(points)[1])[:, None]).T
    )
