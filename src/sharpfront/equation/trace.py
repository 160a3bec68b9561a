"""A Python function becomes expressions: it is called once, with symbols.

Which names an unknown may have: those under which it can be reached afterwards.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from sharpfront.equation.calculus import Vector
from sharpfront.equation.edges import CONDITIONS
from sharpfront.equation.expression import (
    COORDINATE_NAME,
    SPECTRAL,
    Apply,
    Coordinate,
    Derivative,
    Expression,
    Parameter,
    as_expression,
    split_names,
)
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.printer import NORMAL
from sharpfront.errors import EquationError

# What a solution calls its own, ``solution.plot``. Solutions are above this room and may not be
# loaded yet; a test compares.
_TAKEN = """
animate approximation checkpoint converged d diagnostics domain error_estimate error_estimate_since
error_over_time estimate flux history in_time integral kernels max member min outcome plot problem
report residual roots save sensitivity to_dataframe to_xarray tol unknowns
"""
_RESERVED = frozenset(_TAKEN.split())


def refuse_names(unknowns: tuple[str, ...], coordinates: tuple[str, ...]) -> None:
    """Refuse unknowns that could not be reached, or that would read as something else."""
    for name in unknowns:
        why = unreachable(name, unknowns, coordinates)
        if why is not None:
            raise EquationError(why)


@functools.lru_cache(maxsize=256)
def unreachable(name: str, unknowns: tuple[str, ...], coordinates: tuple[str, ...]) -> str | None:
    """Return why an unknown cannot have this name and what to try; None if it can."""
    head, _, tail = name.rpartition("_")
    if name in _RESERVED:
        why = f"solution.{name} is something else, so it could not be reached"
    elif name.startswith("_") or not name.isidentifier() or keyword.iskeyword(name):
        why = "solution.name must be able to reach it"
    elif name == "dn" or (name[:1] == "d" and split_names(name[1:], coordinates)):
        why = f"it reads as the derivative u.{name}"
    elif name == NORMAL:
        why = f"{NORMAL}_x is a component of the boundary's normal"
    elif head in unknowns and (tail == "n" or split_names(tail, coordinates)):
        why = f"it reads as a derivative of {head}"
    else:
        return None
    other = f"{name.strip('_')}1"
    attempt = other if other.isidentifier() and not keyword.iskeyword(name) else "u"
    return f"An unknown cannot be called {name!r}: {why}. Choose another name, such as {attempt}."


@dataclass(frozen=True)
class Symbols:
    """The names that a residual may use."""

    unknowns: tuple[str, ...]  # names of the unknowns, in the order of the blocks of columns
    # Names of the coordinates, in the order of the columns of a point array.
    coordinates: tuple[str, ...]
    # The ends of those along which the domain is periodic, by name.
    seams: tuple[tuple[str, tuple[float, float]], ...] = ()

    def stand_in(self, name: str) -> Expression:
        """Return the leaf that stands for an unknown or a coordinate."""
        return _leaf(name, self.coordinates, dict(self.seams).get(name))


@functools.lru_cache(maxsize=256)
def _leaf(name: str, coordinates: tuple[str, ...], seam: tuple[float, float] | None) -> Expression:
    """Return the leaf of a name, one for all problems: what is read of `u - 1` is known later."""
    if name in coordinates:
        return Coordinate(name, coordinates, seam)
    return Derivative(name, coordinates, (0,) * len(coordinates))


@functools.lru_cache(maxsize=256)
def is_coordinate_name(name: str) -> bool:
    """Tell whether a parameter of that name is a coordinate (x, y, z, t, x1, x2, ...)."""
    return re.fullmatch(COORDINATE_NAME, name) is not None


def unknowns_of(function: Callable[..., Any], coordinates: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the unknowns of a residual: its parameters that are no coordinates."""
    names = [name for name, kind in _parameters(function) if kind is not _REST]
    _refuse_foreign_coordinates(names, coordinates)
    unknowns = tuple([n for n in names if n not in coordinates])
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

    It takes unknowns and coordinates by name, in any order, and returns one residual or several;
    `what` is how messages call it.
    """
    positional: list[Expression] = []
    by_name: dict[str, Expression] = {}
    parameters = _parameters(function)
    for name, kind in parameters:
        if kind is _REST:
            named = {n for n, k in parameters if k is not _REST}
            rest = [c for c in symbols.coordinates if c not in named]
            positional += [symbols.stand_in(c) for c in rest]
        elif kind is inspect.Parameter.KEYWORD_ONLY:
            by_name[name] = _argument(function, name, symbols, what)
        else:
            positional.append(_argument(function, name, symbols, what))
    return _as_residuals(function(*positional, **by_name), what)


def _argument(function: Callable[..., Any], name: str, symbols: Symbols, what: str) -> Expression:
    if name in symbols.coordinates or (name in symbols.unknowns and not is_coordinate_name(name)):
        return symbols.stand_in(name)
    _refuse_foreign_coordinates((name,), symbols.coordinates)
    if name == SPECTRAL and name not in symbols.unknowns:
        return Parameter(SPECTRAL)
    if name not in (*symbols.unknowns, *symbols.coordinates):
        raise EquationError(
            f"The {what} {_signature(function)} has a parameter {name!r}; the unknowns here are "
            f"{', '.join(symbols.unknowns)} and the coordinates {', '.join(symbols.coordinates)}. "
            f"Capture a constant from outside, or give it a default: {name}={name}."
        )
    return symbols.stand_in(name)


def require_unknowns(residuals: Sequence[Expression], what: str) -> None:
    """Refuse a residual in which no unknown occurs."""
    for i, residual in enumerate(residuals):
        if not derivatives_in(residual):
            which = f"{what} {i + 1}" if len(residuals) > 1 else what
            raise EquationError(
                f"The {which} does not contain an unknown, so it cannot determine one. "
                "Write for example `u - 1` for u = 1, or `-nu * u.dxx + u.dx` for an equation."
            )


_REST = inspect.Parameter.VAR_POSITIONAL
# Bits of a function's code that tell of *args and of **kwargs.
_STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def _parameters(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    """Return names and kinds of the parameters that have no default."""
    if type(function) is FunctionType and not function.__dict__:
        # Nothing wraps it: what a signature would say, in a tenth of the time.
        code = function.__code__
        if not code.co_kwonlyargcount and not code.co_flags & _STARRED:
            count = code.co_argcount - len(function.__defaults__ or ())
            return [(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in code.co_varnames[:count]]
    if not callable(function):
        raise EquationError(
            f"Expected a function such as lambda u, x: u.dx - 1, got {function!r} "
            f"of type {type(function).__name__}."
        )
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        raise EquationError(
            f"The parameters of {function!r} cannot be read, so it is not known which are "
            "unknowns. Wrap it: lambda u, x: ..."
        ) from None
    # A parameter with a default is a captured constant: lambda u, x, nu=nu: ...
    return [
        (p.name, p.kind)
        for p in parameters
        if p.kind is not p.VAR_KEYWORD and (p.default is p.empty or p.kind is p.VAR_POSITIONAL)
    ]


def _signature(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "function").replace("<lambda>", "lambda")
    return f"{name}{inspect.signature(function)}"


def _refuse_foreign_coordinates(names: Sequence[str], coordinates: tuple[str, ...]) -> None:
    foreign = [n for n in names if n not in coordinates and is_coordinate_name(n)]
    if foreign:
        hint = "Give time=(t0, t1) for a problem in time. " if foreign == ["t"] else ""
        raise EquationError(
            f"{', '.join(map(repr, foreign))} is not a coordinate of this domain, whose "
            f"coordinates are {', '.join(coordinates)}. {hint}"
            "Parameters named x, y, z, t, x1, x2, ... are coordinates, all others are unknowns."
        )


# What holds one residual or more.
_SEVERAL = (tuple, list, Vector)


def _as_residuals(result: Any, what: str) -> tuple[Expression, ...]:
    if result is None:
        raise EquationError(f"The {what} returned None: is a `return` missing?")
    if isinstance(result, bool):
        raise EquationError(
            f"The {what} returned {result}. Return an expression that is zero where the equation "
            "holds: `u - 1`, not `u == 1`."
        )
    many = result if isinstance(result, _SEVERAL) else (result,)
    if not many:
        raise EquationError(f"The {what} returned nothing, got {result!r}.")
    residuals = tuple([as_expression(r) for r in many])
    for residual in residuals:
        refuse_condition(residual, what)
    return residuals


def is_condition(expression: Expression) -> bool:
    """Tell whether an expression is a comparison, or several of them joined."""
    return isinstance(expression, Apply) and expression.function.evaluate in CONDITIONS


def refuse_condition(residual: Expression, what: str) -> None:
    """Refuse a comparison in the place of a residual."""
    if is_condition(residual):
        raise EquationError(
            f"The {what} is a comparison ({residual!r}), not something that is zero where the "
            "equation holds. Write `u - 1` for u = 1, and np.where(u > 1, a, b) for a choice."
        )
