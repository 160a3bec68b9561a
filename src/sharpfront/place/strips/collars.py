"""Strips along the boundary, in which layers decay.

A strip along a smooth piece of boundary is a chart of its own: distance from the boundary, and
place along it. So a layer takes the same patches whatever its width, as beside a straight wall.
Boxes go on where strips end, and are cut there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut import Region
from sharpfront.geometry.panels import Panels
from sharpfront.maps import Strip
from sharpfront.place.patches.settings import PatchSettings
from sharpfront.place.strips.mitred import with_outlines
from sharpfront.place.strips.outlines import SMOOTH
from sharpfront.place.strips.ribbons import (
    DEEPEST,
    WIDE,
    Ribbon,
    distances,
    evened,
    layers_beside,
    rooms_along,
    strip_block,
)
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.problem import Problem


def collared(problem: Problem, tiling: Tiling, settings: PatchSettings, tol: float) -> Tiling:
    """Return a tiling with strips along the curves beside which layers are thin."""
    widths = settings.layer(tol)
    tiling = with_outlines(problem, tiling, widths)
    blocks = [_collared(problem, block, widths) for block in tiling.blocks]
    return replace(tiling, blocks=tuple(one for own in blocks for one in own))


def _collared(problem: Problem, block: Block, widths: float) -> list[Block]:
    """Return a block with strips along its boundary that are so many widths of layers deep."""
    if not isinstance(block.region, Region) or not block.region.panels.closed:
        return [block]
    panels = block.region.panels
    depths, outwards = np.zeros(len(panels.parts)), panels.normals.copy()
    strips: dict[int, Strip] = {}
    for ends in panels.closed:
        if not _is_smooth(panels, ends):
            continue
        at = np.arange(*ends)
        found = _deep(problem, block, Ribbon(panels.chosen(at), panels.normals[at]), widths)
        if found is not None:
            ribbon, depth = found
            depths[at], outwards[at] = depth, ribbon.outwards
            strips |= dict(zip(at.tolist(), ribbon.strips(depth), strict=True))
    if not strips:
        return [block]
    inner = {k: (strip, 1) for k, strip in strips.items()}
    moved = panels.moved(depths, outwards)
    region = Region(block.domain, moved, {**block.region.strips, **inner})
    return [
        replace(block, region=region),
        *(strip_block(block.domain, strip, panels.parts[k]) for k, strip in strips.items()),
    ]


def _is_smooth(panels: Panels, ends: tuple[int, int]) -> bool:
    """Tell whether a closed curve has no corners."""
    at = np.arange(*ends)
    start, stop = (panels.boundary(at, np.full(len(at), t))[0].normals for t in (-1.0, 1.0))
    turns = np.linalg.norm(np.roll(start, -1, axis=0) - stop, axis=1)
    return bool(turns.max() < SMOOTH)


def _deep(
    problem: Problem, block: Block, ribbon: Ribbon, widths: float
) -> tuple[Ribbon, float] | None:
    """Return a closed curve with directions as long as there is room, and how deep its strips are.

    As deep as layers where there is room for that everywhere, or for most of them. Elsewhere they
    are deeper where there is more room: petals took twice the time with that, so there only layers
    of the equation count, not what its solutions do about a bend. None where no layer is thin
    beside the room.
    """
    rooms = _rooms(block, ribbon)
    strips = ribbon.strips(DEEPEST * float(rooms.max()))
    deep = layers_beside(problem, strips, widths)
    every, least = np.concatenate(deep), float(rooms.min())
    if np.any(every < WIDE * least):
        return ribbon, min(float(every[every < WIDE * least].max()), DEEPEST * least)
    room = np.minimum(rooms[:-1], rooms[1:])
    deep = layers_beside(problem, strips, widths, bends=False)
    thin = [own[own < WIDE * r] for own, r in zip(deep, room.tolist(), strict=True)]
    every = np.concatenate(thin)
    if not len(every) or least <= 0.0:
        return None
    depth = min(float(every.max()), DEEPEST * float(rooms.max()))
    depths = evened(np.minimum(depth, DEEPEST * rooms), ribbon.lengths, closed=True)
    return ribbon.scaled(depths / depth), depth


def _rooms(block: Block, ribbon: Ribbon) -> FloatArray:
    """Return how far from the ends of panels normals meet neither each other nor anything else."""
    region, domain = block.region, block.domain
    assert isinstance(region, Region)

    def clearance(points: FloatArray, _: float) -> FloatArray:
        own = domain.distance(points)
        if region.strips:
            own = np.minimum(own, distances(region.edges[0], points))
        return np.asarray(own)

    return rooms_along(ribbon, float(np.ptp(domain.bounds, axis=0).max()), clearance)
