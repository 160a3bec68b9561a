"""Where to look if it is known what is sharp: points graded into features."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain

# The nearest points to a feature lie at this part of its width.
_FINEST = 1e-3
# Boundary points are drawn in by this part of the domain's size: rounding must not put them out.
_INSET = 1e-12


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
    near = [f.position + _both_sides(f.width, high - low, per_side) for f in features]
    points = np.unique(np.concatenate([np.linspace(low, high, 1001), *near]))
    return points[(points >= low) & (points <= high)]


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
        steps = _both_sides(feature.width, high - low, each)
        parts.append(feature.position + sign * steps[each:])
    return np.unique(np.clip(np.concatenate(parts), low, high))


def tensor_points(*axes: FloatArray) -> FloatArray:
    """Return all combinations of the points of some axes, (m, d)."""
    return np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)


def front_points(
    domain: Domain, feet: FloatArray, normals: FloatArray, width: float, per_side: int = 60
) -> FloatArray:
    """Return points of the domain on and beside a front, (m, d).

    Along the normal of each foot they lie at geometric distances on both sides, from a thousandth
    of the width to the size of the domain, `per_side` on each. Feet and unit normals are (k, d).
    """
    extent = float(np.linalg.norm(np.ptp(domain.bounds, axis=0)))
    steps = _both_sides(width, extent, per_side)
    points = (feet[:, None] + steps[None, :, None] * normals[:, None]).reshape(-1, feet.shape[1])
    return points[domain.contains(points)]


def cloud(domain: Domain, count: int = 20_000) -> FloatArray:
    """Return quasi-random points of the domain and of each part of its boundary, (m, d).

    A box also gives its corners, which no draw hits.
    """
    each = max(10, int(np.sqrt(count)) * domain.dimension)
    inset = _INSET * float(np.max(np.ptp(domain.bounds, axis=0)))
    parts = [domain.sample(count)]
    for part in domain.parts:
        on = domain.boundary(part, each)
        parts.append(on.points - inset * on.normals)
    if domain.is_box:
        parts.append(np.array(list(itertools.product(*domain.bounds.T))))
    points = np.concatenate(parts)
    return points[domain.contains(points)]


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


def _both_sides(width: float, reach: float, per_side: int) -> FloatArray:
    """Return signed distances, geometric from a part of a width to a reach, with zero between."""
    steps = np.geomspace(_FINEST * width, reach, per_side)
    return np.concatenate([-steps[::-1], [0.0], steps])
