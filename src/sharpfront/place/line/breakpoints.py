"""Where coefficients or source jump or bend: there the interval is cut, for kernels are smooth.

What a formula says of its edges and of where it may be narrow is read from it. Functions that
formulas call but that cannot be looked into are sampled at even places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.equation.edges import edges_along, tells_all
from sharpfront.equation.narrow_features import around, foci
from sharpfront.place.line.settings import LINE
from sharpfront.problem.line_problem import Evaluated, Function, LineProblem
from sharpfront.rounding import ROUNDED, SAME

Row = FloatArray | None

# Halvings of a gap at most: places are then rounding apart.
GAP_HALVINGS = 40


@dataclass(frozen=True)
class Cut:
    """A break between two neighbouring floats; the pieces meet at `above`."""

    below: float
    above: float


@dataclass(frozen=True, eq=False)
class Survey:
    """The varying ones among c_0, ..., c_m, f and weights of integrals at many places."""

    # The places, (n,): even ones, and denser ones where the graph of a function says that it may be
    # narrow. In a function that cannot be looked into, a feature narrower than the distance of even
    # places may be invisible.
    x: FloatArray
    rows: tuple[Row, ...]  # the values of each function, (n,), or None if it is constant or linear
    # How far each function is off the lines between even places, zero at those, (n,); None where
    # that is nothing but rounding.
    narrow: tuple[Row, ...]
    even: NDArray[np.int64]  # which of the places are the even ones, (k,)
    # Where a function jumps or bends: read from its formula, else seen and followed to rounding.
    cuts: tuple[Cut, ...]

    @property
    def explicit(self) -> bool:
        """Whether any of the functions varies."""
        return any(row is not None for row in self.rows)

    def spacing(self, places: FloatArray) -> FloatArray:
        """Return the distance of neighbouring places about some of them, (n,)."""
        return np.asarray(np.interp(places, self.x, np.gradient(self.x)))


@lru_cache(maxsize=4)
def _even_places(low: float, high: float, samples: int) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return even places inside an interval, and their numbers."""
    every = np.arange(samples, dtype=np.int64)
    x = np.asarray(low + (every + 0.5) * ((high - low) / samples), dtype=float)
    for kept in (x, every):
        kept.flags.writeable = False
    return x, every


def survey(problem: LineProblem) -> Survey:
    """Return the functions of the problem at even places and where they may be narrow."""
    low, high = problem.interval
    x, every = _even_places(low, high, LINE.survey)
    functions = (*problem.functions, *problem.weights)
    if not any(map(callable, functions)):
        nothing = (None,) * len(functions)
        return Survey(x, nothing, nothing, every, ())
    looks = [_Even(x, f(x), f) if callable(f) else None for f in functions]
    cuts = [c for f in functions for c in _read(f, low, high)]
    fronts: list[list[float]] = []
    for look in looks:
        cuts, found = (cuts, []) if look is None or look.open else _sudden(look, cuts)
        fronts.append(found)
    merged = _merged(cuts, low, high)
    parts = [_dense(e, p, merged, low, high) for e, p in zip(looks, fronts, strict=True) if e]
    dense = np.concatenate([x[:0], *parts])
    if not len(dense):
        rows = tuple(e.y if e and _bends(e.y) else None for e in looks)
        return Survey(x, rows, (None,) * len(rows), every, merged)
    dense = np.setdiff1d(dense, x)
    at, even = np.searchsorted(x, dense), every + np.searchsorted(dense, x)
    rows, narrow = zip(*(_rows(look, dense, at) for look in looks), strict=True)
    return Survey(np.insert(x, at, dense), rows, narrow, even, merged)


def _rows(look: _Even | None, dense: FloatArray, at: NDArray[np.int64]) -> tuple[Row, Row]:
    """Return a function at all places, and how far it is off lines there; None for nothing."""
    if look is None:
        return None, None
    off = look.off(dense)
    seen = np.insert(look.y, at, look.f(dense)) if off.any() or _bends(look.y) else None
    return seen, np.insert(np.zeros(len(look.x)), at, off) if off.any() else None


@dataclass(frozen=True, eq=False)
class _Even:
    """A function at even places, and how far it is off the lines between them elsewhere."""

    x: FloatArray
    y: FloatArray
    f: Callable[[FloatArray], FloatArray]

    @property
    def open(self) -> bool:
        """Whether a formula tells all of it."""
        return isinstance(self.f, Evaluated) and tells_all(self.f.expression)

    def off(self, places: FloatArray) -> FloatArray:
        """Return how far it is off in gaps that hold more than a curve does, zero in others, (n,).

        A curve is off by a quarter of what even places are off the lines between their neighbours.
        """
        # Beyond the outermost places the lines go on.
        x, y = (
            np.concatenate([2.0 * q[:1] - q[1:2], q, 2.0 * q[-1:] - q[-2:-1]])
            for q in (self.x, self.y)
        )
        off = np.asarray(self.f(places) - np.interp(places, x, y))
        bend = np.abs(np.diff(self.y, 2, prepend=self.y[:1], append=self.y[-1:]))
        gap = np.searchsorted(self.x, places)
        bend = np.maximum(np.append(bend, bend[-1])[gap], bend[np.maximum(gap - 1, 0)])
        allowed = LINE.curved * bend
        # Half a gap beyond the outermost places a curve is off its line by three times as much.
        allowed[(gap == 0) | (gap == len(self.x))] *= 3.0
        allowed += SAME * np.abs(self.y).max()
        narrow = np.zeros(len(self.x) + 1, dtype=bool)
        narrow[gap[np.abs(off) > allowed]] = True
        return np.where(narrow[gap], off, 0.0)


def _read(function: Function, low: float, high: float) -> list[Cut]:
    """Return the edges that a formula tells of."""
    if not isinstance(function, Evaluated):
        return []
    found = edges_along(function.expression, function.coordinate, low, high)
    return [Cut(edge.below, edge.above) for edge in found]


def _dense(
    look: _Even, fronts: list[float], cuts: Sequence[Cut], low: float, high: float
) -> FloatArray:
    """Return places about everything narrow in a function, so close that they show it.

    Where that is its formula tells, or a step between two even places that is no jump.
    """
    f, centres = look.f, np.array(fronts)
    if isinstance(f, Evaluated):
        centres = np.append(foci(f.expression, f.coordinate, low, high), centres)
    if not len(centres):
        return np.zeros(0)
    places = around(np.sort(centres), low, high)
    jumps = np.array([cut.above for cut in cuts])
    off = look.off(places)
    for _ in range(GAP_HALVINGS):
        wide = np.abs(np.diff(off)) > LINE.shown * np.ptp(off)
        wide &= np.diff(places) > 1e-13 * (high - low)
        wide &= np.searchsorted(jumps, places[1:]) == np.searchsorted(jumps, places[:-1])
        if not wide.any() or len(places) > LINE.survey:
            break
        middle = 0.5 * (places[1:] + places[:-1])[wide]
        places = np.insert(places, np.flatnonzero(wide) + 1, middle)
        off = look.off(places)
    step = np.abs(np.diff(off, prepend=off[:1], append=off[-1:]))
    return places[np.maximum(step[1:], step[:-1]) > 0.1 * LINE.shown * np.ptp(off)]


def _bends(y: FloatArray) -> bool:
    """Tell whether even samples differ from those of a linear function by more than noise."""
    low, high = float(y.min()), float(y.max())
    least = SAME * max(-low, high)
    if not high - low > least:
        return False
    # The steps of a smooth curve differ by the square of the distance of the samples.
    step = y[1:] - y[:-1]
    return bool(step.max() - step.min() > 1e-4 * least)


def _sudden(look: _Even, known: Sequence[Cut]) -> tuple[list[Cut], list[float]]:
    """Return jumps and kinks between even places, and places in narrow fronts that are neither."""
    x, cuts, length = look.x, list(known), float(look.x[-1] - look.x[0])
    fronts: list[float] = []
    step = np.diff(look.y)
    for change, gaps, follow, least in (
        (step, 1, _jump, 1e-6),
        (np.diff(step), 2, _kink, 1e-7),
    ):
        for i in _outstanding(np.abs(change), least * float(np.ptp(look.y))):
            low, high = float(x[i]), float(x[i + gaps])
            if not any(low <= c.above <= high for c in cuts):
                place, cut = follow(look.f, low, high, length)
                if cut is None:
                    fronts.append(place)
                else:
                    cuts.append(cut)
                    # A cusp is no jump, but it is no front either.
                    fronts = [f for f in fronts if not low <= f <= high]
    return cuts, fronts


def _outstanding(change: FloatArray, least: float) -> list[int]:
    """Return indices whose change is far above that of the neighbours on both sides."""
    pad = np.concatenate([[0.0, 0.0], change, [0.0, 0.0]])
    before = np.minimum(pad[1:-3], pad[:-4])
    after = np.minimum(pad[3:-1], pad[4:])
    stands_out = (change > LINE.outstanding * np.maximum(before, after)) & (change > least)
    return [int(i) for i in np.flatnonzero(stands_out)]


def _merged(cuts: list[Cut], low: float, high: float) -> tuple[Cut, ...]:
    """Return the cuts sorted, without repeats and without those at the ends."""
    margin = ROUNDED * (high - low)
    out: list[Cut] = []
    for cut in sorted(cuts, key=lambda c: c.above):
        inside = low + margin < cut.below and cut.above < high - margin
        if inside and (not out or cut.above - out[-1].above > margin):
            out.append(cut)
    return tuple(out)


def _jump(
    f: Callable[[FloatArray], FloatArray], low: float, high: float, length: float
) -> tuple[float, Cut | None]:
    """Bisect towards the larger change: a smooth front loses its change, a jump keeps it.

    Returns a place in the front or at the jump, and the jump.
    """
    left, right = (float(f(np.array([x]))[0]) for x in (low, high))
    first = abs(right - left)
    while high - low > 1e-16 * length:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        here = float(f(np.array([middle]))[0])
        if abs(here - left) > abs(right - here):
            high, right = middle, here
        else:
            low, left = middle, here
        if abs(right - left) < LINE.persists * first:
            return middle, None
    return high, Cut(low, high)


def _kink(
    f: Callable[[FloatArray], FloatArray], low: float, high: float, length: float
) -> tuple[float, Cut | None]:
    """Zoom into the largest second difference: a kink keeps its change of slope.

    Four times closer, a curve has a quarter of it left, |x|^1.5 a half, and a jump that was too
    small to stand out has four times as much. Returns the place, and the kink.
    """
    last, gain = 0.0, 1.0
    while high - low > 1e-8 * length:
        x = np.linspace(low, high, LINE.zoom + 1)
        second = np.abs(np.diff(f(x), 2)) / (x[1] - x[0])
        i = int(np.argmax(second))
        # A kink between two samples shows in two of the differences.
        pair = float(second[max(i - 1, 0) : i + 2].sum())
        if pair < LINE.bends * last:
            return 0.5 * (low + high), None
        last, gain = pair, pair / max(last, 1e-300)
        low, high = float(x[max(i - 1, 0)]), float(x[min(i + 3, LINE.zoom)])
    middle = 0.5 * (low + high)
    jump = _jump(f, low, high, length)[1] if gain > 3.0 else None
    return middle, jump or Cut(middle, middle)
