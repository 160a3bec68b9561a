"""What the user states: domain, equation, conditions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np

from sharpfront.checks import (
    explained,
    is_number,
    listed,
)
from sharpfront.equation.axis import cleared, implied
from sharpfront.equation.expression import (
    SPECTRAL,
    Expression,
    as_expression,
    parameters_in,
)
from sharpfront.equation.linearise import LinearForm, linear_form
from sharpfront.equation.names import refuse_names
from sharpfront.equation.symbolic import from_expression, is_symbolic, unknowns_in_sympy
from sharpfront.equation.text import parse, to_text, unknowns_in
from sharpfront.equation.trace import Symbols, require_unknowns, trace, unknowns_of
from sharpfront.equation.weak import is_singular
from sharpfront.errors import EquationError, NonlinearError, ProblemError
from sharpfront.geometry import Domain
from sharpfront.problem.checks import (
    checked_parameters,
    refuse_loads,
    require_domain,
    require_parts,
    time_span,
    value_for_residual,
    wrong_count,
)
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

# What a problem is made of once it is read.
_READ = (
    "domain",
    "parameters",
    "time",
    "symbols",
    "equations",
    "conditions",
    "further",
    "jumps",
    "initial",
)


class Problem:
    """A differential equation on a domain with conditions on its boundary.

    Parameters
    ----------
    domain
        Where the equation holds.
    equation
        A residual function, ``lambda u, x: -nu * u.dxx + u.dx``, or a text,
        ``"-nu*u_xx + u_x = 0"``. Parameters named x, y, z, t are coordinates, all others are
        unknowns. With several unknowns it returns one residual for each. An eigenvalue problem for
        `sf.eigs` has one parameter more, ``lam``: ``lambda u, lam, x: u.dxx + lam * u``.
    boundary
        The condition on every part of the boundary that has none of its own. The axis r = 0 of
        polar, cylindrical and spherical coordinates is no boundary: unless a condition is given
        for it by name, the regular solution is meant.
    conditions
        Further conditions, made by `sf.at`, `sf.integral` and `sf.jump`.
    parameters
        Values of names used in texts.
    initial
        For a problem in time, the state at its start: a function of the coordinates of space, a
        text or a number; a tuple or a mapping by name for several unknowns. An equation with
        ``u.dtt`` needs the rate of change too, under the name ``u_t`` or after the states.
    time
        The span (t0, t1) over which the problem is solved; ``t`` is then a coordinate and
        ``u.dt`` a derivative.
    **parts
        Conditions on named parts, ``left=lambda u, x: u - 1``; several at once as a tuple,
        ``left=lambda u, x: (u, u.dx)``.

    Examples
    --------
    >>> import sharpfront as sf
    >>> problem = sf.Problem(
    ...     sf.Interval(0, 1),
    ...     lambda u, x: -0.01 * u.dxx + u.dx,
    ...     left=lambda u, x: u,
    ...     right=lambda u, x: u - 1,
    ... )
    >>> problem.is_linear
    True
    """

    @explained("sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx + 1, boundary=lambda u, x: u)")
    def __init__(
        self,
        domain: Domain,
        equation: Residual,
        *,
        boundary: Residual | None = None,
        conditions: Sequence[At | Integral | Jump] | At | Integral | Jump = (),
        parameters: Mapping[str, float] | None = None,
        initial: Initial | None = None,
        time: tuple[float, float] | None = None,
        **parts: Residual | None,
    ) -> None:
        require_domain(domain)
        require_parts(domain, parts)
        self._stated: dict[str, Any] = {
            "domain": domain,
            "equation": equation,
            "boundary": boundary,
            "conditions": conditions,
            "parameters": parameters,
            "initial": initial,
            "time": time,
            **parts,
        }
        self.domain = domain
        self.parameters = checked_parameters(parameters)
        self.time = time_span(time, initial)
        coordinates = domain.coordinates if time is None else (*domain.coordinates, "t")
        self.symbols = Symbols(_unknowns(equation, coordinates, self.parameters), coordinates)
        stated = self._read(equation, "equation")
        if SPECTRAL in self.symbols.unknowns and len(stated) == len(self.symbols.unknowns) - 1:
            # One equation fewer than names: an eigenvalue is looked for, not a function.
            others = tuple(u for u in self.symbols.unknowns if u != SPECTRAL)
            self.symbols = Symbols(others, coordinates)
            stated = self._read(equation, "equation")
        refuse_names(self.symbols.unknowns, coordinates)
        self.equations = tuple(cleared(e, "r") if self._on_axis else e for e in stated)
        if len(self.equations) != len(self.symbols.unknowns):
            raise EquationError(wrong_count(len(self.equations), self.symbols))
        require_unknowns(self.equations, "equation")
        self.conditions = self._read_conditions(boundary, parts)
        more = listed(conditions)
        self.further = tuple(self._read_further(c) for c in more if not isinstance(c, Jump))
        self.jumps = tuple(self._read_jump(c) for c in more if isinstance(c, Jump))
        self.initial = self._read_initial(initial) if self.time else None
        self._frozen = True

    def __setattr__(self, name: str, value: object) -> None:
        if self.__dict__.get("_frozen"):
            raise AttributeError(
                f"A problem does not change once it is stated, got {name} = {value!r}. "
                f"Make another one: problem.replace({name}=...)."
            )
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        # What was stated by functions has been read; functions themselves may not travel.
        return {name: value for name, value in self.__dict__.items() if name != "_stated"}

    def replace(self, **changes: Any) -> Problem:
        """Return the problem with some of its statements changed, named as they were stated.

        ``None`` takes a condition away.

        Examples
        --------
        >>> import sharpfront as sf
        >>> problem = sf.Problem(
        ...     sf.Interval(0, 1),
        ...     "-nu*u_xx + u_x = 1",
        ...     boundary="u = 0",
        ...     parameters={"nu": 0.01},
        ... )
        >>> thinner = problem.replace(parameters={"nu": 0.001}, right="u = 2")
        """
        stated: dict[str, Any] | None = self.__dict__.get("_stated")
        if stated is None:
            raise ProblemError(
                "This problem was copied or came from another process, where it is known by its "
                "residuals alone; replace statements of the one it was made from."
            )
        return Problem(**(stated | changes))

    def rewritten(self, **read: Any) -> Problem:
        """Return a problem of which some is not as stated: symbols, time, equations, conditions.

        What is given is what the constructor would have read, under the names of attributes.
        """
        out = object.__new__(Problem)
        out.__dict__.update({name: self.__dict__[name] for name in _READ} | read)
        out._frozen = True
        return out

    @cached_property
    def _on_axis(self) -> bool:
        """Whether the domain begins at r = 0."""
        names = self.domain.coordinates
        return "r" in names and self.domain.bounds[0, names.index("r")] == 0.0

    def _is_axis(self, part: str) -> bool:
        """Tell whether a part of the boundary is the axis r = 0 of polar coordinates."""
        if not self._on_axis:
            return False
        column = self.domain.coordinates.index("r")
        return bool(np.all(self.domain.boundary(part, 5).points[:, column] == 0.0))

    def _regular(self) -> tuple[Expression, ...]:
        """Return what the equations themselves say on the axis."""
        found = (implied(e, "r") for e in self.equations)
        return tuple(e for e in found if e is not None)

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The names of the unknowns."""
        return self.symbols.unknowns

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates; the last is ``t`` for a problem in time."""
        return self.symbols.coordinates

    @cached_property
    def is_linear(self) -> bool:
        """Whether equation and conditions are linear in the unknowns."""
        try:
            parts = (self, *self.conditions, *self.further, *self.jumps)
            return all(part.forms for part in parts) and all(j.steps for j in self.jumps)
        except NonlinearError:
            return False

    @cached_property
    def parameters_left(self) -> frozenset[str]:
        """The spectral parameter ``lam`` and the imaginary unit ``1j``, where they occur."""
        parts = (*self.conditions, *self.further, *self.jumps)
        residuals = (*self.equations, *(r for part in parts for r in part.residuals))
        return frozenset(name for r in residuals for name in parameters_in(r))

    @cached_property
    def is_singular(self) -> bool:
        """Whether fluxes jump inside, loads act on lines or points, or jumps are stated."""
        return bool(self.jumps) or any(map(is_singular, self.equations))

    @cached_property
    def forms(self) -> tuple[LinearForm, ...]:
        """The linear forms of the equations."""
        return tuple(linear_form(e) for e in self.equations)

    def __repr__(self) -> str:
        equations = "; ".join(f"{to_text(e)} = 0" for e in self.equations)
        conditions = [
            *(f"{c.part}: {to_text(r)} = 0" for c in self.conditions for r in c.residuals),
            *(_text(c, to_text(r)) for c in self.further for r in c.residuals),
            *(t for j in self.jumps for t in _jump_texts(j)),
        ]
        span = f"; t from {self.time[0]:g} to {self.time[1]:g}" if self.time else ""
        stated = "; ".join([equations, *conditions])
        return f"Problem({self.domain!r}, {stated}{span})"

    def _read_initial(self, initial: Initial | None) -> InitialState:
        orders = {u: time_order(self.equations, u, self.coordinates) for u in self.unknowns}
        if not any(orders.values()):
            raise ProblemError(
                "time= was given, but the equation has no time derivative, u.dt or u.dtt."
            )
        names = [u for u in self.unknowns if orders[u] > 0]
        names += [velocity_name(u) for u in self.unknowns if orders[u] > 1]
        return read_initial(initial, names, self.domain.coordinates, self.parameters)

    def _read(self, residual: Residual, what: str) -> tuple[Expression, ...]:
        if isinstance(residual, FunctionType):
            return trace(residual, self.symbols, what=what)
        if isinstance(residual, str):
            return (parse(residual, self.symbols, self.parameters),)
        if is_symbolic(residual) and not is_number(residual):
            return (from_expression(residual, self.symbols, self.parameters),)
        if isinstance(residual, tuple | list):
            if not residual:
                raise EquationError(f"The {what} is an empty tuple; give one residual or more.")
            return tuple(e for part in residual for e in self._read(part, what))
        if is_number(residual):
            raise value_for_residual(residual, what, self.symbols)
        return trace(residual, self.symbols, what=what)

    def _read_conditions(
        self, boundary: Residual | None, parts: Mapping[str, Residual | None]
    ) -> tuple[Condition, ...]:
        if boundary is not None and not self.domain.parts:
            raise ProblemError(
                "boundary= was given, but a periodic interval has no boundary. Use sf.at(...) or "
                "sf.integral(...) in conditions=, or an interval that is not periodic."
            )
        conditions = []
        # What is stated once for several parts is read, and later evaluated, once for all.
        known: dict[int, tuple[Expression, ...]] = {}
        for part in self.domain.parts:
            residual = parts.get(part) if parts.get(part) is not None else boundary
            if parts.get(part) is None and self._is_axis(part):
                # No boundary of the region: there what is regular is what the equation implies.
                if self._regular():
                    conditions.append(Condition(self._regular(), part))
            elif residual is not None:
                if id(residual) not in known:
                    known[id(residual)] = self._read(residual, f"condition on {part!r}")
                read = known[id(residual)]
                require_unknowns(read, f"condition on {part!r}")
                refuse_loads(read, f"condition on {part!r}")
                conditions.append(Condition(read, part))
        return tuple(conditions)

    def _read_jump(self, stated: Jump) -> JumpCondition:
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
        read = self._read(stated.quantity, where)
        require_unknowns(read, where)
        equals = stated.equals
        steps = (as_expression(equals),) if is_number(equals) else self._read(equals, where)
        if len(steps) not in (1, len(read)):
            raise ProblemError(f"The {where} has {len(read)} quantities and {len(steps)} steps.")
        refuse_loads((*read, *steps), where)
        steps = steps * len(read) if len(steps) == 1 else steps
        return JumpCondition(read, steps, stated.coordinate, stated.place)

    def _read_further(self, condition: At | Integral) -> PointCondition | IntegralCondition:
        if isinstance(condition, At):
            read = self._read(condition.residual, f"condition at {condition.point}")
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
            read = self._read(condition.integrand, "integral condition")
            require_unknowns(read, "integral condition")
            refuse_loads(read, "integral condition")
            return IntegralCondition(read, condition.equals)
        raise ProblemError(
            f"conditions holds sf.at(...), sf.integral(...) and sf.jump(...), got {condition!r}. "
            "Conditions on the boundary are given by its parts, left=..., or boundary=..."
        )


def _jump_texts(stated: JumpCondition) -> list[str]:
    pairs = zip(stated.residuals, stated.equals, strict=True)
    across = f"across {stated.coordinate} = {stated.place:g}"
    return [f"{to_text(r)} jumps by {to_text(e)} {across}" for r, e in pairs]


def _text(condition: PointCondition | IntegralCondition, residual: str) -> str:
    if isinstance(condition, IntegralCondition):
        return f"integral of {residual} = {condition.equals:g}"
    return f"at {', '.join(f'{c:g}' for c in condition.point)}: {residual} = 0"


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
