"""What all domains share: sampling by rejection, boundary parts, and combining."""

from __future__ import annotations

import importlib
import keyword
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.arrays import Flags
from sharpfront.checks import did_you_mean, explained, function, is_number, refusal
from sharpfront.errors import DomainError, MissingExtraError
from sharpfront.geometry.curves import Curve, Piece, Pieces
from sharpfront.geometry.domain import BoundaryPoints, Domain, Points, Sampling, State
from sharpfront.geometry.measuring import corners, enclosed, measure_by_cells
from sharpfront.geometry.sampling import checked_count, shares, unit_sample

if TYPE_CHECKING:
    from sharpfront.geometry.combine import Combination
    from sharpfront.geometry.parts import Marked, Named

# Words that a problem uses beside the names of the boundary's parts.
_TAKEN = ("boundary", "equation", "domain", "initial", "parameters", "time")
_COUNTED = 2**17
_CELL_HALVINGS = {2: 7, 3: 3}
_MOST_TRIED = 2**23


class Shape(ABC):
    """A region that can be sampled, renamed, and combined with ``|``, ``-`` and ``&``."""

    @property
    @abstractmethod
    def bounds(self) -> Points:
        """Lower and upper corner of the bounding box, (2, d)."""

    @abstractmethod
    def distance(self, points: Points) -> Points:
        """Return the distance to the boundary, positive inside, (m,)."""

    @abstractmethod
    def pieces(self, window: Points | None = None) -> Pieces:
        """Return the smooth pieces of each part of the boundary.

        Unbounded regions need a window, the corners (2, d) of a box outside which nothing matters.
        """

    @abstractmethod
    def state(self) -> State:
        """Return words, numbers and arrays from which `restore_domain` makes the domain again."""

    @property
    def is_box(self) -> bool:
        """Whether it is a product of intervals whose ends are its parts."""
        return False

    @property
    def space(self) -> Domain:
        """The domain without time: this one."""
        return self

    @property
    def time(self) -> tuple[float, float] | None:
        """The span of time: none."""
        return None

    def pieces_in(self, window: Points | None) -> Pieces:
        """Return the pieces, found once for all where the region is bounded."""
        return self._own_pieces if np.all(np.isfinite(self.bounds)) else self.pieces(window)

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return int(self.bounds.shape[1])

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates: x, y, z, and x1, x2, ... beyond three dimensions."""
        if self.dimension <= 3:
            return ("x", "y", "z")[: self.dimension]
        return tuple(f"x{i + 1}" for i in range(self.dimension))

    @property
    def periodic_axes(self) -> tuple[bool, ...]:
        """Along which coordinates the two ends are joined: none."""
        return (False,) * self.dimension

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the boundary's parts."""
        return tuple(self._own_pieces)

    @property
    def measure(self) -> float:
        """Area or volume."""
        return self._measure

    @property
    def corners(self) -> Points:
        """The points where the boundary has a corner, (k, d); always none in space."""
        if self.dimension != 2:
            return np.empty((0, self.dimension))
        return corners(self._curves, 1e-6 * self._size)

    def contains(self, points: Points) -> Flags:
        """Tell which of the points (m, d) lie in the closed region, with room for rounding."""
        points = np.asarray(points, dtype=np.float64)
        found = self.within(points, self.slack)
        found[found] = ~self.shut(points[found])
        return found

    def shut(self, points: Points) -> Flags:
        """Tell which points (m, d) lie on faces behind which all was taken away: none."""
        return np.zeros(len(points), dtype=bool)

    @property
    def given_names(self) -> frozenset[str]:
        """The names of parts that were given by hand: none."""
        return frozenset()

    def within(self, points: Points, slack: float) -> Flags:
        """Tell which points (m, d) are inside or at most `slack` outside.

        With a negative slack: which are at least that far inside.
        """
        return np.asarray(self.distance(points) >= -slack)

    @property
    def slack(self) -> float:
        """How far outside a point may be by rounding."""
        return 1e-10 * self._size + 1e-14 * float(np.max(np.abs(self.bounds)))

    def sample(self, count: int, how: Sampling = "quasi", seed: int = 0) -> Points:
        """Return points of the region, (count, d), by rejection from the bounding box.

        ``random`` draws independent uniform points, ``quasi`` a scrambled Sobol sequence, and
        ``grid`` the midpoints of equal cubes, so many that at most `count` are inside.
        """
        checked_count(count)
        if not np.all(np.isfinite(self.bounds)):
            raise DomainError(f"{self!r} is unbounded and cannot be sampled; cut it with & first.")
        if how == "grid":
            return self._grid(count)
        # Twice as many points begin with the same ones, so how many are tried does not show.
        tried = 2 * count
        while tried <= max(_MOST_TRIED, 64 * count):
            found = self._drawn(tried, how, seed)
            if len(found) >= count:
                return found[:count]
            tried *= 2
        raise DomainError(f"{self!r} is too thin to be sampled; state it in a smaller box.")

    def boundary(self, part: str, count: int = 1, seed: int = 0) -> BoundaryPoints:
        """Return points spread evenly over one part of the boundary.

        In the plane they are at equal steps of arc length on each smooth piece, midpoints of
        the steps for seed 0; in space they are quasi-random points that keep apart.
        """
        pieces = self.smooth_pieces(part)
        counts = shares(checked_count(count), [piece.measure for piece in pieces])
        pairs = [(p, int(n)) for p, n in zip(pieces, counts, strict=True) if n or not count]
        return BoundaryPoints.joined([p.spread(n, seed) for p, n in pairs])

    def boundary_measure(self, part: str) -> float:
        """Return the length or area of one part of the boundary."""
        return float(sum(piece.measure for piece in self.smooth_pieces(part)))

    @explained('region.named("hole")')
    def named(self, name: str) -> Named:
        """Return the same region with its whole boundary as one part of the given name."""
        from sharpfront.geometry.parts import Named

        return Named(self, name)

    @explained('region.part("inflow", lambda x, y: x < 0.1)')
    def part(self, name: str, where: Callable[..., ArrayLike]) -> Marked:
        """Return the same region with one more part, cut out of the others.

        Parameters
        ----------
        name
            The name of the new part.
        where
            Vectorised function of the coordinates, ``lambda x, y: x < 0.1``, that is true on
            the new part. Stretches shorter than 1/256 of a smooth piece may be missed.
        """
        from sharpfront.geometry.parts import Marked

        attempt = "lambda x, y: x < 0.1"
        return Marked(self, name, function(where, "where", attempt, DomainError))

    def __or__(self, other: Shape) -> Combination:
        """Return the union."""
        return self._combined("union", other)

    def __sub__(self, other: Shape) -> Combination:
        """Return what the other region leaves of this one."""
        return self._combined("difference", other)

    def __and__(self, other: Shape) -> Combination:
        """Return the intersection."""
        return self._combined("intersection", other)

    def _combined(self, operation: Any, other: Shape) -> Combination:
        from sharpfront.geometry.combine import Combination

        if not isinstance(other, Shape):
            raise refusal(f"The {operation}", "another region", other, error=DomainError)
        return Combination(operation, self, other)

    def smooth_pieces(self, part: str) -> tuple[Piece, ...]:
        """Return the smooth pieces of one part of the boundary."""
        if not isinstance(part, str) or part not in self.parts:
            raise DomainError(
                f"{part!r} is not a part of this boundary; its parts are "
                f"{', '.join(self.parts) or 'none'}.{did_you_mean(part, self.parts)}"
            )
        return self._own_pieces[part]

    def _drawn(self, tried: int, how: Sampling, seed: int) -> Points:
        low, high = self.bounds
        points = low + unit_sample(tried, self.dimension, how, seed) * (high - low)
        return np.asarray(points[self.contains(points)])

    def _grid(self, count: int) -> Points:
        low, high = self.bounds
        width = (self.measure / max(count, 1)) ** (1 / self.dimension)
        while True:
            ends = zip(low, high, np.ceil((high - low) / width), strict=True)
            axes = [a + (b - a) * (np.arange(n) + 0.5) / n for a, b, n in ends]
            cells = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
            found = cells.reshape(-1, self.dimension)
            found = found[self.contains(found)]
            if len(found) <= count:
                return np.asarray(found)
            width *= 1.02

    @cached_property
    def _own_pieces(self) -> Pieces:
        return self.pieces()

    @cached_property
    def _measure(self) -> float:
        if self.dimension == 2 and not any(self.periodic_axes):
            return enclosed(self._curves, self.bounds.mean(axis=0))
        return self._counted_measure()

    def _counted_measure(self) -> float:
        if self.dimension <= 3:
            return measure_by_cells(self.distance, self.bounds, _CELL_HALVINGS[self.dimension])
        inside = len(self._drawn(_COUNTED, "quasi", 0))
        return float(np.prod(np.ptp(self.bounds, axis=0))) * inside / _COUNTED

    @property
    def _curves(self) -> Sequence[Curve]:
        every = [piece for pieces in self._own_pieces.values() for piece in pieces]
        return [piece for piece in every if isinstance(piece, Curve)]

    @cached_property
    def _size(self) -> float:
        return float(np.max(np.ptp(self.bounds, axis=0)))


def pieces_of(domain: Domain) -> Pieces:
    """Return the pieces of a bounded region's boundary; none of a box, which has sides."""
    return domain.pieces_in(None) if isinstance(domain, Shape) else {}


def checked_name(name: str) -> str:
    """Return the name of a part, or refuse one that cannot be written in a problem."""
    if not (isinstance(name, str) and name.isidentifier()) or keyword.iskeyword(name):
        raise DomainError(
            f"The name of a part must be a word that Python can use for an argument, got {name!r}."
            " Try letters, digits and underscores."
        )
    if name in _TAKEN:
        raise DomainError(f"{name!r} has a meaning of its own in a problem; choose another name.")
    return name


def checked_points(points: ArrayLike, what: str) -> Points:
    """Return finite points (m, d) as an array, or refuse them."""
    try:
        array = np.array(points)
        if array.dtype.kind not in "iufO" or not all(map(is_number, array.flat)):
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise refusal(what, "rows of numbers", points, error=DomainError) from None
    if array.ndim != 2:
        raise DomainError(f"{what} must be rows of numbers (m, d), got the shape {array.shape}.")
    if not np.all(np.isfinite(array)):
        raise DomainError(f"{what} must be finite, got NaN or infinity.")
    return array


def needed(module: str, package: str) -> Any:
    """Return an optional module, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(package, "geometry") from None
