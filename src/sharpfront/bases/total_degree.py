"""Which products of functions a patch has: all in the plane, up to a joint degree in space.

In space the products of p functions along each axis are p^3, of which p^3/6 have a joint degree
below p: sum_a k_a / (p_a - 1) <= 1. For products of smooth profiles the others are too small to
matter, and a patch costs the third power of its functions.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.arrays import Ints as Ints

# From so many axes on products are chosen by their joint degree.
JOINT = 3
# An axis leads a product if its share of the degree is so many times the largest at least.
LEADS = 0.5


def is_joint(dimension: int) -> bool:
    """Tell whether patches with so many axes have products up to a joint degree only."""
    return dimension >= JOINT


@lru_cache(maxsize=1024)
def products(counts: tuple[int, ...], joint: bool) -> Ints:
    """Return which functions of each axis every product is made of, (d, n), the last axis fastest.

    Products have a joint degree, or all are wanted.
    """
    every = np.indices(counts).reshape(len(counts), -1)
    if joint:
        every = every[:, _shares(every, counts).sum(axis=0) <= 1.0 + 1e-9]
    return every


@lru_cache(maxsize=1024)
def leading_degrees(shape: tuple[int, ...], counts: tuple[int, ...]) -> tuple[Ints, ...]:
    """Return for each axis the degree that each product of an array counts as, (products,) each.

    That is its own along the axis, and where the joint degree counts, along the axes that lead, the
    joint one: at the rim of the set it is as if the product were the last of such an axis.
    """
    every = np.indices(shape).reshape(len(shape), -1)
    if not is_joint(len(shape)):
        return tuple(every)
    shares = _shares(every, counts)
    leads = shares >= LEADS * shares.max(axis=0)
    total = shares.sum(axis=0)
    return tuple(
        np.where(lead, np.ceil(total * (p - 1) - 1e-9), k).astype(np.int64)
        for lead, p, k in zip(leads, counts, every, strict=True)
    )


def _shares(every: Ints, counts: tuple[int, ...]) -> FloatArray:
    """Return how far along each axis a product is, 1 for the last function, (d, n)."""
    last = np.maximum(np.array(counts) - 1, 0.5)
    return np.asarray(every / last[:, None])
