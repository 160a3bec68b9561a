"""Where to look in time on an interval: rules over space and time that follow the fronts.

A grid of even points does not see a thin front, and a fixed graded one loses it when it moves. The
rule here is of Gauss type on panels that are cut anew at every moment: geometric about each front,
and geometric in time towards the start, where the solution may change fastest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import gauss
from sharpfront.geometry import Domain
from sharpfront.measure.errors import Known, distances, of_unknown, values_at
from sharpfront.measure.points import Feature
from sharpfront.problem import Problem

_ORDER = 6
_MOMENTS_PER_PANEL = 4
_EVEN_TIMES = 16
# The first panel of time ends after this part of an even one.
_FIRST_TIME = 4.0**-8
# The panels next to a front are this part of its width.
_NEXT_TO = 0.25


@dataclass(frozen=True, eq=False)
class TimeRule:
    """Points of space-time (m, 2), in the order of time, with weights (m,).

    ``sum(weights * f(*points.T))`` is the integral of f.
    """

    points: FloatArray
    weights: FloatArray

    def error(self, found: Any, exact: Known | Mapping[str, Known]) -> float:
        """Return the error in L2 of space-time over the size of the exact solution.

        Of several unknowns the worst counts; no number is an infinite error.
        """
        if isinstance(exact, Mapping):
            return max(self.error(of_unknown(found, n), f) for n, f in exact.items())
        truth = values_at(exact, self.points)
        gap = distances(values_at(found, self.points), truth)
        return float(np.sqrt(np.sum(self.weights * gap**2) / np.sum(self.weights * truth**2)))


class Timed(Protocol):
    """What a rule is made for: an entry of the catalogue in time on an interval."""

    @property
    def panels(self) -> int:
        """Even panels across the interval that test points need besides the features."""

    def problem(self, value: float) -> Problem:
        """Return the problem for a value of the parameter."""

    def features(self, value: float) -> Any:
        """Return a function of the moment that tells where the fronts are then."""


def time_rule(entry: Timed, value: float, until: float | None = None) -> TimeRule:
    """Return the rule over the whole interval, from the start to `until` or the end."""
    problem, features = entry.problem(value), entry.features(value)
    if problem.time is None:
        raise ValueError("The entry's problem has no span of time; give it time=(t0, t1).")
    start, stop = problem.time[0], problem.time[1] if until is None else until
    even = start + (stop - start) * np.linspace(0.0, 1.0, _EVEN_TIMES + 1)
    early = start + (even[1] - start) * np.geomspace(_FIRST_TIME, 1.0, 9)[:-1]
    moments, lengths = _panels(np.unique(np.concatenate([even, early])), _MOMENTS_PER_PANEL)
    parts = [_at(problem.domain, entry.panels, features(float(t)), float(t)) for t in moments]
    weights = [w * p.weights for w, p in zip(lengths, parts, strict=True)]
    return TimeRule(np.concatenate([p.points for p in parts]), np.concatenate(weights))


def moment_rule(entry: Timed, value: float, t: float) -> TimeRule:
    """Return the rule over the interval at one moment; its weights sum to the length."""
    domain = entry.problem(value).domain
    return _at(domain, entry.panels, entry.features(value)(t), t)


def _at(domain: Domain, panels: int, features: Sequence[Feature], t: float) -> TimeRule:
    low, high = (float(end) for end in domain.bounds[:, 0])
    periodic = domain.periodic_axes[0]
    even = np.linspace(low, high, panels + 1)
    cuts = [even, *(_cuts(f, low, high, periodic) for f in features)]
    x, weights = _panels(np.unique(np.concatenate(cuts)), _ORDER)
    return TimeRule(np.column_stack([x, np.full(len(x), t)]), weights)


def _panels(cuts: FloatArray, order: int) -> tuple[FloatArray, FloatArray]:
    """Return points and weights of Gauss rules between successive cuts (m + 1,)."""
    (z, w), lengths = gauss(order), np.diff(cuts)[:, None]
    return (cuts[:-1, None] + 0.5 * lengths * (1.0 + z)).ravel(), (lengths * w).ravel()


def _cuts(feature: Feature, low: float, high: float, periodic: bool) -> FloatArray:
    """Return places at doubling distances from a feature that lie in the interval."""
    length = high - low
    doublings = max(1, int(np.ceil(np.log2(length / (_NEXT_TO * feature.width)))))
    away = _NEXT_TO * feature.width * 2.0 ** np.arange(doublings)
    around = feature.position + np.concatenate([-away[::-1], [0.0], away])
    if periodic:
        near = np.abs(around - feature.position) <= 0.5 * length
        around = low + np.mod(around[near] - low, length)
    return around[(around > low) & (around < high)]
