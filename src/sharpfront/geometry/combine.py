"""Union, difference and intersection of two regions, and regions of boxes in an equation."""

from __future__ import annotations

import functools
import itertools
import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from sharpfront.arrays import Flags, Ints
from sharpfront.checks import explained
from sharpfront.errors import DomainError
from sharpfront.geometry.box import Box
from sharpfront.geometry.curves import Curve, Pieces, Sieve, ends
from sharpfront.geometry.domain import BoundaryPoints, Domain, Points, State
from sharpfront.geometry.measuring import extent
from sharpfront.geometry.patches import Patch
from sharpfront.geometry.sampling import unit_sample
from sharpfront.geometry.shape import Shape

Operation = Literal["union", "difference", "intersection"]
_SYMBOLS = {"union": "|", "difference": "-", "intersection": "&"}
_PROBE = 1e-7
# Normals with a larger cosine are the same.
_ONE_NORMAL = 1.0 - 1e-6
_SAMPLED = (2**10, 2**16)
_ON_PIECE = 16  # points on each smooth piece of boundary that tell where a domain is
_ROOM = 0.03


@dataclass(frozen=True, repr=False)
class Combination(Shape):
    """Two regions combined, as ``a | b``, ``a - b`` or ``a & b`` make it.

    The boundary is what is left of both boundaries: a point of either is kept when the region
    is on one side of it only, with the normal leading away from that side. So a face that two
    united regions share is inside and no boundary, and a face on which the subtracted region
    ends together with the first is not boundary either. Where both boundaries coincide and the
    point is kept, it counts once, as the first one's.

    Parts keep their names. Those that were given by hand in both are one part; another name of the
    second that the first already has gets a number, ``surface2``. Parts of which nothing is left
    are no parts. The distance is the smaller or larger of the two: its sign is right, and its size
    never more than the true distance if that holds for both. In space, areas are counted with
    quasi-random points (to about 0.5 %; what is left of a curved surface must be more than a ten-
    thousandth of it to be seen), volumes with small cells (0.1 %), and the bounding box has up to 3
    % of room.
    """

    operation: Operation  # which combination
    # The regions, both of the same dimension, two or more.
    first: Shape
    second: Shape

    def __post_init__(self) -> None:
        if self.operation not in get_args(Operation):
            raise DomainError(f"Regions combine as {', '.join(_SYMBOLS)}, got {self.operation!r}.")
        if self.first.dimension != self.second.dimension:
            raise DomainError(
                f"Only regions of the same dimension can be combined, got {self.first!r} in "
                f"{self.first.dimension} and {self.second!r} in {self.second.dimension} dimensions."
            )
        if self.second.coordinates not in (self.coordinates, ("x", "y", "z")[: self.dimension]):
            raise DomainError(
                f"Regions that are combined have the same coordinates, got "
                f"{', '.join(self.coordinates)} and {', '.join(self.second.coordinates)}."
            )
        if self.dimension == 1:
            raise DomainError("Intervals cannot be combined; solve on each interval by itself.")
        self._refuse_broken_periods()
        if np.all(np.isfinite(self._frame)):
            self._refuse_nothing()

    def __repr__(self) -> str:
        return f"({self.first!r} {_SYMBOLS[self.operation]} {self.second!r})"

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.first.dimension

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates: those of the first region."""
        return self.first.coordinates

    @property
    def periodic_axes(self) -> tuple[bool, ...]:
        """Along which coordinates the two ends are joined: those of the first region."""
        return self.first.periodic_axes

    @cached_property
    def bounds(self) -> Points:
        """Lower and upper corner of the bounding box, (2, d)."""
        low, high = self._frame
        if not np.all(np.isfinite(self._frame)):
            return self._frame
        every = [piece for pieces in self._own_pieces.values() for piece in pieces]
        if not every or any(self.periodic_axes):
            return self._frame
        if self.dimension == 2:
            found = extent([piece for piece in every if isinstance(piece, Curve)])
            room = 0.0
        else:
            patches = [piece for piece in every if isinstance(piece, Patch)]
            cubes = [unit_sample(2**12, patch.parameters, "quasi", 0) for patch in patches]
            seen = [patch.at(cube).points for patch, cube in zip(patches, cubes, strict=True)]
            found = np.stack([np.concatenate(seen).min(axis=0), np.concatenate(seen).max(axis=0)])
            room = _ROOM * float(np.max(high - low))
        return np.stack([np.maximum(low, found[0] - room), np.minimum(high, found[1] + room)])

    def distance(self, points: Points) -> Points:
        """Return a lower bound of the distance to the boundary, positive inside, (m,)."""
        mine, other = self.first.distance(points), self.second.distance(points)
        if self.operation == "union":
            return np.asarray(np.maximum(mine, other))
        return np.asarray(np.minimum(mine, -other if self.operation == "difference" else other))

    def shut(self, points: Points) -> Flags:
        """Tell which points (m, d) lie on faces behind which all was taken away, of either region.

        In a union only where the other region does not hold them.
        """
        mine, other = self.first.shut(points), self.second.shut(points)
        if self.operation == "union":
            alone = mine & ~self.second.within(points, self.slack)
            return (mine & other) | alone | (other & ~self.first.within(points, self.slack))
        found = mine if self.operation == "difference" else mine | other
        if not np.all(np.isfinite(self._frame)):
            return found  # without a size nothing is close
        on = np.arange(len(points))
        for region in (self.second, self.first):
            on = on[np.abs(region.distance(points[on])) <= self.slack]
            if not len(on):
                return found  # as nearly always: level sets take long to say nothing of none
        found[on[self._is_shut(points[on])]] = True
        return found

    def _is_shut(self, points: Points) -> Flags:
        """Tell where faces of both regions coincide and leave nothing, of points on both."""
        step = _PROBE * float(np.max(np.ptp(self.bounds, axis=0)))
        both = []
        for region in (self.first, self.second):
            slopes = [
                (region.distance(points + shift) - region.distance(points - shift)) / (2 * step)
                for shift in step * np.eye(self.dimension)
            ]
            both.append(np.stack(slopes, axis=1))
        along = np.sum(both[0] * both[1], axis=1)
        return np.asarray((along if self.operation == "difference" else -along) > _ONE_NORMAL)

    def within(self, points: Points, slack: float) -> Flags:
        """Tell which points (m, d) are inside or at most `slack` outside."""
        mine = self.first.within(points, slack)
        if self.operation == "union":
            return mine | self.second.within(points, slack)
        if self.operation == "difference":
            # Of the subtracted region only what lies deeper than the slack is taken away.
            return mine & ~self.second.within(points, -slack)
        return mine & self.second.within(points, slack)

    def pieces(self, window: Points | None = None) -> Pieces:
        """Return what is left of the pieces of both regions; see the class."""
        frame = self._frame if np.all(np.isfinite(self._frame)) else window
        if frame is None:
            raise DomainError(f"{self!r} is unbounded; cut it with & first.")
        size = float(np.max(np.ptp(frame, axis=0)))
        slack = 1e-10 * size + 1e-14 * float(np.max(np.abs(frame)))
        probe = _PROBE * size + 100 * slack
        mine, others = self.first.pieces_in(frame), self.second.pieces_in(frame)
        sides = _Side(self, None, probe, slack), _Side(self, self.first, probe, slack)
        first = Sieve(self.second.distance, sides[0], slack, frame, ends(others))
        second = Sieve(self.first.distance, sides[1], slack, frame, ends(mine))
        found: Pieces = {}
        for shape, sieve in ((mine, first), (others, second)):
            for name, pieces in shape.items():
                kept = tuple(left for piece in pieces for left in piece.kept(sieve))
                if not kept:
                    continue
                if name in self.first.given_names & self.second.given_names:
                    found[name] = (*found.get(name, ()), *kept)
                else:
                    found[_free(name, found)] = kept
        return found

    @property
    def given_names(self) -> frozenset[str]:
        """The names of parts that were given by hand: those of both."""
        return self.first.given_names | self.second.given_names

    def state(self) -> State:
        """Return words and arrays from which `restore_domain` makes the combination again."""
        both = {"first": self.first.state(), "second": self.second.state()}
        return {"kind": "combination", "operation": self.operation, **both}

    @property
    def slack(self) -> float:
        """How far outside a point may be by rounding."""
        if np.all(np.isfinite(self._frame)):
            size = float(np.max(np.ptp(self._frame, axis=0)))
            return 1e-10 * size + 1e-14 * float(np.max(np.abs(self._frame)))
        return max(self.first.slack, self.second.slack)

    @cached_property
    def _frame(self) -> Points:
        """A box that certainly holds the region."""
        mine, other = self.first.bounds, self.second.bounds
        if self.operation == "union":
            return np.stack([np.minimum(mine[0], other[0]), np.maximum(mine[1], other[1])])
        if self.operation == "difference":
            return mine
        return np.stack([np.maximum(mine[0], other[0]), np.minimum(mine[1], other[1])])

    def _refuse_nothing(self) -> None:
        low, high = self._frame
        for count in _SAMPLED if np.all(low < high) else ():
            points = low + unit_sample(count, self.dimension, "quasi", 0) * (high - low)
            if self.within(points, -self.slack).any():
                return
        if np.all(low < high) and self.dimension == 2 and self._curves:
            return
        raise DomainError(
            f"{self!r} is empty: no point of the box from {low.tolist()} to {high.tolist()} is in "
            "it. Check the sizes and places of the two regions."
        )

    def _refuse_broken_periods(self) -> None:
        joined = any(self.periodic_axes) and self.operation == "union"
        if any(self.second.periodic_axes) or joined:
            raise DomainError(
                "A periodic box can be the first region of a difference or an intersection only, "
                f"got {self!r}."
            )
        low, high = self.first.bounds
        for axis in np.flatnonzero(self.periodic_axes):
            ends = low + unit_sample(1024, self.dimension, "quasi", 0) * (high - low)
            ends[:, axis] = low[axis]
            at_low = self.within(ends, self.slack)
            ends[:, axis] = high[axis]
            if np.any(at_low != self.within(ends, self.slack)):
                raise DomainError(
                    f"{self!r} is periodic along {self.coordinates[axis]}, but its two ends "
                    "differ. What crosses one end must cross the other alike: try box - (a | b)."
                )


@dataclass(frozen=True)
class _Side:
    """On which side of boundary points the region is: 1 behind, -1 ahead, 0 both or none."""

    region: Shape
    counted: Shape | None
    probe: float
    slack: float

    def __call__(self, found: BoundaryPoints) -> Ints:
        behind = found.points - self.probe * found.normals
        ahead = found.points + self.probe * found.normals
        inside = self.region.within(behind, self.slack).astype(np.int64)
        side = inside - self.region.within(ahead, self.slack)
        if self.counted is None:
            return side
        shared = np.abs(self.counted.distance(found.points)) <= self.slack
        shared &= self.counted.within(behind, self.slack) != self.counted.within(ahead, self.slack)
        return np.where(shared, 0, side)


def _free(name: str, taken: Pieces) -> str:
    if name not in taken:
        return name
    # The numbers of one word go on: surface, surface2, surface3.
    stem = name.rstrip("0123456789")
    return next(f"{stem}{i}" for i in itertools.count(2) if f"{stem}{i}" not in taken)


def separate_frames(domain: Domain) -> list[Points]:
    """Return boxes that do not touch and hold what a domain is made of, each (2, d).

    Pieces whose boxes touch are counted as one, whether they touch or not. A box without boundary
    in it holds nothing: what was there has been taken away.
    """
    frames: list[Points] = []
    for own in _frames(domain):
        joined = own
        while near := [f for f in frames if np.all((f[0] <= joined[1]) & (joined[0] <= f[1]))]:
            frames = [f for f in frames if not any(f is n for n in near)]
            every = [joined, *near]
            joined = np.stack([np.min(every, axis=0)[0], np.max(every, axis=0)[1]])
        frames.append(joined)
    if len(frames) == 1:
        return frames
    counts = {part: _ON_PIECE * len(domain.smooth_pieces(part)) for part in domain.parts}
    seen = np.concatenate([domain.boundary(part, n).points for part, n in counts.items()])
    return [f for f in frames if np.any(np.all((seen >= f[0]) & (seen <= f[1]), axis=1))]


def _frames(domain: Domain) -> list[Points]:
    """Return boxes around the regions that are united."""
    if isinstance(domain, Combination) and domain.operation == "union":
        return [*_frames(domain.first), *_frames(domain.second)]
    if isinstance(domain, Combination) and domain.operation == "difference":
        return _frames(domain.first)
    return [domain.bounds]


@explained("sf.inside(sf.Box((0, 0.5), (0, 1)), x, y)")
def inside(region: Any, *coordinates: Any) -> Any:
    """Return where a region is, to choose by: ``np.where(sf.inside(box, x, y), 2.0, 1.0)``.

    Parameters
    ----------
    region
        A `Box` or `Interval`, or a union, difference or intersection of boxes.
    *coordinates
        The symbols of a residual, or arrays.
    """
    if isinstance(region, Combination):
        first, second = (inside(part, *coordinates) for part in (region.first, region.second))
        if region.operation == "union":
            return first | second
        return first & second if region.operation == "intersection" else first & ~second
    if not isinstance(region, Box):
        raise DomainError(
            f"sf.inside takes boxes, and unions, differences and intersections of them; got "
            f"{region!r}. Write a comparison of the coordinates instead."
        )
    if len(coordinates) != region.dimension:
        raise DomainError(
            f"sf.inside needs {region.dimension} coordinates for {region!r}, got "
            f"{len(coordinates)}: write sf.inside(box, {', '.join(region.coordinates)})."
        )
    limits = [
        (low <= x) & (x <= high) for x, (low, high) in zip(coordinates, region.sides, strict=True)
    ]
    return functools.reduce(operator.and_, limits)
