"""Straight fronts across the axes of a box: where one is, how fast it goes, patches about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.evolve.patchwork.predictor import RatesAtPoints
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.maps import FrontDrift, Quadrilateral
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.tiling.blocks import Tiling

# A front is seen where slopes along its normal are this share of the steepest. Patches that go
# along reach as far as it takes a front that fades evenly to fall to this share of the tolerance:
# what is left of it is spread over patches as large as the box, and what is off beside a shock
# moves it all the time. With 0.03 and 1e-4 estimates were 0.4 and 0.95 times the error.
FAINT, LEFT = 1e-3, 1e-6
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

    def which(self, ways: FloatArray) -> Ints:
        """Return the chart of each place along the normal, (m,)."""
        cuts = [self.ends(chart)[1] for chart in self.charts[:-1]]
        return np.searchsorted(cuts, ways)

    def ways(self, points: FloatArray) -> FloatArray:
        """Return how points at the same shares of chords go on with the way along the normal."""
        which, out = self.which(points @ self.normal), np.empty_like(points)
        for k, chart in enumerate(self.charts):
            here = which == k
            low, high = self.ends(chart)
            slope = chart.taylor(chart.inverse(points[here]))[1, 0]
            out[here] = slope * (chart.size[0] / (high - low))
        return out

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
class StraightFront:
    """A front across a normal: where it is, and how fast it goes.

    Parameters
    ----------
    along
        The way along the normal.
    zone
        Where it begins and ends there.
    speed
        Along the normal.
    """

    along: ChordCoordinates
    zone: tuple[float, float]
    speed: float

    def inverse(self, points: FloatArray, lapse: float) -> FloatArray:
        """Return where points were before a lapse of time, if all goes along the normal, (m, 2)."""
        return self.along.shifted(points, -lapse * self.speed)

    def drift(self, bounds: FloatArray) -> FrontDrift | None:
        """Return how patches go along; None beside corners, and across one."""
        for chart in self.along.charts:
            low, high = self.along.ends(chart)
            if low < self.zone[0] and self.zone[1] < high:
                unit = float(chart.size[0]) / (high - low)
                zone = (self.zone[0] - low) * unit, (self.zone[1] - low) * unit
                return FrontDrift(bounds, chart, zone, unit * self.speed)
        return None

    def cut(self, cells: Sequence[Cell], dt: float) -> list[Cell]:
        """Return cells cut where the front begins, and where it ends after a step.

        In larger ones it would be missed, and they would be halved along it too.
        """
        way = dt * self.speed
        places = self.zone[0] + min(way, 0.0), self.zone[1] + max(way, 0.0)
        out: list[Cell] = []
        for cell in cells:
            chart, (first, *rest) = cell.patch.chart, cell.patch.maps
            assert isinstance(chart, Quadrilateral)
            low, high = self.along.ends(chart)
            at = [(place - low) * float(chart.size[0]) / (high - low) for place in places]
            cuts = [place for place in at if first.low < place < first.high]
            parts = first.cut(cuts) if cuts else [first]
            out += [replace(cell, patch=replace(cell.patch, maps=(m, *rest))) for m in parts]
        return out


def straight_front(
    now: RatesAtPoints,
    tiling: Tiling,
    scale: FloatArray,
    last: tuple[float, float] | None,
    tol: float,
) -> StraightFront | None:
    """Return how unknowns go along the normal, None if they do not.

    The speed is the least-squares solution of u_t + v u_n = 0 at the points of all patches, so that
    small ones count most.

    Parameters
    ----------
    now
        The unknowns.
    tiling
        A box that was cut along chords.
    scale
        Of each unknown, (K,).
    last
        Where patches have gone along with the front; None where they stayed.
    tol
        Of the steps.
    """
    along = ChordCoordinates.of(tiling)
    ways = along.ways(now.points)
    slopes = sum(w * s for w, s in zip(ways.T, now.slopes, strict=True)) / scale[:, None]
    rates = now.rates / scale[:, None]
    speed = -float((rates * slopes).sum()) / max(float((slopes**2).sum()), 1e-300)
    left = float(((rates + speed * slopes) ** 2).sum())
    if left > (1.0 - MARCH.explained) * float((rates**2).sum()):
        return None
    steep = np.abs(slopes).max(axis=0)
    places = now.points[steep > FAINT * steep.max()] @ along.normal
    middle, half = 0.5 * float(places.max() + places.min()), 0.5 * float(np.ptp(places))
    half *= max(1.0, math.log(LEFT * tol) / math.log(FAINT))
    if last is not None:
        width, gone = 0.5 * (last[1] - last[0]), abs(0.5 * (last[0] + last[1]) - middle)
        if gone < KEPT * half and half / LONGER < width < LONGER * half:
            return StraightFront(along, last, speed)
    return StraightFront(along, (middle - half, middle + half), speed)
