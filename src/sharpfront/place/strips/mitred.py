"""Strips along outlines with corners, in which layers decay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut_cells import Region, StripSide
from sharpfront.geometry import Domain
from sharpfront.geometry.panels import Panels
from sharpfront.maps import Strip
from sharpfront.place.strips.outlines import Outline, OutlineSide, outlines_of
from sharpfront.place.strips.ribbons import (
    ON_PANEL,
    Clearance,
    Ribbon,
    distances,
    layers_beside,
    samples,
    strip_block,
    tree_of,
)
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.problem import Problem

# Points on a panel that tell how far others are from it.
DENSE = np.linspace(-1.0, 1.0, 41)


def with_outlines(problem: Problem, tiling: Tiling, widths: float) -> Tiling:
    """Return a tiling with strips along outlines with corners, which then have no walls.

    Strips are so many widths of layers deep. Outlines of walls alone are left to boxes.
    """
    block = tiling.blocks[0]
    if len(tiling.blocks) > 1 or block.region is None or any(block.domain.periodic_axes):
        return tiling
    size = float(np.ptp(block.domain.bounds, axis=0).max())
    every = outlines_of([OutlineSide(*side) for side in tiling.outline], size)
    every = [o for o in every if any(side.wall is None for side in o.sides)]
    collars = [
        _Collar(outline, *found)
        for whole in every
        for outline in _beside_layers(problem, whole, size, widths)
        if (found := _collar(problem, outline, _clearance(tiling, outline), size, widths))
    ]
    return _with_strips(tiling, collars) if collars else tiling


@dataclass(frozen=True, eq=False)
class _Collar:
    """An outline with directions, and how deep the strips along it are."""

    outline: Outline
    ribbon: Ribbon
    depth: float

    def blocks(self, domain: Domain, strips: Sequence[Strip]) -> Iterator[Block]:
        """Yield the blocks of its strips."""
        ends = self.outline.walls
        for k, (strip, part) in enumerate(zip(strips, self.ribbon.panels.parts, strict=True)):
            block = strip_block(domain, strip, part)
            across = []
            if ends and k == 0:
                across.append((0, 0.0, np.zeros(1), np.array([strip.depth]), ends[0].part))
            if ends and k == len(strips) - 1:
                across.append((0, strip.length, np.zeros(1), np.array([strip.depth]), ends[1].part))
            yield replace(block, walls=(*block.walls, *across))


def _beside_layers(problem: Problem, outline: Outline, size: float, widths: float) -> list[Outline]:
    """Return an outline without the walls beside which nothing decays."""
    nominal = STRIPS.nominal * size

    def idle(side: OutlineSide) -> bool:
        if side.wall is None:
            return False
        panels = side.panels(0.0, 0.0)
        strips = Ribbon(panels, panels.normals).strips(nominal)
        deep = np.concatenate(layers_beside(problem, strips, widths, bends=False))
        return not np.any(deep < STRIPS.wide * 0.5 * size)

    parts = outline.between([idle(side) for side in outline.sides])
    bent = [part for part in parts if any(side.wall is None for side in part.sides)]
    # Where strips cannot end on a wall they go along it.
    kept = [outline] if any(part.is_sharp for part in bent) else bent
    return [part for part in kept if not part.is_sharp]


def _with_strips(tiling: Tiling, collars: Sequence[_Collar]) -> Tiling:
    """Return a tiling with strips along outlines."""
    block = tiling.blocks[0]
    held = {id(side.curve) for collar in collars for side in collar.outline.sides}
    left = [(part, curve, wall) for part, curve, wall in tiling.outline if id(curve) not in held]
    panels = Panels((part, curve) for part, curve, wall in left if wall is None)
    strips: dict[int, StripSide] = {}
    blocks: list[Block] = []
    for collar in collars:
        own = collar.ribbon.strips(collar.depth)
        strips |= {k: (strip, 1, 1) for k, strip in enumerate(own, len(panels.parts))}
        panels = panels.beside(collar.ribbon.edge(collar.depth))
        blocks += collar.blocks(block.domain, own)
    region = Region(block.domain, panels, strips)
    gone = [wall for _, curve, wall in tiling.outline if id(curve) in held and wall is not None]
    walls = tuple(wall for *_, wall in left if wall is not None)
    ends = tuple((block.ends(wall), wall[4]) for wall in gone)
    bare = replace(block, walls=walls, region=region)
    return replace(tiling, blocks=(bare, *blocks), curves=(*tiling.curves, *ends))


def _clearance(tiling: Tiling, outline: Outline) -> Clearance:
    """Return how far points are from the boundary, zero outside.

    But for the walls that an outline ends on.
    """
    domain = tiling.domain
    ends = {id(wall.curve) for wall in outline.walls or ()}
    others = [(p, c) for p, c, _ in tiling.outline if id(c) not in ends]
    tree = tree_of(samples(Panels(others), DENSE)[0])

    def clearance(points: FloatArray, _: float) -> FloatArray:
        return np.where(domain.contains(points), distances(tree, points), 0.0)

    return clearance


def _collar(
    problem: Problem, outline: Outline, clearance: Clearance, size: float, widths: float
) -> tuple[Ribbon, float] | None:
    """Return an outline with directions, and how deep its strips are; None without thin layers."""
    nominal = STRIPS.nominal * size
    strips = outline.ribbon(nominal)[0].strips(nominal)
    deep = np.concatenate(layers_beside(problem, strips, widths, bends=False))
    if not np.any(deep < STRIPS.wide * 0.5 * size):
        return None
    room = _strip_room(outline, clearance, 0.5 * size)
    thin = deep[deep < STRIPS.wide * room]
    if not len(thin):
        return None
    depth = min(float(thin.max()), STRIPS.deepest * room)
    return (outline.ribbon(depth)[0], depth) if _fits(outline, depth, clearance) else None


def _strip_room(outline: Outline, clearance: Clearance, most: float) -> float:
    """Return how deep strips along an outline may be, zero if there is no room for any."""
    # Those of the first number fit by assumption, those of the last do not.
    fitting, other = STRIPS.depths, -1
    while fitting - other > 1:
        middle = (fitting + other) // 2
        if _fits(outline, most * STRIPS.factor**middle, clearance):
            fitting = middle
        else:
            other = middle
    return most * STRIPS.factor**fitting if fitting < STRIPS.depths else 0.0


def _fits(outline: Outline, depth: float, clearance: Clearance) -> bool:
    """Tell whether strips of a depth have room along an outline."""
    if any(depth > STRIPS.aside * wall.curve.measure for wall in outline.walls or ()):
        return False
    ribbon, mitred = outline.ribbon(depth)
    inner, _ = samples(ribbon.edge(depth))
    needed = np.where(mitred, STRIPS.beside_corners, STRIPS.apart) * depth
    if np.any(clearance(inner, depth) < np.repeat(needed, len(ON_PANEL))):
        return False
    return all(_is_open(strip) for strip in ribbon.strips(depth))


def _is_open(strip: Strip) -> bool:
    """Tell whether a strip nowhere folds or is squeezed together."""
    share = np.array([0.0, 0.5, 1.0])
    s, d = np.meshgrid(0.5 * (ON_PANEL + 1.0) * strip.length, share * strip.depth)
    taylor = strip.taylor(np.stack([s.ravel(), d.ravel()], axis=1))
    a, b = taylor[(1, 0)], taylor[(0, 1)]
    areas = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return bool(
        np.all(areas * areas[0] > 0) and np.ptp(np.log(np.abs(areas))) < np.log(STRIPS.squeezed)
    )
