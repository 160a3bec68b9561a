"""Smooth pieces of boundary in three dimensions and more: faces, spheres, triangles."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from sharpfront.arrays import Ints
from sharpfront.geometry.curves import Sieve
from sharpfront.geometry.domain import BoundaryPoints, Points
from sharpfront.geometry.sampling import candidates, thinned, unit_sample

# Sieves one after the other, each with the side of it that is kept.
Sieves = tuple[tuple[Sieve, int], ...]
_JUDGED = 2**14
_MOST_JUDGED = 2**17
_LEAST_SHARE = 1e-3


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

    @abstractmethod
    def triangles(self) -> Triangles:
        """Return triangles that cover the surface, in space; what sieves leave out may be there."""

    @property
    def share(self) -> float:
        """The share of the cube that has an image."""
        return 1.0

    def spread(self, count: int, seed: int) -> BoundaryPoints:
        """Return points that keep away from each other; beyond 2000, quasi-random ones."""
        found = self.at(unit_sample(candidates(count), self.parameters, "quasi", seed))
        return found.chosen(thinned(found.points, count))

    def reached(self, unit: Points) -> tuple[Points, BoundaryPoints]:
        """Return the points of the cube that have an image, and their images."""
        return unit, self.at(unit)

    def kept(self, sieve: Sieve) -> Sequence[Patch]:
        """Return what a sieve leaves: up to one patch for each side of the surface.

        What covers less than a thousandth of its own surroundings in the cube is left out.
        """
        tried = min(_MOST_JUDGED, math.ceil(_JUDGED / self.share))
        unit, found = self.reached(unit_sample(tried, self.parameters, "quasi", 0))
        judged = sieve.side(found)
        if np.all(judged == 1):
            return [self]
        left = [self.sifted(sieve, s, unit[judged == s]) for s in (1, -1) if np.any(judged == s)]
        return [patch for patch in left if patch.share > _LEAST_SHARE]

    def sifted(self, sieve: Sieve, side: int, seen: Points) -> Sifted:
        """Return what a sieve leaves on one side, some of it seen at points of the cube."""
        return _sifted(self, ((sieve, side),), seen)


@dataclass(frozen=True, eq=False)
class Window(Patch):
    """The image of a smaller box of another patch's cube, from `low` to `high`."""

    patch: Patch
    low: Points
    high: Points

    @property
    def measure(self) -> float:
        """The area."""
        return self.patch.measure * float(np.prod(self.high - self.low))

    @property
    def parameters(self) -> int:
        """The dimension of the cube."""
        return self.patch.parameters

    def at(self, unit: Points) -> BoundaryPoints:
        """Return the images of points of the unit cube."""
        return self.patch.at(self.low + unit * (self.high - self.low))

    def triangles(self) -> Triangles:
        """Return those of the whole patch, or of the smaller parallelogram."""
        if not isinstance(self.patch, Face):
            return self.patch.triangles()
        face = self.patch
        edges = (self.high - self.low)[:, None] * face.edges
        return Face(face.corner + self.low @ face.edges, edges, face.normal).triangles()


@dataclass(frozen=True, eq=False)
class Sifted(Patch):
    """What sieves leave of another patch, each on one of its sides."""

    patch: Patch
    sieves: Sieves
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
        return self.fraction

    def reached(self, unit: Points) -> tuple[Points, BoundaryPoints]:
        """Return the points of the cube whose image is kept, and their images."""
        which, found = passed(self.patch.at(unit), self.sieves)
        return unit[which], found

    def at(self, unit: Points) -> BoundaryPoints:
        """Return the images that are kept, fewer than were asked for."""
        return self.reached(unit)[1]

    def triangles(self) -> Triangles:
        """Return those of the other patch."""
        return self.patch.triangles()

    def spread(self, count: int, seed: int) -> BoundaryPoints:
        """Return points that keep away from each other; beyond 2000, quasi-random ones."""
        wanted = candidates(count)
        tried = math.ceil(1.2 * wanted / self.share)
        found = self.at(unit_sample(tried, self.parameters, "quasi", seed))
        while len(found.points) < wanted:
            tried *= 2
            found = self.at(unit_sample(tried, self.parameters, "quasi", seed))
        return found.chosen(thinned(found.points, count))

    def sifted(self, sieve: Sieve, side: int, seen: Points) -> Sifted:
        """Return what a further sieve leaves on one side."""
        return _sifted(self.patch, (*self.sieves, (sieve, side)), seen)


def sieves_of(piece: object) -> tuple[object, Sieves]:
    """Return what a piece of boundary is cut from, and the sieves that cut it."""
    sieves: Sieves = ()
    while isinstance(piece, Sifted | Window):
        if isinstance(piece, Sifted):
            sieves = (*piece.sieves, *sieves)
        piece = piece.patch
    return piece, sieves


def passed(found: BoundaryPoints, sieves: Sieves) -> tuple[Ints, BoundaryPoints]:
    """Return which points sieves leave, and these, with normals that lead out of the solid."""
    which = np.arange(len(found.points))
    for sieve, side in sieves:
        own = np.flatnonzero(sieve.side(found) == side)
        found = BoundaryPoints(found.points[own], side * found.normals[own])
        which = which[own]
    return which, found


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

    def triangles(self) -> Triangles:
        """Return its two halves."""
        a, b = self.edges
        corners = self.corner + np.array([[0 * a, a, a + b], [0 * a, a + b, b]])
        return Triangles(corners, np.tile(self.normal, (2, 1)))

    def kept(self, sieve: Sieve) -> Sequence[Patch]:
        """Return what a sieve leaves, looked for inside its frame only.

        A small region cut from a large face would be missed among points of the whole face.
        """
        along = np.abs(self.edges)
        if sieve.frame is None or np.any(np.count_nonzero(along, axis=1) > 1):
            return super().kept(sieve)
        axes = along.argmax(axis=1)
        ends = (sieve.frame[:, axes] - self.corner[axes]) / self.edges.sum(axis=0)[axes]
        low, high = np.clip(np.sort(ends, axis=0), 0, 1)
        if np.all((low == 0) & (high == 1)):
            return super().kept(sieve)
        return Window(self, low, high).kept(sieve) if np.all(low < high) else []

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
        if self.parameters == 2:
            height, angle = 2 * unit[:, 0] - 1, 2 * math.pi * unit[:, 1]
            across = np.sqrt(1 - height**2)
            normals = np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)
        else:
            # Points that are normally distributed lie in all directions alike.
            normals = np.asarray(ndtri(np.clip(unit, 1e-12, 1 - 1e-12)))
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        return BoundaryPoints(self.centre + self.radius * normals, normals)

    def triangles(self) -> Triangles:
        """Return those of an octahedron, which points are moved onto the sphere from."""
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
        corners = self.centre + self.radius * signs[:, :, None] * np.eye(3)
        return Triangles(corners, signs / math.sqrt(3.0), self._onto)

    def _onto(self, points: Points) -> BoundaryPoints:
        normals = points - self.centre
        normals = normals / np.linalg.norm(normals, axis=1)[:, None]
        return BoundaryPoints(self.centre + self.radius * normals, normals)


@dataclass(frozen=True, eq=False)
class Triangles(Patch):
    """A surface of triangles (t, 3, 3) with their normals (t, 3)."""

    corners: Points
    normals: Points
    # Where given, points of the triangles are moved by it onto the surface they stand for.
    onto: Callable[[Points], BoundaryPoints] | None = None
    parameters: int = 3

    @cached_property
    def areas(self) -> Points:
        """The area of each."""
        sides = self.corners[:, 1:] - self.corners[:, :1]
        return np.asarray(np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2)

    @property
    def measure(self) -> float:
        """The area."""
        return float(self.areas.sum())

    def at(self, unit: Points) -> BoundaryPoints:
        """Return the images of points of the unit cube."""
        reached = np.cumsum(self.areas)
        which = np.searchsorted(reached, unit[:, 0] * reached[-1], side="right")
        which = np.minimum(which, len(reached) - 1)
        root = np.sqrt(unit[:, 1])
        weights = np.stack([1 - root, root * (1 - unit[:, 2]), root * unit[:, 2]], axis=1)
        points = np.einsum("ij,ijk->ik", weights, self.corners[which])
        return self.onto(points) if self.onto else BoundaryPoints(points, self.normals[which])

    @property
    def middles(self) -> BoundaryPoints:
        """The middle of each, on the surface."""
        middles = self.corners.mean(axis=1)
        return self.onto(middles) if self.onto else BoundaryPoints(middles, self.normals)

    def triangles(self) -> Triangles:
        """Return itself."""
        return self


def _sifted(patch: Patch, sieves: tuple[tuple[Sieve, int], ...], seen: Points) -> Sifted:
    """Return what sieves leave of a patch, of which only the surroundings of `seen` matter."""
    room = 2 / _JUDGED ** (1 / patch.parameters)
    low = np.maximum(seen.min(axis=0) - room, 0)
    high = np.minimum(seen.max(axis=0) + room, 1)
    if np.prod(high - low) < 0.5:
        patch = Window(patch, low, high)
    found = Sifted(patch, sieves, 1.0).at(unit_sample(_JUDGED, patch.parameters, "quasi", 0))
    return Sifted(patch, sieves, len(found.points) / _JUDGED)
