"""Closed surfaces that are seen from a centre, as polynomials on the squares of a cube's faces.

The faces of a cube about the centre are cut into squares, even in the angle along each axis, and
rays through them meet the surface once. On each square points and normals of the surface are
polynomials in two angles through those on rays, cheap to evaluate and with exact derivatives.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import chebyshev

from sharpfront.geometry.domain import BoundaryPoints, Points
from sharpfront.geometry.surfaces import Surface
from sharpfront.rounding import CANCELLED, ROUNDED

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# Polynomials have so many weights along each axis.
SQUARE_NODES = 25
# A face of the cube is cut into so many squares along each axis, the first that is enough.
CUBE_CUTS = (2, 4)
# Steps along rays.
RAY_STEPS = 60
# Rays meet the surface at a cosine with its normal of this at least.
FLATTEST = 0.3

_ANGLES = -np.cos(np.pi * (np.arange(SQUARE_NODES) + 0.5) / SQUARE_NODES)
_TO_SQUARE = np.linalg.inv(chebyshev.chebvander(_ANGLES, SQUARE_NODES - 1))


@dataclass(frozen=True, eq=False)
class Square:
    """What of a surface is seen through a square of a cube's face.

    Parameters
    ----------
    points, normals
        Chebyshev weights in two angles from -1 to 1, (n, n, 3) each; normals lead out of the solid.
    corners
        Of the surface, by end of both angles: the same numbers for all squares that have them.
    centre
        From which it is seen.
    """

    points: Points
    normals: Points
    corners: tuple[tuple[tuple[float, ...], ...], ...]
    centre: Points


@lru_cache(maxsize=4)
def squares_of(surface: Surface) -> list[Square] | None:
    """Return a closed smooth surface in squares; None where it is none, or not seen from within."""
    star = _Star.of(surface)
    if star is None:
        return None
    for cuts in CUBE_CUTS:
        found = list(star.squares(cuts))
        if any(one is None for one in found):
            return None
        known = [one for one in found if one is not None]
        if all(_is_resolved(one) for one in known):
            return known
    return None


@dataclass(frozen=True, eq=False)
class _Star:
    """A surface and a centre that sees all of it."""

    surface: Surface
    centre: Points
    # Directions from the centre, and how far the surface is there, about.
    directions: Points
    radii: Points

    @classmethod
    def of(cls, surface: Surface) -> _Star | None:
        if not surface.is_curved:
            return None
        corners = surface.triangles.corners.reshape(-1, 3)
        centre = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        away = corners - centre
        radii = np.linalg.norm(away, axis=1)
        star = cls(surface, centre, away / radii[:, None], radii) if radii.min() > 0 else None
        every = surface.triangles.middles
        which, _ = surface.kept(every)
        # What a sieve leaves a part of has edges.
        return star if len(which) == len(every.points) else None

    @cached_property
    def _nearest(self) -> cKDTree:
        """Finds the known direction that is nearest to another."""
        from scipy.spatial import cKDTree

        return cKDTree(self.directions)

    def along_rays(self, directions: Points) -> BoundaryPoints | None:
        """Return where rays meet the surface, with its normals; None where they miss it."""
        onto = self.surface.triangles.onto
        assert onto is not None
        far = self.radii[self._nearest.query(directions)[1]]
        for _ in range(RAY_STEPS):
            found = onto(self.centre + far[:, None] * directions)
            slant = np.sum(directions * found.normals, axis=1)
            if np.any(slant < FLATTEST):
                return None
            # On to the plane that touches the surface there.
            new = np.sum((found.points - self.centre) * found.normals, axis=1) / slant
            step, far = np.abs(new - far).max(), new
            if step < CANCELLED * far.max():
                break
        points = self.centre + far[:, None] * directions
        which, kept = self.surface.kept(onto(points))
        # A small hole in the surface may lie between the middles of its triangles.
        if step > ROUNDED * far.max() or len(which) < len(points):
            return None
        return BoundaryPoints(points, kept.normals)

    def squares(self, cuts: int) -> Iterator[Square | None]:
        """Yield the surface in squares of a cube's faces, so many along each axis."""
        lattice = np.array(list(itertools.product(range(-cuts, cuts + 1), repeat=3)))
        lattice = lattice[(np.abs(lattice) == cuts).any(axis=1)]
        met = self.along_rays(_rays(lattice / cuts))
        if met is None:
            yield None
            return
        pairs = zip(lattice.tolist(), met.points.tolist(), strict=True)
        corners = {tuple(k): tuple(x) for k, x in pairs}
        for axis, end in itertools.product(range(3), (-1, 1)):
            for place in itertools.product(range(-cuts, cuts, 2), repeat=2):
                ends = [[p, p + 2] for p in place]
                yield self._square(axis, end, cuts, ends, corners)

    def _square(
        self,
        axis: int,
        end: int,
        cuts: int,
        ends: list[list[int]],
        corners: dict[tuple[int, ...], tuple[float, ...]],
    ) -> Square | None:
        angles = [np.repeat(_ANGLES, SQUARE_NODES), np.tile(_ANGLES, SQUARE_NODES)]
        at = [(low + 1.0 + z) / cuts for (low, _), z in zip(ends, angles, strict=True)]
        met = self.along_rays(_rays(np.insert(np.stack(at, axis=1), axis, end, axis=1)))
        if met is None:
            return None
        both = (x.reshape(SQUARE_NODES, SQUARE_NODES, 3) for x in (met.points, met.normals))
        points, normals = (np.einsum("ia,jb,abk->ijk", _TO_SQUARE, _TO_SQUARE, x) for x in both)

        def corner(first: int, second: int) -> tuple[float, ...]:
            key = [first, second]
            key.insert(axis, end * cuts)
            return corners[tuple(key)]

        named = tuple(tuple(corner(a, b) for b in ends[1]) for a in ends[0])
        return Square(points, normals, named, self.centre)


def _rays(angles: Points) -> Points:
    """Return unit vectors through points of a cube, in units of half a right angle, (m, 3)."""
    sides = np.where(np.abs(angles) == 1.0, angles, np.tan(0.25 * np.pi * angles))
    return np.asarray(sides / np.linalg.norm(sides, axis=1)[:, None])


def _is_resolved(square: Square) -> bool:
    """Tell whether the last weights are rounding."""
    for weights in (square.points, square.normals):
        size = np.abs(weights[1:]).max()
        last = max(np.abs(weights[-2:]).max(), np.abs(weights[:, -2:]).max())
        if last > ROUNDED * max(size, np.abs(weights).max()):
            return False
    return True
