"""Conditions stated beside an equation: on parts, at points, on integrals, across lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from sharpfront.checks import explained, finite, listed, numbers_in
from sharpfront.equation.expression import Expression
from sharpfront.equation.linearise import LinearForm, linear_form
from sharpfront.errors import ProblemError

# Any: SymPy's expressions, which are not imported for their types.
Residual = Callable[..., Any] | str | tuple[Callable[..., Any] | str | Any, ...] | Any


def _misplaced(condition: str, what: str) -> str:
    """Return what to write where a condition stands as if it were a number."""
    return (
        f"sf.{condition.partition('(')[0]}(...) is a condition for conditions=[...] and no number "
        f"in an equation. On an interval {what} is one more unknown, J: write J in the equation, "
        f"J.dx as one more equation, and conditions=[sf.{condition}]."
    )


@dataclass(frozen=True, eq=False)
class Stated:
    """Residuals of a condition, read."""

    residuals: tuple[Expression, ...]

    @cached_property
    def forms(self) -> tuple[LinearForm, ...]:
        """The linear forms of the residuals."""
        return tuple(map(linear_form, self.residuals))


@dataclass(frozen=True, eq=False)
class Condition(Stated):
    """Residuals that vanish on one part of the boundary."""

    part: str


@dataclass(frozen=True, eq=False)
class At:
    """A condition at a point inside the domain; made by `at`."""

    point: tuple[float, ...]
    residual: Residual
    in_equations: ClassVar[str] = _misplaced("at(0.5, lambda u, J, x: J - u)", "u at a point")


@dataclass(frozen=True, eq=False)
class Integral:
    """A condition on an integral over the domain; made by `integral`."""

    integrand: Residual
    equals: float
    in_equations: ClassVar[str] = _misplaced(
        "integral(lambda u, J, x: u - J)", "the integral of u over (0, 1)"
    )


@dataclass(frozen=True, eq=False)
class PointCondition(Stated):
    """Residuals that vanish at one point of the domain."""

    point: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class IntegralCondition(Stated):
    """Integrands whose integrals over the domain have one given value."""

    equals: float


@dataclass(frozen=True, eq=False)
class Jump:
    """A jump across a line on which a coordinate has one value; made by `jump`."""

    quantity: Residual
    equals: Residual | float
    coordinate: str
    place: float


@dataclass(frozen=True, eq=False)
class JumpCondition(Stated):
    """Quantities that jump by given steps across a line on which a coordinate has one value."""

    equals: tuple[Expression, ...]
    coordinate: str
    place: float

    @cached_property
    def steps(self) -> tuple[LinearForm, ...]:
        """The linear forms of what they jump by."""
        return tuple(linear_form(e) for e in self.equals)


@explained("sf.at(0.3, lambda u, x: u - 1)")
def at(point: float | tuple[float, ...], residual: Residual) -> At:
    """State a condition at a point inside the domain: ``sf.at(0.3, lambda u, x: u - 1)``."""
    expected = "a number, or a tuple with one for each coordinate"
    numbers = numbers_in(listed(point), "The point of sf.at", expected, "sf.at(0.3, 'u = 1')")
    return At(numbers, residual)


@explained("sf.integral(lambda u, x: u, equals=1)")
def integral(integrand: Residual, equals: float = 0.0) -> Integral:
    """State an integral over the domain: ``sf.integral(lambda u, x: u, equals=1)``."""
    return Integral(integrand, finite(equals, "equals", attempt="equals=1.0"))


@explained("sf.jump(lambda u, x: u, x=0.5, equals=1)")
def jump(quantity: Residual, *, equals: Residual | float = 0.0, **place: float) -> Jump:
    """State how a quantity jumps across a line: ``sf.jump(lambda u, x: u, x=0.5, equals=1)``.

    From above minus from below. It stands in the place of what the equation says there: u goes on,
    and so does the flux.

    Parameters
    ----------
    quantity
        The unknown, a derivative of it, or a flux such as ``lambda u, x: k(x) * u.dx``.
    equals
        What it jumps by: a number, or a function of the coordinates and of unknowns, as at a
        contact with a resistance, ``equals=lambda u, x: r * u.dx``; those are taken from above.
        For several quantities, ``lambda u, x: (u, u.dx)``, one of these for each.
    **place
        The line, by the name of the coordinate that is normal to it.
    """
    if len(place) != 1:
        raise ProblemError(
            "sf.jump needs the place of the line by the name of one coordinate, as in "
            f"sf.jump(lambda u, x: u, x=0.5, equals=1); got {', '.join(place) or 'none'}."
        )
    ((name, value),) = place.items()
    return Jump(quantity, equals, name, finite(value, name, attempt=f"{name}=0.5"))
