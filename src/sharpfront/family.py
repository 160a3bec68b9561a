"""A family of problems: a function of named parameters that returns a `Problem`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.checks import did_you_mean, finite, is_number, refusal
from sharpfront.conditions import IntegralCondition, Stated
from sharpfront.equation.differentiation import JUMPS, partial_derivative
from sharpfront.equation.expression import (
    Apply,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Leaf,
    Parameter,
    derivatives_in,
    is_zero,
    ordered,
)
from sharpfront.equation.linearise import substitute
from sharpfront.equation.opaque import OpaqueFunction
from sharpfront.equation.weak import is_delta
from sharpfront.errors import ArgumentError, ProblemError
from sharpfront.problem import Problem

# Step of central differences as part of a parameter: the best one for a smooth function.
STEP = float(np.finfo(float).eps) ** (1 / 3)

_Derive = Callable[[Expression, Expression], Expression]


@dataclass(frozen=True, eq=False)
class Forcing:
    """The derivative of every residual of a problem with respect to one parameter.

    Parameters
    ----------
    equations, conditions
        Of the equations, and of the residuals of each condition on the boundary.
    further
        Of the residuals at points and under integrals, with what else changes of the condition.
    initial
        Of the state at the start, by name, as functions of points (m, d).
    """

    equations: tuple[Expression, ...]
    conditions: tuple[tuple[Expression, ...], ...]
    further: tuple[tuple[tuple[Expression, ...], dict[str, float]], ...]
    initial: Mapping[str, Callable[[FloatArray], FloatArray]]

    @property
    def is_explicit(self) -> bool:
        """Whether a coordinate itself stands in an equation: there may be what u has nothing of."""
        return any(isinstance(n, Coordinate) for e in self.equations for n in ordered(e))


@dataclass(frozen=True, eq=False)
class Bundle:
    """Parameters that are weights of functions of a coordinate, all in one place of a problem.

    Parameters
    ----------
    names
        The parameters.
    varied
        Returns the problem for values of all parameters of the family with what it is given in
        addition to the sum of the functions; it is called with a coordinate.
    table
        Returns a derivative of each function at positions, (n, p).
    """

    names: tuple[str, ...]
    varied: Callable[[Mapping[str, Any], Callable[[Any], Expression]], Problem]
    table: Callable[[FloatArray, int], FloatArray]


@dataclass(frozen=True, eq=False)
class Along:
    """What residuals are multiplied by as one derivative of a bundle's functions along an axis."""

    axis: int
    order: int
    forcing: Forcing


@dataclass(frozen=True, eq=False)
class Family:
    """A function of named parameters that returns a problem, with its signature read.

    Parameters
    ----------
    factory
        The function.
    names
        Its parameters.
    defaults
        Values of those that have one.
    bundle
        Those that stand for a function.
    """

    factory: Callable[..., Problem]
    names: tuple[str, ...]
    defaults: Mapping[str, Any]
    bundle: Bundle | None = None

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
        domain, the span of time, or a place at which something jumps.
        """
        value = finite(values[name], name, attempt=f"{name}=1.0")
        traced = self._traced(values, name)
        if traced is not None and (
            not _same_domain(problem, traced)
            or traced.is_singular
            or any(map(_moves, _residuals(traced)))
        ):
            return None
        step = STEP * (abs(value) or 1.0)
        if traced is not None and traced.time is None:
            return _forcing(traced, traced, _at_value(name, value), 2.0 * step)
        above, below = (self(**{**values, name: value + h}) for h in (step, -step))
        if not _alike(above, below):
            return None
        if traced is not None:
            found = _forcing(traced, traced, _at_value(name, value), 2.0 * step)
            return replace(found, initial=_initial_rates(above, below, 2.0 * step))
        return _forcing(above, below, lambda r, s: (r - s) * (0.5 / step), 2.0 * step)

    def along(self, problem: Problem, values: Mapping[str, Any]) -> list[Along] | None:
        """Return what the functions of a bundle and their derivatives do to all residuals.

        Each weight changes a residual by sum_j G_j(x) phi^(j)(x), with G_j the same for all of
        them. None where that is not so: the argument of the function is no coordinate.
        """
        if self.bundle is None or problem.time is not None:
            return None
        try:
            traced = self.bundle.varied(values, _direction)
        except Exception:
            # As above: with numbers it has worked.
            return None
        if traced.is_singular or not _same_domain(problem, traced):
            return None
        leaves = {leaf.key: leaf for r in _residuals(traced) for leaf in derivatives_in(r)}
        highest: dict[str, int] = {}
        for leaf in leaves.values():
            if leaf.unknown in _DIRECTIONS:
                highest[leaf.unknown] = max(highest.get(leaf.unknown, 0), sum(leaf.orders))
        return [
            Along(_DIRECTIONS.index(n), order, _forcing(traced, traced, _as_one(n, order), 1.0))
            for n, most in highest.items()
            for order in range(most + 1)
        ]

    def _traced(self, values: Mapping[str, Any], name: str) -> Problem | None:
        """Return the problem with a symbol in the place of a parameter; None if that fails."""
        try:
            return self(**{**values, name: Parameter(name)})
        except Exception:
            # Whatever the user's function makes of a symbol: with numbers it has worked.
            return None


# Names that no unknown can have: of a function that varies along each axis.
_DIRECTIONS = tuple(f"direction {i}" for i in range(8))
_AMOUNT = Parameter("amount of a direction")


def _direction(x: Any) -> Expression:
    """Return a symbol times a function of a coordinate that stays open."""
    if not isinstance(x, Coordinate):
        raise refusal("The argument of the function", "a coordinate", x)
    unknown = _DIRECTIONS[x.coordinates.index(x.name)]
    return _AMOUNT * Derivative(unknown, x.coordinates, (0,) * len(x.coordinates))


def _as_one(name: str, order: int) -> _Derive:
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


def _at_value(name: str, value: float) -> _Derive:
    """Return the derivative along a parameter, with its value then put in."""

    def put(leaf: Leaf) -> Expression:
        return Constant(value) if isinstance(leaf, Parameter) else leaf

    return lambda e, _: substitute(partial_derivative(e, ("parameter", name)), put)


def _forcing(above: Problem, below: Problem, derive: _Derive, width: float) -> Forcing:
    """Return the derivatives of all residuals, each made of those of two problems."""

    def group(one: Stated, other: Stated) -> tuple[Expression, ...]:
        return tuple(map(derive, one.residuals, other.residuals))

    conditions = zip(above.conditions, below.conditions, strict=True)
    further = zip(above.further, below.further, strict=True)
    return Forcing(
        tuple(map(derive, above.equations, below.equations)),
        tuple(group(a, b) for a, b in conditions),
        tuple((group(a, b), _equals(a, b, width)) for a, b in further),
        _initial_rates(above, below, width),
    )


def _equals(above: Any, below: Any, width: float) -> dict[str, float]:
    if not isinstance(above, IntegralCondition):
        return {}
    return {"equals": (above.equals - below.equals) / width}


def _initial_rates(
    above: Problem, below: Problem, width: float
) -> dict[str, Callable[[FloatArray], FloatArray]]:
    """Return the derivatives of the initial states, by differences of their values."""
    if above.initial is None or below.initial is None or above is below:
        return {}
    high, low = above.initial, below.initial

    def rate(name: str) -> Callable[[FloatArray], FloatArray]:
        return lambda points: (high.values(name, points) - low.values(name, points)) / width

    return {name: rate(name) for name in high.states}


def _residuals(problem: Problem) -> Iterator[Expression]:
    yield from problem.equations
    for stated in (*problem.conditions, *problem.further):
        yield from stated.residuals


def _alike(one: Problem, other: Problem) -> bool:
    """Tell whether two problems differ in their residuals alone, and none in where it jumps."""
    if one.is_singular or other.is_singular or one.time != other.time:
        return False
    if not _same_domain(one, other):
        return False
    places = [[getattr(c, "point", None) for c in p.further] for p in (one, other)]
    counts = [[len(c.residuals) for c in (*p.conditions, *p.further)] for p in (one, other)]
    if places[0] != places[1] or counts[0] != counts[1] or one.unknowns != other.unknowns:
        return False
    return list(map(_switches, _residuals(one))) == list(map(_switches, _residuals(other)))


def _same_domain(one: Problem, other: Problem) -> bool:
    if one.domain is other.domain:
        return True
    try:
        return _same(one.domain.state(), other.domain.state())
    except Exception:
        # A level function with a symbol in it has no boundary.
        return False


def _same(one: Any, other: Any) -> bool:
    """Tell whether words, numbers and arrays from which domains are made are the same."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return np.array_equal(one, other)


def _switched(expression: Expression) -> Iterator[Expression]:
    """Yield what decides where the expression jumps, or stands in Dirac's delta."""
    for node in ordered(expression):
        if isinstance(node, Apply) and (node.function.evaluate in JUMPS or is_delta(node)):
            yield from node.arguments
        elif isinstance(node, Apply) and node.function.evaluate is np.where:
            yield node.arguments[0]


def _switches(expression: Expression) -> list[Any]:
    """Return the numbers on which it depends where the expression jumps."""
    numbers: list[Any] = [
        n.value for e in _switched(expression) for n in ordered(e) if isinstance(n, Constant)
    ]
    opaque = (n.function for n in ordered(expression) if isinstance(n, Apply))
    return numbers + [f.breaks for f in opaque if isinstance(f, OpaqueFunction)]


def _moves(expression: Expression) -> bool:
    """Tell whether a parameter decides where the expression jumps."""
    return any(isinstance(n, Parameter) for e in _switched(expression) for n in ordered(e))


# Numbers that differ by more make another problem: layers four times as thin are not looked for.
ALIKE = 4.0


def same_but_numbers(one: Problem, other: Problem) -> bool:
    """Tell whether linear problems differ in coefficients that are plain numbers, and not by far.

    What varies along the coordinates must be the same, node by node.
    """
    if not (one.is_linear and other.is_linear and _alike(one, other)):
        return False
    parts = ((p, *p.conditions, *p.further) for p in (one, other))
    for a, b in zip(*parts, strict=True):
        for form, another in zip(a.forms, b.forms, strict=True):
            if [(t.unknown, t.orders) for t in form.terms] != [
                (t.unknown, t.orders) for t in another.terms
            ]:
                return False
            pairs = [(form.source, another.source)]
            pairs += [
                (s.coefficient, t.coefficient)
                for s, t in zip(form.terms, another.terms, strict=True)
            ]
            if not all(_same_datum(s, t) for s, t in pairs):
                return False
    return True


def _same_datum(one: Expression, other: Expression) -> bool:
    if isinstance(one, Constant) and isinstance(other, Constant):
        a, b = one.value, other.value
        return a == b or (a * b > 0 and 1 / ALIKE <= a / b <= ALIKE)
    nodes = zip(ordered(one), ordered(other), strict=False)
    alike = all(_same_node(a, b) for a, b in nodes)
    return alike and len(list(ordered(one))) == len(list(ordered(other)))


def _same_node(one: Expression, other: Expression) -> bool:
    if isinstance(one, Apply) and isinstance(other, Apply):
        return one.function is other.function and len(one.arguments) == len(other.arguments)
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        return one.key == other.key
    both = isinstance(one, Constant) and isinstance(other, Constant)
    return both and one.value == other.value


def is_absent(forcing: Forcing) -> bool:
    """Tell whether no residual contains the parameter."""
    inside = [
        *forcing.equations,
        *(e for group in forcing.conditions for e in group),
        *(e for group, _ in forcing.further for e in group),
    ]
    changes = any(v for _, words in forcing.further for v in words.values())
    return all(map(is_zero, inside)) and not changes and not forcing.initial


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
