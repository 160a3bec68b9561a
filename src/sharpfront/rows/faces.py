"""Which patches touch, and where: the faces that carry traces, and the sides on the boundary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import Host
from sharpfront.bases.patch import Patch


@dataclass(frozen=True)
class Face:
    """Where two patches meet: the largest box that is part of a side of both.

    Parameters
    ----------
    axis
        The normal.
    below, above
        The patch whose upper side it is, and the one whose lower side it is.
    low, high
        The face along the other axes.
    """

    axis: int
    below: int
    above: int
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Side:
    """A side of a patch on the boundary: normal axis, 0 for the lower and 1 for the upper end."""

    patch: int
    axis: int
    end: int


def faces_of(
    patches: Sequence[Patch], joined: Sequence[float | None]
) -> tuple[list[Face], list[Side]]:
    """Return the faces between patches and the sides on the boundary.

    Parameters
    ----------
    patches
        Boxes that tile the domain.
    joined
        The period along each axis, None where the ends are not joined.
    """
    low = np.stack([p.low for p in patches])
    high = np.stack([p.high for p in patches])
    faces: list[Face] = []
    covered = np.zeros((*low.shape, 2), dtype=bool)
    for axis, period in enumerate(joined):
        starts: dict[float, list[int]] = defaultdict(list)
        ends: dict[float, list[int]] = defaultdict(list)
        for i in range(len(patches)):
            starts[float(low[i, axis])].append(i)
            ends[float(high[i, axis])].append(i)
        pairs = [(ends[c], starts[c]) for c in ends if c in starts]
        if period is not None:
            pairs.append((ends[max(ends)], starts[min(starts)]))
        for upper, lower in pairs:
            faces += _meeting(axis, upper, lower, low, high, covered)
    bare = np.argwhere(~covered)
    return faces, [Side(int(i), int(a), int(e)) for i, a, e in bare]


def _meeting(
    axis: int, upper: list[int], lower: list[int], low: Host, high: Host, covered: Host
) -> list[Face]:
    """Return the faces between patches that end and patches that start at one place."""
    rest = [a for a in range(low.shape[1]) if a != axis]
    a, b = np.array(upper), np.array(lower)
    start = np.maximum(low[a][:, None, rest], low[b][None, :, rest])
    stop = np.minimum(high[a][:, None, rest], high[b][None, :, rest])
    found = []
    for i, j in np.argwhere(np.all(stop > start, axis=2)):
        covered[a[i], axis, 1] = covered[b[j], axis, 0] = True
        place = tuple(start[i, j].tolist()), tuple(stop[i, j].tolist())
        found.append(Face(axis, int(a[i]), int(b[j]), *place))
    return found
