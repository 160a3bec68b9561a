"""Fronts that cross: a parallelogram about each crossing, and strips from one to the next.

The sides of a parallelogram run along both fronts, and it is cut along both as strips are cut
across each. So a crossing takes the same patches whatever the width of the fronts. Strips end on
its sides; they are as thin as the fronts, so that they are straight beside it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.geometry.panel_fits import NODES, PARAMETERS, weights_of
from sharpfront.geometry.panels import Panels
from sharpfront.geometry.shape import needed
from sharpfront.maps import Quadrilateral, Strip
from sharpfront.maps.quadrilateral import Corner, cross
from sharpfront.place.patches.data_probes import Holding
from sharpfront.place.strips.cuts_across import lines_of_front
from sharpfront.place.strips.facing_panels import panel_parts
from sharpfront.place.strips.inner_clearance import ends_on_walls
from sharpfront.place.strips.inner_curves import are_lines_that_cross
from sharpfront.place.strips.ribbons import Ribbon, distances, samples, tree_of
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.tiling.blocks import Block
from sharpfront.rounding import SLIGHT

# Places on a panel between which it is taken for straight when crossings are looked for, and steps
# of Newton's method from there.
ARM_PLACES, ARM_STEPS = np.linspace(-1.0, 1.0, 41), 20


@dataclass(frozen=True, eq=False)
class Crossing:
    """A place at which two curves cross.

    Parameters
    ----------
    place
        Where, (2,).
    curves, at
        Which, and where along each: numbers of panels and shares of these.
    ways
        The directions of both there, (2, 2), the second on the left of the first.
    """

    place: FloatArray
    curves: tuple[int, int]
    at: tuple[float, float]
    ways: FloatArray

    @property
    def sine(self) -> float:
        """The sine of the angle between the curves."""
        return float(cross(self.ways[0], self.ways[1]))

    def tile(self, lines: Sequence[FloatArray], block: Block) -> Block:
        """Return the parallelogram about it, with lines at distances from both curves."""
        across = [np.concatenate([-own[:0:-1], own]) / self.sine for own in lines[::-1]]
        along, up = (
            (own[0] * way, own[-1] * way) for own, way in zip(across, self.ways, strict=True)
        )
        ends = [[self.place + a + b for b in up] for a in along]
        (a, b), (c, d) = (((float(x), float(y)) for x, y in side) for side in ends)
        length, depth = (float(own[-1] - own[0]) for own in across)
        curve, normals = np.zeros((2, NODES, 2))
        curve[:2] = 0.5 * (ends[0][0] + ends[1][0]), 0.5 * (ends[1][0] - ends[0][0])
        normals[0] = -self.ways[1]
        chart = Strip(curve, normals, length, depth, ((a, b), (c, d)))
        shares = [(own - own[0]) / (own[-1] - own[0]) for own in across]
        size = (length, depth)
        cuts = tuple(np.append(s[:-1] * n, n) for s, n in zip(shares, size, strict=True))
        return Block(block.domain, cuts, (), chart, more=(STRIPS.more, STRIPS.more))


class _Stop(NamedTuple):
    """Where a stretch of a curve begins or ends."""

    at: float  # along it, in numbers of panels
    place: FloatArray | None  # where it is to be, if not where the curve is
    along: FloatArray  # along what it ends on, its part along the curve's normal of length one


@dataclass(frozen=True, eq=False)
class Arm:
    """A stretch of a curve between crossings and walls, with strips on both sides.

    Parameters
    ----------
    curve
        Which curve it is of.
    ribbon, lines
        The stretch, with directions along what it ends on, and where strips are cut on either side.
    """

    curve: int
    ribbon: Ribbon
    lines: FloatArray

    def strips(self, tiles: Sequence[Block]) -> tuple[Strip, ...]:
        """Return its strips, with the same corners as those of tiles."""
        depth = float(self.lines[-1])
        corners = [c for tile in tiles for c in _corners_of(tile)]
        tree, near = tree_of(np.array(corners)), 1e-3 * depth

        def same(point: Corner) -> Corner:
            gap, i = tree.query(point)
            return corners[int(i)] if gap < near else point

        out = []
        for strip in self.ribbon.strips(depth, depth):
            assert strip.ends is not None
            first, last = (tuple(same(p) for p in side) for side in strip.ends)
            out.append(replace(strip, ends=((first[0], first[1]), (last[0], last[1]))))
        return tuple(out)


def crossed(
    holding: Holding, block: Block, curves: Sequence[Panels], base: int
) -> tuple[list[Arm], list[Block]] | None:
    """Return strips along fronts that cross, and parallelograms between these.

    None where none cross, or some have no room, or are too sharp or too wide for that.
    """
    found = _met_fronts(curves)
    if not found or min(one.sine for one in found) < STRIPS.steep_enough:
        return None
    lines = [_arm_lines(holding, block, curves, i, base) for i in range(len(curves))]
    size = float(np.ptp(block.domain.bounds, axis=0).max())
    if min(own[1] for own in lines) > STRIPS.charted * size and are_lines_that_cross(curves, size):
        return None
    tiles = [one.tile([lines[i] for i in one.curves], block) for one in found]
    arms: list[Arm] = []
    for i, panels in enumerate(curves):
        own = [one for one in found if i in one.curves]
        parts = _arms(panels, i, own, lines, block)
        if parts is None:
            return None
        arms += [Arm(i, ribbon, lines[i]) for ribbon in parts]
    return (arms, tiles) if _fit(arms, tiles, block) else None


def _met_fronts(curves: Sequence[Panels]) -> list[Crossing]:
    """Return where curves cross."""
    shapely = needed("shapely", "shapely")
    every = [samples(panels, ARM_PLACES)[0] for panels in curves]
    lines = [shapely.LineString(points) for points in every]
    out: list[Crossing] = []
    for i, j in itertools.combinations(range(len(curves)), 2):
        met = shapely.get_coordinates(shapely.intersection(lines[i], lines[j]))
        for place in met:
            start = [_nearest(every[k], place) for k in (i, j)]
            found = _crossing(curves, (i, j), np.array(start))
            if found is not None and not any(_is_same(found, one) for one in out):
                out.append(found)
    return out


def _nearest(points: FloatArray, place: FloatArray) -> float:
    """Return where along a curve, of some points, a place is."""
    number, rest = divmod(int(np.argmin(np.linalg.norm(points - place, axis=1))), len(ARM_PLACES))
    return number + 0.5 * (float(ARM_PLACES[rest]) + 1.0)


def _is_same(one: Crossing, other: Crossing) -> bool:
    near = np.abs(one.place - other.place).max() < 1e-9 * np.abs(one.place).max(initial=1.0)
    return bool(one.curves == other.curves and near)


def _crossing(curves: Sequence[Panels], which: tuple[int, int], at: FloatArray) -> Crossing | None:
    """Return where two curves cross near places along them; None where they only touch."""
    for _ in range(ARM_STEPS):
        (x, a), (y, b) = (_point(curves[k], s) for k, s in zip(which, at.tolist(), strict=True))
        matrix = np.stack([a, -b], axis=1)
        if abs(np.linalg.det(matrix)) < 1e-9 * float(np.linalg.norm(a) * np.linalg.norm(b)):
            return None
        at = at + np.linalg.solve(matrix, y - x)
    ways = np.stack([a / np.linalg.norm(a), b / np.linalg.norm(b)])
    if cross(ways[0], ways[1]) < 0.0:
        ways[1] *= -1.0
    return Crossing(0.5 * (x + y), which, (float(at[0]), float(at[1])), ways)


def _point(panels: Panels, at: float) -> tuple[FloatArray, FloatArray]:
    """Return a point of a curve and its derivative along numbers of panels."""
    count = len(panels.parts)
    number = (
        int(np.floor(at)) % count if panels.closed else int(np.clip(np.floor(at), 0, count - 1))
    )
    rest = at - np.floor(at) if panels.closed else at - number
    which, t = np.array([number]), np.array([2.0 * rest - 1.0])
    return panels.at(which, t)[0], 2.0 * panels.slopes(which, t)[0]


def _arm_lines(
    holding: Holding, block: Block, curves: Sequence[Panels], which: int, base: int
) -> FloatArray:
    """Return where to cut strips on either side of a curve, as distances from it.

    As far as data are narrow, seen from where other curves are farthest.
    """
    points, normals = samples(curves[which])
    others = [tree_of(samples(p, ARM_PLACES)[0]) for k, p in enumerate(curves) if k != which]
    gaps = np.min([block.domain.distance(points), *(distances(t, points) for t in others)], axis=0)
    far = np.argsort(-gaps)[: STRIPS.looked]
    reach = 0.5 * float(gaps[far].min())
    charts = []
    for x, outwards in zip(points[far], reach * normals[far], strict=True):
        for up in (outwards, -outwards):
            half = 0.5 * np.array([up[1], -up[0]])
            ring = np.array([x - half, x + half, x + half + up, x - half + up]).tolist()
            a, b, c, d = ((p, q) for p, q in ring)
            charts.append(Quadrilateral((a, b, c, d)))
    return lines_of_front(holding, charts, base)


def _arms(
    panels: Panels,
    which: int,
    found: Sequence[Crossing],
    lines: Sequence[FloatArray],
    block: Block,
) -> list[Ribbon] | None:
    """Return the parts of a curve between crossings and walls.

    None where it ends elsewhere, or two crossings are too close.
    """
    stops: list[_Stop] = []
    for one in sorted(found, key=lambda one: one.at[one.curves.index(which)]):
        k = one.curves.index(which)
        half = float(lines[one.curves[1 - k]][-1]) / one.sine
        stops += _stops(panels, one, k, half)
    if not panels.closed:
        walls = ends_on_walls(panels, block)
        if any(end is None for end in walls):
            return None
        first, last = (end.along for end in walls if end is not None)
        stops = [_Stop(0.0, None, first), *stops, _Stop(float(len(panels.parts)), None, last)]
    elif not stops:
        return [Ribbon(panels, panels.normals)]
    else:
        again = stops[0]._replace(at=stops[0].at + len(panels.parts))
        stops = [*stops[1:], again]
    pairs = list(zip(stops[::2], stops[1::2], strict=True))
    if any(stop.at <= start.at for start, stop in pairs):
        return None
    return [_arm(panels, pair, float(lines[which][-1])) for pair in pairs]


def _stops(panels: Panels, one: Crossing, which: int, half: float) -> list[_Stop]:
    """Return where a curve enters and leaves the parallelogram about a crossing."""
    way, other = one.ways[which], one.ways[1 - which]
    if _point(panels, one.at[which])[1] @ way < 0.0:
        way = -way
    out = []
    for away in (-half * way, half * way):
        at = one.at[which]
        for _ in range(ARM_STEPS):
            x, slope = _point(panels, at)
            at -= float(cross(x - one.place - away, other) / cross(slope, other))
        out.append(_Stop(at, one.place + away, other / one.sine))
    return out


def _arm(panels: Panels, ends: tuple[_Stop, _Stop], depth: float) -> Ribbon:
    """Return a stretch of a curve, with directions along what it ends on.

    Beside a parallelogram, which is straight, so is the stretch.
    """
    which, points = _stretch(panels, ends[0].at, ends[1].at)
    lengths = np.linalg.norm(np.diff(points, axis=1), axis=2).sum(axis=1)
    fading = _fading(lengths, depth), _fading(lengths[::-1], depth)[::-1, ::-1]
    places = ((0, -1.0), (len(which) - 1, 1.0))
    for end, own, (panel, t) in zip(ends, fading, places, strict=True):
        if end.place is not None:
            here = panels.reshaped(which, weights_of(points)).at(np.array([panel]), np.array([t]))
            points = points + own[:, :, None] * (end.place - here[0])
    arm = panels.reshaped(which, weights_of(points))
    every = np.repeat(np.arange(len(which)), NODES)
    found, _ = arm.boundary(every, np.tile(PARAMETERS, len(which)))
    outwards = found.normals.reshape(-1, NODES, 2)
    for end, own, (panel, t) in zip(ends, fading, places, strict=True):
        normal = arm.boundary(np.array([panel]), np.array([t]))[0].normals[0]
        along = end.along * np.sign(end.along @ normal)
        outwards = outwards + own[:, :, None] * (along - normal)
    return Ribbon(arm, weights_of(outwards))


def _stretch(panels: Panels, start: float, stop: float) -> tuple[Ints, FloatArray]:
    """Return which panels a stretch of a curve has, and its points at the nodes of new ones."""
    if np.abs(panels.curvatures[1]).max() * float(np.ptp(panels.weights[:, 0])) < SLIGHT:
        (a, _), (b, _) = _point(panels, start), _point(panels, stop)
        shares = 0.5 * (PARAMETERS[:, None] + 1.0)
        return np.zeros(1, dtype=np.int64), (a + shares * (b - a))[None]
    parts = panel_parts(start, stop, (0, len(panels.parts)))
    which, low, high = map(np.array, zip(*parts, strict=True))
    t = 0.5 * (low[:, None] * (1 - PARAMETERS) + high[:, None] * (1 + PARAMETERS))
    points = panels.at(np.repeat(which, NODES), t.ravel()).reshape(-1, NODES, 2)
    return which, points


def _fading(lengths: FloatArray, depth: float) -> FloatArray:
    """Return what falls from one to zero over panels at the start of a stretch, (n, NODES).

    Over so many that a strip of some depth does not fold, quadratically along these.
    """
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    far = ends[min(int(np.searchsorted(ends, STRIPS.beside_room * depth)), len(lengths))]
    along = ends[:-1, None] + lengths[:, None] * 0.5 * (PARAMETERS + 1.0)
    return np.asarray(np.maximum(1.0 - along / far, 0.0) ** 2)


def _corners_of(tile: Block) -> tuple[Corner, ...]:
    assert isinstance(tile.chart, Strip)
    (a, b), (c, d) = tile.chart.edge(0, 0), tile.chart.edge(0, 1)
    return a, c, d, b


def _fit(arms: Sequence[Arm], tiles: Sequence[Block], block: Block) -> bool:
    """Tell whether strips and parallelograms lie in the domain, and none folds or meets another."""
    shapely = needed("shapely", "shapely")
    every = [shapely.Polygon(_corners_of(tile)) for tile in tiles]
    for arm in arms:
        depth = float(arm.lines[-1])
        sides = [arm.ribbon.side(d, ARM_PLACES) for d in (-depth, depth)]
        if arm.ribbon.is_closed:
            outer, inner = sorted(map(shapely.Polygon, sides), key=shapely.area, reverse=True)
            every.append(shapely.difference(outer, inner))
        else:
            every.append(shapely.Polygon(np.concatenate([sides[0], sides[1][::-1]])))
    if not all(shapely.is_valid(every)):
        return False
    pairs = itertools.combinations(every, 2)
    apart = (
        shapely.area(shapely.intersection(a, b)) <= SLIGHT * min(shapely.area([a, b]))
        for a, b in pairs
    )
    whole = shapely.box(*block.domain.bounds.ravel())
    beyond = shapely.area(shapely.difference(every, whole))
    return bool(np.all(beyond <= SLIGHT * shapely.area(every))) and all(apart)
