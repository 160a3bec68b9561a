"""Straight fronts across the axes of a box: where one is, how fast it goes, patches about it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.patchwork.predictor import RatesAtPoints
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.maps import Chords, FrontDrift, Quadrilateral
from sharpfront.place.patches.cuts import Cell

# A front is seen where slopes along its normal are this share of the steepest. Patches that go
# along reach as far as it takes a front that fades evenly to fall to this share of the tolerance:
# what is left of it is spread over patches as large as the box, and what is off beside a shock
# moves it all the time. With 0.03 and 1e-4 estimates were 0.4 and 0.95 times the error.
FAINT, LEFT = 1e-3, 1e-6
# Patches are kept while a front is no further from their middle than this share of its half width,
# and no more times wider or narrower.
OFF_CENTRE, BROADER = 0.15, 1.3
# Beside an end they reach by this share of the way there at most, and spread what is left.
NEAR = 0.5
# Ways at a share of chords turn at corners, and unknowns with them, by what they vary along chords
# times the way. They may turn by this share of the tolerance in a step.
TURNED = 0.02


@dataclass(frozen=True, eq=False)
class StraightFront:
    """A front across a normal: where it is, and how fast it goes.

    Parameters
    ----------
    chords
        Across the normal.
    zone
        Where it begins and ends along the normal.
    speed
        Along the normal.
    sideways
        How steep unknowns are along chords at most, in units of their scales.
    """

    chords: Chords
    zone: tuple[float, float]
    speed: float
    sideways: float

    def inverse(self, points: FloatArray, lapse: float) -> FloatArray:
        """Return where points were before a lapse of time, if all goes along the normal, (m, 2)."""
        places = self.chords.places
        before = points @ self.chords.normal - lapse * self.speed
        return self.chords.shifted(points, np.clip(before, places[0], places[-1]))

    def drift(self, tol: float) -> tuple[FrontDrift, float] | None:
        """Return how patches go along, and how long at most; None where they cannot.

        That is past corners, if unknowns hardly vary along chords, or from corner to corner.
        """
        places = self.chords.places.tolist()
        found = []
        turned = self.chords.bend * self.sideways * max(abs(self.speed), 1e-300)
        limits = [((places[0], places[-1]), TURNED * tol / max(turned, 1e-300))]
        limits += [(ends, math.inf) for ends in itertools.pairwise(places)]
        middle = 0.5 * (self.zone[0] + self.zone[1])
        for ends, limit in limits:
            if ends[0] < middle < ends[1]:
                low, high = (middle + NEAR * (end - middle) for end in ends)
                zone = max(self.zone[0], low), min(self.zone[1], high)
                own = FrontDrift(self.chords, ends, zone, self.speed)
                found.append((own, min(limit, own.longest)))
        return max(found, key=lambda one: one[1], default=None)

    def turned(self, drift: FrontDrift, dt: float) -> float:
        """Return by how much unknowns may turn at corners in a step, in units of their scales."""
        places = self.chords.places[1:-1]
        past = np.any((places > drift.ends[0]) & (places < drift.ends[1]))
        return self.chords.bend * self.sideways * abs(self.speed) * dt if past else 0.0

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
            low, high = (float(np.array(c) @ self.chords.normal) for c in chart.corners[:2])
            at = [(place - low) * float(chart.size[0]) / (high - low) for place in places]
            cuts = [place for place in at if first.low < place < first.high]
            parts = first.cut(cuts) if cuts else [first]
            out += [replace(cell, patch=replace(cell.patch, maps=(m, *rest))) for m in parts]
        return out


def straight_front(
    now: RatesAtPoints,
    chords: Chords,
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
    chords
        Along which the box was cut.
    scale
        Of each unknown, (K,).
    last
        Where patches have gone along with the front; None where they stayed.
    tol
        Of the steps.
    """
    ways = chords.ways(now.points)
    slopes = sum(w * s for w, s in zip(ways.T, now.slopes, strict=True)) / scale[:, None]
    rates = now.rates / scale[:, None]
    speed = -float((rates * slopes).sum()) / max(float((slopes**2).sum()), 1e-300)
    left = float(((rates + speed * slopes) ** 2).sum())
    if left > (1.0 - MARCH.explained) * float((rates**2).sum()):
        return None
    beside = sum(w * s for w, s in zip(chords.left, now.slopes, strict=True)) / scale[:, None]
    sideways = float(np.abs(beside).max())
    steep = np.abs(slopes).max(axis=0)
    places = now.points[steep > FAINT * steep.max()] @ chords.normal
    middle, half = 0.5 * float(places.max() + places.min()), 0.5 * float(np.ptp(places))
    half *= max(1.0, math.log(LEFT * tol) / math.log(FAINT))
    if last is not None:
        width, gone = 0.5 * (last[1] - last[0]), abs(0.5 * (last[0] + last[1]) - middle)
        if gone < OFF_CENTRE * half and half / BROADER < width < BROADER * half:
            return StraightFront(chords, last, speed, sideways)
    return StraightFront(chords, (middle - half, middle + half), speed, sideways)
