"""Boxes that the surface of a solid cuts: what of them and of their faces lies inside."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from sharpfront.arrays import FloatArray
from sharpfront.bases.inside import Inside
from sharpfront.bases.joint import products
from sharpfront.bases.legendre import gauss, legendre_table, product_points
from sharpfront.errors import DomainError
from sharpfront.geometry import BoundaryPoints, Domain
from sharpfront.geometry.surfaces import Surface, spread_over

# A side is looked at so far to both its sides, in units of it.
BESIDE = 1e-6
# Points along an axis that tell what of a box and of a face lies inside, and what of the latter if
# those see nothing of it.
LOOKED, ON_FACE, CLOSER = 10, 16, 64
# Points of the surface for an area as large as a side of the box that tell whether it cuts the box.
SCANNED = 150.0
# Points on the boundary for every product of two functions, where the boundary is as large as a
# side of the box, and the fewest.
ON_SURFACE, FEWEST = 2.0, 12.0
# Points on a part of a face for every moment.
ON_PART = 3
# Combinations of polynomials that are smaller than this on a part of a face are left out.
DEPENDENT = 1e-5


@dataclass(frozen=True, eq=False)
class SolidCut(Inside):
    """What lies inside of a box of a solid that its surface cuts."""

    region: SolidRegion
    low: FloatArray
    high: FloatArray
    _boundaries: dict[int, dict[str, tuple[BoundaryPoints, FloatArray]]] = field(
        default_factory=dict
    )

    def contains(self, points: FloatArray) -> NDArray[np.bool_]:
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

    def boundary(self, functions: int) -> dict[str, tuple[BoundaryPoints, FloatArray]]:
        """Return points on each part of the boundary in the box, with weights that sum to one.

        Parameters
        ----------
        functions
            Along an axis of the box.
        """
        if functions not in self._boundaries:
            self._boundaries[functions] = self._boundary(functions)
        return self._boundaries[functions]

    def _boundary(self, functions: int) -> dict[str, tuple[BoundaryPoints, FloatArray]]:
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
            points, normals = (np.concatenate([getattr(b, k) for b, _ in own]) for k in _BOTH)
            areas = np.concatenate([a for _, a in own])
            out[part] = BoundaryPoints(points, normals), areas / areas.sum()
        return out


_BOTH = ("points", "normals")


@dataclass(frozen=True, eq=False)
class PartialFace:
    """What of a face between two boxes lies inside.

    Parameters
    ----------
    region
        The solid.
    axis, place
        The plane it lies in.
    low, high
        The rectangle about it in that plane.
    """

    region: SolidRegion
    axis: int
    place: float
    low: FloatArray
    high: FloatArray
    _rules: dict[tuple[int, ...], tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    def rule(self, counts: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        """Return points, (m, 3), and what takes values there to moments, (moments, m).

        These are means with polynomials up to a joint degree that are orthonormal in the mean over
        the points; those of which nothing is left there are left out.
        """
        if counts not in self._rules:
            chosen = products(counts, True)
            at, points = self._points(ON_PART * chosen.shape[1])
            z = (2.0 * at - (self.low + self.high)) / (self.high - self.low)
            values = np.ones((len(z), chosen.shape[1]))
            for a, (count, own) in enumerate(zip(counts, chosen, strict=True)):
                values *= legendre_table(z[:, a], count)[0][:, own]
            basis, triangle, _ = qr(values, mode="economic", pivoting=True)
            sizes = np.abs(np.diagonal(triangle))
            kept = basis[:, sizes > DEPENDENT * sizes[0]]
            self._rules[counts] = points, np.ascontiguousarray(kept.T) / np.sqrt(len(points))
        return self._rules[counts]

    def _points(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Return points inside, at least so many, in the plane and in space."""
        along = max(ON_FACE, int(np.sqrt(count)))
        while True:
            z = gauss(along)[0]
            ends = _ends(self.low, self.high)
            at = product_points([0.5 * (a * (1 - z) + b * (1 + z)) for a, b in ends])
            points = np.insert(at, self.axis, self.place, axis=1)
            size = float(np.max(self.high - self.low))
            inside = self.region.on_both_sides(points, self.axis, size)
            if inside.sum() >= count or along >= 4 * CLOSER:
                return at[inside], points[inside]
            along = int(1.5 * along)


class SolidRegion:
    """A solid, as boxes see it.

    Parameters
    ----------
    domain
        The solid.
    surfaces
        The pieces of its boundary. Those across an axis lie on sides of boxes and cut none.
    """

    def __init__(self, domain: Domain, surfaces: Sequence[Surface]) -> None:
        self.domain, self.surfaces = domain, tuple(surfaces)
        self._cutting = [s for s in surfaces if s.wall is None]
        self._known: dict[bytes, SolidCut | bool] = {}
        self._faces: dict[tuple[int, float, bytes], PartialFace | bool] = {}

    def contains(self, points: FloatArray) -> NDArray[np.bool_]:
        """Tell which points lie in the solid."""
        return self.domain.contains(points)

    @cached_property
    def bends(self) -> tuple[FloatArray, FloatArray]:
        """Points of the boundary, and how much it bends inwards there, one over a radius."""
        points, bends = zip(*(s.bends for s in self.surfaces), strict=True)
        return np.concatenate(points), np.concatenate(bends)

    def look(self, low: FloatArray, high: FloatArray) -> SolidCut | bool:
        """Return what lies inside of a box that is cut; whether all of it lies inside, if not."""
        key = low.tobytes() + high.tobytes()
        if key not in self._known:
            self._known[key] = self._look(low, high)
        return self._known[key]

    def _look(self, low: FloatArray, high: FloatArray) -> SolidCut | bool:
        found = spread_over(self._cutting, low, high, SCANNED)[1] if self._cutting else ()
        if not len(found):
            if not self.contains(0.5 * (low + high)[None])[0]:
                return False
            return SolidCut(self, low, high) if self._ends_within(low, high) else True
        cut = SolidCut(self, low, high)
        return cut if len(cut.points(1)) else False

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
            beyond[:, axis] += (1.0 if place == high[axis] else -1.0) * BESIDE * np.ptp(at)
            inside = self.contains(beyond)
            if inside.any() and not inside.all():
                return True
        return False

    def on_both_sides(self, points: FloatArray, axis: int, size: float) -> NDArray[np.bool_]:
        """Tell which points of a plane across an axis have the solid on both its sides."""
        step = np.zeros(3)
        step[axis] = BESIDE * size
        beside = np.stack([points + step, points - step])
        if self.domain.periodic_axes[axis]:
            beside[..., axis] = np.clip(beside[..., axis], *self.domain.bounds[:, axis])
        return np.asarray(self.contains(beside.reshape(-1, 3)).reshape(2, -1).all(axis=0))

    def face(
        self, axis: int, place: float, low: FloatArray, high: FloatArray
    ) -> PartialFace | bool:
        """Return what of a rectangle lies inside; whether all of it does, if not a part."""
        key = axis, place, low.tobytes() + high.tobytes()
        if key not in self._faces:
            found: PartialFace | bool = False
            for along in (ON_FACE, CLOSER):
                found = self._face(axis, place, low, high, along)
                if found:
                    break
            self._faces[key] = found
        return self._faces[key]

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
        return PartialFace(self, axis, place, np.maximum(start, low), np.minimum(stop, high))


def _on_sides(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return points just inside of the edges and sides of a box."""
    room = BESIDE * (high - low)
    axes = [np.linspace(a, b, LOOKED) for a, b in _ends(low + room, high - room)]
    every = []
    for axis, end in itertools.product(range(3), (0, -1)):
        every.append(product_points([x if a != axis else x[[end]] for a, x in enumerate(axes)]))
    return np.concatenate(every)


def _ends(low: FloatArray, high: FloatArray) -> list[tuple[float, float]]:
    """Return the ends along each axis."""
    return list(zip(low.tolist(), high.tolist(), strict=True))
