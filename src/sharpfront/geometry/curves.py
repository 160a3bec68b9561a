"""Smooth pieces of boundary in one and two dimensions: end points, segments, circles, cuts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sharpfront.arrays import Ints
from sharpfront.geometry.domain import BoundaryPoints, Points
from sharpfront.geometry.sampling import steps
from sharpfront.rounding import BISECTIONS

_FIRST_STEPS = 256
_HALVINGS = 8
_TOUCH = 1e-4
# Steps that bring a point of a curve to where another point is nearest: each squares the angle.
_PROJECTIONS = 5
# Stretches below this share of their curve are rounding at an end.
_SLIVER = 1e-13
_ASKED = np.array([0.13, 0.31, 0.47, 0.64, 0.86])


@dataclass(frozen=True)
class Sieve:
    """What is kept of a piece of boundary."""

    # Function of points (m, d) that changes sign, or leaves or reaches zero, wherever the decision
    # may change. Its size may be used as a distance below which that cannot happen.
    level: Callable[[Points], Points]
    # Function of boundary points that gives 1 (keep), -1 (keep with the normal turned) or 0.
    side: Callable[[BoundaryPoints], Ints]
    # Levels up to this size count as zero, and cuts closer than a thousand of it as one cut.
    slack: float
    # Lower and upper corner (2, d) of a box outside which nothing is kept, where known.
    frame: Points | None = None
    # Corners (k, 2) of the other boundary, at which cuts that are as good as there are made.
    corners: Points | None = None


class Piece(Protocol):
    """A smooth piece of boundary."""

    @property
    def measure(self) -> float:
        """Length or area; 1 for a single point."""

    def spread(self, count: int, seed: int) -> BoundaryPoints:
        """Return points spread evenly over the piece."""

    def kept(self, sieve: Sieve) -> Sequence[Piece]:
        """Return what a sieve leaves of the piece."""


Pieces = dict[str, tuple[Piece, ...]]


@dataclass(frozen=True, eq=False)
class Spot:
    """A single point with its normal: the end of an interval."""

    point: Points
    normal: Points
    measure: float = 1.0

    def spread(self, count: int, seed: int) -> BoundaryPoints:
        """Return the point, however many are asked for."""
        return BoundaryPoints(self.point[None, :], self.normal[None, :])

    def kept(self, sieve: Sieve) -> Sequence[Piece]:
        """Return the point or nothing."""
        return [self] if sieve.side(self.spread(1, 0))[0] else []


class Curve(ABC):
    """A smooth curve in the plane, as a function of its arc length."""

    closed = False

    @property
    @abstractmethod
    def measure(self) -> float:
        """The length."""

    @abstractmethod
    def at(self, arc: Points) -> BoundaryPoints:
        """Return the points at arc lengths (m,); a closed curve goes round again."""

    def spread(self, count: int, seed: int) -> BoundaryPoints:
        """Return points at equal steps of arc length."""
        return self.at(steps(count, seed) * self.measure)

    def kept(self, sieve: Sieve) -> Sequence[Curve]:
        """Return the stretches that a sieve leaves, each cut where the level vanishes."""
        cuts = _cuts(self, sieve)
        sides = self._sides(cuts, sieve)
        joined = _joined(cuts, sides, closed=self.closed)
        if len(joined) == 1 and joined[0][:2] == (0.0, self.measure) and joined[0][2] == 1:
            return [self]
        return [Cut(self, low, high, side) for low, high, side in joined if side]

    def _sides(self, cuts: Points, sieve: Sieve) -> Ints:
        """Return the side of each stretch between cuts: the median of some of its points.

        One point alone might be where another boundary touches this one.
        """
        asked = cuts[:-1, None] + np.diff(cuts)[:, None] * _ASKED
        sides = sieve.side(self.at(asked.ravel())).reshape(asked.shape)
        return np.sort(sides, axis=1)[:, len(_ASKED) // 2]


@dataclass(frozen=True, eq=False)
class Segment(Curve):
    """A straight line with the region on its left, so that the normal is on its right."""

    start: Points
    end: Points

    @property
    def measure(self) -> float:
        """The length."""
        return math.hypot(*(self.end - self.start))

    def at(self, arc: Points) -> BoundaryPoints:
        """Return the points at arc lengths (m,)."""
        along = (self.end - self.start) / self.measure
        points = self.start + arc[:, None] / self.measure * (self.end - self.start)
        return BoundaryPoints(points, np.tile([along[1], -along[0]], (len(arc), 1)))


@dataclass(frozen=True, eq=False)
class Circle(Curve):
    """A circle with its normals leading away from the centre."""

    centre: Points
    radius: float
    closed = True

    @property
    def measure(self) -> float:
        """The length."""
        return 2 * math.pi * self.radius

    def at(self, arc: Points) -> BoundaryPoints:
        """Return the points at arc lengths (m,), counted from the right and anticlockwise."""
        angle = arc / self.radius
        normals = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return BoundaryPoints(self.centre + self.radius * normals, normals)


@dataclass(frozen=True, eq=False)
class Cut(Curve):
    """The stretch of another curve between two arc lengths."""

    curve: Curve
    low: float
    high: float
    side: int

    @property
    def closed(self) -> bool:  # type: ignore[override]
        """A cut is closed when it goes once round a closed curve."""
        return self.curve.closed and self.measure >= self.curve.measure

    @property
    def measure(self) -> float:
        """The length."""
        return self.high - self.low

    def at(self, arc: Points) -> BoundaryPoints:
        """Return the points at arc lengths (m,) from the first cut."""
        whole = self.curve.at(self.low + arc)
        return BoundaryPoints(whole.points, self.side * whole.normals)


def ring(corners: Points) -> tuple[Segment, ...]:
    """Return the sides of a polygon given by its corners (m, 2), the region on the left."""
    return tuple(map(Segment, corners, np.roll(corners, -1, 0)))


def _cuts(curve: Curve, sieve: Sieve) -> Points:
    """Return the arc lengths at which the level changes its state, with both ends."""
    arc = np.linspace(0.0, curve.measure, _FIRST_STEPS + 1)
    level = sieve.level(curve.at(arc).points)
    for _ in range(_HALVINGS):
        # A level that changes no faster than the way along the curve cannot vanish between two
        # points unless both its sizes together are below their distance.
        near = np.abs(level[1:]) + np.abs(level[:-1]) < np.diff(arc)
        near &= (_states(level, sieve)[1:] != 0) | (_states(level, sieve)[:-1] != 0)
        if not near.any():
            break
        more = ((arc[1:] + arc[:-1]) / 2)[near]
        order = np.argsort(np.concatenate([arc, more]), kind="stable")
        level = np.concatenate([level, sieve.level(curve.at(more).points)])[order]
        arc = np.concatenate([arc, more])[order]
    states = _states(level, sieve)
    arc, states = _without_touches(arc, states, _TOUCH * curve.measure)
    inner = _at_corners(curve, _bisected(curve, sieve, arc, states), sieve)
    least = max(1e3 * sieve.slack, _SLIVER * curve.measure)
    met = [at for at in _met(curve, sieve) if np.all(np.abs(inner - at) > least)]
    return _apart(np.concatenate([[0.0], np.sort([*inner, *met]), [curve.measure]]), least)


def _met(curve: Curve, sieve: Sieve) -> Points:
    """Return the arc lengths at which corners of the other boundary lie on a curve.

    Where that leaves the curve at a corner the level may be zero on both sides of it: it is a lower
    bound of a distance, and zero on what a region has lost too.
    """
    if sieve.corners is None or not len(sieve.corners):
        return np.empty(0)
    at = arcs_of(curve, sieve.corners)
    off = np.abs(sieve.corners - curve.at(at).points).max(axis=1, initial=0.0)
    return np.asarray(at[off <= 10 * sieve.slack])


def arcs_of(curve: Curve, points: Points) -> Points:
    """Return the arc lengths at which a curve is closest to points on it or next to it, (m,)."""
    arc = np.linspace(0.0, curve.measure, _FIRST_STEPS + 1)
    gaps = np.linalg.norm(curve.at(arc).points[:, None] - points, axis=2)
    at = arc[np.argmin(gaps, axis=0)]
    for _ in range(_PROJECTIONS):
        found = curve.at(at)
        tangents = np.stack([-found.normals[:, 1], found.normals[:, 0]], axis=1)
        # Where normals were turned, as those of a hole, the curve goes the other way.
        ahead = curve.at(at + _TOUCH * curve.measure).points - found.points
        along = np.sign(np.sum(ahead * tangents, axis=1))
        at = at + along * np.sum((points - found.points) * tangents, axis=1)
        at = np.clip(at, 0.0, curve.measure)
    return np.asarray(at)


def _states(level: Points, sieve: Sieve) -> Ints:
    return (level > sieve.slack).astype(np.int64) - (level < -sieve.slack).astype(np.int64)


def _without_touches(arc: Points, states: Ints, least: float) -> tuple[Points, Ints]:
    """Leave out the points on stretches of level zero shorter than `least`.

    Those are no common boundary: the level passes through zero there or touches it. At the ends
    of the curve the state becomes that of the neighbours.
    """
    states, left_out = states.copy(), np.zeros(len(arc), dtype=bool)
    edges = np.flatnonzero(np.diff((states == 0).astype(np.int64), prepend=0, append=0))
    for start, end in edges.reshape(-1, 2):
        if arc[end - 1] - arc[start] >= least:
            continue
        if start == 0:
            states[:end] = states[end]
        elif end == len(arc):
            states[start:] = states[start - 1]
        else:
            left_out[start:end] = True
    return arc[~left_out], states[~left_out]


def _bisected(curve: Curve, sieve: Sieve, arc: Points, states: Ints) -> Points:
    """Return where states end, by the sign alone where one becomes the opposite."""
    change = np.flatnonzero(states[1:] != states[:-1])
    low, high, before = arc[change], arc[change + 1], states[change]
    opposite = before == -states[change + 1]
    for _ in range(BISECTIONS if len(low) else 0):
        middle = (low + high) / 2
        level = sieve.level(curve.at(middle).points)
        same = np.where(opposite, before * level > 0, _states(level, sieve) == before)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return (low + high) / 2


def _at_corners(curve: Curve, cuts: Points, sieve: Sieve) -> Points:
    """Return cuts, those that a corner explains at it.

    Where two boundaries part the level leaves zero only a slack beyond the corner, and where the
    other boundary only touches the curve there, much farther: it is zero all the way.
    """
    if sieve.corners is None or not len(sieve.corners) or not len(cuts):
        return cuts
    found = curve.at(cuts)
    tangents = np.stack([-found.normals[:, 1], found.normals[:, 0]], axis=1)
    missing = sieve.corners[None] - found.points[:, None]
    near = np.argmin(np.abs(missing).max(axis=2), axis=1)
    corners, missing = sieve.corners[near], missing[np.arange(len(cuts)), near]
    moved = cuts + np.sum(missing * tangents, axis=1)
    explained = np.abs(corners - curve.at(moved).points).max(axis=1) <= 10 * sieve.slack
    explained &= np.abs(moved - cuts) <= _TOUCH * curve.measure
    for share in (0.0, 0.5, 1.0):
        level = sieve.level(curve.at(cuts + share * (moved - cuts)).points)
        explained &= np.abs(level) <= 10 * sieve.slack
    return np.asarray(np.where(explained, moved, cuts))


def ends(pieces: Pieces) -> Points:
    """Return the ends (k, 2) of the curves of a boundary that are not closed."""
    every = [piece for own in pieces.values() for piece in own]
    curves = [c for c in every if isinstance(c, Curve) and not c.closed]
    found = [curve.at(np.array([0.0, curve.measure])).points for curve in curves]
    return np.concatenate([np.empty((0, 2)), *found])


def _apart(cuts: Points, least: float) -> Points:
    """Leave out cuts that follow another within `least`, but keep both ends."""
    kept = [float(cuts[0])]
    for cut in cuts[1:-1]:
        if cut - kept[-1] > least and cuts[-1] - cut > least:
            kept.append(float(cut))
    return np.array([*kept, float(cuts[-1])])


def _joined(cuts: Points, sides: Ints, *, closed: bool) -> list[tuple[float, float, int]]:
    """Join neighbouring stretches of one side; on a closed curve also across its start."""
    stretches: list[tuple[float, float, int]] = []
    for low, high, side in zip(cuts[:-1].tolist(), cuts[1:].tolist(), sides.tolist(), strict=True):
        if stretches and stretches[-1][2] == side:
            low = stretches.pop()[0]
        stretches.append((low, high, side))
    if closed and len(stretches) > 1 and stretches[0][2] == stretches[-1][2]:
        _, high, side = stretches.pop(0)
        low = stretches.pop()[0]
        stretches.append((low, float(cuts[-1]) + high, side))
    return stretches


def ends_of(curve: object) -> Points | None:
    """Return the ends of a straight piece of boundary, (2, 2); None if it is not straight."""
    whole = curve
    while isinstance(whole, Cut):
        whole = whole.curve
    if not (isinstance(whole, Segment) and isinstance(curve, Curve)):
        return None
    if isinstance(curve, Segment):
        return np.stack([curve.start, curve.end])
    return curve.at(np.array([0.0, curve.measure])).points
