"""The catalogue by name: each problem as Python states it, and as a problem file.

A new problem appears here by joining one of the tuples of `sharpfront.catalog` and, for its file,
by a ``catalog/NAME.toml`` beside this module.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from sharpfront import catalog
from sharpfront.arrays import FloatArray
from sharpfront.catalog import Entry, SpatialEntry, TimeEntry, flows, nonlinear, nonlinear_plane
from sharpfront.catalog.entry import of_parameter
from sharpfront.checks import did_you_mean
from sharpfront.errors import ProblemError
from sharpfront.problem import Problem
from sharpfront.problem_file.statement import Statement, read_text

Field = Callable[..., Any]
Fields = Mapping[str, Field]

_LAYERS = (
    *(catalog.SINGLE_LAYER, catalog.TWIN_LAYER, catalog.REACTION),
    *(catalog.TURNING_POINT, catalog.SPIKE, catalog.OSCILLATION),
)


@dataclass(frozen=True, eq=False)
class Listed:
    """A problem of the catalogue.

    Parameters
    ----------
    name, title, statement
        Words.
    dimension
        In words: "2", or "1 + t" for a problem in time.
    parameter, value
        What makes it stiff, by the name it has in the file, and its value there.
    problem
        Returns the problem for a value of the parameter.
    exact
        Returns the exact solutions by the unknowns' names; empty where none is known.
    points
        Returns where to look for the error; None to follow the kernels.
    guess
        What to start from.
    """

    name: str
    title: str
    statement: str
    dimension: str
    parameter: str
    value: float
    problem: Callable[[float], Problem]
    exact: Callable[[float], Fields]
    points: Callable[[float], FloatArray] | None = None
    guess: Any = None

    @property
    def file(self) -> str | None:
        """The text of its problem file; None where it cannot be written as one."""
        return _file(self.name)

    @property
    def options(self) -> Mapping[str, Any]:
        """What it is solved with unless something else is said: the file's tolerance, a guess."""
        settings = tomllib.loads(self.file or "").get("solve", {})
        found = {"tol": settings.get("tol"), "guess": self.guess}
        return {name: value for name, value in found.items() if value is not None}

    def stated(self, value: float | None = None) -> Statement:
        """Return the problem for a value of its parameter, as Python states it."""
        chosen = self.value if value is None else value
        text = f"{self.statement}\n{self.parameter} = {chosen:g}"
        return Statement(
            self.name,
            self.title,
            text,
            self.problem(chosen),
            {self.parameter: chosen},
            self.exact(chosen),
            self.options,
            points=None if self.points is None else functools.partial(self.points, chosen),
        )


@functools.cache
def listing() -> Mapping[str, Listed]:
    """Return all problems of the catalogue by name."""
    found: dict[str, Listed] = {}
    for make in (_line, _space, _flows, _time, _plane_in_time):
        for listed in make(found):
            found[listed.name] = listed
    return found


def named(name: str) -> Listed:
    """Return one problem of the catalogue."""
    found = listing().get(name)
    if found is None:
        raise ProblemError(
            f"The catalogue has no {name!r}.{did_you_mean(name, listing())} "
            "`sharpfront catalog` lists all names."
        )
    return found


def _file(name: str) -> str | None:
    path = resources.files("sharpfront.problem_file") / "catalog" / f"{name}.toml"
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _parameter(name: str, words: str, values: tuple[float, ...]) -> tuple[str, float]:
    """Return name and value of the first parameter of a file, or what the entry says of it."""
    source = _file(name)
    parameters = tomllib.loads(source).get("parameters", {}) if source else {}
    for symbol, value in parameters.items():
        if isinstance(value, int | float):
            return symbol, float(value)
        assert source is not None
        return symbol, read_text(source, name).parameters[symbol]
    return words.split(",")[0].split()[-1], float(values[0])


def _line(_: Mapping[str, Listed]) -> Iterator[Listed]:
    for entry in (*_LAYERS, *nonlinear.LINE):
        symbol, value = _parameter(entry.name, "", ())
        yield Listed(
            entry.name,
            entry.title,
            entry.statement,
            "1",
            symbol,
            value,
            entry.problem,
            functools.partial(_of_u, entry),
            functools.partial(_graded, entry),
            getattr(entry, "guess", None),
        )


def _of_u(entry: Entry | SpatialEntry, value: float) -> Fields:
    return {"u": entry.exact(value)}


def _graded(entry: Entry, value: float) -> FloatArray:
    return catalog.graded_points(entry.problem(value).domain, entry.features(value))


def _space(_: Mapping[str, Listed]) -> Iterator[Listed]:
    plane = [(entry, "2") for entry in (*catalog.PLANE, *nonlinear_plane.PLANE)]
    space = [(e, "5" if e is catalog.HYPERCUBE else "3") for e in catalog.SPACE]
    for entry, dimension in (*plane, *space):
        symbol, value = _parameter(entry.name, entry.parameter, entry.values)
        yield Listed(
            entry.name,
            entry.title,
            entry.statement,
            dimension,
            symbol,
            value,
            entry.problem,
            functools.partial(_of_u, entry),
            entry.points,
        )


def _flows(_: Mapping[str, Listed]) -> Iterator[Listed]:
    slow = "-lap u + p_x = 0, -lap v + p_y = 0, u_x + v_y = 0"
    steady = "-lap u/Re + u u_x + v u_y + p_x = 0, the same for v, u_x + v_y = 0"
    table: tuple[tuple[str, str, str, Callable[[float], Problem], Callable[[float], Fields]], ...]
    table = (
        (
            "kovasznay",
            "Kovasznay's flow behind a grid",
            f"{steady}; velocity given on the boundary of (-0.5, 1) x (-0.5, 1.5)",
            flows.kovasznay,
            flows.kovasznay_exact,
        ),
        (
            "channel",
            "Stokes flow through a channel",
            f"{slow} on (0, L) x (0, 1); inflow given, outflow free of stress",
            flows.channel,
            flows.channel_exact,
        ),
        (
            "cavity",
            "Flow in a cavity under a moving lid",
            f"{steady} on the unit square; a lid of unit speed at rest at its ends",
            flows.cavity,
            lambda value: {},
        ),
    )
    for name, title, statement, problem, exact in table:
        symbol, value = _parameter(name, "", ())
        yield Listed(
            name,
            title,
            statement,
            "2",
            symbol,
            value,
            of_parameter(name, problem),
            of_parameter(name, exact),
        )


def _time(taken: Mapping[str, Listed]) -> Iterator[Listed]:
    for entry in catalog.TIME:
        # A steady problem may have the same name.
        name = f"{entry.name}-in-time" if entry.name in taken else entry.name
        symbol, value = _parameter(name, entry.parameter, entry.values)
        yield Listed(
            name,
            entry.title,
            entry.statement,
            "1 + t",
            symbol,
            value,
            entry.problem,
            functools.partial(_in_time, entry),
            functools.partial(_ruled, entry),
        )


def _plane_in_time(_: Mapping[str, Listed]) -> Iterator[Listed]:
    for entry in catalog.PLANE_IN_TIME:
        symbol, value = _parameter(entry.name, entry.parameter, entry.values)
        exact = functools.partial(_only, entry.exact)
        yield Listed(
            entry.name, entry.title, entry.statement, "2 + t", symbol, value, entry.problem, exact
        )


def _only(exact: Callable[[float], Field], value: float) -> Fields:
    return {"u": exact(value)}


def _in_time(entry: TimeEntry, value: float) -> Fields:
    if entry.exact is None:
        return {}
    exact = entry.exact(value)
    return exact if isinstance(exact, Mapping) else {"u": exact}


def _ruled(entry: TimeEntry, value: float) -> FloatArray:
    rule = catalog.time_rule(entry, value)
    return np.column_stack([rule.x, rule.t])
