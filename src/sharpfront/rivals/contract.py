"""What a method must offer to be raced, and what it is given."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.problem import IntegralCondition, Problem
from sharpfront.problem.initial import InitialState, StateReader

Field = Callable[..., Any]
# Functions of the coordinates by the unknowns' names.
Found = Mapping[str, Field]


@dataclass(frozen=True)
class Setting:
    """One way to set a method.

    Parameters
    ----------
    words
        How it differs from the other settings.
    values
        What the method makes of it.
    share
        The part of the seconds that a run with it may take.
    """

    words: str
    values: Mapping[str, Any] = field(default_factory=dict)
    share: float = 1.0


def tried(words: str, **values: Sequence[Any]) -> tuple[Setting, ...]:
    """Return a setting for each combination of values, the last one changing first.

    Words have names of values in braces.
    """
    grid = (dict(zip(values, each, strict=True)) for each in product(*values.values()))
    return tuple(Setting(words.format(**each), each) for each in grid)


@dataclass(frozen=True, eq=False)
class Subject:
    """What is to be solved, as all methods are told it.

    Parameters
    ----------
    problem
        Domain, equations and conditions.
    guess
        What a nonlinear problem starts from, as `sharpfront.solve` takes it.
    family, continuation
        The problem as a function of a parameter, and the values that lead to it.
    """

    problem: Problem
    guess: Any = None
    family: Callable[[float], Problem] | None = None
    continuation: Sequence[float] | None = None

    def start(self, points: FloatArray) -> dict[str, FloatArray]:
        """Return each unknown at points of space (m, d) from the guess; zero without one."""
        names, coordinates = self.problem.unknowns, self.problem.domain.coordinates
        if self.guess is None:
            return {name: np.zeros(len(points)) for name in names}
        reader = StateReader("guess", names, coordinates, self.problem.parameters)
        state = InitialState(coordinates, reader.functions(self.guess))
        return {name: state.values(name, points) for name in names}


@dataclass(frozen=True)
class Rival(ABC):
    """A method in the race: words about it, and what it does."""

    name: str  # a word for the command line
    title: str  # what tables and pictures call it
    citation: str  # where it is published
    needs: tuple[str, ...] = ()  # modules that must be importable, beyond those of the core
    drawn: bool = False  # whether a result depends on the seed

    def missing(self) -> str:
        """Return what has to be installed, and how; nothing if all is there."""
        lacking = [need for need in self.needs if importlib.util.find_spec(need) is None]
        return f"needs {', '.join(lacking)}: pip install 'sharpfront[bench]'" if lacking else ""

    @abstractmethod
    def applies(self, subject: Subject) -> str:
        """Return why the method cannot be used; nothing if it can."""

    @abstractmethod
    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return the settings to try, the cheapest first."""

    @abstractmethod
    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return each unknown as a function; what could go on for ever stops when time is up."""


def refused(*reasons: tuple[bool, str]) -> str:
    """Return the words of the first reason that holds; nothing if none does."""
    return next((words for holds, words in reasons if holds), "")


def only_values(problem: Problem) -> bool:
    """Tell whether all conditions give the one unknown itself, on the boundary."""
    return (
        len(problem.unknowns) == 1
        and not problem.further
        and all(len(c.residuals) == 1 and c.forms[0].order == 0 for c in problem.conditions)
        and len(problem.conditions) == len(problem.domain.parts)
    )


def has_integrals(problem: Problem) -> bool:
    """Tell whether a condition is an integral."""
    return any(isinstance(c, IntegralCondition) for c in problem.further)
