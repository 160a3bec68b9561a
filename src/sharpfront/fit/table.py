"""The result of a sweep: one row for each value of the parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import MissingExtraError


@dataclass(frozen=True)
class Row:
    """One value of the parameters.

    Parameters
    ----------
    index
        Its number in the table.
    value
        What was observed, a number or an array; None where it failed.
    error_estimate, converged
        Of the solution.
    words
        Why it failed, or how the solve ended.
    seconds
        Wall time.
    """

    index: int
    value: Any
    error_estimate: float
    converged: bool
    words: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether there is nothing to show."""
        return self.value is None


@dataclass(frozen=True, eq=False)
class Table:
    """The result of `sf.sweep`.

    Parameters
    ----------
    axes
        Values by the names of parameters: of a grid along each axis, of a list row by row.
    shape
        Of the grid; (n,) of a list.
    rows
        One for each value, in order.
    listed
        Whether rows were given one by one.
    """

    axes: Mapping[str, FloatArray]
    shape: tuple[int, ...]
    rows: tuple[Row, ...] = field(repr=False)
    listed: bool = False

    @property
    def values(self) -> FloatArray:
        """What was observed, (shape, shape of an observation); nan where it failed."""
        known = [np.asarray(r.value, dtype=float) for r in self.rows if not r.failed]
        shape = known[0].shape if known else ()
        blank = np.full(shape, np.nan)
        rows = [blank if r.failed else np.asarray(r.value, dtype=float) for r in self.rows]
        return np.array(rows).reshape(self.shape + shape)

    @property
    def error_estimate(self) -> FloatArray:
        """Estimated errors of the solutions, (shape)."""
        return np.array([r.error_estimate for r in self.rows]).reshape(self.shape)

    @property
    def converged(self) -> FloatArray:
        """Which solves converged, (shape)."""
        return np.array([r.converged for r in self.rows]).reshape(self.shape)

    @property
    def failed(self) -> dict[tuple[float, ...], str]:
        """Why values failed, by the values of the parameters."""
        points = list(points_of(self.axes, self.listed))
        return {tuple(points[r.index].values()): r.words for r in self.rows if r.failed}

    def to_xarray(self) -> Any:
        """Return an ``xarray.Dataset`` over the parameters (extra ``export``)."""
        try:
            import xarray
        except ImportError:
            raise MissingExtraError("xarray", "export") from None
        values = self.values
        names = ["row"] if self.listed else list(self.axes)
        more = [f"item_{i}" for i in range(values.ndim - len(self.shape))]
        coords: dict[str, Any] = {
            n: (["row"] if self.listed else [n], v) for n, v in self.axes.items()
        }
        return xarray.Dataset(
            {
                "value": ([*names, *more], values),
                "error_estimate": (names, self.error_estimate),
                "converged": (names, self.converged),
            },
            coords=coords,
        )

    def __str__(self) -> str:
        bad, lost = sum(not r.converged for r in self.rows), len(self.failed)
        ends = f"{lost} failed, {bad - lost} more did not converge" if bad else "all converged"
        worst = float(np.nanmax(self.error_estimate, initial=0.0))
        return f"{len(self.rows)} solves: {ends}; largest estimated error {worst:.1e}"

    __repr__ = __str__


def points_of(axes: Mapping[str, FloatArray], listed: bool) -> Iterator[dict[str, float]]:
    """Yield the values of each row."""
    rows = zip(*axes.values(), strict=True) if listed else itertools.product(*axes.values())
    for row in rows:
        yield dict(zip(axes, map(float, row), strict=True))
