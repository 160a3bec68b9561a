"""Surfaces of solids inside boxes: points on them that are as dense as is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sharpfront.arrays import Flags, Ints
from sharpfront.geometry.domain import BoundaryPoints, Points
from sharpfront.geometry.patches import Patch, Sieves, Triangles, passed, sieves_of
from sharpfront.geometry.sampling import thinned
from sharpfront.rounding import BISECTIONS, SAME

# A curved triangle lies within this share of its longest edge of the flat one.
BULGE = 0.25
# Curved triangles are halved at first until no edge is longer than this share of the surface.
COARSEST = 0.2
# Triangles are about so many times the square of their longest edge.
FULL = 0.3
# No more points than this are thinned out.
MANY = 2000
# Points are chosen from so many times as many: neighbouring triangles come one after the other.
CHOSEN_FROM = 8


@dataclass(frozen=True, eq=False)
class Surface:
    """A smooth piece of the boundary of a solid: what sieves leave of some triangles.

    Parameters
    ----------
    part
        The name of its part.
    triangles
        Triangles that cover it, and how points of them are moved onto it.
    sieves
        What is kept of them, each with the side on which the solid lies.
    """

    part: str
    triangles: Triangles
    sieves: Sieves = ()

    @classmethod
    def of(cls, part: str, piece: object) -> Surface | None:
        """Return a piece of boundary in space; None of what is no surface there."""
        if not isinstance(piece, Patch):
            return None
        return cls(part, piece.triangles(), sieves_of(piece)[1])

    @property
    def is_curved(self) -> bool:
        """Whether points of the triangles are moved."""
        return self.triangles.onto is not None

    @cached_property
    def wall(self) -> tuple[int, float, Points, Points] | None:
        """Axis and place of a plane across an axis that it lies in, with its extent in it."""
        corners = self.triangles.corners.reshape(-1, 3)
        size = np.ptp(corners, axis=0)
        axis = int(np.argmin(size))
        low, high = corners.min(axis=0), corners.max(axis=0)
        at_ends = np.minimum(corners - low, high - corners) <= SAME * size.max()
        if self.is_curved or len(corners) != 6 or size[axis] > SAME * size.max():
            return None
        rest = [a for a in range(3) if a != axis]
        return (axis, float(low[axis]), low[rest], high[rest]) if at_ends.all() else None

    @cached_property
    def _fine(self) -> Triangles:
        """The triangles, no longer than they are bent."""
        if not self.is_curved:
            return self.triangles
        size = float(np.ptp(self.triangles.corners.reshape(-1, 3), axis=0).max())
        return _halved(self.triangles, COARSEST * size, None)

    def meshed(self, spacing: float) -> Triangles:
        """Return triangles with corners on it and no longer edges, before anything is sieved."""
        return _halved(self._fine, spacing, None)

    def kept(self, found: BoundaryPoints) -> tuple[Ints, BoundaryPoints]:
        """Return which points sieves leave, and these, with normals that lead out of the solid."""
        return passed(found, self.sieves)

    def within(self, low: Points, high: Points, spacing: float) -> tuple[BoundaryPoints, Points]:
        """Return points in a box, about so far apart or closer, and the area that each has."""
        near = _halved(self._fine, spacing, (low, high))
        moved = near.middles
        own = _in_box(moved.points, low, high)
        areas = near.areas[own]
        which, found = self.kept(moved.chosen(own))
        return _behind(found, areas[which], low, high)

    def on_wall(self, low: Points, high: Points, along: int) -> tuple[BoundaryPoints, Points]:
        """Return points of a wall in a box, so many along an axis where it reaches across."""
        assert self.wall is not None
        axis, place, start, stop = self.wall
        rest = [a for a in range(3) if a != axis]
        start, stop = np.maximum(start, low[rest]), np.minimum(stop, high[rest])
        if np.any(start >= stop) or not low[axis] <= place <= high[axis]:
            return BoundaryPoints(np.empty((0, 3)), np.empty((0, 3))), np.empty(0)
        z, w = np.polynomial.legendre.leggauss(along)
        across = [0.5 * (a * (1 - z) + b * (1 + z)) for a, b in zip(start, stop, strict=True)]
        points = np.full((along**2, 3), place)
        points[:, rest] = np.stack(np.meshgrid(*across, indexing="ij"), axis=-1).reshape(-1, 2)
        areas = 0.25 * np.multiply.outer(w, w).ravel() * float(np.prod(stop - start))
        normals = np.tile(self.triangles.normals[:1], (along**2, 1))
        which, found = self.kept(BoundaryPoints(points, normals))
        return _behind(found, areas[which], low, high)

    @cached_property
    def bends(self) -> tuple[Points, Points]:
        """Points, and how much the surface bends towards the solid there, one over a radius.

        Nothing of triangles that are no approximation of a smooth surface.
        """
        fine = self._fine
        if fine.onto is None:
            return np.empty((0, 3)), np.empty(0)
        which, found = self.kept(fine.onto(fine.corners.mean(axis=1)))
        ends = fine.onto(fine.corners[which].reshape(-1, 3))
        points, normals = (x.reshape(-1, 3, 3) for x in (ends.points, ends.normals))
        turned = np.sum(normals[:, 0] * found.normals, axis=1) < 0
        normals = np.where(turned[:, None, None], -normals, normals)
        along, turn = (np.roll(x, 1, axis=1) - x for x in (points, normals))
        bent = -np.sum(along * turn, axis=2) / np.maximum(np.sum(along**2, axis=2), 1e-300)
        return found.points, np.asarray(bent.max(axis=1))


def surfaces_of(pieces: Mapping[str, Sequence[object]]) -> list[Surface] | None:
    """Return the pieces of a solid's boundary; None where one of them is no surface."""
    found = [Surface.of(part, piece) for part, own in pieces.items() for piece in own]
    known = [surface for surface in found if surface is not None]
    return known if found and len(known) == len(found) else None


def spread_over(
    surfaces: Sequence[Surface], low: Points, high: Points, count: float
) -> tuple[BoundaryPoints, Points]:
    """Return points of surfaces in a box, about so many for an area as large as a side of it.

    With them the area that each stands for.
    """
    side = float(np.max(high - low)) ** 2
    spacing = np.sqrt(side / count / FULL)
    spread, areas = [], []
    for surface in surfaces:
        found, own = surface.within(low, high, spacing)
        wanted = int(np.ceil(count * own.sum() / side))
        chosen = np.arange(len(own))
        if len(own) > 2 * wanted and wanted < MANY:
            some = chosen[:: max(1, len(own) // (CHOSEN_FROM * max(wanted, 1)))]
            chosen = some[thinned(found.points[some], wanted)]
        spread.append(found.chosen(chosen))
        areas.append(own[chosen] * (own.sum() / max(own[chosen].sum(), 1e-300)))
    return BoundaryPoints.joined(spread), np.concatenate(areas)


def _in_box(points: Points, low: Points, high: Points) -> Flags:
    """Tell which points lie in a box, or on it but for rounding."""
    room = SAME * (high - low)
    return np.asarray(np.all((points >= low - room) & (points <= high + room), axis=1))


def _behind(
    found: BoundaryPoints, areas: Points, low: Points, high: Points
) -> tuple[BoundaryPoints, Points]:
    """Return the points behind which the box lies, where they lie on a side of it."""
    inner = found.points - 10.0 * SAME * (high - low) * found.normals
    own = _in_box(inner, low, high)
    return found.chosen(own), areas[own]


def halves(triangles: Triangles) -> Triangles:
    """Return the halves of triangles, the first of all and then the second of all."""
    corners, normals, onto = triangles.corners, triangles.normals, triangles.onto
    edges = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
    return Triangles(*_halves(corners, normals, edges, onto), onto)


def _halved(triangles: Triangles, longest: float, box: tuple[Points, Points] | None) -> Triangles:
    """Return triangles halved until no edge is longer, without those far from a box."""
    corners, normals, onto = triangles.corners, triangles.normals, triangles.onto
    done: list[tuple[Points, Points]] = []
    for _ in range(BISECTIONS):
        edges = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        length = edges.max(axis=1)
        if box is not None:
            bulge = (BULGE if onto else 0.0) * length[:, None]
            room = bulge + SAME * (box[1] - box[0])
            near = np.all(corners.min(axis=1) <= box[1] + room, axis=1)
            near &= np.all(corners.max(axis=1) >= box[0] - room, axis=1)
            corners, normals, edges, length = (x[near] for x in (corners, normals, edges, length))
        large = length > longest
        done.append((corners[~large], normals[~large]))
        if not large.any():
            break
        corners, normals = _halves(corners[large], normals[large], edges[large], onto)
    every = [np.concatenate(each) for each in zip(*done, strict=True)]
    return replace(triangles, corners=every[0], normals=every[1])


def _halves(corners: Points, normals: Points, edges: Points, onto: object) -> tuple[Points, Points]:
    """Return the halves of triangles on both sides of the middle of their longest edge."""
    first = edges.argmax(axis=1)
    order = (first[:, None] + np.arange(3)) % 3
    a, b, c = np.moveaxis(np.take_along_axis(corners, order[:, :, None], axis=1), 1, 0)
    middle = 0.5 * (a + b)
    if callable(onto):
        middle = onto(middle).points
    halves = np.concatenate([np.stack([a, middle, c], 1), np.stack([middle, b, c], 1)])
    return halves, np.concatenate([normals, normals])
