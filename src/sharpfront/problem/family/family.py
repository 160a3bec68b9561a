"""A family of problems: a function of named parameters that returns a `Problem`.

Derivatives of all residuals of a problem with respect to parameters, one or a function's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sharpfront.arrays import FloatArray
from sharpfront.checks import did_you_mean, finite, is_number, refusal
from sharpfront.equation.differentiation import partial_derivative
from sharpfront.equation.expression import (
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Leaf,
    Parameter,
    is_zero,
)
from sharpfront.equation.graph import derivatives_in, ordered
from sharpfront.equation.linearise import substitute
from sharpfront.errors import ArgumentError, ProblemError
from sharpfront.problem import Problem
from sharpfront.problem.conditions import IntegralCondition, Stated
from sharpfront.problem.family.differences import alike, moves, residuals_of, same_domain
from sharpfront.rounding import EPS

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
    def _residuals(self) -> list[Expression]:
        groups = (self.equations, *self.conditions, *(own for own, _ in self.further))
        return [e for group in groups for e in group]

    @property
    def is_explicit(self) -> bool:
        """Whether a coordinate itself stands in a residual: there may be what u has nothing of."""
        return any(isinstance(n, Coordinate) for e in self._residuals for n in ordered(e))

    @property
    def is_absent(self) -> bool:
        """Whether no residual contains the parameter."""
        changes = any(v for _, words in self.further for v in words.values())
        return all(map(is_zero, self._residuals)) and not changes and not self.initial


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


# Names that no unknown can have: of a function that varies along each axis.
_DIRECTIONS = tuple(f"direction {i}" for i in range(8))
_AMOUNT = Parameter("amount of a direction")


@dataclass(frozen=True, eq=False)
class Bundle:
    """Parameters that are weights of functions of a coordinate, all in one place of a problem."""

    names: tuple[str, ...]  # the parameters
    # Returns the problem for values of all parameters of the family with what it is given in
    # addition to the sum of the functions; it is called with a coordinate.
    varied: Callable[[Mapping[str, Any], Callable[[Any], Expression]], Problem]
    # Returns a derivative of each function at positions, (n, p).
    table: Callable[[FloatArray, int], FloatArray]

    def along(self, problem: Problem, values: Mapping[str, Any]) -> list[Along] | None:
        """Return what the functions and their derivatives do to all residuals.

        Each weight changes a residual by sum_j G_j(x) phi^(j)(x), with G_j the same for all of
        them. None where that is not so: the argument of the function is no coordinate.
        """
        if problem.time is not None:
            return None
        try:
            traced = self.varied(values, _direction)
        except Exception:
            # Whatever the user's function makes of a symbol: with numbers it has worked.
            return None
        if traced.is_singular or not same_domain(problem, traced):
            return None
        highest: dict[str, int] = {}
        for leaf in (leaf for r in residuals_of(traced) for leaf in derivatives_in(r)):
            if leaf.unknown in _DIRECTIONS:
                highest[leaf.unknown] = max(highest.get(leaf.unknown, 0), sum(leaf.orders))
        return [
            Along(_DIRECTIONS.index(n), k, forcing_between(traced, traced, _as_one(n, k), 1.0))
            for n, most in highest.items()
            for k in range(most + 1)
        ]


@dataclass(frozen=True, eq=False)
class Along:
    """What residuals are multiplied by as one derivative of a bundle's functions along an axis."""

    axis: int
    order: int
    forcing: Forcing


def _direction(x: Any) -> Expression:
    """Return a symbol times a function of a coordinate that stays open."""
    if not isinstance(x, Coordinate):
        raise refusal("The argument of the function", "a coordinate", x)
    unknown = _DIRECTIONS[x.coordinates.index(x.name)]
    return _AMOUNT * Derivative(unknown, x.coordinates, (0,) * len(x.coordinates))


def _as_one(name: str, order: int) -> Derive:
    """Return the derivative along a direction's amount, with one derivative of it put to one."""

    def put(leaf: Leaf) -> Expression:
        if leaf is _AMOUNT:
            return Constant(0.0)
        if not isinstance(leaf, Derivative) or leaf.unknown not in _DIRECTIONS:
            return leaf
        own = leaf.orders[_DIRECTIONS.index(leaf.unknown)]
        # Across its own axis the function does not change.
        same = leaf.unknown == name and own == order == sum(leaf.orders)
        return Constant(1.0 if same else 0.0)

    return lambda e, _: substitute(partial_derivative(e, _AMOUNT.key), put)


# Step of central differences as part of a parameter: the best one for a smooth function.
STEP = EPS ** (1 / 3)


@dataclass(frozen=True, eq=False)
class Family:
    """A function of named parameters that returns a problem, with its signature read."""

    factory: Callable[..., Problem]  # the function
    names: tuple[str, ...]  # its parameters
    defaults: Mapping[str, Any]  # values of those that have one
    bundle: Bundle | None = None  # those that stand for a function

    @classmethod
    def of(cls, factory: Any) -> Family:
        """Return the family that a function is, or say why it is none."""
        if isinstance(factory, cls):
            return factory
        attempt = "a function such as def layer(nu): return sf.Problem(...)"
        if isinstance(factory, Problem) or not callable(factory):
            raise refusal("A family of problems", attempt, factory)
        try:
            read = inspect.signature(factory).parameters.values()
        except (TypeError, ValueError):
            raise refusal("A family of problems", attempt, factory) from None
        named = [p for p in read if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        defaults = {p.name: p.default for p in named if p.default is not p.empty}
        bundle = getattr(factory, "bundle", None)
        bundle = bundle if isinstance(bundle, Bundle) else None
        return cls(factory, tuple(p.name for p in named), defaults, bundle)

    def values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of all parameters, with defaults where nothing is given."""
        for name in given:
            if name not in self.names:
                raise ArgumentError(
                    f"{name!r} is neither an option nor a parameter of the family, which has "
                    f"{', '.join(self.names) or 'none'}.{did_you_mean(name, self.names)}"
                )
        values = {**self.defaults, **given}
        missing = [n for n in self.names if n not in values]
        if set(missing) & {"x", "y", "z", "t"}:
            names = ", ".join(self.names)
            raise ProblemError(
                f"This is a function of {names}, as a residual is. solve takes a Problem: "
                f"sf.Problem(domain, lambda {names}: ..., boundary=...)."
            )
        if missing:
            raise ProblemError(
                f"The family needs {', '.join(missing)}; write for example {missing[0]}=1.0. Give "
                "continuation= to lead a parameter from an easy value to the one that is meant."
            )
        return values

    def __call__(self, **values: Any) -> Problem:
        """Return the problem for values of the parameters."""
        problem = self.factory(**values)
        if not isinstance(problem, Problem):
            raise refusal("What the family returns", "a Problem", problem)
        return problem

    def forcing(self, problem: Problem, values: Mapping[str, Any], name: str) -> Forcing | None:
        """Return the derivatives of all residuals of a member with respect to a parameter.

        From the graph where the function can be called with a symbol for the parameter, else by
        central differences of the residuals. None where they have none: the parameter moves the
        domain, the start of time, or a place at which something jumps.
        """
        value = finite(values[name], name, attempt=f"{name}=1.0")
        traced = self._traced(values, name)
        if traced is not None:
            singular = traced.is_singular or any(map(moves, residuals_of(traced)))
            if singular or not same_domain(problem, traced):
                return None
        step = STEP * (abs(value) or 1.0)
        if traced is not None and traced.time is None:
            return forcing_between(traced, traced, at_value(name, value), 2.0 * step)
        above, below = (self(**{**values, name: value + h}) for h in (step, -step))
        if not alike(above, below):
            return None
        if traced is not None:
            found = forcing_between(traced, traced, at_value(name, value), 2.0 * step)
            return replace(found, initial=initial_rates(above, below, 2.0 * step))
        return forcing_between(above, below, lambda r, s: (r - s) * (0.5 / step), 2.0 * step)

    def along(self, problem: Problem, values: Mapping[str, Any]) -> list[Along] | None:
        """Return what the functions of its bundle do to all residuals; None if it has none."""
        return None if self.bundle is None else self.bundle.along(problem, values)

    def _traced(self, values: Mapping[str, Any], name: str) -> Problem | None:
        """Return the problem with a symbol in the place of a parameter; None if that fails."""
        try:
            return self(**{**values, name: Parameter(name)})
        except Exception:
            # Whatever the user's function makes of a symbol: with numbers it has worked.
            return None


def require_numbers(values: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse derivatives with respect to what is not a number of the family."""
    for name in names:
        if name not in values:
            known = [n for n, v in values.items() if is_number(v)]
            raise ProblemError(
                f"The family has no parameter {name!r}; it has {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )
        if not is_number(values[name]):
            raise refusal(f"The parameter {name!r}", "a number", values[name])
