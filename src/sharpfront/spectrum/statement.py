"""A homogeneous linear problem as a polynomial in its spectral parameter.

sum over terms (c_0(x) + lam c_1(x) + lam^2 c_2(x)) d^orders u = 0,  conditions alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray, remembered
from sharpfront.equation.differentiation import partial_derivative
from sharpfront.equation.expression import (
    IMAGINARY,
    SPECTRAL,
    Apply,
    Constant,
    Expression,
    Key,
    Leaf,
    Parameter,
    is_zero,
)
from sharpfront.equation.graph import folded, parameters_in
from sharpfront.equation.linearise import LinearForm, linear_form, with_leaves
from sharpfront.equation.values import environment, inside_values
from sharpfront.errors import EquationError, NonlinearError, ProblemError
from sharpfront.problem import IntegralCondition, Problem
from sharpfront.rows.interfaces import Interfaces
from sharpfront.spectrum.settings import MODES

Complex = NDArray[np.complex128]
# The highest power of lam.
DEGREE = 2
_AT_JUMP = "condition at a jump or load"
# The highest power of 1j that a coefficient may have where it is taken apart.
IMAGINARY_POWERS = 4


@dataclass(frozen=True, eq=False)
class SpectralTerm:
    """``(c_0 + lam c_1 + lam^2 c_2) d^orders unknown``."""

    unknown: str
    orders: tuple[int, ...]
    powers: tuple[Expression, ...]

    @property
    def order(self) -> int:
        """Total order of the derivative."""
        return sum(self.orders)


@dataclass(frozen=True, eq=False)
class SpectralForm:
    """A sum of terms that is zero."""

    terms: tuple[SpectralTerm, ...]
    coordinates: tuple[str, ...]

    def values(self, points: FloatArray, normals: FloatArray | None = None) -> list[Complex]:
        """Return the coefficients of each term at points, (powers, m) each."""
        leaves = environment(self.coordinates, points, normals)
        return [
            np.stack([_values(c, leaves, len(points)) for c in term.powers]) for term in self.terms
        ]

    def values_beside(self, place: float, inside: float) -> list[Complex]:
        """Return the coefficients of each term at a place, (powers, 1) each, from one side.

        There is no other place at which something jumps between it and the one inside.
        """
        here, beside = (environment(self.coordinates, np.array([[x]])) for x in (place, inside))
        out = []
        for c in (c for term in self.terms for c in term.powers):
            turns = powers_of(c, IMAGINARY, IMAGINARY_POWERS)
            if turns is None:
                raise ProblemError(
                    f"1j stands in {c!r}, which jumps or has a load; there sf.eigs takes "
                    "polynomials of it. Write np.cos(x) + 1j * np.sin(x) for np.exp(1j * x)."
                )
            parts = [1j**n * inside_values(t, here, beside, 1) for n, t in enumerate(turns)]
            out.append(sum(parts))
        return list(np.array(out, dtype=complex).reshape(len(self.terms), -1, 1))


@dataclass(frozen=True, eq=False)
class SpectralProblem:
    """Equations and conditions of a problem, as polynomials in lam."""

    problem: Problem

    @cached_property
    def equations(self) -> tuple[SpectralForm, ...]:
        """One for each unknown."""
        return tuple(self._form(e, "equation") for e in self.problem.equations)

    @cached_property
    def conditions(self) -> tuple[tuple[str, tuple[SpectralForm, ...]], ...]:
        """Those on parts of the boundary, by the part's name."""
        return tuple(
            (c.part, tuple(self._form(r, f"condition on {c.part!r}") for r in c.residuals))
            for c in self.problem.conditions
        )

    @cached_property
    def further(self) -> tuple[tuple[Any, tuple[SpectralForm, ...]], ...]:
        """Those at points and on integrals."""
        out = []
        for condition in self.problem.further:
            if isinstance(condition, IntegralCondition) and condition.equals:
                raise _inhomogeneous("integral condition")
            own = tuple(self._form(r, "further condition") for r in condition.residuals)
            out.append((condition, own))
        return tuple(out)

    @cached_property
    def interfaces(self) -> Interfaces:
        """Where something jumps or a load acts."""
        return Interfaces(self.problem, {})

    @remembered()
    def shared(self, place: float) -> tuple[tuple[SpectralForm, SpectralForm], ...]:
        """Return pairs of forms, from below and from above, that are equal at a place of a line."""
        return tuple(
            (self._polynomial(below, _AT_JUMP), self._polynomial(above, _AT_JUMP))
            for below, above in self.interfaces.data(0, place)
        )

    @cached_property
    def orders(self) -> tuple[int, ...]:
        """The highest order of each unknown in the equations; -1 where it does not occur."""
        terms = [t for form in self.equations for t in form.terms]
        return tuple(
            max((t.order for t in terms if t.unknown == u), default=-1)
            for u in self.problem.unknowns
        )

    @cached_property
    def degree(self) -> int:
        """The highest power of lam that occurs."""
        groups = (*self.conditions, *self.further)
        forms = [*self.equations, *(form for _, own in groups for form in own)]
        every = [t.powers for form in forms for t in form.terms]
        return max(
            (j for powers in every for j, c in enumerate(powers) if not is_zero(c)), default=0
        )

    @cached_property
    def is_complex(self) -> bool:
        """Whether coefficients are complex."""
        return IMAGINARY in self.problem.parameters_left

    def _form(self, residual: Expression, what: str) -> SpectralForm:
        try:
            form = linear_form(residual)
        except NonlinearError as error:
            raise NonlinearError(f"sf.eigs takes linear problems. {error}") from None
        return self._polynomial(form, what)

    def _polynomial(self, form: LinearForm, what: str) -> SpectralForm:
        """Return a form without a right-hand side as a polynomial in lam."""
        self._refuse_source(form.source, what)
        terms = []
        for term in form.terms:
            powers = powers_of(term.coefficient, SPECTRAL, DEGREE)
            if powers is None:
                raise ProblemError(
                    f"In the {what} lam stands in {term.coefficient!r}; sf.eigs takes polynomials "
                    "in lam up to degree two."
                )
            terms.append(SpectralTerm(term.unknown, term.orders, powers))
        return SpectralForm(tuple(terms), self.problem.coordinates)

    def _refuse_source(self, source: Expression, what: str) -> None:
        if is_zero(source):
            return
        low, high = self.problem.domain.bounds
        points = low + np.linspace(0.0, 1.0, MODES.sighted)[:, None] * (high - low)
        leaves = environment(self.problem.coordinates, points, np.ones_like(points))
        try:
            found = _values(_without(source, SPECTRAL), leaves, len(points))
        except EquationError:
            found = np.ones(1, dtype=complex)
        if np.any(found != 0.0) or SPECTRAL in parameters_in(source):
            raise _inhomogeneous(what)


def _inhomogeneous(what: str) -> ProblemError:
    return ProblemError(
        f"The {what} has a part without an unknown, so that multiples of a mode would not solve "
        "it. sf.eigs takes homogeneous problems; sf.solve takes the others, with lam as a number."
    )


def _without(expression: Expression, name: str) -> Expression:
    """Return an expression with zero in the place of a parameter."""
    return with_leaves(expression, {("parameter", name): Constant(0.0)})


def powers_of(coefficient: Expression, name: str, degree: int) -> tuple[Expression, ...] | None:
    """Return the coefficients of powers of a parameter; None where it is no such polynomial."""
    out, left, factor = [], coefficient, 1.0
    for j in range(degree + 1):
        out.append(_without(left, name) / factor)
        left = partial_derivative(left, ("parameter", name))
        factor *= j + 1
    return tuple(out) if is_zero(left) else None


def _values(expression: Expression, leaves: Mapping[Key, FloatArray], count: int) -> Complex:
    """Return an expression at points with complex numbers in it, (count,)."""

    def leaf(node: Expression) -> Any:
        if isinstance(node, Constant):
            return node.value
        if isinstance(node, Parameter) and node.name == IMAGINARY:
            return 1j
        assert isinstance(node, Leaf)
        if node.key not in leaves:
            raise EquationError(f"No values were given for {node.key}.")
        return leaves[node.key]

    def applied(node: Apply, arguments: Sequence[Any]) -> Any:
        return node.function.evaluate(*map(_real_if_close, arguments))

    with np.errstate(all="ignore"):
        value = folded(expression, leaf, applied)
    found = np.broadcast_to(np.asarray(value, dtype=complex), (count,))
    if not np.isfinite(found).all():
        i = int(np.argmin(np.isfinite(found)))
        where = ", ".join(f"{k[1]} = {v[i]:.6g}" for k, v in leaves.items() if k[0] == "coordinate")
        raise EquationError(
            f"A coefficient is not finite at {where}. Coefficients must be finite in the whole "
            "closed domain; multiply the equation by what vanishes there."
        )
    return found


def _real_if_close(value: Any) -> Any:
    """Return a value as real numbers where it is: comparisons know no others."""
    array = np.asarray(value)
    if array.dtype.kind == "b":
        return array.astype(float)
    return array.real if array.dtype.kind == "c" and not np.any(array.imag) else value


def spectral(problem: object) -> SpectralProblem:
    """Return a problem as a polynomial in lam, or say why it is no eigenvalue problem."""
    if not isinstance(problem, Problem):
        raise ProblemError(
            f"sf.eigs expects a Problem, got {type(problem).__name__}. Write "
            "sf.eigs(sf.Problem(...))."
        )
    if problem.time is not None:
        raise ProblemError("sf.eigs takes problems without time=; write lam * u for -u.dt.")
    if SPECTRAL not in problem.parameters_left:
        raise ProblemError(
            "The problem has no spectral parameter. Name it lam: "
            "sf.Problem(sf.Interval(0, 1), lambda u, lam, x: u.dxx + lam * u, ...)."
        )
    if problem.jumps and problem.domain.dimension > 1:
        raise ProblemError(
            "sf.eigs takes stated jumps on an interval only. Where u goes on and a flux does not, "
            "state it as a load, sf.delta(x - a) * u."
        )
    found = SpectralProblem(problem)
    if found.degree == 0:
        raise ProblemError("lam drops out of the problem: there is nothing to find.")
    if not any(found.orders) and problem.domain.dimension == 1:
        raise ProblemError(
            "The equation has no derivative of an unknown, so that every point has values of lam "
            "of its own: there are no modes."
        )
    return found
