"""The map of a rectangle onto a convex quadrilateral, linear along each of its axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.maps.chain import Taylor
from sharpfront.rounding import CANCELLED

Corner = tuple[float, float]


@dataclass(frozen=True)
class Quadrilateral:
    """x(s, t), linear in s and in t, on a rectangle whose sides are as long as the mean of two.

    Inside such a chart patches are boxes: they are split along its lines, which run along the
    quadrilateral's sides, and everything that is said of boxes is said in s and t.
    """

    # Those of x that do not vanish.
    DERIVATIVES: ClassVar[tuple[tuple[int, ...], ...]] = ((1, 0), (0, 1), (1, 1))

    # Anticlockwise: where (s, t) is (low, low), (high, low), (high, high), (low, high).
    corners: tuple[Corner, Corner, Corner, Corner]
    # Sides on lines that other charts have parts of, or this one: axis and end, and the ends of the
    # line.
    parts: tuple[tuple[tuple[int, int], tuple[Corner, Corner]], ...] = ()

    @cached_property
    def size(self) -> FloatArray:
        """The sides of the rectangle, whose lower corner is the origin, (2,)."""
        a, b, c, d = self._points
        along = np.linalg.norm(b - a) + np.linalg.norm(c - d)
        across = np.linalg.norm(d - a) + np.linalg.norm(c - b)
        return np.array([0.5 * along, 0.5 * across])

    @cached_property
    def _points(self) -> FloatArray:
        return np.array(self.corners)

    @cached_property
    def _slopes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """x_s and x_t at the origin, and x_st."""
        a, b, c, d = self._points
        along, across = self.size
        return (b - a) / along, (d - a) / across, ((a - b) + (c - d)) / (along * across)

    def edge(self, axis: int, end: int) -> tuple[Corner, Corner]:
        """Return the ends of a side, in the direction of the other coordinate."""
        a, b, c, d = self.corners
        return (((a, d), (b, c)) if axis == 0 else ((a, b), (d, c)))[end]

    def points(self, chart: FloatArray) -> FloatArray:
        """Return x at positions (s, t), (m, 2)."""
        # Weights of the corners: a point near any of them keeps its digits.
        s, t = (chart / self.size).T[:, :, None]
        a, b, c, d = self._points
        return np.asarray((1 - t) * ((1 - s) * a + s * b) + t * ((1 - s) * d + s * c))

    def inverse(self, points: FloatArray) -> FloatArray:
        """Return the positions (s, t) of points, (m, 2); beyond the rectangle for points outside.

        (x - s x_s) is parallel to x_t + s x_st: an equation of second degree for s, of whose roots
        the one is meant that stays finite when sides become parallel.
        """
        along, across, twist = self._slopes
        x = points - self._points[0]
        if self._chords is not None:
            s = cross(x, self._chords) / cross(along, self._chords)
            return self._with_shares(x, s)
        a, b, c = -cross(along, twist), cross(x, twist) - cross(along, across), cross(x, across)
        root = np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))
        down = np.maximum(root - b, 1e-300)
        return self._with_shares(x, 2.0 * c / down)

    @cached_property
    def _chords(self) -> FloatArray | None:
        """The direction of the sides at both ends of s, of which one may be a point.

        None where they are not parallel.
        """
        a, b, c, d = self._points
        one, other = d - a, c - b
        size = float(np.linalg.norm(one) * np.linalg.norm(other))
        return one + other if abs(float(cross(one, other))) <= CANCELLED * size else None

    def _with_shares(self, x: FloatArray, s: FloatArray) -> FloatArray:
        """Return positions from those along s, of points less the first corner."""
        along, across, twist = self._slopes
        s = np.clip(s, -self.size[0], 2.0 * self.size[0])
        beside = across + s[:, None] * twist
        square = np.maximum(np.sum(beside * beside, axis=1), 1e-300)
        t = np.sum((x - s[:, None] * along) * beside, axis=1) / square
        return np.stack([s, t], axis=1)

    def taylor(self, chart: FloatArray) -> Taylor:
        """Return the derivatives of x at positions (s, t), (m, 2) each."""
        along, across, twist = self._slopes
        found = along + chart[:, 1:] * twist, across + chart[:, :1] * twist
        rest = np.broadcast_to(twist, chart.shape)
        return dict(zip(self.DERIVATIVES, (*found, rest), strict=True))


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a_1 b_2 - a_2 b_1 of vectors (..., 2)."""
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
