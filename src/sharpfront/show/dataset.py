"""Solutions as tables: xarray datasets on a grid, data frames with a row for each place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import listed, numbers_in
from sharpfront.errors import ProblemError
from sharpfront.loading import extra_module
from sharpfront.show.data.kernels import (
    Kernels,
    graded_axis,
    graded_places,
    kernels_at,
    kernels_of,
    values_inside,
)
from sharpfront.show.data.quantity import unknown_of

# Places along a side, by the number of coordinates of space, and moments.
_COUNTS = {1: 1001, 2: 120, 3: 48}
_FEW, _FRAMES = 16, 101


def to_xarray(solution: Any, **axes: Any) -> Any:
    """Return a solution on a grid as an ``xarray.Dataset``.

    It holds each unknown by name over the coordinates, time among them; NaN outside a shape. Its
    attributes say tolerance, estimate, outcome and statement. Needs xarray:
    ``pip install sharpfront[export]``.

    Parameters
    ----------
    solution
        Any solution.
    **axes
        The places along a coordinate, by name: an increasing array, or a number of places. By
        default they are as close together as the kernels are.
    """
    xarray = extra_module("xarray", "export")
    places, data = on_grid(solution, axes)
    fields = {unknown: (tuple(places), values) for unknown, values in data.items()}
    return xarray.Dataset(fields, coords=places, attrs=_attributes(solution))


def to_dataframe(solution: Any, **axes: Any) -> Any:
    """Return a solution as a ``pandas.DataFrame`` with a row for each place.

    Its columns are the coordinates and the unknowns by name; places outside a shape have no row.
    Its ``attrs`` say tolerance, estimate, outcome and statement. Needs pandas:
    ``pip install sharpfront[export]``.

    Parameters
    ----------
    solution
        Any solution.
    **axes
        The places along a coordinate, as for `to_xarray`.
    """
    pandas = extra_module("pandas", "export")
    frame = pandas.DataFrame(columns_of(solution, axes))
    frame.attrs.update(_attributes(solution))
    return frame


def columns_of(solution: Any, axes: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Return coordinates and unknowns at places inside the domain, (n,) each."""
    places, data = on_grid(solution, axes)
    grids = np.meshgrid(*places.values(), indexing="ij")
    flat = {name: grid.ravel() for name, grid in zip(places, grids, strict=True)}
    inside = ~np.isnan(next(iter(data.values())).ravel())
    every = flat | {unknown: values.ravel() for unknown, values in data.items()}
    return {name: column[inside] for name, column in every.items()}


def on_grid(
    solution: Any, axes: Mapping[str, Any]
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Return places along each coordinate, and every unknown on their grid; NaN outside."""
    names = solution.approximation.coordinates
    foreign = [name for name in axes if name not in names]
    if foreign:
        raise ProblemError(
            f"{', '.join(foreign)} is not a coordinate of this solution; they are "
            f"{', '.join(names)}."
        )
    places = {name: _places(solution, i, axes.get(name)) for i, name in enumerate(names)}
    points = np.stack(np.meshgrid(*places.values(), indexing="ij"), axis=-1)
    shape, flat = points.shape[:-1], points.reshape(-1, len(names))
    functions = {unknown: unknown_of(solution, unknown).values for unknown in solution.unknowns}
    return places, {
        unknown: values_inside(function, solution.domain, flat).reshape(shape)
        for unknown, function in functions.items()
    }


def _places(solution: Any, axis: int, given: Any) -> FloatArray:
    """Return the places along one coordinate: those given, or some that follow the kernels."""
    name = solution.approximation.coordinates[axis]
    bounds = solution.domain.bounds
    low, high = (float(end) for end in bounds[:, axis])
    if given is None or isinstance(given, int | np.integer):
        if given is not None and given < 2:
            raise ProblemError(f"{name}= is an array or a number of 2 or more, got {given}.")
        return _default(solution, axis, None if given is None else int(given))
    expected = "an array of increasing numbers, or how many places there are"
    places = np.array(numbers_in(listed(given), name, expected, f"{name}=100"))
    if np.any(np.diff(places) <= 0):
        raise ProblemError(f"{name}= is an array of increasing numbers, got {given!r}.")
    if places[0] < low or places[-1] > high:
        raise ProblemError(
            f"{name}= runs from {places[0]:g} to {places[-1]:g}; the solution holds from {low:g} "
            f"to {high:g}."
        )
    return places


def _default(solution: Any, axis: int, count: int | None) -> FloatArray:
    bounds, names = solution.domain.bounds, solution.approximation.coordinates
    low, high = (float(end) for end in bounds[:, axis])
    if solution.in_time and axis == len(names) - 1:
        return np.linspace(low, high, count or _FRAMES)
    dimension = len(names) - solution.in_time
    many = count or _COUNTS.get(dimension, _FEW)
    bases = list(solution.approximation.bases.values())
    if dimension > 1:
        return graded_axis(bases[0], axis, bounds, many)
    # Of a problem in time kernels are where they are at its end.
    found = [kernels_at(b, bounds[1, 1]) if solution.in_time else kernels_of(b) for b in bases]
    every = Kernels.together([kernels for kernels in found if kernels is not None], 1)
    return graded_places(every.centres[:, 0], (low, high), many)


def _attributes(solution: Any) -> dict[str, Any]:
    return {
        "tol": solution.tol,
        "error_estimate": solution.error_estimate,
        "estimate": solution.estimate.meaning,
        "outcome": str(solution.outcome.kind),
        "converged": int(solution.converged),
        "kernels": solution.kernels,
        "statement": "" if solution.problem is None else repr(solution.problem),
    }
