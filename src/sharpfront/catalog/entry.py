"""What the catalogue knows of a problem."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from sharpfront.arrays import FloatArray
from sharpfront.checks import positive
from sharpfront.errors import ProblemError, SharpfrontError
from sharpfront.problem import Problem

R = TypeVar("R")
_OF_THE_PARAMETER = ("problem", "exact", "features", "points")


def of_parameter(name: str, call: Callable[..., R]) -> Callable[..., R]:
    """Return a function of a problem's parameter that refuses values for which it has no meaning.

    Parameters
    ----------
    name
        Of the problem.
    call
        Its first argument is the parameter, a positive number in all problems here.
    """

    @functools.wraps(call)
    def checked(value: Any, *args: Any, **kwargs: Any) -> R:
        number = positive(value, f"{name}: the parameter")
        try:
            return call(number, *args, **kwargs)
        except SharpfrontError:
            raise
        except (ArithmeticError, ValueError) as error:
            raise ProblemError(
                f"{name}: there is no such problem for the parameter {number:g} ({error}). Try a "
                "value closer to that of the catalogue."
            ) from error

    return checked


def check_calls(entry: Any) -> None:
    """Let all functions of an entry's parameter check it."""
    for name in (f.name for f in fields(entry) if f.name in _OF_THE_PARAMETER):
        call = getattr(entry, name)
        if call is not None:
            object.__setattr__(entry, name, of_parameter(entry.name, call))


@dataclass(frozen=True)
class Feature:
    """A layer, front or spike: where it is and how wide."""

    position: float
    width: float


@dataclass(frozen=True, eq=False)
class Entry:
    """A named problem, a function of its stiffness parameter.

    Parameters
    ----------
    name, title, statement
        Words; the statement is the equation with its conditions.
    problem
        Returns the problem for a value of the parameter.
    exact
        Returns the exact solution as a vectorised function of the coordinates.
    features
        Returns where test points must be dense. Used to measure errors, never to solve.
    """

    name: str
    title: str
    statement: str
    problem: Callable[[float], Problem]
    exact: Callable[[float], Callable[..., Any]]
    features: Callable[[float], tuple[Feature, ...]]

    def __post_init__(self) -> None:
        check_calls(self)


@dataclass(frozen=True, eq=False)
class Front:
    """A feature of more than one dimension: what it lies along, and how wide it is.

    Parameters
    ----------
    where
        Words or an equation, "x = 1".
    width
        The length across it over which the solution changes.
    distance
        Returns a signed distance to it as a function of the coordinates, exact to first order.
    """

    where: str
    width: float
    distance: Callable[..., Any]


@dataclass(frozen=True, eq=False)
class NamedProblem:
    """A named problem, a function of one parameter.

    Parameters
    ----------
    name, title, statement
        Words; the statement is the equation with its conditions.
    parameter
        What the parameter is, in words.
    values
        Values of the parameter that are of interest.
    problem
        Returns the problem for a value of the parameter.
    """

    name: str
    title: str
    statement: str
    parameter: str
    values: tuple[float, ...]
    problem: Callable[[float], Problem]

    def __post_init__(self) -> None:
        check_calls(self)


@dataclass(frozen=True, eq=False)
class SpatialEntry(NamedProblem):
    """A named problem in two dimensions or more.

    Parameters
    ----------
    exact
        Returns the exact solution as a vectorised function of the coordinates.
    features
        Returns the layers and fronts. Used to measure errors, never to solve.
    points
        ``points(value, per_axis=...)`` returns test points of the closed domain (m, d), graded
        down to a thousandth of each feature's width.
    """

    exact: Callable[[float], Callable[..., Any]]
    features: Callable[[float], tuple[Front, ...]]
    points: Callable[..., FloatArray]


@dataclass(frozen=True, eq=False)
class TimeEntry(NamedProblem):
    """A named problem in time on an interval.

    Parameters
    ----------
    exact
        Returns the exact solution as a vectorised function of x and t; for several unknowns a
        mapping from their names to such functions. None where no formula is known.
    features
        Returns a function of the moment that tells where the fronts are then, and how wide.
        Used to measure errors, never to solve.
    panels
        Even panels across the interval that test points need besides the features.
    """

    exact: Callable[[float], Callable[..., Any] | Mapping[str, Callable[..., Any]]] | None
    features: Callable[[float], Callable[[float], tuple[Feature, ...]]]
    panels: int = 20
