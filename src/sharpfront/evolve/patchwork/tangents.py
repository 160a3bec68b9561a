"""The linear problem of one mode of a step's stages: tangents about a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
from sharpfront.evolve.patchwork.system import MOST_RATES, Orders, PlaneSystem
from sharpfront.problem import Condition, PointCondition, Problem


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
        both = zip(system.equations, self._factors, strict=True)
        equations = tuple(self._summed(r, factors, rate) for r, factors in both)
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
            self._summed(r, [substitute(t.coefficient, self._insert) for t in r.terms], 0.0)
            for r in residuals
        )

    def _summed(self, residual: Operator, factors: Sequence[Expression], rate: float) -> Expression:
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
