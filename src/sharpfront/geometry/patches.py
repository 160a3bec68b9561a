"""Smooth pieces of boundary in three dimensions and more: faces, spheres, triangles."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sharpfront.geometry.curves import Sieve
from sharpfront.geometry.domain import BoundaryPoints, Points
from sharpfront.geometry.sampling import thinned, unit_sample

_JUDGED = 2**14
_MOST_JUDGED = 2**17
_CANDIDATES = 4


class Patch(ABC):
    """A smooth surface as the image of a cube; equal volumes of it have equal areas."""

    @property
    @abstractmethod
    def measure(self) -> float:
        """The area."""

    @property
    @abstractmethod
    def parameters(self) -> int:
        """The dimension of the cube."""

    @abstractmethod
    def at(self, unit: Points) -> BoundaryPoints:
        """Return the images of points of the unit cube."""

    @property
    def share(self) -> float:
        """The share of the cube that has an image."""
        return 1.0

    def spread(self, count: int, seed: int) -> BoundaryPoints:
        """Return points that keep away from each other, out of four times as many."""
        found = self.at(unit_sample(_CANDIDATES * count, self.parameters, "quasi", seed))
        return _chosen(found, thinned(found.points, count))

    def kept(self, sieve: Sieve) -> Sequence[Patch]:
        """Return what a sieve leaves: up to one patch for each side of the surface."""
        tried = min(_MOST_JUDGED, math.ceil(_JUDGED / self.share))
        judged = sieve.side(self.at(unit_sample(tried, self.parameters, "quasi", 0)))
        if np.all(judged == 1):
            return [self]
        return [
            Sifted(self, sieve, side, float(np.mean(judged == side)))
            for side in (1, -1)
            if np.any(judged == side)
        ]


@dataclass(frozen=True, eq=False)
class Sifted(Patch):
    """What a sieve leaves of another patch, on one of its sides."""

    patch: Patch
    sieve: Sieve
    side: int
    fraction: float

    @property
    def measure(self) -> float:
        """The area, by counting points."""
        return self.patch.measure * self.fraction

    @property
    def parameters(self) -> int:
        """The dimension of the cube."""
        return self.patch.parameters

    @property
    def share(self) -> float:
        """The share of the cube that has an image."""
        return self.patch.share * self.fraction

    def at(self, unit: Points) -> BoundaryPoints:
        """Return the images that are kept, fewer than were asked for."""
        found = self.patch.at(unit)
        kept = _chosen(found, np.flatnonzero(self.sieve.side(found) == self.side))
        return BoundaryPoints(kept.points, self.side * kept.normals)

    def spread(self, count: int, seed: int) -> BoundaryPoints:
        """Return points that keep away from each other, out of four times as many."""
        wanted, tried = _CANDIDATES * count, math.ceil(1.2 * _CANDIDATES * count / self.share)
        found = self.at(unit_sample(tried, self.parameters, "quasi", seed))
        while len(found.points) < wanted:
            tried *= 2
            found = self.at(unit_sample(tried, self.parameters, "quasi", seed))
        return _chosen(found, thinned(found.points, count))


@dataclass(frozen=True, eq=False)
class Face(Patch):
    """A parallelogram in any dimension: a corner, the edges from it (k, d), and its normal."""

    corner: Points
    edges: Points
    normal: Points

    @property
    def measure(self) -> float:
        """The area; the edges are at right angles."""
        return float(np.prod(np.linalg.norm(self.edges, axis=1)))

    @property
    def parameters(self) -> int:
        """The number of edges."""
        return len(self.edges)

    def at(self, unit: Points) -> BoundaryPoints:
        """Return the images of points of the unit cube."""
        points = self.corner + unit @ self.edges
        return BoundaryPoints(points, np.tile(self.normal, (len(unit), 1)))

    def spread(self, count: int, seed: int) -> BoundaryPoints:
        """Return quasi-random points, which are even enough on a flat face."""
        return self.at(unit_sample(count, self.parameters, "quasi", seed))


@dataclass(frozen=True, eq=False)
class Sphere(Patch):
    """The surface of a ball in three dimensions or more."""

    centre: Points
    radius: float

    @property
    def measure(self) -> float:
        """The area, 2 pi^(d/2) r^(d-1) / Gamma(d/2)."""
        d = len(self.centre)
        return 2 * math.pow(math.pi, d / 2) * math.pow(self.radius, d - 1) / math.gamma(d / 2)

    @property
    def parameters(self) -> int:
        """Two in space, by height and angle; beyond, as many as coordinates."""
        return 2 if len(self.centre) == 3 else len(self.centre)

    def at(self, unit: Points) -> BoundaryPoints:
        """Return the images of points of the unit cube."""
        normals = self._on_a_globe(unit) if self.parameters == 2 else self._from_normal(unit)
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        return BoundaryPoints(self.centre + self.radius * normals, normals)

    def _on_a_globe(self, unit: Points) -> Points:
        height, angle = 2 * unit[:, 0] - 1, 2 * math.pi * unit[:, 1]
        across = np.sqrt(1 - height**2)
        return np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)

    def _from_normal(self, unit: Points) -> Points:
        from scipy.special import ndtri

        return np.asarray(ndtri(np.clip(unit, 1e-12, 1 - 1e-12)))


@dataclass(frozen=True, eq=False)
class Triangles(Patch):
    """A surface of triangles (t, 3, 3) with their normals (t, 3).

    Parameters
    ----------
    onto
        Where given, points of the triangles are moved by it onto the surface they stand for.
    """

    corners: Points
    normals: Points
    onto: Callable[[Points], BoundaryPoints] | None = None
    parameters: int = 3

    @cached_property
    def _areas(self) -> Points:
        sides = self.corners[:, 1:] - self.corners[:, :1]
        return np.asarray(np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2)

    @property
    def measure(self) -> float:
        """The area."""
        return float(self._areas.sum())

    def at(self, unit: Points) -> BoundaryPoints:
        """Return the images of points of the unit cube."""
        reached = np.cumsum(self._areas)
        which = np.searchsorted(reached, unit[:, 0] * reached[-1], side="right")
        which = np.minimum(which, len(reached) - 1)
        root = np.sqrt(unit[:, 1])
        weights = np.stack([1 - root, root * (1 - unit[:, 2]), root * unit[:, 2]], axis=1)
        points = np.einsum("ij,ijk->ik", weights, self.corners[which])
        return self.onto(points) if self.onto else BoundaryPoints(points, self.normals[which])


def _chosen(found: BoundaryPoints, which: NDArray[np.int64]) -> BoundaryPoints:
    return BoundaryPoints(found.points[which], found.normals[which])
