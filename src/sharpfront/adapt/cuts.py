"""Where coefficients or source jump or bend: there the interval is cut, for kernels are smooth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import Host
from sharpfront.ordinary import OrdinaryProblem

# Places at which varying functions are looked at once.
SURVEY = 16_000
# Variation beside the size of a function that is taken for the noise of its rounding. What hides
# below it is left to the error estimate.
NEGLIGIBLE = 1e-9
# A jump stands out by this factor against the differences around it; the cusp of a square root
# halfway between two places by 3.2.
OUTSTANDING = 3.0
# Share of a jump that must remain when its bracket shrinks to rounding.
PERSISTS = 0.5
# Parts of the bracket at each step towards a kink, of which four are kept.
ZOOM = 16
# Share of a kink's change of slope that must remain at each step.
BENDS = 1.0 / 3.0


@dataclass(frozen=True, eq=False)
class Survey:
    """The varying ones among c_0, ..., c_m, f and weights of integrals at many even places.

    Parameters
    ----------
    x
        The places, (n,). A feature narrower than their distance may be invisible.
    rows
        The values of each function, (n,), or None if it is constant or linear.
    """

    x: Host
    rows: tuple[Host | None, ...]


@dataclass(frozen=True)
class Cut:
    """A break between two neighbouring floats; the pieces meet at `above`."""

    below: float
    above: float


def survey(problem: OrdinaryProblem, samples: int = SURVEY) -> Survey:
    """Return the functions of the problem at even places."""
    low, high = problem.interval
    x = np.asarray(low + (np.arange(samples) + 0.5) * ((high - low) / samples), dtype=float)
    rows: list[Host | None] = []
    for function in (*problem.functions, *problem.weights):
        y = function(x) if callable(function) else None
        rows.append(y if y is not None and _bends(y) else None)
    return Survey(x, tuple(rows))


def _bends(y: Host) -> bool:
    """Tell whether even samples differ from those of a linear function by more than noise."""
    least = NEGLIGIBLE * float(np.abs(y).max())
    # The steps of a smooth curve differ by the square of the distance of the samples.
    return bool(np.ptp(y) > least and np.ptp(np.diff(y)) > 1e-4 * least)


def find_cuts(problem: OrdinaryProblem, seen: Survey) -> tuple[Cut, ...]:
    """Return jumps and kinks of c_0, ..., c_m and f, seen in the survey, followed to rounding."""
    low, high = problem.interval
    x, length = seen.x, high - low
    cuts: list[Cut] = []
    for function, y in zip((*problem.functions, *problem.weights), seen.rows, strict=True):
        if y is None or not callable(function):
            continue
        step = np.diff(y)
        for i in _outstanding(np.abs(step), 1e-6 * np.ptp(y)):
            cuts += _jump(function, float(x[i]), float(x[i + 1]), length)
        for i in _outstanding(np.abs(np.diff(step)), 1e-7 * np.ptp(y)):
            if not any(x[i] <= c.above <= x[i + 2] for c in cuts):
                cuts += _kink(function, float(x[i]), float(x[i + 2]), length)
    return _merged(cuts, low, high)


def _outstanding(change: Host, least: float) -> list[int]:
    """Return indices whose change is far above that of the neighbours on both sides."""
    pad = np.concatenate([[0.0, 0.0], change, [0.0, 0.0]])
    before = np.minimum(pad[1:-3], pad[:-4])
    after = np.minimum(pad[3:-1], pad[4:])
    stands_out = (change > OUTSTANDING * np.maximum(before, after)) & (change > least)
    return [int(i) for i in np.flatnonzero(stands_out)]


def _merged(cuts: list[Cut], low: float, high: float) -> tuple[Cut, ...]:
    """Return the cuts sorted, without repeats and without those at the ends."""
    margin = 1e-12 * (high - low)
    out: list[Cut] = []
    for cut in sorted(cuts, key=lambda c: c.above):
        inside = low + margin < cut.below and cut.above < high - margin
        if inside and (not out or cut.above - out[-1].above > 1e-9 * (high - low)):
            out.append(cut)
    return tuple(out)


def _jump(f: Callable[[Host], Host], low: float, high: float, length: float) -> list[Cut]:
    """Bisect towards the larger change: a smooth front loses its change, a jump keeps it."""
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
        if abs(right - left) < PERSISTS * first:
            return []
    return [Cut(low, high)]


def _kink(f: Callable[[Host], Host], low: float, high: float, length: float) -> list[Cut]:
    """Zoom into the largest second difference: a kink keeps its change of slope.

    Four times closer, a curve has a quarter of it left, |x|^1.5 a half, and a jump that was too
    small to stand out has four times as much.
    """
    last, gain = 0.0, 1.0
    while high - low > 1e-8 * length:
        x = np.linspace(low, high, ZOOM + 1)
        second = np.abs(np.diff(f(x), 2)) / (x[1] - x[0])
        i = int(np.argmax(second))
        # A kink between two samples shows in two of the differences.
        pair = float(second[max(i - 1, 0) : i + 2].sum())
        if pair < BENDS * last:
            return []
        last, gain = pair, pair / max(last, 1e-300)
        low, high = float(x[max(i - 1, 0)]), float(x[min(i + 3, ZOOM)])
    middle = 0.5 * (low + high)
    jump = _jump(f, low, high, length) if gain > 3.0 else []
    return jump or [Cut(middle, middle)]
