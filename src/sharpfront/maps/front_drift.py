"""A box whose places go along with a straight front across its axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.arrays import FloatArray
from sharpfront.maps.chain import Orders, pulled_back
from sharpfront.maps.drift import Drift, carried_chain
from sharpfront.maps.quadrilateral import Quadrilateral

# Of what lies before and behind a front this share next to the ends of the chart stays: at a corner
# in which chords end nothing may be bent.
STAYS = 0.0
# Of what lies before a front a step may take this share, and of what lies behind it this one:
# places are then as close as half of what they were, and as far as twice that.
AHEAD, BEHIND = 0.45, 1.0
# Newton's steps of the inversion, which begins where places are closest.
_BACK_STEPS, _BACK_CLOSE = 40, 1e-15


@dataclass(frozen=True, eq=False)
class FrontDrift:
    """x = s + lapse V(s) in a chart whose first coordinate leads across a front.

    About the front V is the same all along the first coordinate; from there it falls to nothing
    before both ends of the chart, like z^2 (3 - 2 z) with the share z of the way. The second
    coordinate stays, so that places on walls stay on them. Outside the chart nothing moves.

    Parameters
    ----------
    bounds
        The corners of the box, (2, 2).
    chart
        With chords across the front, on which its second coordinate is the share.
    zone
        Where the front is, in the first coordinate.
    speed
        Of the front, in the first coordinate.
    """

    bounds: FloatArray
    chart: Quadrilateral
    zone: tuple[float, float]
    speed: float

    @property
    def longest(self) -> float:
        """How long places may go along until they are too close or too far."""
        low, high = self.zone
        before, behind = float(self.chart.size[0]) - high, low
        if self.speed < 0:
            before, behind = behind, before
        return min(AHEAD * before, BEHIND * behind) / max(abs(self.speed), 1e-300)

    def moved_zone(self, lapse: float) -> tuple[float, float]:
        """Return where the zone is after a lapse of time."""
        return self.zone[0] + lapse * self.speed, self.zone[1] + lapse * self.speed

    @property
    def _slopes(self) -> tuple[tuple[float, float], ...]:
        """Where V begins and how far it is from there to the front, on both sides."""
        (low, high), size = self.zone, float(self.chart.size[0])
        return (STAYS * low, (1.0 - STAYS) * low), (
            size - STAYS * (size - high),
            (1.0 - STAYS) * (high - size),
        )

    def _along(self, first: FloatArray) -> list[FloatArray]:
        """Return the velocity in the first coordinate and its two derivatives, (m,) each."""
        speed = np.full(len(first), self.speed)
        slope, bend = np.zeros(len(first)), np.zeros(len(first))
        for begin, gap in self._slopes:
            z = np.clip((first - begin) / gap, 0.0, 1.0)
            speed *= z**2 * (3.0 - 2.0 * z)
            slope += 6.0 * self.speed * z * (1.0 - z) / gap
            bend += np.where((z > 0.0) & (z < 1.0), 6.0 - 12.0 * z, 0.0) * self.speed / gap**2
        return [speed, slope, bend]

    def _inside(self, positions: FloatArray) -> FloatArray:
        """Tell which positions lie in the chart."""
        return np.asarray((positions[:, 0] > 0.0) & (positions[:, 0] < self.chart.size[0]))

    def slopes(self, s: FloatArray, order: int) -> dict[Orders, FloatArray]:
        """Return V and its derivatives up to an order, two at most, (m, 2) each."""
        positions = self.chart.inverse(s)
        inside = self._inside(positions)
        at = positions[inside]
        taylor, along = self.chart.taylor(at), self._along(at[:, 0])
        ways = taylor[1, 0], taylor[1, 1]
        one = np.ones(len(at))
        out: dict[Orders, FloatArray] = {}
        for a in range(order + 1):
            for b in range(order + 1 - a):
                found = np.zeros_like(s)
                found[inside] = sum(
                    (c * along[i])[:, None] * ways[j]
                    for (i, j), c in pulled_back(taylor, {(a, b): one}).items()
                    if j < 2
                )
                out[a, b] = found
        return out

    def velocity(self, s: FloatArray) -> FloatArray:
        """Return V at positions, (m, 2)."""
        return self.slopes(s, 0)[0, 0]

    def points(self, s: FloatArray, lapse: FloatArray | float) -> FloatArray:
        """Return x after a lapse of time, of all or of each, (m, 2)."""
        positions, out = self.chart.inverse(s), s.copy()
        inside = self._inside(positions)
        at = positions[inside]
        at[:, 0] += np.broadcast_to(lapse, len(s))[inside] * self._along(at[:, 0])[0]
        out[inside] = self.chart.points(at)
        return np.clip(out, *self.bounds)

    def inverse(self, x: FloatArray, lapse: FloatArray | float) -> FloatArray:
        """Return the positions of points, (m, 2)."""
        positions, out = self.chart.inverse(x), x.copy()
        inside = self._inside(positions)
        at = positions[inside]
        at[:, 0] = self._back(at[:, 0], np.broadcast_to(lapse, len(x))[inside])
        out[inside] = self.chart.points(at)
        return np.clip(out, *self.bounds)

    def _back(self, place: FloatArray, lapse: FloatArray) -> FloatArray:
        """Return where places along the first coordinate came from."""
        size = float(self.chart.size[0])
        low, high = np.zeros_like(place), np.full_like(place, size)
        at = np.clip(place - lapse * self.speed, 0.0, size)
        for _ in range(_BACK_STEPS):
            speed, slope, _ = self._along(at)
            gap = at + lapse * speed - place
            low, high = np.where(gap < 0, at, low), np.where(gap > 0, at, high)
            new = at - gap / (1.0 + lapse * slope)
            # The way is monotone: a step that leaves what is known to hold the place is halved.
            new = np.where((new < low) | (new > high), 0.5 * (low + high), new)
            done = np.abs(new - at).max(initial=0.0) <= _BACK_CLOSE * size
            at = new
            if done:
                break
        return at

    def at_rest(
        self, points: FloatArray, lapses: FloatArray, orders: Orders
    ) -> tuple[FloatArray, dict[Orders, FloatArray]]:
        """Return the positions of points, and what derivatives there make d^orders (`chain`)."""
        rest = self.inverse(points, lapses)
        return rest, self.chain(rest, lapses, orders)

    def chain(self, s: FloatArray, lapses: FloatArray, orders: Orders) -> dict[Orders, FloatArray]:
        """Return what derivatives along s and by time at rest in s make d^orders, (m,) each."""
        return carried_chain(self.slopes, s, lapses, orders)

    def state(self) -> FloatArray:
        """Return the numbers from which `restored_drift` makes it again, 15 of them."""
        corners = np.ravel(self.chart.corners)
        return np.concatenate([self.bounds.ravel(), corners, self.zone, [self.speed]])


# Whichever way places of a box go along.
Drifts = Drift | FrontDrift


def restored_drift(state: ArrayLike) -> Drifts | None:
    """Return the drift that its `state` was taken from; None where there is none."""
    own = np.asarray(state, dtype=float).ravel()
    if not own.size:
        return None
    if own.size % 2:
        a, b, c, d = (tuple(corner) for corner in own[4:12].reshape(4, 2).tolist())
        low, high, speed = own[12:].tolist()
        return FrontDrift(own[:4].reshape(2, 2), Quadrilateral((a, b, c, d)), (low, high), speed)
    rows = own.reshape(-1, 2)
    return Drift(rows[:2], (bool(rows[2, 0]), bool(rows[2, 1])), rows[3:])
