"""The same region with other names for the parts of its boundary."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.arrays import Flags, Ints
from sharpfront.errors import DomainError
from sharpfront.geometry.curves import Pieces, Sieve
from sharpfront.geometry.domain import BoundaryPoints, Points, State
from sharpfront.geometry.shape import Shape, checked_name

_LABELLED = 2000


def _of_shape(name: str) -> Any:
    """Return a property, or a method, that is the other region's."""
    return property(lambda self: getattr(self.shape, name))


@dataclass(frozen=True, repr=False)
class Relabelled(Shape):
    """A region whose points are those of another."""

    shape: Shape
    name: str

    @abstractmethod
    def pieces(self, window: Points | None = None) -> Pieces:
        """Return the smooth pieces of each part."""

    # What does not depend on names is asked of the other region.
    dimension = _of_shape("dimension")
    coordinates = _of_shape("coordinates")
    bounds = _of_shape("bounds")
    measure = _of_shape("measure")
    periodic_axes = _of_shape("periodic_axes")
    corners = _of_shape("corners")
    slack = _of_shape("slack")
    contains = _of_shape("contains")
    shut = _of_shape("shut")
    within = _of_shape("within")
    sample = _of_shape("sample")
    distance = _of_shape("distance")


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
        every = self.shape.pieces_in(window).values()
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
        if not np.all(np.isfinite(self.bounds)):
            return
        if self.name in self.shape.parts:
            raise DomainError(
                f"The boundary has a part {self.name!r} already; its parts are "
                f"{', '.join(self.shape.parts)}."
            )
        if self.name not in self.parts:
            raise DomainError(
                f"The function for {self.name!r} is true nowhere on the boundary of {self.shape!r}."
            )

    def __repr__(self) -> str:
        return f"{self.shape!r}.part({self.name!r}, ...)"

    @property
    def given_names(self) -> frozenset[str]:
        """The names of parts that were given by hand: this one, and those of before."""
        return self.shape.given_names | {self.name}

    def pieces(self, window: Points | None = None) -> Pieces:
        """Return the pieces cut where the function changes between true and false."""
        rest, cut = (Sieve(self._level, partial(self._side, true), 0.0) for true in (False, True))
        found: Pieces = {}
        marked = []
        for name, pieces in self.shape.pieces_in(window).items():
            left = tuple(kept for piece in pieces for kept in piece.kept(rest))
            marked += [kept for piece in pieces for kept in piece.kept(cut)]
            if left:
                found[name] = left
        return {**found, self.name: tuple(marked)} if marked else found

    def state(self) -> State:
        """Return words and arrays from which `restore_domain` makes the region again."""
        own = [self.shape.boundary(part, _LABELLED).points for part in self.shape.parts]
        kept = {"points": np.concatenate(own), "marks": self._marks(np.concatenate(own))}
        return {"kind": "marked", "name": self.name, "shape": self.shape.state(), **kept}

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

    def _side(self, true: bool, found: BoundaryPoints) -> Ints:
        return np.asarray(self._marks(found.points) == true, dtype=np.int64)


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
