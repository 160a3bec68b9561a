"""Interval and box of any dimension."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sharpfront.arrays import Flags
from sharpfront.checks import explained, flag, listed, numbers_in, refusal
from sharpfront.errors import DomainError
from sharpfront.geometry.curves import Piece, Pieces, Segment, Spot
from sharpfront.geometry.domain import BoundaryPoints, Points, Sampling, State
from sharpfront.geometry.patches import Face
from sharpfront.geometry.sampling import checked_count, unit_sample
from sharpfront.geometry.shape import Shape

_FACES = (("left", "right"), ("bottom", "top"), ("back", "front"))
# What sides may be called by name.
_COORDINATES = ("x", "y", "z", "r", "theta", "phi")


@dataclass(frozen=True, init=False, repr=False)
class Box(Shape):
    """A product of intervals, ``Box((0, 1), (0, 2))`` or ``Box(r=(0.5, 1), theta=(0, 3))``.

    Coordinates are x, y, z in up to three dimensions and x1, x2, ... beyond, or those that sides
    are given by. The boundary's parts are left/right along the first, bottom/top along the second
    and back/front along the third; beyond three dimensions they are x1_low, x1_high and so on.

    Parameters
    ----------
    *sides
        Lower and upper end along each coordinate.
    periodic
        Names of the coordinates along which the two ends are joined, ``periodic=("x",)``; the
        faces there are not parts of the boundary.
    **named
        Sides by the names of their coordinates instead: x, y, z, r, theta or phi.
    """

    sides: tuple[tuple[float, float], ...] = field()
    _joined: tuple[bool, ...] = field()
    _called: tuple[str, ...] = field()

    @explained("sf.Box((0, 1), (0, 2))")
    def __init__(
        self,
        *sides: tuple[float, float],
        periodic: Iterable[str] = (),
        **named: tuple[float, float],
    ) -> None:
        if sides and named:
            raise DomainError(
                "Sides of a box are given in order or by name, not both: sf.Box((0, 1), (0, 2)) or "
                f"sf.Box(r=(0, 1), z=(0, 2)); got {', '.join(named)} beside {len(sides)} others."
            )
        every = (*sides, *named.values())
        if not every:
            raise DomainError("A box needs at least one side, for example Box((0, 1), (0, 1)).")
        called = tuple(_checked_name(name) for name in named)
        vars(self).update(sides=tuple(map(_checked_side, every)), _called=called)
        vars(self).update(_joined=_axes(periodic, self.coordinates))

    @property
    def is_box(self) -> bool:
        """Whether it is a product of intervals whose ends are its parts."""
        return True

    def __repr__(self) -> str:
        joined = tuple(itertools.compress(self.coordinates, self.periodic_axes))
        kind = f", periodic={joined}" if joined else ""
        if self._called:
            pairs = zip(self._called, self.sides, strict=True)
            return f"Box({', '.join(f'{name}={side}' for name, side in pairs)}{kind})"
        return f"Box(sides={self.sides}{kind})"

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates."""
        return self._called or super().coordinates

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.sides)

    @property
    def bounds(self) -> Points:
        """Lower and upper corner, (2, d)."""
        return np.array(self.sides).T

    @property
    def measure(self) -> float:
        """Length, area or volume."""
        return math.prod(high - low for low, high in self.sides)

    @property
    def periodic_axes(self) -> tuple[bool, ...]:
        """Along which coordinates the two ends are joined, one flag for each."""
        return self._joined

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The names of the boundary's parts, known without the parts themselves."""
        free = [not joined for joined in self._joined for _ in range(2)]
        if self.dimension <= 3:
            names = list(itertools.chain(*_FACES[: self.dimension]))
        else:
            names = [f"{c}_{end}" for c in self.coordinates for end in ("low", "high")]
        return tuple(itertools.compress(names, free))

    @property
    def corners(self) -> Points:
        """All corners, (2^d, d); none where ends are joined, for an edge is no corner."""
        if any(self.periodic_axes):
            return np.empty((0, self.dimension))
        return np.array(list(itertools.product(*self.sides)))

    def contains(self, points: Points) -> Flags:
        """Tell which of the points (m, d) lie in the closed box."""
        low, high = self.bounds
        return np.asarray(np.all((points >= low) & (points <= high), axis=1))

    def sample(self, count: int, how: Sampling = "quasi", seed: int = 0) -> Points:
        """Return points of the open box, (count, d).

        ``random`` draws independent uniform points, ``quasi`` a scrambled Sobol sequence, and
        ``grid`` the midpoints of equal cells, the nearest number of them to `count` from below.
        """
        low, high = self.bounds
        unit = unit_sample(checked_count(count), self.dimension, how, seed)
        return np.asarray(low + unit * (high - low))

    def distance(self, points: Points) -> Points:
        """Return the distance to the boundary, positive inside, (m,)."""
        low, high = self.bounds
        outward = np.maximum(low - points, points - high)
        outside = np.linalg.norm(np.maximum(outward, 0), axis=1)
        return np.asarray(np.where(outside > 0, -outside, np.min(-outward, axis=1)))

    def pieces(self, window: Points | None = None) -> Pieces:
        """Return each face as one piece; `window` is not needed."""
        bounds, free = self.bounds, [i for i, joined in enumerate(self._joined) if not joined]
        faces = itertools.product(free, range(2))
        return {name: (_face(bounds, *face),) for name, face in zip(self.parts, faces, strict=True)}

    def state(self) -> State:
        """Return words and numbers from which `restore_domain` makes the box again."""
        joined = list(itertools.compress(self.coordinates, self.periodic_axes))
        sides = [list(side) for side in self.sides]
        return {"kind": "box", "sides": sides, "periodic": joined, "called": list(self._called)}


@dataclass(frozen=True, init=False, repr=False)
class Interval(Box):
    """The interval from `left` to `right`; its boundary's parts are the two ends.

    Parameters
    ----------
    left, right
        The ends.
    periodic
        Join the two ends: the solution and its derivatives go on from `right` to `left`, and the
        boundary has no parts.
    coordinate
        The name of the coordinate: x, y, z, r, theta or phi.
    """

    @explained("sf.Interval(0, 1)")
    def __init__(
        self, left: float, right: float, *, periodic: bool = False, coordinate: str = "x"
    ) -> None:
        joined = (coordinate,) if flag(periodic, "periodic", DomainError) else ()
        named = {} if coordinate == "x" else {_checked_name(coordinate): (left, right)}
        super().__init__(*([] if named else [(left, right)]), periodic=joined, **named)

    def __repr__(self) -> str:
        kind = ", periodic=True" if self.periodic else ""
        name = f", coordinate={self._called[0]!r}" if self._called else ""
        return f"Interval({self.left:g}, {self.right:g}{kind}{name})"

    @property
    def periodic(self) -> bool:
        """Whether the two ends are joined."""
        return self.periodic_axes[0]

    @property
    def left(self) -> float:
        """The lower end."""
        return self.sides[0][0]

    @property
    def right(self) -> float:
        """The upper end."""
        return self.sides[0][1]

    def boundary(self, part: str, count: int = 1, seed: int = 0) -> BoundaryPoints:
        """Return the end, however many points are asked for."""
        if part not in self.parts:
            # That says what is wrong.
            self.smooth_pieces(part)
        checked_count(count)
        end = self.parts.index(part)
        return BoundaryPoints(np.array([[self.sides[0][end]]]), np.array([[2.0 * end - 1.0]]))

    def state(self) -> State:
        """Return words and numbers from which `restore_domain` makes the interval again."""
        name = self.coordinates[0]
        ends = list(self.sides[0])
        return {"kind": "interval", "ends": ends, "periodic": self.periodic, "called": name}


def _face(bounds: Points, axis: int, upper: int) -> Piece:
    """Return one face of a box as a point, a segment or a patch."""
    dimension = bounds.shape[1]
    normal = np.zeros(dimension)
    normal[axis] = 1.0 if upper else -1.0
    corner = bounds[0].copy()
    corner[axis] = bounds[upper][axis]
    if dimension == 1:
        return Spot(corner, normal)
    edges = np.delete(np.diag(bounds[1] - bounds[0]), axis, axis=0)
    if dimension > 2:
        return Face(corner, edges, normal)
    other = bounds[1].copy()
    other[axis] = corner[axis]
    # The region must be on the left of a segment: up on the right, leftwards on the top.
    return Segment(corner, other) if (axis == 0) == bool(upper) else Segment(other, corner)


def _axes(periodic: Iterable[str], coordinates: tuple[str, ...]) -> tuple[bool, ...]:
    names = listed(periodic)
    if not all(isinstance(name, str) and name in coordinates for name in names):
        known = ", ".join(coordinates)
        expected = f"names of coordinates along which a box can be periodic, {known}"
        raise refusal("periodic", expected, periodic, f"periodic={coordinates}", DomainError)
    return tuple(c in names for c in coordinates)


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or name not in _COORDINATES:
        known = ", ".join(_COORDINATES)
        raise refusal("The name of a coordinate", f"one of {known}", name, error=DomainError)
    return name


def _checked_side(side: tuple[float, float]) -> tuple[float, float]:
    expected = "a pair of numbers such as (0, 1), both finite"
    ends = numbers_in(side, "A side", expected, error=DomainError)
    if len(ends) != 2:
        raise refusal("A side", expected, side, error=DomainError)
    low, high = ends
    if low >= high:
        raise DomainError(
            f"The lower end must come first and differ from the upper one, got ({low:g}, {high:g})."
        )
    return low, high
