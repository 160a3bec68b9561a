"""Straight lines on which a function in the plane jumps, bends or is steep, read from its graph."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.equation.edges import Switch, named_in, parts_where, switches
from sharpfront.equation.expression import Expression, Values
from sharpfront.equation.graph import derivatives_in, evaluate, ordered
from sharpfront.equation.level_curves import centres
from sharpfront.equation.values import environment
from sharpfront.rounding import SAME

# How close to a line its two sides are compared, as a share of the domain. Between the two the gap
# of what goes on, x^0.05 included, falls by this factor at least.
ASIDE, FALLS = (1e-9, 1e-12), 0.8
# Points along each axis at which it is looked whether an expression is linear.
LOOKED = np.array([0.03, 0.21, 0.38, 0.64, 0.81, 0.97])


@dataclass(frozen=True)
class Line:
    """The points with a x + b y = c, a^2 + b^2 = 1."""

    normal: tuple[float, float]
    offset: float

    @property
    def is_slanted(self) -> bool:
        """Whether it is parallel to no axis."""
        return min(map(abs, self.normal)) > SAME

    def distances(self, points: Values) -> Values:
        """Return how far points are from it, with a sign."""
        return np.asarray(points @ np.array(self.normal) - self.offset)


def straight_lines(
    graphs: Iterable[Expression], names: Sequence[str], bounds: Values
) -> tuple[Line, ...]:
    """Return the lines on which functions in the plane jump or bend, within bounds (2, 2)."""
    every = [_lines(s, names, bounds) or () for graph in graphs for s in switches(graph)]
    return distinct(itertools.chain(*every), bounds)


def jump_lines(
    graphs: Iterable[Expression], names: Sequence[str], bounds: Values
) -> tuple[Line, ...] | None:
    """Return the lines on which functions jump; None if one may jump on what is no such line."""
    jumps = (s for graph in graphs for s in switches(graph) if s.jumps)
    found: list[Line] = []
    for own in (_lines(switch, names, bounds) for switch in jumps):
        if own is None:
            return None
        found += own
    return distinct(found, bounds)


def _lines(switch: Switch, names: Sequence[str], bounds: Values) -> list[Line] | None:
    """Return the lines on which a switch switches; None where these are not all known."""
    if switch.period or derivatives_in(switch.argument):
        return None
    known = parts_where(switch, lambda part: _line(part, names, bounds) is not None)
    if known is None:
        return None
    return [line for part in known if (line := _line(part, names, bounds)) is not None]


def steep_lines(
    graphs: Iterable[Expression], names: Sequence[str], bounds: Values, times: float
) -> tuple[Line, ...]:
    """Return the lines about which functions change within less than 1/times of the bounds."""
    size = float(np.ptp(bounds, axis=0).max())
    found: list[Line] = []
    for node in (n for graph in graphs for n in ordered(graph)):
        for argument in centres(node):
            if derivatives_in(argument) or not named_in(argument):
                continue
            known = _linear(argument, 0.0, names, bounds)
            if known is not None and known[1] * size > times:
                found.append(known[0])
    return distinct(found, bounds)


def distinct(lines: Iterable[Line], bounds: Values) -> tuple[Line, ...]:
    """Return each line once."""
    size, kept = float(np.ptp(bounds, axis=0).max()), list[Line]()
    for line in lines:
        others = np.array([(*k.normal, k.offset / size) for k in kept]).reshape(-1, 3)
        gaps = np.abs(others - (*line.normal, line.offset / size)).max(axis=1, initial=0.0)
        if not np.any(gaps < SAME):
            kept.append(line)
    return tuple(kept)


def _line(switch: Switch, names: Sequence[str], bounds: Values) -> Line | None:
    known = _linear(switch.argument, switch.first, names, bounds)
    return known[0] if known else None


def _linear(
    argument: Expression, value: float, names: Sequence[str], bounds: Values
) -> tuple[Line, float] | None:
    """Return where an expression has a value and how steep it is, if it is linear."""
    low, high = bounds
    x, y = (v.ravel() for v in np.meshgrid(*(low + (high - low) * LOOKED[:, None]).T))
    points = np.column_stack([x, y])
    values = values_at(argument, names, points) - value
    if not np.isfinite(values).all():
        return None
    table = np.column_stack([points, np.ones(len(points))])
    (a, b, c), *_ = np.linalg.lstsq(table, values)
    size = float(np.hypot(a, b))
    if np.abs(table @ [a, b, c] - values).max() > SAME * np.abs(values).max() or not size:
        return None
    sign = -1.0 if (a, b) < (0.0, 0.0) else 1.0
    line = Line((float(sign * a / size), float(sign * b / size)), float(-sign * c / size))
    return line, size


def goes_on(
    graph: Expression,
    line: Line,
    names: Sequence[str],
    bounds: Values,
    stretch: Values | None = None,
) -> bool:
    """Tell whether a function has the same values on both sides of a line, close to it.

    Or on both sides of a stretch of it, (2, 2).
    """
    middle = bounds.mean(axis=0)
    normal = np.array(line.normal)
    size = float(np.ptp(bounds, axis=0).max())
    if stretch is None:
        foot = middle - float(line.distances(middle[None])[0]) * normal
        half = 0.5 * size * np.array([-normal[1], normal[0]])
        stretch = np.stack([foot - half, foot + half])
    places = stretch[0] + LOOKED[:, None] * (stretch[1] - stretch[0])
    places = places[np.all((places > bounds[0]) & (places < bounds[1]), axis=1)]
    gaps = []
    for distance in ASIDE:
        step = distance * size * normal
        below, above = (values_at(graph, names, places + k * step) for k in (-1.0, 1.0))
        gaps.append(float(np.abs(above - below).max(initial=0.0)))
    return gaps[1] <= max(SAME, FALLS * gaps[0])


def values_at(expression: Expression, names: Sequence[str], points: Values) -> Values:
    """Return a function without unknowns at points, (m,); not all need be finite."""
    with np.errstate(all="ignore"):
        found = evaluate(expression, environment(names, points))
    return np.broadcast_to(np.asarray(found, dtype=float), (len(points),))
