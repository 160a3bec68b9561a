"""How errors are measured: on grids graded into the features, beside the paper's uniform one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.mixture import Mixture
from sharpfront.problem_file.measure import errors_at

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
        parts += [
            np.array([feature.position]),
            feature.position - offsets,
            feature.position + offsets,
        ]
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
    spans = sorted(
        (max(low, f.position - widths * f.width), min(high, f.position + widths * f.width))
        for f in features
    )
    near, reached = 0.0, low
    for start, end in spans:
        start = max(start, reached)
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
