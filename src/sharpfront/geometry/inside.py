"""Regions made of boxes as conditions in an equation."""

from __future__ import annotations

import functools
import operator
from typing import Any

from sharpfront.checks import explained
from sharpfront.errors import DomainError
from sharpfront.geometry.box import Box
from sharpfront.geometry.combine import Combination


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
