"""Polygons in convex quadrilaterals, each side of one the whole side of another or on the boundary.

Around a corner patches are graded in every quadrilateral that has it, so few should: at best one
for a corner that points outwards. Two ways are tried, and the one with the fewest is taken:

- a centre that sees all corners is linked with those that are blunt or point inwards, and with the
  middles of the sides between two others;
- triangles between the corners are joined to convex pieces. Where all have four sides that is all;
  else each is cut around its corners, from its centre to the middles of all its sides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.geometry.shape import needed
from sharpfront.maps import Quadrilateral
from sharpfront.maps.quadrilateral import Corner
from sharpfront.place.tiling.settings import TILING

Edge = frozenset[Corner]
Ring = tuple[Corner, ...]
# Which points, (m, 2), lie in a region.
Inside = Callable[[FloatArray], NDArray[np.bool_]]


def quadrilaterals(
    inside: Inside, sides: Sequence[Edge], cuts: Sequence[Edge], corners: Set[Corner]
) -> tuple[list[Quadrilateral], dict[Edge, Edge]]:
    """Return charts that tile a region, and the side of the region that each half side is of.

    The region has straight sides; cuts go from side to side inside, and no chart lies across them.
    Patches are graded into some of the corners.
    """
    polygons = _polygons(inside, [*sides, *cuts])
    ways = [_in_pieces(_triangles(polygons), set(cuts))]
    if len(polygons) == 1:
        ways += _around_centre(polygons[0])

    def cost(rings: Sequence[Ring]) -> tuple[float, int]:
        # A chart that is cut towards a corner has in the end several times the patches of one that
        # is not; any factor above one makes the same choice on all shapes tried.
        at = sum(corner in corners for ring in rings for corner in ring)
        blunt = max(_angles(ring).max() for ring in rings)
        return max(float(blunt), TILING.blunt), len(rings) + 2 * at

    rings = min(ways, key=cost)
    halves = {frozenset({end, _mean(tuple(side))}): side for side in sides for end in side}
    return [Quadrilateral((ring[0], ring[1], ring[2], ring[3])) for ring in rings], halves


def _polygons(inside: Inside, sides: Sequence[Edge]) -> FloatArray:
    """Return the polygons of shapely that make up a region."""
    shapely = needed("shapely", "shapely")
    lines = [shapely.LineString(sorted(side)) for side in sides]
    found = shapely.get_parts(shapely.polygonize(lines))
    inner = [shapely.get_coordinates(shapely.point_on_surface(p))[0] for p in found]
    return np.asarray(found[inside(np.array(inner).reshape(-1, 2))])


def _triangles(polygons: FloatArray) -> list[Ring]:
    """Return triangles between the corners of polygons, each anticlockwise."""
    shapely = needed("shapely", "shapely")
    found = shapely.constrained_delaunay_triangles(polygons)
    return [_ring(shapely.get_coordinates(t)) for t in shapely.get_parts(found)]


def _ring(coordinates: FloatArray) -> Ring:
    """Return a closed ring of coordinates, anticlockwise and with its first corner once."""
    ring = tuple((float(x), float(y)) for x, y in coordinates[:-1])
    area = sum(a[0] * b[1] - a[1] * b[0] for a, b in _around(ring))
    return ring if area > 0 else ring[::-1]


def _in_pieces(triangles: Sequence[Ring], cuts: set[Edge]) -> list[Ring]:
    """Return the quadrilaterals of triangles joined to convex pieces, but not across cuts."""
    pieces = _joined(triangles, cuts)
    if all(len(ring) == 4 for ring in pieces):
        return pieces
    return [part for ring in pieces for part in _cut(ring)]


def _joined(triangles: Sequence[Ring], cuts: set[Edge]) -> list[Ring]:
    """Return triangles joined across their longest sides while the pieces can still be cut well."""
    pieces = dict(enumerate(triangles))
    beside: dict[Edge, list[int]] = {}
    for i, ring in pieces.items():
        for side in _around(ring):
            beside.setdefault(frozenset(side), []).append(i)
    inner = [edge for edge, both in beside.items() if len(both) == 2 and edge not in cuts]
    for edge in sorted(inner, key=lambda e: (-math.dist(*e), sorted(e))):
        i, j = beside[edge]
        ring = _union(pieces[i], pieces[j], edge)
        parts = [ring, *_cut(ring)] if len(set(ring)) == len(ring) else []
        if not parts or max(_angles(part).max() for part in parts) > TILING.blunt:
            continue
        pieces[i] = ring
        for side in _around(pieces.pop(j)):
            both = beside[frozenset(side)]
            both[:] = [i if k == j else k for k in both]
    return list(pieces.values())


def _union(one: Ring, other: Ring, edge: Edge) -> Ring:
    """Return two rings with a common side as one."""

    def opened(ring: Ring) -> Ring:
        k = next(i for i, side in enumerate(_around(ring)) if frozenset(side) == edge)
        return ring[k + 1 :] + ring[: k + 1]

    return opened(one) + opened(other)[1:-1]


def _around_centre(polygon: object) -> list[list[Ring]]:
    """Return the quadrilaterals around a centre that sees all corners, if there is one."""
    shapely = needed("shapely", "shapely")
    ring = _ring(shapely.get_coordinates(polygon))
    if shapely.get_num_interior_rings(polygon):
        return []
    seeing = polygon
    size = 2.0 * shapely.length(polygon)
    for start, stop in np.array(_around(ring)):
        along = (stop - start) / np.linalg.norm(stop - start)
        left = np.array([-along[1], along[0]])
        far = [start - size * along, start + size * along]
        half = shapely.Polygon([far[0], far[1], far[1] + size * left, far[0] + size * left])
        seeing = shapely.intersection(seeing, half)
    if shapely.area(seeing) == 0.0:
        return []
    x, y = shapely.get_coordinates(shapely.centroid(seeing))[0]
    return _linked(ring, (float(x), float(y)))


def _linked(ring: Ring, centre: Corner) -> list[list[Ring]]:
    """Return the quadrilaterals between links from a centre to a ring, one corner in each."""
    linked = _angles(ring) > TILING.blunt
    points: list[tuple[Corner, bool]] = []
    for i, corner in enumerate(ring):
        after = (i + 1) % len(ring)
        points.append((corner, bool(linked[i])))
        if linked[i] and linked[after]:
            return []
        if not linked[i] and not linked[after]:
            points.append((_mean((corner, ring[after])), True))
    n = len(points)
    return [
        [
            (centre, points[i - 1][0], points[i][0], points[(i + 1) % n][0])
            for i in range(n)
            if not points[i][1]
        ]
    ]


def _angles(ring: Ring) -> FloatArray:
    """Return the angle inside at each corner of an anticlockwise ring, in degrees."""
    points = np.array(ring)
    after = np.roll(points, -1, axis=0) - points
    before = np.roll(points, 1, axis=0) - points
    cross = after[:, 0] * before[:, 1] - after[:, 1] * before[:, 0]
    return np.asarray(np.degrees(np.arctan2(cross, np.sum(after * before, axis=1))) % 360.0)


def _cut(ring: Ring) -> list[Ring]:
    """Return the parts of a ring around its corners, between the middles of its sides."""
    shapely = needed("shapely", "shapely")
    x, y = shapely.get_coordinates(shapely.centroid(shapely.Polygon(ring)))[0]
    middles = [_mean(side) for side in _around(ring)]
    return [
        (corner, middles[i], (float(x), float(y)), middles[i - 1]) for i, corner in enumerate(ring)
    ]


def _around(ring: Ring) -> list[tuple[Corner, Corner]]:
    return list(itertools.pairwise((*ring, ring[0])))


def _mean(side: tuple[Corner, ...]) -> Corner:
    # Sorted, so that the middle of a side is the same number from both its neighbours.
    x, y = np.mean(sorted(side), axis=0)
    return float(x), float(y)
