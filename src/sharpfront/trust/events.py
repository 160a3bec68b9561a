"""What happens for a short time in a small part of the domain: found by looking everywhere.

A part of a formula is sampled at points spread over place and time. A value that stands out, and
does so in few of them, is climbed to. What is as large a little later a little further on travels:
it is there all the time, and no step has to end for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.edges import Switch
from sharpfront.equation.expression import Apply
from sharpfront.equation.graph import evaluate
from sharpfront.trust.formula_parts import Formula
from sharpfront.trust.settings import TRUST

# The part of the golden ratio by which moments are spread.
_GOLDEN = 0.6180339887498949

Span = tuple[float, float]
Height = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Event:
    """Where and when a part of a formula stands out."""

    # How far the part is from what it is mostly, at points (n, d) and moments that broadcast.
    height: Height
    # Its top, (d,).
    place: FloatArray
    t: float
    lasts: float  # for how long it stands out there
    brief: bool  # whether it is short, and does not travel

    def seen_from(self, points: FloatArray) -> bool:
        """Tell whether points (n, d) have half of its height at the moment of its top."""
        when = np.array([self.t])
        top = float(self.height(self.place[None], when)[0])
        return bool(np.any(self.height(points, when) > 0.5 * top))


def events(formula: Formula, span: Span, places: FloatArray, near: FloatArray) -> list[Event]:
    """Return what stands out in a small part of place and time.

    Something narrow may be at places (n, d) and moments (k,).
    """
    local = formula.local_parts
    if not local:
        return []
    even = np.resize(formula.points, (TRUST.look, formula.points.shape[1]))
    moments = np.mod(0.5 + _GOLDEN * np.arange(TRUST.look), 1.0)
    near = np.append(near[:: max(1, -(-len(near) // TRUST.near))], 0.5 * (span[0] + span[1]))
    points = np.concatenate([even, np.repeat(places, len(near), axis=0)])
    t = np.concatenate([span[0] + (span[1] - span[0]) * moments, np.tile(near, len(places))])
    found: list[Event] = []
    for node, values in zip(local, formula.values(local, points, t), strict=True):
        values = np.broadcast_to(values, t.shape)
        if not np.isfinite(values).all():
            continue
        base = float(np.median(values))
        height = _height(formula, node, base)
        for i in _outstanding(np.abs(values - base), points, t, span):
            place, when = _climbed(height, points[i], float(t[i]), formula.bounds, span)
            lasts = _duration(height, place, when, span)
            event = Event(height, place, when, lasts, False)
            brief = lasts < TRUST.rare * (span[1] - span[0]) and not _travels(event, formula)
            found.append(replace(event, brief=brief))
    return found


def _height(formula: Formula, node: Apply, base: float) -> Height:
    def height(points: FloatArray, t: FloatArray) -> FloatArray:
        found = np.abs(formula.value(node, points, t) - base)
        return np.where(np.isfinite(found) & formula.holds(points), found, 0.0)

    return height


def _outstanding(size: FloatArray, points: FloatArray, t: FloatArray, span: Span) -> list[int]:
    """Return the points of values that stand out and are rare, the largest first, far apart."""
    tall = size > TRUST.height * size.max()
    if not tall.any() or tall[: TRUST.look].mean() > TRUST.rare:
        return []
    order = np.flatnonzero(tall)[np.argsort(-size[tall], kind="stable")]
    extent = np.append(np.ptp(points, axis=0), span[1] - span[0])
    where = np.column_stack([points, t])[order] / np.where(extent > 0, extent, 1.0)
    found: list[int] = []
    while len(order) and len(found) < TRUST.most_events:
        found.append(int(order[0]))
        far = np.abs(where - where[0]).max(axis=1) > TRUST.events_apart
        order, where = order[far], where[far]
    return found


def _climbed(
    height: Height, place: FloatArray, t: float, bounds: FloatArray, span: Span
) -> tuple[FloatArray, float]:
    """Return the top near a point of place and time, by turns along each axis."""
    place = np.array(place)
    share = TRUST.first_reach
    for _ in range(4):
        line = share * np.linspace(-1.0, 1.0, TRUST.on_line)
        for axis in range(len(place)):
            low, high = bounds[:, axis]
            moved = np.repeat(place[None], TRUST.on_line, axis=0)
            moved[:, axis] = np.clip(place[axis] + (high - low) * line, low, high)
            place = moved[int(np.argmax(height(moved, np.full(TRUST.on_line, t))))]
        when = np.clip(t + (span[1] - span[0]) * line, *span)
        t = float(when[int(np.argmax(height(place[None], when)))])
        share *= 0.25
    return place, t


def _duration(height: Height, place: FloatArray, t: float, span: Span) -> float:
    """Return for how long a place has more than half of the height that it has at a moment."""
    reach = 2.0 * TRUST.rare * (span[1] - span[0])
    steps = reach * np.geomspace(1e-6, 1.0, TRUST.on_line)
    top = 0.5 * float(height(place[None], np.array([t]))[0])
    lasts = 0.0
    for way in (-1.0, 1.0):
        when = t + way * steps
        low = height(place[None], np.clip(when, *span)) < top
        lasts += float(steps[int(np.argmax(low))]) if low.any() else reach
    return lasts


def _travels(event: Event, formula: Formula) -> bool:
    """Tell whether what stands out is as large nearby before and after."""
    height, place, t = event.height, event.place, event.t
    top = 0.5 * float(height(place[None], np.array([t]))[0])
    extent = formula.bounds[1] - formula.bounds[0]
    rng = np.random.default_rng(0)
    # Distances of all sizes: what stands out may be of any width.
    cloud = rng.uniform(-1.0, 1.0, (4096, len(place))) * np.geomspace(1e-6, 0.5, 4096)[:, None]
    near = np.clip(place + extent * cloud, *formula.bounds)
    beside = [t - 2.0 * event.lasts, t + 2.0 * event.lasts]
    return all(bool(np.any(height(near, np.full(len(near), s)) > top)) for s in beside)


def appearances(
    formula: Formula, switch: Switch, span: Span, places: FloatArray, near: FloatArray
) -> list[float]:
    """Return the moments at which an edge enters the domain or leaves it.

    Between them it may move; kernels and steps follow it as they follow a front.
    """
    points = np.concatenate([formula.points[: TRUST.places], places])

    def extreme(t: FloatArray) -> FloatArray:
        leaves = formula.leaves(points[:, None, :], t[None, :])
        with np.errstate(all="ignore"):
            g = np.broadcast_to(
                evaluate(switch.argument, leaves) - switch.first, (len(points), len(t))
            )
        return np.stack([g.min(axis=0), g.max(axis=0)])

    t = np.union1d(np.linspace(*span, TRUST.edge_moments), near)
    above = extreme(t) > 0.0
    found = []
    for row in range(2):
        for i in np.flatnonzero(above[row, 1:] != above[row, :-1]):
            found.append(_bisected(extreme, row, float(t[i]), float(t[i + 1])))
    return found


def _bisected(f: Callable[[FloatArray], FloatArray], row: int, low: float, high: float) -> float:
    """Return the last moment before a row of a function changes its sign."""
    before = f(np.array([low]))[row, 0] > 0.0
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return low
        if (f(np.array([middle]))[row, 0] > 0.0) == before:
            low = middle
        else:
            high = middle
