"""The result of a sweep: one row for each value of the parameters, here and on disk."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import ProblemError
from sharpfront.files import write_text
from sharpfront.loading import extra_module


@dataclass(frozen=True)
class Row:
    """One value of the parameters."""

    index: int  # its number in the table
    value: Any  # what was observed, a number or an array; None where it failed
    # Of the solution.
    error_estimate: float
    converged: bool
    words: str = ""  # why it failed, or how the solve ended
    seconds: float = 0.0  # wall time

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
        if any(v.shape != shape for v in known):
            raise ProblemError(
                "What was observed differs in shape from row to row; look at table.rows, or let "
                "observe= return as many numbers for each."
            )
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
        xarray = extra_module("xarray", "export")
        values = self.values
        names = ["row"] if self.listed else list(self.axes)
        more = [f"item_{i}" for i in range(values.ndim - len(self.shape))]
        coords = {n: (["row"] if self.listed else [n], v) for n, v in self.axes.items()}
        found = {n: (names, getattr(self, n)) for n in ("error_estimate", "converged")}
        return xarray.Dataset({"value": ([*names, *more], values), **found}, coords=coords)

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


def append_row(folder: Path, row: Row) -> None:
    """Add a finished row to the file of rows, at once."""
    line = json.dumps([row.index, row.value, row.error_estimate, row.converged, row.words]) + "\n"
    handle = os.open(folder / "rows.jsonl", os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o666)
    try:
        # One write at the end of the file: rows of several workers do not mix.
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def resumed_rows(folder: Path | None, sweep: Mapping[str, Any], resume: bool) -> dict[int, Row]:
    """Return the rows that are there; refuse a folder of another sweep."""
    if folder is None:
        if resume:
            raise ProblemError('resume= goes on with what is in a folder; give into="folder".')
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    stated = json.dumps(sweep)
    about, rows = folder / "sweep.json", folder / "rows.jsonl"
    if not resume and rows.exists():
        raise ProblemError(
            f"{folder} holds rows of a sweep already; give resume=True (--resume) to go on with "
            "it, or another folder."
        )
    if resume and about.exists():
        different = _differing(about.read_text(encoding="utf-8"), sweep)
        if different:
            words = f"holds a sweep with other {different}; give another folder."
            raise ProblemError(f"{folder} {words}")
    write_text(about, stated)
    found: dict[int, Row] = {}
    good: list[str] = []
    for line in rows.read_text(encoding="utf-8").splitlines() if rows.exists() else ():
        try:
            row = Row(*json.loads(line))
        except (ValueError, TypeError):
            # The last line of a run that was killed may be cut short.
            continue
        found[row.index] = row
        good.append(line)
    if rows.exists():
        write_text(rows, "".join(f"{line}\n" for line in good))
    return found


_WORDS = {"axes": "values", "listed": "values", "family": "problems"}
_WORDS |= {"fixed": "fixed values", "observe": "observe="}


def _differing(text: str, sweep: Mapping[str, Any]) -> str:
    """Return in what another sweep differs; nothing if it is the same."""
    try:
        other = json.loads(text)
    except ValueError:
        return "values"
    differ = [n for n in sweep if not isinstance(other, dict) or other.get(n) != sweep[n]]
    return _WORDS.get(differ[0], differ[0]) if differ else ""
