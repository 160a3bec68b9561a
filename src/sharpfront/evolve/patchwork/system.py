"""A problem in time in the plane, and the linear problem of one mode of a step's stages.

An unknown has time derivatives up to the second, or none where an equation without them determines
it. At the stages of a step rates are combinations of stages, so that a step with given tangents
falls apart into stationary problems, one for each eigenvalue of Radau's matrix; those of a complex
pair are one problem with twice the unknowns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.adapt.patchwork.tiling import tiling_of
from sharpfront.arrays import FloatArray
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.equation.edges import switches
from sharpfront.equation.expression import (
    TIME,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Function,
    Leaf,
    apply_function,
    derivatives_in,
    evaluate,
    ordered,
)
from sharpfront.equation.linearise import LinearForm, Term, is_linear, substitute, tangent_terms
from sharpfront.equation.trace import Symbols
from sharpfront.equation.values import at_points, environment
from sharpfront.errors import ProblemError
from sharpfront.initial import time_order, velocity_name
from sharpfront.problem import Condition, PointCondition, Problem
from sharpfront.rows.norm import roughness

Orders = tuple[int, int]
# Highest derivatives by time and in space.
MOST_RATES, MOST_ORDERS = 2, 4
# Points at which the sign of second derivatives is looked at, and of each part of the boundary.
LOOKED, ON_PART = 256, 256


@dataclass(frozen=True, eq=False)
class Residual:
    """An expression that vanishes, with its tangents.

    Parameters
    ----------
    expression
        Over derivatives of orders in (x, y, t).
    what
        Its name in error messages.
    """

    expression: Expression
    what: str

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Its derivative by each derivative in it."""
        return tangent_terms(self.expression)

    @cached_property
    def is_linear(self) -> bool:
        """Whether no tangent depends on an unknown."""
        return is_linear(self.expression)


@dataclass(frozen=True, eq=False)
class PlaneSystem:
    """What is marched in time in the plane.

    Parameters
    ----------
    problem
        As it was stated.
    """

    problem: Problem

    @property
    def unknowns(self) -> tuple[str, ...]:
        """Their names."""
        return self.problem.unknowns

    @property
    def space(self) -> tuple[str, ...]:
        """The names of the coordinates in the plane."""
        return self.problem.domain.coordinates

    @cached_property
    def orders(self) -> tuple[int, ...]:
        """How often each unknown is differentiated by time."""
        p = self.problem
        return tuple(time_order(p.equations, u, p.coordinates) for u in p.unknowns)

    @cached_property
    def equations(self) -> tuple[Residual, ...]:
        """What holds inside."""
        return tuple(Residual(e, "equation") for e in self.problem.equations)

    @cached_property
    def conditions(self) -> tuple[tuple[Residual, ...], ...]:
        """What holds on each part of the boundary, then at each point."""
        stated = [(c.residuals, f"condition on {c.part!r}") for c in self.problem.conditions]
        stated += [(c.residuals, f"condition at {c.point}") for c in self._points]
        return tuple(tuple(Residual(r, what) for r in own) for own, what in stated)

    @property
    def _points(self) -> list[PointCondition]:
        return [c for c in self.problem.further if isinstance(c, PointCondition)]

    @cached_property
    def is_linear(self) -> bool:
        """Whether one solve is enough for a step."""
        return all(r.is_linear for r in [*self.equations, *(r for c in self.conditions for r in c)])

    @cached_property
    def is_steady(self) -> bool:
        """Whether tangents stay the same: the system is linear, with factors free of time."""
        every = [*self.equations, *(r for c in self.conditions for r in c)]
        free = all(
            not any(isinstance(n, Coordinate) and n.name == TIME for n in ordered(t.coefficient))
            for r in every
            for t in r.terms
        )
        return self.is_linear and free

    def derivatives(self, residuals: Sequence[Residual]) -> list[Orders]:
        """Return all derivatives in space of residuals, that of none among them."""
        found = {(0, 0)}
        for r in residuals:
            found |= {(d.orders[0], d.orders[1]) for d in derivatives_in(r.expression)}
        return sorted(found)

    @cached_property
    def hides(self) -> bool:
        """Whether formulas may do something between the stages of a step: with t, at a switch."""
        every = [*self.equations, *(r for own in self.conditions for r in own)]
        return any(
            switches(r.expression)
            or any(isinstance(n, Coordinate) and n.name == TIME for n in ordered(r.expression))
            for r in every
        )

    def contradictions(self, tol: float) -> tuple[str, ...]:
        """Return in words where the initial state does not meet conditions on unknowns alone."""
        span, domain = self.problem.time, self.problem.domain
        assert span is not None
        out = []
        for condition, own in zip(self.problem.conditions, self.conditions, strict=False):
            edge = domain.boundary(condition.part, ON_PART)
            start = self.initial(edge.points)
            for residual in own:
                inside = derivatives_in(residual.expression)
                if any(any(d.orders) or not self._order(d.unknown) for d in inside):
                    continue
                leaves = environment(self.space, edge.points, edge.normals)
                leaves["coordinate", TIME] = np.full(len(edge.points), span[0])
                for leaf in inside:
                    leaves[leaf.key] = start[0, self.unknowns.index(leaf.unknown)]
                left = np.abs(
                    at_points(residual.expression, leaves, len(edge.points), residual.what)
                )
                slope = max(
                    float(np.abs(at_points(t.coefficient, leaves, len(left), "tangent")).max())
                    for t in residual.terms
                )
                if left.max() > 10.0 * tol * max(slope, 1e-300):
                    out.append(
                        f"the initial state misses the condition on {condition.part!r} by "
                        f"{left.max() / slope:.1e}"
                    )
        return tuple(out)

    def data(self, points: FloatArray, t: FloatArray) -> FloatArray:
        """Return what equations make of drawn unknowns at points and moments, (moments E, m).

        What stands out in it is the formulas' doing: sources, coefficients.
        """
        draw = np.random.default_rng(0)
        out = []
        for moment, equation in itertools.product(t.tolist(), self.equations):
            leaves = environment(self.space, points)
            leaves["coordinate", TIME] = np.full(len(points), moment)
            for leaf in derivatives_in(equation.expression):
                leaves[leaf.key] = np.full(len(points), draw.uniform(0.5, 1.5))
            out.append(at_points(equation.expression, leaves, len(points), equation.what))
        return np.stack(out)

    def _order(self, unknown: str) -> int:
        return self.orders[self.unknowns.index(unknown)]

    def initial(self, points: FloatArray) -> FloatArray:
        """Return unknowns and their rates at the start, (2, K, m); zero where none are stated."""
        state = self.problem.initial
        assert state is not None
        out = np.zeros((2, len(self.unknowns), len(points)))
        for k, (name, order) in enumerate(zip(self.unknowns, self.orders, strict=True)):
            for j, own in enumerate((name, velocity_name(name))[:order]):
                out[j, k] = state.values(own, points)
        return out


def needs_patches(problem: Problem) -> bool:
    """Tell whether a problem is more than one unknown of first order in time, of second in space.

    Such a one, on a domain without periodic sides, is solved by products that go with its front.
    """
    leaves = [d for e in problem.equations for d in derivatives_in(e)]
    plain = all(
        sum(d.orders[:2]) <= 2 and d.orders[2] <= 1 and not (d.orders[2] and any(d.orders[:2]))
        for d in leaves
    )
    several = len(problem.unknowns) > 1 or any(len(c.residuals) > 1 for c in problem.conditions)
    return several or not plain or any(problem.domain.periodic_axes) or bool(problem.further)


def plane_system(problem: Problem) -> PlaneSystem:
    """Return the equations of a problem in the plane, or say what cannot be solved."""
    system = PlaneSystem(problem)
    tiling = tiling_of(problem.domain)
    if tiling is None or problem.is_singular:
        raise ProblemError(
            "In the plane and in time patches solve problems on boxes, polygons and curved "
            "shapes, without coefficients that jump inside a flux, loads or stated jumps; got "
            f"{problem!r}."
        )
    if any(not isinstance(c, PointCondition) for c in problem.further):
        raise ProblemError(
            "Conditions on integrals are not taken in time; hold the value at a point, "
            "conditions=[sf.at((0, 0), ...)]."
        )
    for unknown, order in zip(system.unknowns, system.orders, strict=True):
        if order > MOST_RATES:
            raise ProblemError(
                f"The equations have {unknown} with time derivatives up to order {order}; known "
                "are one and two, u.dt and u.dtt, or none."
            )
    stated = [*system.equations, *(r for own in system.conditions for r in own)]
    for residual in stated:
        for leaf in derivatives_in(residual.expression):
            if sum(leaf.orders[:2]) > MOST_ORDERS:
                raise ProblemError(
                    f"The {residual.what} has a derivative of orders {leaf.orders}; known are up "
                    f"to {MOST_ORDERS} in space."
                )
            if leaf.orders[2] and residual.what != "equation":
                raise ProblemError(f"The {residual.what} may hold no time derivative.")
    _require_conditions(system)
    _require_held(system)
    _require_forward(system)
    return system


def _require_held(system: PlaneSystem) -> None:
    """Refuse unknowns that nothing holds, and points at which those are held that go on in time."""
    free = {u for u, order in zip(system.unknowns, system.orders, strict=True) if not order}
    inside = [d for own in (system.equations, *system.conditions) for r in own for d in _in(r)]
    for unknown in sorted(free - {d.unknown for d in inside if not any(d.orders)}):
        raise ProblemError(
            f"The equations hold derivatives of {unknown} only, which is known up to a constant: "
            f"state its value at a point, conditions=[sf.at((0, 0), ... {unknown} ...)]."
        )
    held = {
        d.unknown
        for own in system.conditions[len(system.problem.conditions) :]
        for r in own
        for d in _in(r)
    }
    for unknown in sorted(held - free):
        raise ProblemError(
            f"A condition at a point holds {unknown}, which its equation determines from its start "
            "on; points may hold unknowns without time derivatives only."
        )


def _in(residual: Residual) -> tuple[Derivative, ...]:
    return derivatives_in(residual.expression)


def _require_conditions(system: PlaneSystem) -> None:
    """Refuse a wrong number of conditions: half the order of the system on every side."""
    forms = [
        LinearForm(
            tuple(Term(t.unknown, t.orders[:2], Constant(1.0)) for t in r.terms), Constant(0.0)
        )
        for r in system.equations
    ]
    rough = roughness(forms, system.unknowns)
    highest = [max(t.order + rough[t.unknown] for t in form.terms) for form in forms]
    order, problem = sum(highest) - sum(rough.values()), system.problem
    given = {c.part: len(c.residuals) for c in problem.conditions}
    for part in problem.domain.parts:
        if order % 2 or 2 * given.get(part, 0) != order:
            wanted = "no side" if order % 2 else f"{order // 2} condition(s) on each side"
            raise ProblemError(
                f"The equations are of order {order} in space together, for which {wanted} "
                f"is known; the part {part!r} has {given.get(part, 0)}. Equations of odd order are "
                "solved on boxes with periodic sides."
            )


def _require_forward(system: PlaneSystem) -> None:
    """Refuse equations that run backwards: small waves would grow without bound."""
    points = system.problem.domain.sample(LOOKED)
    start, span = system.initial(points), system.problem.time
    assert span is not None
    for equation in system.equations:
        leaves = environment(system.space, points)
        leaves["coordinate", TIME] = np.full(len(points), span[0])
        for leaf in derivatives_in(equation.expression):
            k, (x, y, rate) = system.unknowns.index(leaf.unknown), leaf.orders
            known = start[rate, k] if rate < 2 and not x + y else np.zeros(len(points))
            leaves[leaf.key] = known
        with np.errstate(all="ignore"):
            tangents = {
                (t.unknown, t.orders): np.broadcast_to(evaluate(t.coefficient, leaves), len(points))
                for t in equation.terms
            }
        for unknown, order in zip(system.unknowns, system.orders, strict=True):
            ahead = tangents.get((unknown, (0, 0, order)))
            if ahead is None or not order:
                continue
            most = max(sum(t.orders[:2]) for t in equation.terms if t.unknown == unknown)
            if most % 2 or not most:
                continue
            sign = (-1.0) ** (most // 2) * np.sign(ahead)
            for along in ((most, 0, 0), (0, most, 0)):
                own = sign * tangents.get((unknown, along), np.zeros(len(points)))
                if np.any(own < -1e-9 * np.abs(own).max()):
                    raise ProblemError(
                        f"The equation for {unknown} runs backwards: its highest derivatives have "
                        "the sign of growth, so that small waves grow without bound. Check the "
                        "sign."
                    )


@dataclass(frozen=True, eq=False)
class About:
    """What tangents are taken about: a state and its rates at a moment.

    Parameters
    ----------
    basis
        The patches.
    weights
        Of unknowns, rates and their rates, (3, K, n).
    t
        When.
    """

    basis: PatchworkBasis
    weights: FloatArray
    t: float


@dataclass(frozen=True, eq=False)
class _Known:
    """A derivative of a state as a function of the coordinates."""

    weights: FloatArray
    basis: PatchworkBasis
    orders: Orders

    def __call__(self, *coordinates: Any) -> FloatArray:
        columns = np.broadcast_arrays(*coordinates)
        points = np.stack([c.ravel() for c in columns], axis=1)
        return self.basis.values(self.weights, points, self.orders).reshape(columns[0].shape)


class Tangents:
    """A problem's tangents about a state as linear forms in space.

    Parameters
    ----------
    system
        What is marched.
    about
        The state.
    numbers
        Where given, tangents of the equations are these numbers everywhere.
    """

    def __init__(
        self,
        system: PlaneSystem,
        about: About,
        numbers: Sequence[Sequence[float]] | None = None,
    ) -> None:
        self.system = system
        self._insert = _insertion(system, about)
        self._factors = [
            [substitute(term.coefficient, self._insert) for term in r.terms]
            if numbers is None
            else [Constant(value) for value in numbers[i]]
            for i, r in enumerate(system.equations)
        ]

    @cached_property
    def powers(self) -> list[list[LinearForm]]:
        """Of each equation what stands beside each power of the rate."""
        out = []
        for residual, factors in zip(self.system.equations, self._factors, strict=True):
            own: list[list[Term]] = [[] for _ in range(MOST_RATES + 1)]
            for term, c in zip(residual.terms, factors, strict=True):
                own[term.orders[2]].append(Term(term.unknown, term.orders[:2], c))
            out.append([LinearForm(tuple(terms), Constant(0.0)) for terms in own])
        return out

    def problem(self, rate: float) -> Problem:
        """Return the stationary problem with a real rate, and the source -1 everywhere."""
        problem, system = self.system.problem, self.system
        out = copy(problem)
        for cached in ("forms", "is_linear", "is_singular", "parameters_left"):
            out.__dict__.pop(cached, None)
        out.symbols = Symbols(system.unknowns, system.space)
        out.time = None
        both = zip(system.equations, self._factors, strict=True)
        out.equations = tuple(self._summed(r, factors, rate) for r, factors in both)
        count = len(problem.conditions)
        out.conditions = tuple(
            Condition(self._conditions(own), c.part)
            for own, c in zip(system.conditions, problem.conditions, strict=False)
        )
        points = [c for c in problem.further if isinstance(c, PointCondition)]
        out.further = tuple(
            replace(c, residuals=self._conditions(own))
            for own, c in zip(system.conditions[count:], points, strict=True)
        )
        return out

    def _conditions(self, residuals: Sequence[Residual]) -> tuple[Expression, ...]:
        return tuple(
            self._summed(r, [substitute(t.coefficient, self._insert) for t in r.terms], 0.0)
            for r in residuals
        )

    def _summed(self, residual: Residual, factors: Sequence[Expression], rate: float) -> Expression:
        total: Expression = Constant(-1.0)
        for term, c in zip(residual.terms, factors, strict=True):
            leaf = Derivative(term.unknown, self.system.space, term.orders[:2])
            total = total + Constant(rate ** term.orders[2]) * c * leaf
        return total


def _insertion(system: PlaneSystem, about: About) -> Callable[[Leaf], Expression]:
    """Return the replacement of unknowns and of time by what tangents are taken about."""
    space = [Coordinate(name, system.space) for name in system.space]
    known: dict[Any, Expression] = {}

    def insert(leaf: Leaf) -> Expression:
        if isinstance(leaf, Coordinate):
            return Constant(about.t) if leaf.name == TIME else space[system.space.index(leaf.name)]
        if not isinstance(leaf, Derivative):
            return leaf
        if leaf.key not in known:
            weights = about.weights[leaf.orders[2], system.unknowns.index(leaf.unknown)]
            values = _Known(weights, about.basis, (leaf.orders[0], leaf.orders[1]))
            name = f"{leaf.unknown}{''.join(map(str, leaf.orders))}"
            known[leaf.key] = apply_function(Function(name, values), *space)
        return known[leaf.key]

    return insert
