"""One unknown of a solution as a function, and an estimate with its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import one_of, whole
from sharpfront.equation.expression import Derivative
from sharpfront.errors import DomainError
from sharpfront.geometry import Domain
from sharpfront.rounding import EPS
from sharpfront.solution.approximation import Approximation, as_points
from sharpfront.solution.functionals import Functionals, Known


@dataclass(frozen=True)
class Estimate:
    """A number and what it means.

    Parameters
    ----------
    value
        Estimated error, relative to max(1, max|u|).
    meaning
        How it was found and how far it can be trusted.
    since
        For a problem in time, the moment from which on it holds; None if it holds from the start.
        What the rounding of a jump in the initial state did fades, and is not in the value before.
    """

    value: float
    meaning: str
    since: float | None = None


@dataclass(frozen=True, eq=False)
class Field(Functionals):
    """One unknown, or a derivative of it, as a function of the coordinates."""

    approximation: Approximation
    domain: Domain
    unknown: str
    orders: tuple[int, ...]
    error: float = 0.0

    @property
    def _known(self) -> Known:
        leaf = Derivative(self.unknown, self.approximation.coordinates, self.orders)
        return Known(self.approximation, self.domain, self.error, subject=leaf)

    def __call__(self, *coordinates: Any, extrapolate: bool = False) -> Any:
        """Return values at coordinates, which broadcast like NumPy arrays.

        Points outside the domain are refused unless `extrapolate` is set.
        """
        points, shape = as_points(self.approximation.coordinates, coordinates)
        if not extrapolate:
            require_inside(self.domain, points)
        values = self.approximation.values(self.unknown, points, self.orders)
        return values.reshape(shape)[()]

    def d(self, coordinate: str, times: int = 1) -> Field:
        """Return the derivative along a coordinate, exact to rounding."""
        names = self.approximation.coordinates
        one_of(coordinate, "coordinate", names)
        times = whole(times, "The order of a derivative", 0)
        i = names.index(coordinate)
        orders = (*self.orders[:i], self.orders[i] + times, *self.orders[i + 1 :])
        return Field(self.approximation, self.domain, self.unknown, orders, self.error)


def require_inside(domain: Domain, points: FloatArray) -> None:
    """Refuse points that are not finite, or outside."""
    if not np.all(np.isfinite(points)):
        raise DomainError("Coordinates must be finite numbers; got NaN or infinity.")
    inside = domain.contains(points)
    if not inside.all():
        low, high = domain.bounds
        # A point that rounding has pushed over the edge is meant to lie on it.
        slack = 4 * EPS * np.maximum(np.abs(low), np.abs(high))
        nearest = np.clip(points, low, high)
        moved = np.abs(nearest - points) <= np.max(slack)
        inside = inside | domain.contains(np.where(moved, nearest, points))
    if not inside.all():
        where = ", ".join(f"{value:.6g}" for value in points[int(np.argmin(inside))])
        raise DomainError(
            f"The point ({where}) lies outside the domain, where the solution has no meaning. "
            "Pass extrapolate=True to evaluate it there all the same."
        )
