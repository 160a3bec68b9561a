"""The contract of a domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import Flags, Ints

if TYPE_CHECKING:
    from sharpfront.geometry.curves import Piece

Points = NDArray[np.float64]
Sampling = Literal["random", "quasi", "grid"]
State = dict[str, Any]


@dataclass(frozen=True, eq=False)
class BoundaryPoints:
    """Points on the boundary (m, d) with their outward unit normals (m, d)."""

    points: Points
    normals: Points

    def chosen(self, which: Ints | Flags) -> BoundaryPoints:
        """Return some of them."""
        return BoundaryPoints(self.points[which], self.normals[which])

    @staticmethod
    def joined(found: Sequence[BoundaryPoints]) -> BoundaryPoints:
        """Return all of several, one after the other."""
        both = ([f.points for f in found], [f.normals for f in found])
        return BoundaryPoints(*map(np.concatenate, both))


class Domain(Protocol):
    """A region: contains, sample, boundary parts, normals, distance."""

    def __hash__(self) -> int: ...

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

    @property
    def periodic_axes(self) -> tuple[bool, ...]:
        """Along which coordinates the two ends are joined, one flag for each."""

    @property
    def corners(self) -> Points:
        """The points where the boundary has a corner, (k, d); none for a smooth shape."""

    def contains(self, points: Points) -> Flags:
        """Tell which of the points (m, d) lie in the closed region."""

    def sample(self, count: int, how: Sampling = "quasi", seed: int = 0) -> Points:
        """Return points of the region, (count, d)."""

    def boundary(self, part: str, count: int = 1, seed: int = 0) -> BoundaryPoints:
        """Return points of one part of the boundary."""

    def boundary_measure(self, part: str) -> float:
        """Return the length or area of one part of the boundary; 1 for the end of an interval."""

    def smooth_pieces(self, part: str) -> Sequence[Piece]:
        """Return the smooth pieces of one part of the boundary."""

    def distance(self, points: Points) -> Points:
        """Return the distance to the boundary, positive inside, (m,)."""

    def state(self) -> State:
        """Return words, numbers and arrays from which `restore_domain` makes the domain again."""
