"""Which matrices of different shapes a device works on together, filled up to one shape.

Adaptation makes many shapes with few matrices each, and a device takes some milliseconds for a
batch however small it is. So shapes are put together as long as what is multiplied in vain takes
less time than a batch of their own would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.leastsquares.dissection import Ints

# Operations in vain that take a card as long as another batch does: 2 ms at 10 TFLOP/s.
IN_VAIN = 2e10

Sizes = tuple[int, ...]


class Pool(NamedTuple):
    """Shapes that are worked on as one."""

    sizes: Sizes  # the least shape that has room for all of them
    kinds: list[int]  # their numbers


def pooled(
    shapes: Ints, counts: Ints, exact: int, cost: Callable[[FloatArray], FloatArray]
) -> list[Pool]:
    """Return pools of shapes, (s, k), of which there are so many each.

    The first `exact` numbers of shapes in a pool agree. `cost` returns the operations for one
    matrix of each of some shapes.
    """
    own = cost(shapes.astype(float)) * counts
    # The shape of each pool, how many matrices it has, and the operations they would take alone.
    sizes, many, alone = shapes[:0], counts[:0], own[:0]
    pools: list[list[int]] = []
    for kind in np.argsort(-own, kind="stable").tolist():
        wider = np.maximum(sizes, shapes[kind])
        vain = cost(wider.astype(float)) * (many + counts[kind]) - alone - own[kind]
        vain[np.any(sizes[:, :exact] != shapes[kind, :exact], axis=1)] = np.inf
        best = int(np.argmin(vain)) if pools else 0
        if pools and vain[best] <= IN_VAIN:
            sizes[best] = wider[best]
            many[best] += counts[kind]
            alone[best] += own[kind]
            pools[best].append(kind)
        else:
            sizes = np.concatenate([sizes, shapes[kind : kind + 1]])
            many, alone = np.append(many, counts[kind]), np.append(alone, own[kind])
            pools.append([kind])
    return [Pool(tuple(own), kinds) for own, kinds in zip(sizes.tolist(), pools, strict=True)]
