"""Strips along layers that a wind carries away from a boundary, and short boxes where none fit.

Behind the place where it touches the boundary, or where data jump, a layer goes on along the wind
and grows as the root of the way. Strips hold it from where they have room beside the boundary up to
a wall that they meet at an angle. Elsewhere along it boxes are no longer than it is deep: where a
first solution misses a layer, all that is downstream is wrong and cut in vain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sharpfront.arrays import Flags, FloatArray
from sharpfront.bases.cut_cells import Region
from sharpfront.geometry.curves import Segment
from sharpfront.geometry.panel_fits import PARAMETERS, weights_of
from sharpfront.geometry.panels import Panels
from sharpfront.maps import Strip
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.patches.settings import PatchSettings
from sharpfront.place.strips.bands import Band, strip_walls
from sharpfront.place.strips.characteristics import Shear
from sharpfront.place.strips.inner_clearance import WallEnd, away_from, between_walls, ends_on_walls
from sharpfront.place.strips.ribbons import Ribbon, distances, runs_of, tree_of
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.place.tiling.solids import Wall
from sharpfront.rounding import SAME

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


def sheared(tiling: Tiling, shears: Sequence[Shear], settings: PatchSettings, tol: float) -> Tiling:
    """Return a tiling with strips along layers that a wind carries, where these have room."""
    block = tiling.blocks[0]
    if not shears or block.chart is not None:
        return tiling
    region = block.region
    region = region if isinstance(region, Region) else Region(block.domain, Panels([]))
    panels, strips = region.panels, dict(region.strips)
    trees = [tree_of(one.at(np.linspace(0.0, one.length, STRIPS.seen_along))) for one in shears]
    blocks: list[Block] = []
    for i, shear in enumerate(shears):
        others = [tree for k, tree in enumerate(trees) if k != i]
        course = _Course(block, region, shear, others)
        found = course.ribbon
        if found is None:
            continue
        ribbon, depth, shares = found
        lines = np.array([0.0, depth])
        band = Band(ribbon, lines, lines, tuple(ribbon.strips(depth, depth)), _nowhere)
        for edge, sides in band.rim:
            strips |= dict(enumerate(sides, len(panels.parts)))
            panels = panels.beside(edge)
        more = max(0, math.ceil(settings.layer(tol)) - settings.functions(tol))
        for k, (strip, share) in enumerate(zip(band.strips, shares.tolist(), strict=True)):
            blocks += _parts_across(block, strip, strip_walls(band, block, k), share, more)
    if not blocks:
        return tiling
    kept = Region(block.domain, panels, strips, region.shut)
    return replace(tiling, blocks=(replace(block, region=kept), *tiling.blocks[1:], *blocks))


def _nowhere(*x: FloatArray) -> FloatArray:
    """Return the level of a band that parts nothing."""
    return np.ones(len(x[0]))


def _parts_across(
    block: Block, strip: Strip, walls: tuple[Wall, ...], share: float, more: int
) -> Iterator[Block]:
    """Yield a strip's blocks: where the layer is, with more functions across, and beside it."""
    along, depth = np.array([0.0, strip.length]), 0.5 * strip.depth
    share = 1.0 if share > STRIPS.filled else share
    inner = np.array([depth * (1 - share), depth, depth * (1 + share)])
    inner[-1] = strip.depth if share == 1.0 else inner[-1]
    yield Block(block.domain, (along, inner), walls, strip, more=(0, more))
    if share < 1.0:
        for sides in ([0.0, inner[0]], [inner[-1], strip.depth]):
            yield Block(block.domain, (along, np.array(sides)), walls, strip)


@dataclass(frozen=True, eq=False)
class _Course:
    """What a layer along a wind has around it."""

    block: Block
    region: Region
    shear: Shear
    others: Sequence[cKDTree]
    held: bool = True  # whether it may end on a wall

    def _panels(self, joints: FloatArray) -> Panels:
        """Return the layer's curve between places along it."""
        ends = self.shear.at(joints[[0, -1]])
        whole = Panels([("", Segment(ends[0], ends[1]))])
        low, high = joints[:-1, None], joints[1:, None]
        s = 0.5 * (low * (1 - PARAMETERS) + high * (1 + PARAMETERS))
        points = self.shear.at(s.ravel()).reshape(*s.shape, 2)
        return whole.reshaped(np.zeros(len(low), dtype=np.int64), weights_of(points))

    @cached_property
    def wall(self) -> WallEnd | None:
        """The wall that it ends on at an angle."""
        if not self.held:
            return None
        last = self.shear.length * np.array([0.9, 1.0])
        return ends_on_walls(self._panels(last), self.block)[1]

    @cached_property
    def places(self) -> FloatArray:
        """Distances along it at which its surroundings are looked at."""
        near, length = self.shear.near, self.shear.length
        half = STRIPS.seen_along // 2
        first = np.geomspace(min(near, 0.25 * length), 0.5 * length, half)
        last = length - np.geomspace(0.5 * length, 1e-3 * length, half)[1:]
        return np.concatenate([first, last, [length] if self.wall else []])

    @cached_property
    def rooms(self) -> FloatArray:
        """How far strips may go to either side of these places."""
        s, size = self.places, float(np.ptp(self.block.domain.bounds, axis=0).max())
        x, ways = self.shear.at(s - SAME * size), self._ways
        away = away_from(self.block, [self.wall.wall] if self.wall else [])
        out = np.zeros(len(s))
        for depth in 0.5 * size * STRIPS.thinner ** np.arange(STRIPS.depths_along):
            left = np.flatnonzero(out == 0.0)
            if not len(left):
                break
            clear = np.ones(len(left), dtype=bool)
            for side in (-depth, depth):
                points = x[left] + side * ways[left]
                clear &= self._is_clear(points, float(depth), away(points))
            out[left[clear]] = depth
        if self.wall:
            out[-1] = min(out[-1], STRIPS.deepest / STRIPS.aside * STRIPS.at_wall * self.wall.room)
        return out

    def _is_clear(self, points: FloatArray, depth: float, away: FloatArray) -> Flags:
        """Tell which points at a depth have room beyond them, a quarter of it."""
        clear = self.region.contains(points) & (away > 0.25 * depth)
        for tree in self.others:
            clear &= distances(tree, points) > depth
        return np.asarray(clear)

    @property
    def _ways(self) -> FloatArray:
        """Directions across it at these places: along the wall towards its end there."""
        s, length = self.places, self.shear.length
        step = 1e-6 * length
        along = self.shear.at(np.minimum(s + step, length)) - self.shear.at(s - step)
        along /= np.linalg.norm(along, axis=1)[:, None]
        ways = np.stack([along[:, 1], -along[:, 0]], axis=1)
        if self.wall:
            turned = self.wall.along * np.sign(self.wall.along @ ways[-1])
            ways += np.clip(2.0 * s / length - 1.0, 0.0, 1.0)[:, None] ** 2 * (turned - ways)
        return ways

    @cached_property
    def ribbon(self) -> tuple[Ribbon, float, FloatArray] | None:
        """Strips where there is room for the layer, how deep they are, and its share of each."""
        s, deep = self.places, self.shear.depth(self.places)
        wide = _gently(s, np.minimum(STRIPS.beside_layer * deep, STRIPS.near_rims * self.rooms))
        runs = runs_of(wide >= deep, closed=False)
        run = max(runs, key=len, default=np.zeros(0, dtype=np.int64))
        ends_there = self.wall is not None and len(run) > 0 and run[-1] == len(s) - 1
        if self.wall is not None and not ends_there:
            # Directions would lead along a wall that it does not reach.
            return replace(self, held=False).ribbon
        if len(run) < 2:
            return None
        joints = _joints(float(s[run[0]]), float(s[run[-1]]))
        widths = _below(joints, s, wide)
        ends = [None, self.wall]
        panels = self._panels(joints)
        ribbon = between_walls(Ribbon(panels, panels.normals), ends)
        shares = self.shear.depth(joints) / widths
        shares = np.minimum(np.maximum(shares[:-1], shares[1:]), 1.0)
        most = float(widths.max())
        return ribbon.scaled(widths / most), most, shares


def _gently(s: FloatArray, wide: FloatArray) -> FloatArray:
    """Return widths at places that change slowly along the way."""
    out, steps = wide.copy(), STRIPS.slope * np.diff(s)
    for k in range(len(steps)):
        out[k + 1] = min(out[k + 1], out[k] + steps[k])
    for k in range(len(steps) - 1, -1, -1):
        out[k] = min(out[k], out[k + 1] + steps[k])
    return out


def _joints(first: float, last: float) -> FloatArray:
    """Return where strips begin and end, each as long as it is from the layer's beginning."""
    out = [first]
    while last - out[-1] > 1.3 * out[-1]:
        out.append(min(2.0 * out[-1], 0.5 * (out[-1] + last)))
    return np.array([*out, last])


def _below(joints: FloatArray, s: FloatArray, wide: FloatArray) -> FloatArray:
    """Return widths at joints between which straight lines stay below given ones at places."""
    out = np.interp(joints, s, wide)
    for _ in range(3):
        for k in range(len(joints) - 1):
            inner = (s > joints[k]) & (s < joints[k + 1])
            ratio = wide[inner] / np.interp(s[inner], joints, out)
            out[k : k + 2] *= min(1.0, float(ratio.min(initial=1.0)))
    return out


def short_along(cells: Sequence[Cell], shears: Sequence[Shear], most: int) -> list[Cell]:
    """Return cells, boxes in layers along a wind no longer than these are deep.

    As they were where that takes more functions than allowed.
    """
    if not shears:
        return list(cells)
    places, deep = (np.concatenate(x) for x in zip(*map(_marks, shears), strict=True))
    out, left, functions = [], list(cells), 0
    while left:
        cell = left.pop()
        patch = cell.patch
        beyond = np.maximum(np.maximum(patch.low - places, places - patch.high), 0.0)
        near = np.hypot(*beyond.T) < STRIPS.in_layer * deep
        if patch.chart or patch.longest <= STRIPS.short * deep[near].min(initial=np.inf):
            out.append(cell)
            functions += patch.size
            if functions > most:
                return list(cells)
            continue
        long = patch.sides > 0.6 * patch.longest
        middle = 0.5 * (patch.low + patch.high)
        sides = [
            m.cut([x] if here else [])
            for m, x, here in zip(patch.maps, middle.tolist(), long, strict=True)
        ]
        left += [c for c in cell.cut_into(sides) if not c.patch.is_empty]
    return out[::-1]


def _marks(shear: Shear) -> tuple[FloatArray, FloatArray]:
    """Return places along a layer that are closer to each other than it is deep, and how deep."""
    s = [0.0]
    while s[-1] < shear.length:
        s.append(s[-1] + 0.25 * float(shear.depth(np.array(s[-1:]))[0]))
    at = np.minimum(np.array(s), shear.length)
    return shear.at(at), shear.depth(at)
