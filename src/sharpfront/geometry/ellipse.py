"""Ellipse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import ellipe, ellipeinc

from sharpfront.checks import explained, finite
from sharpfront.errors import DomainError
from sharpfront.geometry.curves import Curve, Pieces
from sharpfront.geometry.domain import BoundaryPoints, Points
from sharpfront.geometry.stated_shape import Example, StatedShape, vector

# Angles between which arc lengths are looked up before Newton's method, and its steps: the worst of
# arcs at a ratio of axes of 1e4 has 1e-13 of the length left after four.
_NODES, _STEPS = 2049, 6
# Halvings of the interval that holds the distance's multiplier: to rounding beside its largest.
_PARAMETER_HALVINGS = 80


@dataclass(frozen=True, init=False, repr=False)
class Ellipse(StatedShape):
    """An ellipse, ``Ellipse((0, 0), (2, 1), angle=0.3)``; its boundary is one part, ``surface``.

    Parameters
    ----------
    centre
        The centre, two coordinates.
    semi_axes
        Half of its width and half of its height before it is turned, positive.
    angle
        By what it is turned anticlockwise, in radians.
    """

    centre: tuple[float, ...]
    semi_axes: tuple[float, ...]
    angle: float = 0.0

    kind: ClassVar[str] = "ellipse"
    example: ClassVar[Example] = {"centre": (0.0, 0.0), "semi_axes": (2.0, 1.0), "angle": 0.3}
    optional: ClassVar[tuple[str, ...]] = ("angle",)

    @explained("sf.Ellipse((0, 0), (2, 1), angle=0.3)")
    def __init__(
        self, centre: Sequence[float], semi_axes: Sequence[float], angle: float = 0.0
    ) -> None:
        at, axes = vector(centre, "The centre"), vector(semi_axes, "The semi-axes")
        if len(at) != 2 or len(axes) != 2 or min(axes) <= 0:
            raise DomainError(
                "An ellipse has a centre with two coordinates and two positive semi-axes, got "
                f"{tuple(at)} and {tuple(axes)}. Try sf.Ellipse((0, 0), (2, 1))."
            )
        turn = finite(angle, "The angle", error=DomainError)
        vars(self).update(centre=at, semi_axes=axes, angle=turn)

    @property
    def bounds(self) -> Points:
        """Lower and upper corner of the bounding box, (2, d)."""
        half = np.hypot(*(self._turn * np.array(self.semi_axes)).T)
        return np.asarray(np.array(self.centre) + np.array([-half, half]))

    @property
    def measure(self) -> float:
        """Area."""
        return math.pi * math.prod(self.semi_axes)

    def distance(self, points: Points) -> Points:
        """Return the distance to the boundary, positive inside, (m,)."""
        own = np.abs((points - np.array(self.centre)) @ self._turn)
        a, b = self.semi_axes
        if a < b:
            own, a, b = own[:, ::-1], b, a
        nearest = _nearest(own, a, b)
        inside = (own[:, 0] / a) ** 2 + (own[:, 1] / b) ** 2 < 1
        away = np.hypot(*(own - nearest).T)
        return np.asarray(np.where(inside, away, -away))

    def pieces(self, window: Points | None = None) -> Pieces:
        """Return the curve; `window` is not needed."""
        return {"surface": (EllipseCurve(np.array(self.centre), self.semi_axes, self._turn),)}

    def inequality(self, coordinates: Sequence[Any]) -> tuple[Any, Any]:
        """Return the sum of squares in units of the semi-axes, and one."""
        x, y = (c - at for c, at in zip(coordinates, self.centre, strict=True))
        if self.angle:
            c, s = math.cos(self.angle), math.sin(self.angle)
            x, y = c * x + s * y, c * y - s * x
        return (x / self.semi_axes[0]) ** 2 + (y / self.semi_axes[1]) ** 2, 1.0

    @property
    def _turn(self) -> Points:
        """Columns that lead along the axes, (2, 2)."""
        c, s = math.cos(self.angle), math.sin(self.angle)
        return np.array([[c, -s], [s, c]])


@dataclass(frozen=True, eq=False)
class EllipseCurve(Curve):
    """An ellipse by arc length, anticlockwise from the end of its width, normals leading out."""

    centre: Points
    semi_axes: tuple[float, ...]
    turn: Points
    closed = True

    @property
    def measure(self) -> float:
        """The length."""
        a, b = self.semi_axes
        return float(4 * a * ellipe(1 - (b / a) ** 2))

    def at(self, arc: Points) -> BoundaryPoints:
        """Return the points at arc lengths (m,)."""
        a, b = self.semi_axes
        turns = np.floor(arc / self.measure)
        arc = arc - turns * self.measure
        angles, lengths = self._table
        t = np.interp(arc, lengths, angles)
        for _ in range(_STEPS):
            t = t - (self._length(t) - arc) / np.hypot(a * np.sin(t), b * np.cos(t))
        own = np.stack([a * np.cos(t), b * np.sin(t)], axis=1)
        normals = np.stack([b * np.cos(t), a * np.sin(t)], axis=1)
        normals /= np.hypot(*normals.T)[:, None]
        return BoundaryPoints(self.centre + own @ self.turn.T, normals @ self.turn.T)

    def _length(self, t: Points) -> Points:
        """Return the length from angle 0 on: a E(t - pi/2 | m) from the quarter on."""
        a, b = self.semi_axes
        m = 1 - (b / a) ** 2
        return np.asarray(a * (ellipeinc(t - math.pi / 2, m) + ellipe(m)))

    @cached_property
    def _table(self) -> tuple[Points, Points]:
        angles = np.linspace(0.0, 2 * math.pi, _NODES)
        return angles, self._length(angles)


def _nearest(points: Points, a: float, b: float) -> Points:
    """Return the nearest points of an ellipse with a >= b, for points of the first quadrant.

    The nearest point to (x, y) is (a^2 x / (t + a^2), b^2 y / (t + b^2)), with the largest t for
    which it lies on the ellipse; on the long axis near the centre there are two, of equal distance.
    """
    x, y = points.T
    low, high = b * y, np.hypot(a * x, b * y)
    more = a**2 - b**2
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_PARAMETER_HALVINGS):
            s = 0.5 * (low + high)
            beyond = (a * x / (s + more)) ** 2 + (b * y / s) ** 2 > 1
            low, high = np.where(beyond, s, low), np.where(beyond, high, s)
        s = 0.5 * (low + high)
        near_x = np.where(s + more > 0, a**2 * x / (s + more), 0.0)
    near_x = np.clip(near_x, 0.0, a)
    # On the ellipse itself whatever rounding did to t; where it is flat, from x.
    near_y = b * np.sqrt(np.maximum(0.0, 1.0 - (near_x / a) ** 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        other = np.clip(np.where(s > 0, b**2 * y / s, 0.0), 0.0, b)
    steep = near_x > a * math.sqrt(0.5)
    near_y = np.where(steep & (y > 0) & (s > 0), other, near_y)
    near_x = np.where(steep, a * np.sqrt(np.maximum(0.0, 1.0 - (near_y / b) ** 2)), near_x)
    return np.stack([near_x, near_y], axis=1)
