"""Sides of strips that bound what is left to boxes, by points and normals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry.panels import Panels

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# Points of a side, as parameters: evenly spread, and towards its ends each this share as far from
# the end as the one before, for another side may begin there at a sharp angle.
EVEN, NEAR_ENDS = np.linspace(-0.98, 0.98, 98), 0.02 * 0.6 ** np.arange(1, 34)
RIM_PLACES = np.concatenate([[-1.0], NEAR_ENDS[::-1] - 1.0, EVEN, 1.0 - NEAR_ENDS, [1.0]])
# Points as close as this share of all are one.
CORNER = 1e-9


@dataclass(frozen=True, eq=False)
class StripEdges:
    """Points all along sides of strips.

    Parameters
    ----------
    table
        Points, normals that lead into strips, and for ends of sides ways along them, (m, 6).
    """

    table: FloatArray

    @classmethod
    def of(cls, panels: Panels, shut: FloatArray) -> StripEdges:
        """Return panels as such, and points that lie on no side of what is nearest to them."""
        count = len(panels.parts)
        panel = np.repeat(np.arange(count), len(RIM_PLACES))
        found, _ = panels.boundary(panel, np.tile(RIM_PLACES, count))
        sides = found.points.reshape(-1, len(RIM_PLACES), 2)
        ways = np.zeros_like(sides)
        ways[:, 0], ways[:, -1] = (sides[:, k] - sides[:, e] for k, e in ((40, 0), (-40, -1)))
        own = np.concatenate([found.points, found.normals, ways.reshape(-1, 2)], axis=1)
        nowhere = np.full((len(shut), 4), np.nan)
        return cls(np.concatenate([own, np.concatenate([shut, nowhere], axis=1)]))

    @cached_property
    def tree(self) -> cKDTree:
        """The points."""
        from scipy.spatial import cKDTree

        return cKDTree(self.table[:, :2])

    def beyond(self, points: FloatArray) -> FloatArray:
        """Return how far points lie beyond the nearest side, about, negative before it, (m,).

        Of a corner either side may be the nearest: what lies beyond one of them is outside of one
        that points outwards, and what lies beyond both of one that points inwards.
        """
        gaps, nearest = map(np.asarray, self.tree.query(points, 2))
        there = self.table[nearest]
        away = np.sum((points[:, None] - there[..., :2]) * there[..., 2:4], axis=2)
        corner = gaps[:, 1] - gaps[:, 0] < CORNER * float(np.ptp(self.tree.data, axis=0).max())
        inwards = np.sum(there[:, 1, 4:] * there[:, 0, 2:4], axis=1) > 0.0
        both = np.where(inwards, away.min(axis=1), away.max(axis=1))
        out = np.where(corner, both, away[:, 0])
        return np.asarray(np.where(np.isnan(out), np.inf, out))
