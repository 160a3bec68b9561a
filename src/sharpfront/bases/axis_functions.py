"""Functions along an axis of a patch: Legendre polynomials, or those and what decays beside a wall.

In the coordinate of a mixture they are even kernels, and their count is that of the kernels.

A layer is e^(-d/w) times a smooth function of the distance d and the place along the wall, beside a
smooth function. Along an axis across it functions are 1, e^-t, d, d e^-t, ... with t = d/w, made
orthonormal in the mean one after the other. They are kept as weights of Legendre polynomials, as
many as hold them to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import eval_laguerre

from sharpfront.arrays import FloatArray
from sharpfront.bases.even_kernels import even_kernels
from sharpfront.bases.legendre import end_table, gauss, gauss_table, legendre_table
from sharpfront.maps import AxisMap, MixtureAxis

# e^-t with t from 0 to n has Legendre weights below rounding from n + so many on, times polynomials
# of the degrees that patches have.
HOLDING = 32


def held_by(decays: float) -> int:
    """Return how many Legendre polynomials hold the functions beside a wall to rounding."""
    return HOLDING + math.ceil(decays)


def points_for(count: int, decays: float) -> int:
    """Return Gauss points for means of so many functions' products, exact to ten digits."""
    return count + 4 + math.ceil(0.5 * decays)


def functions_at(side: AxisMap, z: FloatArray, count: int, order: int = 0) -> FloatArray:
    """Return an axis' first functions and their derivatives along z, (order + 1, n, count)."""
    return _of_axis(side, z, count, order, lambda n: legendre_table(z, n, order))


def functions_at_gauss(side: AxisMap, points: int, count: int, order: int) -> FloatArray:
    """Return `functions_at` at Gauss points, (order + 1, points, count)."""
    z = gauss(points)[0]
    return _of_axis(side, z, count, order, lambda n: gauss_table(points, n, order))


def functions_at_ends(side: AxisMap, count: int, order: int) -> FloatArray:
    """Return `functions_at` at -1 and 1, (order + 1, 2, count)."""
    return _of_axis(side, np.array([-1.0, 1.0]), count, order, lambda n: end_table(n, order))


def _of_axis(
    side: AxisMap, z: FloatArray, count: int, order: int, legendre: Callable[[int], FloatArray]
) -> FloatArray:
    """Return them with a table of so many Legendre polynomials at the positions."""
    if isinstance(side, MixtureAxis):
        halves = 0.5 ** np.arange(order + 1)
        return even_kernels(count).table(0.5 * (1.0 + z), order) * halves[:, None, None]
    if not side.decays:
        return legendre(count)
    return legendre(held_by(side.decays)) @ decaying(count, side.decays)


@lru_cache(maxsize=256)
def decaying(count: int, decays: float) -> FloatArray:
    """Return the Legendre weights of the functions beside a wall, (polynomials, count).

    Laguerre polynomials go with what decays: others are nearly the same where it is not small.
    """
    n = held_by(decays)
    z, w = gauss(n)
    t = 0.5 * decays * (1.0 + z)
    plain = gauss_table(n, n, 0)[0]
    columns = []
    for k in range((count + 1) // 2):
        columns += [plain[:, k], eval_laguerre(k, 2.0 * t) * np.exp(-t)]
    values = np.stack(columns[:count], axis=1)
    return np.asarray(np.linalg.qr((plain * w[:, None]).T @ values)[0])


@lru_cache(maxsize=256)
def means_of(points: int, count: int, decays: float) -> FloatArray:
    """Return what takes values at Gauss points to means with the first functions, (count, points).

    Without anything that decays these are Legendre polynomials.
    """
    table = gauss_table(points, held_by(decays) if decays else count, 0)[0]
    own = table @ decaying(count, decays) if decays else table
    return np.asarray((own * gauss(points)[1][:, None]).T)


@lru_cache(maxsize=256)
def table_at(z: tuple[float, ...], count: int, decays: float) -> FloatArray:
    """Return the first functions at positions that come again and again, (n, count)."""
    return np.asarray(functions_at(AxisMap(-1.0, 1.0, decays=decays), np.array(z), count)[0])
