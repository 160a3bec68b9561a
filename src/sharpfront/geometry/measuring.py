"""Area, extent and corners from the curves of a boundary, and volume from cells."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from sharpfront.geometry.curves import Curve
from sharpfront.geometry.domain import BoundaryPoints, Points

_GAUSS = np.polynomial.legendre.leggauss(8)
_PANELS = 64
_SEEN = 256


def enclosed(curves: Sequence[Curve], about: Points) -> float:
    """Return the area that closed curves enclose, half the integral of (x - about) . n."""
    nodes, weights = _GAUSS
    starts = np.arange(_PANELS)[:, None]
    unit = ((starts + (nodes + 1) / 2) / _PANELS).ravel()
    heavy = np.tile(weights / 2, _PANELS) / _PANELS
    total = 0.0
    for curve in curves:
        found = curve.at(unit * curve.measure)
        flux = np.sum((found.points - about) * found.normals, axis=1)
        total += curve.measure * float(heavy @ flux) / 2
    return total


def extent(curves: Sequence[Curve]) -> Points:
    """Return the lower and upper corner of the box around curves, (2, 2).

    The extremes among samples are approached by zooming in on each of them.
    """
    best = np.array([[np.inf] * 2, [-np.inf] * 2])
    for curve in curves:
        for axis, sign in ((0, 1.0), (1, 1.0), (0, -1.0), (1, -1.0)):
            low, high = 0.0, curve.measure
            for _ in range(4):
                arc = np.linspace(low, high, _SEEN + 1)
                heights = sign * curve.at(arc).points[:, axis]
                at, step = arc[int(np.argmax(heights))], arc[1] - arc[0]
                low, high = max(0.0, at - step), min(curve.measure, at + step)
            row = 1 if sign > 0 else 0
            found = max(sign * best[row, axis], float(heights.max()))
            best[row, axis] = sign * found
    return best


def corners(curves: Sequence[Curve], close: float) -> Points:
    """Return the points where two curves meet with different normals, (k, 2)."""
    from scipy.spatial import cKDTree

    ends = [c.at(np.array([0.0, c.measure])) for c in curves if not c.closed]
    if not ends:
        return np.empty((0, 2))
    every = BoundaryPoints.joined(ends)
    points, normals = every.points, every.normals
    pairs = cKDTree(points).query_pairs(close, output_type="ndarray")
    bent = np.linalg.norm(normals[pairs[:, 0]] - normals[pairs[:, 1]], axis=1) > 1e-6
    found: list[Points] = []
    for point in points[np.unique(pairs[bent, 0])]:
        if all(np.linalg.norm(point - other) > close for other in found):
            found.append(point)
    return np.array(found).reshape(-1, 2)


def measure_by_cells(distance: Callable[[Points], Points], bounds: Points, halvings: int) -> float:
    """Return the measure of a region from cells that are halved where its boundary may pass.

    In the smallest cells the share inside is taken to grow evenly with the distance, which is
    right on average over the directions and places of a boundary in a cell.
    """
    low, high = bounds
    dimension = len(low)
    counts = np.maximum(1, np.rint(8 * (high - low) / np.max(high - low)))
    width = (high - low) / counts
    places = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1)
    middles = low + (places.reshape(-1, dimension) + 0.5) * width
    halves = np.array(list(itertools.product((-0.25, 0.25), repeat=dimension)))
    total = 0.0
    for _ in range(halvings):
        depth = distance(middles)
        doubtful = np.abs(depth) <= np.linalg.norm(width) / 2
        total += float(np.prod(width)) * np.count_nonzero(depth[~doubtful] > 0)
        middles = (middles[doubtful, None, :] + halves * width).reshape(-1, dimension)
        width = width / 2
    shares_inside = np.clip(0.5 + distance(middles) / np.prod(width) ** (1 / dimension), 0, 1)
    return total + float(np.prod(width) * shares_inside.sum())
