"""When something happens: the explicit dependence of equations and conditions on time, looked at.

A step of a polynomial method does not see what lies between its stages. What the user's formulas
do with t is therefore looked at before the march: where it jumps or bends a step must end, and no
step is longer than a part of what varies. Edges are read from the formulas; what varies is sampled,
every part of a formula by itself, at places spread over the domain and at those where something
stands out for a short time (`events`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.equation.expression import (
    Constant,
)
from sharpfront.equation.linearise import with_leaves
from sharpfront.evolve.time_system import TimeSystem
from sharpfront.evolve.watched_formula import BROKEN, LOOKED_AT, Span, watched
from sharpfront.place.line.sampling import sampled
from sharpfront.problem import Problem
from sharpfront.rounding import SAME
from sharpfront.trust.events import Event
from sharpfront.trust.formula_parts import Formula, formula, held_numbers

# A step sees at most so many times the range of what depends on time: less than a rise and a fall,
# even where it is stretched, so that nothing comes and goes within one. With half of it fronts that
# data carry through the plane took twice the steps, at errors of a thousandth of what was allowed.
MOST_SEEN = 1.0
# How many times more may vary in a step for the sake of one less.
STRETCH = 1.5
# Halvings of a cell of moments in which only slopes change, as the largest value at places does
# where another of them takes its turn: a pulse that one of them is beside is seen by then. Six
# drawn problems take 1.0, 1.06 and 1.2 times as long with 3, 12 and 40 of them, and one of them
# takes 33 steps in the place of 31 with 3.
BENDS = 6
# Moments at which equations are looked at ahead, evenly and where much varies.
AHEAD = 9
# Points spread over the domain for the look at place and time together.
SPREAD_POINTS = 4096
# Points of each part of the boundary at which its condition is looked at.
POINTS_OF_PART = 256


@dataclass(frozen=True, eq=False)
class TimeEvents:
    """What the steps must not jump over.

    Parameters
    ----------
    moments, passed
        Moments, increasing, and how much has varied up to each, increasing.
    stops
        Moments at which a step must end.
    events
        What stands out inside, in a small part of place and time.
    """

    moments: FloatArray
    passed: FloatArray
    stops: FloatArray
    events: tuple[Event, ...] = ()

    def longest(self, t: float) -> float:
        """Return how long a step from a moment may be.

        A little more may vary in one that leaves no short step before a stop or the end.
        """
        if not len(self.moments):
            return float("inf")
        ahead = np.append(self.stops[self.stops > t], self.moments[-1])
        here = float(np.interp(t, self.moments, self.passed))
        last = float(ahead[0])
        if float(np.interp(last, self.moments, self.passed)) - here <= STRETCH * MOST_SEEN:
            return last - t
        return float(np.interp(here + MOST_SEEN, self.passed, self.moments)) - t

    def ahead(self, t: float, stop: float) -> FloatArray:
        """Return moments from one on to the end, more of them where much varies."""
        even = np.linspace(t, stop, AHEAD)
        if not len(self.moments):
            return even
        here = float(np.interp(t, self.moments, self.passed))
        levels = np.linspace(here, float(self.passed[-1]), AHEAD)
        return np.unique(np.concatenate([even, np.interp(levels, self.passed, self.moments)]))

    def fitted(
        self, t: float, dt: float, end: float, stride: float = 1.0, last: float | None = None
    ) -> float:
        """Return a step of about dt that ends where it must and leaves no crumb before that.

        With a stride below one it goes to where it must in two steps, of which `last` was the
        first.
        """
        left = min(end - t, self.longest(t))
        if dt >= 0.9 * left:
            whole = stride == 1.0 or (last is not None and last >= left)
            return left if whole else stride * left
        return 0.5 * left if dt > 0.5 * left else dt

    def unseen(
        self, start: float, stop: float, points: Callable[[float], FloatArray]
    ) -> list[FloatArray]:
        """Return where something stands out between two moments that points then do not see."""
        within = [e for e in self.events if start <= e.t <= stop]
        return [e.place for e in within if not e.seen_from(points(e.t))]

    def settled(self, t: float, end: float) -> float:
        """Return a moment; that of a stop or of the end where it differs by rounding only."""
        near = min((*self.stops.tolist(), end), key=lambda stop: abs(stop - t))
        return near if abs(near - t) <= 4.0 * math.ulp(max(abs(t), abs(near))) else t

    def is_stop(self, t: float) -> bool:
        """Tell whether a step had to end at a moment."""
        return t in self.stops.tolist()


def line_formulas(system: TimeSystem) -> tuple[list[Formula], list[Formula]]:
    """Return the equations and the conditions of a problem on an interval as formulas."""
    problem = system.problem
    # Places spread over the interval, the first few of them too. They are not evenly apart: the
    # largest value at even places of something that travels goes up and down as often as it passes
    # one, and by the same amount each time.
    inside = system.low + (system.high - system.low) * _shares()[:, None]
    held = held_numbers(problem, system.names)
    equations = [formula(e.expression, problem, inside, held) for e in system.equations]
    conditions = []
    for condition in system.conditions:
        end = (system.low, system.high)[condition.side]
        stated = with_leaves(condition.expression, {("coordinate", system.space): Constant(end)})
        at = np.array([[end]])
        conditions.append(formula(stated, problem, at, held, on_boundary=True))
    return equations, conditions


def plane_formulas(problem: Problem) -> list[Formula]:
    """Return the equations and the conditions of a problem in the plane as formulas."""
    domain, held = problem.domain, held_numbers(problem, problem.unknowns)
    inside = domain.sample(SPREAD_POINTS)
    found = [formula(e, problem, inside, held) for e in problem.equations]
    for condition in problem.conditions:
        points = domain.boundary(condition.part, POINTS_OF_PART).points
        for stated in condition.residuals:
            found.append(formula(stated, problem, points, held, on_boundary=True))
    return found


@cache
def _shares() -> FloatArray:
    rng = np.random.default_rng(0)
    counts = (BROKEN, LOOKED_AT - BROKEN, SPREAD_POINTS - LOOKED_AT)
    return np.concatenate([(rng.permutation(n) + rng.random(n)) / n for n in counts])


def time_events_of(formulas: Sequence[Formula], span: Span) -> TimeEvents:
    """Return what the formulas of a problem do with time."""
    seen = [watched(f, span) for f in formulas if f.parts or f.local_parts]
    found = tuple(e for w in seen if not w.formula.on_boundary for e in w.found)
    if not any(w.formula.parts for w in seen):
        none = np.zeros(0)
        return TimeEvents(none, none, none, found)
    stops = _merged([t for w in seen for t in w.stops], span)
    near = sorted({*map(float, stops), *(float(t) for w in seen for t in w.hints)})
    inside = [t for t in near if span[0] < t < span[1]]
    seen = [w for w in seen if w.formula.parts]

    def every(t: FloatArray) -> FloatArray:
        return np.concatenate([own for w in seen for own in w.rows(t)])

    # What a choice leaves out may be anything.
    looks = np.union1d(np.linspace(*span, 257), inside)
    usable = np.isfinite(every(looks)).all(axis=1)
    counts = [len(own) for w in seen for own in w.rows(looks[:1])]
    parts = np.repeat(np.arange(len(counts)), counts)[usable]

    def rows(t: FloatArray) -> FloatArray:
        return np.nan_to_num(every(t)[usable], posinf=0.0, neginf=0.0)

    moments, values = sampled(rows, *span, hints=inside, bends=BENDS)
    return TimeEvents(moments, _passed(moments, values, parts, stops), stops, found)


def _passed(moments: FloatArray, values: FloatArray, parts: Ints, stops: FloatArray) -> FloatArray:
    """Return how much the rows have varied up to each moment, in units of the ranges of parts.

    The largest value at some places of what travels goes up and down by a little as it passes
    them, which is all that this row does. What jumps at a stop is not counted: a step ends there.
    Nor is what jumps at the start.
    """
    count = int(parts.max(initial=-1)) + 1
    high, low = np.full(count, -np.inf), np.full(count, np.inf)
    np.maximum.at(high, parts, values.max(axis=1, initial=-np.inf))
    np.minimum.at(low, parts, values.min(axis=1, initial=np.inf))
    spread = (high - low)[parts]
    varies = spread > 1e-10 * np.maximum(np.abs(values).max(axis=1, initial=0.0), 1.0)
    change = np.abs(np.diff(values[varies], axis=1)) / spread[varies][:, None]
    most = change.max(axis=0, initial=0.0)
    close = SAME * (moments[-1] - moments[0])
    stops = np.concatenate([moments[:1], stops])
    first = np.searchsorted(moments[1:], stops, side="left")
    last = np.searchsorted(moments[:-1], stops + close, side="right")
    for i, j in zip(first, last, strict=True):
        most[i:j] = 0.0
    even = 1e-9 * (moments - moments[0]) / (moments[-1] - moments[0])
    return np.asarray(np.concatenate([[0.0], np.cumsum(most)]) + even)


def _merged(stops: list[float], span: Span) -> FloatArray:
    """Return stops inside the span, sorted; of those that all but coincide the first."""
    found: list[float] = []
    least = SAME * (span[1] - span[0])
    for t in sorted(stops):
        if span[0] + least < t < span[1] - least and (not found or t - found[-1] > least):
            found.append(t)
    return np.array(found)
