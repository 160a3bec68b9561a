"""What the catalogue knows of a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sharpfront.problem import Problem


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
