"""Boxes that the surface of a solid cuts: what of them and of their faces lies inside."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sharpfront.arrays import Flags, FloatArray, remembered
from sharpfront.bases.cut_interior import Inside
from sharpfront.bases.legendre import product_points
from sharpfront.bases.partial_faces import CLOSER, ON_FACE, PartialFace, ShellFace
from sharpfront.errors import DomainError
from sharpfront.geometry import BoundaryPoints, Domain
from sharpfront.geometry.surfaces import Surface, spread_over
from sharpfront.maps import Shell
from sharpfront.rounding import SLIGHT

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# Points along an axis that tell what of a box lies inside.
LOOKED = 10
# Points of the surface for an area as large as a side of the box that tell whether it cuts the box.
SCANNED = 150.0
# Boxes in which none were found, and whose middle lies outside, are looked at so many times closer
# before they are dropped: an edge of a ball that looks out of a box may be as thin as that.
SLIVERS = 16.0
# Points on the boundary for every product of two functions, where the boundary is as large as a
# side of the box, and the fewest.
ON_SURFACE, FEWEST = 2.0, 12.0
# Points along each axis of a shell's inner side that tell what lies beyond it.
ON_SHELL = 40


@dataclass(frozen=True, eq=False)
class SolidCut(Inside):
    """What lies inside of a box of a solid that its surface cuts."""

    region: SolidRegion
    low: FloatArray
    high: FloatArray

    def contains(self, points: FloatArray) -> Flags:
        """Tell which points of the box lie inside."""
        return self.region.contains(points)

    @cached_property
    def seen(self) -> FloatArray:
        """Points around what lies inside: on the boundary, and on the sides of the box."""
        found, _ = spread_over(self.region.surfaces, self.low, self.high, SCANNED)
        sides = _on_sides(self.low, self.high)
        return np.concatenate([found.points, sides[self.contains(sides)]])

    @cached_property
    def window(self) -> tuple[FloatArray, FloatArray]:
        """A smaller box about what lies inside, with room for what was not seen."""
        shares = (np.arange(LOOKED) + 0.5) / LOOKED
        grid = product_points([a + (b - a) * shares for a, b in _ends(self.low, self.high)])
        every = np.concatenate([self.seen, grid[self.contains(grid)]])
        room = (self.high - self.low) / (2 * LOOKED)
        low, high = every.min(axis=0) - room, every.max(axis=0) + room
        return np.maximum(low, self.low), np.minimum(high, self.high)

    @property
    def quadrature(self) -> tuple[FloatArray, FloatArray]:
        """Refused: nothing integrates over what lies inside."""
        raise DomainError(
            "Integrals over shapes in space are not there yet. A rough value: the mean over "
            "solution.domain.sample(10000), times solution.domain.measure."
        )

    @remembered()
    def boundary(self, functions: int) -> dict[str, tuple[BoundaryPoints, FloatArray]]:
        """Return points on each part of the boundary in the box, with weights that sum to one.

        Parameters
        ----------
        functions
            Along an axis of the box.
        """
        count = max(FEWEST, ON_SURFACE * functions**2)
        parts: dict[str, list[tuple[BoundaryPoints, FloatArray]]] = {}
        for surface in self.region.surfaces:
            if surface.wall is not None:
                found = surface.on_wall(self.low, self.high, functions + 2)
            else:
                found = spread_over([surface], self.low, self.high, count)
            if len(found[1]):
                parts.setdefault(surface.part, []).append(found)
        out = {}
        for part, own in parts.items():
            areas = np.concatenate([a for _, a in own])
            out[part] = BoundaryPoints.joined([b for b, _ in own]), areas / areas.sum()
        return out


class SolidRegion:
    """A solid, as boxes see it.

    Parameters
    ----------
    domain
        The solid.
    surfaces
        The pieces of its boundary. Those across an axis lie on sides of boxes and cut none.
    shells
        Shells along the boundary that boxes leave out; their inner sides are among the surfaces.
    """

    def __init__(
        self, domain: Domain, surfaces: Sequence[Surface], shells: Sequence[Shell] = ()
    ) -> None:
        self.domain, self.surfaces, self.shells = domain, tuple(surfaces), tuple(shells)
        self._cutting = [s for s in surfaces if s.wall is None]

    def contains(self, points: FloatArray) -> Flags:
        """Tell which points lie in the solid, but in none of the shells."""
        inside = self.domain.contains(points)
        if not self.shells:
            return inside
        tree, normals = self._edges
        nearest = tree.query(points)[1]
        beyond = np.sum((points - tree.data[nearest]) * normals[nearest], axis=1)
        return np.asarray(inside & (beyond <= 0.0))

    @cached_property
    def _edges(self) -> tuple[cKDTree, FloatArray]:
        """Points on the inner sides of the shells, and normals that lead into these."""
        from scipy.spatial import cKDTree

        shares = np.linspace(0.0, 1.0, ON_SHELL)
        found, outwards = [], []
        for shell in self.shells:
            at = product_points([shares * shell.lengths[0], shares * shell.lengths[1]])
            inner = np.insert(at, 2, shell.depth, axis=1)
            found.append(shell.points(inner))
            outwards.append(-shell.taylor(inner, 1)[0, 0, 1])
        return cKDTree(np.concatenate(found)), np.concatenate(outwards)

    @remembered()
    def inner_side(
        self, shell: Shell, low: FloatArray, high: FloatArray, box: tuple[FloatArray, FloatArray]
    ) -> ShellFace | None:
        """Return what of a rectangle of a shell's inner side lies in a box, if anything does."""
        for along in (ON_FACE, CLOSER):
            shares = (np.arange(along) + 0.5) / along
            at = product_points([a + (b - a) * shares for a, b in _ends(low, high)])
            points = shell.points(np.insert(at, 2, shell.depth, axis=1))
            inside = np.all((points >= box[0]) & (points <= box[1]), axis=1)
            if inside.all():
                return ShellFace(low, high, shell, 2, 1)
            if inside.any():
                room = (high - low) / along
                start, stop = at[inside].min(axis=0) - room, at[inside].max(axis=0) + room
                start, stop = np.maximum(start, low), np.minimum(stop, high)
                return ShellFace(start, stop, shell, 2, 1, box)
            size = np.ptp(points, axis=0).max() / along
            if np.any(points.min(axis=0) > box[1] + size) or np.any(
                points.max(axis=0) < box[0] - size
            ):
                break
        return None

    @cached_property
    def bends(self) -> tuple[FloatArray, FloatArray]:
        """Points of the boundary, and how much it bends inwards there, one over a radius."""
        points, bends = zip(*(s.bends for s in self.surfaces), strict=True)
        return np.concatenate(points), np.concatenate(bends)

    @remembered()
    def look(self, low: FloatArray, high: FloatArray) -> SolidCut | bool:
        """Return what lies inside of a box that is cut; whether all of it lies inside, if not."""
        found = spread_over(self._cutting, low, high, SCANNED)[1] if self._cutting else ()
        if not len(found):
            if not self.contains(0.5 * (low + high)[None])[0]:
                return self._sliver(low, high)
            return SolidCut(self, low, high) if self._ends_within(low, high) else True
        cut = SolidCut(self, low, high)
        return cut if len(cut.points(1)) else False

    def _sliver(self, low: FloatArray, high: FloatArray) -> SolidCut | bool:
        """Return what a closer look finds inside of a box that seems to lie outside."""
        if not self._cutting:
            return False
        thin = float(np.max(high - low) / np.min(high - low))
        found = spread_over(self._cutting, low, high, SLIVERS * SCANNED * thin**2)[1]
        return SolidCut(self, low, high) if len(found) else False

    def _ends_within(self, low: FloatArray, high: FloatArray) -> bool:
        """Tell whether the solid ends on a part of a side of a box only."""
        shares = (np.arange(ON_FACE) + 0.5) / ON_FACE
        for axis, place, start, stop in filter(None, (s.wall for s in self.surfaces)):
            rest = [a for a in range(3) if a != axis]
            if place not in (low[axis], high[axis]):
                continue
            if np.any(start >= high[rest]) or np.any(stop <= low[rest]):
                continue
            at = product_points([low[a] + (high[a] - low[a]) * shares for a in rest])
            beyond = np.insert(at, axis, place, axis=1)
            beyond[:, axis] += (1.0 if place == high[axis] else -1.0) * SLIGHT * np.ptp(at)
            inside = self.contains(beyond)
            if inside.any() and not inside.all():
                return True
        return False

    def on_both_sides(self, points: FloatArray, axis: int, size: float) -> Flags:
        """Tell which points of a plane across an axis have the solid on both its sides."""
        step = np.zeros(3)
        step[axis] = SLIGHT * size
        beside = np.stack([points + step, points - step])
        if self.domain.periodic_axes[axis]:
            beside[..., axis] = np.clip(beside[..., axis], *self.domain.bounds[:, axis])
        return np.asarray(self.contains(beside.reshape(-1, 3)).reshape(2, -1).all(axis=0))

    @remembered()
    def face(
        self, axis: int, place: float, low: FloatArray, high: FloatArray
    ) -> PartialFace | bool:
        """Return what of a rectangle lies inside; whether all of it does, if not a part."""
        found = self._face(axis, place, low, high, ON_FACE)
        return found or self._face(axis, place, low, high, CLOSER)

    def _face(
        self, axis: int, place: float, low: FloatArray, high: FloatArray, along: int
    ) -> PartialFace | bool:
        shares = (np.arange(along) + 0.5) / along
        at = product_points([a + (b - a) * shares for a, b in _ends(low, high)])
        points = np.insert(at, axis, place, axis=1)
        inside = self.on_both_sides(points, axis, float(np.max(high - low)))
        if inside.all() or not inside.any():
            return bool(inside.all())
        room = (high - low) / along
        start, stop = at[inside].min(axis=0) - room, at[inside].max(axis=0) + room
        return PartialFace(np.maximum(start, low), np.minimum(stop, high), self, axis, place)


def _on_sides(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return points just inside of the edges and sides of a box."""
    room = SLIGHT * (high - low)
    axes = [np.linspace(a, b, LOOKED) for a, b in _ends(low + room, high - room)]
    every = []
    for axis, end in itertools.product(range(3), (0, -1)):
        every.append(product_points([x if a != axis else x[[end]] for a, x in enumerate(axes)]))
    return np.concatenate(every)


def _ends(low: FloatArray, high: FloatArray) -> list[tuple[float, float]]:
    """Return the ends along each axis."""
    return list(zip(low.tolist(), high.tolist(), strict=True))
