"""Guesses as users give them: all that `initial=` takes, an array, an earlier solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from sharpfront.arrays import Host
from sharpfront.equation.expression import Expression, evaluate
from sharpfront.equation.formula import from_sympy
from sharpfront.equation.symbolic import is_symbolic
from sharpfront.equation.text import parse
from sharpfront.equation.trace import Symbols
from sharpfront.errors import ProblemError
from sharpfront.newton.iterate import (
    Constants,
    Iterate,
    Remembered,
    traced_or_differenced,
)
from sharpfront.pieces import PiecewiseBasis
from sharpfront.problem import Problem
from sharpfront.solution import Solution


@dataclass(frozen=True, eq=False)
class Start:
    """Where Newton's method starts.

    Parameters
    ----------
    given
        A number; a text; a function of the coordinates; an array of values on an even grid over the
        domain's bounds, ends included, one axis for each coordinate; an earlier `Solution`; or,
        for several unknowns, a tuple of these or a mapping from names to them, or a function that
        returns a tuple.
    """

    given: Any = None

    @property
    def nodes(self) -> Host | None:
        """A grid of the line on which an earlier solution is resolved."""
        if not isinstance(self.given, Solution):
            return None
        basis = next(iter(self.given.approximation.bases.values()))
        if not isinstance(basis, PiecewiseBasis):
            return None
        return np.concatenate([piece.places.nodes.x for piece in basis.pieces])

    def iterates(self, problem: Problem) -> tuple[Iterate, ...]:
        """Return the guess with derivatives; without one, zero, and one where zero fails.

        About zero u^3 has no linear part, and log(u) is not finite.
        """
        if self.given is not None:
            return (self._iterate(problem),)
        return constants(problem)

    def _iterate(self, problem: Problem) -> Iterate:
        if isinstance(self.given, Solution):
            return _from_solution(self.given, problem)
        given = self.given
        if not isinstance(given, Mapping):
            given = _by_name(given, problem.unknowns)
        unknown = [name for name in given if name not in problem.unknowns]
        if unknown:
            raise ProblemError(
                f"The guess names {', '.join(map(repr, unknown))}; the unknowns are "
                f"{', '.join(problem.unknowns)}."
            )
        return _from_parts(given, problem)


def constants(problem: Problem) -> tuple[Constants, Constants]:
    """Return zero, and one for every unknown."""
    zero = (0,) * len(problem.coordinates)
    return Constants(), Constants({(name, zero): 1.0 for name in problem.unknowns})


def _by_name(given: Any, unknowns: Sequence[str]) -> Mapping[str, Any]:
    """Return a guess without names as one for each unknown."""
    if len(unknowns) == 1:
        return {unknowns[0]: given}
    if isinstance(given, tuple | list) and len(given) == len(unknowns):
        return dict(zip(unknowns, given, strict=True))
    if callable(given):
        return {name: _Part(given, i, len(unknowns)) for i, name in enumerate(unknowns)}
    raise ProblemError(
        f"The problem has the unknowns {', '.join(unknowns)}: give a guess for each, as a tuple in "
        "this order or by name, guess={'u': ..., 'v': ...}."
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """One of the guesses that a single function returns as a tuple."""

    whole: Callable[..., Any]
    index: int
    count: int

    def __call__(self, *coordinates: Any) -> Any:
        found = self.whole(*coordinates)
        if not isinstance(found, tuple | list) or len(found) != self.count:
            raise ProblemError(
                f"The guess is one function for {self.count} unknowns; it must return a tuple with "
                f"a value for each, got {type(found).__name__}."
            )
        return found[self.index]


@dataclass(frozen=True, eq=False)
class _Text:
    """A guess written as a text: an expression of the coordinates."""

    expression: Expression
    coordinates: tuple[str, ...]

    def __call__(self, *values: Any) -> Any:
        if any(isinstance(v, Expression) for v in values):
            return self.expression
        leaves = {("coordinate", c): v for c, v in zip(self.coordinates, values, strict=True)}
        return evaluate(self.expression, leaves)


def _from_solution(solution: Solution, problem: Problem) -> Iterate:
    have, need = solution.unknowns, problem.unknowns
    same = solution.approximation.coordinates == problem.coordinates
    if not same or set(need) - set(have):
        raise ProblemError(
            f"The guess is a solution for {', '.join(have)} of "
            f"{', '.join(solution.approximation.coordinates)}; the problem asks for "
            f"{', '.join(need)} of {', '.join(problem.coordinates)}."
        )
    return Remembered(solution.approximation, 2)


def _from_parts(given: Mapping[str, Any], problem: Problem) -> Iterate:
    functions = {}
    for name in problem.unknowns:
        part = given.get(name, 0.0)
        if isinstance(part, str):
            symbols = Symbols((), problem.coordinates)
            part = _Text(parse(part, symbols, dict(problem.parameters)), problem.coordinates)
        if is_symbolic(part):
            part = from_sympy(part, problem.coordinates, problem.parameters)
        functions[name] = part if callable(part) else _function(name, part, problem)
    return traced_or_differenced(functions, problem.coordinates, problem.domain.bounds)


def _function(name: str, values: Any, problem: Problem) -> Any:
    """Return a number or values on an even grid as a function."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ProblemError(
            f"The guess for {name} is {values!r}; give a function of the coordinates, a text, a "
            "number, an array of values on an even grid, or an earlier solution."
        ) from None
    if not np.isfinite(array).all():
        raise ProblemError(f"The guess for {name} holds values that are not finite.")
    if array.ndim == 0:
        return lambda *coordinates: float(array) + 0.0 * coordinates[0]
    d = problem.domain.dimension
    if array.ndim != d or min(array.shape) < 2:
        raise ProblemError(
            f"The guess for {name} is an array of shape {array.shape}; values on an even grid in "
            f"{d} dimension(s) need {d} axis(es) of two points or more, ends included."
        )
    low, high = problem.domain.bounds
    axes = [np.linspace(a, b, n) for a, b, n in zip(low, high, array.shape, strict=True)]
    inside = RegularGridInterpolator(tuple(axes), array, bounds_error=False, fill_value=None)
    return lambda *coordinates: inside(np.stack(np.broadcast_arrays(*coordinates), axis=-1))
