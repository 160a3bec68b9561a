"""Inverses of Cholesky factors of many matrices on a device, by matrix products.

A card multiplies matrices of doubles ten times as fast as it factors or solves with many small
ones. So factors are made of halves, as far as there are enough matrices to keep the card busy, and
inverses, which multiply vectors at once, take the place of triangular solves.
"""

from __future__ import annotations

from typing import NamedTuple

from sharpfront.arrays import Array, namespace
from sharpfront.leastsquares.device import Device

# Halves are taken of more columns than this, where there are so many matrices: on an H200 factors
# and inverses of 4096 matrices with 256 columns take 8 ms that way and 25 by its library, of 512
# with 220 half the time, of 64 with 224 more.
COLUMNS, MATRICES = 32, 512


class Factors(NamedTuple):
    """Inverses X of the lower factors, their diagonals, and for each matrix whether it has one.

    (b, n, n), (b, n) and (b,); X A X^T = 1.
    """

    inverse: Array
    diagonal: Array
    good: Array


def inverse_factors(device: Device, grams: Array) -> Factors:
    """Return the factors of symmetric matrices, (b, n, n)."""
    count, n = grams.shape[:2]
    inverse = device.zeros((count, n, n))
    diagonal = device.zeros((count, n))
    return Factors(inverse, diagonal, _filled(device, grams, inverse, diagonal))


def worst_of(diagonals: Array) -> Array:
    """Return the smallest and largest entry of the diagonal that has them farthest apart, (2,)."""
    xp = namespace(diagonals)
    low, high = xp.min(diagonals, axis=1), xp.max(diagonals, axis=1)
    worst = xp.reshape(xp.argmin(low / high), (1,))
    return xp.stack([xp.take(low, worst, axis=0)[0], xp.take(high, worst, axis=0)[0]])


def _filled(device: Device, grams: Array, inverse: Array, diagonal: Array) -> Array:
    """Write inverses and diagonals; return which matrices have factors."""
    count, n = grams.shape[:2]
    if n <= COLUMNS or count < MATRICES:
        lower, good = device.cholesky(grams)
        inverse[...] = device.inverse(lower)
        diagonal[...] = namespace(lower).linalg.diagonal(lower)
        return good
    h = COLUMNS * ((n // COLUMNS + 1) // 2)
    first = inverse[:, :h, :h]
    good = _filled(device, grams[:, :h, :h], first, diagonal[:, :h])
    below = grams[:, h:, :h] @ first.mT
    left = grams[:, h:, h:] - below @ below.mT
    good = good & _filled(device, left, inverse[:, h:, h:], diagonal[:, h:])
    inverse[:, h:, :h] = -(inverse[:, h:, h:] @ (below @ first))
    return good
