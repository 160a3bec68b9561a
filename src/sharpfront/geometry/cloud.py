"""Regions given by points of their boundary."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.checks import explained
from sharpfront.errors import DomainError
from sharpfront.geometry.domain import Points, State
from sharpfront.geometry.levelset import LevelSet
from sharpfront.geometry.shape import checked_points

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Cloud(LevelSet):
    """A closed region given by points of its boundary with outward normals; one part, ``surface``.

    Near the points the boundary is the zero of a weighted mean of (n_i + n) . (x - x_i) / 2 over
    the nearest points, n the mean normal there: it passes through them, is exact for circles and
    spheres, and rounds corners off over about the spacing of the points. The sign far away is
    that of the nearest points, and is checked against the winding number of all of them.

    Parameters
    ----------
    points
        Points of the boundary, (m, 2) or (m, 3), closely and evenly spaced.
    normals
        Their outward normals, of any length.
    """

    points: Points
    normals: Points
    frame: Points = field()

    @explained("sf.Cloud(points, normals)")
    def __init__(self, points: ArrayLike, normals: ArrayLike) -> None:
        places, ways = checked_points(points, "Points"), checked_points(normals, "Normals")
        lengths = np.linalg.norm(ways, axis=1)
        if places.shape != ways.shape or places.shape[1] not in (2, 3) or len(places) < 12:
            raise DomainError(
                "A cloud needs twelve points or more in two or three dimensions and as many "
                f"normals, got the shapes {places.shape} and {ways.shape}."
            )
        if np.any(lengths == 0):
            raise DomainError("The normals of a cloud must not be zero.")
        vars(self).update(points=places, normals=ways / lengths[:, None])
        room = max(3 * self._spacing.max(), 0.05 * np.ptp(places, axis=0).max())
        ends = [places.min(axis=0) - room, places.max(axis=0) + room]
        vars(self).update(frame=np.stack(ends))
        self._refuse_what_is_not_closed()

    def __repr__(self) -> str:
        return f"Cloud({len(self.points)} points in {self.points.shape[1]} dimensions)"

    def state(self) -> State:
        """Return words and arrays from which `restore_domain` makes the cloud again."""
        return {"kind": "cloud", "points": self.points, "normals": self.normals}

    def value(self, points: Points) -> Points:
        """Return about the distance at points (m, d), negative inside."""
        return self.both(points)[0]

    def gradient(self, points: Points) -> Points:
        """Return the mean normal at points, (m, d)."""
        return self.both(points)[1]

    def both(self, points: Points) -> tuple[Points, Points]:
        """Return about the distance, negative inside, and the mean normal at points."""
        count = min(8 if points.shape[1] == 2 else 16, len(self.points))
        away, nearest = self._tree.query(points, k=count)
        closeness = -((away / self._spacing[nearest]) ** 2)
        weights = np.exp(closeness - closeness.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        ways = self.normals[nearest]
        mean = np.einsum("ij,ijk->ik", weights, ways)
        mean /= np.maximum(np.linalg.norm(mean, axis=1), 1e-300)[:, None]
        offset = points[:, None, :] - self.points[nearest]
        height = np.einsum("ijk,ijk->ij", ways + mean[:, None, :], offset) / 2
        return np.sum(weights * height, axis=1), mean

    @property
    def _steepness(self) -> float:
        # The value is about the distance.
        return 1.0

    @cached_property
    def _tree(self) -> cKDTree:
        from scipy.spatial import cKDTree

        return cKDTree(self.points)

    @cached_property
    def _spacing(self) -> Points:
        """The distance between neighbours at each point, (m,)."""
        found, _ = self._tree.query(self.points, k=3 if self.points.shape[1] == 2 else 5)
        nearest = np.asarray(found)
        if np.any(nearest[:, 1] == 0):
            raise DomainError("Some points of the cloud coincide; give each one once.")
        return np.asarray(nearest[:, 1:].mean(axis=1))

    def _refuse_what_is_not_closed(self) -> None:
        low, high = self.frame
        tried = np.random.default_rng(0).uniform(low, high, (400, self.dimension))
        value = self.value(tried)
        clear = np.abs(value) > 2 * np.median(self._spacing)
        turns = self._winding(tried[clear])
        wrong = float(np.mean((turns > 0.5) != (value[clear] < 0))) if clear.any() else 0.0
        if wrong > 0.02:
            raise DomainError(
                f"The points do not surround a region: {wrong:.0%} of the points tried are inside "
                "by the nearest normals and outside by the winding number, or the other way round. "
                "Check that the normals lead outwards and that there are no gaps."
            )
        _ = self._region

    def _winding(self, tried: Points) -> Points:
        """Return how often the boundary goes round points, the sum of dipoles of all points."""
        d = self.dimension
        ball = 2 * np.pi if d == 2 else 4 * np.pi
        area = self._spacing if d == 2 else self._spacing**2
        offset = self.points[None] - tried[:, None]
        reach = np.linalg.norm(offset, axis=2) ** d
        dipoles = area * np.sum(offset * self.normals, axis=2) / reach
        return np.asarray(np.sum(dipoles, axis=1) / ball)
