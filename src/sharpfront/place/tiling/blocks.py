"""Boxes between lines with the walls that bound them, and how a domain is made of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut_cells import Cut as PlaneCut
from sharpfront.bases.cut_cells import Region
from sharpfront.bases.patch import Patch
from sharpfront.bases.solid_cut_cells import SolidRegion
from sharpfront.geometry import Domain
from sharpfront.geometry.curves import Curve
from sharpfront.maps import Chart, Chords, Strip
from sharpfront.place.tiling.solids import ROUNDING, Wall, edges_of
from sharpfront.rows.faces import Side


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
    region
        Where given, the domain's boundary cuts boxes.
    layered
        The axes across which all of it is as deep as the layer of a wall at its lower end, with how
        many times the functions of a layer that takes.
    more
        By how many functions more than usual data are held along each axis; none by default.
    decays
        How often layers decay by 1/e across all of it, along the last axis, where that is known.
    """

    domain: Domain
    lines: tuple[FloatArray, ...]
    walls: tuple[Wall, ...]
    chart: Chart | None = None
    region: Region | SolidRegion | None = None
    layered: Mapping[int, float] = field(default_factory=dict)
    more: tuple[int, ...] = ()
    decays: float = 0.0

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
        if self.region is not None:
            # Walls do not cut boxes: what lies across one may seem empty by its middle.
            look = self.region.look
            return [box for box in found if look(*box) or self._across_wall(*box)]
        middle = np.stack([0.5 * (low + high) for low, high in found])
        return [box for box, keep in zip(found, self.inside(middle), strict=True) if keep]

    def _across_wall(self, low: FloatArray, high: FloatArray) -> bool:
        """Tell whether a wall lies inside of a box."""
        for axis, place, first, last, _ in self.walls:
            rest = [a for a in range(len(low)) if a != axis]
            if low[axis] < place < high[axis] and np.all((first < high[rest]) & (last > low[rest])):
                return True
        return False

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
        if patch.cut is not None:
            # A wall has the domain on one side only, and boxes that are cut may lie on the other.
            # In space conditions on walls are among those on the surface.
            cut = patch.cut
            inside = cut.inside_of(side.axis, side.end) if isinstance(cut, PlaneCut) else []
            if not inside:
                return ""
            middle[1 - side.axis] = 0.5 * sum(inside[0])
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
    curves
        Ends of the curved pieces of boundary, with the names of their parts.
    outline
        All pieces of boundary where some are curved: part, curve, and the wall that it is, if any.
    places
        Corners, and where one part ends, where they are known.
    ends
        Where lines end along which charts are cut.
    chords
        Where given, charts lie along these, one behind the other.
    """

    domain: Domain
    blocks: tuple[Block, ...]
    marked: tuple[tuple[float, ...], ...] = ()
    curves: tuple[tuple[FloatArray, str], ...] = ()
    outline: tuple[tuple[str, Curve, Wall | None], ...] = ()
    places: FloatArray | None = None
    ends: tuple[tuple[float, float], ...] = ()
    chords: Chords | None = None

    @property
    def periods(self) -> tuple[float | None, ...]:
        """The period along each axis, None where the ends are not joined."""
        low, high = self.domain.bounds
        joined = self.domain.periodic_axes
        return tuple(float(b - a) if j else None for a, b, j in zip(low, high, joined, strict=True))

    @property
    def strips(self) -> list[Strip]:
        """The strips along the boundary."""
        along = [b.chart for b in self.blocks if any(axis == 1 for axis, *_ in b.walls)]
        return [chart for chart in along if isinstance(chart, Strip)]

    @cached_property
    def corners(self) -> FloatArray:
        """Corners of the domain, marked points, and where one part of the boundary ends, (k, d).

        Where a condition changes on a straight side, solutions are as singular as at a corner. In
        space the lines on which edges lie: NaN along the line.
        """
        marked = np.array([*self.marked, *self.ends]).reshape(-1, self.domain.dimension)
        if self.places is not None:
            return np.concatenate([self.places, marked])
        if self.domain.dimension > 2:
            return np.concatenate([edges_of(self.blocks[0].walls), marked])
        known = np.unique(np.concatenate([self.domain.corners, marked]), axis=0)
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
    def _of_chart(self) -> dict[Chart | None, Block]:
        return {block.chart: block for block in self.blocks}

    def parts(self, patches: Sequence[Patch], sides: Sequence[Side]) -> dict[Side, str]:
        """Return the part of the boundary that each side lies on."""
        own = [patches[side.patch] for side in sides]
        return {
            side: self._of_chart[patch.chart].wall(patch, side)
            for side, patch in zip(sides, own, strict=True)
        }


def wall_of(ends: FloatArray, part: str) -> Wall | None:
    """Return an axis-parallel piece of boundary; None for a slanted one."""
    start, end = ends
    size = np.abs(end - start)
    axis = int(np.argmin(size))
    if size[axis] > ROUNDING * size[1 - axis]:
        return None
    along = np.sort(ends[:, 1 - axis])
    return axis, float(start[axis]), along[:1], along[1:], part


def snap(value: float, lines: FloatArray) -> float:
    """Return the nearest of some places."""
    return float(lines[np.argmin(np.abs(lines - value))])


def snapped(values: FloatArray, lines: FloatArray) -> FloatArray:
    """Return the nearest of some places to each value."""
    return np.array([snap(float(v), lines) for v in values])


def has_slit(walls: Sequence[Wall]) -> bool:
    """Tell whether two walls lie in one place, but for rounding, with the domain on both sides.

    Boxes on the two sides would be joined as if there were none; charts keep them apart.
    """
    return any(
        one[:2] == two[:2] and one[2][0] < two[3][0] and two[2][0] < one[3][0]
        for one, two in itertools.combinations(walls, 2)
    )
