"""Interval and box of any dimension."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sharpfront.errors import DomainError
from sharpfront.geometry.domain import BoundaryPoints, Points, Sampling

_FACES = (("left", "right"), ("bottom", "top"), ("back", "front"))


@dataclass(frozen=True, init=False)
class Box:
    """A product of intervals, ``Box((0, 1), (0, 2))``.

    Coordinates are x, y, z in up to three dimensions and x1, x2, ... beyond. The boundary's parts
    are left/right along x, bottom/top along y and back/front along z; beyond three dimensions they
    are x1_low, x1_high, x2_low and so on.

    Parameters
    ----------
    *sides
        Lower and upper end along each coordinate.
    """

    sides: tuple[tuple[float, float], ...] = field()

    def __init__(self, *sides: tuple[float, float]) -> None:
        if not sides:
            raise DomainError("A box needs at least one side, for example Box((0, 1), (0, 1)).")
        object.__setattr__(self, "sides", tuple(_checked_side(side) for side in sides))

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.sides)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates."""
        if self.dimension <= 3:
            return ("x", "y", "z")[: self.dimension]
        return tuple(f"x{i + 1}" for i in range(self.dimension))

    @property
    def bounds(self) -> Points:
        """Lower and upper corner, (2, d)."""
        return np.array(self.sides).T

    @property
    def measure(self) -> float:
        """Length, area or volume."""
        return math.prod(high - low for low, high in self.sides)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the faces, low and high along each coordinate."""
        if self.dimension <= 3:
            return tuple(name for pair in _FACES[: self.dimension] for name in pair)
        return tuple(f"{c}_{end}" for c in self.coordinates for end in ("low", "high"))

    def contains(self, points: Points) -> NDArray[np.bool_]:
        """Tell which of the points (m, d) lie in the closed box."""
        low, high = self.bounds
        return np.asarray(np.all((points >= low) & (points <= high), axis=1))

    def sample(self, count: int, how: Sampling = "quasi", seed: int = 0) -> Points:
        """Return points of the open box, (count, d).

        ``random`` draws independent uniform points, ``quasi`` a scrambled Sobol sequence, and
        ``grid`` the midpoints of equal cells, the nearest number of them to `count` from below.
        """
        if count < 0:
            raise DomainError(f"Cannot sample {count} points.")
        low, high = self.bounds
        return np.asarray(low + _unit_sample(count, self.dimension, how, seed) * (high - low))

    def boundary(self, part: str, count: int = 1, seed: int = 0) -> BoundaryPoints:
        """Return quasi-random points of one face; a face of an interval is one point."""
        axis, upper = divmod(self._index(part), 2)
        others = [side for i, side in enumerate(self.sides) if i != axis]
        inside = Box(*others).sample(count, "quasi", seed) if others else np.empty((1, 0))
        points = np.insert(inside, axis, self.sides[axis][upper], axis=1)
        normals = np.zeros_like(points)
        normals[:, axis] = 1.0 if upper else -1.0
        return BoundaryPoints(points, normals)

    def distance(self, points: Points) -> Points:
        """Return the distance to the boundary, positive inside, (m,)."""
        low, high = self.bounds
        outward = np.maximum(low - points, points - high)
        outside = np.linalg.norm(np.maximum(outward, 0), axis=1)
        return np.asarray(np.where(outside > 0, -outside, np.min(-outward, axis=1)))

    def _index(self, part: str) -> int:
        if part not in self.parts:
            close = difflib.get_close_matches(part, self.parts, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise DomainError(
                f"{part!r} is not a part of this boundary; its parts are "
                f"{', '.join(self.parts)}.{hint}"
            )
        return self.parts.index(part)


@dataclass(frozen=True, init=False)
class Interval(Box):
    """The interval from `left` to `right`; its boundary's parts are the two ends.

    Parameters
    ----------
    left, right
        The ends.
    periodic
        Join the two ends: the solution and its derivatives go on from `right` to `left`, and the
        boundary has no parts.
    """

    periodic: bool = False

    def __init__(self, left: float, right: float, *, periodic: bool = False) -> None:
        super().__init__((left, right))
        object.__setattr__(self, "periodic", periodic)

    def __repr__(self) -> str:
        kind = ", periodic=True" if self.periodic else ""
        return f"Interval({self.left:g}, {self.right:g}{kind})"

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the two ends; a periodic interval has none."""
        return () if self.periodic else super().parts

    @property
    def left(self) -> float:
        """The lower end."""
        return self.sides[0][0]

    @property
    def right(self) -> float:
        """The upper end."""
        return self.sides[0][1]


def _checked_side(side: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in side)
    except (TypeError, ValueError):
        raise DomainError(f"A side is a pair of numbers such as (0, 1), got {side!r}.") from None
    if not (math.isfinite(low) and math.isfinite(high)):
        raise DomainError(f"The ends of a side must be finite, got ({low}, {high}).")
    if low >= high:
        raise DomainError(
            f"The lower end must come first and differ from the upper one, got ({low:g}, {high:g})."
        )
    return low, high


def _unit_sample(count: int, dimension: int, how: Sampling, seed: int) -> Points:
    if how == "random":
        return np.random.default_rng(seed).random((count, dimension))
    if how == "grid":
        per_side = max(1, math.floor(count ** (1 / dimension) + 1e-9)) if count else 0
        axis = (np.arange(per_side) + 0.5) / max(per_side, 1)
        return np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), axis=-1).reshape(
            -1, dimension
        )
    if how == "quasi":
        from scipy.stats import qmc

        power = max(0, math.ceil(math.log2(max(count, 1))))
        return np.asarray(qmc.Sobol(dimension, rng=seed).random_base2(power)[:count])
    raise DomainError(f"Sampling must be 'random', 'quasi' or 'grid', got {how!r}.")
