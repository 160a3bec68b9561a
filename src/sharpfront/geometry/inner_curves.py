"""Curves inside a domain of the plane: the zero of a function, closed or from wall to wall."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.arrays import Flags
from sharpfront.geometry.curves import ends_of
from sharpfront.geometry.domain import Domain, Points
from sharpfront.geometry.levelset import Implicit, LevelCurve, OpenLevelCurve
from sharpfront.geometry.marching import all_polylines, is_closed
from sharpfront.geometry.shape import pieces_of
from sharpfront.rounding import NEWTON_STEPS, ROUNDED, SAME, SLIGHT

# Points of a line closer than this to its end, in units of its spacing, are left out.
_CLOSE = 0.5
# What of a line is inside for no more points than this is left out.
_FEWEST = 3
# A curve lies inside if the domain is on both sides of it, this far away as a share of its size.
_BESIDE = 1e-3
# Places along a curve, as shares of its length.
_LOOKED = np.linspace(0.05, 0.95, 41)


class _Level(Implicit):
    """The zero of a function, without asking where it is negative."""

    def __init__(self, f: Callable[..., ArrayLike], frame: Points) -> None:
        vars(self).update(f=f, frame=frame)


def curves_inside(f: Callable[..., ArrayLike], domain: Domain) -> tuple[list[LevelCurve], bool]:
    """Return the zero of a function in a domain, and whether that is all of it.

    Normals lead to where the function is positive. Curves end on straight walls where they cross
    them, and short of walls that they touch and of others.
    """
    level, out, all_found = _Level(f, domain.bounds), [], True
    for line in all_polylines(level.value, domain.bounds):
        if is_closed(line) and domain.contains(line).all():
            out.append(LevelCurve(level, line))
            continue
        if not domain.contains(line).any():
            continue
        if any(domain.periodic_axes):
            return [], False
        pieces, complete = _between_walls(level, line, domain)
        out, all_found = out + pieces, all_found and complete
    found = [c for c in out if _runs_along(c, level) and _changes_sign(c, level)]
    inside = [_inside(c, domain) for c in found]
    kept = [c for c, own in zip(found, inside, strict=True) if own.any()]
    # What lies along the boundary is no curve inside.
    return kept, all_found and all(own.all() for own in inside if own.any())


def _runs_along(curve: LevelCurve, level: _Level) -> bool:
    """Tell whether a curve has the function's normals on one side of it, and turns round once.

    One that grids are too coarse for goes back and forth on its way, or leaves some of it out.
    """
    found = level.onto(curve.line)
    along, normals = np.diff(found.points, axis=0), found.normals[:-1] + found.normals[1:]
    across = _cross(normals, along)
    # Points that were found twice are of no side.
    across = across[np.linalg.norm(along, axis=1) > ROUNDED * np.ptp(level.frame)]
    if np.any(across > 0.0) and np.any(across < 0.0):
        return False
    if not curve.closed:
        return True
    first, then = found.normals[:-1], found.normals[1:]
    turns = np.arctan2(_cross(first, then), np.sum(first * then, axis=1))
    return bool(abs(abs(turns.sum()) - 2.0 * np.pi) < 1.0)


def _cross(first: Points, then: Points) -> Points:
    return np.asarray(first[:, 0] * then[:, 1] - first[:, 1] * then[:, 0])


def _inside(curve: LevelCurve, domain: Domain) -> Flags:
    """Tell along a curve whether a domain is on both its sides, but for its ends."""
    found = curve.at(_LOOKED * curve.measure)
    away = _BESIDE * float(np.ptp(domain.bounds, axis=0).max()) * found.normals
    sides = domain.contains(np.concatenate([found.points + away, found.points - away]))
    return np.asarray(sides.reshape(2, -1).all(axis=0))


def _changes_sign(curve: LevelCurve, level: _Level) -> bool:
    """Tell whether a function has another sign on either side; r - a at a = 0 has none."""
    found = curve.at(_LOOKED * curve.measure)
    away = SLIGHT * float(np.ptp(level.frame, axis=0).max()) * found.normals
    before, after = (level.value(found.points + s * away) for s in (-1.0, 1.0))
    return bool(np.all(before < 0.0) and np.all(after > 0.0))


def _between_walls(level: _Level, line: Points, domain: Domain) -> tuple[list[LevelCurve], bool]:
    """Return what of a line lies in a domain, and whether that is from wall to wall."""
    inside = domain.contains(line)
    if is_closed(line):
        start = int(np.argmin(inside))
        line = np.concatenate([line[start:-1], line[: start + 1]])
        inside = domain.contains(line)
    if inside[0] or inside[-1]:
        return [], False
    out: list[LevelCurve] = []
    whole = True
    every = [ends_of(curve) for own in pieces_of(domain).values() for curve in own]
    walls = [wall for wall in every if wall is not None]
    entering = np.flatnonzero(~inside[:-1] & inside[1:])
    leaving = np.flatnonzero(inside[:-1] & ~inside[1:])
    for first, last in zip(entering.tolist(), leaving.tolist(), strict=True):
        crossed = (first + 1, first), (last, last + 1)
        found = [_on_wall(level, line[i], line[j], walls, domain) for i, j in crossed]
        loose = level.onto(line[[first + 1, last]]).points
        ends = [own if end is None else end for end, own in zip(found, loose, strict=True)]
        if last - first > _FEWEST:
            between = _from_wall_to_wall(line[first + 1 : last + 1], ends[0], ends[1])
            out.append(OpenLevelCurve(level, between))
        whole = whole and last - first > _FEWEST and not any(end is None for end in found)
    return out, whole


def _from_wall_to_wall(line: Points, start: Points, stop: Points) -> Points:
    """Return a line with other ends."""
    spacing = np.median(np.linalg.norm(np.diff(line, axis=0), axis=1)) if len(line) > 1 else 0.0
    gaps = [np.linalg.norm(line - end, axis=1) for end in (start, stop)]
    kept = line[np.minimum(*gaps) > _CLOSE * spacing]
    return np.concatenate([start[None], kept, stop[None]])


def _on_wall(
    level: _Level, inside: Points, outside: Points, walls: Sequence[Points], domain: Domain
) -> Points | None:
    """Return where the zero leaves a domain between two points; None if that is not found."""
    size = float(np.ptp(domain.bounds, axis=0).max())
    way = outside - inside
    crossed = []
    for start, stop in walls:
        matrix = np.stack([way, start - stop], axis=1)
        if abs(np.linalg.det(matrix)) > SLIGHT * np.linalg.norm(way) * size:
            share, along = np.linalg.solve(matrix, start - inside)
            if -SAME <= share <= 1.0 + SAME and -SAME <= along <= 1.0 + SAME:
                crossed.append((float(share), float(along), start, stop))
    if not crossed:
        return None
    _, along, start, stop = min(crossed, key=lambda one: one[0])
    for _ in range(NEWTON_STEPS):
        point = start + along * (stop - start)
        value, slope = level.both(point[None])
        rise = float(slope[0] @ (stop - start))
        step = float(value[0]) / rise if rise else np.inf
        length = abs(step) * float(np.linalg.norm(stop - start))
        if not length < 0.1 * size:
            return None
        along -= step
        if length < ROUNDED * size:
            point = start + along * (stop - start)
            return point if 0.0 < along < 1.0 and domain.contains(point[None])[0] else None
    return None
