"""Guesses as users give them: all that `initial=` takes, an array, an earlier solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.line_basis import LineBasis
from sharpfront.equation.expression import Constant, Coordinate, Expression
from sharpfront.errors import ProblemError
from sharpfront.geometry import Domain
from sharpfront.newton.initial_values import integrated
from sharpfront.newton.iterate import Constants, Iterate, Remembered, Traced, traced_or_differenced
from sharpfront.problem import Problem
from sharpfront.problem.initial import StateReader
from sharpfront.solution import Solution


@dataclass(frozen=True, eq=False)
class Start:
    """Where Newton's method starts."""

    # A number; a text; a function of the coordinates; an array of values on an even grid over the
    # domain's bounds, ends included, one axis for each coordinate; an earlier `Solution`; or, for
    # several unknowns, a tuple of these or a mapping from names to them, or a function that returns
    # a tuple.
    given: Any = None

    @property
    def nodes(self) -> FloatArray | None:
        """A grid of the line on which an earlier solution is resolved."""
        if not isinstance(self.given, Solution):
            return None
        basis = next(iter(self.given.approximation.bases.values()))
        if not isinstance(basis, LineBasis):
            return None
        return np.concatenate([patch.places.nodes.x for patch in basis.patches])

    def iterates(self, problem: Problem) -> tuple[Iterate, ...]:
        """Return the guess with derivatives; without one, zero, one and a slope where these fail.

        Before these comes what conditions that all stand at one end lead to.
        About zero u^3 has no linear part, and log(u) is not finite; about any constant a flux
        |grad u|^2 grad u has none.
        """
        if self.given is None:
            stepped = integrated(problem)
            return (*([stepped] if stepped else []), *constants(problem), rising(problem))
        known = isinstance(self.given, Solution)
        return ((_from_solution if known else _from_parts)(self.given, problem),)


def constants(problem: Problem) -> tuple[Constants, Constants]:
    """Return zero, and one for every unknown."""
    zero = (0,) * len(problem.coordinates)
    return Constants(), Constants({(name, zero): 1.0 for name in problem.unknowns})


def rising(problem: Problem) -> Traced:
    """Return what goes from one at the lowest corner of the domain up by one along every axis."""
    names = problem.coordinates
    low, high = problem.domain.bounds
    rise: Expression = Constant(1.0)
    for name, a, b in zip(names, low, high, strict=True):
        rise = rise + (Coordinate(name, names) - float(a)) * float(1.0 / (b - a))
    return Traced(dict.fromkeys(problem.unknowns, rise), names)


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


def _from_parts(given: Any, problem: Problem) -> Iterate:
    names, coordinates = problem.unknowns, problem.coordinates
    if isinstance(given, Mapping) and set(given) <= set(names):
        # Unknowns that are left out start from zero.
        given = {name: given.get(name, 0.0) for name in names}
    reader = StateReader(
        "guess", names, coordinates, problem.parameters, partial(_on_grid, problem.domain)
    )
    functions: dict[str, Callable[..., Any]] = {
        name: _Placed(function, coordinates) for name, function in reader.functions(given).items()
    }
    return traced_or_differenced(functions, coordinates, problem.domain.bounds)


@dataclass(frozen=True, eq=False)
class _Placed:
    """A function that takes the coordinates by name, called with them in their order."""

    function: Callable[..., Any]
    coordinates: tuple[str, ...]

    def __call__(self, *values: Any) -> Any:
        found = self.function(**dict(zip(self.coordinates, values, strict=True)))
        if isinstance(found, int | float):
            # As many numbers as there are points.
            return found + 0.0 * values[0]
        return found


def _on_grid(domain: Domain, name: str, array: FloatArray) -> Callable[..., Any]:
    """Return values on an even grid as a function."""
    from scipy.interpolate import RegularGridInterpolator

    if not np.isfinite(array).all():
        raise ProblemError(f"The guess for {name} holds values that are not finite.")
    d = domain.dimension
    if array.ndim != d or min(array.shape) < 2:
        raise ProblemError(
            f"The guess for {name} is an array of shape {array.shape}; values on an even grid in "
            f"{d} dimension(s) need {d} axis(es) of two points or more, ends included."
        )
    low, high = domain.bounds
    axes = [np.linspace(a, b, n) for a, b, n in zip(low, high, array.shape, strict=True)]
    inside = RegularGridInterpolator(tuple(axes), array, bounds_error=False, fill_value=None)
    return lambda **columns: inside(np.stack(np.broadcast_arrays(*columns.values()), axis=-1))
