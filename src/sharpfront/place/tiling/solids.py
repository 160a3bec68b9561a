"""Regions in space whose boundary is made of faces parallel to the axes, on the faces' lattice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import product_points
from sharpfront.geometry import Domain
from sharpfront.geometry.domain import BoundaryPoints
from sharpfront.geometry.patches import Face, Sieves, sieves_of
from sharpfront.geometry.shape import pieces_of

Wall = tuple[int, float, FloatArray, FloatArray, str]
# Where on a rectangle of the lattice it is asked which part of the boundary it belongs to.
ASKED = np.array([0.02, 0.31, 0.5, 0.73, 0.98])
# Places that differ by less than this share of the domain are one: ends of cut curves are found by
# bisection.
ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class _Named:
    """A face parallel to the axes, of which sieves leave something, and its part."""

    part: str
    face: Face
    sieves: Sieves

    @cached_property
    def ends(self) -> FloatArray:
        """The lower and the upper corner of the whole face, (2, d)."""
        both = np.stack([self.face.corner, self.face.corner + self.face.edges.sum(axis=0)])
        return np.sort(both, axis=0)

    def has(self, points: FloatArray, near: float) -> NDArray[np.bool_]:
        """Tell which points lie on what is left of the face."""
        low, high = self.ends
        kept = np.all((points >= low - near) & (points <= high + near), axis=1)
        normals = np.tile(self.face.normal, (len(points), 1))
        for sieve, side in self.sieves:
            kept &= sieve.side(BoundaryPoints(points, normals)) == side
            normals = side * normals
        return np.asarray(kept)


def lattice_of(domain: Domain) -> tuple[tuple[FloatArray, ...], tuple[Wall, ...]] | None:
    """Return the lines of the lattice of a solid's faces, and its walls between them.

    None where a face is curved or slanted, or a part of the boundary ends between two lines.
    """
    pieces = pieces_of(domain)
    every = [_named(part, piece) for part, own in pieces.items() for piece in own]
    faces = [face for face in every if face is not None]
    if not faces or len(faces) < len(every):
        return None
    size = float(np.ptp(domain.bounds, axis=0).max())
    places = np.concatenate([face.ends for face in faces])
    lines = tuple(merged(x, size) for x in places.T)
    middles = product_points([0.5 * (x[1:] + x[:-1]) for x in lines])
    inside = domain.contains(middles).reshape([len(x) - 1 for x in lines])
    walls = []
    for axis, place, low, high in _bare(inside, lines):
        part = _part(faces, axis, place, low, high, ROUNDING * size)
        if not part:
            return None
        walls.append((axis, place, low, high, part))
    return tuple(_touched(x, inside, a) for a, x in enumerate(lines)), tuple(walls)


def edges_of(walls: Sequence[Wall]) -> FloatArray:
    """Return the lines along which walls meet at an angle, (k, d); NaN along the line itself."""
    meeting: dict[tuple[float, ...], set[int]] = {}
    for axis, place, low, high, _ in walls:
        rest = [a for a in range(len(low) + 1) if a != axis]
        for i, end in itertools.product(range(len(rest)), (low, high)):
            line = [place if a == axis else np.nan for a in range(len(low) + 1)]
            line[rest[i]] = float(end[i])
            others = tuple(b for j in range(len(rest)) if j != i for b in (low[j], high[j]))
            meeting.setdefault((*np.nan_to_num(line, nan=np.inf), *others), set()).add(axis)
    found = {key[:3] for key, axes in meeting.items() if len(axes) > 1}
    lines = np.array(sorted(found)).reshape(-1, 3)
    return np.where(np.isinf(lines), np.nan, lines)


def _named(part: str, piece: object) -> _Named | None:
    """Return a piece of boundary as a face and sieves; None if it is none parallel to the axes."""
    piece, sieves = sieves_of(piece)
    if not isinstance(piece, Face):
        return None
    parallel = np.count_nonzero(piece.edges, axis=1).max() == 1
    return _Named(part, piece, sieves) if parallel else None


def merged(places: ArrayLike, length: float) -> FloatArray:
    """Return sorted places, those that differ by rounding of a length as one."""
    found = np.unique(np.asarray(places, dtype=float))
    return np.asarray(found[np.diff(found, prepend=-np.inf) > ROUNDING * length])


def _touched(lines: FloatArray, inside: NDArray[np.bool_], axis: int) -> FloatArray:
    """Return the lines of an axis that bound a box of the domain."""
    used = inside.any(axis=tuple(b for b in range(inside.ndim) if b != axis))
    return np.asarray(lines[np.append(used, False) | np.append(False, used)])


def _bare(
    inside: NDArray[np.bool_], lines: Sequence[FloatArray]
) -> Iterator[tuple[int, float, FloatArray, FloatArray]]:
    """Yield axis, place and extent of the lattice's rectangles with the domain on one side."""
    for axis in range(inside.ndim):
        beyond = np.zeros_like(inside.take([0], axis))
        change = np.diff(np.concatenate([beyond, inside, beyond], axis).astype(int), axis=axis)
        rest = [a for a in range(inside.ndim) if a != axis]
        for index in np.argwhere(change):
            low, high = (np.array([lines[a][index[a] + k] for a in rest]) for k in (0, 1))
            yield axis, float(lines[axis][index[axis]]), low, high


def _part(
    faces: Sequence[_Named], axis: int, place: float, low: FloatArray, high: FloatArray, near: float
) -> str:
    """Return the part of the boundary that has all of a rectangle; empty if none has."""
    points = product_points([a + (b - a) * ASKED for a, b in zip(low, high, strict=True)])
    points = np.insert(points, axis, place, axis=1)
    for part in dict.fromkeys(face.part for face in faces):
        own = [f.has(points, near) for f in faces if f.part == part and f.face.normal[axis]]
        if own and np.any(own, axis=0).all():
            return part
    return ""
