"""Chords of a box across a direction: the way along that, and the share of a chord."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.maps.quadrilateral import Corner
from sharpfront.rounding import ROUNDED, TINY


@dataclass(frozen=True, eq=False)
class Chords:
    """The chords of a box across a normal to none of its sides.

    At a place r along the normal the chord reaches from a(r) to a(r) + L(r) along the direction to
    the left of the normal; a and L are linear between the places of corners.

    Parameters
    ----------
    bounds
        The corners of the box, (2, 2).
    normal
        Of length one, (2,).
    """

    bounds: FloatArray
    normal: FloatArray

    @property
    def left(self) -> FloatArray:
        """The direction along chords, (2,)."""
        return np.array([-self.normal[1], self.normal[0]])

    @cached_property
    def near(self) -> float:
        """What is rounding."""
        return ROUNDED * float(np.ptp(self.bounds, axis=0).max())

    @cached_property
    def places(self) -> FloatArray:
        """The places of corners in order, each once, (2,) to (4,)."""
        corners = np.array(list(itertools.product(*self.bounds.T)))
        found = np.sort(corners @ self.normal)
        return np.asarray(found[np.concatenate([[True], np.diff(found) > self.near])])

    @cached_property
    def ends(self) -> list[tuple[Corner, Corner]]:
        """Where the chords at these places begin and end."""
        return [self._ends(place) for place in self.places.tolist()]

    def _ends(self, place: float) -> tuple[Corner, Corner]:
        low, high = self.bounds
        found = []
        for axis, bound in itertools.product(range(2), (low, high)):
            point = np.array(bound)
            point[1 - axis] = (place - self.normal[axis] * bound[axis]) / self.normal[1 - axis]
            if np.all(point >= low - self.near) and np.all(point <= high + self.near):
                snapped = np.where(np.abs(point - low) <= self.near, low, point)
                found.append(np.where(np.abs(point - high) <= self.near, high, snapped))
        found.sort(key=lambda p: float(p @ self.left))
        first, last = (tuple(p.tolist()) for p in (found[0], found[-1]))
        return first, last

    @cached_property
    def _knots(self) -> FloatArray:
        """A and L at the places of corners, (2, places)."""
        first, last = (np.array(own) @ self.left for own in zip(*self.ends, strict=True))
        return np.stack([first, last - first])

    @cached_property
    def slopes(self) -> FloatArray:
        """The slopes of a and L between the places of corners, (2, places - 1)."""
        return np.asarray(np.diff(self._knots, axis=1) / np.diff(self.places))

    @property
    def bend(self) -> float:
        """By how much ways at a share of chords turn at a corner, at most."""
        a, length = self.slopes
        turns = np.abs(np.diff(np.stack([a, a + length]), axis=1))
        return float(turns.max(initial=0.0))

    def at(self, r: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a and L, and their slopes, at places, (2, m) each."""
        between = np.clip(np.searchsorted(self.places, r) - 1, 0, len(self.places) - 2)
        slopes = self.slopes[:, between]
        values = self._knots[:, between] + slopes * (r - self.places[between])
        values[1] = np.maximum(values[1], TINY)
        return values, slopes

    def shifted(self, points: FloatArray, places: FloatArray) -> FloatArray:
        """Return points at the same shares of chords at other places, (m, 2)."""
        (a, length), _ = self.at(points @ self.normal)
        share = (points @ self.left - a) / length
        (a, length), _ = self.at(places)
        out = places[:, None] * self.normal + (a + share * length)[:, None] * self.left
        return np.asarray(np.clip(out, *self.bounds))

    def ways(self, points: FloatArray) -> FloatArray:
        """Return how points at a share of chords go on with the place, (m, 2)."""
        (a, length), slopes = self.at(points @ self.normal)
        share = (points @ self.left - a) / length
        along = slopes[0] + np.clip(share, 0.0, 1.0) * slopes[1]
        return np.asarray(self.normal + along[:, None] * self.left)
