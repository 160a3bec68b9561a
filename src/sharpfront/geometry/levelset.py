"""Regions where a function is negative."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.arrays import Flags, Ints
from sharpfront.checks import each_alone, explained, function, refusal
from sharpfront.errors import DomainError
from sharpfront.geometry.curves import Curve, Pieces
from sharpfront.geometry.domain import BoundaryPoints, Points, State
from sharpfront.geometry.marching import enclosing, polylines, triangles
from sharpfront.geometry.measuring import extent
from sharpfront.geometry.patches import Triangles
from sharpfront.geometry.shape import Shape

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

_NEWTON = 12
_ARRIVED = 1e-11
_STEP = 3e-4
_KEPT_POINTS = {2: 4000, 3: 4000}
_RIM_NODES = 4000
_SLIDES = 3


class LevelSet(Shape):
    """The region where a function is negative, in two or three dimensions.

    The boundary is followed on a grid (400 cells along each side of the region in the plane, 48
    in space), so details finer than a cell may be missed, and then moved onto the zero of the
    function by Newton's method, so that its points are exact to rounding.
    """

    # Lower and upper corner (2, d) of a box that holds the region in its inside.
    frame: Points

    @abstractmethod
    def value(self, points: Points) -> Points:
        """Return the function at points (m, d), negative inside."""

    @abstractmethod
    def gradient(self, points: Points) -> Points:
        """Return the gradient of the function at points, (m, d)."""

    def both(self, points: Points) -> tuple[Points, Points]:
        """Return the function and its gradient at points."""
        return self.value(points), self.gradient(points)

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return int(self.frame.shape[1])

    @cached_property
    def bounds(self) -> Points:
        """Lower and upper corner of the bounding box, (2, d)."""
        if self.dimension == 2:
            return extent(self._curves)
        seen = self._surface.corners.reshape(-1, 3)
        # The corners of the triangles may miss the extremes by the sagitta of a cell.
        room = 1e-3 * np.ptp(seen, axis=0)
        return np.stack([seen.min(axis=0) - room, seen.max(axis=0) + room])

    def within(self, points: Points, slack: float) -> Flags:
        """Tell which points (m, d) are inside or about `slack` outside."""
        low, high = self.frame
        found = np.all((points >= low) & (points <= high), axis=1)
        found[found] = self.value(points[found]) <= slack * self._steepness
        return np.asarray(found)

    def distance(self, points: Points) -> Points:
        """Return the distance to the boundary, positive inside, (m,).

        It is that to the nearest of dense boundary points, from which the foot of the
        perpendicular is then approached.
        """
        tree, normals = self._nodes
        nearest = np.asarray(tree.query(points)[1])
        away = self._slid(points, tree.data[nearest], normals[nearest])
        return np.asarray(np.where(self.within(points, 0.0), away, -away))

    def _slid(self, points: Points, foot: Points, normal: Points) -> Points:
        """Return the distances to the boundary after sliding along it towards the points."""
        away, along = _offsets(points, foot, normal)
        share = np.ones((len(points), 1))
        for _ in range(_SLIDES):
            found = self.onto(foot + share * along)
            foot, before = found.points, along
            distance, along = _offsets(points, foot, found.normals)
            away = np.minimum(away, distance)
            # Around a bend the way is shorter or longer than it looks: a secant step corrects it.
            gone = np.sum(before * (before - along), axis=1) / _positive(np.sum(before**2, axis=1))
            share = np.clip(share / np.clip(gone, 0.1, 10)[:, None], 0.1, 10)
        return away

    def onto(self, points: Points) -> BoundaryPoints:
        """Return the points of the boundary that Newton's method reaches from points (m, d)."""
        points = points.copy()
        longest = 0.1 * float(np.max(np.ptp(self.frame, axis=0)))
        moving = np.arange(len(points))
        for _ in range(_NEWTON):
            value, slope = self.both(points[moving])
            step = (value / _positive(np.sum(slope**2, axis=1)))[:, None] * slope
            length = np.linalg.norm(step, axis=1)
            step *= np.minimum(1.0, longest / _positive(length))[:, None]
            points[moving] -= step
            # Newton's method doubles the digits: a step this small leaves rounding only.
            moving = moving[length > _ARRIVED * longest]
            if not len(moving):
                break
        slope = self.gradient(points)
        return BoundaryPoints(points, slope / _positive(np.linalg.norm(slope, axis=1))[:, None])

    def pieces(self, window: Points | None = None) -> Pieces:
        """Return the closed curves or the surface; `window` is not needed."""
        if self.dimension == 3:
            return {"surface": (self._surface,)}
        lines = polylines(self.value, self._region)
        return {"surface": tuple(LevelCurve(self, line) for line in lines)}

    def state(self) -> State:
        """Return arrays from which `restore_domain` makes a `Cloud` in the place of this region."""
        found = self.boundary("surface", _KEPT_POINTS[self.dimension])
        return {"kind": "cloud", "points": found.points, "normals": found.normals}

    @cached_property
    def _region(self) -> Points:
        """A box close around the region, refused if there is none."""
        return enclosing(self.value, self.frame)

    @cached_property
    def _vertices(self) -> tuple[BoundaryPoints, Ints]:
        """The corners of the triangles in space, once each, and their indices (3 t,)."""
        rough = triangles(self.value, self._region).reshape(-1, 3)
        once, which = np.unique(rough, axis=0, return_inverse=True)
        return self.onto(once), which

    @cached_property
    def _surface(self) -> Triangles:
        found, which = self._vertices
        corners = found.points[which].reshape(-1, 3, 3)
        sides = corners[:, 1:] - corners[:, :1]
        normals = np.cross(sides[:, 0], sides[:, 1])
        size = np.linalg.norm(normals, axis=1)
        sound = size > 1e-12 * np.max(size)
        return Triangles(corners[sound], normals[sound] / size[sound, None], self.onto)

    def _counted_measure(self) -> float:
        """Return the volume, a third of the integral of x . n over the triangles."""
        surface = self._surface
        middles = surface.corners.mean(axis=1)
        outward = np.sign(np.sum(self.gradient(middles) * surface.normals, axis=1))
        sides = surface.corners[:, 1:] - surface.corners[:, :1]
        doubled = np.cross(sides[:, 0], sides[:, 1])
        flux = np.sum((middles - self.frame.mean(axis=0)) * doubled, axis=1)
        return float(np.sum(outward * flux) / 6)

    @cached_property
    def _steepness(self) -> float:
        """How fast the function changes at the boundary."""
        at = self._nodes[0].data[:: max(1, len(self._nodes[0].data) // 200)]
        return float(np.median(np.linalg.norm(self.gradient(np.asarray(at)), axis=1)))

    @cached_property
    def _nodes(self) -> tuple[cKDTree, Points]:
        from scipy.spatial import cKDTree

        found = self.boundary("surface", _RIM_NODES) if self.dimension == 2 else self._vertices[0]
        return cKDTree(found.points), found.normals


@dataclass(frozen=True, eq=False)
class LevelCurve(Curve):
    """A closed curve given by a fine polygon (m, 2), first point repeated, on the zero of a set."""

    region: LevelSet
    line: Points
    closed = True

    @cached_property
    def _nodes(self) -> tuple[Points, Points]:
        found = self.region.onto(self.line[:-1])
        nodes = np.concatenate([found.points, found.points[:1]])
        normals = np.concatenate([found.normals, found.normals[:1]])
        chords = np.linalg.norm(np.diff(nodes, axis=0), axis=1)
        # An arc that turns by the angle a is longer than its chord by a/2 over sin(a/2).
        half = np.linalg.norm(np.diff(normals, axis=0), axis=1) / 2
        reached = np.cumsum(chords / np.sinc(np.arcsin(np.minimum(half, 0.5)) / np.pi))
        return nodes, np.concatenate([[0.0], reached])

    @property
    def measure(self) -> float:
        """The length."""
        return float(self._nodes[1][-1])

    def at(self, arc: Points) -> BoundaryPoints:
        """Return the points at arc lengths (m,)."""
        nodes, reached = self._nodes
        # The end itself, not the start again, so that a stretch up to the end is in one piece.
        arc = np.where(arc > reached[-1], arc - reached[-1], arc)
        points = np.stack([np.interp(arc, reached, nodes[:, i]) for i in range(2)], axis=1)
        return self.region.onto(points)


@dataclass(frozen=True, eq=False)
class OpenLevelCurve(LevelCurve):
    """A curve from the first to the last point of a fine line (m, 2), on the zero of a set."""

    closed = False

    @cached_property
    def _nodes(self) -> tuple[Points, Points]:
        nodes = np.concatenate([self.line[:1], self.region.onto(self.line[1:-1]).points])
        nodes = np.concatenate([nodes, self.line[-1:]])
        chords = np.linalg.norm(np.diff(nodes, axis=0), axis=1)
        return nodes, np.concatenate([[0.0], np.cumsum(chords)])


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Implicit(LevelSet):
    """The region where a function is negative: ``Implicit(lambda x, y: x**2 + y**2 - 1, ...)``.

    Negative means inside, positive outside. The boundary is one part, ``surface``. Where the
    function has kinks the boundary's corners are smoothed over about a thousandth of the
    bounds; for sharp ones combine shapes with ``|``, ``-`` and ``&``. A saved solution holds
    dense boundary points in its place, as a `Cloud`.

    Parameters
    ----------
    f
        Vectorised NumPy function of the coordinates, f(x, y) or f(x, y, z).
    bounds
        Lower and upper end along each coordinate, ((x0, x1), (y0, y1)), of a box in which the
        whole region lies, without touching its sides.
    """

    f: Callable[..., ArrayLike]
    frame: Points = field()

    @explained("sf.Implicit(lambda x, y: x**2 + y**2 - 1, ((-2, 2), (-2, 2)))")
    def __init__(self, f: Callable[..., ArrayLike], bounds: Sequence[Any]) -> None:
        from sharpfront.geometry.box import Box

        function(f, "f", "lambda x, y: x**2 + y**2 - 1", DomainError)
        if not isinstance(bounds, Iterable) or isinstance(bounds, str):
            expected = "a pair of numbers for each coordinate"
            raise refusal("bounds", expected, bounds, "((-2, 2), (-2, 2))", DomainError)
        box = Box(*bounds)
        if box.dimension not in (2, 3):
            raise DomainError(
                f"An implicit region has two or three coordinates, got {box.dimension} bounds."
            )
        vars(self).update(f=f, frame=box.bounds)

        def call(*columns: Points) -> Points:
            return self.value(np.stack(columns, axis=1))

        # A function whose values depend on the points beside them is refused.
        low, high = self.frame
        shares = np.linspace(0.11, 0.93, 9)[:, None] ** np.arange(1.0, len(low) + 1.0)
        points, what = low + (high - low) * shares, "The function of an implicit region"
        each_alone(what, call, list(points.T), self.value(points), DomainError)
        _ = self._region

    def __repr__(self) -> str:
        ends = ", ".join(f"({a:g}, {b:g})" for a, b in self.frame.T)
        return f"Implicit({getattr(self.f, '__name__', 'f')}, ({ends}))"

    def value(self, points: Points) -> Points:
        """Return the function at points (m, d), negative inside."""
        try:
            found = np.asarray(self.f(*points.T), dtype=np.float64)
            values = np.broadcast_to(found, len(points))
        except (TypeError, ValueError) as error:
            raise DomainError(
                f"The function of an implicit region must take arrays of "
                f"{', '.join(self.coordinates)} and return a number for each: {error}"
            ) from error
        if np.any(np.isnan(values)):
            at = points[np.flatnonzero(np.isnan(values))[0]].tolist()
            raise DomainError(f"The function of an implicit region is NaN at {at}.")
        return np.asarray(values)

    def gradient(self, points: Points) -> Points:
        """Return the gradient at points, (m, d), by differences of fourth order."""
        step = _STEP * np.max(np.ptp(self.frame, axis=0))
        slopes = []
        for axis in np.eye(self.dimension) * step:
            near = self.value(points + axis) - self.value(points - axis)
            far = self.value(points + 2 * axis) - self.value(points - 2 * axis)
            slopes.append((8 * near - far) / (12 * step))
        return np.stack(slopes, axis=1)


def _offsets(points: Points, foot: Points, normal: Points) -> tuple[Points, Points]:
    """Return the distances from feet to points (m,), and the part along the boundary (m, d)."""
    offset = points - foot
    along = offset - np.sum(offset * normal, axis=1)[:, None] * normal
    return np.asarray(np.linalg.norm(offset, axis=1)), np.asarray(along)


def _positive(numbers: Points) -> Points:
    """Return numbers that can be divided by."""
    return np.maximum(numbers, 1e-300)
