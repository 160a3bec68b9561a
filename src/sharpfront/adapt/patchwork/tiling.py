"""Boxes that tile a domain whose boundary is made of axis-parallel pieces."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import Host
from sharpfront.bases.patch import Patch
from sharpfront.geometry import Box, Domain
from sharpfront.geometry.curves import Curve, Cut, Segment
from sharpfront.maps import AxisMap
from sharpfront.rows.faces import Side, faces_of

# Places that differ by less than this share of the domain are one: ends of cut curves are found by
# bisection.
ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class Tiling:
    """How a domain is cut into boxes before anything is known of the solution.

    Parameters
    ----------
    domain
        The domain.
    lines
        Where it is cut along each axis: ends of sides, changes of conditions.
    walls
        Axis-parallel pieces of boundary: axis of the normal, place, extent along the other axes,
        name of the part.
    """

    domain: Domain
    lines: tuple[Host, ...]
    walls: tuple[tuple[int, float, Host, Host, str], ...]

    @property
    def periods(self) -> tuple[float | None, ...]:
        """The period along each axis, None where the ends are not joined."""
        low, high = self.domain.bounds
        joined = self.domain.periodic_axes
        return tuple(float(b - a) if j else None for a, b, j in zip(low, high, joined, strict=True))

    def boxes(self, lines: Sequence[Host]) -> list[tuple[Host, Host]]:
        """Return the boxes between lines that lie in the domain, as lower and upper corners."""
        sides = [list(itertools.pairwise(x.tolist())) for x in lines]
        found = [
            (np.array([s[0] for s in box]), np.array([s[1] for s in box]))
            for box in itertools.product(*sides)
        ]
        middle = np.stack([0.5 * (low + high) for low, high in found])
        inside = self.domain.contains(middle)
        return [box for box, keep in zip(found, inside, strict=True) if keep]

    def parts(self, patches: Sequence[Patch], sides: Sequence[Side]) -> dict[Side, str]:
        """Return the part of the boundary that each side lies on."""
        return {side: self.wall(patches[side.patch], side) for side in sides}

    def wall(self, patch: Patch, side: Side) -> str:
        """Return the part of the boundary that a side lies on; empty if it lies on none."""
        place = patch.high[side.axis] if side.end else patch.low[side.axis]
        middle = 0.5 * (patch.low + patch.high)
        rest = [a for a in range(patch.dimension) if a != side.axis]
        for axis, where, low, high, part in self.walls:
            if axis == side.axis and where == place:
                at = middle[rest]
                if np.all(at >= low) and np.all(at <= high):
                    return part
        return ""


def tiling_of(domain: Domain) -> Tiling | None:
    """Return how to tile a domain; None where its boundary is not made of axis-parallel pieces."""
    if isinstance(domain, Box):
        return _box(domain)
    if domain.dimension != 2:
        return None
    pieces: Mapping[str, Sequence[object]] = getattr(domain, "pieces_in", lambda _: {})(None)
    walls = []
    for part, curves in pieces.items():
        for curve in curves:
            wall = _wall(curve, part)
            if wall is None:
                return None
            walls.append(wall)
    lines = tuple(
        _merged(
            [w[1] for w in walls if w[0] == a]
            + [float(e[0]) for w in walls if w[0] != a for e in w[2:4]]
        )
        for a in range(2)
    )
    snapped = tuple(
        (
            axis,
            _snap(place, lines[axis]),
            _snapped(low, lines[1 - axis]),
            _snapped(high, lines[1 - axis]),
            part,
        )
        for axis, place, low, high, part in walls
    )
    tiling = Tiling(domain, lines, snapped)
    return tiling if _closed(tiling) else None


def _closed(tiling: Tiling) -> bool:
    """Tell whether every bare side of the first boxes has a wall."""
    boxes = tiling.boxes(tiling.lines)
    ends = [zip(low.tolist(), high.tolist(), strict=True) for low, high in boxes]
    patches = [Patch(tuple(AxisMap(*e) for e in box), (1,) * len(tiling.lines)) for box in ends]
    _, sides = faces_of(patches, tiling.periods)
    return all(tiling.wall(patches[side.patch], side) for side in sides)


def _box(domain: Box) -> Tiling:
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
    return Tiling(domain, lines, tuple(walls))


def _wall(curve: object, part: str) -> tuple[int, float, Host, Host, str] | None:
    whole = curve
    while isinstance(whole, Cut):
        whole = whole.curve
    if not (isinstance(whole, Segment) and isinstance(curve, Curve)):
        return None
    start, end = curve.at(np.array([0.0, curve.measure])).points
    size = np.abs(end - start)
    axis = int(np.argmin(size))
    if size[axis] > ROUNDING * size[1 - axis]:
        return None
    ends = np.sort([start[1 - axis], end[1 - axis]])
    return axis, float(start[axis]), ends[:1], ends[1:], part


def _merged(values: Sequence[float]) -> Host:
    """Return sorted places, those that differ by rounding as one."""
    found = np.unique(np.array(values))
    length = found[-1] - found[0]
    return np.asarray(found[np.concatenate([[True], np.diff(found) > ROUNDING * length])])


def _snap(value: float, lines: Host) -> float:
    return float(lines[np.argmin(np.abs(lines - value))])


def _snapped(values: Host, lines: Host) -> Host:
    return np.array([_snap(float(v), lines) for v in values])
