"""How much room there is for strips on both sides of curves inside, and at walls they end on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut_cells import Region
from sharpfront.geometry.panels import Panels
from sharpfront.place.strips.ribbons import (
    Ribbon,
    distances,
    evened,
    joint_rooms,
    rooms_along,
    runs_of,
    samples,
    spacing,
    tree_of,
)
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.tiling.blocks import Block
from sharpfront.place.tiling.solids import Wall

# How far points, (m, 2), are from something, (m,).
Distance = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class WallEnd:
    """An end of a curve on a wall."""

    wall: Wall
    along: FloatArray  # along the wall, so long that its part along the curve's normal is that
    room: float  # how far strips may go there


class Surroundings:
    """What curves inside a domain have around them."""

    def __init__(self, block: Block, curves: Sequence[Panels]) -> None:
        self.block = block
        self.trees = [tree_of(samples(p, np.linspace(-1.0, 1.0, 41))[0]) for p in curves]
        self.size = float(np.ptp(block.domain.bounds, axis=0).max())

    def ribbons(self, panels: Panels, which: int) -> list[tuple[Ribbon, float]]:
        """Return a curve with directions as long as there is room, and the most room.

        Where there is too little somewhere, those of its parts that have more, if any.
        """
        ends = ends_on_walls(panels, self.block)
        if None not in ends:
            rooms = self._rooms(between_walls(Ribbon(panels, panels.normals), ends), which)
            whole = self._scaled(panels, rooms, ends)
            if whole is not None:
                return [whole]
        return self._parts(panels, which, ends)

    def _scaled(
        self,
        panels: Panels,
        rooms: FloatArray,
        ends: Sequence[WallEnd | None],
    ) -> tuple[Ribbon, float] | None:
        """Return a curve with directions as long as the room of its panels; None if that is small.

        It is loose where it does not end on a wall.
        """
        ribbon = between_walls(Ribbon(panels, panels.normals), ends)
        joints = joint_rooms(rooms, closed=ribbon.is_closed)
        for end, k in zip(ends, (0, -1), strict=False):
            joints[k] = min(joints[k], np.inf if end is None else end.room)
        joints = evened(joints, ribbon.lengths, closed=ribbon.is_closed)
        if joints.min() <= STRIPS.narrowest * self.size:
            return None
        most = float(joints.max())
        return ribbon.scaled(joints / most), most

    def _parts(
        self, panels: Panels, which: int, ends: Sequence[WallEnd | None]
    ) -> list[tuple[Ribbon, float]]:
        """Return the parts of a curve that have room for strips, cut to where there is little."""
        others = away_from(self.block, [end.wall for end in ends if end is not None])
        least = STRIPS.narrowest * self.size
        while True:
            ribbon = Ribbon(panels, panels.normals)
            rooms = self._rooms(between_walls(ribbon, ends), which, others)
            near = others(samples(panels)[0]).reshape(len(rooms), -1).min(axis=1)
            rooms = np.minimum(rooms, 2.0 * near)
            for end, k in zip(ends, (0, -1), strict=False):
                rooms[k] = min(rooms[k], np.inf if end is None else end.room)
            long = ribbon.lengths > np.maximum(STRIPS.beside_room * rooms, least)
            if not long.any():
                break
            panels = panels.halved(long.tolist())
        ends = [None, None] if ribbon.is_closed else ends
        out = []
        for run in runs_of(rooms > least, closed=ribbon.is_closed):
            first, last = run[0] == 0, run[-1] == len(rooms) - 1
            own = ends[0] if first else None, ends[1] if last else None
            found = self._scaled(panels.chosen(run), rooms[run], own)
            out += [] if found is None else [found]
        return out

    def _rooms(self, ribbon: Ribbon, which: int, others: Distance | None = None) -> FloatArray:
        """Return how far strips may go to both sides of a curve, for each of its panels.

        Half the way to other curves, which may have strips as well, and two thirds of that to
        walls that it does not end on.
        """
        curves = [tree for i, tree in enumerate(self.trees) if i != which]
        own_spacing = spacing(self.trees[which])
        domain = self.block.domain

        def clearance(points: FloatArray, depth: float) -> FloatArray:
            # To the nearest of points it is a little farther than to the curve.
            own = np.where(depth < own_spacing, depth, distances(self.trees[which], points))
            gaps = [own, *(distances(tree, points) for tree in curves)]
            if ribbon.is_closed:
                gaps.append(2.0 * domain.distance(points))
            else:
                gaps.append(np.where(domain.contains(points), depth, 0.0))
            if others is not None:
                gaps.append(2.0 * others(points))
            return np.asarray(np.min(gaps, axis=0))

        sides = ribbon, ribbon.turned()
        return np.asarray(
            np.min([rooms_along(s, 0.5 * self.size, clearance) for s in sides], axis=0)
        )


def away_from(block: Block, held: Sequence[Wall]) -> Distance:
    """Return how far points are from the boundary but for some walls."""
    walls = [wall for wall in block.walls if not any(wall is own for own in held)]
    curved = block.region.panels if isinstance(block.region, Region) else Panels([])
    tree = tree_of(samples(curved, np.linspace(-1.0, 1.0, 41))[0]) if curved.parts else None

    def away(points: FloatArray) -> FloatArray:
        gaps = [np.full(len(points), np.inf)]
        for axis, place, low, high, _ in walls:
            along = points[:, 1 - axis]
            beyond = np.maximum(np.maximum(low[0] - along, along - high[0]), 0.0)
            gaps.append(np.hypot(points[:, axis] - place, beyond))
        if tree is not None:
            gaps.append(distances(tree, points))
        return np.asarray(np.min(gaps, axis=0))

    return away


def is_wide(panels: Panels, block: Block) -> bool:
    """Tell whether a curve is large enough for strips: else it takes no room from others either."""
    least = STRIPS.narrowest * float(np.ptp(block.domain.bounds, axis=0).max())
    return bool(np.ptp(samples(panels)[0], axis=0).max() > least)


def ends_on_walls(panels: Panels, block: Block) -> list[WallEnd | None]:
    """Return the walls that a curve ends on, first and last; none for a closed one.

    None in their place where it ends elsewhere, or runs along the wall.
    """
    out: list[WallEnd | None] = []
    for panel, t in () if panels.closed else ((0, -1.0), (len(panels.parts) - 1, 1.0)):
        found, _ = panels.boundary(np.array([panel]), np.array([t]))
        point, normal = found.points[0], found.normals[0]
        wall = wall_at(block, point)
        if wall is None or abs(normal[1 - wall[0]]) < STRIPS.steep_enough:
            out.append(None)
            continue
        rest = 1 - wall[0]
        along = np.zeros(2)
        along[rest] = 1.0 / normal[rest]
        gap = min(point[rest] - float(wall[2][0]), float(wall[3][0]) - point[rest])
        out.append(WallEnd(wall, along, STRIPS.aside * gap * abs(normal[rest]) / STRIPS.deepest))
    return out


def between_walls(ribbon: Ribbon, ends: Sequence[WallEnd | None]) -> Ribbon:
    """Return a ribbon whose directions lead along walls at its ends, which fades over a panel."""
    out, last = ribbon.outwards.copy(), len(ribbon.outwards) - 1
    for end, panel, t in zip(ends, (0, last), (-1.0, 1.0), strict=False):
        if end is not None:
            found, _ = ribbon.panels.boundary(np.array([panel]), np.array([t]))
            # The weights of ((1 + t z) / 2)^2.
            out[panel, :3] += np.outer([0.375, 0.5 * t, 0.125], end.along - found.normals[0])
    loose = tuple(end is None for end in ends) or (False, False)
    return Ribbon(ribbon.panels, out, (loose[0], loose[1]))


def wall_at(block: Block, point: FloatArray) -> Wall | None:
    """Return the wall that a point lies on, not at its end."""
    size = float(np.ptp(block.domain.bounds, axis=0).max())
    for wall in block.walls:
        axis, place, low, high, _ = wall
        on = abs(point[axis] - place) < 1e-9 * size
        if on and low[0] < point[1 - axis] < high[0]:
            return wall
    return None
