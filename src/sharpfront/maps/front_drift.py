"""A box whose places go along with a straight front across its axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.arrays import FloatArray
from sharpfront.maps.chain import Orders, Taylor, pulled_back
from sharpfront.maps.chords import Chords
from sharpfront.maps.drift import Drift
from sharpfront.rounding import NEWTON_STEPS

# Of what lies before a front a step may take this share, and of what lies behind it this one:
# places are then as close as a third of what they were, and as far as two and a half times that.
AHEAD, BEHIND = 0.45, 1.0
# The inversion, which begins where places are closest, ends with steps of this share.
_RETURN_CLOSE = 1e-15


@dataclass(frozen=True, eq=False)
class FrontDrift:
    """Places r along a normal go to r + lapse V(r), at the same shares of chords across it.

    About the front V is its speed; from there it falls to nothing before both ends, like
    z^2 (3 - 2 z) with the share z of the way. Places on walls stay on them.

    Parameters
    ----------
    chords
        Of the box.
    ends
        Between which places along the normal go along.
    zone
        Where the front is.
    speed
        Of the front along the normal.
    """

    chords: Chords
    ends: tuple[float, float]
    zone: tuple[float, float]
    speed: float

    @property
    def bounds(self) -> FloatArray:
        """The corners of the box, (2, 2)."""
        return self.chords.bounds

    @property
    def longest(self) -> float:
        """How long places may go along until they are too close or too far."""
        before, behind = self.ends[1] - self.zone[1], self.zone[0] - self.ends[0]
        if self.speed < 0:
            before, behind = behind, before
        return min(AHEAD * before, BEHIND * behind) / max(abs(self.speed), 1e-300)

    def moved_zone(self, lapse: float) -> tuple[float, float]:
        """Return where the zone is after a lapse of time."""
        return self.zone[0] + lapse * self.speed, self.zone[1] + lapse * self.speed

    def _along(self, r: FloatArray) -> list[FloatArray]:
        """Return V at places along the normal and its two derivatives, (m,) each."""
        speed = np.full(len(r), self.speed)
        slope, bend = np.zeros(len(r)), np.zeros(len(r))
        for begin, stop in zip(self.ends, self.zone, strict=True):
            gap = stop - begin
            z = np.clip((r - begin) / gap, 0.0, 1.0)
            speed *= z**2 * (3.0 - 2.0 * z)
            slope += 6.0 * self.speed * z * (1.0 - z) / gap
            bend += np.where((z > 0.0) & (z < 1.0), 6.0 - 12.0 * z, 0.0) * self.speed / gap**2
        return [speed, slope, bend]

    def velocity(self, s: FloatArray) -> FloatArray:
        """Return how fast positions go at first, (m, 2)."""
        return self._along(s @ self.chords.normal)[0][:, None] * self.chords.ways(s)

    def points(self, s: FloatArray, lapse: FloatArray | float) -> FloatArray:
        """Return x after a lapse of time, of all or of each, (m, 2)."""
        r = s @ self.chords.normal
        return self._moved(s, r + lapse * self._along(r)[0])

    def inverse(self, x: FloatArray, lapse: FloatArray | float) -> FloatArray:
        """Return the positions of points, (m, 2)."""
        return self._moved(x, self._back(x @ self.chords.normal, lapse))

    def _moved(self, x: FloatArray, places: FloatArray) -> FloatArray:
        r = x @ self.chords.normal
        out, moved = x.copy(), (r > self.ends[0]) & (r < self.ends[1])
        out[moved] = self.chords.shifted(x[moved], places[moved])
        return out

    def _back(self, place: FloatArray, lapse: FloatArray | float) -> FloatArray:
        """Return where places along the normal came from."""
        low, high = (np.full_like(place, end) for end in self.ends)
        at = np.clip(place - lapse * self.speed, low, high)
        for _ in range(NEWTON_STEPS):
            speed, slope, _ = self._along(at)
            gap = at + lapse * speed - place
            low, high = np.where(gap < 0, at, low), np.where(gap > 0, at, high)
            new = at - gap / (1.0 + lapse * slope)
            # The way is monotone: a step that leaves what is known to hold the place is halved.
            new = np.where((new < low) | (new > high), 0.5 * (low + high), new)
            done = np.abs(new - at).max(initial=0.0) <= _RETURN_CLOSE * (
                self.ends[1] - self.ends[0]
            )
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
        """Return what derivatives along s and by time at rest in s make d^orders (`Drift.chain`).

        Up to the second order.
        """
        one = np.ones(len(lapses))
        if not any(orders):
            return {(0, 0, 0): one}
        taylor = self._taylor(np.tile(s, (max(1, len(lapses) // max(1, len(s))), 1)), lapses)
        if orders[2]:
            return pulled_back(taylor, {orders: one})
        still = {b[:2]: x[:, :2] for b, x in taylor.items() if not b[2]}
        return {(*b, 0): c for b, c in pulled_back(still, {orders[:2]: one}).items()}

    def _taylor(self, s: FloatArray, lapses: FloatArray) -> Taylor:
        """Return the derivatives of (x, y, t) along (s, t), (m, 3) each."""
        normal, left = self.chords.normal, self.chords.left
        # Derivatives along the normal, chords and time of places, and of those along chords.
        along = self._places_along(s @ normal, s @ left, lapses)
        ways = np.stack([normal, left])  # of x, and of s as well
        out: dict[Orders, FloatArray] = {}
        for axes in ((0,), (1,), (2,), (0, 0), (0, 1), (1, 1), (0, 2), (1, 2)):
            own = np.zeros((len(s), 3))
            for turned, (r, q) in along.items():
                # d/ds_i is n_i d/dr + l_i d/dq, and both second mixed ones are the same.
                share = _share(ways, axes, turned)
                own[:, :2] += share * (r[:, None] * normal + q[:, None] * left)
            out[tuple(axes.count(k) for k in range(3))] = own
        out[0, 0, 1][:, 2] += 1.0
        return out

    def _places_along(
        self, r: FloatArray, q: FloatArray, lapse: FloatArray
    ) -> dict[tuple[int, ...], tuple[FloatArray, FloatArray]]:
        """Return the derivatives of places (r', q') by axes r, q and time, (m,) each.

        r' = r + lapse V(r), and q' = a(r') + (q - a(r)) L(r') / L(r).
        """
        v, slope, bend = self._along(r)
        (a, length), (da, dl) = self.chords.at(r)
        new = r + lapse * v
        (_, long), (ea, el) = self.chords.at(new)
        first, second, zero = 1.0 + lapse * slope, lapse * bend, np.zeros_like(r)
        share, w = long / length, q - a
        # L(r') / L(r) by r, by time, twice by r, and by both.
        by_r = (el * first - share * dl) / length
        by_t = el * v / length
        by_rr = (el * second - 2.0 * dl * by_r) / length
        by_rt = (el * slope - dl * by_t) / length
        return {
            (0,): (first, ea * first - da * share + w * by_r),
            (1,): (zero, share),
            (2,): (v, ea * v + w * by_t),
            (0, 0): (second, ea * second - 2.0 * da * by_r + w * by_rr),
            (0, 1): (zero, by_r),
            (0, 2): (slope, ea * slope - da * by_t + w * by_rt),
            (1, 2): (zero, by_t),
        }

    def state(self) -> FloatArray:
        """Return the numbers from which `restored_drift` makes it again, 11 of them."""
        own = [*self.chords.normal, *self.ends, *self.zone, self.speed]
        return np.concatenate([self.bounds.ravel(), own])


def _share(ways: FloatArray, axes: tuple[int, ...], turned: tuple[int, ...]) -> float:
    """Return how much of a derivative along turned axes there is in one along axes and time."""
    if len(axes) != len(turned) or (2 in axes) != (2 in turned):
        return 0.0
    if len(axes) == 1:
        return 1.0 if axes == (2,) else float(ways[turned[0], axes[0]])
    if axes[1] == 2:
        return float(ways[turned[0], axes[0]])
    both = ways[turned[0], axes[0]] * ways[turned[1], axes[1]]
    if turned[0] != turned[1]:
        both += ways[turned[1], axes[0]] * ways[turned[0], axes[1]]
    return float(both)


# Whichever way places of a box go along.
Drifts = Drift | FrontDrift


def restored_drift(state: ArrayLike) -> Drifts | None:
    """Return the drift that its `state` was taken from; None where there is none."""
    own = np.asarray(state, dtype=float).ravel()
    if not own.size:
        return None
    if own.size % 2:
        bounds, (first, last, low, high, speed) = own[:4].reshape(2, 2), own[6:].tolist()
        return FrontDrift(Chords(bounds, own[4:6]), (first, last), (low, high), speed)
    rows = own.reshape(-1, 2)
    return Drift(rows[:2], (bool(rows[2, 0]), bool(rows[2, 1])), rows[3:])
