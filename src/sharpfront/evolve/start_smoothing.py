"""Initial data that jump or bend, or that disagree with the conditions: rounded off.

At a break x0 the data have lines for tangents on each side, l(s) = a + b s and r(s), s = x - x0.
Smoothed by a Gaussian of width d these are exactly

    l(s) Q(-s/d) + r(s) Q(s/d) + (r' - l') d g(s/d),   g the normal density, Q its integral.

What that differs by from the lines is added to the data, so that they keep how they curve.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from sharpfront.arrays import FloatArray
from sharpfront.checks import shortened
from sharpfront.equation.edges import edges_along
from sharpfront.equation.narrow_features import foci
from sharpfront.evolve.end_corrections import EndCorrection, corrections
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.evolve.time_system import TimeSystem
from sharpfront.place.line.sampling import Function
from sharpfront.place.line.singularities import (
    CLOSE,
    Break,
    breaks_of,
    line_beside,
    needles_of,
    points_and_values,
    unseen_of,
)
from sharpfront.rounding import SAME

# The start is looked at this share of the span later: after `np.where(t > 0, 1, 0)` has jumped, and
# before what varies in a millionth of the span has changed by more than values are known.
AFTER = 1e-16
# A rounding reaches this many widths. Closer than this share of a width the data are taken for
# their lines: which side of a jump a place is on may be unknown to rounding.
ROUNDED_WIDTHS, BESIDE = 9.0, 1e-4


@dataclass(frozen=True, eq=False)
class Rounded:
    """A function with its breaks rounded off and its ends corrected."""

    function: Function  # as given
    # Its interval.
    low: float
    high: float
    periodic: bool  # whether the ends are joined
    breaks: tuple[tuple[Break, float], ...] = ()  # where it is rounded, with the widths
    needles: tuple[float, ...] = ()  # where something narrow was seen
    ends: tuple[EndCorrection, ...] = ()  # what is added at them

    def _inside(self, x: FloatArray) -> FloatArray:
        length = self.high - self.low
        at = self.low + np.mod(x - self.low, length) if self.periodic else x
        return np.asarray(np.clip(at, self.low, self.high))

    def _is_cusp(self, broken: Break) -> bool:
        """Tell whether data are vertical at a break: a root is steeper the closer one looks."""
        far = LINE_MARCH.cusp * (self.high - self.low)
        sides = self._inside(broken.x + np.array([-far, far]))
        rise = np.abs(self.function(sides) - (broken.left[0], broken.right[0])).max()
        slopes = max(abs(broken.left[1]), abs(broken.right[1]))
        return bool(abs(broken.jump) < slopes * far and slopes * far > LINE_MARCH.vertical * rise)

    def _blunt(self, x: float, width: float, s: FloatArray) -> FloatArray:
        """Return data on both sides of a cusp, none closer to it than about a width."""
        away = width * np.logaddexp(s / width, -s / width)
        left, right = (self.function(self._inside(x + sign * away)) for sign in (-1.0, 1.0))
        share = ndtr(s / width)
        return np.asarray((1.0 - share) * left + share * right)

    def blurred(self) -> Rounded:
        """Return the function rounded once more: it is as far from this as this from the data.

        Rounding a jump is what diffusion does in a short time; twice the time is sqrt(2) of the
        width. A rounded bend is off by as much as it is wide.
        """
        jumps = [abs(b.jump) > abs(b.bend) * w for b, w in self.breaks]
        factors = [math.sqrt(2.0) if jump else 2.0 for jump in jumps]
        wider = tuple((b, f * w) for f, (b, w) in zip(factors, self.breaks, strict=True))
        ends = tuple(
            c._replace(width=2.0 ** (1.0 / max(c.order, 1) if c.order else 0.5) * c.width)
            for c in self.ends
        )
        return replace(self, breaks=wider, ends=ends)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the rounded values."""
        length, at = self.high - self.low, self._inside(x)
        out = np.array(self.function(at))
        for broken, width in self.breaks:
            s = at - broken.x
            if self.periodic:
                s = s - length * np.round(s / length)
            near = np.abs(s) < ROUNDED_WIDTHS * width
            if self._is_cusp(broken):
                out[near] = self._blunt(broken.x, width, s[near])
            else:
                out[near] = _rounded(broken, width, s[near], out[near])
        for correction in self.ends:
            out += correction.values(self.high - at if correction.side else at - self.low)
        return out


def _rounded(broken: Break, width: float, s: FloatArray, data: FloatArray) -> FloatArray:
    """Return data smoothed by what smoothing does to their lines."""
    v, slope = (np.where(s < 0, *ends) for ends in zip(broken.left, broken.right, strict=True))
    data = np.where(np.abs(s) < BESIDE * width, v + slope * s, data)
    z = np.abs(s) / width
    beyond, density = ndtr(-z), np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    across = np.where(s < 0, broken.jump, -broken.jump)
    return np.asarray(data + across * beyond + broken.bend * width * (density - z * beyond))


def rounded(system: TimeSystem, tol: float) -> tuple[list[Rounded], list[str]]:
    """Return the initial state of each unknown without breaks, and what was rounded, in words."""
    length, span = system.high - system.low, system.span
    least = _least_width(system, span[0])
    found, words = [], []
    for name in system.names:
        plain = Rounded(system.initial(name), system.low, system.high, system.periodic)
        graph = system.graph(name)
        ends = system.space, system.low, system.high
        told = [e.below for e in edges_along(graph, *ends) if e.jumps] if graph is not None else []
        look = points_and_values(plain, system.low, system.high, system.periodic)
        breaks = breaks_of(plain, *ends[1:], system.periodic, told=told, look=look)
        if system.layers is not None:
            # Where the flux goes on elements bend by themselves.
            own = system.layers.places
            bent = [b for b in breaks if np.any(np.abs(own - b.x) < 10.0 * CLOSE * length)]
            breaks = [b for b in breaks if b not in bent or abs(b.jump) > tol]
        size = max(1.0, float(np.abs(look[1]).max()))
        size = max([size, *(abs(v) for b in breaks for v, _ in (b.left, b.right))])
        if system.periodic:
            breaks += _at_seam(plain, breaks, max(1e-3 * tol, SAME) * size)
        widths = _apart(breaks, [_width(b, tol * size, length, least) for b in breaks])
        pairs = tuple(zip(breaks, widths, strict=True))
        tops = foci(graph, *ends) if graph is not None else np.zeros(0)
        needles = (*needles_of(*look), *unseen_of(plain, *look, tops))
        found.append(replace(plain, breaks=pairs, needles=needles))
        jumps = [(b, w) for b, w in pairs if abs(b.jump) > 0.1 * tol * size]
        bends = [(b, w) for b, w in pairs if abs(b.bend) * w > tol * size and (b, w) not in jumps]
        for what, each in (("jump", jumps), ("bend", bends)):
            words += shortened(
                [
                    f"{name} starts with a {what} at x = {b.x:.6g}, rounded over {w:.1e}"
                    for b, w in each
                ]
            )
    found, more = met(system, found, tol, just_after(*span), known=False)
    return found, words + more


def _at_seam(plain: Rounded, breaks: Sequence[Break], small: float) -> list[Break]:
    """Return the break where the ends of a ring are joined, if it is not known and not small.

    Where a pulse has all but fallen to zero there, it is too small beside that to be looked for.
    """
    length = plain.high - plain.low
    if any(min(b.x - plain.low, plain.high - b.x) < 10.0 * CLOSE * length for b in breaks):
        return []
    before, after = plain.high - 1e-4 * CLOSE * length, plain.low
    seam = Break(
        plain.low,
        line_beside(plain, before, -CLOSE * length),
        line_beside(plain, after, CLOSE * length),
    )
    missed = max(abs(seam.jump), abs(seam.bend) * 1e-3 * length)
    return [seam] if missed > small else []


def just_after(start: float, stop: float) -> float:
    """Return the moment at which conditions are met: what is switched on at the start is on."""
    return start + 4.0 * math.ulp(start) + AFTER * (stop - start)


def met(
    system: TimeSystem, states: Sequence[Rounded], tol: float, t: float, known: bool = True
) -> tuple[list[Rounded], list[str]]:
    """Return states that meet the conditions at a moment, and what was done to them, in words.

    What constraints hold is known, or conditions that ask for it are left.
    """
    found, words = list(states), []
    for side in (0, 1):
        added, more = corrections(system, found, side, tol, t, _least_width(system, t), known)
        for i, correction in added:
            found[i] = replace(found[i], ends=(*found[i].ends, correction))
        words += more
    return found, words


def _least_width(system: TimeSystem, t: float) -> float:
    """Return the width over which a jump is rounded at a moment."""
    ticks = LINE_MARCH.ticks * math.ulp(t) / (system.span[1] - system.span[0])
    return (system.high - system.low) * max(LINE_MARCH.round, min(math.sqrt(ticks), 1e-3))


def _width(broken: Break, small: float, length: float, least: float) -> float:
    if abs(broken.jump) > small:
        return least
    return float(np.clip(LINE_MARCH.worth * small / (0.4 * abs(broken.bend)), least, 1e-3 * length))


def _apart(breaks: Sequence[Break], widths: list[float]) -> list[float]:
    """Return widths of roundings that do not reach into each other."""
    for i, j in itertools.pairwise(np.argsort([b.x for b in breaks]).tolist()):
        room = (breaks[j].x - breaks[i].x) / (2.0 * ROUNDED_WIDTHS)
        widths[i], widths[j] = min(widths[i], room), min(widths[j], room)
    return widths
