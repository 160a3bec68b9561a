"""On which side of curves inside a domain its patches lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut import Region
from sharpfront.bases.patch import Patch
from sharpfront.bases.solid_cut import SolidRegion

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


@dataclass(frozen=True, eq=False)
class Sides:
    """The regions that strips along curves inside a domain leave of it."""

    regions: tuple[int, ...]  # that of each patch, as a number; of those in charts any
    # Points on the long sides of strips with the number of the region beside them, (m, 3); none
    # where there is only one region.
    edges: FloatArray

    @classmethod
    def of(cls, patches: Sequence[Patch]) -> Sides:
        """Return the sides that patches lie on."""
        numbers: dict[Region | SolidRegion | None, int] = {}
        own = tuple(numbers.setdefault(patch.region, len(numbers)) for patch in patches)
        regions = [(region, k) for region, k in numbers.items() if isinstance(region, Region)]
        if len(regions) < 2:
            return cls(own, np.empty((0, 3)))
        edges = [np.column_stack([r.edges[0].data, np.full(r.edges[0].n, k)]) for r, k in regions]
        return cls(own, np.concatenate(edges))

    @cached_property
    def _tree(self) -> cKDTree:
        from scipy.spatial import cKDTree

        return cKDTree(self.edges[:, :2])

    def elsewhere(self, points: FloatArray, patch: int) -> NDArray[np.bool_]:
        """Tell which points, not in strips, lie in another region than a patch."""
        if not len(self.edges):
            return np.zeros(len(points), dtype=bool)
        # On the straight way to the nearest edge there is no other.
        nearest = self.edges[self._tree.query(points)[1], 2]
        return np.asarray(nearest != self.regions[patch])
