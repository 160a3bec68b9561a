"""Derivatives of all residuals of a problem with respect to a parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sharpfront.arrays import FloatArray
from sharpfront.equation.differentiation import partial_derivative
from sharpfront.equation.expression import (
    Constant,
    Coordinate,
    Expression,
    Leaf,
    Parameter,
    is_zero,
)
from sharpfront.equation.graph import ordered
from sharpfront.equation.linearise import substitute
from sharpfront.problem import Problem
from sharpfront.problem.conditions import IntegralCondition, Stated

Derive = Callable[[Expression, Expression], Expression]


@dataclass(frozen=True, eq=False)
class Forcing:
    """The derivative of every residual of a problem with respect to one parameter."""

    # Of the equations, and of the residuals of each condition on the boundary.
    equations: tuple[Expression, ...]
    conditions: tuple[tuple[Expression, ...], ...]
    # Of the residuals at points and under integrals, with what else changes of the condition.
    further: tuple[tuple[tuple[Expression, ...], dict[str, float]], ...]
    # Of the state at the start, by name, as functions of points (m, d).
    initial: Mapping[str, Callable[[FloatArray], FloatArray]]

    @property
    def is_explicit(self) -> bool:
        """Whether a coordinate itself stands in a residual: there may be what u has nothing of."""
        residuals = (self.equations, *self.conditions, *(own for own, _ in self.further))
        every = (n for group in residuals for e in group for n in ordered(e))
        return any(isinstance(n, Coordinate) for n in every)


def is_absent(forcing: Forcing) -> bool:
    """Tell whether no residual contains the parameter."""
    inside = [
        *forcing.equations,
        *(e for group in forcing.conditions for e in group),
        *(e for group, _ in forcing.further for e in group),
    ]
    changes = any(v for _, words in forcing.further for v in words.values())
    return all(map(is_zero, inside)) and not changes and not forcing.initial


def at_value(name: str, value: float) -> Derive:
    """Return the derivative along a parameter, with its value then put in."""

    def put(leaf: Leaf) -> Expression:
        return Constant(value) if isinstance(leaf, Parameter) else leaf

    return lambda e, _: substitute(partial_derivative(e, ("parameter", name)), put)


def forcing_between(above: Problem, below: Problem, derive: Derive, width: float) -> Forcing:
    """Return the derivatives of all residuals, each made of those of two problems."""

    def group(one: Stated, other: Stated) -> tuple[Expression, ...]:
        return tuple(map(derive, one.residuals, other.residuals))

    conditions = zip(above.conditions, below.conditions, strict=True)
    further = zip(above.further, below.further, strict=True)
    return Forcing(
        tuple(map(derive, above.equations, below.equations)),
        tuple(group(a, b) for a, b in conditions),
        tuple((group(a, b), _equals(a, b, width)) for a, b in further),
        initial_rates(above, below, width),
    )


def _equals(above: Any, below: Any, width: float) -> dict[str, float]:
    if not isinstance(above, IntegralCondition):
        return {}
    return {"equals": (above.equals - below.equals) / width}


def initial_rates(
    above: Problem, below: Problem, width: float
) -> dict[str, Callable[[FloatArray], FloatArray]]:
    """Return the derivatives of the initial states, by differences of their values."""
    if above.initial is None or below.initial is None or above is below:
        return {}
    high, low = above.initial, below.initial

    def rate(name: str) -> Callable[[FloatArray], FloatArray]:
        return lambda points: (high.values(name, points) - low.values(name, points)) / width

    return {name: rate(name) for name in high.states}
