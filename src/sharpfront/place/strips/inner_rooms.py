"""How much room there is for strips on both sides of curves inside, and at walls they end on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry.panels import Panels
from sharpfront.place.patches.looks import Holding
from sharpfront.place.strips.ribbons import (
    DEEPEST,
    Ribbon,
    distances,
    evened,
    rooms_along,
    samples,
    spacing,
    tree_of,
)
from sharpfront.place.tiling.blocks import Block
from sharpfront.place.tiling.solids import Wall

# A curve that meets a wall at a smaller angle than this, as its sine, gets no band.
STEEP_ENOUGH = 0.4
# Nor does one with less room than this share of the domain somewhere: boxes would be as small.
NARROWEST = 1e-3
# At a wall a band takes no more than this share of the way to its end.
ASIDE = 0.4


class Surroundings:
    """What curves inside a domain have around them."""

    def __init__(self, block: Block, curves: Sequence[Panels], holding: Holding) -> None:
        self.block, self.holding = block, holding
        self.trees = [tree_of(samples(p, np.linspace(-1.0, 1.0, 41))[0]) for p in curves]
        self.size = float(np.ptp(block.domain.bounds, axis=0).max())

    def _rooms(self, ribbon: Ribbon, which: int) -> FloatArray:
        """Return how far below a curve strips may go, at the ends of its panels.

        Half the way to other curves, which may have strips as well, and two thirds of that to
        walls that it does not end on.
        """
        others = [tree for i, tree in enumerate(self.trees) if i != which]
        own_spacing = spacing(self.trees[which])

        def clearance(points: FloatArray, depth: float) -> FloatArray:
            # To the nearest of points it is a little farther than to the curve.
            own = np.where(depth < own_spacing, depth, distances(self.trees[which], points))
            gaps = [own, *(distances(tree, points) for tree in others)]
            if ribbon.is_closed:
                gaps.append(2.0 * self.block.domain.distance(points))
            else:
                gaps.append(np.where(self.block.domain.contains(points), depth, 0.0))
            return np.asarray(np.min(gaps, axis=0))

        return rooms_along(ribbon, 0.5 * self.size, clearance)

    def ribbon(self, panels: Panels, which: int) -> tuple[Ribbon, float] | None:
        """Return a curve with directions as long as there is room, and the most room.

        None where there is too little.
        """
        ends = _ends_on_walls(panels, self.block)
        if ends is None:
            return None
        ribbon = _between_walls(Ribbon(panels, panels.normals), ends)
        rooms = np.min([self._rooms(side, which) for side in (ribbon, ribbon.turned())], axis=0)
        for k, _, room in ends:
            rooms[k] = min(rooms[k], room)
        rooms = evened(rooms, ribbon.lengths, closed=ribbon.is_closed)
        if rooms.min() <= NARROWEST * self.size:
            return None
        most = float(rooms.max())
        return ribbon.scaled(rooms / most), most


def is_wide(panels: Panels, block: Block) -> bool:
    """Tell whether a curve is large enough for strips: else it takes no room from others either."""
    least = NARROWEST * float(np.ptp(block.domain.bounds, axis=0).max())
    return bool(np.ptp(samples(panels)[0], axis=0).max() > least)


def _ends_on_walls(panels: Panels, block: Block) -> list[tuple[int, FloatArray, float]] | None:
    """Return which joints of a curve lie on walls, directions along these, and the room there.

    Directions are scaled so that their part along the normal is the normal. None where the curve
    runs along the wall.
    """
    out = []
    for panel, t in () if panels.closed else ((0, -1.0), (len(panels.parts) - 1, 1.0)):
        found, _ = panels.boundary(np.array([panel]), np.array([t]))
        point, normal = found.points[0], found.normals[0]
        wall = wall_at(block, point)
        if wall is None:
            return None
        rest = 1 - wall[0]
        if abs(normal[rest]) < STEEP_ENOUGH:
            return None
        along = np.zeros(2)
        along[rest] = 1.0 / normal[rest]
        gap = min(point[rest] - float(wall[2][0]), float(wall[3][0]) - point[rest])
        out.append((panel + (t > 0), along, ASIDE * gap * abs(normal[rest]) / DEEPEST))
    return out


def _between_walls(ribbon: Ribbon, ends: Sequence[tuple[int, FloatArray, float]]) -> Ribbon:
    """Return a ribbon whose directions lead along walls at its ends, which fades over a panel."""
    out = ribbon.outwards.copy()
    for joint, along, _ in ends:
        t = 1.0 if joint else -1.0
        panel = joint - 1 if joint else 0
        found, _ = ribbon.panels.boundary(np.array([panel]), np.array([t]))
        # The weights of ((1 + t z) / 2)^2.
        out[panel, :3] += np.outer([0.375, 0.5 * t, 0.125], along - found.normals[0])
    return Ribbon(ribbon.panels, out)


def wall_at(block: Block, point: FloatArray) -> Wall | None:
    """Return the wall that a point lies on, not at its end."""
    size = float(np.ptp(block.domain.bounds, axis=0).max())
    for wall in block.walls:
        axis, place, low, high, _ = wall
        on = abs(point[axis] - place) < 1e-9 * size
        if on and low[0] < point[1 - axis] < high[0]:
            return wall
    return None
