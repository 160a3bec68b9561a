"""Where a function of one coordinate jumps, bends, or has a spike that few samples see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.place.line.sampling import Function
from sharpfront.place.line.settings import LINE

# Points of the look for breaks, and the share of the domain at which a break is told from a front.
BREAK_POINTS, CLOSE = 20001, 1e-7
# Rounding, as a share of the largest value.
NOISE = 1e-15


@dataclass(frozen=True)
class Break:
    """A place where data jump or bend, with the lines on both sides."""

    x: float  # where
    # Value and slope on each side.
    left: tuple[float, float]
    right: tuple[float, float]

    @property
    def jump(self) -> float:
        """Of the value."""
        return self.right[0] - self.left[0]

    @property
    def bend(self) -> float:
        """Of the slope."""
        return self.right[1] - self.left[1]


def points_and_values(
    f: Function, low: float, high: float, periodic: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the points of the look for breaks, and values there; on a circle it goes on a bit."""
    x = np.linspace(low, high, BREAK_POINTS)
    if periodic:
        over = (high - low) / (BREAK_POINTS - 1)
        x = np.asarray(low - 4.3 * over + over * np.arange(BREAK_POINTS + 9), dtype=float)
    return x, f(x)


def breaks_of(
    f: Function,
    low: float,
    high: float,
    periodic: bool,
    size: float = 0.0,
    told: Sequence[float] = (),
    look: tuple[FloatArray, FloatArray] | None = None,
) -> list[Break]:
    """Return the places where a function jumps or bends.

    `size` is that of the terms whose difference the function is: its rounding is theirs. `told`
    are places of jumps that are known, in order: they may be closer than any points of the look,
    which is taken unless it has been.
    """
    length = high - low
    x, u = look or points_and_values(f, low, high, periodic)
    spread, steep = np.ptp(u), float(np.abs(np.diff(u)).max())
    size = max(size, float(np.abs(u).max()))
    noise = 4.0 * NOISE * size
    found = [b for b in _told_jumps(f, [low, *told, high]) if abs(b.jump) > noise]
    if spread <= 1e4 * noise:
        return found
    bend = np.abs(np.diff(u, 2))
    # A smooth function bends about as much next door.
    odd = (bend[2:-2] >= bend[1:-3]) & (bend[2:-2] >= bend[3:-1])
    odd &= (bend[2:-2] > 4.0 * np.minimum(bend[:-4], bend[4:])) & (
        bend[2:-2] > max(LINE.small * steep, noise)
    )
    for i in np.flatnonzero(odd) + 2:
        broken = _zoomed(f, float(x[i]), float(x[i + 2]), length, float(spread), size)
        if broken is not None and all(abs(broken.x - b.x) > 1e-5 * length for b in found):
            found.append(broken)
    if periodic:
        found = [b for b in found if low - 1e-12 * length <= b.x < high - 1e-9 * length]
    return found


def _told_jumps(f: Function, places: Sequence[float]) -> list[Break]:
    """Return the jumps at all places but the first and the last."""
    found = []
    for before, x, after in zip(places, places[1:], places[2:], strict=False):
        h = min(CLOSE * (places[-1] - places[0]), 0.1 * min(x - before, after - x))
        aside = 8.0 * float(np.spacing(abs(x)))
        broken = Break(x, line_beside(f, x - aside, -h), line_beside(f, x + aside, h))
        if abs(broken.jump) > LINE.small * max(abs(broken.left[0]), abs(broken.right[0])):
            found.append(broken)
    return found


def needles_of(x: FloatArray, u: FloatArray) -> list[float]:
    """Return the places where values at points of the look have a spike that few of them see."""
    one, two, three, four = u[:-4], u[1:-3], u[3:-1], u[4:]
    # The mean of the two in the middle of four.
    lower = np.maximum(np.minimum(one, two), np.minimum(three, four))
    middle = 0.5 * (lower + np.minimum(np.maximum(one, two), np.maximum(three, four)))
    spread = float(np.ptp(u))
    lone = np.abs(u[2:-2] - middle) > LINE.lone * spread if spread > 0 else np.zeros(0, dtype=bool)
    return [float(v) for v in x[2:-2][lone][:20]]


def unseen_of(f: Function, x: FloatArray, u: FloatArray, told: FloatArray) -> list[float]:
    """Return those of some places at which a function is not what points of the look say.

    A formula tells of the top of any hump; hints belong where the look would miss it.
    """
    if not len(told):
        return []
    over, spread = x[1] - x[0], float(np.ptp(u))
    aside = 0.5 * (f(np.maximum(told - over, x[0])) + f(np.minimum(told + over, x[-1])))
    here = f(told)
    gap, noise = np.abs(here - aside), 4.0 * NOISE * np.abs(here)
    return [float(x) for x in told[gap > np.maximum(LINE.lone * spread, noise)]]


def _zoomed(
    f: Function, a: float, b: float, length: float, spread: float, size: float
) -> Break | None:
    """Follow the largest bend between two points inwards; return it if it does not smooth out."""
    first = _bend(f, a, b)
    while b - a > CLOSE * length:
        x = np.linspace(a, b, 17)
        u = f(x)
        i = int(np.argmax(np.abs(np.diff(u, 2))))
        a, b = float(x[i]), float(x[i + 2])
    jump = abs(float(np.diff(f(np.array([a, b])))[0]))
    if jump > 0.05 * spread or (jump > LINE.small * spread and jump > 0.3 * first[1]):
        while b - a > 4.0 * np.spacing(max(abs(a), abs(b))):
            middle = 0.5 * (a + b)
            u = f(np.array([a, middle, b]))
            a, b = (a, middle) if abs(u[1] - u[0]) > abs(u[2] - u[1]) else (middle, b)
        h, aside = CLOSE * length, 1e-4 * CLOSE * length
        broken = Break(0.5 * (a + b), line_beside(f, a - aside, -h), line_beside(f, b + aside, h))
        far = f(np.array([broken.x - 1e-3 * length, broken.x + 1e-3 * length]))
        # A needle has the same value on both sides.
        return broken if abs(broken.jump) > 0.05 * max(jump, abs(far[1] - far[0])) else None
    broken = _meeting_of_lines(f, a, b)
    h = 0.1 * (b - a)
    last, closer = _bend(f, a, b)[0], _bend(f, broken.x - 0.5 * h, broken.x + 0.5 * h)[0]
    bends = abs(last) > 0.3 * abs(first[0]) and abs(last) * length > 1e-4 * spread
    bends = bends and abs(closer) * h > 10.0 * NOISE * size
    return broken if bends and abs(closer) > 0.6 * abs(last) else None


def _bend(f: Function, a: float, b: float) -> tuple[float, float]:
    """Return the change of slope between two stretches beside [a, b], and the change of value."""
    h = b - a
    u = f(np.array([a - h, a, b, b + h]))
    return float((u[3] - u[2]) - (u[1] - u[0])) / h, abs(float(u[2] - u[1]))


def line_beside(f: Function, x: float, h: float) -> tuple[float, float]:
    """Return value and slope beside x, on the side of h."""
    u = f(np.array([x, x + h, x + 2.0 * h]))
    return float(u[0]), float(-1.5 * u[0] + 2.0 * u[1] - 0.5 * u[2]) / h


def _meeting_of_lines(f: Function, a: float, b: float) -> Break:
    """Return the bend between a and b: where the lines on both sides meet."""
    h = b - a
    left, right = line_beside(f, a, -2.0 * h), line_beside(f, b, 2.0 * h)
    bend = right[1] - left[1]
    s = (left[0] - right[0] + right[1] * h) / bend if bend else 0.5 * h
    s = min(max(s, 0.0), h)
    value = 0.5 * (left[0] + left[1] * s + right[0] - right[1] * (h - s))
    return Break(a + s, (value, left[1]), (value, right[1]))
