"""What layers begin at: walls, corners at their ends, lines on which data jump or bend."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.maps import Strip
from sharpfront.place.patches.cuts import Depths
from sharpfront.place.patches.settings import SETTINGS, PatchSettings
from sharpfront.place.patches.waves import ALONG_DOMAIN
from sharpfront.place.strips.decay_rates import decay_rates
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.problem import Problem
from sharpfront.rounding import ROUNDED

# Layers of up to so many times the depth of a strip along the boundary are those it was made for.
FILLED = STRIPS.wide / STRIPS.deepest


@dataclass(frozen=True, eq=False)
class WallSide:
    """The room on one side of a wall, or of a line on which data jump or bend."""

    # What is solved, and the block that it lies in.
    problem: Problem
    block: Block
    # Its normal, and whether its strips have it at their lower (0) or upper (1) end.
    axis: int
    end: int
    # Where it is, and from where to where along the other axes.
    place: float
    extent: tuple[FloatArray, FloatArray]
    lines: FloatArray  # where the block is cut along the normal

    def depth(self, widths: float, wave: float = 0.0, share: float = SETTINGS.room) -> float | None:
        """Return so many widths of a layer, if that is at most a share of the room there."""
        return next(self.depths((widths,), wave, share), None)

    def depths(
        self, widths: Sequence[float], wave: float = 0.0, share: float = SETTINGS.room
    ) -> Iterator[float]:
        """Yield those of some numbers of widths of a layer that are no more than that."""
        rates, room = np.concatenate(self._rates(wave)), self._room
        for count in widths:
            thin = rates[rates * room > count / share]
            if len(thin):
                yield count / float(thin.min())

    def strips(self, widths: float) -> Iterator[tuple[float, float]]:
        """Yield the strips in which layers decay, if they are thin.

        What decays at several rates in one place, as systems do, has a strip within the last one
        for each rate whose layer is thin beside that.
        """
        rates, room = self._rates(), self._room
        while True:
            rates = [own[own * room > widths / SETTINGS.room] for own in rates]
            if not any(map(len, rates)):
                return
            room = widths / min(float(own[0]) for own in rates if len(own))
            yield (
                (self.place, self.place + room)
                if self.end == 0
                else (self.place - room, self.place)
            )
            # Not what is thinner only because the layer is, elsewhere along the wall.
            rates = [own[own > own[:1] / SETTINGS.room] for own in rates]

    @property
    def _room(self) -> float:
        """How far it is to the next line."""
        return abs(_next_line(self.lines, self.place, self.end) - self.place)

    def _rates(self, wave: float = 0.0) -> list[FloatArray]:
        """Return the rates at which solutions decay from places along it, ascending."""
        low, high = self.extent
        points = np.empty((len(ALONG_DOMAIN), len(low) + 1))
        rest = [a for a in range(points.shape[1]) if a != self.axis]
        points[:, rest] = low + (high - low) * ALONG_DOMAIN[:, None]
        # Just beside it, where coefficients that jump have the strip's value.
        points[:, self.axis] = self.place + (1.0 - 2.0 * self.end) * 1e-9 * self._room
        return decay_rates(self.problem, points, self.axis, self.end, wave, self.block.chart)


def _walls(problem: Problem, block: Block) -> Iterator[WallSide]:
    for axis, place, low, high, _ in block.walls:
        end = int(not _above(block, axis, place, 0.5 * (low + high)))
        yield WallSide(problem, block, axis, end, place, (low, high), block.lines[axis])


def _past_corners(
    wall: WallSide, lines: Sequence[FloatArray], corners: FloatArray
) -> Iterator[WallSide]:
    """Yield the ends of a wall in the plane that are corners.

    What begins at a corner decays along its walls: at one that points outwards as far as the other
    wall's layer is deep, past one that points inwards nothing else would tell.
    """
    if len(lines) != 2 or isinstance(wall.block.chart, Strip):
        return
    axis, extent = 1 - wall.axis, np.array([wall.place])
    beyond = np.array([_next_line(lines[wall.axis], wall.place, wall.end)])
    for end, place in enumerate(x.item() for x in wall.extent):
        at = wall.block.in_space(np.insert(extent, axis, place)[None])
        near = ROUNDED * float(np.ptp(wall.block.domain.bounds, axis=0).max())
        if np.abs(corners - at).max(axis=1).min(initial=np.inf) <= near:
            yield replace(
                wall, axis=axis, end=end, place=place, extent=(extent, beyond), lines=lines[axis]
            )


def sources_of_layers(
    problem: Problem,
    block: Block,
    edges: Sequence[FloatArray],
    lines: Sequence[FloatArray],
    corners: FloatArray,
) -> Iterator[WallSide]:
    """Yield what layers begin at, in a block with edges of the data that is cut along lines.

    Walls, corners at their ends, and both sides of lines on which data jump or bend: what decays
    beside the one decays beside the other.
    """
    low, high = (np.array([x[k] for x in block.lines]) for k in (0, -1))
    walls = list(_walls(problem, block))
    held = {(wall.axis, wall.end, wall.place) for wall in walls}
    for wall in walls:
        yield replace(wall, lines=lines[wall.axis])
        for past in _past_corners(wall, lines, corners):
            if (past.axis, past.end, past.place) not in held:
                yield past
    for axis, places in enumerate(edges):
        rest = [a for a in range(len(edges)) if a != axis]
        for place in places.tolist():
            for end in (0, 1):
                extent = low[rest], high[rest]
                yield WallSide(problem, block, axis, end, place, extent, lines[axis])


def _above(block: Block, axis: int, place: float, middle: FloatArray) -> bool:
    """Tell whether the domain is above a wall."""
    lines = block.lines[axis]
    if place >= lines[-1]:
        return False
    share = 0.5 if block.region is None else SETTINGS.beside_wall
    inside = np.insert(middle, axis, place + share * (_next_line(lines, place, 0) - place))
    return bool(block.inside(inside[None])[0])


def _next_line(lines: FloatArray, place: float, end: int) -> float:
    """Return the line above a place, or below it for an end of 1.

    Walls of boxes are lines; those in a domain that cuts boxes lie between them.
    """
    above, below = np.searchsorted(lines, place, "right"), np.searchsorted(lines, place) - 1
    return float(lines[below if end else above])


def layers_along_walls(
    problem: Problem, tiling: Tiling, settings: PatchSettings, tol: float
) -> Depths:
    """Return how deep layers are along walls that nothing flows through.

    What changes over the length l of such a wall, e^(i t / l), decays like
    e^(-n (b / (2 eps l))^(1/2)). Whether there is such a layer only a solution tells: patches
    beside the wall that are not resolved across are cut at this depth. Where there is not so much
    room, room for what begins along the wall is enough, which fades like e^(-n^2).
    """
    depth, found = settings.layer(tol), {}
    for block in tiling.blocks:
        for wall in _walls(problem, block):
            low, high = wall.extent
            length = float(np.max(high - low, initial=0.0))
            # Strips are as deep as layers, or as there is room.
            share = FILLED if wall.axis in block.layered else SETTINGS.room
            if not length or wall.depth(depth, share=share) is not None:
                continue
            cut = next(wall.depths((depth, math.sqrt(2.0 * depth)), 1.0 / length), None)
            if cut is not None:
                found[block.chart, wall.axis, wall.end, wall.place] = cut, length
    return found
