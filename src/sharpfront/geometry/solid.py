"""Closed triangle surfaces from files, through trimesh and libigl."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.arrays import Flags, Ints
from sharpfront.checks import explained
from sharpfront.errors import DomainError
from sharpfront.geometry.curves import Pieces
from sharpfront.geometry.domain import Points, State
from sharpfront.geometry.patches import Triangles
from sharpfront.geometry.shape import Shape, checked_points, needed

_FORMATS = (".stl", ".obj", ".ply")
_LOOKED_BEHIND = 5000


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Solid(Shape):
    """The inside of a closed triangle surface, ``Solid("part.stl")``; one part, ``surface``.

    Needs the extra ``geometry``. Points are inside by the winding number of the surface. A
    surface is refused if an edge does not belong to just two triangles that agree on its
    direction, and if, close to the middle of a triangle (up to 5000 of them), the winding number
    is not one behind it and zero ahead, as happens where it passes through itself.

    Parameters
    ----------
    surface
        A file (STL, OBJ or PLY), or a mesh of trimesh.
    """

    vertices: Points
    faces: Ints

    @explained('sf.Solid("part.stl")')
    def __init__(self, surface: str | Path | Any) -> None:
        trimesh = needed("trimesh", "trimesh")
        needed("igl", "libigl")
        if isinstance(surface, (str, Path)):
            surface = _read(Path(surface), trimesh)
        if not isinstance(surface, trimesh.Trimesh):
            raise DomainError(
                f"A solid is made from a file or a trimesh.Trimesh, got {type(surface).__name__}."
            )
        vertices, faces = _checked_surface(surface)
        vars(self).update(vertices=vertices, faces=faces)
        self._refuse_crossings()

    @classmethod
    def from_triangles(cls, vertices: ArrayLike, faces: ArrayLike) -> Solid:
        """Return the solid with the given vertices (m, 3) and triangles (t, 3) of their indices."""
        trimesh = needed("trimesh", "trimesh")
        corners, indices = checked_points(vertices, "Vertices"), checked_points(faces, "Triangles")
        known = (indices == indices.round()) & (indices >= 0) & (indices < len(corners))
        if corners.shape[1] != 3 or indices.shape[1] != 3 or not known.all():
            raise DomainError(
                "A solid needs vertices (m, 3) and triangles (t, 3) of whole numbers from 0 to "
                f"m - 1, got the shapes {corners.shape} and {indices.shape}."
            )
        return cls(trimesh.Trimesh(corners, indices.astype(np.int64), process=False))

    def __repr__(self) -> str:
        return f"Solid({len(self.faces)} triangles)"

    @property
    def bounds(self) -> Points:
        """Lower and upper corner of the bounding box, (2, 3)."""
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    @property
    def measure(self) -> float:
        """The volume."""
        return _volume(self.vertices[self.faces])

    def distance(self, points: Points) -> Points:
        """Return the distance to the surface, positive inside, (m,)."""
        igl = needed("igl", "libigl")
        if not len(points):
            return np.empty(0)
        points = np.ascontiguousarray(points, dtype=np.float64)
        squared = igl.point_mesh_squared_distance(points, self.vertices, self.faces)[0]
        away = np.sqrt(np.maximum(squared, 0))
        return np.asarray(np.where(self._winding(points) > 0.5, away, -away))

    def within(self, points: Points, slack: float) -> Flags:
        """Tell which points (m, 3) are inside or at most `slack` outside."""
        low, high = self.bounds
        room = max(slack, 0.0)
        found = np.all((points >= low - room) & (points <= high + room), axis=1)
        found[found] = self.distance(points[found]) >= -slack
        return np.asarray(found)

    def pieces(self, window: Points | None = None) -> Pieces:
        """Return the triangles; `window` is not needed."""
        corners = self.vertices[self.faces]
        return {"surface": (Triangles(corners, _normals(corners)),)}

    def state(self) -> State:
        """Return words and arrays from which `restore_domain` makes the solid again."""
        return {"kind": "solid", "vertices": self.vertices, "faces": self.faces}

    def _winding(self, points: Points) -> Points:
        igl = needed("igl", "libigl")
        return np.asarray(igl.fast_winding_number(self.vertices, self.faces, points))

    def _refuse_crossings(self) -> None:
        corners = self.vertices[self.faces][:: max(1, len(self.faces) // _LOOKED_BEHIND)]
        normals = _normals(corners)
        corners, normals = corners[np.any(normals, axis=1)], normals[np.any(normals, axis=1)]
        middles, step = corners.mean(axis=1), 1e-5 * self._size * normals
        behind = self._winding(np.ascontiguousarray(middles - step))
        ahead = self._winding(np.ascontiguousarray(middles + step))
        wrong = (np.abs(behind - 1) > 0.5) | (np.abs(ahead) > 0.5)
        if wrong.any():
            raise DomainError(
                f"The surface passes through itself, for example near "
                f"{middles[np.flatnonzero(wrong)[0]].tolist()}. Repair it, or join its parts "
                "with |."
            )


def _read(path: Path, trimesh: Any) -> Any:
    if not path.is_file():
        raise DomainError(f"There is no file {str(path)!r}.")
    if path.suffix.lower() not in _FORMATS:
        raise DomainError(f"A solid is read from STL, OBJ or PLY, got {path.name!r}.")
    try:
        surface = trimesh.load_mesh(path)
    except Exception as error:
        # Readers of damaged files fail in many ways.
        raise DomainError(f"{str(path)!r} cannot be read as a surface: {error}") from error
    if not isinstance(surface, trimesh.Trimesh) or not len(surface.faces):
        raise DomainError(f"{str(path)!r} cannot be read as a surface: it has no triangles.")
    return surface


def _checked_surface(surface: Any) -> tuple[Points, Ints]:
    vertices = np.ascontiguousarray(surface.vertices, dtype=np.float64)
    faces = np.ascontiguousarray(surface.faces, dtype=np.int64)
    if not len(faces) or not np.all(np.isfinite(vertices)):
        raise DomainError("A surface needs triangles with finite corners.")
    vertices, faces = _used(vertices, faces)
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    if np.any(counts != 2):
        raise DomainError(
            f"The surface is not closed: {int(np.sum(counts != 2))} of its {len(counts)} edges do "
            "not belong to just two triangles. Repair it, for example with trimesh.repair."
        )
    directed = np.unique(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=0)
    if len(directed) < 3 * len(faces):
        raise DomainError(
            "The triangles of the surface do not agree on which side is outside. "
            "Try trimesh.repair.fix_normals."
        )
    volume = _volume(vertices[faces])
    if abs(volume) <= 1e-12 * float(np.prod(np.ptp(vertices, axis=0))):
        raise DomainError("The surface encloses no volume.")
    return vertices, (faces if volume > 0 else np.ascontiguousarray(faces[:, ::-1]))


def _used(vertices: Points, faces: Ints) -> tuple[Points, Ints]:
    """Join vertices in the same place, and leave out triangles of fewer than three places."""
    once, which = np.unique(vertices[faces.ravel()], axis=0, return_inverse=True)
    joined = which.reshape(-1, 3)
    distinct = np.all(joined != np.roll(joined, 1, axis=1), axis=1)
    return np.ascontiguousarray(once), np.ascontiguousarray(joined[distinct], dtype=np.int64)


def _volume(corners: Points) -> float:
    """Return a third of the integral of x . n over triangles (t, 3, 3)."""
    a, b, c = np.moveaxis(corners - corners.mean(axis=(0, 1)), 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6)


def _normals(corners: Points) -> Points:
    sides = corners[:, 1:] - corners[:, :1]
    across = np.cross(sides[:, 0], sides[:, 1])
    return np.asarray(across / np.maximum(np.linalg.norm(across, axis=1), 1e-300)[:, None])
