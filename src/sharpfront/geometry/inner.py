"""Curves inside a domain of the plane: the zero of a function, closed or from wall to wall."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.geometry.box import Box
from sharpfront.geometry.domain import Domain, Points
from sharpfront.geometry.levelset import Implicit, LevelCurve, OpenLevelCurve
from sharpfront.geometry.marching import all_polylines, is_closed

# Steps of Newton's method along a wall, and how close to zero they have to lead, in units of the
# domain.
_WALL_STEPS, _ON_WALL = 12, 1e-12
# Points of a line closer than this to its end, in units of its spacing, are left out.
_CLOSE = 0.5
# A curve lies inside if the domain is on both sides of it, this far away as a share of its size.
_BESIDE = 1e-3
# Signs are looked at as close as this to it: others may be near.
_SIDES = 1e-6
# Places along a curve, as shares of its length.
_LOOKED = np.linspace(0.05, 0.95, 41)


class _Level(Implicit):
    """The zero of a function, without asking where it is negative."""

    def __init__(self, f: Callable[..., ArrayLike], frame: Points) -> None:
        object.__setattr__(self, "f", f)
        object.__setattr__(self, "frame", frame)


def curves_inside(f: Callable[..., ArrayLike], domain: Domain) -> list[LevelCurve] | None:
    """Return the zero of a function in a domain; None where it ends at a wall that is not straight.

    Normals lead to where the function is positive.
    """
    level, out = _Level(f, domain.bounds), []
    for line in all_polylines(level.value, domain.bounds):
        if is_closed(line) and domain.contains(line).all():
            out.append(LevelCurve(level, line))
            continue
        if not domain.contains(line).any():
            continue
        if not isinstance(domain, Box) or any(domain.periodic_axes):
            return None
        pieces = _from_wall_to_wall(level, line, domain)
        if pieces is None:
            return None
        out += pieces
    return [c for c in out if _checked(c, domain, level)]


def _checked(curve: LevelCurve, domain: Domain, level: _Level) -> bool:
    """Tell whether a curve was followed well, with the domain and another sign on either side."""
    return _runs_along(curve, level) and _lies_inside(curve, domain) and _changes_sign(curve, level)


def _runs_along(curve: LevelCurve, level: _Level) -> bool:
    """Tell whether a curve has the function's normals on one side of it, and turns round once.

    One that grids are too coarse for goes back and forth on its way, or leaves some of it out.
    """
    found = level.onto(curve.line)
    along, normals = np.diff(found.points, axis=0), found.normals[:-1] + found.normals[1:]
    across = _cross(normals, along)
    # Points that were found twice are of no side.
    across = across[np.linalg.norm(along, axis=1) > _ON_WALL * np.ptp(level.frame)]
    if np.any(across > 0.0) and np.any(across < 0.0):
        return False
    if not curve.closed:
        return True
    first, then = found.normals[:-1], found.normals[1:]
    turns = np.arctan2(_cross(first, then), np.sum(first * then, axis=1))
    return bool(abs(abs(turns.sum()) - 2.0 * np.pi) < 1.0)


def _cross(first: Points, then: Points) -> Points:
    return np.asarray(first[:, 0] * then[:, 1] - first[:, 1] * then[:, 0])


def _lies_inside(curve: LevelCurve, domain: Domain) -> bool:
    """Tell whether a domain is on both sides of a curve, but for its ends."""
    found = curve.at(_LOOKED * curve.measure)
    away = _BESIDE * float(np.ptp(domain.bounds, axis=0).max()) * found.normals
    return bool(domain.contains(np.concatenate([found.points + away, found.points - away])).all())


def _changes_sign(curve: LevelCurve, level: _Level) -> bool:
    """Tell whether a function has another sign on either side; r - a at a = 0 has none."""
    found = curve.at(_LOOKED * curve.measure)
    away = _SIDES * float(np.ptp(level.frame, axis=0).max()) * found.normals
    before, after = (level.value(found.points + s * away) for s in (-1.0, 1.0))
    return bool(np.all(before < 0.0) and np.all(after > 0.0))


def _from_wall_to_wall(level: _Level, line: Points, box: Box) -> list[OpenLevelCurve] | None:
    """Return what of a line lies in a box; None if it ends inside, or touches a wall."""
    inside = box.contains(line)
    if is_closed(line):
        start = int(np.argmin(inside))
        line = np.concatenate([line[start:-1], line[: start + 1]])
        inside = box.contains(line)
    if inside[0] or inside[-1]:
        return None
    out = []
    entering = np.flatnonzero(~inside[:-1] & inside[1:])
    leaving = np.flatnonzero(inside[:-1] & ~inside[1:])
    for first, last in zip(entering.tolist(), leaving.tolist(), strict=True):
        ends = (
            _on_wall(level, line[first + 1], line[first], box),
            _on_wall(level, line[last], line[last + 1], box),
        )
        if ends[0] is None or ends[1] is None:
            return None
        out.append(OpenLevelCurve(level, _between(line[first + 1 : last + 1], ends[0], ends[1])))
    return out


def _between(line: Points, start: Points, stop: Points) -> Points:
    """Return a line with other ends."""
    spacing = np.median(np.linalg.norm(np.diff(line, axis=0), axis=1)) if len(line) > 1 else 0.0
    gaps = [np.linalg.norm(line - end, axis=1) for end in (start, stop)]
    kept = line[np.minimum(*gaps) > _CLOSE * spacing]
    return np.concatenate([start[None], kept, stop[None]])


def _on_wall(level: _Level, inside: Points, outside: Points, box: Box) -> Points | None:
    """Return where the zero leaves a box between two points; None if that is not found."""
    low, high = box.bounds
    size = float(np.max(high - low))
    crossed = [
        ((wall - inside[a]) / (outside[a] - inside[a]), a, float(wall))
        for a, wall in itertools.chain.from_iterable(((a, low[a]), (a, high[a])) for a in range(2))
        if (wall - inside[a]) * (wall - outside[a]) <= 0.0 and outside[a] != inside[a]
    ]
    if not crossed:
        return None
    share, axis, wall = min(crossed)
    point = inside + share * (outside - inside)
    point[axis] = wall
    for _ in range(_WALL_STEPS):
        value, slope = level.both(point[None])
        step = float(value[0] / slope[0, 1 - axis]) if slope[0, 1 - axis] else np.inf
        if not abs(step) < 0.1 * size:
            return None
        point[1 - axis] -= step
        if abs(step) < _ON_WALL * size:
            return point if box.contains(point[None])[0] else None
    return None
