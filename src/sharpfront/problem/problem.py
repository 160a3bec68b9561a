"""What the user states: domain, equation, conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from sharpfront.checks import explained, listed
from sharpfront.equation.graph import parameters_in
from sharpfront.equation.linearise import LinearForm, linear_form
from sharpfront.equation.text import to_text
from sharpfront.equation.values import has_poles_at_ends
from sharpfront.equation.weak import is_singular
from sharpfront.errors import NonlinearError, ProblemError
from sharpfront.geometry import Domain
from sharpfront.problem.conditions import (
    At,
    Integral,
    IntegralCondition,
    Jump,
    PointCondition,
    Residual,
)
from sharpfront.problem.initial import Initial
from sharpfront.problem.reading import (
    checked_parameters,
    equations_of,
    require_domain,
    require_parts,
    time_span,
)

# What a problem is made of once it is read.
_READ = (
    *("domain", "parameters", "time", "symbols", "equations"),
    *("conditions", "further", "jumps", "initial"),
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
        self._stated: dict[str, Any] = {"domain": domain, "equation": equation, **parts}
        self._stated |= {"boundary": boundary, "conditions": conditions, "time": time}
        self._stated |= {"parameters": parameters, "initial": initial}
        self.domain = domain
        self.parameters = checked_parameters(parameters)
        self.time = time_span(time, initial)
        coordinates = domain.coordinates if time is None else (*domain.coordinates, "t")
        reader, self.equations = equations_of(equation, domain, coordinates, self.parameters)
        self.symbols = reader.symbols
        self.conditions = reader.on_boundary(boundary, parts, self.equations)
        more = listed(conditions)
        self.further = tuple(reader.further(c) for c in more if not isinstance(c, Jump))
        self.jumps = tuple(reader.jump(c) for c in more if isinstance(c, Jump))
        self.initial = reader.initial_state(initial, self.equations) if self.time else None
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
        found = frozenset[str]().union(*map(parameters_in, self.equations))
        for part in (*self.conditions, *self.further, *self.jumps):
            found = found.union(*map(parameters_in, part.residuals))
        return found

    @cached_property
    def is_singular(self) -> bool:
        """Whether fluxes jump inside, loads act on lines or points, or jumps are stated."""
        return bool(self.jumps) or any(map(is_singular, self.equations))

    @cached_property
    def has_poles_at_ends(self) -> bool:
        """Whether equations on an interval without time are infinite at an end, as u_x / x is."""
        if self.domain.dimension > 1 or self.time is not None or self.is_singular:
            return False
        low, high = self.domain.bounds[:, 0].tolist()
        return any(has_poles_at_ends(e, self.coordinates[0], low, high) for e in self.equations)

    @cached_property
    def forms(self) -> tuple[LinearForm, ...]:
        """The linear forms of the equations."""
        return tuple(map(linear_form, self.equations))

    def __repr__(self) -> str:
        equations = "; ".join(f"{to_text(e)} = 0" for e in self.equations)
        conditions = [
            *(f"{c.part}: {to_text(r)} = 0" for c in self.conditions for r in c.residuals),
            *(_text(c, to_text(r)) for c in self.further for r in c.residuals),
            *(
                f"{to_text(r)} jumps by {to_text(e)} across {j.coordinate} = {j.place:g}"
                for j in self.jumps
                for r, e in zip(j.residuals, j.equals, strict=True)
            ),
        ]
        span = f"; t from {self.time[0]:g} to {self.time[1]:g}" if self.time else ""
        stated = "; ".join([equations, *conditions])
        return f"Problem({self.domain!r}, {stated}{span})"


def _text(condition: PointCondition | IntegralCondition, residual: str) -> str:
    if isinstance(condition, IntegralCondition):
        return f"integral of {residual} = {condition.equals:g}"
    return f"at {', '.join(f'{c:g}' for c in condition.point)}: {residual} = 0"
