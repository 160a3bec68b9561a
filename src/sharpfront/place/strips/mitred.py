"""Strips along outlines with corners, in which layers decay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut import Region
from sharpfront.geometry.panels import Panels
from sharpfront.maps import Strip
from sharpfront.place.strips.outlines import Outline, OutlineSide, outlines_of
from sharpfront.place.strips.ribbons import (
    DEEPEST,
    DEPTHS,
    FACTOR,
    ON_PANEL,
    WIDE,
    Clearance,
    Ribbon,
    distances,
    layers_beside,
    samples,
    strip_block,
    tree_of,
)
from sharpfront.place.tiling.blocks import Block, Tiling
from sharpfront.problem import Problem

# Points on a panel that tell how far others are from it.
DENSE = np.linspace(-1.0, 1.0, 41)
# Strips lie apart from the boundary by this share of their depth, less beside corners.
APART, BESIDE_CORNERS = 0.98, 0.5
# How deep layers are is asked of strips of this depth, as a share of the domain's size.
NOMINAL = 1e-3
# In a strip areas differ by no more than this factor.
SQUEEZED = 10.0


def with_outlines(problem: Problem, tiling: Tiling, widths: float) -> Tiling:
    """Return a tiling with strips along outlines with corners, which then have no walls.

    Strips are so many widths of layers deep. Outlines of walls alone are left to boxes.
    """
    block = tiling.blocks[0]
    if len(tiling.blocks) > 1 or block.region is None or any(block.domain.periodic_axes):
        return tiling
    size = float(np.ptp(block.domain.bounds, axis=0).max())
    bent = {id(curve) for _, curve, wall in tiling.outline if wall is None}
    every = outlines_of([OutlineSide(part, curve) for part, curve, _ in tiling.outline], size)
    outlines = [
        o for o in every if not o.is_sharp and any(id(side.curve) in bent for side in o.sides)
    ]
    looks = _clearance(tiling) if outlines else None
    collars = [
        (outline, found)
        for outline in outlines
        if looks and (found := _collar(problem, outline, looks, size, widths)) is not None
    ]
    if not collars:
        return tiling
    held = {id(side.curve) for outline, _ in collars for side in outline.sides}
    return _around(tiling, held, [found for _, found in collars])


def _around(tiling: Tiling, held: set[int], collars: list[tuple[Ribbon, float]]) -> Tiling:
    """Return a tiling with strips along ribbons in the place of some curves."""
    block = tiling.blocks[0]
    left = [(part, curve, wall) for part, curve, wall in tiling.outline if id(curve) not in held]
    panels = Panels((part, curve) for part, curve, wall in left if wall is None)
    strips: dict[int, tuple[Strip, int]] = {}
    blocks: list[Block] = []
    for ribbon, depth in collars:
        own = ribbon.strips(depth)
        strips |= {k: (strip, 1) for k, strip in enumerate(own, len(panels.parts))}
        panels = panels.beside(ribbon.edge(depth))
        blocks += [
            strip_block(block.domain, s, p) for s, p in zip(own, ribbon.panels.parts, strict=True)
        ]
    region = Region(block.domain, panels, strips)
    gone = [wall for _, curve, wall in tiling.outline if id(curve) in held and wall is not None]
    walls = tuple(wall for *_, wall in left if wall is not None)
    ends = tuple((block.ends(wall), wall[4]) for wall in gone)
    bare = replace(block, walls=walls, region=region)
    return replace(tiling, blocks=(bare, *blocks), curves=(*tiling.curves, *ends))


def _clearance(tiling: Tiling) -> Clearance:
    """Return how far points are from the boundary, zero outside."""
    domain = tiling.domain
    tree = tree_of(samples(Panels((p, c) for p, c, _ in tiling.outline), DENSE)[0])

    def clearance(points: FloatArray, _: float) -> FloatArray:
        return np.where(domain.contains(points), distances(tree, points), 0.0)

    return clearance


def _collar(
    problem: Problem, outline: Outline, clearance: Clearance, size: float, widths: float
) -> tuple[Ribbon, float] | None:
    """Return an outline with directions, and how deep its strips are; None without thin layers."""
    nominal = NOMINAL * size
    strips = outline.ribbon(nominal)[0].strips(nominal)
    deep = np.concatenate(layers_beside(problem, strips, widths, bends=False))
    if not np.any(deep < WIDE * 0.5 * size):
        return None
    room = _room(outline, clearance, 0.5 * size)
    thin = deep[deep < WIDE * room]
    if not len(thin):
        return None
    depth = min(float(thin.max()), DEEPEST * room)
    return (outline.ribbon(depth)[0], depth) if _fits(outline, depth, clearance) else None


def _room(outline: Outline, clearance: Clearance, most: float) -> float:
    """Return how deep strips along an outline may be, zero if there is no room for any."""
    # Those of the first number fit by assumption, those of the last do not.
    fitting, other = DEPTHS, -1
    while fitting - other > 1:
        middle = (fitting + other) // 2
        if _fits(outline, most * FACTOR**middle, clearance):
            fitting = middle
        else:
            other = middle
    return most * FACTOR**fitting if fitting < DEPTHS else 0.0


def _fits(outline: Outline, depth: float, clearance: Clearance) -> bool:
    """Tell whether strips of a depth have room along an outline."""
    ribbon, mitred = outline.ribbon(depth)
    inner, _ = samples(ribbon.edge(depth))
    needed = np.where(mitred, BESIDE_CORNERS, APART) * depth
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
    return bool(np.all(areas * areas[0] > 0) and np.ptp(np.log(np.abs(areas))) < np.log(SQUEEZED))
