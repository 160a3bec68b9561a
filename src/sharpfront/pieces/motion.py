"""The moving coordinate of a mixture whose components move.

Over a slab of time the components' means, the logarithms of their scales and their shares move
linearly; the coordinate xi(x, t) is at each moment that of the mixture at that moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.mixture import Mixture
from sharpfront.pieces.coordinate import (
    LOGARITHMIC,
    RADIUS,
    UNIFORM,
    Coordinate,
    Points,
    weighted,
)
from sharpfront.pieces.ring import Ring


@dataclass(frozen=True, eq=False)
class Components:
    """A mixture's components as the coordinate uses them, (K,) each.

    Parameters
    ----------
    means
        Positions.
    logs
        Logarithms of the scales, RADIUS deviations each.
    shares
        Weights, with sum 1.
    even
        Share of the kernels that is spread evenly.
    """

    means: FloatArray
    logs: FloatArray
    shares: FloatArray
    even: float | FloatArray = UNIFORM

    @property
    def count(self) -> int:
        """K."""
        return len(self.means)

    @property
    def mixture(self) -> Mixture:
        """The Gaussian mixture."""
        return Mixture(self.shares, self.means, (np.exp(self.logs) / RADIUS) ** 2)

    def packed(self) -> FloatArray:
        """Return means, logs, shares and the even share as rows, (4, K)."""
        return np.stack([self.means, self.logs, self.shares, np.full(self.count, self.even)])


def unpacked(rows: FloatArray) -> Components:
    """Return the components from their rows."""
    return Components(rows[0], rows[1], rows[2], float(rows[3, 0]))


@dataclass(frozen=True, eq=False)
class Motion:
    """The coordinate over a slab of time.

    Parameters
    ----------
    low, high
        The interval.
    times
        Beginning and end of the slab.
    start, stop
        The components at both.
    periodic
        Whether the ends are joined.
    zeros
        On a circle, where xi is zero at both ends of the slab.
    """

    low: float
    high: float
    times: tuple[float, float]
    start: Components
    stop: Components
    periodic: bool = False
    zeros: tuple[float, float] = (0.0, 0.0)

    @property
    def dt(self) -> float:
        """The length of the slab."""
        return self.times[1] - self.times[0]

    def components(self, t: float | FloatArray) -> Components:
        """Return the components at a moment, or at each of n moments, (n, K)."""
        a, b = self.start, self.stop
        passed = (t - self.times[0]) / self.dt
        share = passed if np.ndim(passed) == 0 else np.asarray(passed)[:, None]
        return Components(
            a.means + share * (b.means - a.means),
            a.logs + share * (b.logs - a.logs),
            a.shares + share * (b.shares - a.shares),
            a.even + passed * (b.even - a.even),
        )

    def part(self, begin: float, end: float) -> Motion:
        """Return the same motion over a part of its time."""
        zeros = (self._zero(begin), self._zero(end))
        start, stop = self.components(begin), self.components(end)
        return Motion(self.low, self.high, (begin, end), start, stop, self.periodic, zeros)

    def _zero(self, t: Any) -> Any:
        share = (t - self.times[0]) / self.dt
        return self.zeros[0] + share * (self.zeros[1] - self.zeros[0])

    def at(self, t: float | FloatArray) -> Coordinate | Ring:
        """Return the coordinate at a moment; for n moments one that takes n points, one at each."""
        now = self.components(t)
        if self.periodic:
            scales, zero = np.exp(now.logs), self._zero(t)
            return Ring(self.low, self.high, now.means, scales, now.shares, now.even, zero)
        return line_of(now, self.low, self.high)

    def rate(
        self, t: float | FloatArray, points: Points, where: Coordinate | Ring | None = None
    ) -> FloatArray:
        """Return d xi/dt at a moment, or each point's own, and fixed points, (n,)."""
        a, b = self.start, self.stop
        moved = Components(
            (b.means - a.means) / self.dt,
            (b.logs - a.logs) / self.dt,
            (b.shares - a.shares) / self.dt,
            (b.even - a.even) / self.dt,
        )
        where = where or self.at(t)
        if isinstance(where, Ring):
            zero = (self.zeros[1] - self.zeros[0]) / self.dt
            return where.rate(points, moved.means, moved.logs, moved.shares, moved.even, zero)
        return _line_rate(where, self.components(t), points, moved)


def line_of(now: Components, low: float, high: float) -> Coordinate:
    """Return the coordinate of components on [low, high]."""
    nearest = np.where(now.means - low < high - now.means, low, high)
    offset, scale = now.means - nearest, np.exp(now.logs)
    left, right = ((low - nearest) - offset) / scale, ((high - nearest) - offset) / scale
    share = _column(1.0 - now.even) * now.shares
    log = LOGARITHMIC * share / (np.arcsinh(right) - np.arcsinh(left))
    bell = (1.0 - LOGARITHMIC) * share / (np.arctan(right) - np.arctan(left))
    return Coordinate(low, high, nearest, offset, scale, log, bell, now.even / (high - low))


def _column(value: Any) -> Any:
    """Return a number as it is, and numbers of points (n,) as a column."""
    return value if np.ndim(value) == 0 else np.asarray(value)[:, None]


def _log_slope(z: FloatArray) -> FloatArray:
    return np.asarray(1.0 / np.sqrt(1.0 + z * z))


def _bell_slope(z: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + z * z))


def _line_rate(where: Coordinate, now: Components, points: Points, moved: Components) -> FloatArray:
    """Differentiate p (A(z) - A(left)) / (A(right) - A(left)) in time, for asinh and atan."""
    z = where._z(points)
    left, right = (
        ((end - where.anchor) - where.offset) / where.scale for end in (where.low, where.high)
    )
    speed, logs = moved.means / where.scale, moved.logs

    def turned(value: FloatArray) -> FloatArray:
        return np.asarray(-(speed + value * logs))

    out, bent = np.zeros(len(points.offset)), np.zeros(len(points.offset))
    for part, profile, slope in (
        (LOGARITHMIC, np.arcsinh, _log_slope),
        (1.0 - LOGARITHMIC, np.arctan, _bell_slope),
    ):
        span = profile(right) - profile(left)
        risen = (profile(z) - profile(left)) / span
        at_left = slope(left) * turned(left)
        widened = (slope(right) * turned(right) - at_left) / span
        change = (slope(z) * turned(z) - at_left) / span - risen * widened
        out += part * (risen @ moved.shares + weighted(change, now.shares))
        bent += part * weighted(risen, now.shares)
    straight = ((points.anchor - where.low) + points.offset) / (where.high - where.low)
    return np.asarray((1.0 - now.even) * out + moved.even * (straight - bent))
