"""Boxes that tile a domain whose boundary is made of straight pieces, in charts where slanted."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.patchwork.charts import quadrilaterals
from sharpfront.adapt.patchwork.solids import Wall, edges_of, lattice_of
from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.geometry import Box, Domain
from sharpfront.geometry.curves import Curve, Cut, Segment
from sharpfront.maps import AxisMap, Quadrilateral
from sharpfront.rows.faces import Side, faces_of

# Places that differ by less than this share of the domain are one: ends of cut curves are found by
# bisection.
ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class Block:
    """Boxes between lines: of the whole domain, or of one chart.

    Parameters
    ----------
    domain
        The domain.
    lines
        Where it is cut along each axis: ends of sides, changes of conditions.
    walls
        Axis-parallel pieces of boundary: axis of the normal, place, extent along the other axes,
        name of the part.
    chart
        Where given, lines and walls are in its coordinates.
    """

    domain: Domain
    lines: tuple[FloatArray, ...]
    walls: tuple[Wall, ...]
    chart: Quadrilateral | None = None

    def in_space(self, positions: FloatArray) -> FloatArray:
        """Return the points of space at positions, (m, d)."""
        return positions if self.chart is None else self.chart.points(positions)

    def inside(self, positions: FloatArray) -> NDArray[np.bool_]:
        """Tell which positions lie in the domain."""
        return self.domain.contains(self.in_space(positions))

    def boxes(self, lines: Sequence[FloatArray]) -> list[tuple[FloatArray, FloatArray]]:
        """Return the boxes between lines that lie in the domain, as lower and upper corners."""
        sides = [list(itertools.pairwise(x.tolist())) for x in lines]
        found = [
            (np.array([s[0] for s in box]), np.array([s[1] for s in box]))
            for box in itertools.product(*sides)
        ]
        middle = np.stack([0.5 * (low + high) for low, high in found])
        return [box for box, keep in zip(found, self.inside(middle), strict=True) if keep]

    def ends(self, wall: Wall) -> FloatArray:
        """Return the two ends of a wall of a block in the plane, in space, (2, 2)."""
        axis, place, low, high, _ = wall
        positions = np.full((2, 2), place)
        positions[:, 1 - axis] = low[0], high[0]
        return self.in_space(positions)

    def wall(self, patch: Patch, side: Side) -> str:
        """Return the part of the boundary that a side lies on; empty if it lies on none."""
        place = patch.high[side.axis] if side.end else patch.low[side.axis]
        middle = 0.5 * (patch.low + patch.high)
        rest = [a for a in range(patch.dimension) if a != side.axis]
        for axis, where, low, high, part in self.walls:
            if axis == side.axis and where == place:
                at = middle[rest]
                if np.all(at >= low) and np.all(at <= high):
                    return part
        return ""


@dataclass(frozen=True, eq=False)
class Tiling:
    """How a domain is cut before anything is known of the solution.

    Parameters
    ----------
    domain
        The domain.
    blocks
        One, or one for each chart.
    marked
        Points that count as corners, none by default.
    """

    domain: Domain
    blocks: tuple[Block, ...]
    marked: tuple[tuple[float, ...], ...] = ()

    @property
    def periods(self) -> tuple[float | None, ...]:
        """The period along each axis, None where the ends are not joined."""
        low, high = self.domain.bounds
        joined = self.domain.periodic_axes
        return tuple(float(b - a) if j else None for a, b, j in zip(low, high, joined, strict=True))

    @cached_property
    def corners(self) -> FloatArray:
        """Corners of the domain, marked points, and where one part of the boundary ends, (k, d).

        Where a condition changes on a straight side, solutions are as singular as at a corner. In
        space the lines on which edges lie: NaN along the line.
        """
        marked = np.array(self.marked).reshape(-1, self.domain.dimension)
        if self.domain.dimension > 2:
            return np.concatenate([edges_of(self.blocks[0].walls), marked])
        known = np.concatenate([self.domain.corners, marked])
        if self.domain.dimension != 2 or any(self.domain.periodic_axes):
            return known
        parts: dict[tuple[float, ...], set[str]] = {}
        for block in self.blocks:
            for wall in block.walls:
                for end in block.ends(wall).tolist():
                    parts.setdefault(tuple(end), set()).add(wall[4])
        changes = np.array([end for end, named in parts.items() if len(named) > 1]).reshape(-1, 2)
        near = ROUNDING * float(np.ptp(self.domain.bounds, axis=0).max())
        gaps = np.abs(changes[:, None] - known).max(axis=2).min(axis=1, initial=np.inf)
        return np.concatenate([known, changes[gaps > near]])

    @cached_property
    def _of_chart(self) -> dict[Quadrilateral | None, Block]:
        return {block.chart: block for block in self.blocks}

    def parts(self, patches: Sequence[Patch], sides: Sequence[Side]) -> dict[Side, str]:
        """Return the part of the boundary that each side lies on."""
        own = [patches[side.patch] for side in sides]
        return {
            side: self._of_chart[patch.chart].wall(patch, side)
            for side, patch in zip(sides, own, strict=True)
        }


@lru_cache(maxsize=16)
def tiling_of(domain: Domain) -> Tiling | None:
    """Return how to tile a domain; None where its boundary is not made of straight pieces."""
    if isinstance(domain, Box):
        return Tiling(domain, (_box(domain),))
    if domain.dimension != 2:
        found = lattice_of(domain)
        return found and Tiling(domain, (Block(domain, *found),))
    pieces: Mapping[str, Sequence[object]] = getattr(domain, "pieces_in", lambda _: {})(None)
    sides = [(_ends(curve), part) for part, curves in pieces.items() for curve in curves]
    straight = [(ends, part) for ends, part in sides if ends is not None]
    if len(straight) < len(sides):
        return None
    walls = [_wall(ends, part) for ends, part in straight]
    parallel = [wall for wall in walls if wall is not None]
    if len(parallel) == len(walls):
        lattice = _lattice(domain, parallel)
        if not _has_slit(lattice.blocks[0].walls):
            return _if_closed(lattice)
    whole = [c for curves in pieces.values() for c in curves if isinstance(c, Segment)]
    return _charted(domain, straight, [end for c in whole for end in (c.start, c.end)])


def _has_slit(walls: Sequence[Wall]) -> bool:
    """Tell whether two walls lie in one place, but for rounding, with the domain on both sides.

    Boxes on the two sides would be joined as if there were none; charts keep them apart.
    """
    return any(
        one[:2] == two[:2] and one[2][0] < two[3][0] and two[2][0] < one[3][0]
        for one, two in itertools.combinations(walls, 2)
    )


def _lattice(domain: Domain, walls: Sequence[Wall]) -> Tiling:
    """Return the tiling of a domain with axis-parallel sides, by boxes."""
    lines = tuple(
        _merged(
            [w[1] for w in walls if w[0] == a]
            + [float(e[0]) for w in walls if w[0] != a for e in w[2:4]]
        )
        for a in range(2)
    )
    snapped = tuple(
        (
            axis,
            _snap(place, lines[axis]),
            _snapped(low, lines[1 - axis]),
            _snapped(high, lines[1 - axis]),
            part,
        )
        for axis, place, low, high, part in walls
    )
    # What a part takes of a side may be a point: then it is none.
    walls = [w for w in snapped if w[2][0] < w[3][0]]
    return Tiling(domain, (Block(domain, lines, tuple(walls)),))


def _charted(
    domain: Domain, sides: Sequence[tuple[FloatArray, str]], known: Sequence[FloatArray]
) -> Tiling | None:
    """Return the tiling of a domain with slanted sides, by charts; some corners are known."""
    corners = _distinct(np.concatenate([ends for ends, _ in sides]), known)
    named = {
        frozenset((corners[2 * i], corners[2 * i + 1])): part
        for i, (_, part) in enumerate(sides)
        if corners[2 * i] != corners[2 * i + 1]
    }
    charts, halves = quadrilaterals(domain, list(named))
    blocks = []
    for chart in charts:
        walls = []
        for axis, end in itertools.product(range(2), range(2)):
            edge = frozenset(chart.edge(axis, end))
            part = named.get(halves.get(edge, edge))
            if part is not None:
                place = float(chart.size[axis]) if end else 0.0
                rest = chart.size[1 - axis : 2 - axis]
                walls.append((axis, place, np.zeros(1), rest, part))
        lines = tuple(np.array([0.0, length]) for length in chart.size)
        blocks.append(Block(domain, lines, tuple(walls), chart))
    return _if_closed(Tiling(domain, tuple(blocks))) if blocks else None


def _distinct(points: FloatArray, known: Sequence[FloatArray]) -> list[tuple[float, float]]:
    """Return points, (m, 2), those that differ by rounding as one.

    Known ones differ as they do: a slit may be as narrow.
    """
    near = ROUNDING * float(np.ptp(points, axis=0).max())
    kept = list(known)
    out = []
    for x in points:
        gaps = [float(np.abs(k - x).max()) for k in kept]
        if not gaps or min(gaps) > near:
            gaps.append(0.0)
            kept.append(x)
        same = kept[int(np.argmin(gaps))]
        out.append((float(same[0]), float(same[1])))
    return out


def _if_closed(tiling: Tiling) -> Tiling | None:
    """Return a tiling if every bare side of its first boxes has a wall."""
    patches = [
        Patch(tuple(AxisMap(*e) for e in np.stack(box, axis=1).tolist()), (1, 1), block.chart)
        for block in tiling.blocks
        for box in block.boxes(block.lines)
    ]
    _, sides = faces_of(patches, tiling.periods)
    return tiling if all(tiling.parts(patches, sides).values()) else None


def _box(domain: Box) -> Block:
    low, high = domain.bounds
    walls = []
    names = iter(domain.parts)
    for axis, joined in enumerate(domain.periodic_axes):
        if joined:
            continue
        rest = [a for a in range(domain.dimension) if a != axis]
        for place in (low[axis], high[axis]):
            walls.append((axis, float(place), low[rest], high[rest], next(names)))
    lines = tuple(np.array([a, b]) for a, b in zip(low, high, strict=True))
    return Block(domain, lines, tuple(walls))


def _ends(curve: object) -> FloatArray | None:
    """Return the ends of a straight piece of boundary, (2, 2); None if it is not straight."""
    whole = curve
    while isinstance(whole, Cut):
        whole = whole.curve
    if not (isinstance(whole, Segment) and isinstance(curve, Curve)):
        return None
    if isinstance(curve, Segment):
        return np.stack([curve.start, curve.end])
    return curve.at(np.array([0.0, curve.measure])).points


def _wall(ends: FloatArray, part: str) -> Wall | None:
    """Return an axis-parallel piece of boundary; None for a slanted one."""
    start, end = ends
    size = np.abs(end - start)
    axis = int(np.argmin(size))
    if size[axis] > ROUNDING * size[1 - axis]:
        return None
    along = np.sort(ends[:, 1 - axis])
    return axis, float(start[axis]), along[:1], along[1:], part


def _merged(values: Sequence[float]) -> FloatArray:
    """Return sorted places, those that differ by rounding as one."""
    found = np.unique(np.array(values))
    length = found[-1] - found[0]
    return np.asarray(found[np.concatenate([[True], np.diff(found) > ROUNDING * length])])


def _snap(value: float, lines: FloatArray) -> float:
    return float(lines[np.argmin(np.abs(lines - value))])


def _snapped(values: FloatArray, lines: FloatArray) -> FloatArray:
    return np.array([_snap(float(v), lines) for v in values])
