"""Strips along closed curves, in which layers decay.

A strip along a smooth piece of boundary is a chart of its own: distance from the boundary, and
place along it. So a layer takes the same patches whatever its width, as beside a straight wall.
Boxes go on where strips end, and are cut there.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from sharpfront.adapt.patchwork.blocks import Block, Tiling
from sharpfront.adapt.patchwork.layers import decay_rates
from sharpfront.adapt.patchwork.settings import PatchSettings
from sharpfront.arrays import FloatArray
from sharpfront.bases.cut import Region
from sharpfront.geometry.panels import Panels
from sharpfront.maps import Strip
from sharpfront.problem import Problem

# Places on a panel, as shares of it, at which the operator and the domain are looked at.
LOOKED = np.array([0.02, 0.25, 0.5, 0.75, 0.98])
# A strip is no deeper than this share of how far normals do not meet, themselves or others.
DEEPEST = 0.6
# Layers that are deeper than so many times that are left to boxes: they are no narrower than these.
WIDE = 2.0
# Half the gap to other boundary is found on so many depths, each this factor of the one before.
DEPTHS, FACTOR = 60, 0.85
# Normals turn by less than this between the panels of a smooth curve.
SMOOTH = 1e-6


def collared(problem: Problem, tiling: Tiling, settings: PatchSettings, tol: float) -> Tiling:
    """Return a tiling with strips along the closed curves beside which layers are thin.

    Parameters
    ----------
    problem, tiling
        What is solved, and the boxes over its domain.
    settings
        The constants.
    tol
        The tolerance.
    """
    block = tiling.blocks[0]
    if block.region is None or not block.region.panels.closed:
        return tiling
    panels = block.region.panels
    depths = np.zeros(len(panels.parts))
    for ends in panels.closed:
        if _is_smooth(panels, ends):
            depths[slice(*ends)] = _depth(problem, block, ends, settings.layer(tol))
    if not depths.any():
        return tiling
    strips = {
        k: strip
        for first, last in panels.closed
        if depths[first]
        for k, strip in _strips(panels, first, last, float(depths[first])).items()
    }
    inner = Region(block.domain, panels.moved(depths), strips)
    blocks = [_block(block, strip, panels.parts[k]) for k, strip in strips.items()]
    return replace(tiling, blocks=(replace(block, region=inner), *blocks))


def _is_smooth(panels: Panels, ends: tuple[int, int]) -> bool:
    """Tell whether a closed curve has no corners."""
    at = np.arange(*ends)
    start, stop = (panels.boundary(at, np.full(len(at), t))[0].normals for t in (-1.0, 1.0))
    turns = np.linalg.norm(np.roll(start, -1, axis=0) - stop, axis=1)
    return bool(turns.max() < SMOOTH)


def _block(block: Block, strip: Strip, part: str) -> Block:
    lines = (np.array([0.0, strip.length]), np.array([0.0, strip.depth]))
    wall = (1, 0.0, np.zeros(1), np.array([strip.length]), part)
    return Block(block.domain, lines, (wall,), strip)


def _strips(panels: Panels, first: int, last: int, depth: float) -> dict[int, Strip]:
    """Return the strips along a closed curve, each with the ends of its neighbours."""
    count = last - first
    at = np.arange(first, last)
    outer = panels.at(at, np.full(count, -1.0))
    inner = panels.moved(np.full(len(panels.parts), depth)).at(at, np.full(count, -1.0))
    joints = [
        ((float(a[0]), float(a[1])), (float(b[0]), float(b[1])))
        for a, b in zip(outer, inner, strict=True)
    ]
    return {
        k: replace(_strip(panels, k, depth), ends=(joint, following))
        for k, (joint, following) in zip(
            at.tolist(), itertools.pairwise([*joints, joints[0]]), strict=True
        )
    }


def _strip(panels: Panels, panel: int, depth: float) -> Strip:
    z, w = np.polynomial.legendre.leggauss(12)
    _, speeds = panels.boundary(np.full(len(z), panel), z)
    return Strip(panels.weights[panel], panels.normals[panel], float(w @ speeds), depth)


def _depth(problem: Problem, block: Block, ends: tuple[int, int], widths: float) -> float:
    """Return how deep strips along a closed curve are, so many widths of its layers; 0 for none."""
    assert block.region is not None
    panels = block.region.panels
    room = _room(block, panels, ends)
    deep: list[FloatArray] = []
    for panel in range(*ends):
        strip = _strip(panels, panel, room)
        places = np.stack([LOOKED * strip.length, np.full(len(LOOKED), 1e-6 * room)], axis=1)
        rates = decay_rates(problem, places, 1, 0, chart=strip)
        deep += [widths / own for own in rates]
    found = np.concatenate(deep)
    thin = found[found < WIDE * room]
    return float(min(thin.max(), DEEPEST * room)) if len(thin) else 0.0


def _room(block: Block, panels: Panels, ends: tuple[int, int]) -> float:
    """Return how far from a closed curve normals meet neither each other nor other boundary."""
    panel = np.repeat(np.arange(*ends), len(LOOKED))
    found, _ = panels.boundary(panel, np.tile(2.0 * LOOKED - 1.0, ends[1] - ends[0]))
    places, bends = panels.curvatures
    own = np.repeat(np.arange(len(panels.parts)), len(places) // len(panels.parts))
    convex = -bends[(own >= ends[0]) & (own < ends[1])].min()
    size = float(np.ptp(block.domain.bounds, axis=0).max())
    room = min(size, 1.0 / max(float(convex), 1e-300))
    for depth in room * FACTOR ** np.arange(DEPTHS):
        inside = found.points - depth * found.normals
        if np.all(block.domain.distance(inside) >= 0.99 * depth):
            return float(depth)
    return 0.0
