"""Polygons with holes, through shapely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.checks import explained, refusal
from sharpfront.errors import DomainError
from sharpfront.geometry.curves import Pieces, ring
from sharpfront.geometry.domain import Points, State
from sharpfront.geometry.shape import Shape, checked_points, needed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Polygon(Shape):
    """A polygon, ``Polygon([(0, 0), (2, 0), (2, 1), (0, 1)])``; needs the extra ``geometry``.

    Its outer boundary is the part ``surface``, and its holes are ``hole1``, ``hole2`` and so on.

    Parameters
    ----------
    points
        The corners (m, 2) in order, either way round; or a polygon of shapely, holes and all.
    holes
        The corners of each hole.
    """

    rings: tuple[Points, ...] = field()
    _shape: Any = field()

    @explained("sf.Polygon([(0, 0), (2, 0), (2, 1)])")
    def __init__(self, points: ArrayLike | Any, holes: Sequence[ArrayLike] = ()) -> None:
        shapely = needed("shapely", "shapely")
        if isinstance(points, shapely.Geometry):
            shape = points
        else:
            if not isinstance(holes, Iterable) or isinstance(holes, str):
                expected = "a list with the corners of each hole"
                raise refusal("holes", expected, holes, error=DomainError)
            inner = [_checked_ring(hole, f"Hole {i + 1}") for i, hole in enumerate(holes)]
            shape = shapely.Polygon(_checked_ring(points, "A polygon"), inner)
        _refuse_what_is_no_polygon(shape, shapely)
        shape = shapely.geometry.polygon.orient(shape)
        rings = (shape.exterior, *shape.interiors)
        shapely.prepare(shape)
        vars(self).update(_shape=shape, rings=tuple(_corners(each.coords) for each in rings))

    def __repr__(self) -> str:
        holes = len(self.rings) - 1
        kind = f", {holes} hole{'s' * (holes > 1)}" if holes else ""
        return f"Polygon({len(self.rings[0])} corners{kind})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Polygon) or len(self.rings) != len(other.rings):
            return False
        return all(map(np.array_equal, self.rings, other.rings))

    def __hash__(self) -> int:
        return hash(tuple(each.tobytes() for each in self.rings))

    @property
    def bounds(self) -> Points:
        """Lower and upper corner of the bounding box, (2, 2)."""
        return np.stack([self.rings[0].min(axis=0), self.rings[0].max(axis=0)])

    @property
    def measure(self) -> float:
        """The area."""
        return float(self._shape.area)

    def distance(self, points: Points) -> Points:
        """Return the distance to the boundary, positive inside, (m,)."""
        shapely = needed("shapely", "shapely")
        away = shapely.distance(self._shape.boundary, shapely.points(points))
        inside = shapely.intersects_xy(self._shape, points[:, 0], points[:, 1])
        return np.asarray(np.where(inside, away, -away))

    def pieces(self, window: Points | None = None) -> Pieces:
        """Return the sides of the polygon and of its holes; `window` is not needed."""
        names = ("surface", *(f"hole{i}" for i in range(1, len(self.rings))))
        return {name: ring(each) for name, each in zip(names, self.rings, strict=True)}

    def state(self) -> State:
        """Return words and arrays from which `restore_domain` makes the polygon again."""
        return {"kind": "polygon", "rings": list(self.rings)}


def _checked_ring(points: ArrayLike, what: str) -> Points:
    corners = checked_points(points, f"{what}'s corners")
    if corners.shape[1] != 2 or len(corners) < 3:
        raise DomainError(
            f"{what} needs three corners or more with two coordinates each, got the shape "
            f"{corners.shape}."
        )
    return corners


def _corners(coordinates: Any) -> Points:
    """Return the corners of a ring once each, without neighbours that coincide."""
    points = np.asarray(coordinates, dtype=np.float64)[:-1, :2]
    return np.asarray(points[np.any(points != np.roll(points, 1, axis=0), axis=1)])


def _refuse_what_is_no_polygon(shape: Any, shapely: Any) -> None:
    if shape.geom_type != "Polygon":
        raise DomainError(
            f"A polygon of shapely is needed, got a {shape.geom_type}. Join several with |."
        )
    if not np.all(np.isfinite(shapely.get_coordinates(shape))):
        raise DomainError("A polygon's corners must be finite, got NaN or infinity.")
    if shape.convex_hull.area == 0:
        raise DomainError("The polygon has no area; its corners lie on one line.")
    if not shape.is_valid:
        reason = shapely.is_valid_reason(shape)
        raise DomainError(f"The polygon crosses or touches itself: {reason}. Check the corners.")
