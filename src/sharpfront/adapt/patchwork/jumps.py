"""Corners at which a solution jumps: no patch is small enough there, but all is well elsewhere.

What goes wrong in a patch of size h beside such a corner is felt at a distance R as a share h / R
of it, and in unknowns that are rougher by t orders (a pressure, 1/r where the velocity jumps) as
(h / R)^(1 + t). So patches are cut until these shares are small, and the rest of the solution is
estimated by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.patchwork.refine import Cell
from sharpfront.adapt.patchwork.tails import Tails
from sharpfront.arrays import Host
from sharpfront.bases.patch import Patch

# Within this share of the domain's size of a jump nothing is said of the solution.
BESIDE = 0.1
# A tail that after so many cuts in a row towards one corner does not fall by this factor with each
# cut belongs to a jump: r^0.1, the strongest singularity of the published sets, falls by 0.93.
CUTS, FALLING = 8, 0.97


@dataclass(frozen=True)
class Jumps:
    """Where a solution jumps.

    Parameters
    ----------
    radius
        How far from a place the solution is estimated again.
    places
        The corners.
    """

    radius: float
    places: tuple[tuple[float, ...], ...] = ()

    def away(self, points: Host) -> NDArray[np.bool_]:
        """Tell which points are far enough from all places, (m,)."""
        out = np.ones(len(points), dtype=bool)
        for place in self.places:
            out &= np.linalg.norm(points - np.array(place), axis=1) > self.radius
        return out

    def shares(self, patches: Sequence[Patch], rough: Mapping[str, int]) -> dict[str, Host]:
        """Return how much of what goes wrong in each patch counts, for each unknown, (patches,)."""
        size = np.ones(len(patches))
        for i, patch in enumerate(patches):
            for place in self.places:
                if np.linalg.norm(_corners(patch) - place, axis=1).max() <= self.radius:
                    size[i] = min(size[i], float(patch.sides.max()) / self.radius)
        return {unknown: size ** (1.0 + t) for unknown, t in rough.items()}

    def with_more(self, cells: Sequence[Cell], tails: Tails, aim: float) -> Jumps:
        """Return the places with those at which tails did not fall while they were cut."""
        found = set(self.places)
        for cell, tail in zip(cells, tails.tail.max(axis=1), strict=True):
            if tail > aim and cell.run >= CUTS and tail >= FALLING**cell.levels * cell.tail:
                corner = cell.patch.points([np.array([1.0 if e else -1.0]) for e in cell.corner])
                found.add(tuple(corner[0].tolist()))
        return replace(self, places=tuple(sorted(found)))

    def __str__(self) -> str:
        said = [f"({', '.join(f'{c:.4g}' for c in place)})" for place in self.places]
        return " and ".join(said)


def _corners(patch: Patch) -> Host:
    """Return the corners of a patch in space."""
    return patch.points([np.array([-1.0, 1.0])] * patch.dimension)
