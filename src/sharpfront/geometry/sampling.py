"""Points spread over a cube, shares of a count, and thinning."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray, Ints
from sharpfront.checks import whole
from sharpfront.errors import DomainError
from sharpfront.geometry.domain import Points, Sampling

# Beyond this many points the cost of thinning, count times candidates, is felt.
_MOST_THINNED = 2000
_GOLDEN = (math.sqrt(5) - 1) / 2
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


def unit_sample(count: int, dimension: int, how: Sampling, seed: int) -> Points:
    """Return points of the unit cube, (count, dimension); see `Box.sample`."""
    if how == "random":
        return np.random.default_rng(seed).random((count, dimension))
    if how == "grid":
        per_side = max(1, math.floor(count ** (1 / dimension) + 1e-9)) if count else 0
        axis = (np.arange(per_side) + 0.5) / max(per_side, 1)
        grid = np.meshgrid(*[axis] * dimension, indexing="ij")
        return np.stack(grid, axis=-1).reshape(-1, dimension)
    if how == "quasi":
        power = max(0, math.ceil(math.log2(max(count, 1))))
        return _quasi(power, dimension, seed)[:count].copy()
    raise DomainError(f"Sampling must be 'random', 'quasi' or 'grid', got {how!r}.")


@lru_cache(maxsize=64)
def _quasi(power: int, dimension: int, seed: int) -> Points:
    """Return Sobol's points, the same few sets of which are asked for over and over."""
    return sobol(power, dimension, np.random.default_rng(seed))


def checked_count(count: int) -> int:
    """Return the count, or refuse what is none."""
    return whole(count, "count", 0, error=DomainError)


def steps(count: int, seed: int) -> Points:
    """Return `count` equal steps through (0, 1): midpoints for seed 0, shifted for other seeds.

    The shift stays a tenth of a step away from both ends, so that no point falls on a corner.
    """
    shift = 0.1 + 0.8 * ((0.5 + _GOLDEN * seed) % 1.0)
    return np.asarray((np.arange(count) + shift) / max(count, 1))


def shares(count: int, sizes: list[float]) -> Ints:
    """Divide a count in proportion to sizes, each at least 1 where there are enough."""
    least = 1 if count >= len(sizes) else 0
    ideal = np.asarray(sizes) / sum(sizes) * (count - least * len(sizes))
    given = np.floor(ideal).astype(np.int64)
    short = count - least * len(sizes) - int(given.sum())
    given[np.argsort(given - ideal, kind="stable")[:short]] += 1
    return given + least


def candidates(count: int) -> int:
    """Return how many points to choose `count` from by thinning."""
    return 4 * count if count <= _MOST_THINNED else count


def thinned(points: Points, count: int) -> Ints:
    """Return indices of `count` of the points, each as far as can be from those before it."""
    if count >= len(points) or count > _MOST_THINNED:
        return np.arange(min(count, len(points)))
    chosen = np.zeros(count, dtype=np.int64)
    nearest = np.full(len(points), np.inf)
    for i in range(1, count):
        offset = points - points[chosen[i - 1]]
        nearest = np.minimum(nearest, np.einsum("ij,ij->i", offset, offset))
        chosen[i] = int(np.argmax(nearest))
    return chosen


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
