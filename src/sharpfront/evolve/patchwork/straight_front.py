"""Straight fronts across the axes of a box: where one is, how fast it goes, patches about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.patchwork.predictor import RatesAtPoints
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.maps import FrontDrift, Quadrilateral
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.tiling.blocks import Tiling

# A front is seen where slopes along its normal are this share of the steepest. Patches that go along
# reach further, as far as it takes a front that fades evenly to fall to this share of the tolerance:
# what is left of it is spread over patches as large as the box, and what is off beside a shock moves
# it all the time.
FAINT, LEFT = 1e-3, 0.03
# Patches are kept while a front is no further from their middle than this share of its half width,
# and no more times wider or narrower.
KEPT, LONGER = 0.15, 1.3


@dataclass(frozen=True, eq=False)
class ChordCoordinates:
    """The way along a normal and the share of the chord there, in charts one behind the other.

    Parameters
    ----------
    normal
        Across which chords lie, (2,).
    charts
        In order, as in `leaning_tiling`.
    """

    normal: FloatArray
    charts: tuple[Quadrilateral, ...]

    @classmethod
    def of(cls, tiling: Tiling) -> ChordCoordinates:
        """Return those of a box that was cut along chords."""
        assert tiling.normal is not None
        charts = [b.chart for b in tiling.blocks if isinstance(b.chart, Quadrilateral)]
        return cls(np.array(tiling.normal), tuple(charts))

    def ends(self, chart: Quadrilateral) -> tuple[float, float]:
        """Return where a chart begins and ends along the normal."""
        a, b, *_ = np.array(chart.corners)
        return float(a @ self.normal), float(b @ self.normal)

    def which(self, ways: FloatArray) -> FloatArray:
        """Return the chart of each place along the normal, (m,)."""
        cuts = [self.ends(chart)[1] for chart in self.charts[:-1]]
        return np.searchsorted(cuts, ways)

    def ways(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return of points their chart, (m,), and what they go by on chords along the normal."""
        which, out = self.which(points @ self.normal), np.empty_like(points)
        for k, chart in enumerate(self.charts):
            here = which == k
            low, high = self.ends(chart)
            slope = chart.taylor(chart.inverse(points[here]))[1, 0]
            out[here] = slope * (chart.size[0] / (high - low))
        return which, out

    def shifted(self, points: FloatArray, way: float) -> FloatArray:
        """Return points at the same shares of chords further on, or of the last chord."""
        first, last = self.ends(self.charts[0])[0], self.ends(self.charts[-1])[1]
        now = points @ self.normal
        then = np.clip(now + way, first, last)
        share, out = np.empty(len(points)), np.empty_like(points)
        before, after = self.which(now), self.which(then)
        for k, chart in enumerate(self.charts):
            share[before == k] = chart.inverse(points[before == k])[:, 1] / chart.size[1]
        for k, chart in enumerate(self.charts):
            here, (low, high) = after == k, self.ends(chart)
            along = (then[here] - low) / (high - low)
            out[here] = chart.points(np.stack([along, share[here]], axis=1) * chart.size)
        return out


@dataclass(frozen=True, eq=False)
class ShiftedFront:
    """Where what a front carries comes from, if all of it goes along the normal."""

    along: ChordCoordinates
    speed: float

    def inverse(self, points: FloatArray, lapse: float) -> FloatArray:
        """Return where points were before a lapse of time, (m, 2)."""
        return self.along.shifted(points, -lapse * self.speed)


def front_field(
    now: RatesAtPoints,
    tiling: Tiling,
    scale: FloatArray,
    last: tuple[Quadrilateral, tuple[float, float]] | None,
    tol: float,
) -> tuple[ShiftedFront | None, FrontDrift | None]:
    """Return how unknowns go along the normal, None if they do not, and patches about their front.

    The speed is the least-squares solution of u_t + v u_n = 0 at the points of all patches, so that
    small ones count most. Patches stay where a front lies across a corner, or beside one.

    Parameters
    ----------
    now
        The unknowns.
    tiling
        A box that was cut along chords.
    scale
        Of each unknown, (K,).
    last
        Where patches have gone along with the front: chart and zone; None where they stayed.
    tol
        Of the steps.
    """
    along = ChordCoordinates.of(tiling)
    which, ways = along.ways(now.points)
    slopes = sum(w * s for w, s in zip(ways.T, now.slopes, strict=True)) / scale[:, None]
    rates = now.rates / scale[:, None]
    speed = -float((rates * slopes).sum()) / max(float((slopes**2).sum()), 1e-300)
    left = float(((rates + speed * slopes) ** 2).sum())
    if left > (1.0 - MARCH.explained) * float((rates**2).sum()):
        return None, None
    shift = ShiftedFront(along, speed)
    steep = np.abs(slopes).max(axis=0)
    own = steep > FAINT * steep.max()
    if len(np.unique(which[own])) != 1:
        return shift, None
    chart = along.charts[int(which[own][0])]
    low, high = along.ends(chart)
    unit = float(chart.size[0]) / (high - low)
    places = ((now.points[own] @ along.normal) - low) * unit
    middle, half = 0.5 * (places.max() + places.min()), 0.5 * (places.max() - places.min())
    half *= max(1.0, math.log(LEFT * tol) / math.log(FAINT))
    zone = _zone(float(middle), float(half), chart, last)
    if zone[0] <= 0.0 or zone[1] >= chart.size[0]:
        return shift, None
    low_corner, high_corner = tiling.domain.bounds
    return shift, FrontDrift(np.stack([low_corner, high_corner]), chart, zone, unit * speed)


def _zone(
    middle: float,
    half: float,
    chart: Quadrilateral,
    last: tuple[Quadrilateral, tuple[float, float]] | None,
) -> tuple[float, float]:
    """Return where patches go along: as they did, if a front is still about the middle of these."""
    if last is not None and last[0] == chart:
        a, b = last[1]
        if abs(0.5 * (a + b) - middle) < KEPT * half and half / LONGER < 0.5 * (b - a) < LONGER * half:
            return a, b
    return middle - half, middle + half


def cut_about(cells: Sequence[Cell], drift: FrontDrift) -> list[Cell]:
    """Return cells cut where patches begin to go along with a front."""
    out: list[Cell] = []
    for cell in cells:
        first, *rest = cell.patch.maps
        cuts = [place for place in drift.zone if first.low < place < first.high]
        if cell.patch.chart != drift.chart or not cuts:
            out.append(cell)
            continue
        for part in first.cut(cuts):
            out.append(replace(cell, patch=replace(cell.patch, maps=(part, *rest))))
    return out
