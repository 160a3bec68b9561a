"""Strips along the boundary, in which layers decay.

A strip along a smooth piece of boundary is a chart of its own: distance from the boundary, and
place along it. So a layer takes the same patches whatever its width, as beside a straight wall.
Boxes go on where strips end, and are cut there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut_cells import Region
from sharpfront.geometry.panels import Panels
from sharpfront.maps import Quadrilateral
from sharpfront.place.patches.settings import PatchSettings
from sharpfront.place.strips.decay_rates import decay_rates
from sharpfront.place.strips.facing_panels import Meeting
from sharpfront.place.strips.medial import joined, left_of, meetings, pieces
from sharpfront.place.strips.mitred import with_outlines
from sharpfront.place.strips.ribbons import (
    ON_PANEL,
    Ribbon,
    distances,
    evened,
    joint_rooms,
    layers_beside,
    rooms_along,
    strip_block,
)
from sharpfront.place.strips.settings import STRIPS
from sharpfront.place.strips.shells import shelled
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.place.tiling.frames import PolygonRing, fit
from sharpfront.place.tiling.tiling import framed_tiling, rings_of
from sharpfront.problem import Problem
from sharpfront.rounding import SLIGHT


def framed(problem: Problem, tiling: Tiling, widths: float) -> Tiling:
    """Return a tiling by charts with frames along all sides, where all have thin layers.

    Frames are so many widths of layers deep. Charts that were cut along lines stay as they are, and
    so do those with winds: beside a side that a wind enters by nothing decays.
    """
    if tiling.blocks[0].chart is None or tiling.ends or tiling.marked:
        return tiling
    rings = rings_of(tiling.domain)
    size = float(np.ptp(tiling.domain.bounds, axis=0).max())
    depths = [
        ring.evened(np.array([_deepest_layer(problem, side, widths, size) for side in ring.sides]))
        for ring in rings
    ]
    deepest = max((float(own.max()) for own in depths), default=math.inf)
    if not deepest < STRIPS.of_gap * _frame_room(rings, 0.5 * size):
        return tiling
    frames = [ring.frame(own) for ring, own in zip(rings, depths, strict=True)]
    return (framed_tiling(tiling.domain, frames) if fit(frames) else None) or tiling


def _frame_room(rings: Sequence[PolygonRing], most: float) -> float:
    """Return how deep frames along the sides of rings may be, zero if there is no room for any."""
    found = 0.0
    for depth in most * STRIPS.factor ** np.arange(STRIPS.depths)[::-1]:
        if not fit([ring.frame(np.full(len(ring.corners), depth)) for ring in rings]):
            break
        found = float(depth)
    return found


def _deepest_layer(problem: Problem, side: FloatArray, widths: float, size: float) -> float:
    """Return how deep layers beside a side, (2, 2), are; infinite where somewhere none is."""
    (x, y), (a, b) = side.tolist()
    length, deep = math.dist((x, y), (a, b)), STRIPS.nominal * size
    in_x, in_y = -(b - y) * deep / length, (a - x) * deep / length
    chart = Quadrilateral(((x, y), (a, b), (a + in_x, b + in_y), (x + in_x, y + in_y)))
    places = np.stack(
        [0.5 * (ON_PANEL + 1.0) * length, np.full(len(ON_PANEL), 1e-6 * deep)], axis=1
    )
    rates = decay_rates(problem, places, 1, 0, chart=chart)
    return max(widths / float(own.min()) if len(own) else math.inf for own in rates)


# A curve with directions, and how deep strips along it are.
_DeepRibbon = tuple[Ribbon, float]


def collared(problem: Problem, tiling: Tiling, settings: PatchSettings, tol: float) -> Tiling:
    """Return a tiling with strips along curves and shells along surfaces with thin layers."""
    widths = settings.layer(tol)
    if problem.domain.dimension == 3:
        shells = [shelled(problem, block, widths) for block in tiling.blocks]
        return replace(tiling, blocks=tuple(one for own in shells for one in own))
    tiling = with_outlines(problem, framed(problem, tiling, widths), widths)
    blocks = [_collared(problem, block, widths) for block in tiling.blocks]
    return replace(tiling, blocks=tuple(one for own in blocks for one in own))


def _collared(problem: Problem, block: Block, widths: float) -> list[Block]:
    """Return a block with strips along its boundary that are so many widths of layers deep."""
    if not isinstance(block.region, Region) or not block.region.panels.closed:
        return [block]
    panels = block.region.panels
    smooth = [ends for ends in panels.closed if _is_smooth(panels, ends)]
    deep = _short_of_room(problem, block, smooth, widths)
    met = meetings(panels, deep / STRIPS.of_gap) if deep.any() else []
    collars: list[_DeepRibbon] = []
    held: list[int] = []
    for ends in smooth:
        if any(ends[0] <= s.start < ends[1] for m in met for s in m.stretches):
            collars += _between_meetings(block, ends, met, float(deep[ends[0]]))
        elif (found := _deep_ribbon(problem, block, _ribbon(panels, ends), widths)) is not None:
            collars.append(found)
        else:
            continue
        held += range(*ends)
    return _with_collars(block, held, collars, met) if held else [block]


def _with_collars(
    block: Block, held: Sequence[int], collars: Sequence[_DeepRibbon], met: Sequence[Meeting]
) -> list[Block]:
    """Return a block with strips along some of its panels, and the strips."""
    region = block.region
    assert isinstance(region, Region)
    rest = np.setdiff1d(np.arange(len(region.panels.parts)), held)
    panels = region.panels.chosen(rest)
    kept = {int(np.searchsorted(rest, k)): own for k, own in region.strips.items()}
    every = [strip for m in met for strip in m.strips()]
    between = len(every)
    for ribbon, depth in collars:
        every += zip(ribbon.strips(depth), ribbon.panels.parts, strict=True)
    strips = joined([strip for strip, _ in every]) if met else [strip for strip, _ in every]
    kept |= {len(rest) + k: (strip, 1, 1) for k, strip in enumerate(strips[between:])}
    for ribbon, depth in collars:
        panels = panels.beside(ribbon.edge(depth))
    out = [
        strip_block(block.domain, strip, part)
        for strip, (_, part) in zip(strips, every, strict=True)
    ]
    if not panels.parts and not block.walls:
        return out
    shut = np.concatenate([region.shut, *(m.middle for m in met)])
    return [replace(block, region=Region(block.domain, panels, kept, shut)), *out]


def _short_of_room(
    problem: Problem, block: Block, smooth: Sequence[tuple[int, int]], widths: float
) -> FloatArray:
    """Return how deep layers beside panels are, (n,), zero where all of them have room."""
    assert isinstance(block.region, Region)
    panels = block.region.panels
    ribbons = [_ribbon(panels, ends) for ends in smooth]
    rooms = [_rooms(block, ribbon) for ribbon in ribbons]
    most, short = max((float(r.max()) for r in rooms), default=0.0), False
    deep = np.zeros(len(panels.parts))
    for ends, ribbon, room in zip(smooth, ribbons, rooms, strict=True):
        found = _thin(problem, ribbon, np.full(len(room), most), widths)
        deep[slice(*ends)] = found
        short |= found > STRIPS.of_gap * float(room.min())
    return deep if short else np.zeros_like(deep)


def _ribbon(panels: Panels, ends: tuple[int, int]) -> Ribbon:
    """Return a closed curve among panels."""
    at = np.arange(*ends)
    return Ribbon(panels.chosen(at), panels.normals[at])


def _between_meetings(
    block: Block, ends: tuple[int, int], met: Sequence[Meeting], deep: float
) -> Iterator[_DeepRibbon]:
    """Yield the collars of a closed curve between the stretches that meet others half way."""
    assert isinstance(block.region, Region)
    for stretch in left_of(met, ends):
        own = pieces(block.region.panels, stretch, ends)
        part = Ribbon(own, own.normals)
        most = _most_depths(part, _rooms(block, part))
        depth = min(deep, float(most.max()))
        depths = evened(np.minimum(depth, most), part.lengths, closed=False)
        # Half way there are the strips of what is opposite.
        depths[[0, -1]] = stretch.radii
        yield part.scaled(depths / depth), depth


def _most_depths(ribbon: Ribbon, rooms: FloatArray) -> FloatArray:
    """Return how deep strips may be at the ends of panels, where there is so much room."""
    count = len(ribbon.panels.parts)
    _, bends = ribbon.panels.curvatures
    convex = np.maximum(-bends.reshape(count, -1).min(axis=1), 1e-300)
    before = np.append(convex[-1:] if ribbon.is_closed else 0.0, convex)
    after = np.append(convex, convex[:1] if ribbon.is_closed else 0.0)
    return np.asarray(np.minimum(STRIPS.of_gap * rooms, STRIPS.deepest / np.maximum(before, after)))


def _is_smooth(panels: Panels, ends: tuple[int, int]) -> bool:
    """Tell whether a closed curve has no corners."""
    at = np.arange(*ends)
    start, stop = (panels.boundary(at, np.full(len(at), t))[0].normals for t in (-1.0, 1.0))
    turns = np.linalg.norm(np.roll(start, -1, axis=0) - stop, axis=1)
    return bool(turns.max() < SLIGHT)


def _deep_ribbon(
    problem: Problem, block: Block, ribbon: Ribbon, widths: float
) -> tuple[Ribbon, float] | None:
    """Return a closed curve with directions as long as there is room, and how deep its strips are.

    As deep as layers where there is room for that everywhere, or for most of them. Elsewhere they
    are deeper where there is more room: petals took twice the time with that, so there only layers
    of the equation count, not what its solutions do about a bend. None where no layer is thin
    beside the room.
    """
    rooms = _rooms(block, ribbon)
    deep = layers_beside(problem, ribbon.strips(STRIPS.deepest * float(rooms.max())), widths)
    every, least, most = np.concatenate(deep), float(rooms.min()), _most_depths(ribbon, rooms)
    if np.any(every < STRIPS.wide * least):
        return ribbon, min(float(every[every < STRIPS.wide * least].max()), float(most.min()))
    depth = _thin(problem, ribbon, rooms, widths)
    if not depth or least <= 0.0:
        return None
    depth = min(depth, float(most.max()))
    depths = evened(np.minimum(depth, most), ribbon.lengths, closed=True)
    return ribbon.scaled(depths / depth), depth


def _thin(problem: Problem, ribbon: Ribbon, rooms: FloatArray, widths: float) -> float:
    """Return how deep the layers of the equation are that are thin beside the room; 0 for none."""
    strips = ribbon.strips(STRIPS.deepest * float(rooms.max()))
    deep = layers_beside(problem, strips, widths, bends=False)
    room = np.minimum(rooms[:-1], rooms[1:])
    thin = [own[own < STRIPS.wide * r] for own, r in zip(deep, room.tolist(), strict=True)]
    return float(np.concatenate(thin).max(initial=0.0))


def _rooms(block: Block, ribbon: Ribbon) -> FloatArray:
    """Return how far from the ends of panels normals meet neither each other nor anything else."""
    region, domain = block.region, block.domain
    assert isinstance(region, Region)

    def clearance(points: FloatArray, _: float) -> FloatArray:
        own = domain.distance(points)
        if region.strips:
            own = np.minimum(own, distances(region.strip_rim.tree, points))
        return np.asarray(own)

    rooms = rooms_along(ribbon, float(np.ptp(domain.bounds, axis=0).max()), clearance)
    return joint_rooms(rooms, closed=ribbon.is_closed)
