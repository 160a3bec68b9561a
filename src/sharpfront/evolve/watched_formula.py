"""A formula looked at over time: at places spread over the domain and at those that stand out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.edges import Switch, edges_along, switches
from sharpfront.equation.expression import TIME, Apply, Derivative, Normal
from sharpfront.equation.graph import ordered
from sharpfront.place.line.singularities import breaks_of
from sharpfront.trust.events import Event, appearances, events
from sharpfront.trust.formula_parts import Formula, dependence, hints, is_opaque

# Places at which what depends on place and time is looked at over time, and those of them at which
# breaks are looked for in what can only be sampled; places of interest along an axis.
LOOKED_AT, BROKEN, SPECIAL = 64, 10, 10
# Moments at which parts of a formula are evaluated together: what they are at all places fits into
# a cache. Half and twice as many take as long, all of them 1.3 times as long.
AT_ONCE = 256

Span = tuple[float, float]


@dataclass(frozen=True, eq=False)
class WatchedFormula:
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


def watched(formula: Formula, span: Span) -> WatchedFormula:
    """Return a formula with the places and moments that tell most of it."""
    near = hints(formula, TIME, *span)
    special = _interesting(formula)
    found = events(formula, span, special, near)
    brief = [e.place for e in found if e.brief]
    tops = np.array(brief).reshape(-1, len(formula.names))
    places = np.concatenate([formula.points[:LOOKED_AT], special, tops])
    # The moments just before something jumps, and those at which something bends.
    stops = [_before(e.below, e.jumps) for e in edges_along(formula.stated, TIME, *span)]
    for switch in _moving(formula):
        stops += [_before(t, True) for t in appearances(formula, switch, span, places, near)]
    for node in _sampled_only(formula):
        at = places[:BROKEN] if formula.local(node) else places[:1]
        for place in at:
            stops += _broken(formula, node, place, span)
    moments = [*map(float, near), *(e.t for e in found)]
    return WatchedFormula(formula, places, stops, moments, found, len(tops))


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
