"""The contract of a domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Sampling = Literal["random", "quasi", "grid"]


@dataclass(frozen=True, eq=False)
class BoundaryPoints:
    """Points on the boundary (m, d) with their outward unit normals (m, d)."""

    points: Points
    normals: Points


class Domain(Protocol):
    """A region: contains, sample, boundary parts, normals, distance."""

    @property
    def dimension(self) -> int:
        """The number of space coordinates."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the space coordinates."""

    @property
    def bounds(self) -> Points:
        """Lower and upper corner of the bounding box, (2, d)."""

    @property
    def measure(self) -> float:
        """Length, area or volume."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the boundary's parts."""

    def contains(self, points: Points) -> NDArray[np.bool_]:
        """Tell which of the points (m, d) lie in the closed region."""

    def sample(self, count: int, how: Sampling = "quasi", seed: int = 0) -> Points:
        """Return points of the region, (count, d)."""

    def boundary(self, part: str, count: int = 1, seed: int = 0) -> BoundaryPoints:
        """Return points of one part of the boundary."""

    def distance(self, points: Points) -> Points:
        """Return the distance to the boundary, positive inside, (m,)."""
