"""The linear problem of one mode of a step's stages: tangents about a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from sharpfront.equation.linearise import LinearForm, Term, substitute
from sharpfront.equation.operator import Operator
from sharpfront.equation.trace import Symbols
from sharpfront.evolve.patchwork.row_points import MovingFrame
from sharpfront.evolve.patchwork.system import MOST_RATES, InSpace, PlaneSystem
from sharpfront.problem import Condition, PointCondition, Problem

# An unknown and the orders of its derivative along x, y and t.
Which = tuple[str, tuple[int, ...]]


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


@dataclass(frozen=True, eq=False)
class _Known:
    """A derivative of a state as a function of the coordinates."""

    weights: FloatArray
    basis: PatchworkBasis
    orders: InSpace

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
        self._insert = _insertion(system, about, frame)
        self._factors = [
            self._with_carried(r, frame)
            if numbers is None
            else [Constant(value) for value in numbers[i]]
            for i, r in enumerate(system.equations)
        ]
        self._terms = [
            [*((t.unknown, t.orders) for t in r.terms), *(carried_terms(r) if frame else ())]
            for r in system.equations
        ]

    def _with_carried(self, residual: Operator, frame: MovingFrame | None) -> list[Expression]:
        """Return the tangents of an equation, with those of `carried_terms`."""
        found = [substitute(term.coefficient, self._insert) for term in residual.terms]
        if frame is None:
            return found
        space = [Coordinate(name, self.system.space) for name in self.system.space]
        velocity = [
            apply_function(Function(f"velocity{a}", _Component(frame.drift.velocity, a)), *space)
            for a in range(2)
        ]
        rates = [c for c, t in zip(found, residual.terms, strict=True) if t.orders[2]]
        return [*found, *(Constant(-1.0) * c * v for c in rates for v in velocity)]

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
        both = zip(self._terms, self._factors, strict=True)
        equations = tuple(self._summed(terms, factors, rate) for terms, factors in both)
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

    def _conditions(self, residuals: Sequence[Operator]) -> tuple[Expression, ...]:
        return tuple(
            self._summed(
                [(t.unknown, t.orders) for t in r.terms],
                [substitute(t.coefficient, self._insert) for t in r.terms],
                0.0,
            )
            for r in residuals
        )

    def _summed(
        self, terms: Sequence[Which], factors: Sequence[Expression], rate: float
    ) -> Expression:
        total: Expression = Constant(-1.0)
        for (unknown, orders), c in zip(terms, factors, strict=True):
            leaf = Derivative(unknown, self.system.space, orders[:2])
            total = total + Constant(rate ** orders[2]) * c * leaf
        return total


def carried_terms(residual: Operator) -> list[Which]:
    """Return unknowns and orders of what stands for u_t in a frame that goes along.

    That is u_t - V . grad u, with u_t at rest in the frame.
    """
    rates = [term for term in residual.terms if term.orders[2]]
    return [(term.unknown, along) for term in rates for along in ((1, 0, 0), (0, 1, 0))]


@dataclass(frozen=True, eq=False)
class _Component:
    """A component of a function of points as one of the coordinates."""

    function: Callable[[FloatArray], FloatArray]
    axis: int

    def __call__(self, *coordinates: Any) -> FloatArray:
        columns = np.broadcast_arrays(*coordinates)
        points = np.stack([c.ravel() for c in columns], axis=1)
        return self.function(points)[:, self.axis].reshape(columns[0].shape)


def _insertion(
    system: PlaneSystem, about: LinearisationState, frame: MovingFrame | None
) -> Callable[[Leaf], Expression]:
    """Return the replacement of unknowns and of time by what tangents are taken about."""
    space: list[Expression] = [Coordinate(name, system.space) for name in system.space]
    there = space
    if frame is not None:
        moved = partial(frame.drift.points, lapse=about.t - frame.since)
        there = [
            apply_function(Function(f"moved {name}", _Component(moved, a)), *space)
            for a, name in enumerate(system.space)
        ]
    known: dict[Any, Expression] = {}

    def insert(leaf: Leaf) -> Expression:
        if isinstance(leaf, Coordinate):
            return Constant(about.t) if leaf.name == TIME else there[system.space.index(leaf.name)]
        if not isinstance(leaf, Derivative):
            return leaf
        if leaf.key not in known:
            weights = about.weights[leaf.orders[2], system.unknowns.index(leaf.unknown)]
            values = _Known(weights, about.basis, (leaf.orders[0], leaf.orders[1]))
            name = f"{leaf.unknown}{''.join(map(str, leaf.orders))}"
            known[leaf.key] = apply_function(Function(name, values), *space)
        return known[leaf.key]

    return insert
