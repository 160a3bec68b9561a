"""What panels of a boundary face each other, and what lies half way between them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.geometry.panel_fits import NODES, PARAMETERS, weights_of
from sharpfront.geometry.panels import Panels
from sharpfront.maps import Strip
from sharpfront.place.strips.ribbons import Ribbon
from sharpfront.place.strips.settings import STRIPS
from sharpfront.rounding import SAME

Ints = NDArray[np.int64]
# Points on a panel that tell what faces it.
ON_EACH = np.linspace(-0.99, 0.99, 31)
# Steps of Newton's method for what is half way, from points that are seen.
NEWTON_STEPS = 12
# A panel's polynomial goes on so far beyond its ends, as a parameter.
BEYOND = 1e-3
# Panels are halved until what is half way is a polynomial to this share of the domain.
EXACT = 1e-12


class Span(NamedTuple):
    """A stretch of a closed curve, its ends as numbers of panels and shares of these."""

    start: float
    stop: float
    # How far half way is at its ends.
    radii: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Meeting:
    """Two stretches of boundary, and what lies half way between them.

    Parameters
    ----------
    sides
        The stretches, panel by panel with the same parameters.
    between
        What is half way, as weights, (n, NODES, 2).
    stretches
        Where on their curves they are.
    """

    sides: tuple[Panels, Panels]
    between: FloatArray
    stretches: tuple[Span, Span]

    def strips(self) -> Iterator[tuple[Strip, str]]:
        """Yield the strips of both, with the parts that their outer sides are of."""
        for panels in self.sides:
            across = panels.weights - self.between
            widths = np.linalg.norm(_values(across, ON_EACH), axis=2).mean(axis=1)
            lengths = Ribbon(panels, across).lengths
            for k, depth in enumerate(widths.tolist()):
                strip = Strip(panels.weights[k], across[k] / depth, float(lengths[k]), depth)
                yield strip, panels.parts[k]

    @property
    def middle(self) -> FloatArray:
        """Points all along what is half way, (m, 2)."""
        return _values(self.between, np.linspace(-1.0, 1.0, STRIPS.along_middle)).reshape(-1, 2)


def _values(weights: FloatArray, t: FloatArray) -> FloatArray:
    """Return polynomials at parameters, (n, t, 2)."""
    return np.asarray(np.einsum("tk,nkd->ntd", chebyshev.chebvander(t, NODES - 1), weights))


def panel_parts(start: float, stop: float, ends: tuple[int, int]) -> list[tuple[int, float, float]]:
    """Return the parts of panels in a stretch: which, and from which parameter to which."""
    first, last = ends
    cuts = [start, *range(math.floor(start) + 1, math.ceil(stop)), stop]
    out = []
    for low, high in itertools.pairwise(cuts):
        if high - low > SAME:
            number = math.floor(0.5 * (low + high))
            which = first + (number - first) % (last - first)
            out.append((which, 2.0 * (low - number) - 1.0, 2.0 * (high - number) - 1.0))
    return out


def to_panel_end(place: float, towards: Callable[[float], int]) -> float:
    """Return a place along panels, or the end of a panel that is close in a direction."""
    end = towards(place)
    return float(end) if abs(end - place) < STRIPS.least_left else float(place)


class _Opposite(NamedTuple):
    """What faces a piece of a panel."""

    points: FloatArray  # of the piece itself, as weights, (NODES, 2)
    opposite: FloatArray  # what lies opposite, as weights
    between: FloatArray  # half way, as weights
    panel: int  # that it is of
    ends: tuple[float, float]  # of what lies opposite, along its curve
    radii: tuple[float, float]  # how far half way is at the ends


class Facing:
    """What panels face across the domain: how far half way is, and what lies opposite.

    Parameters
    ----------
    panels
        All curved boundary.
    eligible
        Which of the panels have strips, (n,).
    """

    def __init__(self, panels: Panels, eligible: NDArray[np.bool_]) -> None:
        self.panels, self.eligible, count = panels, eligible, len(panels.parts)
        self.panel, self.t = np.repeat(np.arange(count), len(ON_EACH)), np.tile(ON_EACH, count)
        found, _ = panels.boundary(self.panel, self.t)
        self.points, self.normals = found.points, found.normals
        self.size = float(np.ptp(self.points, axis=0).max())
        self.radii, self.partner = self._balls()
        self.curve = np.full(count, -1)
        self.ends = np.zeros((count, 2), dtype=np.int64)
        for k, (first, last) in enumerate(panels.closed):
            self.curve[first:last], self.ends[first:last] = k, (first, last)
        self.slopes = [chebyshev.chebder(w, axis=1) for w in (panels.weights, panels.normals)]

    def _balls(self) -> tuple[FloatArray, Ints]:
        """Return how large balls that touch the boundary from inside are, and where they end."""
        radii, partner = np.empty(len(self.points)), np.empty(len(self.points), dtype=np.int64)
        for i, (point, normal) in enumerate(zip(self.points, self.normals, strict=True)):
            away = point - self.points
            across = away @ normal
            size = np.sum(away * away, axis=1)
            ball = np.full(len(size), np.inf)
            met = across > 1e-12 * self.size
            ball[met] = 0.5 * size[met] / across[met]
            partner[i] = int(np.argmin(ball))
            radii[i] = ball[partner[i]]
        return radii, partner

    def is_close(self, reach: FloatArray) -> NDArray[np.bool_]:
        """Tell which panels face one other curve, and are too close to it somewhere, (n,)."""
        shape = len(self.panels.parts), len(ON_EACH)
        faces = np.sum(self.normals * self.normals[self.partner], axis=1) < 0.0
        other = np.where(faces, self.curve[self.panel[self.partner]], -1).reshape(shape)
        one = np.all(other == other[:, :1], axis=1) & (other[:, 0] >= 0)
        near = np.any(self.radii.reshape(shape) < reach[:, None], axis=1)
        opposite = self.panel[self.partner].reshape(shape)
        return np.asarray(one & near & self.eligible & self.eligible[opposite].all(axis=1))

    def trimmed(
        self, start: int, stop: int, reach: FloatArray, ends: tuple[int, int]
    ) -> tuple[float, float]:
        """Return what of panels from one to another is too close, if not all around the curve."""
        first, count = ends[0], ends[1] - ends[0]
        if stop - start == count:
            return float(start), float(stop)
        numbers = first + (np.arange(start, stop) - first) % count
        near = self.radii.reshape(-1, len(ON_EACH))[numbers] < reach[numbers, None]
        places = np.arange(start, stop)[:, None] + 0.5 * (ON_EACH + 1.0)
        low, high = np.flatnonzero(near.ravel())[[0, -1]]
        low, high = max(low - 1, 0), min(high + 1, near.size - 1)
        from_panel, to_panel = places.ravel()[[low, high]]
        return to_panel_end(from_panel, math.floor), to_panel_end(to_panel, math.ceil)

    def meeting(self, stretch: tuple[float, float], ends: tuple[int, int]) -> Meeting | None:
        """Return what a stretch of a curve meets half way; None unless it is one smooth stretch."""
        found: list[_Opposite] = []
        which: list[int] = []
        for k, low, high in panel_parts(*stretch, ends):
            own = self._opposite(k, low, high, STRIPS.halved)
            if own is None:
                return None
            found += own
            which += [k] * len(own)
        around = self.ends[found[0].panel]
        count = int(around[1] - around[0])
        opposite = np.unwrap([e for each in found for e in each.ends], period=count)
        steps = np.diff(opposite)
        turn = 1.0 if opposite[-1] > opposite[0] else -1.0
        if np.any(steps * turn < -1e-9) or abs(opposite[-1] - opposite[0]) > count + 1e-6:
            return None
        radii = found[0].radii[0], found[-1].radii[1]
        one = Span(*stretch, radii)
        low, high = float(opposite.min()), float(opposite.max())
        shift = count * math.floor((low - around[0]) / count)
        other = Span(low - shift, high - shift, radii if turn > 0 else radii[::-1])
        if spans_overlap(other, stretch, ends):
            return None
        others = np.array([e.panel for e in found])
        sides = (
            self.panels.reshaped(np.array(which), np.stack([e.points for e in found])),
            self.panels.reshaped(others, np.stack([e.opposite for e in found]), turn),
        )
        return Meeting(sides, np.stack([e.between for e in found]), (one, other))

    def _opposite(self, k: int, low: float, high: float, halvings: int) -> list[_Opposite] | None:
        """Return what faces a piece of a panel, in parts that are polynomials."""
        found = self._foot(k, low, high)
        if found is not None:
            return [found]
        if not halvings:
            return None
        middle = 0.5 * (low + high)
        both = [self._opposite(k, *own, halvings - 1) for own in ((low, middle), (middle, high))]
        if both[0] is None or both[1] is None:
            return None
        return both[0] + both[1]

    def _foot(self, k: int, low: float, high: float) -> _Opposite | None:
        """Return what faces a piece of a panel, if it is a polynomial."""
        share = np.concatenate([PARAMETERS, [-1.0, 1.0]])
        t = 0.5 * (low * (1 - share) + high * (1 + share))
        nearest = k * len(ON_EACH) + np.argmin(np.abs(t[:, None] - ON_EACH), axis=1)
        own, _ = self.panels.boundary(np.full(len(t), k), t)
        partner = self.partner[nearest]
        panel, at, radii = self.panel[partner], self.t[partner], self.radii[nearest]
        for _ in range(NEWTON_STEPS):
            other, normals, turns = self._at(panel, at)
            a = normals - own.normals
            b = radii[:, None] * turns[1] - turns[0]
            miss = own.points - other + radii[:, None] * a
            area = _cross(a, b)
            if np.any(np.abs(area) < 1e-14 * self.size):
                return None
            radii = radii - _cross(miss, b) / area
            panel, at = self._moved(panel, at - np.clip(_cross(a, miss) / area, -1.0, 1.0))
        if np.abs(miss).max() > EXACT * self.size or np.any(radii <= 0.0):
            return None
        between = own.points - radii[:, None] * own.normals
        weights = weights_of(np.stack([own.points, other, between])[:, :NODES])
        if np.abs(weights[:, -2:]).max() > EXACT * self.size:
            return None
        along = panel + 0.5 * (at + 1.0)
        ends, outer = ((float(x[-2]), float(x[-1])) for x in (along, radii))
        return _Opposite(weights[0], weights[1], weights[2], int(panel[NODES // 2]), ends, outer)

    def _at(self, panel: Ints, t: FloatArray) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        """Return points and normals of panels at parameters, and how both change with these."""
        table = chebyshev.chebvander(t, NODES - 1)
        points, normals = (
            np.einsum("mk,mkd->md", table, w[panel])
            for w in (self.panels.weights, self.panels.normals)
        )
        turns = [np.einsum("mk,mkd->md", table[:, :-1], w[panel]) for w in self.slopes]
        return points, normals, turns

    def _moved(self, panel: Ints, t: FloatArray) -> tuple[Ints, FloatArray]:
        """Return panels and parameters, on the next panel where the parameter has left one."""
        first, last = self.ends[panel].T
        step = (t > 1.0 + BEYOND).astype(np.int64) - (t < -1.0 - BEYOND)
        moved = first + (panel + step - first) % np.maximum(last - first, 1)
        speed = [self.panels.boundary(p, np.clip(t, -1.0, 1.0))[1] for p in (panel, moved)]
        over = (t - step) * speed[0] / speed[1]
        return moved, np.where(step == 0, t, np.clip(over - step, -1.0, 1.0))


def spans_overlap(one: Span, other: tuple[float, float], ends: tuple[int, int]) -> bool:
    """Tell whether two stretches are of one curve and have something in common."""
    first, last = ends
    if not first <= one.start < last:
        return False
    shifts = (0, last - first, first - last)
    return any(other[0] < one.stop + s and one.start + s < other[1] for s in shifts)


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
