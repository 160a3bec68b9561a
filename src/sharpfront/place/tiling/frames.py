"""Frames of quadrilaterals along straight sides, each as deep as the layer beside its side.

Along a side a frame is a trapezium between two lines at one distance. At a corner that points
outwards a parallelogram has the layers of both sides, each along one of its axes. At one that
points inwards a kite lies between the ends of both frames, and where a corner hardly turns they end
on one line, a mitre.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry.shape import needed
from sharpfront.maps import Quadrilateral
from sharpfront.maps.quadrilateral import Corner
from sharpfront.place.tiling.charts import Edge
from sharpfront.place.tiling.settings import TILING

# A quadrilateral of a frame: its chart, how many times the functions of a layer it takes along the
# axes across layers, and the names of its edges on the outline.
Framing = tuple[Quadrilateral, dict[int, float], dict[Edge, str]]


@dataclass(frozen=True, eq=False)
class PolygonRing:
    """A closed line of straight sides with the domain on its left.

    Parameters
    ----------
    corners
        Where its sides begin.
    parts
        The names of its sides.
    """

    corners: tuple[Corner, ...]
    parts: tuple[str, ...]

    @property
    def sides(self) -> FloatArray:
        """The ends of its sides, (n, 2, 2)."""
        points = np.array(self.corners)
        return np.stack([points, np.roll(points, -1, axis=0)], axis=1)

    @property
    def tangents(self) -> FloatArray:
        """The directions of its sides, (n, 2)."""
        ways = np.diff(self.sides, axis=1)[:, 0]
        return np.asarray(ways / np.linalg.norm(ways, axis=1)[:, None])

    @property
    def turns(self) -> FloatArray:
        """By how much it turns to the left where each side begins, in degrees, (n,)."""
        after = self.tangents
        before = np.roll(after, 1, axis=0)
        cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
        return np.asarray(np.degrees(np.arctan2(cross, np.sum(before * after, axis=1))))

    def evened(self, depths: FloatArray) -> FloatArray:
        """Return depths of frames, the larger one for both sides where they share a mitre."""
        out = depths.copy()
        mitred = np.flatnonzero(self.turns < TILING.hardly).tolist()
        for _ in out:
            for i in mitred:
                out[i - 1] = out[i] = max(out[i - 1], out[i])
        return out

    def frame(self, depths: FloatArray) -> Frame:
        """Return the frame whose parts are so deep along each side, (n,)."""
        ways, corners, turns = self.tangents, np.array(self.corners), self.turns.tolist()
        joints = [
            _FrameJoint.of(corners[i], (ways[i - 1], ways[i]), turn, (depths[i - 1], depths[i]))
            for i, turn in enumerate(turns)
        ]
        return Frame(self, tuple(joints))


@dataclass(frozen=True)
class _FrameJoint:
    """Where the frames of two sides meet.

    Parameters
    ----------
    corner, tip
        On the outline, and inside where both are as deep as they are.
    before, after
        Where the frame of the side before ends and that of the side after begins, each on its
        outer and inner side.
    """

    corner: Corner
    tip: Corner
    before: tuple[Corner, Corner]
    after: tuple[Corner, Corner]

    @classmethod
    def of(
        cls,
        corner: FloatArray,
        ways: tuple[FloatArray, FloatArray],
        turn: float,
        depths: Sequence[float],
    ) -> _FrameJoint:
        """Return the joint at a corner between sides in two directions, with frames so deep."""
        angle = math.radians(turn)
        first, second = ways
        own = _corner(corner)
        if turn > TILING.hardly:
            back, on = -first * depths[1] / math.sin(angle), second * depths[0] / math.sin(angle)
            tip = _corner(corner + back + on)
            return cls(own, tip, (_corner(corner + back), tip), (_corner(corner + on), tip))
        inwards = [depths[1] * np.array([-y, x]) for x, y in (first, second)]
        tip = _corner(corner + (inwards[0] + inwards[1]) / (1.0 + math.cos(angle)))
        feet = [tip if turn > -TILING.hardly else _corner(corner + way) for way in inwards]
        return cls(own, tip, (own, feet[0]), (own, feet[1]))

    @property
    def ring(self) -> tuple[Corner, Corner, Corner, Corner] | None:
        """The corners of the quadrilateral between both frames, the outline's first; None without.

        The next one is where the frame of the side after begins.
        """
        if self.before[0] != self.corner != self.after[0]:
            return self.corner, self.after[0], self.tip, self.before[0]
        if self.before[1] != self.after[1]:
            return self.corner, self.after[1], self.tip, self.before[1]
        return None


def _corner(point: FloatArray) -> Corner:
    return float(point[0]), float(point[1])


@dataclass(frozen=True, eq=False)
class Frame:
    """Quadrilaterals along the sides of a ring."""

    ring: PolygonRing
    joints: tuple[_FrameJoint, ...]

    @property
    def tips(self) -> list[Corner]:
        """The corners of what it leaves."""
        return [joint.tip for joint in self.joints]

    @property
    def lines(self) -> list[tuple[Corner, Corner]]:
        """The sides of what it leaves."""
        return list(zip(self.tips, [*self.tips[1:], self.tips[0]], strict=True))

    @property
    def charts(self) -> Iterator[Framing]:
        """Its quadrilaterals with what they take across layers, and the names of outer edges."""
        for i, joint in enumerate(self.joints):
            yield self._along(i)
            if (ring := joint.ring) is not None:
                yield self._at(i, ring)

    def _along(self, i: int) -> Framing:
        """Return the quadrilateral along a side."""
        (a, d), (b, c) = self.joints[i].after, self.joints[(i + 1) % len(self.joints)].before
        chart = Quadrilateral((a, b, c, d), (((1, 1), self.lines[i]),))
        return chart, {1: 1.0}, {frozenset({a, b}): self.ring.parts[i]}

    def _at(self, i: int, ring: tuple[Corner, Corner, Corner, Corner]) -> Framing:
        """Return the quadrilateral at the corner that a side begins at."""
        if self.joints[i].after[0] == self.joints[i].corner:
            parts = ((0, 1), self.lines[i]), ((1, 1), self.lines[i - 1])
            return Quadrilateral(ring, parts), dict.fromkeys((0, 1), 1.0), {}
        edges = frozenset(ring[:2]), frozenset({ring[0], ring[3]})
        names = dict(zip(edges, (self.ring.parts[i], self.ring.parts[i - 1]), strict=True))
        # What begins at a sharp corner decays along both sides as fast as across them.
        angle = math.radians(min(90.0, 180.0 - self.ring.turns[i]))
        return Quadrilateral(ring), dict.fromkeys((0, 1), 1.0 / math.sin(angle)), names


def fit(frames: Sequence[Frame]) -> bool:
    """Tell whether frames of all rings of a domain have room: none folds or meets another."""
    shapely = needed("shapely", "shapely")
    for frame in frames:
        along = frame.ring.tangents
        after = (*frame.joints[1:], frame.joints[0])
        pairs = list(zip(frame.joints, after, strict=True))
        inner = np.array([np.subtract(b.tip, a.tip) for a, b in pairs])
        outer = np.array([np.subtract(b.before[0], a.after[0]) for a, b in pairs])
        if min(np.sum(ways * along, axis=1).min() for ways in (inner, outer)) <= 0.0:
            return False
    rings = [shapely.LinearRing(frame.tips) for frame in frames]
    return bool(shapely.is_simple(shapely.MultiLineString(rings)))
