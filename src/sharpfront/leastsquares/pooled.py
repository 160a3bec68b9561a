"""Which matrices of different shapes a device works on together, filled up to one shape.

Adaptation makes many shapes with few matrices each, and a device takes some milliseconds for a
batch however small it is. So shapes are put together as long as what is multiplied in vain takes
less time than a batch of their own would, and next to none of the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray, Ints

# Operations in vain that take a card as long as another batch does: 2 ms at 10 TFLOP/s.
IN_VAIN = 2e10
# Share of the free memory that a pool may take in vain: with more a card that just holds a system
# would not.
SPARE = 1 / 256

Sizes = tuple[int, ...]


class Pool(NamedTuple):
    """Shapes that are worked on as one."""

    sizes: Sizes  # the least shape that has room for all of them
    kinds: list[int]  # their numbers


def pooled(
    shapes: Ints, counts: Ints, exact: int, cost: Callable[[FloatArray], FloatArray], free: int
) -> list[Pool]:
    """Return pools of shapes, (s, k), of which there are so many each.

    The first `exact` numbers of shapes in a pool agree. `cost` returns the operations and the
    numbers in memory for one matrix of each of some shapes, (2, s); so many bytes are free.
    """
    own = cost(shapes.astype(float)) * counts
    # The shape of each pool, how many matrices it has, and what they would take alone.
    sizes, many, alone = shapes[:0], counts[:0], own[:, :0]
    pools: list[list[int]] = []
    for kind in np.argsort(-own[0], kind="stable").tolist():
        wider = np.maximum(sizes, shapes[kind])
        taken = cost(wider.astype(float)) * (many + counts[kind])
        vain = np.max((taken - alone - own[:, kind, None]).T / (IN_VAIN, SPARE * free / 8), axis=1)
        vain[np.any(sizes[:, :exact] != shapes[kind, :exact], axis=1)] = np.inf
        best = int(np.argmin(vain)) if pools else 0
        if pools and vain[best] <= 1.0:
            sizes[best] = wider[best]
            many[best] += counts[kind]
            alone[:, best] += own[:, kind]
            pools[best].append(kind)
        else:
            sizes = np.concatenate([sizes, shapes[kind : kind + 1]])
            many = np.append(many, counts[kind])
            alone = np.concatenate([alone, own[:, kind : kind + 1]], axis=1)
            pools.append([kind])
    return [Pool(tuple(own), kinds) for own, kinds in zip(sizes.tolist(), pools, strict=True)]
