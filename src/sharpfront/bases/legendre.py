"""Legendre polynomials, orthonormal in the mean over [-1, 1]: sqrt(2k + 1) P_k."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache, reduce

import numpy as np
from scipy.special import legendre_p_all

from sharpfront.arrays import FloatArray, Ints

# Blocks of so many points each are summed one by one.
MANY_POINTS = 16


def legendre_table(z: FloatArray, count: int, order: int = 0) -> FloatArray:
    """Return the first polynomials and their derivatives at z, (order + 1, n, count)."""
    out = np.empty((order + 1, len(z), count))
    np.multiply(legendre_p_all(count - 1, z)[0].T, norms(count), out=out[0])
    for k in range(1, order + 1):
        np.matmul(out[0], derivative_matrix(count, k), out=out[k])
    return out


@lru_cache(maxsize=256)
def norms(count: int) -> FloatArray:
    """Return sqrt(2k + 1), which are also the polynomials at one, (count,)."""
    return np.asarray(np.sqrt(2.0 * np.arange(count) + 1.0))


@lru_cache(maxsize=256)
def gauss(count: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre points in [-1, 1] and weights that sum to one."""
    z, w = np.polynomial.legendre.leggauss(count)
    return z, 0.5 * w


@lru_cache(maxsize=256)
def product_weights(counts: tuple[int, ...]) -> FloatArray:
    """Return the weights of product Gauss points, which sum to one, (m,)."""
    return np.asarray(reduce(np.multiply.outer, [gauss(n)[1] for n in counts]).ravel())


def product_points(axes: Sequence[FloatArray]) -> FloatArray:
    """Return all combinations of positions along the axes, the last axis fastest, (m, d)."""
    d = len(axes)
    out = np.empty((*(len(x) for x in axes), d))
    for a, x in enumerate(axes):
        out[..., a] = x.reshape([-1 if b == a else 1 for b in range(d)])
    return out.reshape(-1, d)


def block_at(block: FloatArray, tables: Sequence[FloatArray]) -> FloatArray:
    """Return sums of products with the weights of a block, from each axis' table, (m, p)."""
    part = np.tensordot(tables[0], block, axes=1)
    for table in tables[1:]:
        part = np.einsum("mp,mp...->m...", table, part)
    return np.asarray(part)


def blocks_at(blocks: FloatArray, own: Ints, tables: Sequence[FloatArray]) -> FloatArray:
    """Return sums over the functions of one of some blocks at each point, (m,).

    Points come block by block, `own` has the number of each one's, (m,). Where a block has many
    points its weights are not repeated for each.
    """
    first, last = int(own[0]), int(own[-1])
    if len(own) < MANY_POINTS * (last - first + 1):
        part = blocks[own]
        for table in tables:
            m, p = table.shape
            part = (table[:, None, :] @ part.reshape(m, p, -1)).reshape(m, *part.shape[2:])
        return part
    ends = np.searchsorted(own, np.arange(first, last + 2)).tolist()
    return np.concatenate(
        [
            block_at(blocks[k], [table[a:b] for table in tables])
            for k, (a, b) in enumerate(itertools.pairwise(ends), first)
        ]
    )


@lru_cache(maxsize=512)
def gauss_table(points: int, count: int, order: int) -> FloatArray:
    """Return `legendre_table` at Gauss points, (order + 1, points, count)."""
    return legendre_table(gauss(points)[0], count, order)


@lru_cache(maxsize=256)
def end_table(count: int, order: int) -> FloatArray:
    """Return the polynomials and derivatives at -1 and 1, (order + 1, 2, count)."""
    return legendre_table(np.array([-1.0, 1.0]), count, order)


@lru_cache(maxsize=256)
def derivative_matrix(count: int, order: int) -> FloatArray:
    """Return the weights of the polynomials' derivatives, (count, count): an upper triangle.

    P'_n = sum of (2k + 1) P_k over k = n - 1, n - 3, ...
    """
    if order == 0:
        return np.eye(count)
    gap = np.arange(count)[None, :] - np.arange(count)[:, None]
    sizes = norms(count)
    first = np.where((gap > 0) & (gap % 2 == 1), np.multiply.outer(sizes, sizes), 0.0)
    return np.asarray(first @ derivative_matrix(count, order - 1))


@lru_cache(maxsize=256)
def projection(points: int, count: int) -> FloatArray:
    """Return what takes values at Gauss points, times roots of their weights, to weights of P_k.

    Its rows are orthonormal, (count, points).
    """
    return np.ascontiguousarray(
        (gauss_table(points, count, 0)[0] * np.sqrt(gauss(points)[1])[:, None]).T
    )
