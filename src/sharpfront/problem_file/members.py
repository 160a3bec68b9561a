"""A problem file as a family: its parameters, which of them are free, and what was measured."""

from __future__ import annotations

import csv
import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharpfront.checks import did_you_mean
from sharpfront.errors import ProblemError, SharpfrontError
from sharpfront.files import text_of
from sharpfront.fit import Data, Free
from sharpfront.fit.free_parameters import Prior
from sharpfront.problem import Problem
from sharpfront.problem_file.build import Draft


@dataclass(frozen=True)
class Members:
    """The problem of a file as a function of its parameters."""

    # The text, its name, and where files named in it are looked for; None where none may be.
    source: str
    name: str
    folder: Path | None
    names: tuple[str, ...]  # the parameters; those not given have the values of the file
    changed: Mapping[str, float | str]  # values in place of those in the file

    @property
    def __signature__(self) -> inspect.Signature:
        kind = inspect.Parameter.KEYWORD_ONLY
        return inspect.Signature([inspect.Parameter(n, kind, default=None) for n in self.names])

    def __call__(self, **values: Any) -> Problem:
        """Return the problem for values of its parameters."""
        from sharpfront.problem_file.statement import read_text

        given = {k: float(v) for k, v in values.items() if v is not None}
        return read_text(self.source, self.name, self.folder, {**self.changed, **given}).problem


@dataclass(frozen=True)
class Measured:
    """Where measurements are, and their deviation where it is no column."""

    file: Path | None
    sigma: float | None

    @classmethod
    def of(cls, draft: Draft, folder: Path | None) -> Measured:
        """Return what a file says of them."""
        stated = draft.file.data
        own = None if stated.file is None or folder is None else folder / stated.file
        if stated.sigma is None:
            return cls(own, None)
        return cls(own, draft.names.number(stated.sigma, ("data", "sigma")))

    def read(self, file: Path | None = None) -> Data:
        """Return the measurements of a table, the one named in the problem file by default."""
        path = file or self.file
        if path is None:
            raise ProblemError(
                "Give a table of measurements: sharpfront fit FILE.toml data.csv, or in the file "
                '[data] file = "data.csv".'
            )
        return Data(table_of(path), sigma=self.sigma)


def table_of(path: Path) -> dict[str, list[float]]:
    """Return the columns of a table with a line of names, separated by commas or semicolons."""
    text = text_of(path)
    separator = ";" if ";" in text.partition("\n")[0] else ","
    rows = [r for r in csv.reader(text.splitlines(), delimiter=separator) if r]
    if len(rows) < 2:
        raise ProblemError(f"{path} needs a line of names, such as x,u, and lines of numbers.")
    names = [n.strip() for n in rows[0]]
    columns: dict[str, list[float]] = {n: [] for n in names}
    for i, row in enumerate(rows[1:], 2):
        try:
            for name, word in zip(names, row, strict=True):
                columns[name].append(float(word))
        except ValueError:
            words = f"{path}, line {i}: expected {len(names)} numbers ({', '.join(names)}), got "
            raise ProblemError(f"{words}{separator.join(row)!r}.") from None
    return columns


def free_parameters(draft: Draft) -> dict[str, Free]:
    """Return the parameters that a fit may change; mistakes go into the draft's book."""
    found = {}
    for name, stated in draft.file.free.items():
        path = ("free", name)
        if name not in draft.file.parameters:
            known = draft.file.parameters
            words = f"{name!r} is not a parameter of the file.{did_you_mean(name, known)}"
            draft.book.note(path, f"{words} Known: {', '.join(known) or 'none'}.", name)
            continue

        def number(value: Any, default: float, path: Any = path) -> float:
            read = default if value is None else draft.names.number(value, path)
            return default if read is None else read

        prior = stated.prior
        try:
            found[name] = Free(
                number(stated.start, 1.0),
                number(stated.low, -math.inf),
                number(stated.high, math.inf),
                stated.positive,
                None if prior is None else Prior(*(number(v, 1.0) for v in prior)),
            )
        except SharpfrontError as error:
            draft.book.note(path, str(error), name)
    return found
