"""What an error is: the largest at points, relative to max(1, max|u|) of its unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray

Field = Callable[..., Any]
Known = Field | FloatArray
_CHUNK = 20_000


def max_error(found: Any, exact: Known | Mapping[str, Known], points: FloatArray) -> float:
    """Return the largest error at points (m,) or (m, d), relative to max(1, max|u|).

    The exact solution is a function or its values (m,), or such for several unknowns, of which the
    worst counts; `found` has them by the same names. A value that is not a number counts as an
    infinite error.
    """
    if isinstance(exact, Mapping):
        return max(max_error(of_unknown(found, n), f, points) for n, f in exact.items())
    truth = values_at(exact, points)
    return float(np.max(distances(values_at(found, points), truth), initial=0.0)) / size_of(truth)


def of_unknown(found: Any, name: str) -> Field:
    """Return the function of one unknown of a solution, or of functions by name."""
    field: Field = found[name] if isinstance(found, Mapping) else getattr(found, name)
    return field


def distances(found: FloatArray, truth: FloatArray) -> FloatArray:
    """Return how far values are apart, infinite where one of them is not a number."""
    return np.asarray(np.nan_to_num(np.abs(found - truth), nan=np.inf, posinf=np.inf))


def size_of(values: Any) -> float:
    """Return max(1, max|u|), the scale of errors and estimates."""
    sizes = np.abs(np.asarray(values, dtype=float))
    return max(1.0, float(np.max(sizes, initial=0.0, where=np.isfinite(sizes))))


def values_at(field: Known, points: FloatArray, chunk: int = _CHUNK) -> FloatArray:
    """Return the values of a function at points (m,) or (m, d), or those that are given, (m,).

    It is called with one array per coordinate, of at most `chunk` points at a time, so that memory
    does not grow with the number of points.
    """
    if not callable(field):
        return field
    out = np.empty(len(points))
    for start in range(0, len(points), chunk):
        own = np.atleast_2d(points[start : start + chunk].T)
        out[start : start + chunk] = field(*own)
    return out
