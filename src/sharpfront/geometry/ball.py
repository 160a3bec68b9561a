"""Ball of any dimension, disk, and half-space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sharpfront.checks import explained, positive
from sharpfront.errors import DomainError
from sharpfront.geometry.curves import Circle, Pieces, Segment
from sharpfront.geometry.domain import Points
from sharpfront.geometry.patches import Face, Sphere
from sharpfront.geometry.stated_shape import Example, StatedShape, squared_distance, sum_of, vector


@dataclass(frozen=True, init=False, repr=False)
class Ball(StatedShape):
    """All points within `radius` of `centre`; its boundary is one part, ``surface``.

    Parameters
    ----------
    centre
        The centre, in two dimensions or more.
    radius
        The radius, positive.
    """

    centre: tuple[float, ...]
    radius: float

    kind: ClassVar[str] = "ball"
    example: ClassVar[Example] = {"centre": (0.0, 0.0, 0.0), "radius": 1.0}

    @explained("sf.Ball((0, 0, 0), 1)")
    def __init__(self, centre: Sequence[float], radius: float) -> None:
        size = positive(radius, "The radius", error=DomainError)
        vars(self).update(centre=vector(centre, "The centre"), radius=size)

    @property
    def bounds(self) -> Points:
        """Lower and upper corner of the bounding box, (2, d)."""
        centre = np.array(self.centre)
        return np.stack([centre - self.radius, centre + self.radius])

    @property
    def measure(self) -> float:
        """Area or volume, pi^(d/2) r^d / Gamma(d/2 + 1)."""
        d = self.dimension
        return math.pow(math.pi, d / 2) * math.pow(self.radius, d) / math.gamma(d / 2 + 1)

    def distance(self, points: Points) -> Points:
        """Return the distance to the boundary, positive inside, (m,)."""
        return np.asarray(self.radius - np.linalg.norm(points - np.array(self.centre), axis=1))

    def pieces(self, window: Points | None = None) -> Pieces:
        """Return the circle or sphere; `window` is not needed."""
        kind = Circle if self.dimension == 2 else Sphere
        return {"surface": (kind(np.array(self.centre), self.radius),)}

    def inequality(self, coordinates: Sequence[Any]) -> tuple[Any, Any]:
        """Return the squared distance from the centre, and the squared radius."""
        return squared_distance(coordinates, self.centre), self.radius**2


class Disk(Ball):
    """A disk in the plane, ``Disk((0.5, 0.5), 0.2)``; its boundary is one part, ``surface``."""

    kind: ClassVar[str] = "disk"
    example: ClassVar[Example] = {"centre": (0.0, 0.0), "radius": 1.0}

    @explained("sf.Disk((0, 0), 1)")
    def __init__(self, centre: Sequence[float], radius: float) -> None:
        super().__init__(centre, radius)
        if self.dimension != 2:
            raise DomainError(
                f"A disk has a centre with two coordinates, got {self.dimension}. Try Ball."
            )


@dataclass(frozen=True, init=False, repr=False)
class HalfSpace(StatedShape):
    """One side of a line or plane, for cutting other regions: the side its normal leads away from.

    ``Disk((0, 0), 1) & HalfSpace((0, 0), (0, 1))`` is the lower half of the disk. By itself it
    is unbounded and cannot be sampled. Its boundary is one part, ``surface``.

    Parameters
    ----------
    point
        A point of the line or plane, in two or three dimensions.
    normal
        A direction of any length that leads out of the region.
    """

    point: tuple[float, ...]
    normal: tuple[float, ...]

    kind: ClassVar[str] = "half-space"
    example: ClassVar[Example] = {"point": (0.0, 0.0), "normal": (0.0, 1.0)}

    @explained("sf.HalfSpace((0, 0), (0, 1))")
    def __init__(self, point: Sequence[float], normal: Sequence[float]) -> None:
        at, way = vector(point, "The point"), vector(normal, "The normal")
        length = math.hypot(*way)
        # A normal of length one stays as it is to the last digit, so that it can be restored.
        length = 1.0 if abs(length - 1) < 1e-14 else length
        if len(at) != len(way) or len(at) > 3:
            raise DomainError(
                f"A half-space has a point and a normal with two or three coordinates each, "
                f"got {len(at)} and {len(way)}."
            )
        if length == 0:
            raise DomainError("The normal of a half-space must not be zero.")
        vars(self).update(point=at, normal=tuple(c / length for c in way))

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.point)

    @property
    def bounds(self) -> Points:
        """Minus and plus infinity, (2, d)."""
        return np.array([[-math.inf] * self.dimension, [math.inf] * self.dimension])

    @property
    def measure(self) -> float:
        """Infinity."""
        return math.inf

    @property
    def slack(self) -> float:
        """How far outside a point may be by rounding."""
        return 1e-12 * (1 + max(abs(c) for c in self.point))

    def distance(self, points: Points) -> Points:
        """Return the distance to the line or plane, positive inside, (m,)."""
        return np.asarray((np.array(self.point) - points) @ np.array(self.normal))

    def pieces(self, window: Points | None = None) -> Pieces:
        """Return a segment or square of the line or plane that covers the window (2, d)."""
        if window is None:
            raise DomainError(f"{self!r} is unbounded; cut it with & first.")
        normal, reach = np.array(self.normal), math.hypot(*np.ptp(window, axis=0))
        middle = window.mean(axis=0)
        middle = middle + self.distance(middle[None, :])[0] * normal
        if self.dimension == 2:
            along = np.array([-normal[1], normal[0]]) * reach
            return {"surface": (Segment(middle - along, middle + along),)}
        # The two left singular vectors after the first span the plane at right angles to it.
        across = np.linalg.svd(normal[:, None])[0][:, 1:].T * 2 * reach
        return {"surface": (Face(middle - across.sum(axis=0) / 2, across, normal),)}

    def inequality(self, coordinates: Sequence[Any]) -> tuple[Any, Any]:
        """Return the way along the normal, and that of the point."""
        along = [n * c for c, n in zip(coordinates, self.normal, strict=True)]
        return sum_of(along), float(np.dot(self.normal, self.point))
