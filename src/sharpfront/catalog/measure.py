"""How errors are measured: on grids graded into the features, beside the paper's uniform one.

How errors in time are measured: integrals over space and time that follow the fronts.

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
from sharpfront.geometry import Domain
from sharpfront.mixture import Mixture
from sharpfront.problem import Problem
from sharpfront.problem_file.measure import errors_at

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
    weights = [w * p.weights for w, p in zip(lengths, parts, strict=True)]
    columns = [p.x for p in parts], [p.t for p in parts], weights
    return TimeRule(*map(np.concatenate, columns))


def moment_rule(entry: Timed, value: float, t: float) -> TimeRule:
    """Return the rule over the interval at one moment; its weights sum to the length."""
    domain = entry.problem(value).domain
    return _at(domain, entry.panels, entry.features(value)(t), t)


def _at(domain: Domain, panels: int, features: Sequence[Feature], t: float) -> TimeRule:
    low, high = (float(end) for end in domain.bounds[:, 0])
    periodic = domain.periodic_axes[0]
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


Field = Callable[..., Any]

# The nearest points to a feature lie at this part of its width.
FINEST = 1e-3


@dataclass(frozen=True)
class Feature:
    """A layer, front or spike: where it is and how wide. Used to measure, never to solve."""

    position: float
    width: float


def graded_points(domain: Domain, features: Sequence[Feature], per_side: int = 1000) -> FloatArray:
    """Return points of an interval, geometric down to a thousandth of each feature's width, (m,).

    Each feature gets `per_side` points on either side of it, from a thousandth of its width to
    the whole length, and the domain 1001 uniform ones with both ends.
    """
    low, high = (float(end) for end in domain.bounds[:, 0])
    parts = [np.linspace(low, high, 1001)]
    for feature in features:
        offsets = np.geomspace(feature.width / 1000, high - low, per_side)
        parts.append(feature.position + np.concatenate([-offsets, [0.0], offsets]))
    points = np.unique(np.concatenate(parts))
    return points[(points >= low) & (points <= high)]


def max_error(
    solution: Callable[..., Any],
    exact: Callable[..., Any] | FloatArray,
    points: FloatArray,
    chunk: int = 20_000,
) -> float:
    """Return the largest error at points (m,) of an interval, or (m, d) of a region.

    `errors_at` says how they are looked at; a value that is not a number counts as infinite.
    """
    return float(np.max(errors_at(solution, exact, points, chunk), initial=0.0))


def uniform_rmse(solution: Callable[..., Any], exact: Callable[..., Any], domain: Domain) -> float:
    """Return the root mean square error on 1500 uniform interior points: the paper's measure.

    It does not see a layer thinner than the spacing of its points.
    """
    low, high = (float(end) for end in domain.bounds[:, 0])
    points = np.linspace(low, high, 1502)[1:-1]
    return float(np.sqrt(np.mean((solution(points) - exact(points)) ** 2)))


def mixture_share(
    mixture: Mixture, domain: Domain, features: Sequence[Feature], widths: float = 10.0
) -> float:
    """Return the part of a mixture's mass in the domain that lies near the features.

    Near means within `widths` feature widths; features that overlap are counted once.
    """
    low, high = (float(end) for end in domain.bounds[:, 0])
    spans = sorted((f.position - widths * f.width, f.position + widths * f.width) for f in features)
    near, reached = 0.0, low
    for first, last in spans:
        start, end = max(first, reached), min(last, high)
        if end > start:
            near += mixture.mass(start, end)
            reached = end
    return near / mixture.mass(low, high)


def graded_axis(
    low: float, high: float, features: Sequence[Feature] = (), count: int = 300
) -> FloatArray:
    """Return about `count` points from `low` to `high` for one axis of a tensor grid, (m,).

    A third of the points clusters towards the two ends like the zeros of cosines; the others are
    geometric about the features, from a thousandth of their width to the whole length. Without
    features all points cluster towards the ends.
    """
    inside = [f for f in features if low <= f.position <= high]
    spread = max(2, count // 3) if inside else count
    parts = [low + (high - low) * (1 - np.cos(np.pi * np.arange(spread) / (spread - 1))) / 2]
    sides = [(f, s) for f in inside for s in (-1, 1) if low < f.position + s * f.width < high]
    for feature, sign in sides:
        each = max(2, (count - spread) // len(sides))
        steps = np.geomspace(FINEST * feature.width, high - low, each)
        parts += [np.array([feature.position]), feature.position + sign * steps]
    return np.unique(np.clip(np.concatenate(parts), low, high))


def tensor_points(*axes: FloatArray) -> FloatArray:
    """Return all combinations of the points of some axes, (m, d)."""
    grids = np.meshgrid(*axes, indexing="ij")
    return np.stack([g.ravel() for g in grids], axis=1)


def front_points(
    domain: Domain, feet: FloatArray, normals: FloatArray, width: float, per_side: int = 60
) -> FloatArray:
    """Return points of the domain on and beside a front, (m, d).

    Along the normal of each foot they lie at geometric distances on both sides, from a thousandth
    of the width to the size of the domain, `per_side` on each. Feet and unit normals are (k, d).
    """
    steps = np.geomspace(FINEST * width, np.linalg.norm(np.ptp(domain.bounds, axis=0)), per_side)
    signed = np.concatenate([-steps, [0.0], steps])
    points = (feet[:, None] + signed[None, :, None] * normals[:, None]).reshape(-1, feet.shape[1])
    return points[domain.contains(points)]
