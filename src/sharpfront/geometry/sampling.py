"""Points spread over a cube, shares of a count, and thinning."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sharpfront.checks import whole
from sharpfront.errors import DomainError
from sharpfront.geometry.domain import Points, Sampling
from sharpfront.geometry.sobol import sobol

# Beyond this many points the cost of thinning, count times candidates, is felt.
_MOST_THINNED = 2000
_GOLDEN = (math.sqrt(5) - 1) / 2


def unit_sample(count: int, dimension: int, how: Sampling, seed: int) -> Points:
    """Return points of the unit cube, (count, dimension); see `Box.sample`."""
    if how == "random":
        return np.random.default_rng(seed).random((count, dimension))
    if how == "grid":
        per_side = max(1, math.floor(count ** (1 / dimension) + 1e-9)) if count else 0
        axis = (np.arange(per_side) + 0.5) / max(per_side, 1)
        return np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), axis=-1).reshape(
            -1, dimension
        )
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


def shares(count: int, sizes: list[float]) -> NDArray[np.int64]:
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


def thinned(points: Points, count: int) -> NDArray[np.int64]:
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
