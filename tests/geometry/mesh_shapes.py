"""Plain regions for tests of meshes and elements, without the geometry room's own shapes."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from sharpfront.geometry import BoundaryPoints


@dataclass(frozen=True)
class Whole:
    """A part of a boundary as one smooth piece."""

    domain: object
    part: str

    @property
    def measure(self):
        return self.domain.boundary_measure(self.part)

    def spread(self, count, seed):
        return self.domain.boundary(self.part, count, seed)


class OnePiece:
    """A region each part of whose boundary is taken as one smooth piece."""

    def smooth_pieces(self, part):
        return (Whole(self, part),)


@dataclass(frozen=True)
class UnitDisk(OnePiece):
    """The unit disk, its boundary in two halves that meet at (-1, 0) and (1, 0)."""

    dimension = 2
    coordinates = ("x", "y")
    parts = ("upper", "lower")
    bounds = np.array([[-1.0, -1.0], [1.0, 1.0]])
    measure = np.pi
    corners = np.array([[-1.0, 0.0], [1.0, 0.0]])

    def contains(self, points):
        return np.linalg.norm(points, axis=1) <= 1

    def distance(self, points):
        return 1 - np.linalg.norm(points, axis=1)

    def boundary_measure(self, part):
        return np.pi

    def boundary(self, part, count=1, seed=0):
        angle = (np.arange(count) + 0.5) / count * np.pi
        angle = angle if part == "upper" else -angle
        points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return BoundaryPoints(points, points)


@dataclass(frozen=True)
class Notch(OnePiece):
    """The L-shaped region (0, 1)^2 without [1/2, 1]^2; its boundary is `outer` and `inner`."""

    dimension = 2
    coordinates = ("x", "y")
    parts = ("outer", "inner")
    bounds = np.array([[0.0, 0.0], [1.0, 1.0]])
    measure = 0.75
    corners = np.array([[0, 0], [1, 0], [1, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]], dtype=float)

    def contains(self, points):
        inside = np.all((points >= 0) & (points <= 1), axis=1)
        return inside & ~np.all(points > 0.5, axis=1)

    def distance(self, points):
        outer = np.minimum(points, 1 - points).min(axis=1)
        inner = np.linalg.norm(np.maximum(0.5 - points, 0), axis=1)
        return np.minimum(outer, inner)

    def boundary_measure(self, part):
        return 3.0 if part == "outer" else 1.0

    def boundary(self, part, count=1, seed=0):
        order = [3, 4, 5, 0, 1, 2, 3]
        path = self.corners[order[1:6]] if part == "outer" else self.corners[[2, 3, 4]]
        sides = np.diff(path, axis=0)
        ends = np.concatenate([[0], np.cumsum(np.linalg.norm(sides, axis=1))])
        arc = (np.arange(count) + 0.5) / count * ends[-1]
        points = np.stack([np.interp(arc, ends, column) for column in path.T], axis=1)
        along = sides[np.clip(np.searchsorted(ends, arc) - 1, 0, len(sides) - 1)]
        along = along / np.linalg.norm(along, axis=1)[:, None]
        return BoundaryPoints(points, np.stack([along[:, 1], -along[:, 0]], axis=1))


@dataclass(frozen=True)
class UnitBall(OnePiece):
    """The unit ball, with points of a spiral on its surface."""

    dimension = 3
    coordinates = ("x", "y", "z")
    parts = ("surface",)
    bounds = np.array([[-1.0] * 3, [1.0] * 3])
    measure = 4 * np.pi / 3
    corners = np.empty((0, 3))

    def contains(self, points):
        return np.linalg.norm(points, axis=1) <= 1

    def distance(self, points):
        return 1 - np.linalg.norm(points, axis=1)

    def boundary_measure(self, part):
        return 4 * np.pi

    def boundary(self, part, count=1, seed=0):
        height = 1 - (2 * np.arange(count) + 1) / count
        angle = np.arange(count) * np.pi * (1 + np.sqrt(5))
        across = np.sqrt(1 - height**2)
        points = np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)
        return BoundaryPoints(points, points)


@dataclass(frozen=True)
class Tube:
    """The unit square with left and right joined."""

    dimension = 2
    coordinates = ("x", "y")
    parts = ("bottom", "top")

    def boundary(self, part, count=1, seed=0):
        raise NotImplementedError


def volumes_of(mesh):
    """Area or volume of each cell."""
    return simplex_measures(mesh.points[mesh.cells])


def simplex_measures(corners):
    """Length, area or volume of simplices with so many corners, (k, n, d)."""
    sides = corners[:, 1:] - corners[:, :1]
    gram = np.linalg.det(sides @ np.swapaxes(sides, 1, 2))
    return np.sqrt(np.maximum(gram, 0)) / math.factorial(sides.shape[1])


def facets_of(mesh):
    """Nodes of the faces that belong to one cell only."""
    width = mesh.cells.shape[1]
    kept = [[j for j in range(width) if j != i] for i in range(width)]
    faces = np.sort(mesh.cells[:, kept].reshape(-1, width - 1), axis=1)
    found, counts = np.unique(faces, axis=0, return_counts=True)
    return found[counts == 1]


def rim_of(mesh, domain):
    """The measure of the mesh's boundary on each part of a domain, by which is nearest."""
    corners = mesh.points[facets_of(mesh)]
    samples = [domain.boundary(part, 4000).points for part in domain.parts]
    owners = np.repeat(np.arange(len(samples)), [len(s) for s in samples])
    _, nearest = cKDTree(np.concatenate(samples)).query(corners.mean(axis=1))
    return np.bincount(owners[nearest], simplex_measures(corners), len(samples))
