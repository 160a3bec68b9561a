"""How errors in time are measured: integrals over space and time that follow the fronts.

A grid of even points does not see a thin front, and a fixed graded one loses it when it moves. The
rule here is of Gauss type on panels that are cut anew at every moment: geometric about each front,
and geometric in time towards the start, where the solution may change fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.catalog.measure import Feature, Field
from sharpfront.geometry import Box, Domain
from sharpfront.problem import Problem

_ORDER = 6
_MOMENTS_PER_PANEL = 4
_EVEN_TIMES = 16
# The first panel of time ends after this part of an even one.
_FIRST_TIME = 4.0**-8
# The panels next to a front are this part of its width.
_FINEST = 0.25


@dataclass(frozen=True, eq=False)
class TimeRule:
    """Points of space-time with weights: ``sum(weights * f(x, t))`` is the integral of f.

    All are arrays (m,), in the order of time.
    """

    x: FloatArray
    t: FloatArray
    weights: FloatArray


@dataclass(frozen=True)
class TimeErrors:
    """Errors over space and time, those of the unknown for which they are largest."""

    relative: float  # the norm of the error over that of the exact solution, in L2 of space-time
    largest: float  # at a point of the rule


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
    moments, lengths = _gauss(np.unique(np.concatenate([even, early])), _MOMENTS_PER_PANEL)
    parts = [_at(problem.domain, entry.panels, features(float(t)), float(t)) for t in moments]
    return TimeRule(
        np.concatenate([p.x for p in parts]),
        np.concatenate([p.t for p in parts]),
        np.concatenate([w * p.weights for w, p in zip(lengths, parts, strict=True)]),
    )


def moment_rule(entry: Timed, value: float, t: float) -> TimeRule:
    """Return the rule over the interval at one moment; its weights sum to the length."""
    domain = entry.problem(value).domain
    return _at(domain, entry.panels, entry.features(value)(t), t)


def _at(domain: Domain, panels: int, features: Sequence[Feature], t: float) -> TimeRule:
    low, high = (float(end) for end in domain.bounds[:, 0])
    periodic = isinstance(domain, Box) and domain.periodic_axes[0]
    even = np.linspace(low, high, panels + 1)
    cuts = [even, *(_cuts(f, low, high, periodic) for f in features)]
    x, weights = _gauss(np.unique(np.concatenate(cuts)), _ORDER)
    return TimeRule(x, np.full(len(x), t), weights)


def measure(found: Any, exact: Field | Mapping[str, Field], rule: TimeRule) -> TimeErrors:
    """Return the errors of a solution, or of a function or a mapping of functions, over a rule.

    A value that is not a number counts as an infinite error.
    """
    names = list(exact) if isinstance(exact, Mapping) else ["u"]
    truth, tried = _by_name(exact, names), _by_name(found, names)
    each = [_errors(tried[n], truth[n], rule) for n in names]
    return TimeErrors(max(e.relative for e in each), max(e.largest for e in each))


def steepest(f: Callable[[FloatArray], Any], low: float, high: float, count: int = 2001) -> Feature:
    """Return where a function of x changes fastest, and its jump over its slope there.

    For the features of a solution without a formula for them: to a tenth of a width is enough.
    """
    for _ in range(6):
        x = np.linspace(low, high, count)
        values = np.asarray(f(x), dtype=float)
        slopes = np.abs(np.diff(values)) / np.diff(x)
        i = int(np.argmax(slopes))
        position, width = 0.5 * (x[i] + x[i + 1]), float(np.ptp(values) / slopes[i])
        if width > 20 * (x[1] - x[0]):
            break
        low, high = max(low, x[max(i - 3, 0)]), min(high, x[min(i + 4, count - 1)])
    return Feature(float(position), width)


def _errors(found: Field, exact: Field, rule: TimeRule) -> TimeErrors:
    true = np.asarray(exact(rule.x, rule.t), dtype=float)
    gap = np.asarray(found(rule.x, rule.t), dtype=float) - true
    if not np.isfinite(gap).all():
        return TimeErrors(np.inf, np.inf)
    norm, size = (float(np.sqrt(np.sum(rule.weights * f**2))) for f in (gap, true))
    return TimeErrors(norm / size, float(np.max(np.abs(gap))))


def _by_name(thing: Any, names: Sequence[str]) -> Mapping[str, Field]:
    if isinstance(thing, Mapping):
        return thing
    return {names[0]: thing} if len(names) == 1 else {n: getattr(thing, n) for n in names}


def _gauss(cuts: FloatArray, order: int) -> tuple[FloatArray, FloatArray]:
    """Return points and weights of Gauss rules between successive cuts (m + 1,)."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    half = 0.5 * np.diff(cuts)
    points = cuts[:-1, None] + half[:, None] * (1.0 + nodes)
    return points.ravel(), (half[:, None] * weights).ravel()


def _cuts(feature: Feature, low: float, high: float, periodic: bool) -> FloatArray:
    """Return places at doubling distances from a feature that lie in the interval."""
    length = high - low
    doublings = max(1, int(np.ceil(np.log2(length / (_FINEST * feature.width)))))
    away = _FINEST * feature.width * 2.0 ** np.arange(doublings)
    around = feature.position + np.concatenate([-away[::-1], [0.0], away])
    if periodic:
        near = np.abs(around - feature.position) <= 0.5 * length
        around = low + np.mod(around[near] - low, length)
    return around[(around > low) & (around < high)]
