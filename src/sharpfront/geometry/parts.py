"""The same region with other names for the parts of its boundary."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.arrays import Flags, Ints
from sharpfront.errors import DomainError
from sharpfront.geometry.curves import Pieces, Sieve
from sharpfront.geometry.domain import BoundaryPoints, Points, Sampling, State
from sharpfront.geometry.shape import Shape, checked_name

_LABELLED = 2000


@dataclass(frozen=True, repr=False)
class Relabelled(Shape):
    """A region whose points are those of another."""

    shape: Shape
    name: str

    def _inner(self, window: Points | None) -> Pieces:
        return self.shape.pieces_in(window)

    @abstractmethod
    def pieces(self, window: Points | None = None) -> Pieces:
        """Return the smooth pieces of each part."""

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.shape.dimension

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates."""
        return self.shape.coordinates

    @property
    def bounds(self) -> Points:
        """Lower and upper corner of the bounding box, (2, d)."""
        return self.shape.bounds

    @property
    def measure(self) -> float:
        """Area or volume."""
        return self.shape.measure

    @property
    def periodic_axes(self) -> tuple[bool, ...]:
        """Along which coordinates the two ends are joined."""
        return self.shape.periodic_axes

    @property
    def corners(self) -> Points:
        """The points where the boundary has a corner, (k, d)."""
        return self.shape.corners

    @property
    def slack(self) -> float:
        """How far outside a point may be by rounding."""
        return self.shape.slack

    def contains(self, points: Points) -> Flags:
        """Tell which of the points (m, d) lie in the closed region."""
        return self.shape.contains(points)

    def shut(self, points: Points) -> Flags:
        """Tell which points (m, d) lie on faces behind which all was taken away."""
        return self.shape.shut(points)

    def within(self, points: Points, slack: float) -> Flags:
        """Tell which points (m, d) are inside or at most `slack` outside."""
        return self.shape.within(points, slack)

    def sample(self, count: int, how: Sampling = "quasi", seed: int = 0) -> Points:
        """Return points of the region, (count, d)."""
        return self.shape.sample(count, how, seed)

    def distance(self, points: Points) -> Points:
        """Return the distance to the boundary, positive inside, (m,)."""
        return self.shape.distance(points)


@dataclass(frozen=True, repr=False)
class Named(Relabelled):
    """A region whose whole boundary is one part, as ``region.named("cylinder")`` makes it."""

    def __post_init__(self) -> None:
        checked_name(self.name)

    def __repr__(self) -> str:
        return f"{self.shape!r}.named({self.name!r})"

    @property
    def given_names(self) -> frozenset[str]:
        """The names of parts that were given by hand: this one."""
        return frozenset([self.name])

    def pieces(self, window: Points | None = None) -> Pieces:
        """Return all pieces under the one name."""
        every = self._inner(window).values()
        return {self.name: tuple(piece for pieces in every for piece in pieces)} if every else {}

    def state(self) -> State:
        """Return words and arrays from which `restore_domain` makes the region again."""
        return {"kind": "named", "name": self.name, "shape": self.shape.state()}


@dataclass(frozen=True, repr=False)
class Marked(Relabelled):
    """A region with one more part, as ``region.part("inflow", lambda x, y: x < 0.1)`` makes it.

    A saved one remembers dense boundary points with their parts instead of the function, and a
    point then belongs to the part of the nearest of them.
    """

    where: Callable[..., ArrayLike]

    def __post_init__(self) -> None:
        checked_name(self.name)
        if self.dimension == 1:
            raise DomainError("The ends of an interval have their names already, left and right.")
        if np.all(np.isfinite(self.bounds)):
            self._refuse_what_is_no_part()

    def __repr__(self) -> str:
        return f"{self.shape!r}.part({self.name!r}, ...)"

    @property
    def given_names(self) -> frozenset[str]:
        """The names of parts that were given by hand: this one, and those of before."""
        return self.shape.given_names | {self.name}

    def pieces(self, window: Points | None = None) -> Pieces:
        """Return the pieces cut where the function changes between true and false."""
        rest, cut = (Sieve(self._level, side, 0.0) for side in (self._outside, self._inside))
        found: Pieces = {}
        marked = []
        for name, pieces in self._inner(window).items():
            left = tuple(kept for piece in pieces for kept in piece.kept(rest))
            marked += [kept for piece in pieces for kept in piece.kept(cut)]
            if left:
                found[name] = left
        return {**found, self.name: tuple(marked)} if marked else found

    def state(self) -> State:
        """Return words and arrays from which `restore_domain` makes the region again."""
        points = np.concatenate(
            [self.shape.boundary(part, _LABELLED).points for part in self.shape.parts]
        )
        return {
            "kind": "marked",
            "name": self.name,
            "shape": self.shape.state(),
            "points": points,
            "marks": self._marks(points),
        }

    def _refuse_what_is_no_part(self) -> None:
        if self.name in self.shape.parts:
            raise DomainError(
                f"The boundary has a part {self.name!r} already; its parts are "
                f"{', '.join(self.shape.parts)}."
            )
        if self.name not in self.parts:
            raise DomainError(
                f"The function for {self.name!r} is true nowhere on the boundary of {self.shape!r}."
            )

    def _marks(self, points: Points) -> Flags:
        try:
            marks = np.asarray(self.where(*points.T))
            return np.array(np.broadcast_to(marks, len(points)), dtype=bool)
        except (TypeError, ValueError) as error:
            raise DomainError(
                f"The function for {self.name!r} must take arrays of "
                f"{', '.join(self.coordinates)} and return true or false for each: {error}"
            ) from error

    def _level(self, points: Points) -> Points:
        # Larger than any length: between two points of one kind nothing is looked for.
        return np.where(self._marks(points), np.inf, -np.inf)

    def _inside(self, found: BoundaryPoints) -> Ints:
        return self._marks(found.points).astype(np.int64)

    def _outside(self, found: BoundaryPoints) -> Ints:
        return 1 - self._inside(found)


@dataclass(frozen=True, eq=False)
class Nearest:
    """The mark of the nearest of some points (m, d), as a function of the coordinates."""

    points: Points
    marks: Flags

    @cached_property
    def _tree(self) -> object:
        from scipy.spatial import cKDTree

        return cKDTree(self.points)

    def __call__(self, *coordinates: Points) -> Flags:
        """Return the marks at points given by their coordinates."""
        _, nearest = self._tree.query(np.stack(coordinates, axis=-1))  # type: ignore[attr-defined]
        return np.asarray(self.marks[nearest], dtype=bool)
