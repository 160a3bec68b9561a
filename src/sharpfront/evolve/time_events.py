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
from sharpfront.equation.edges import Switch, edges_along, switches
from sharpfront.equation.expression import (
    TIME,
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Leaf,
    Normal,
)
from sharpfront.equation.graph import ordered
from sharpfront.equation.linearise import substitute
from sharpfront.evolve.time_system import TimeSystem
from sharpfront.place.line.sampling import sampled
from sharpfront.place.line.singularities import breaks_of
from sharpfront.problem import Problem
from sharpfront.trust.events import Event, appearances, events
from sharpfront.trust.formula_parts import Formula, dependence, formula, hints, is_opaque

# A step sees at most so many times the range of what depends on time: less than a rise and a fall,
# even where it is stretched, so that nothing comes and goes within one. With half of it fronts that
# data carry through the plane took twice the steps, at errors of a thousandth of what was allowed.
MOST_SEEN = 1.0
# How many times more may vary in a step for the sake of one less.
STRETCH = 1.5
# Places at which what depends on place and time is looked at over time, and those of them at which
# breaks are looked for in what can only be sampled; places of interest along an axis.
LOOKED_AT, BROKEN, SPECIAL = 64, 10, 10
# Halvings of a cell of moments in which only slopes change, as the largest value at places does
# where another of them takes its turn: a pulse that one of them is beside is seen by then. Six
# drawn problems take 1.0, 1.06 and 1.2 times as long with 3, 12 and 40 of them, and one of them
# takes 33 steps in the place of 31 with 3.
BENDS = 6
# Moments at which parts of a formula are evaluated together: what they are at all places fits into
# a cache. Half and twice as many take as long, all of them 1.3 times as long.
AT_ONCE = 256
# Moments closer than this share of the span are one.
SAME = 1e-9
# Moments at which equations are looked at ahead, evenly and where much varies.
AHEAD = 9
# Points spread over the domain for the look at place and time together.
SPREAD_POINTS = 4096
# Points of each part of the boundary at which its condition is looked at.
POINTS_OF_PART = 256

Span = tuple[float, float]


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
    inside = _spread(system.low, system.high)
    equations = [formula(e.expression, problem, inside, system.names) for e in system.equations]
    conditions = []
    for condition in system.conditions:
        end = (system.low, system.high)[condition.side]
        stated = substitute(condition.expression, _held_at(problem.coordinates[0], end))
        at = np.array([[end]])
        conditions.append(formula(stated, problem, at, system.names, on_boundary=True))
    return equations, conditions


def plane_formulas(problem: Problem) -> list[Formula]:
    """Return the equations and the conditions of a problem in the plane as formulas."""
    domain, names = problem.domain, problem.unknowns
    inside = domain.sample(SPREAD_POINTS)
    found = [formula(e, problem, inside, names) for e in problem.equations]
    for condition in problem.conditions:
        points = domain.boundary(condition.part, POINTS_OF_PART).points
        for stated in condition.residuals:
            found.append(formula(stated, problem, points, names, on_boundary=True))
    return found


def _spread(low: float, high: float) -> FloatArray:
    """Return places spread over an interval, the first few of them too.

    They are not evenly apart: the largest value at even places of something that travels goes up
    and down as often as it passes one, and by the same amount each time.
    """
    return np.asarray(low + (high - low) * _shares()[:, None])


@cache
def _shares() -> FloatArray:
    rng = np.random.default_rng(0)
    counts = (BROKEN, LOOKED_AT - BROKEN, SPREAD_POINTS - LOOKED_AT)
    return np.concatenate([(rng.permutation(n) + rng.random(n)) / n for n in counts])


def _held_at(name: str, value: float) -> Callable[[Leaf], Expression]:
    """Return the replacement of a coordinate by a number."""

    def number(leaf: Leaf) -> Expression:
        held = isinstance(leaf, Coordinate) and leaf.name == name
        return Constant(value) if held else leaf

    return number


def time_events_of(formulas: Sequence[Formula], span: Span) -> TimeEvents:
    """Return what the formulas of a problem do with time."""
    watched = [_watched_formula(f, span) for f in formulas if f.parts or f.local_parts]
    found = tuple(e for w in watched if not w.formula.on_boundary for e in w.found)
    if not any(w.formula.parts for w in watched):
        none = np.zeros(0)
        return TimeEvents(none, none, none, found)
    stops = _merged([t for w in watched for t in w.stops], span)
    near = sorted({*map(float, stops), *(float(t) for w in watched for t in w.hints)})
    inside = [t for t in near if span[0] < t < span[1]]
    watched = [w for w in watched if w.formula.parts]

    def every(t: FloatArray) -> FloatArray:
        return np.concatenate([own for w in watched for own in w.rows(t)])

    # What a choice leaves out may be anything.
    looks = np.union1d(np.linspace(*span, 257), inside)
    usable = np.isfinite(every(looks)).all(axis=1)
    counts = [len(own) for w in watched for own in w.rows(looks[:1])]
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


@dataclass(frozen=True, eq=False)
class _Watched:
    """A formula with the places and moments at which it is looked at."""

    formula: Formula
    places: FloatArray
    stops: list[float]
    hints: list[float]
    found: list[Event]
    tops: int

    def rows(self, t: FloatArray) -> list[FloatArray]:
        """Return every part over time, (m, n) each.

        Of one that depends on the place, its largest and its smallest value, which stay what they
        are while it travels, and what it is at the tops of events.
        """
        few = np.array_split(t, -(-len(t) // AT_ONCE))
        each = zip(*(self._rows(some) for some in few), strict=True)
        return [np.concatenate(own, axis=1) for own in each]

    def _rows(self, t: FloatArray) -> list[FloatArray]:
        formula = self.formula
        values = formula.values(formula.parts, self.places[:, None, :], t[None, :])
        each = [
            self._summed(np.broadcast_to(v, (len(self.places), len(t)))) if formula.local(p) else v
            for p, v in zip(formula.parts, values, strict=True)
        ]
        wide = [np.broadcast_to(v, (v.shape[0] if v.ndim == 2 else 1, len(t))) for v in each]
        # What is added to what inside a function that can only be sampled is not known.
        return [
            own
            for p, v in zip(formula.parts, wide, strict=True)
            for own in (v[:, None] if is_opaque(p) else [v])
        ]

    def _summed(self, values: FloatArray) -> FloatArray:
        tops = values[len(values) - self.tops :]
        return np.concatenate([values.max(axis=0)[None], values.min(axis=0)[None], tops])


def _watched_formula(formula: Formula, span: Span) -> _Watched:
    near = hints(formula, TIME, *span)
    special = _interesting(formula)
    found = events(formula, span, special, near)
    brief = [e.place for e in found if e.brief]
    tops = np.array(brief).reshape(-1, len(formula.names))
    places = np.concatenate([formula.points[:LOOKED_AT], special, tops])
    stops = _stops(formula, span, places, near)
    moments = [*map(float, near), *(e.t for e in found)]
    return _Watched(formula, places, stops, moments, found, len(tops))


def _interesting(formula: Formula) -> FloatArray:
    """Return places at which something narrow may stand, (n, d), not too many."""
    low, high = formula.bounds
    axes = []
    for i, name in enumerate(formula.names):
        near = hints(formula, name, float(low[i]), float(high[i]))
        few = near[:: max(1, -(-len(near) // SPECIAL))]
        axes.append(few if len(few) else np.array([0.5 * (low[i] + high[i])]))
    if all(len(a) == 1 for a in axes):
        return np.array([[a[0] for a in axes]])
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _stops(formula: Formula, span: Span, places: FloatArray, near: FloatArray) -> list[float]:
    """Return the moments just before something jumps, and those at which something bends."""
    found = [_before(e.below, e.jumps) for e in edges_along(formula.stated, TIME, *span)]
    for switch in _moving(formula):
        found += [_before(t, True) for t in appearances(formula, switch, span, places, near)]
    for node in _sampled_only(formula):
        at = places[:BROKEN] if formula.local(node) else places[:1]
        for place in at:
            found += _broken(formula, node, place, span)
    return found


def _moving(formula: Formula) -> list[Switch]:
    """Return the switches on place and time, whose edges are lines in both."""
    found = []
    for switch in switches(formula.stated):
        where = dependence(switch.argument)[id(switch.argument)]
        known = not any(isinstance(n, Derivative | Normal) for n in ordered(switch.argument))
        if TIME in where and len(where) > 1 and known and not switch.period:
            found.append(switch)
    return found


def _sampled_only(formula: Formula) -> list[Apply]:
    """Return what may have edges that no graph shows, and what depends on time alone as a whole."""
    timed = [p for p in formula.parts if not formula.local(p)]
    inner = {id(a) for p in timed for a in p.arguments}
    local = [p for p in formula.parts if formula.local(p) and is_opaque(p)]
    return [p for p in timed if id(p) not in inner] + local


def _broken(formula: Formula, node: Apply, place: FloatArray, span: Span) -> list[float]:
    def of_time(t: FloatArray) -> FloatArray:
        return formula.value(node, place[None, :], t)

    if not np.isfinite(of_time(np.linspace(*span, 257))).all():
        return []
    broken = breaks_of(of_time, *span, periodic=False, size=1.0)
    return [_before(b.x, abs(b.jump) > 1e-12) for b in broken]


def _before(t: float, jumps: bool) -> float:
    """Return the end of a step that must not see what comes after a jump."""
    return t - 4.0 * float(np.spacing(t)) if jumps else t


def _merged(stops: list[float], span: Span) -> FloatArray:
    """Return stops inside the span, sorted; of those that all but coincide the first."""
    found: list[float] = []
    least = SAME * (span[1] - span[0])
    for t in sorted(stops):
        if span[0] + least < t < span[1] - least and (not found or t - found[-1] > least):
            found.append(t)
    return np.array(found)
