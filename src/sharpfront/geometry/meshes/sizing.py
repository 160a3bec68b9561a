"""How close the nodes of a mesh must lie: even, and closer at small parts of the boundary.

A hole, a gap or a bend that is smaller than the spacing would fall between the nodes, and the
elements would not know of it. The boundary is looked at piece by piece, and the spacing grows with
the distance from whatever is small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import BoundaryPoints, Domain
from sharpfront.geometry.curves import Piece

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# The spacing grows by this share of the distance from what is small: triangles stay good, and a
# hole of a ten-thousandth of the domain costs about a thousand nodes in the plane.
GROWTH = 0.35
# Nodes across a hole, which makes 25 around it; across a gap; to a radius of curvature; and along
# the smallest part, by dimension of the part.
ACROSS, IN_GAP, TO_RADIUS, ALONG = 8.0, 3.0, 4.0, 5.0
# Places looked at on the boundary for a piece as large as the domain, and on each piece at least
# and at most.
SEEN = {2: 200, 3: 1000}
LEAST_MOST_SEEN = {2: (8, 2000), 3: (24, 2000)}
# Candidates for each node of the boundary that are thinned to the local spacing, and the most.
CANDIDATES, MOST_CANDIDATES = 4, 40_000
# The smallest hole that is looked for by the size of the domain, and the ratio of two lengths
# that are tried one after the other.
SMALLEST, RATIO = 1e-6, 1.5


@dataclass(frozen=True, eq=False)
class Sizing:
    """The distance between neighbouring nodes, as a function of the place."""

    spacing: float  # where nothing is small
    # Of what is small, (k, d) and (k,).
    places: FloatArray
    sizes: FloatArray

    @property
    def even(self) -> bool:
        """Whether nothing is small."""
        return not len(self.sizes)

    @cached_property
    def _classes(self) -> Sequence[tuple[float, cKDTree]]:
        """Trees of the places of about the same size."""
        from scipy.spatial import cKDTree

        levels = np.floor(np.log2(self.sizes)).astype(int)
        found = []
        for level in np.unique(levels):
            mine = levels == level
            found.append((float(self.sizes[mine].min()), cKDTree(self.places[mine])))
        return found

    def __call__(self, places: FloatArray) -> FloatArray:
        """Return the spacing at places, (m,)."""
        out = np.full(len(places), self.spacing)
        if not self.even:
            for size, tree in self._classes:
                reach = (self.spacing - size) / GROWTH
                away, _ = tree.query(places, distance_upper_bound=reach)
                out = np.minimum(out, np.where(np.isfinite(away), size + GROWTH * away, np.inf))
        return out


@dataclass(frozen=True, eq=False)
class _Look:
    """What was seen at places on a boundary, whatever the mesh."""

    points: FloatArray  # where, (m, d)
    lengths: FloatArray  # the spacing for the curvature and for the smallest part, (m,)
    # What is met along the normal, first outwards and then inwards, (2, m, d); NaN if nothing.
    opposite: FloatArray


def sizing_of(domain: Domain, spacing: float) -> Sizing:
    """Return the spacing of a mesh that knows every part of the boundary."""
    look = _looked(domain)
    sizes = look.lengths
    for across, there in zip((ACROSS, IN_GAP), look.opposite, strict=True):
        away = np.linalg.norm(there - look.points, axis=1)
        sizes = np.minimum(sizes, np.where(np.isnan(away), np.inf, away / across))
    small = sizes < spacing
    return Sizing(spacing, look.points[small], sizes[small])


@lru_cache(maxsize=8)
def _looked(domain: Domain) -> _Look:
    seen, lengths = [], []
    size = float(np.ptp(domain.bounds, axis=0).max())
    for part in domain.parts:
        pieces = domain.smooth_pieces(part)
        whole = sum(p.measure for p in pieces) ** (1 / (domain.dimension - 1)) / ALONG
        for piece in pieces:
            seen.append(_seen(piece, domain.dimension, size))
            lengths.append(np.minimum(_bends(seen[-1]), min(whole, size)))
    points = np.concatenate([look.points for look in seen])
    places = BoundaryPoints(points, np.concatenate([look.normals for look in seen]))
    opposite = np.stack([_met(domain, places, sign, size) for sign in (1.0, -1.0)])
    return _Look(points, np.concatenate(lengths), opposite)


def _seen(piece: Piece, dimension: int, size: float) -> BoundaryPoints:
    """Return places on a piece: few on a short straight one, of which a polygon may have many."""
    count = math.ceil(SEEN[dimension] * piece.measure / size ** (dimension - 1))
    seen = piece.spread(int(np.clip(count, *LEAST_MOST_SEEN[dimension])), 0)
    straight = bool(np.all(np.abs(seen.normals - seen.normals[0]) < 1e-12))
    return piece.spread(2, 0) if straight and count < 2 and dimension == 2 else seen


def _bends(seen: BoundaryPoints) -> FloatArray:
    """Return the spacing for the curvature of a smooth piece at places on it, (m,).

    Of the neighbours those count that have turned less: beside an edge some are on the same side.
    """
    from scipy.spatial import cKDTree

    count = 2 if seen.points.shape[1] == 2 else 6
    if len(seen.points) <= count:
        return np.full(len(seen.points), np.inf)
    found = cKDTree(seen.points).query(seen.points, k=count + 1)
    away, near = np.asarray(found[0]), np.asarray(found[1])
    turned = np.linalg.norm(seen.normals[near[:, 1:]] - seen.normals[:, None], axis=2)
    bend = np.sort(turned / np.maximum(away[:, 1:], 1e-300), axis=1)[:, (count - 1) // 2]
    return np.asarray(1.0 / np.maximum(TO_RADIUS * bend, 1e-300))


def _met(domain: Domain, seen: BoundaryPoints, sign: float, size: float) -> FloatArray:
    """Return where a way along the normal leaves what it is in: a hole, or the domain itself."""
    out = np.full(seen.points.shape, np.nan)
    going = np.arange(len(out))
    for length in size * SMALLEST * RATIO ** np.arange(math.log(1 / SMALLEST, RATIO)):
        there = seen.points[going] + sign * length * seen.normals[going]
        met = domain.contains(there) == (sign > 0)
        out[going[met]] = there[met]
        going = going[~met]
    return out


def rim_points(domain: Domain, sizing: Sizing) -> list[FloatArray]:
    """Return the nodes of each part of the boundary, (n, d) each."""
    from scipy.spatial import cKDTree

    nodes, corners = [], domain.corners.reshape(-1, domain.dimension)
    for part in domain.parts:
        if sizing.even:
            even = sizing.spacing ** (domain.dimension - 1)
            count = math.ceil(domain.boundary_measure(part) / even)
            nodes.append(domain.boundary(part, count).points)
            continue
        for piece in domain.smooth_pieces(part):
            points = _candidates(piece, domain.dimension, sizing)
            sizes = sizing(points)
            if len(corners):
                # Corners are nodes already.
                apart = cKDTree(corners).query(points)[0] > 0.5 * sizes
                points, sizes = points[apart], sizes[apart]
            nodes.append(points[_thinned(points, sizes)])
    return nodes


def _candidates(piece: Piece, dimension: int, sizing: Sizing) -> FloatArray:
    """Return points of a piece, some for each node that it will have."""
    closest = float(sizing(piece.spread(SEEN[dimension], 0).points).min())
    count = CANDIDATES * piece.measure / closest ** (dimension - 1)
    return piece.spread(int(np.clip(math.ceil(count), 2 * CANDIDATES, MOST_CANDIDATES)), 0).points


def _thinned(points: FloatArray, sizes: FloatArray) -> list[int]:
    """Return indices of points no two of which are closer than their spacing, in their order."""
    from scipy.spatial import cKDTree

    if not len(points):
        return []
    tree = cKDTree(points)
    free = np.ones(len(points), dtype=bool)
    kept = []
    for i in range(len(points)):
        if free[i]:
            kept.append(i)
            free[tree.query_ball_point(points[i], 0.8 * sizes[i])] = False
    return kept
