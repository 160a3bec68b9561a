"""A problem file, read: the problem, how to solve it, and its exact solution if that is known.

As a family it has parameters, some of them free, and what was measured.
"""

from __future__ import annotations

import csv
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sharpfront.arrays import FloatArray
from sharpfront.checks import did_you_mean
from sharpfront.errors import ProblemError, SharpfrontError
from sharpfront.files import text_of
from sharpfront.fit import Data, Fit, Free, Table, fit, sweep
from sharpfront.fit.free_parameters import Prior
from sharpfront.measure import true_errors
from sharpfront.problem import Problem
from sharpfront.problem_file.build import Draft
from sharpfront.problem_file.mistakes import Book, Mistake, StatementError
from sharpfront.problem_file.names import functions
from sharpfront.problem_file.shape import shaped
from sharpfront.show import solve_report
from sharpfront.solution import Solution
from sharpfront.solve import solve


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

        known_before = None
        start, bounds = number(stated.start, 1.0), (stated.low, stated.high)
        low, high = map(number, bounds, (-math.inf, math.inf))
        try:
            if stated.prior is not None:
                known_before = Prior(*(number(v, 1.0) for v in stated.prior))
            found[name] = Free(start, low, high, stated.positive, known_before)
        except SharpfrontError as error:
            draft.book.note(path, str(error), name)
    return found


Changes = Mapping[str, float | str]


@dataclass(frozen=True, eq=False)
class Statement:
    """What a problem file says.

    Parameters
    ----------
    name, title
        Of the file, without its ending; and its own words for it.
    text
        The whole file.
    problem
        Domain, equations and conditions.
    parameters
        The values in use.
    exact
        Exact solutions by the unknowns' names; empty where none is given.
    options
        Arguments for `sharpfront.solve`: tol, max_kernels, seed, guess, continuation.
    family
        The problem as a function of the parameter that is led, where there is a continuation.
    points
        Returns where to look for the true error; None to follow the kernels.
    members
        The problem as a function of its parameters, for fits and sweeps.
    free
        Parameters that a fit may change.
    data
        What they are fitted to.
    """

    name: str
    title: str
    text: str
    problem: Problem
    parameters: Mapping[str, float]
    exact: Mapping[str, Callable[..., Any]]
    options: Mapping[str, Any] = field(default_factory=dict)
    family: Callable[[float], Problem] | None = None
    points: Callable[[], FloatArray] | None = None
    members: Members | None = None
    free: Mapping[str, Free] = field(default_factory=dict)
    data: Measured = field(default_factory=lambda: Measured(None, None))

    def solve(self, **options: Any) -> Solution:
        """Solve it; options given here go before those of the file."""
        given = {k: v for k, v in options.items() if v is not None}
        chosen = {**self.options, **given}
        return solve(self.family or self.problem, **chosen)

    def fit(self, data: Path | None = None, **options: Any) -> Fit:
        """Fit its free parameters to a table of measurements, its own if none is named."""
        if not self.free:
            raise ProblemError("The file frees no parameter. Add [free] with nu = 0.05.")
        assert self.members is not None
        given: dict[str, Any] = {"options": self._chosen("max_kernels", "seed", "guess")}
        given |= {**options, **self.free}
        return fit(self.members, data=self.data.read(data), **given)

    def sweep(self, *, tol: float | None = None, **options: Any) -> Table:
        """Solve it for many values of its parameters; options are those of `sharpfront.sweep`."""
        assert self.members is not None
        given = self._chosen("tol", "max_kernels", "seed") | ({"tol": tol} if tol else {})
        return sweep(self.members, options=given, **options)

    def _chosen(self, *names: str) -> dict[str, Any]:
        return {k: v for k, v in self.options.items() if k in names}

    def true_errors(self, solution: Solution) -> dict[str, float]:
        """Return the largest error of each unknown whose exact solution is known."""
        points = self.points() if self.points and self.exact else None
        return true_errors(solution, self.exact, points)

    def page(self, solution: Solution) -> str:
        """Return the page about a solution of it."""
        settings = {name: f"{value:g}" for name, value in self.parameters.items()}
        settings["tol"] = f"{solution.tol:g}"
        words = {"title": self.title, "statement": self.text}
        return solve_report(solution, exact=self.exact or None, settings=settings, **words)

    @property
    def bare_parts(self) -> tuple[str, ...]:
        """The parts of the boundary without a condition."""
        stated = {c.part for c in self.problem.conditions}
        return tuple(p for p in self.problem.domain.parts if p not in stated)


def read(path: str | Path, changed: Changes | None = None) -> Statement:
    """Return what a problem file states.

    Parameters
    ----------
    path
        A TOML file.
    changed
        Values of parameters in place of those in the file.

    Raises
    ------
    StatementError
        With all mistakes of the file at once.
    """
    file = Path(path)
    try:
        source = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not a text in UTF-8"
        raise StatementError([Mistake((), f"Cannot read the file: {why}.")], str(path)) from None
    return read_text(source, str(path), file.parent, changed)


def read_text(
    source: str,
    name: str = "problem.toml",
    folder: str | Path | None = ".",
    changed: Changes | None = None,
) -> Statement:
    """Return what the text of a problem file states; see `read`.

    Files that it names are looked for in a folder; with None it may name none.
    """
    # A mark of the byte order is no part of the text.
    source = source.removeprefix("\ufeff")
    file, book = shaped(source, name)
    given = dict(changed or {})
    for parameter in [n for n in given if n not in file.parameters]:
        del given[parameter]
        known = ", ".join(file.parameters) or "none"
        words = (
            f"--set {parameter}: the file has no parameter {parameter!r}."
            f"{did_you_mean(parameter, file.parameters)} Its parameters: {known}."
        )
        book.mistakes.append(Mistake((), words, parameter))
    place = None if folder is None else Path(folder)
    draft = Draft(file, book, place, given)
    problem, exact = draft.problem(), draft.exact()
    options, family = _options(draft, place, given)
    free, data = free_parameters(draft), Measured.of(draft, place)
    if problem is None or book.mistakes:
        raise StatementError(book.mistakes, name, source)
    stem = Path(name).stem
    own, parameters = Members(source, name, place, tuple(file.parameters), given), draft.parameters
    stated = (stem, file.title or stem, source, problem, parameters, exact, options, family)
    return Statement(*stated, members=own, free=free, data=data)


def _options(
    draft: Draft, folder: Path | None, changed: Mapping[str, Any]
) -> tuple[dict[str, Any], Callable[[float], Problem] | None]:
    """Return how to solve, also of a file with mistakes, so that all of them are found at once."""
    file, book, settings = draft.file, draft.book, draft.file.solve
    tol = settings.tol
    if isinstance(tol, str):
        tol = draft.names.number(tol, ("solve", "tol"))
    if tol is not None and not 0 < tol < 1:
        book.note(("solve", "tol"), f"tol lies between 0 and 1, got {tol:g}. Try 1e-8.", "tol")
    numbers = {"tol": tol, "max_kernels": settings.max_kernels, "seed": settings.seed}
    found: dict[str, Any] = {k: v for k, v in numbers.items() if v is not None}
    if settings.guess is not None:
        unknowns = draft.names.symbols.unknowns
        found["guess"] = functions(settings.guess, ("solve", "guess"), unknowns, draft.names)
    if settings.continuation is None:
        return found, None
    way = _way(draft)
    parameter = settings.continuation.parameter

    def family(value: float) -> Problem:
        aside = Book(book.source, book.spans)
        made = Draft(file, aside, folder, {**changed, parameter: value}).problem()
        if made is None:
            raise StatementError(aside.mistakes, "problem", book.source)
        return made

    return {**found, "continuation": way}, family


def _way(draft: Draft) -> list[float]:
    """Return the values of the parameter that is led, ending at its own."""
    continuation, known = draft.file.solve.continuation, draft.parameters
    assert continuation is not None
    name, path = continuation.parameter, ("solve", "continuation")
    numbers = [draft.names.number(v, (*path, "values")) for v in continuation.values]
    if name not in known:
        if name not in draft.names.unread:
            words = f"{name!r} is not a parameter.{did_you_mean(name, known)}"
            draft.book.note((*path, "parameter"), f"{words} Known: {', '.join(known)}.", name)
        return []
    return steps_to(known[name], [n for n in numbers if n is not None])


def steps_to(target: float, values: Sequence[float]) -> list[float]:
    """Return the values that lead to the target, which is the last; those beyond it are left out.

    >>> steps_to(1e-3, [1e-1, 1e-2, 1e-3, 1e-4])
    [0.1, 0.01, 0.001]
    """
    falling = len(values) > 1 and values[-1] < values[0]
    rising = len(values) > 1 and values[-1] > values[0]
    beyond = [(falling and v < target) or (rising and v > target) for v in values]
    return [*(v for v, far in zip(values, beyond, strict=True) if v != target and not far), target]
