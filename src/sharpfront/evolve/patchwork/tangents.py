"""The linear problem of one mode of a step's stages: tangents about a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.equation.expression import (
    TIME,
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Function,
    Leaf,
    apply_function,
)
from sharpfront.equation.linearise import (
    LinearForm,
    Term,
    homogeneous_part,
    linear_part,
    nonlinear_part,
    substitute,
)
from sharpfront.equation.operator import Operator
from sharpfront.equation.trace import Symbols
from sharpfront.equation.weak import is_singular
from sharpfront.evolve.patchwork.row_points import MovingFrame
from sharpfront.evolve.patchwork.system import MOST_RATES, PlaneSystem
from sharpfront.maps.chain import Orders
from sharpfront.problem import Condition, PointCondition, Problem

# An unknown and the orders of its derivative along x, y and t.
Which = tuple[str, Orders]


@dataclass(frozen=True, eq=False)
class LinearisationState:
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


class BentTerms:
    """What derivatives are in patches that go along, at a moment.

    Parameters
    ----------
    frame
        How patches go along.
    t
        When.
    """

    def __init__(self, frame: MovingFrame, t: float) -> None:
        self._drift, self._lapse = frame.drift, t - frame.since
        # All modes ask at the same points.
        self._known: dict[tuple[bytes, Orders], dict[Orders, FloatArray]] = {}

    def made_of(self, orders: Orders) -> list[Orders]:
        """Return the derivatives at rest that one in space and time is made of."""
        low, high = self._drift.bounds
        return list(self._chain(orders, (0.7 * low + 0.3 * high)[None]))

    def share(self, orders: Orders, at_rest: Orders, points: FloatArray) -> FloatArray:
        """Return how much of one at rest there is in one in space and time, (m,)."""
        return self._chain(orders, points)[at_rest]

    def _chain(self, orders: Orders, points: FloatArray) -> dict[Orders, FloatArray]:
        key = points.tobytes(), orders
        if key not in self._known:
            lapses = np.full(len(points), self._lapse)
            self._known[key] = self._drift.chain(points, lapses, orders)
        return self._known[key]


@dataclass(frozen=True, eq=False)
class _Known:
    """A derivative of a state as a function of the coordinates."""

    weights: FloatArray  # with those of rates, (3, n)
    basis: PatchworkBasis
    orders: Orders
    bent: BentTerms | None
    # By points: all modes ask at the same ones.
    known: dict[bytes, FloatArray] = field(default_factory=dict)

    def __call__(self, *coordinates: Any) -> FloatArray:
        columns = np.broadcast_arrays(*coordinates)
        points = np.stack([c.ravel() for c in columns], axis=1)
        key = points.tobytes()
        if key not in self.known:
            self.known[key] = self._at(points)
        return self.known[key].reshape(columns[0].shape)

    def _at(self, points: FloatArray) -> FloatArray:
        if self.bent is None:
            return self._at_rest(points, self.orders)
        parts = [
            self.bent.share(self.orders, b, points) * self._at_rest(points, b)
            for b in self.bent.made_of(self.orders)
        ]
        return np.asarray(sum(parts))

    def _at_rest(self, points: FloatArray, orders: Orders) -> FloatArray:
        x, y, rate = orders
        return self.basis.values(self.weights[rate], points, (x, y))


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
    frame
        How patches go along; None where they stay.
    """

    def __init__(
        self,
        system: PlaneSystem,
        about: LinearisationState,
        numbers: Sequence[Sequence[float]] | None = None,
        frame: MovingFrame | None = None,
    ) -> None:
        self.system = system
        self._bent = None if frame is None else BentTerms(frame, about.t)
        self._insert = _insertion(system, about, frame, self._bent)
        self._factors = [
            self._inside(r) if numbers is None else [Constant(value) for value in numbers[i]]
            for i, r in enumerate(system.equations)
        ]
        self._terms = [terms_in(r, self._bent) for r in system.equations]

    def _inside(self, residual: Operator) -> list[Expression]:
        """Return the tangents of a residual beside its `terms_in` the frame."""
        found = [substitute(term.coefficient, self._insert) for term in residual.terms]
        bent = self._bent
        if bent is None:
            return found
        space = [Coordinate(name, self.system.space) for name in self.system.space]
        out = []
        for c, term in zip(found, residual.terms, strict=True):
            for b in bent.made_of(term.orders):
                share = Function(
                    f"{term.orders} {b}", _OfPoints(partial(bent.share, term.orders, b))
                )
                out.append(c * apply_function(share, *space))
        return out

    @cached_property
    def powers(self) -> list[list[LinearForm]]:
        """Of each equation what stands beside each power of the rate."""
        out = []
        for terms, factors in zip(self._terms, self._factors, strict=True):
            own: list[list[Term]] = [[] for _ in range(MOST_RATES + 1)]
            for (unknown, orders), c in zip(terms, factors, strict=True):
                own[orders[2]].append(Term(unknown, orders[:2], c))
            out.append([LinearForm(tuple(each), Constant(0.0)) for each in own])
        return out

    def problem(self, rate: float) -> Problem:
        """Return the stationary problem with a real rate, and the source -1 everywhere."""
        problem, system = self.system.problem, self.system
        equations = tuple(self._equation(i, rate) for i in range(len(system.equations)))
        count = len(problem.conditions)
        conditions = tuple(
            Condition(self._conditions(own), c.part)
            for own, c in zip(system.conditions, problem.conditions, strict=False)
        )
        points = [c for c in problem.further if isinstance(c, PointCondition)]
        further = tuple(
            replace(c, residuals=self._conditions(own))
            for own, c in zip(system.conditions[count:], points, strict=True)
        )
        return problem.rewritten(
            symbols=Symbols(system.unknowns, system.space),
            time=None,
            equations=equations,
            conditions=conditions,
            further=further,
        )

    def _equation(self, number: int, rate: float) -> Expression:
        """Return an equation at a real rate; summands with fluxes that jump stay as they are."""
        residual = self.system.equations[number]
        if not is_singular(residual.expression):
            return self._summed(self._terms[number], self._factors[number], rate)

        def put(leaf: Leaf) -> Expression:
            if not isinstance(leaf, Derivative):
                return self._insert(leaf)
            *orders, power = leaf.orders
            return rate**power * Derivative(leaf.unknown, self.system.space, tuple(orders))

        fluxes, rest = linear_part(residual.expression), nonlinear_part(residual.expression)
        other = Operator(rest)
        total = substitute(homogeneous_part(fluxes), put)
        own = [(t.unknown, t.orders) for t in other.terms]
        return total + self._summed(own, self._inside(other), rate)

    def _conditions(self, residuals: Sequence[Operator]) -> tuple[Expression, ...]:
        return tuple(self._summed(terms_in(r, self._bent), self._inside(r), 0.0) for r in residuals)

    def _summed(
        self, terms: Sequence[Which], factors: Sequence[Expression], rate: float
    ) -> Expression:
        total: Expression = Constant(-1.0)
        for (unknown, orders), c in zip(terms, factors, strict=True):
            leaf = Derivative(unknown, self.system.space, orders[:2])
            total = total + Constant(rate ** orders[2]) * c * leaf
        return total


def terms_in(residual: Operator, bent: BentTerms | None) -> list[Which]:
    """Return unknowns and orders of the terms of a residual, as they are in a frame if given."""
    if bent is None:
        return [(term.unknown, term.orders) for term in residual.terms]
    return [(term.unknown, b) for term in residual.terms for b in bent.made_of(term.orders)]


@dataclass(frozen=True, eq=False)
class _OfPoints:
    """A function of points as one of the coordinates."""

    function: Callable[[FloatArray], FloatArray]

    def __call__(self, *coordinates: Any) -> FloatArray:
        columns = np.broadcast_arrays(*coordinates)
        points = np.stack([c.ravel() for c in columns], axis=1)
        return self.function(points).reshape(columns[0].shape)


def _component(
    function: Callable[[FloatArray], FloatArray], axis: int
) -> Callable[[FloatArray], FloatArray]:
    return lambda points: function(points)[:, axis]


def _insertion(
    system: PlaneSystem,
    about: LinearisationState,
    frame: MovingFrame | None,
    bent: BentTerms | None,
) -> Callable[[Leaf], Expression]:
    """Return the replacement of unknowns and of time by what tangents are taken about."""
    space: list[Expression] = [Coordinate(name, system.space) for name in system.space]
    there = space
    if frame is not None:
        moved = partial(frame.drift.points, lapse=about.t - frame.since)
        there = [
            apply_function(Function(f"moved {name}", _OfPoints(_component(moved, a))), *space)
            for a, name in enumerate(system.space)
        ]
    known: dict[Any, Expression] = {}

    def insert(leaf: Leaf) -> Expression:
        if isinstance(leaf, Coordinate):
            return Constant(about.t) if leaf.name == TIME else there[system.space.index(leaf.name)]
        if not isinstance(leaf, Derivative):
            return leaf
        if leaf.key not in known:
            weights = about.weights[:, system.unknowns.index(leaf.unknown)]
            values = _Known(weights, about.basis, leaf.orders, bent)
            name = f"{leaf.unknown}{''.join(map(str, leaf.orders))}"
            known[leaf.key] = apply_function(Function(name, values), *space)
        return known[leaf.key]

    return insert
