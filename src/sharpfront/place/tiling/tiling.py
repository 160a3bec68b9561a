"""How a domain is tiled: by boxes, in charts where sides are slanted, cut where they are curved."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.bases.solid_cut_cells import SolidRegion
from sharpfront.equation.oblique_lines import Line
from sharpfront.geometry import Domain
from sharpfront.geometry.curves import Curve, Segment, ends_of
from sharpfront.geometry.shape import pieces_of
from sharpfront.geometry.surfaces import surfaces_of
from sharpfront.maps import AxisMap, Quadrilateral
from sharpfront.maps.quadrilateral import Corner
from sharpfront.place.tiling.blocks import Block, Tiling, has_slit, snap, snapped, wall_of
from sharpfront.place.tiling.charts import Edge, quadrilaterals
from sharpfront.place.tiling.curved import curved_tiling, frame_of
from sharpfront.place.tiling.frames import Frame, PolygonRing
from sharpfront.place.tiling.slants import Torn, arranged, everywhere
from sharpfront.place.tiling.solids import ROUNDING, Wall, lattice_of, merged
from sharpfront.rows.neighbours import faces_of


@lru_cache(maxsize=16)
def tiling_of(domain: Domain) -> Tiling | None:
    """Return how to tile a domain; None where that is not known."""
    if domain.is_box:
        return Tiling(domain, (_box(domain),))
    if domain.dimension != 2:
        found = lattice_of(domain)
        return Tiling(domain, (Block(domain, *found),)) if found else solid_tiling(domain)
    pieces = pieces_of(domain)
    sides = [(ends_of(curve), part) for part, curves in pieces.items() for curve in curves]
    straight = [(ends, part) for ends, part in sides if ends is not None]
    if len(straight) < len(sides):
        return curved_tiling(domain, pieces)
    walls = [wall_of(ends, part) for ends, part in straight]
    parallel = [wall for wall in walls if wall is not None]
    if len(parallel) == len(walls):
        lattice = _lattice(domain, parallel)
        if not has_slit(lattice.blocks[0].walls):
            return _if_closed(lattice)
    whole = [c for curves in pieces.values() for c in curves if isinstance(c, Segment)]
    return _charted(domain, straight, [end for c in whole for end in (c.start, c.end)])


def _lattice(domain: Domain, walls: Sequence[Wall]) -> Tiling:
    """Return the tiling of a domain with axis-parallel sides, by boxes."""
    lines = tuple(
        merged(
            [w[1] for w in walls if w[0] == a]
            + [float(e[0]) for w in walls if w[0] != a for e in w[2:4]],
            float(np.ptp(domain.bounds[:, a])),
        )
        for a in range(2)
    )
    moved = tuple(
        (
            axis,
            snap(place, lines[axis]),
            snapped(low, lines[1 - axis]),
            snapped(high, lines[1 - axis]),
            part,
        )
        for axis, place, low, high, part in walls
    )
    # What a part takes of a side may be a point: then it is none.
    walls = [w for w in moved if w[2][0] < w[3][0]]
    return Tiling(domain, (Block(domain, lines, tuple(walls)),))


def _charted(
    domain: Domain,
    sides: Sequence[tuple[FloatArray, str]],
    known: Sequence[FloatArray],
    cuts: Sequence[FloatArray] = (),
    rough: Sequence[FloatArray] = (),
) -> Tiling | None:
    """Return the tiling of a domain with slanted sides, or cut along lines from side to side.

    By charts; some corners are known, and the ends of rough cuts count as such.
    """
    ends = [ends for ends, _ in sides]
    every = _distinct(np.concatenate([*ends, *cuts, *rough]), known)
    corners = every[: 2 * (len(sides) + len(cuts))]
    edges = [frozenset(pair) for pair in zip(corners[::2], corners[1::2], strict=True)]
    own = zip(edges, (part for _, part in sides), strict=False)
    named = {edge: part for edge, part in own if len(edge) > 1}
    at = set(itertools.chain(*named))
    charts, halves = quadrilaterals(domain.contains, list(named), edges[len(sides) :], at)
    names = {**named, **{half: named[side] for half, side in halves.items()}}
    blocks = _blocks(domain, charts, names)
    inner = tuple(dict.fromkeys(every[len(corners) :]))
    return _if_closed(Tiling(domain, tuple(blocks), ends=inner)) if blocks else None


def _blocks(
    domain: Domain, charts: Sequence[Quadrilateral], named: Mapping[Edge, str]
) -> list[Block]:
    """Return the blocks of charts, of whose edges those on the boundary have names."""
    blocks = []
    for chart in charts:
        walls = []
        for axis, end in itertools.product(range(2), range(2)):
            part = named.get(frozenset(chart.edge(axis, end)))
            if part is not None:
                place = float(chart.size[axis]) if end else 0.0
                rest = chart.size[1 - axis : 2 - axis]
                walls.append((axis, place, np.zeros(1), rest, part))
        lines = tuple(np.array([0.0, length]) for length in chart.size)
        blocks.append(Block(domain, lines, tuple(walls), chart))
    return blocks


def rings_of(domain: Domain) -> list[PolygonRing]:
    """Return the rings of a domain with straight sides; none where some touch, or are curved."""
    curves = [(part, c) for part, own in pieces_of(domain).items() for c in own]
    straight = [(part, c, ends_of(c)) for part, c in curves if isinstance(c, Curve)]
    sides = [(e if _is_left(c, e) else e[::-1], part) for part, c, e in straight if e is not None]
    if not sides or len(sides) < len(curves):
        return []
    ends = _distinct(np.concatenate([e for e, _ in sides]), [])
    after = {a: (b, part) for (a, b), (_, part) in zip(_paired(ends), sides, strict=True) if a != b}
    out = []
    if len(after) < len(sides):
        return []
    while after:
        corners, parts = [next(iter(after))], []
        while corners[-1] in after:
            corner, part = after.pop(corners[-1])
            corners.append(corner)
            parts.append(part)
        if corners.pop() != corners[0]:
            return []
        out.append(PolygonRing(tuple(corners), tuple(parts)))
    return out


def _is_left(curve: Curve, ends: FloatArray) -> bool:
    """Tell whether the domain is on the left of a straight piece of its boundary."""
    x, y = curve.at(np.array([0.5 * curve.measure])).normals[0]
    along = ends[1] - ends[0]
    return bool(along[1] * x - along[0] * y > 0.0)


def _paired(ends: Sequence[Corner]) -> list[tuple[Corner, Corner]]:
    return list(zip(ends[::2], ends[1::2], strict=True))


def framed_tiling(domain: Domain, frames: Sequence[Frame]) -> Tiling | None:
    """Return the tiling of a domain by frames along its sides, and charts inside of these."""
    lines = {frozenset(ends): ends for frame in frames for ends in frame.lines}
    every = [own for frame in frames for own in frame.charts]

    def inside(points: FloatArray) -> NDArray[np.bool_]:
        out = domain.contains(points)
        for chart, *_ in every:
            at = chart.inverse(points)
            out &= ~np.all((at >= 0.0) & (at <= chart.size), axis=1)
        return out

    charts, halves = quadrilaterals(inside, list(lines), [], set())
    parts = {**lines, **{half: lines[side] for half, side in halves.items()}}
    blocks = _blocks(domain, [_with_parts(chart, parts) for chart in charts], {})
    for chart, across, names in every:
        blocks += [replace(block, layered=across) for block in _blocks(domain, [chart], names)]
    return _if_closed(Tiling(domain, tuple(blocks))) if charts else None


def _with_parts(chart: Quadrilateral, lines: Mapping[Edge, tuple[Corner, Corner]]) -> Quadrilateral:
    """Return a chart that knows which lines some of its edges are parts of."""
    sides = list(itertools.product((0, 1), (0, 1)))
    found = {side: lines.get(frozenset(chart.edge(*side))) for side in sides}
    return replace(chart, parts=tuple((side, ends) for side, ends in found.items() if ends))


def cut_along(
    domain: Domain,
    lines: Sequence[Line],
    smooth: Sequence[Line] = (),
    torn: Torn = everywhere,
) -> Tiling | None:
    """Return a tiling of a domain with straight sides that no chart lies across lines in.

    Or across those stretches of them that are torn. None where there is none, or charts would be
    slivers. Where lines end counts as a corner, unless data are smooth there.
    """
    if domain.dimension != 2 or any(domain.periodic_axes):
        return None
    if domain.is_box:
        block = _box(domain)
        sides = [(block.ends(wall), wall[4]) for wall in block.walls]
    else:
        pieces = pieces_of(domain)
        found = [(ends_of(c), part) for part, curves in pieces.items() for c in curves]
        sides = [(ends, part) for ends, part in found if ends is not None]
        if not sides or len(sides) < len(found):
            return None
    every = arranged(domain, sides, (*lines, *smooth), torn)
    own = arranged(domain, sides, lines, torn) if smooth else every
    if every is None or own is None or not every[1]:
        return None
    return _charted(domain, every[0], [], every[1], own[1])


def _distinct(points: FloatArray, known: Sequence[FloatArray]) -> list[tuple[float, float]]:
    """Return points, (m, 2), those that differ by rounding as one.

    Known ones differ as they do: a slit may be as narrow.
    """
    near = ROUNDING * float(np.ptp(points, axis=0).max())
    kept = list(known)
    out = []
    for x in points:
        gaps = [float(np.abs(k - x).max()) for k in kept]
        if not gaps or min(gaps) > near:
            gaps.append(0.0)
            kept.append(x)
        same = kept[int(np.argmin(gaps))]
        out.append((float(same[0]), float(same[1])))
    return out


def _if_closed(tiling: Tiling) -> Tiling | None:
    """Return a tiling if every bare side of its first boxes has a wall."""
    patches = [
        Patch(tuple(AxisMap(*e) for e in np.stack(box, axis=1).tolist()), (1, 1), block.chart)
        for block in tiling.blocks
        for box in block.boxes(block.lines)
    ]
    _, sides = faces_of(patches, tiling.periods)
    return tiling if all(tiling.parts(patches, sides).values()) else None


def _box(domain: Domain) -> Block:
    low, high = domain.bounds
    walls = []
    names = iter(domain.parts)
    for axis, joined in enumerate(domain.periodic_axes):
        if joined:
            continue
        rest = [a for a in range(domain.dimension) if a != axis]
        for place in (low[axis], high[axis]):
            walls.append((axis, float(place), low[rest], high[rest], next(names)))
    lines = tuple(np.array([a, b]) for a, b in zip(low, high, strict=True))
    return Block(domain, lines, tuple(walls))


def solid_tiling(domain: Domain) -> Tiling | None:
    """Return the tiling of a solid by boxes that its surface cuts."""
    surfaces = surfaces_of({part: domain.smooth_pieces(part) for part in domain.parts})
    if surfaces is None:
        return None
    walls = tuple((*s.wall, s.part) for s in surfaces if s.wall is not None)
    block = Block(domain, frame_of(domain, walls), walls, region=SolidRegion(domain, surfaces))
    return Tiling(domain, (block,))
