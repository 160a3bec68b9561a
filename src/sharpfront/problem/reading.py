"""How what the user states is read: functions, texts and SymPy become graphs.

What a problem must be stated by, and what to say where it is not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import FunctionType

import numpy as np

from sharpfront.checks import did_you_mean, finite, is_number, numbers_in, refusal
from sharpfront.equation.axis import cleared, implied
from sharpfront.equation.expression import SPECTRAL, Expression, Normal, as_expression
from sharpfront.equation.graph import derivatives_in, ordered
from sharpfront.equation.symbolic import from_expression, is_symbolic, unknowns_in_sympy
from sharpfront.equation.text import parse, unknowns_in
from sharpfront.equation.trace import Symbols, refuse_names, require_unknowns, trace, unknowns_of
from sharpfront.equation.weak import is_delta, is_weak
from sharpfront.errors import EquationError, ProblemError
from sharpfront.geometry import Domain
from sharpfront.problem.conditions import (
    At,
    Condition,
    Integral,
    IntegralCondition,
    Jump,
    JumpCondition,
    PointCondition,
    Residual,
)
from sharpfront.problem.initial import (
    Initial,
    InitialState,
    read_initial,
    time_order,
    velocity_name,
)

_OF_A_DOMAIN = ("coordinates", "parts", "boundary")
_OPTIONS = ("boundary", "conditions", "parameters", "initial", "time")
_SYNONYMS = {
    **dict.fromkeys(("bc", "bcs"), "boundary"),
    **dict.fromkeys(("ic", "ics", "start", "u0"), "initial"),
    **dict.fromkeys(("t", "span", "interval", "t_span"), "time"),
}


def require_domain(domain: object) -> None:
    """Refuse a first argument that is no domain."""
    # Attributes of the class are not computed to see that they are there.
    kind = type(domain)
    if not all(hasattr(kind, n) or hasattr(domain, n) for n in _OF_A_DOMAIN):
        raise ProblemError(
            f"The first argument is the domain, for example sf.Interval(0, 1); got {domain!r}."
        )


def require_parts(domain: Domain, parts: Mapping[str, object]) -> None:
    """Refuse names that are neither options nor parts of the boundary."""
    for name in parts:
        if name not in domain.parts:
            hint = did_you_mean(name, (*_OPTIONS, *domain.parts), _SYNONYMS)
            raise ProblemError(
                f"{name!r} is neither an option nor a part of the boundary; its parts are "
                f"{', '.join(domain.parts) or 'none'}.{hint}"
            )


def checked_parameters(parameters: object) -> dict[str, float]:
    """Return the values of names used in texts."""
    if parameters is None:
        return {}
    attempt = 'parameters={"nu": 1e-3}'
    if not isinstance(parameters, Mapping) or not all(isinstance(k, str) for k in parameters):
        raise refusal("parameters", "a mapping from names to numbers", parameters, attempt)
    return {k: finite(v, f"The parameter {k!r}", attempt=attempt) for k, v in parameters.items()}


def time_span(
    time: tuple[float, float] | None, initial: Initial | None
) -> tuple[float, float] | None:
    """Return the span of time, or None for a stationary problem."""
    if time is None:
        if initial is not None:
            raise ProblemError("initial= was given without a span of time; add time=(t0, t1).")
        return None
    expected = "a pair of finite numbers (t0, t1) with t0 < t1"
    numbers = numbers_in(time, "time", expected, "time=(0, 1)")
    if len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise refusal("time", expected, time, "time=(0, 1)")
    return numbers[0], numbers[1]


def value_for_residual(value: object, what: str, symbols: Symbols) -> EquationError:
    """Return the error of a number that stands where a residual should."""
    u, names = symbols.unknowns[0], ", ".join((*symbols.unknowns, *symbols.coordinates))
    return EquationError(
        f"The {what} is the number {value!r}; it must say of what. Write {u + ' = ' + str(value)!r}"
        f" for {u} = {value}, or as a function lambda {names}: {u} - {value}."
    )


def refuse_loads(residuals: Sequence[Expression], what: str) -> None:
    """Refuse what has a meaning in an equation only."""
    nodes = [node for residual in residuals for node in ordered(residual)]
    if any(is_delta(n) or (is_weak(n) and derivatives_in(n)) for n in nodes):
        raise EquationError(
            f"The {what} has sf.delta, or the derivative of an unknown times a coefficient that "
            "jumps; these stand in equations only."
        )


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads statements with the names of one problem."""

    domain: Domain
    symbols: Symbols
    parameters: Mapping[str, float]

    @cached_property
    def on_axis(self) -> bool:
        """Whether the domain begins at r = 0."""
        names = self.domain.coordinates
        return "r" in names and self.domain.bounds[0, names.index("r")] == 0.0

    @property
    def divisor(self) -> str | None:
        """The coordinate that equations may be divided by: zero at an end of the domain."""
        if self.on_axis:
            return "r"
        steady = self.symbols.coordinates == self.domain.coordinates
        ends_at_zero = self.domain.dimension == 1 and not self.domain.bounds.all()
        return self.domain.coordinates[0] if steady and ends_at_zero else None

    def _is_axis(self, part: str) -> bool:
        """Tell whether a part of the boundary is the axis r = 0 of polar coordinates."""
        if not self.on_axis:
            return False
        column = self.domain.coordinates.index("r")
        return bool(np.all(self.domain.boundary(part, 5).points[:, column] == 0.0))

    def initial_state(
        self, initial: Initial | None, equations: Sequence[Expression]
    ) -> InitialState:
        """Return the state at the start of unknowns and of rates that equations ask for."""
        unknowns, coordinates = self.symbols.unknowns, self.symbols.coordinates
        orders = {u: time_order(equations, u, coordinates) for u in unknowns}
        if not any(orders.values()):
            raise ProblemError(
                "time= was given, but the equation has no time derivative, u.dt or u.dtt."
            )
        names = [u for u in unknowns if orders[u] > 0]
        names += [velocity_name(u) for u in unknowns if orders[u] > 1]
        return read_initial(initial, names, self.domain.coordinates, self.parameters)

    def residuals(self, residual: Residual, what: str) -> tuple[Expression, ...]:
        """Return what a function, a text, SymPy or several of them state."""
        if isinstance(residual, FunctionType):
            return trace(residual, self.symbols, what=what)
        if isinstance(residual, str):
            return (parse(residual, self.symbols, self.parameters),)
        if is_symbolic(residual) and not is_number(residual):
            return (from_expression(residual, self.symbols, self.parameters),)
        if isinstance(residual, tuple | list):
            if not residual:
                raise EquationError(f"The {what} is an empty tuple; give one residual or more.")
            return tuple(e for part in residual for e in self.residuals(part, what))
        if is_number(residual):
            raise value_for_residual(residual, what, self.symbols)
        return trace(residual, self.symbols, what=what)

    def on_boundary(
        self,
        boundary: Residual | None,
        parts: Mapping[str, Residual | None],
        equations: Sequence[Expression],
    ) -> tuple[Condition, ...]:
        """Return the conditions on each part, of its own or as for all."""
        if boundary is not None and not self.domain.parts:
            raise ProblemError(
                "boundary= was given, but a periodic interval has no boundary. Use sf.at(...) or "
                "sf.integral(...) in conditions=, or an interval that is not periodic."
            )
        if isinstance(boundary, Mapping):
            names = ", ".join(map(str, boundary))
            raise ProblemError(
                f"boundary= is one condition for all parts, got a mapping with the names {names}. "
                f"Conditions on parts are arguments of their own, "
                f"sf.Problem(..., {next(iter(self.domain.parts), 'left')}=lambda u: u), or all of "
                "a mapping at once, sf.Problem(..., **mapping)."
            )
        conditions = []
        # What is stated once for several parts is read, and later evaluated, once for all.
        known: dict[int, tuple[Expression, ...]] = {}
        for part in self.domain.parts:
            own = parts.get(part)
            residual = boundary if own is None else own
            if own is None and self._is_axis(part):
                # No boundary of the region: there what is regular is what the equation implies.
                regular = [found for e in equations for found in implied(e, "r")]
                if regular:
                    conditions.append(Condition(tuple(regular), part))
            elif residual is not None:
                if id(residual) not in known:
                    known[id(residual)] = self.residuals(residual, f"condition on {part!r}")
                read = known[id(residual)]
                require_unknowns(read, f"condition on {part!r}")
                refuse_loads(read, f"condition on {part!r}")
                conditions.append(Condition(read, part))
        return tuple(conditions)

    def jump(self, stated: Jump) -> JumpCondition:
        """Return a stated jump across a line."""
        where = f"jump across {stated.coordinate} = {stated.place:g}"
        names = self.domain.coordinates
        if stated.coordinate not in names:
            raise ProblemError(
                f"sf.jump has {stated.coordinate}={stated.place:g}; the coordinates of the domain "
                f"are {', '.join(names)}."
            )
        low, high = self.domain.bounds[:, names.index(stated.coordinate)]
        if not low < stated.place < high:
            raise ProblemError(
                f"The line {stated.coordinate} = {stated.place:g} of sf.jump does not lie inside "
                f"{self.domain!r}."
            )
        read = self.residuals(stated.quantity, where)
        require_unknowns(read, where)
        every = stated.equals if isinstance(stated.equals, tuple | list) else (stated.equals,)
        given = ((as_expression(e),) if is_number(e) else self.residuals(e, where) for e in every)
        steps = tuple(step for own in given for step in own)
        if len(steps) not in (1, len(read)):
            raise ProblemError(f"The {where} has {len(read)} quantities and {len(steps)} steps.")
        refuse_loads((*read, *steps), where)
        steps = steps * len(read) if len(steps) == 1 else steps
        return JumpCondition(read, steps, stated.coordinate, stated.place)

    def further(self, condition: At | Integral) -> PointCondition | IntegralCondition:
        """Return a condition at a point, or on an integral."""
        if isinstance(condition, At):
            read = self.residuals(condition.residual, f"condition at {condition.point}")
            if len(condition.point) != self.domain.dimension or not self.domain.contains(
                np.array([condition.point])
            ):
                raise ProblemError(
                    f"The point {condition.point} of a condition does not lie in {self.domain!r}."
                )
            require_unknowns(read, f"condition at {condition.point}")
            refuse_loads(read, f"condition at {condition.point}")
            return PointCondition(read, condition.point)
        if isinstance(condition, Integral):
            read = self.residuals(condition.integrand, "integral condition")
            require_unknowns(read, "integral condition")
            refuse_loads(read, "integral condition")
            return IntegralCondition(read, condition.equals)
        raise ProblemError(
            f"conditions holds sf.at(...), sf.integral(...) and sf.jump(...), got {condition!r}. "
            "Conditions on the boundary are given by its parts, left=..., or boundary=..."
        )


def _seams(domain: Domain) -> tuple[tuple[str, tuple[float, float]], ...]:
    """Return the ends along the coordinates along which a domain is periodic, by name."""
    if not any(getattr(domain, "periodic_axes", ())):
        return ()
    axes = zip(domain.coordinates, domain.periodic_axes, domain.bounds.T.tolist(), strict=True)
    return tuple((name, (low, high)) for name, joined, (low, high) in axes if joined)


def equations_of(
    equation: Residual,
    domain: Domain,
    coordinates: tuple[str, ...],
    parameters: Mapping[str, float],
) -> tuple[Reader, tuple[Expression, ...]]:
    """Return the equations that are stated, and who reads what else is."""
    unknowns = _unknowns(equation, coordinates, parameters)
    reader = Reader(domain, Symbols(unknowns, coordinates, _seams(domain)), parameters)
    stated = reader.residuals(equation, "equation")
    if SPECTRAL in unknowns and len(stated) == len(unknowns) - 1:
        # One equation fewer than names: an eigenvalue is looked for, not a function.
        unknowns = tuple(u for u in unknowns if u != SPECTRAL)
        reader = replace(reader, symbols=replace(reader.symbols, unknowns=unknowns))
        stated = reader.residuals(equation, "equation")
    refuse_names(unknowns, coordinates)
    divisor = reader.divisor
    equations = stated if divisor is None else tuple(cleared(e, divisor) for e in stated)
    if len(equations) != len(unknowns):
        raise EquationError(
            f"The equation returned {len(equations)} residual(s) for {len(unknowns)} unknown(s) "
            f"({', '.join(unknowns)}); it must return one for each. Parameters that are not called "
            f"{', '.join(coordinates)} are unknowns: capture constants from outside, or give "
            "them a default, lambda u, x, nu=nu: ..."
        )
    require_unknowns(equations, "equation")
    if any(isinstance(node, Normal) for equation in equations for node in ordered(equation)):
        raise EquationError(
            "The equation has `.dn`, the derivative along the outward normal, which has a meaning "
            "on a boundary only. Write derivatives along coordinates, u.dx."
        )
    return reader, equations


def _unknowns(
    equation: Residual, coordinates: tuple[str, ...], parameters: Collection[str]
) -> tuple[str, ...]:
    if isinstance(equation, FunctionType):
        return unknowns_of(equation, coordinates)
    if isinstance(equation, str):
        return unknowns_in(equation, coordinates, parameters)
    if is_symbolic(equation):
        return unknowns_in_sympy(equation, coordinates)
    if isinstance(equation, tuple | list):
        names = (n for part in equation for n in _unknowns(part, coordinates, parameters))
        return tuple(dict.fromkeys(names))
    return unknowns_of(equation, coordinates)
