"""Sobol's sequence with random digits, for few dimensions.

The same points as ``scipy.stats.qmc.Sobol``, whose package takes longer to load than many a solve.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray

BITS = 30
# Joe and Kuo's primitive polynomials and first direction numbers of dimensions 2, 3, ...: all
# coefficients but the leading one as bits, and m_1, m_2, ...
_NUMBERS = (
    (0b1, (1,)),
    (0b11, (1, 3)),
    (0b011, (1, 3, 1)),
    (0b101, (1, 1, 1)),
    (0b0011, (1, 1, 3, 3)),
    (0b1001, (1, 3, 5, 13)),
    (0b00101, (1, 1, 5, 5, 17)),
    (0b01001, (1, 1, 5, 5, 5)),
    (0b01111, (1, 1, 7, 11, 19)),
)


def sobol(power: int, dimension: int, rng: np.random.Generator) -> FloatArray:
    """Return the first 2^power points of a sequence with random digits, (2^power, dimension).

    The power is at most 30; beyond ten dimensions SciPy makes the points. A child of `rng` draws
    the digits: a shift, and lower triangular matrices that mix them.
    """
    if dimension > len(_NUMBERS) + 1:
        from scipy.stats import qmc

        return np.asarray(qmc.Sobol(dimension, bits=BITS, rng=rng).random_base2(power))
    (own,) = rng.spawn(1)
    digits = own.integers(2, size=(dimension, BITS), dtype=np.uint32)
    shift = digits @ (1 << np.arange(BITS, dtype=np.uint32))
    mixing = np.tril(own.integers(2, size=(dimension, BITS, BITS), dtype=np.uint32))
    mixing[:, np.arange(BITS), np.arange(BITS)] = 1
    columns = _mixed(_directions(dimension), mixing)
    index = np.arange(1 << power, dtype=np.uint32)
    gray = index ^ (index >> 1)
    points = np.tile(shift, (len(index), 1))
    for bit in range(power):
        points ^= ((gray >> bit) & 1)[:, None] * columns[:, bit]
    return np.asarray(points * 2.0**-BITS)


def _mixed(columns: NDArray[np.uint32], mixing: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return direction numbers whose digits, from the first on, were mixed: M v modulo two."""
    places = np.arange(BITS - 1, -1, -1, dtype=np.uint32)
    digits = (columns[:, None, :] >> places[:, None]) & 1
    mixed = (mixing.astype(float) @ digits.astype(float)).astype(np.uint32) & 1
    return np.asarray((mixed << places[:, None]).sum(axis=1, dtype=np.uint32))


@lru_cache(maxsize=16)
def _directions(dimension: int) -> NDArray[np.uint32]:
    """Return the direction numbers as whole numbers of 30 bits, (dimension, 30)."""
    out = np.ones((dimension, BITS), dtype=np.uint32)
    for row, (polynomial, first) in zip(out[1:], _NUMBERS, strict=False):
        degree = len(first)
        row[:degree] = first
        for j in range(degree, BITS):
            new = int(row[j - degree])
            for k in range(1, degree + 1):
                if (polynomial >> (degree - k)) & 1:
                    new ^= int(row[j - k]) << k
            row[j] = new
    return out << np.arange(BITS - 1, -1, -1, dtype=np.uint32)
