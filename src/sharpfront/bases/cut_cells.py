"""Boxes that the boundary of a domain cuts: what of them lies inside.

A patch on such a box has its functions on the whole box and its rows inside: the equation at
points inside, conditions on the stretches of the boundary in it, traces on the inside of its sides.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lstsq

from sharpfront.arrays import Flags, FloatArray, remembered
from sharpfront.bases.cut_interior import Frame, Inside
from sharpfront.bases.legendre import gauss, legendre_table, norms
from sharpfront.geometry import BoundaryPoints, Domain
from sharpfront.geometry.panels import Panels, Stretch
from sharpfront.maps import Strip
from sharpfront.rounding import ROUNDED, SAME, SLIGHT

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


# Points of a side, as parameters: evenly spread, and towards its ends each this share as far from
# the end as the one before, for another side may begin there at a sharp angle.
EVEN, NEAR_ENDS = np.linspace(-0.98, 0.98, 98), 0.02 * 0.6 ** np.arange(1, 34)
RIM_PLACES = np.concatenate([[-1.0], NEAR_ENDS[::-1] - 1.0, EVEN, 1.0 - NEAR_ENDS, [1.0]])


@dataclass(frozen=True, eq=False)
class StripEdges:
    """Points all along sides of strips.

    Parameters
    ----------
    table
        Points, normals that lead into strips, and for ends of sides ways along them, (m, 6).
    """

    table: FloatArray

    @classmethod
    def of(cls, panels: Panels, shut: FloatArray) -> StripEdges:
        """Return panels as such, and points that lie on no side of what is nearest to them."""
        count = len(panels.parts)
        panel = np.repeat(np.arange(count), len(RIM_PLACES))
        found, _ = panels.boundary(panel, np.tile(RIM_PLACES, count))
        sides = found.points.reshape(-1, len(RIM_PLACES), 2)
        ways = np.zeros_like(sides)
        ways[:, 0], ways[:, -1] = (sides[:, k] - sides[:, e] for k, e in ((40, 0), (-40, -1)))
        own = np.concatenate([found.points, found.normals, ways.reshape(-1, 2)], axis=1)
        nowhere = np.full((len(shut), 4), np.nan)
        return cls(np.concatenate([own, np.concatenate([shut, nowhere], axis=1)]))

    @cached_property
    def tree(self) -> cKDTree:
        """The points."""
        from scipy.spatial import cKDTree

        return cKDTree(self.table[:, :2])

    def beyond(self, points: FloatArray) -> FloatArray:
        """Return how far points lie beyond the nearest side, about, negative before it, (m,).

        Of a corner either side may be the nearest: what lies beyond one of them is outside of one
        that points outwards, and what lies beyond both of one that points inwards.
        """
        gaps, nearest = map(np.asarray, self.tree.query(points, 2))
        there = self.table[nearest]
        away = np.sum((points[:, None] - there[..., :2]) * there[..., 2:4], axis=2)
        corner = gaps[:, 1] - gaps[:, 0] < SAME * float(np.ptp(self.tree.data, axis=0).max())
        inwards = np.sum(there[:, 1, 4:] * there[:, 0, 2:4], axis=1) > 0.0
        both = np.where(inwards, away.min(axis=1), away.max(axis=1))
        out = np.where(corner, both, away[:, 0])
        return np.asarray(np.where(np.isnan(out), np.inf, out))


Interval = tuple[float, float]
# A side of a strip: axis of its normal in the strip, and end.
StripSide = tuple[Strip, int, int]
# Points on the boundary for every function along an axis, where the boundary is as long as the box.
ALONG, FEWEST_ALONG = 2.0, 3
# Points of a stretch that tell how far it reaches.
SEEN = 17
# Integrals are exact for polynomials up to this degree along each axis.
DEGREE, QUADRATURE_POINTS = 12, 2


@dataclass(frozen=True, eq=False)
class Cut(Inside):
    """What lies inside of a box.

    Parameters
    ----------
    region
        The domain.
    low, high
        The box.
    stretches
        The boundary in it.
    sides
        What lies inside of each side: by axis and end, as intervals along the other axis.
    rim
        What of each side has the domain inside: axis, end and interval.
    """

    region: Region
    low: FloatArray
    high: FloatArray
    stretches: tuple[Stretch, ...]
    sides: dict[tuple[int, int], list[Interval]]
    rim: list[tuple[int, int, float, float]]

    # In the plane patches are made anew after every step in time, mostly the same ones.
    frame = remembered(most=2)(Inside.frame)

    @cached_property
    def seen(self) -> FloatArray:
        """Points around what lies inside, (m, 2)."""
        shares = np.linspace(0.0, 1.0, SEEN)
        panel = np.repeat([s.panel for s in self.stretches], SEEN)
        t = np.concatenate([s.start + (s.stop - s.start) * shares for s in self.stretches])
        found = [self.region.panels.at(panel, t)]
        for axis, end, low, high in self.rim:
            points = np.full((2, 2), (self.high if end else self.low)[axis])
            points[:, 1 - axis] = low, high
            found.append(points)
        return np.concatenate(found)

    def contains(self, points: FloatArray) -> Flags:
        """Tell which points of the box lie inside."""
        return self.region.contains(points)

    def inside_of(self, axis: int, end: int) -> list[Interval]:
        """Return what of a side has the domain inside, as intervals along the other axis."""
        return [(low, high) for a, e, low, high in self.rim if (a, e) == (axis, end)]

    @cached_property
    def window(self) -> tuple[FloatArray, FloatArray]:
        """A smaller box about what lies inside."""
        low, high = (np.clip(f(self.seen, axis=0), self.low, self.high) for f in (np.min, np.max))
        # Nothing is left of an axis along which the boundary only touches.
        thin = high - low < SLIGHT * (self.high - self.low)
        return np.where(thin, self.low, low), np.where(thin, self.high, high)

    @cached_property
    def quadrature(self) -> tuple[FloatArray, FloatArray]:
        """Points inside, and weights that integrate polynomials up to a degree exactly.

        Integrals of polynomials over what lies inside are those of their integrals along x, times
        the normal's first component, along its rim.
        """
        points = self.points(QUADRATURE_POINTS * DEGREE**2)
        low, high = self.low, self.high
        rim, normals, weights = self._rim
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        z = np.clip((rim - middle) / half, -1.0, 1.0)
        first = legendre_table(z[:, 0], DEGREE + 1)[0] / norms(DEGREE + 1)
        k = np.arange(DEGREE)
        below = np.concatenate([-np.ones((len(z), 1)), first[:, :-2]], axis=1)
        along = half[0] * norms(DEGREE) * (first[:, 1:] - below) / (2 * k + 1)
        across = legendre_table(z[:, 1], DEGREE)[0]
        moments = np.einsum("m,mi,mj->ij", weights * normals[:, 0], along, across).ravel()
        values = Frame((points - middle) / half, (DEGREE, DEGREE)).values
        return points, np.asarray(lstsq(values.T, moments, ROUNDED, lapack_driver="gelsy")[0])

    @cached_property
    def _rim(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Points all round what lies inside, outward normals and weights of integrals."""
        z, w = gauss(DEGREE + 4)
        panels, found = self.region.panels, []
        for s in self.stretches:
            t = 0.5 * (s.start * (1 - z) + s.stop * (1 + z))
            own, speeds = panels.boundary(np.full(len(z), s.panel), t)
            found.append((own.points, own.normals, w * (s.stop - s.start) * speeds))
        for axis, end, low, high in self.rim:
            points, normals = np.empty((len(z), 2)), np.zeros((len(z), 2))
            points[:, axis] = (self.high if end else self.low)[axis]
            points[:, 1 - axis] = 0.5 * (low * (1 - z) + high * (1 + z))
            normals[:, axis] = 1.0 if end else -1.0
            found.append((points, normals, w * (high - low)))
        one, two, three = (np.concatenate(each) for each in zip(*found, strict=True))
        return one, two, three

    def boundary(self, functions: int) -> dict[str, tuple[BoundaryPoints, FloatArray]]:
        """Return points on each part of the boundary in the box, with weights that sum to one.

        Parameters
        ----------
        functions
            Along an axis of the box.
        """
        panels, size = self.region.panels, float(np.max(self.high - self.low))
        parts: dict[str, list[Stretch]] = {}
        for stretch in self.stretches:
            parts.setdefault(panels.parts[stretch.panel], []).append(stretch)
        out = {}
        for part, own in parts.items():
            panel, t, weights = [], [], []
            for s in own:
                middle = np.array([0.5 * (s.start + s.stop)])
                speed = float(panels.boundary(np.array([s.panel]), middle)[1][0])
                length = speed * (s.stop - s.start)
                z, w = gauss(FEWEST_ALONG + int(ALONG * functions * length / size))
                t.append(middle[0] + 0.5 * (s.stop - s.start) * z)
                panel.append(np.full(len(z), s.panel))
                weights.append(w * (s.stop - s.start))
            found, speeds = panels.boundary(np.concatenate(panel), np.concatenate(t))
            heavy = np.concatenate(weights) * speeds
            out[part] = found, heavy / heavy.sum()
        return out


class Region:
    """A domain with curved sides, as patches see it.

    Parameters
    ----------
    domain
        The domain.
    panels
        The pieces of its boundary that cut boxes; others lie on sides of boxes.
    strips
        Strips that boxes leave out, by the panels of their sides, each an axis of the strip and an
        end: the inner one (1, 1) of those along the boundary, any one of those along curves inside.
    shut
        Points between strips that leave nothing to boxes, (m, 2).
    """

    def __init__(
        self,
        domain: Domain,
        panels: Panels,
        strips: Mapping[int, StripSide] | None = None,
        shut: FloatArray | None = None,
    ) -> None:
        self.domain, self.panels, self.strips = domain, panels, strips or {}
        self.shut = np.empty((0, 2)) if shut is None else shut

    @property
    def bends(self) -> tuple[FloatArray, FloatArray]:
        """Points of the boundary, and how much it bends inwards there, one over a radius."""
        return self.panels.curvatures

    def contains(self, points: FloatArray) -> Flags:
        """Tell which points lie in the domain, but in none of the strips."""
        inside = self.domain.contains(points)
        if not self.strips:
            return inside
        return np.asarray(inside & (self.strip_rim.beyond(points) <= 0.0))

    @cached_property
    def strip_rim(self) -> StripEdges:
        """The sides of the strips."""
        return StripEdges.of(self.panels.chosen(np.array(list(self.strips))), self.shut)

    @remembered()
    def look(self, low: FloatArray, high: FloatArray) -> Cut | bool:
        """Return what lies inside of a box that is cut; whether all of it lies inside, if not."""
        stretches = tuple(self.panels.inside(low, high))
        if not stretches:
            return bool(self.contains(0.5 * (low + high)[None])[0])
        panel = np.repeat([s.panel for s in stretches], 2)
        ends = self.panels.at(panel, np.array([[s.start, s.stop] for s in stretches]).ravel())
        sides: dict[tuple[int, int], list[Interval]] = {}
        rim: list[tuple[int, int, float, float]] = []
        for axis, end in itertools.product(range(2), range(2)):
            sides[axis, end], inner = self._inside_of_side(low, high, axis, end, ends)
            rim += [(axis, end, a, b) for a, b in inner]
        cut = Cut(self, low, high, stretches, sides, rim)
        return cut if any(sides.values()) or len(cut.points(1)) else False

    def _inside_of_side(
        self, low: FloatArray, high: FloatArray, axis: int, end: int, ends: FloatArray
    ) -> tuple[list[Interval], list[Interval]]:
        """Return what of a side has the domain on both its sides, and where it has it inside."""
        place, rest, size = (high if end else low)[axis], 1 - axis, high - low
        on = np.abs(ends[:, axis] - place) < SLIGHT * size[axis]
        cuts = np.unique(np.clip(ends[on, rest], low[rest], high[rest]))
        cuts = np.concatenate([[low[rest]], cuts, [high[rest]]])
        pairs = np.stack([cuts[:-1], cuts[1:]], axis=1)
        pairs = pairs[pairs[:, 1] - pairs[:, 0] > SLIGHT * size[rest]]
        middles = np.empty((2, len(pairs), 2))
        middles[:, :, rest] = pairs.mean(axis=1)
        inwards = SLIGHT * size[axis] * (-1.0 if end else 1.0)
        middles[:, :, axis] = np.array([[place + inwards], [place - inwards]])
        if self.domain.periodic_axes[axis]:
            middles[:, :, axis] = np.clip(middles[:, :, axis], *self.domain.bounds[:, axis])
        inner, outer = self.contains(middles.reshape(-1, 2)).reshape(2, -1)
        both, own = ([(a, b) for a, b in pairs[k].tolist()] for k in (inner & outer, inner))
        return _joined(both), own


def _joined(intervals: Sequence[Interval]) -> list[Interval]:
    """Return intervals, those that touch as one."""
    out: list[Interval] = []
    for low, high in intervals:
        if out and out[-1][1] == low:
            out[-1] = (out[-1][0], high)
        else:
            out.append((low, high))
    return out
