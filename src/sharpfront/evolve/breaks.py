"""Initial data that jump or bend, or that disagree with the conditions: rounded off.

At a break x0 the data are a line on each side, l(s) = a + b s and r(s), s = x - x0. Smoothed by a
Gaussian of width d they are exactly

    l(s) Q(-s/d) + r(s) Q(s/d) + (r' - l') d g(s/d),   g the normal density, Q its integral.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from sharpfront.arrays import FloatArray
from sharpfront.equation.edges import edges_along
from sharpfront.equation.expression import Key
from sharpfront.equation.focus import foci
from sharpfront.evolve.equations import Residual, TimeSystem

Function = Callable[[FloatArray], FloatArray]

# Points of the look for breaks, and the share of the domain at which a break is told from a front.
BREAK_POINTS, CLOSE = 20001, 1e-7
# A jump is rounded over this share of the domain, a bend over no less.
ROUND = 1e-6
# A bend is rounded by as much as this share of the tolerance is worth.
WORTH = 0.3
# A rounding reaches this many widths.
ROUNDED_WIDTHS = 9.0
# Rounding, as a share of the largest value.
ROUNDING = 1e-15
# Changes below this share of the data's range are none.
SMALL = 1e-6
# A value that differs by this share of the spread from those beside it stands alone.
LONE = 0.02


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


def breaks_of(
    f: Function,
    low: float,
    high: float,
    periodic: bool,
    size: float = 0.0,
    told: Sequence[float] = (),
) -> list[Break]:
    """Return the places where a function jumps or bends.

    `size` is that of the terms whose difference the function is: its rounding is theirs. `told`
    are places of jumps that are known, in order: they may be closer than any points of the look.
    """
    length = high - low
    over = length / (BREAK_POINTS - 1)
    x = (
        low - 4.3 * over + over * np.arange(BREAK_POINTS + 9)
        if periodic
        else np.linspace(low, high, BREAK_POINTS)
    )
    u = f(np.asarray(x, dtype=float))
    spread, steep = np.ptp(u), float(np.abs(np.diff(u)).max())
    size = max(size, float(np.abs(u).max()))
    noise = 4.0 * ROUNDING * size
    found = _told_jumps(f, [low, *told, high])
    if spread <= 1e4 * noise:
        return found
    bend = np.abs(np.diff(u, 2))
    around = np.stack([bend[:-4], bend[1:-3], bend[3:-1], bend[4:]])
    # A smooth function bends about as much next door.
    odd = (bend[2:-2] >= bend[1:-3]) & (bend[2:-2] >= bend[3:-1])
    odd &= (bend[2:-2] > 4.0 * np.minimum(around[0], around[3])) & (
        bend[2:-2] > max(SMALL * steep, noise)
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
        broken = Break(x, _line(f, x - aside, -h), _line(f, x + aside, h))
        if abs(broken.jump) > SMALL * max(abs(broken.left[0]), abs(broken.right[0])):
            found.append(broken)
    return found


def needles_of(x: FloatArray, u: FloatArray) -> list[float]:
    """Return the places where values at points of the look have a spike that few of them see."""
    one, two, three, four = u[:-4], u[1:-3], u[3:-1], u[4:]
    # The mean of the two in the middle of four.
    lower = np.maximum(np.minimum(one, two), np.minimum(three, four))
    middle = 0.5 * (lower + np.minimum(np.maximum(one, two), np.maximum(three, four)))
    spread = float(np.ptp(u))
    lone = np.abs(u[2:-2] - middle) > LONE * spread if spread > 0 else np.zeros(0, dtype=bool)
    return [float(v) for v in x[2:-2][lone][:20]]


def unseen_of(f: Function, x: FloatArray, u: FloatArray, told: FloatArray) -> list[float]:
    """Return those of some places at which a function is not what points of the look say.

    A formula tells of the top of any hump; hints belong where the look would miss it.
    """
    over, spread = x[1] - x[0], float(np.ptp(u))
    aside = 0.5 * (f(np.maximum(told - over, x[0])) + f(np.minimum(told + over, x[-1])))
    here = f(told)
    gap, noise = np.abs(here - aside), 4.0 * ROUNDING * np.abs(here)
    return [float(x) for x in told[gap > np.maximum(LONE * spread, noise)]]


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
    if jump > 0.05 * spread or (jump > SMALL * spread and jump > 0.3 * first[1]):
        while b - a > 4.0 * np.spacing(max(abs(a), abs(b))):
            middle = 0.5 * (a + b)
            u = f(np.array([a, middle, b]))
            a, b = (a, middle) if abs(u[1] - u[0]) > abs(u[2] - u[1]) else (middle, b)
        h, aside = CLOSE * length, 1e-4 * CLOSE * length
        broken = Break(0.5 * (a + b), _line(f, a - aside, -h), _line(f, b + aside, h))
        far = f(np.array([broken.x - 1e-3 * length, broken.x + 1e-3 * length]))
        # A needle has the same value on both sides.
        return broken if abs(broken.jump) > 0.05 * max(jump, abs(far[1] - far[0])) else None
    broken = _kink(f, a, b)
    h = 0.1 * (b - a)
    last, closer = _bend(f, a, b)[0], _bend(f, broken.x - 0.5 * h, broken.x + 0.5 * h)[0]
    bends = abs(last) > 0.3 * abs(first[0]) and abs(last) * length > 1e-4 * spread
    bends = bends and abs(closer) * h > 10.0 * ROUNDING * size
    return broken if bends and abs(closer) > 0.6 * abs(last) else None


def _bend(f: Function, a: float, b: float) -> tuple[float, float]:
    """Return the change of slope between two stretches beside [a, b], and the change of value."""
    h = b - a
    u = f(np.array([a - h, a, b, b + h]))
    return float((u[3] - u[2]) - (u[1] - u[0])) / h, abs(float(u[2] - u[1]))


def _line(f: Function, x: float, h: float) -> tuple[float, float]:
    """Return value and slope beside x, on the side of h."""
    u = f(np.array([x, x + h, x + 2.0 * h]))
    return float(u[0]), float(-1.5 * u[0] + 2.0 * u[1] - 0.5 * u[2]) / h


def _kink(f: Function, a: float, b: float) -> Break:
    """Return the bend between a and b: where the lines on both sides meet."""
    h = b - a
    left, right = _line(f, a, -2.0 * h), _line(f, b, 2.0 * h)
    bend = right[1] - left[1]
    s = (left[0] - right[0] + right[1] * h) / bend if bend else 0.5 * h
    s = min(max(s, 0.0), h)
    value = 0.5 * (left[0] + left[1] * s + right[0] - right[1] * (h - s))
    return Break(a + s, (value, left[1]), (value, right[1]))


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
    # (side, amount, width, order) of corrections at the ends: by a value or a slope.
    ends: tuple[tuple[int, float, float, int], ...] = ()

    def _inside(self, x: FloatArray) -> FloatArray:
        length = self.high - self.low
        at = self.low + np.mod(x - self.low, length) if self.periodic else x
        return np.asarray(np.clip(at, self.low, self.high))

    def blurred(self) -> Rounded:
        """Return the function rounded once more: it is as far from this as this from the data.

        Rounding a jump is what diffusion does in a short time; twice the time is sqrt(2) of the
        width. A rounded bend is off by as much as it is wide.
        """
        jumps = [abs(b.jump) > abs(b.bend) * w for b, w in self.breaks]
        factors = [math.sqrt(2.0) if jump else 2.0 for jump in jumps]
        wider = tuple((b, f * w) for f, (b, w) in zip(factors, self.breaks, strict=True))
        ends = tuple(
            (side, a, (2.0 if order else math.sqrt(2.0)) * w, order)
            for side, a, w, order in self.ends
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
            out[near] = _rounded(broken, width, s[near])
        for side, amount, width, order in self.ends:
            s = (at - self.low if side == 0 else self.high - at) / width
            out += amount * (2.0 * ndtr(-s) if order == 0 else width * np.exp(-s) * (1 - 2 * side))
        return out


def _rounded(broken: Break, width: float, s: FloatArray) -> FloatArray:
    z = s / width
    left, right = (v + slope * s for v, slope in (broken.left, broken.right))
    density = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return np.asarray(left * ndtr(-z) + right * ndtr(z) + broken.bend * width * density)


def rounded(system: TimeSystem, tol: float) -> tuple[list[Rounded], list[str]]:
    """Return the initial state of each unknown without breaks, and what was rounded, in words."""
    length = system.high - system.low
    found, words = [], []
    for name in system.names:
        plain = Rounded(system.initial(name), system.low, system.high, system.periodic)
        graph = system.graph(name)
        ends = system.space, system.low, system.high
        told = [e.below for e in edges_along(graph, *ends) if e.jumps] if graph is not None else []
        breaks = breaks_of(plain, system.low, system.high, system.periodic, told=told)
        if system.layers is not None:
            # Where the flux goes on elements bend by themselves.
            own = system.layers.places
            bent = [b for b in breaks if np.any(np.abs(own - b.x) < 10.0 * CLOSE * length)]
            breaks = [b for b in breaks if b not in bent or abs(b.jump) > tol]
        size = max(1.0, float(np.abs(plain(np.linspace(system.low, system.high, 101))).max()))
        size = max([size, *(abs(v) for b in breaks for v, _ in (b.left, b.right))])
        widths = _apart(breaks, [_width(b, tol * size, length) for b in breaks])
        pairs = tuple(zip(breaks, widths, strict=True))
        tops = foci(graph, *ends) if graph is not None else np.zeros(0)
        x = np.linspace(system.low, system.high, BREAK_POINTS)
        u = plain(x)
        needles = (*needles_of(x, u), *unseen_of(plain, x, u, tops))
        found.append(replace(plain, breaks=pairs, needles=needles))
        jumps = [(b, w) for b, w in pairs if abs(b.jump) > 0.1 * tol * size]
        words += [f"{name} jumps at x = {b.x:.6g} and was rounded over {w:.1e}" for b, w in jumps]
        bends = [(b, w) for b, w in pairs if abs(b.bend) * w > tol * size and (b, w) not in jumps]
        words += [f"{name} bends at x = {b.x:.6g} and was rounded over {w:.1e}" for b, w in bends]
    start = system.problem.time
    assert start is not None
    found, more = met(system, found, tol, start[0])
    return found, words + more


def met(
    system: TimeSystem, states: Sequence[Rounded], tol: float, t: float
) -> tuple[list[Rounded], list[str]]:
    """Return states that meet the conditions at a moment, and what was done to them, in words."""
    found, words = list(states), []
    for condition in system.conditions:
        words += _corrected(system, condition, found, tol, t)
    return found, words


def _width(broken: Break, small: float, length: float) -> float:
    if abs(broken.jump) > small:
        return ROUND * length
    return float(np.clip(WORTH * small / (0.4 * abs(broken.bend)), ROUND * length, 1e-3 * length))


def _apart(breaks: Sequence[Break], widths: list[float]) -> list[float]:
    """Return widths of roundings that do not reach into each other."""
    for i, j in itertools.pairwise(np.argsort([b.x for b in breaks]).tolist()):
        room = (breaks[j].x - breaks[i].x) / (2.0 * ROUNDED_WIDTHS)
        widths[i], widths[j] = min(widths[i], room), min(widths[j], room)
    return widths


def _corrected(
    system: TimeSystem, condition: Residual, states: list[Rounded], tol: float, t: float
) -> list[str]:
    """Bend the state at an end until it meets a condition there; return words if by a value."""
    terms = [t for t in condition.terms if not t.orders[1]]
    if not terms or any(t.orders[1] or t.unknown in system.constrained for t in condition.terms):
        return []
    highest = max(terms, key=lambda t: t.orders[0])
    i, order = system.names.index(highest.unknown), highest.orders[0]
    length = system.high - system.low
    side, h = condition.side, 1e-5 * length
    if order > 1:
        return []
    leaves = _leaves(system, states, side, h, t)
    missed = float(condition.at(leaves, 1)[0])
    tangent = float(condition.tangents(leaves, 1)[condition.terms.index(highest)][0])
    amount = -missed / tangent if tangent else 0.0
    if abs(amount) < (1e-3 * tol if order == 0 else 1e-4):
        return []
    if order == 0:
        width = ROUND * length
    else:
        width = float(np.clip(WORTH * tol / abs(amount), ROUND * length, 1e-3 * length))
        amount = -amount
    states[i] = replace(states[i], ends=(*states[i].ends, (side, amount, width, order)))
    where, what = ("left", "right")[side], ("", "with a slope ")[order]
    if abs(amount) * (width if order else 1.0) > 0.1 * tol:
        return [
            f"{highest.unknown} starts {what}{abs(amount):.2g} off the condition on the {where}"
        ]
    return []


def _leaves(
    system: TimeSystem, states: Sequence[Rounded], side: int, h: float, t: float
) -> dict[Key, FloatArray]:
    """Return values and derivatives of the state at an end, by one-sided differences."""
    end, inward = (system.low, h) if side == 0 else (system.high, -h)
    x = system.problem.coordinates[0]
    leaves: dict[Key, FloatArray] = {
        ("coordinate", x): np.array([end]),
        ("coordinate", "t"): np.array([t]),
        ("normal", x): np.array([2.0 * side - 1.0]),
    }
    for name, state in zip(system.names, states, strict=True):
        u = state(end + inward * np.arange(5.0))
        stencil = np.array([-25.0, 48.0, -36.0, 16.0, -3.0]) / (12.0 * inward)
        leaves["derivative", name, (0, 0)] = u[:1]
        leaves["derivative", name, (1, 0)] = np.array([stencil @ u])
        second = np.array([35.0, -104.0, 114.0, -56.0, 11.0]) / (12.0 * inward**2)
        leaves["derivative", name, (2, 0)] = np.array([second @ u])
        third = np.array([-5.0, 18.0, -24.0, 14.0, -3.0]) / (2.0 * inward**3)
        leaves["derivative", name, (3, 0)] = np.array([third @ u])
    return leaves
