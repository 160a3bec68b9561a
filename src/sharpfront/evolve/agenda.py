"""When something happens: the explicit dependence of equations and conditions on time, looked at.

A step of a polynomial method does not see what lies between its stages. What the user's formulas
do with t is therefore sampled before the march: where it jumps or bends a step must end, and no
step is longer than a part of what varies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import Host
from sharpfront.equation.expression import Coordinate, Expression, Key, ordered
from sharpfront.errors import EquationError
from sharpfront.evolve.breaks import breaks_of
from sharpfront.evolve.equations import Residual, TimeSystem
from sharpfront.evolve.sampling import sampled

# A step sees at most this share of the range of what depends on time.
MOST = 0.5
# Positions at which equations are looked at; off even shares, where waves have their nodes.
PLACES = (0.0, 0.0831, 0.2173, 0.3417, 0.4679, 0.5903, 0.7129, 0.8391, 0.9477, 1.0)

Function = Callable[[Host], Host]


@dataclass(frozen=True, eq=False)
class Agenda:
    """What the steps must not jump over.

    Parameters
    ----------
    moments, passed
        Moments, increasing, and how much has varied up to each, increasing.
    stops
        Moments at which a step must end.
    """

    moments: Host
    passed: Host
    stops: Host

    def longest(self, t: float) -> float:
        """Return how long a step from a moment may be."""
        ahead = self.stops[self.stops > t]
        until = float(ahead[0]) if len(ahead) else float("inf")
        if len(self.moments) > 1:
            here = float(np.interp(t, self.moments, self.passed))
            if here + MOST < self.passed[-1]:
                until = min(until, float(np.interp(here + MOST, self.passed, self.moments)))
        return until - t

    def is_stop(self, t: float) -> bool:
        """Tell whether a step had to end at a moment."""
        return bool(np.any(self.stops == t))


def agenda_of(system: TimeSystem) -> Agenda:
    """Return what the formulas of a problem do with time."""
    span = system.problem.time
    assert span is not None
    watched = [f for f in _watched(system) if _finite(f, span)]
    if not watched:
        return Agenda(np.zeros(0), np.zeros(0), np.zeros(0))
    stops = _stops(watched, span)
    moments, values = sampled(watched, *span, hints=[t for t in stops if span[0] < t < span[1]])
    spread = np.ptp(values, axis=1)
    varies = spread > 1e-10 * np.maximum(np.abs(values).max(axis=1), 1.0)
    change = np.abs(np.diff(values[varies], axis=1)) / spread[varies][:, None]
    most = change.max(axis=0, initial=0.0)
    passed = np.concatenate([[0.0], np.cumsum(most)])
    even = 1e-9 * (moments - moments[0]) / (moments[-1] - moments[0])
    return Agenda(moments, passed + even, stops)


def _stops(functions: list[Function], span: tuple[float, float]) -> Host:
    """Return the moments just before something jumps, and those at which something bends."""
    found: set[float] = set()
    for f in functions:
        for broken in breaks_of(f, *span, periodic=False, size=1.0):
            jumps = abs(broken.jump) > 1e-12
            before = broken.x - 4.0 * float(np.spacing(broken.x)) if jumps else broken.x
            if all(abs(before - t) > 1e-9 * (span[1] - span[0]) for t in found):
                found.add(before)
    return np.array(sorted(found))


def _finite(f: Function, span: tuple[float, float]) -> bool:
    try:
        f(np.linspace(*span, 5))
    except EquationError:
        return False
    return True


def _watched(system: TimeSystem) -> list[Function]:
    """Return what depends on time explicitly, as functions of it, at several places."""
    low, length = system.low, system.high - system.low
    found = []
    for equation in system.equations:
        if depends(equation.expression, "t"):
            found += [_at(system, equation, low + share * length) for share in PLACES]
    for condition in system.conditions:
        if depends(condition.expression, "t"):
            found.append(_at(system, condition, (system.low, system.high)[condition.side]))
    return found


def depends(expression: Expression, coordinate: str) -> bool:
    """Tell whether a coordinate itself stands in an expression."""
    return any(isinstance(n, Coordinate) and n.name == coordinate for n in ordered(expression))


def _at(system: TimeSystem, residual: Residual, x: float) -> Function:
    """Return a residual at one place as a function of time, with the unknowns as they start."""

    def of_time(t: Host) -> Host:
        return explicit(system, residual, np.full(len(t), x), t)

    return of_time


def explicit(system: TimeSystem, residual: Residual, x: Host, t: Host) -> Host:
    """Return a residual at points with the unknowns as they start and their derivatives zero."""
    leaves: dict[Key, Host] = {
        ("coordinate", system.problem.coordinates[0]): x,
        ("coordinate", "t"): t,
    }
    nothing = np.zeros(len(x))
    for name in system.names:
        start = system.initial(name)(x[:1])[0] if np.ptp(x) == 0 else system.initial(name)(x)
        leaves["derivative", name, (0, 0)] = nothing + start
        for orders in ((1, 0), (2, 0), (3, 0), (4, 0), (0, 1)):
            leaves["derivative", name, orders] = nothing
    return residual.at(leaves, len(x))
