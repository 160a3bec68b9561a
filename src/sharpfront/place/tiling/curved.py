"""Boxes over a domain with curved sides: cut at its corners, small beside small bends."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut_cells import Region
from sharpfront.bases.patch import Patch
from sharpfront.geometry import Domain
from sharpfront.geometry.curves import Curve, ends_of
from sharpfront.geometry.panels import Panels
from sharpfront.maps import AxisMap
from sharpfront.place.patches.cuts import Cell
from sharpfront.place.tiling.blocks import Block, Tiling, has_slit, snap, snapped, wall_of
from sharpfront.place.tiling.settings import TILING
from sharpfront.place.tiling.solids import ROUNDING, Wall, merged


def curved_tiling(domain: Domain, pieces: Mapping[str, Sequence[object]]) -> Tiling | None:
    """Return the tiling of a domain with curved sides, by boxes that these cut."""
    curves = [(p, c) for p, own in pieces.items() for c in own if isinstance(c, Curve)]
    straight = [(ends_of(c), p) for p, c in curves]
    walls = [(e is not None and wall_of(e, p)) or None for e, p in straight]
    ends = [(c.at(np.array([0.0, c.measure])).points, p) for p, c in curves if not c.closed]
    places = [
        _places(
            [w[1] for w in walls if w and w[0] == a],
            [float(x[a]) for e, _ in ends for x in e],
            float(np.ptp(domain.bounds[:, a])),
        )
        for a in range(2)
    ]
    walls = [wall and _snapped(wall, places) for wall in walls]
    kept = tuple(w for w in walls if w is not None and w[2][0] < w[3][0])
    if has_slit(kept):
        return None
    cutting = Panels(pc for pc, wall in zip(curves, walls, strict=True) if wall is None)
    region = Region(domain, cutting)
    known = np.array([[snap(x[a], places[a]) for a in range(2)] for x in domain.corners])
    lines = _through(enclosed(domain, known), frame_of(domain, kept))
    block = Block(domain, lines, kept, region=region)
    bent = [
        (c.at(np.array([0.0, c.measure])).points, p)
        for (p, c), wall in zip(curves, walls, strict=True)
        if wall is None and not c.closed
    ]
    corners = _turns(known.reshape(-1, 2), ends, places)
    outline = tuple((p, c, wall) for (p, c), wall in zip(curves, walls, strict=True))
    return Tiling(domain, (block,), curves=tuple(bent), outline=outline, places=corners)


def _snapped(wall: Wall, places: Sequence[FloatArray]) -> Wall:
    """Return a wall with its place and its ends among places along each axis."""
    axis, place, low, high, part = wall
    along = places[1 - axis]
    return axis, snap(place, places[axis]), snapped(low, along), snapped(high, along), part


def _places(walls: Sequence[float], ends: Sequence[float], length: float) -> FloatArray:
    """Return places along an axis, those that differ by rounding as one: that of the wall."""
    found = merged([*walls, *ends], length)
    known = np.array(walls)
    if not len(known):
        return found
    near = ROUNDING * length
    nearest = known[np.argmin(np.abs(found[:, None] - known), axis=1)]
    return np.asarray(np.where(np.abs(nearest - found) <= near, nearest, found))


def frame_of(domain: Domain, walls: Sequence[Wall]) -> tuple[FloatArray, ...]:
    """Return the ends of a box about a domain along each axis."""
    out = []
    for axis, ends in enumerate(domain.bounds.T):
        room = TILING.room * float(np.ptp(ends))
        held = [[w[1] for w in walls if w[0] == axis and abs(w[1] - x) < room] for x in ends]
        if domain.periodic_axes[axis]:
            held = [[float(x)] for x in ends]
        low = min(held[0], default=float(ends[0]) - room)
        high = max(held[1], default=float(ends[1]) + room)
        out.append(np.array([low, high]))
    return tuple(out)


def enclosed(domain: Domain, corners: FloatArray) -> FloatArray:
    """Return the corners from which no straight line outside of the domain leads away, (k, 2).

    As those of a hole.
    """
    extent = float(np.ptp(domain.bounds, axis=0).max())
    angles = 2.0 * np.pi * (np.arange(TILING.rays) + 0.5) / TILING.rays
    lengths = 2.0 * extent * np.geomspace(1e-6, 1.0, TILING.along_rays)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, None] * lengths[:, None]
    out = []
    for corner in corners.reshape(-1, 2):
        met = domain.contains((corner + ways).reshape(-1, 2)).reshape(
            TILING.rays, TILING.along_rays
        )
        if met.any(axis=1).all():
            out.append(corner)
    return np.array(out).reshape(-1, 2)


def _through(corners: FloatArray, lines: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
    """Return lines through corners as well, if there are few.

    Functions of a corner in a hole belong to some boxes around the hole, between these lines.
    """
    found = tuple(np.union1d(x, y) for x, y in zip(lines, corners.T, strict=True))
    return found if max(map(len, found)) <= TILING.most_lines else lines


def _turns(
    known: FloatArray,
    ends: Sequence[tuple[FloatArray, str]],
    places: Sequence[FloatArray],
) -> FloatArray:
    """Return corners, and where one part of the boundary ends, (k, 2)."""
    parts: dict[tuple[float, float], set[str]] = {}
    for points, part in ends:
        for x in points.tolist():
            parts.setdefault((snap(x[0], places[0]), snap(x[1], places[1])), set()).add(part)
    changes = [place for place, named in parts.items() if len(named) > 1]
    return np.unique(np.concatenate([known, np.array(changes).reshape(-1, 2)]), axis=0)


def fitted(cells: Sequence[Cell], block: Block, corners: FloatArray) -> list[Cell]:
    """Return cells with corners of the domain at corners only, and walls along sides only."""
    assert block.region is not None
    # Edges in space lie along sides of boxes; corners beyond strips are theirs.
    corners = corners[~np.isnan(corners).any(axis=1)]
    corners = corners[block.region.contains(corners)]
    out, left = [], list(cells)
    while left:
        cell = left.pop()
        cuts = next(_cuts(cell.patch, block, corners), None)
        if cuts is None:
            # Not before: walls do not cut boxes, so that one across a wall may seem empty.
            out += [] if cell.patch.is_empty else [cell]
            continue
        sides = [
            [AxisMap(a, b) for a, b in itertools.pairwise((m.low, *own, m.high))]
            for m, own in zip(cell.patch.maps, cuts, strict=True)
        ]
        left += cell.cut_into(sides)
    return out[::-1]


def _cuts(patch: Patch, block: Block, corners: FloatArray) -> Iterator[list[list[float]]]:
    """Yield where to cut a patch along each axis, in turn what matters most."""
    low, high = patch.low, patch.high
    for corner in corners:
        if np.all((corner >= low) & (corner <= high)):
            inside = (corner > low) & (corner < high)
            if inside.any():
                yield [[x] if here else [] for x, here in zip(corner.tolist(), inside, strict=True)]
    for axis, place, first, last, _ in block.walls:
        rest = [a for a in range(patch.dimension) if a != axis]
        beside = np.all((first < high[rest]) & (last > low[rest]))
        if low[axis] < place < high[axis] and beside:
            yield [[place] if a == axis else [] for a in range(patch.dimension)]
    if patch.cut is not None and patch.longest > TILING.bent * _least_radius(patch):
        middle = 0.5 * (low + high)
        long = patch.sides > 0.5 * patch.longest
        yield [[x] if here else [] for x, here in zip(middle.tolist(), long, strict=True)]
    if patch.cut is not None and patch.dimension == 2 and _surrounds(patch, block):
        places = patch.cut.region.bends[0]
        inside = places[np.all((places > low) & (places < high), axis=1)]
        if len(inside) and (np.ptp(inside, axis=0) > TILING.large_hole * patch.sides).all():
            yield [[x] for x in (0.5 * (low + high)).tolist()]


def _surrounds(patch: Patch, block: Block) -> bool:
    """Tell whether a hole lies in a patch, or another material: all along its sides is domain.

    What a solution owes to a hole is singular inside that, and no polynomial all round it is.
    """
    assert block.region is not None
    t = np.linspace(-TILING.nearly, TILING.nearly, TILING.along_sides)
    ends = np.full(TILING.along_sides, TILING.nearly)
    rim = np.concatenate([np.stack(p, axis=1) for e in (ends, -ends) for p in ((t, e), (e, t))])
    middle, half = 0.5 * (patch.low + patch.high), 0.5 * patch.sides
    return bool(block.region.contains(middle + half * rim).all())


def _least_radius(patch: Patch) -> float:
    """Return the least radius of bends inwards of the boundary in a patch."""
    assert patch.cut is not None
    places, bends = patch.cut.region.bends
    here = np.all((places >= patch.low) & (places <= patch.high), axis=1)
    return 1.0 / max(float(bends[here].max(initial=0.0)), 1e-300)
