"""The map of a rectangle onto a strip along a curve: x(s, d) = g(s) - d n(s)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import chebyshev

from sharpfront.arrays import FloatArray
from sharpfront.maps.chain import Orders, Taylor
from sharpfront.maps.quadrilateral import Corner, cross
from sharpfront.rounding import SAME

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# Places along the strip and across it from which points are looked for, and steps of Newton's
# method: short of corners lines across a strip are far from being its normals.
PLACES, ACROSS, STEPS = 65, 5, 12
# Derivatives along the curve that equations up to order four need.
ORDERS = 4
# Points farther from the strip than this share of its size are not looked for.
ROOM = 0.05


@dataclass(frozen=True, eq=False)
class Strip:
    """A strip of constant depth along a piece of curve."""

    # Points and outward normals as Chebyshev weights in 2 s / length - 1, (n, 2) each. Where the
    # curve ends on a wall these lead along the wall, and are longer than one.
    curve: FloatArray
    normals: FloatArray
    # The sides of the rectangle; d is the distance from the curve, where normals are ones.
    length: float
    depth: float
    # The ends of the sides across the strip, the same numbers as its neighbours have.
    ends: tuple[tuple[Corner, Corner], tuple[Corner, Corner]] | None = None
    front: float | None = None  # where given, the d of a curve inside on which data jump

    @property
    def size(self) -> FloatArray:
        """The sides of the rectangle, whose lower corner is the origin, (2,)."""
        return np.array([self.length, self.depth])

    @cached_property
    def _derivatives(self) -> FloatArray:
        """Weights of curve and normals and their derivatives along s, (n, orders, 2, 2)."""
        now = np.stack([self.curve, self.normals], axis=1)
        out = np.zeros((len(now), ORDERS + 1, 2, 2))
        for order in range(ORDERS + 1):
            out[: len(now), order] = now
            now = np.asarray(chebyshev.chebder(now) * (2.0 / self.length), dtype=float)
        return out

    def _along(self, s: FloatArray, order: int) -> FloatArray:
        """Return curve and normals with their derivatives along s, (order + 1, 2, m, 2)."""
        table = chebyshev.chebvander(2.0 * s / self.length - 1.0, len(self.curve) - 1)
        flat = self._derivatives[:, : order + 1].reshape(len(self.curve), -1)
        return np.moveaxis((table @ flat).reshape(len(s), order + 1, 2, 2), 0, 2)

    def edge(self, axis: int, end: int) -> tuple[Corner, Corner]:
        """Return the ends of a side, in the direction of the other coordinate."""
        if self.ends is not None:
            first, last = self.ends
            return self.ends[end] if axis == 0 else (first[end], last[end])
        at = np.full((2, 2), self.size[axis] if end else 0.0)
        at[:, 1 - axis] = 0.0, self.size[1 - axis]
        first, last = self.points(at).tolist()
        return (first[0], first[1]), (last[0], last[1])

    def points(self, chart: FloatArray) -> FloatArray:
        """Return x at positions (s, d), (m, 2)."""
        curve, normals = self._along(chart[:, 0], 0)[0]
        return np.asarray(curve - chart[:, 1:] * normals)

    @cached_property
    def _places(self) -> tuple[FloatArray, cKDTree]:
        """Positions all over the strip, (m, 2), and where they are in space."""
        from scipy.spatial import cKDTree

        s, d = np.linspace(0.0, self.length, PLACES), np.linspace(0.0, self.depth, ACROSS)
        at = np.stack([np.repeat(s, ACROSS), np.tile(d, PLACES)], axis=1)
        return at, cKDTree(self.points(at))

    @cached_property
    def _longest(self) -> float:
        """The length of the longest normal."""
        normals = self._along(np.linspace(0.0, self.length, PLACES), 0)[0][1]
        return float(np.linalg.norm(normals, axis=1).max())

    def inverse(self, points: FloatArray) -> FloatArray:
        """Return the positions (s, d) of points, (m, 2); far outside the rectangle if they are."""
        places, tree = self._places
        gap, nearest = tree.query(points)
        out = places[nearest]
        spacing = self.length / PLACES
        across = 0.5 / (ACROSS - 1) + ROOM
        far = gap > across * self.depth * self._longest + 2.0 * spacing
        out[far] = -1.0 - self.size
        out[~far] = by_newton(self._step, points[~far], out[~far], self.size)
        return out

    def _step(self, points: FloatArray, at: FloatArray) -> FloatArray:
        (curve, normals), (slopes, turns) = self._along(at[:, 0], 1)
        miss = points - curve + at[:, 1:] * normals
        a, b = slopes - at[:, 1:] * turns, -normals
        return np.stack([cross(miss, b), cross(a, miss)], axis=1) / cross(a, b)[:, None]

    def taylor(self, chart: FloatArray) -> Taylor:
        """Return the derivatives of x at positions (s, d), (m, 2) each."""
        out: dict[Orders, FloatArray] = {}
        for order, (curve, normals) in enumerate(self._along(chart[:, 0], ORDERS)):
            if order:
                out[order, 0] = curve - chart[:, 1:] * normals
            if order < ORDERS:
                out[order, 1] = -normals
        return out

    def place(self, axis: int, end: int) -> float:
        """Return where a side lies along its axis: 0 for the lower one, 1 for the upper one."""
        return float(self.size[axis]) if end else 0.0

    def normals_at(self, chart: FloatArray, axis: int, end: int) -> FloatArray:
        """Return unit normals of lines along the other axis: upwards (end 1) or downwards (0)."""
        (_, normals), (slopes, turns) = self._along(chart[:, 0], 1)
        ways = slopes - chart[:, 1:] * turns, -normals
        along, up = ways[1 - axis], ways[axis]
        across = np.stack([along[:, 1], -along[:, 0]], axis=1)
        across /= np.linalg.norm(across, axis=1)[:, None]
        turn = 1.0 if end else -1.0
        return np.asarray(turn * across * np.sign(np.sum(across * up, axis=1))[:, None])


def by_newton(
    step: Callable[[FloatArray, FloatArray], FloatArray],
    points: FloatArray,
    near: FloatArray,
    size: FloatArray,
) -> FloatArray:
    """Return positions of points in a cell of some size, from positions near them (m, d).

    `step` takes points and positions; no step is longer than a tenth of the cell along what it
    follows, or than its depth.
    """
    out, here = near.copy(), np.arange(len(points))
    most = size * np.array([*(0.1,) * (len(size) - 1), 1.0])
    for _ in range(STEPS):
        if not len(here):
            break
        change = step(points[here], out[here])
        out[here] = np.clip(out[here] + np.clip(change, -most, most), -size, 2.0 * size)
        here = here[np.max(np.abs(change) / size, axis=1) > SAME]
    return out
