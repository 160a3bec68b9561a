"""Test points in two dimensions and more, dense where a solution is thin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.catalog.measure import Feature
from sharpfront.geometry import Domain

# The nearest points to a feature lie at this part of its width.
FINEST = 1e-3


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
