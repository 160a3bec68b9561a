"""The contract of a domain, and a domain with a span of time, where solutions in time live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import Flags, Ints
from sharpfront.errors import DomainError

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
    def is_box(self) -> bool:
        """Whether it is a product of intervals whose ends are its parts."""

    @property
    def space(self) -> Domain:
        """The domain without time: itself, if it has none."""

    @property
    def time(self) -> tuple[float, float] | None:
        """The span of time; None without."""

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


TIME = "t"


@dataclass(frozen=True, eq=False)
class SpaceTime:
    """The points (x, ..., t) with (x, ...) in `space` and t in the span `time`."""

    space: Domain  # the region
    time: tuple[float, float]  # the first and the last moment

    @property
    def is_box(self) -> bool:
        """Never: moments are no parts of a boundary."""
        return False

    def __repr__(self) -> str:
        return f"SpaceTime({self.space!r}, ({self.time[0]:g}, {self.time[1]:g}))"

    @property
    def dimension(self) -> int:
        """The number of coordinates, time included."""
        return self.space.dimension + 1

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Those of space, then ``t``."""
        return (*self.space.coordinates, TIME)

    @property
    def bounds(self) -> Points:
        """Lower and upper corner of the bounding box, (2, d + 1)."""
        return np.hstack([self.space.bounds, np.array(self.time)[:, None]])

    @property
    def measure(self) -> float:
        """The measure of space times the length of the span."""
        return self.space.measure * (self.time[1] - self.time[0])

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the boundary of space."""
        return self.space.parts

    @property
    def periodic_axes(self) -> tuple[bool, ...]:
        """Those of space; time does not return."""
        return (*self.space.periodic_axes, False)

    @property
    def corners(self) -> Points:
        """The corners of space at both ends of the span, (k, d + 1)."""
        own = self.space.corners
        return np.vstack([np.insert(own, own.shape[1], t, axis=1) for t in self.time])

    def contains(self, points: Points) -> Flags:
        """Tell which of the points (m, d + 1) lie in the closed region and the span."""
        t = points[:, -1]
        inside = (t >= self.time[0]) & (t <= self.time[1])
        return np.asarray(inside & self.space.contains(points[:, :-1]))

    def sample(self, count: int, how: Sampling = "quasi", seed: int = 0) -> Points:
        """Return points of the region at even moments, in the order of time, (count, d + 1)."""
        share = (np.arange(count) + 0.5) / count
        moments = self.time[0] + share * (self.time[1] - self.time[0])
        return np.hstack([self.space.sample(count, how, seed), moments[:, None]])

    def boundary(self, part: str, count: int = 1, seed: int = 0) -> BoundaryPoints:
        """Refuse: a boundary condition belongs to the problem's own domain."""
        raise DomainError(f"Ask the domain of space for its part {part!r}: domain.space.boundary.")

    def boundary_measure(self, part: str) -> float:
        """Return the measure of a part of the boundary of space times the length of the span."""
        return self.space.boundary_measure(part) * (self.time[1] - self.time[0])

    def smooth_pieces(self, part: str) -> Sequence[Piece]:
        """Refuse, like `boundary`."""
        raise DomainError(f"Ask the domain of space for the pieces of its part {part!r}.")

    def distance(self, points: Points) -> Points:
        """Return the distance to the boundary of space or to the ends of time, (m,)."""
        t = points[:, -1]
        within = np.minimum(t - self.time[0], self.time[1] - t)
        return np.asarray(np.minimum(within, self.space.distance(points[:, :-1])))

    def state(self) -> State:
        """Return what `restore_domain` makes it again from."""
        return {"kind": "spacetime", "space": self.space.state(), "time": list(self.time)}
