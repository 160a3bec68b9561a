"""A Python function becomes expressions: it is called once, with symbols."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sharpfront.equation.calculus import Vector
from sharpfront.equation.expression import (
    Coordinate,
    Derivative,
    Expression,
    as_expression,
    derivatives_in,
)
from sharpfront.errors import EquationError

_COORDINATE_NAME = re.compile(r"[xyzt]|x\d+")


@dataclass(frozen=True)
class Symbols:
    """The names that a residual may use.

    Parameters
    ----------
    unknowns
        Names of the unknowns, in the order of the blocks of columns.
    coordinates
        Names of the coordinates, in the order of the columns of a point array.
    """

    unknowns: tuple[str, ...]
    coordinates: tuple[str, ...]

    def stand_in(self, name: str) -> Expression:
        """Return the leaf that stands for an unknown or a coordinate."""
        if name in self.coordinates:
            return Coordinate(name, self.coordinates)
        return Derivative(name, self.coordinates, (0,) * len(self.coordinates))


def is_coordinate_name(name: str) -> bool:
    """Tell whether a parameter of that name is a coordinate (x, y, z, t, x1, x2, ...)."""
    return _COORDINATE_NAME.fullmatch(name) is not None


def unknowns_of(function: Callable[..., Any], coordinates: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the unknowns of a residual: its parameters that are no coordinates."""
    names = tuple(p.name for p in _parameters(function) if p.kind is not p.VAR_POSITIONAL)
    _refuse_foreign_coordinates(names, coordinates)
    unknowns = tuple(n for n in names if n not in coordinates)
    if not unknowns:
        raise EquationError(
            f"The residual {_signature(function)} has no unknown among its parameters. "
            f"Write for example lambda u, {', '.join(coordinates)}: ..."
        )
    return unknowns


def trace(
    function: Callable[..., Any], symbols: Symbols, *, what: str = "residual"
) -> tuple[Expression, ...]:
    """Call a residual once with symbols and return what it computes.

    Parameters
    ----------
    function
        Takes unknowns and coordinates by name, in any order; returns one residual or several.
    symbols
        The names that the problem has.
    what
        How to call the function in an error message.
    """
    arguments: list[Expression] = []
    for parameter in _parameters(function):
        if parameter.kind is parameter.VAR_POSITIONAL:
            arguments += [symbols.stand_in(c) for c in symbols.coordinates]
            continue
        _refuse_foreign_coordinates((parameter.name,), symbols.coordinates)
        if parameter.name not in (*symbols.unknowns, *symbols.coordinates):
            raise EquationError(
                f"The {what} {_signature(function)} has a parameter {parameter.name!r}; the "
                f"unknowns here are {', '.join(symbols.unknowns)} and the coordinates "
                f"{', '.join(symbols.coordinates)}."
            )
        arguments.append(symbols.stand_in(parameter.name))
    return _as_residuals(function(*arguments), what)


def require_unknowns(residuals: Sequence[Expression], what: str) -> None:
    """Refuse a residual in which no unknown occurs."""
    for i, residual in enumerate(residuals):
        if not derivatives_in(residual):
            which = f"{what} {i + 1}" if len(residuals) > 1 else what
            raise EquationError(
                f"The {which} does not contain an unknown, so it cannot determine one. "
                "Write for example `u - 1` for u = 1, or `-nu * u.dxx + u.dx` for an equation."
            )


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    if not callable(function):
        raise EquationError(
            f"Expected a function such as lambda u, x: u.dx - 1, got {function!r} "
            f"of type {type(function).__name__}."
        )
    parameters = inspect.signature(function).parameters.values()
    # A parameter with a default is a captured constant: lambda u, x, nu=nu: ...
    return [
        p
        for p in parameters
        if p.kind is not p.VAR_KEYWORD and (p.default is p.empty or p.kind is p.VAR_POSITIONAL)
    ]


def _signature(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "function").replace("<lambda>", "lambda")
    return f"{name}{inspect.signature(function)}"


def _refuse_foreign_coordinates(names: Sequence[str], coordinates: tuple[str, ...]) -> None:
    foreign = [n for n in names if is_coordinate_name(n) and n not in coordinates]
    if foreign:
        hint = "Give time=(t0, t1) for a problem in time. " if foreign == ["t"] else ""
        raise EquationError(
            f"{', '.join(map(repr, foreign))} is not a coordinate of this domain, whose "
            f"coordinates are {', '.join(coordinates)}. {hint}"
            "Parameters named x, y, z, t, x1, x2, ... are coordinates, all others are unknowns."
        )


def _as_residuals(result: Any, what: str) -> tuple[Expression, ...]:
    if result is None:
        raise EquationError(f"The {what} returned None: is a `return` missing?")
    if isinstance(result, bool):
        raise EquationError(
            f"The {what} returned {result}. Return an expression that is zero where the equation "
            "holds: `u - 1`, not `u == 1`."
        )
    many = result if isinstance(result, tuple | list | Vector) else (result,)
    if not many:
        raise EquationError(f"The {what} returned nothing, got {result!r}.")
    return tuple(as_expression(r) for r in many)
