"""Where a picture looks: a line or a plane through the domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError
from sharpfront.geometry import Domain

Function = Callable[[FloatArray], FloatArray]
Where = Mapping[str, float | tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Section:
    """A line or a plane along coordinate axes, within a window."""

    names: tuple[str, ...]  # names of all coordinates of the space
    free: tuple[int, ...]  # which of them vary
    point: FloatArray  # the values of the others, (d,); NaN for the free ones
    window: FloatArray  # lower and upper end of each free coordinate, (2, f)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the free coordinates."""
        return tuple(self.names[i] for i in self.free)

    @property
    def title(self) -> str:
        """The fixed coordinates as text, ``z = 0.5``; empty where none is fixed."""
        fixed = [i for i in range(len(self.names)) if i not in self.free]
        return ", ".join(f"{self.names[i]} = {self.point[i]:g}" for i in fixed)

    def lift(self, flat: FloatArray) -> FloatArray:
        """Return points of the section (m, f) as points of space (m, d)."""
        points = np.tile(self.point, (len(flat), 1))
        points[:, self.free] = flat
        return points

    def within(self, flat: FloatArray) -> NDArray[np.bool_]:
        """Tell which points of the section (m, f) are in its window."""
        return np.asarray(np.all((flat >= self.window[0]) & (flat <= self.window[1]), axis=1))


def section(domain: Domain, names: Sequence[str], where: Where) -> Section:
    """Return the section that a number or a range for some of the coordinates describes."""
    point = np.full(len(names), np.nan)
    window = domain.bounds.copy()
    for name, value in where.items():
        if name not in names:
            raise ProblemError(
                f"plot() got {name!r}, which is not a coordinate; they are {', '.join(names)}."
            )
        i = list(names).index(name)
        low, high = domain.bounds[:, i]
        ends = np.atleast_1d(np.asarray(value, dtype=float))
        if ends.shape not in ((1,), (2,)) or not np.all((ends >= low) & (ends <= high)):
            raise ProblemError(
                f"Expected a number or a range (low, high) between {low:g} and {high:g} for "
                f"{name}, got {value!r}."
            )
        if len(ends) == 1:
            point[i] = ends[0]
        elif ends[0] < ends[1]:
            window[:, i] = ends
        else:
            raise ProblemError(f"The range of {name} must increase, got {value!r}.")
    free = tuple(int(i) for i in np.flatnonzero(np.isnan(point)))
    if not free:
        raise ProblemError("Every coordinate is fixed: call the solution for a single value.")
    return Section(tuple(names), free, point, window[:, list(free)])


def values_inside(function: Function, domain: Domain, points: FloatArray) -> FloatArray:
    """Return a function at points (m, d), NaN outside the domain."""
    values = np.full(len(points), np.nan)
    inside = domain.contains(points)
    if inside.any():
        values[inside] = function(points[inside])
    return values
