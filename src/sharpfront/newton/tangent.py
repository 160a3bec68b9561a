"""The linear problem whose solution is the next iterate.

    sum_j F_j(p) D_j u + F(p) - sum_j F_j(p) p_j = 0,    F_j = dF / d(D_j u) from the graph,

on the same domain, and conditions likewise. A derivative in which an equation is linear, and on
which no other coefficient depends, drops out of what stands in the square brackets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import (
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Function,
    Key,
    Leaf,
    Normal,
    apply_function,
)
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.linearise import (
    LinearForm,
    is_linear,
    linear_form,
    linear_part,
    nonlinear_in,
    nonlinear_part,
    stated_part,
    substitute,
    tangent_terms,
)
from sharpfront.equation.operator import Operator
from sharpfront.equation.weak import is_singular
from sharpfront.newton.iterate import Constants, Iterate
from sharpfront.problem import Problem
from sharpfront.problem.conditions import Stated
from sharpfront.problem.family import Forcing

_S = TypeVar("_S", bound=Stated)


class _Linearised(Operator):
    """One residual with its tangents, about iterates."""

    @cached_property
    def spared(self) -> frozenset[Key]:
        """The derivatives that drop out."""
        inside = {leaf.key for leaf in nonlinear_in(self.expression)}
        return frozenset({("derivative", t.unknown, t.orders) for t in self.terms} - inside)

    def about(self, insert: _Insertion) -> tuple[Expression, LinearForm]:
        """Return the linearised residual as an expression and as a linear form."""
        if self._split is not None:
            fluxes, rest = self._split
            total = fluxes + rest.about(insert)[0]
            return total, replace(linear_form(total), stated=stated_part(self.expression))
        form = self.form(insert)
        if self.is_linear:
            return self.expression, form
        total = form.source
        for term, leaf in zip(form.terms, self._leaves(), strict=True):
            total = total + term.coefficient * leaf
        return total, form

    @cached_property
    def _split(self) -> tuple[Expression, _Linearised] | None:
        """The summands that are linear, and the others, where fluxes jump: those stay as they are.

        None where nothing jumps.
        """
        if self.is_linear or not is_singular(self.expression):
            return None
        return linear_part(self.expression), _Linearised(nonlinear_part(self.expression))

    def form(self, insert: _Insertion) -> LinearForm:
        """Return the linearised residual as a linear form."""
        zero = Constant(0.0)

        def put(leaf: Leaf) -> Expression:
            return zero if leaf.key in self.spared else insert(leaf)

        source, terms = substitute(self.expression, put), []
        for term, leaf in zip(self.terms, self._leaves(), strict=True):
            coefficient = substitute(term.coefficient, put)
            terms.append(replace(term, coefficient=coefficient))
            if leaf.key not in self.spared:
                source = source - coefficient * insert(leaf)
        stated = None if self.is_linear else stated_part(self.expression)
        return LinearForm(tuple(terms), source, stated)

    def forced(self, insert: _Insertion, force: Expression) -> tuple[Expression, LinearForm]:
        """Return the linear part about an iterate with another source, as expression and form."""
        source = substitute(force, insert)
        terms = tuple(replace(t, coefficient=substitute(t.coefficient, insert)) for t in self.terms)
        total = source
        for term, leaf in zip(terms, self._leaves(), strict=True):
            total = total + term.coefficient * leaf
        return total, LinearForm(terms, source)

    def _leaves(self) -> list[Derivative]:
        leaves = {(d.unknown, d.orders): d for d in self.derivatives}
        return [leaves[t.unknown, t.orders] for t in self.terms]


@dataclass(frozen=True, eq=False)
class _Values:
    """A derivative of an iterate as a function of the coordinates."""

    iterate: Iterate
    unknown: str
    orders: tuple[int, ...]

    def __call__(self, *coordinates: Any) -> FloatArray:
        columns = np.broadcast_arrays(*coordinates)
        points = np.stack([c.ravel() for c in columns], axis=1)
        values = self.iterate.values(self.unknown, points, self.orders)
        return values.reshape(columns[0].shape)


class _Insertion:
    """Puts an iterate in the place of the unknowns; one node for each derivative."""

    def __init__(self, iterate: Iterate, coordinates: tuple[str, ...]) -> None:
        self._iterate = iterate
        self._coordinates = [Coordinate(name, coordinates) for name in coordinates]
        self._nodes: dict[Key, Expression] = {}

    def __call__(self, leaf: Leaf) -> Expression:
        if not isinstance(leaf, Derivative):
            return leaf
        if isinstance(self._iterate, Constants):
            # Numbers fold: what does not depend on the coordinates stays a plain number.
            return Constant(self._iterate.number(leaf.unknown, leaf.orders))
        if leaf.key not in self._nodes:
            name = f"{leaf.unknown}{''.join(map(str, leaf.orders))}"
            values = _Values(self._iterate, leaf.unknown, leaf.orders)
            self._nodes[leaf.key] = apply_function(Function(name, values), *self._coordinates)
        return self._nodes[leaf.key]


class Tangent:
    """A nonlinear problem, ready to be linearised about one iterate after the other.

    The stiffness is a factor on the derivatives of the highest order in equations that are not
    linear: above one an easier problem, on the way to the one that was stated. Conditions that are
    not linear count for one part in so many, the others hold the unknown at its guess, `about`.
    """

    # Derivatives that come with the values of an iterate: each is asked for by itself.
    highest = 0

    def __init__(
        self, problem: Problem, stiffness: float = 1.0, about: Iterate | None = None
    ) -> None:
        self.problem = problem
        self.stiffness = stiffness
        equations = problem.equations
        conditions = [c.residuals for c in problem.conditions]
        further = [c.residuals for c in problem.further]
        if stiffness != 1.0:
            order = highest_order(problem)
            equations = tuple(
                e if is_linear(e) else _stiffer(e, order, stiffness) for e in equations
            )
            insert = _Insertion(about or Constants(), problem.coordinates)
            ease = _Ease(insert, stiffness, float(np.ptp(problem.domain.bounds, axis=0).max()))
            conditions = [tuple(ease(r, True) for r in residuals) for residuals in conditions]
            further = [tuple(ease(r, False) for r in residuals) for residuals in further]
        self._equations = tuple(_Linearised(e) for e in equations)
        self._conditions = [tuple(map(_Linearised, own)) for own in conditions]
        self._further = [tuple(map(_Linearised, own)) for own in further]

    def at(self, iterate: Iterate) -> Problem:
        """Return the linear problem about an iterate."""
        insert = _Insertion(iterate, self.problem.coordinates)
        pairs = [r.about(insert) for r in self._equations]
        return self.problem.rewritten(
            equations=tuple(e for e, _ in pairs),
            forms=tuple(form for _, form in pairs),
            conditions=_stated(self.problem.conditions, self._conditions, insert),
            further=_stated(self.problem.further, self._further, insert),
        )

    def forced(self, iterate: Iterate, force: Forcing) -> Problem:
        """Return the linear problem for what a change of the data makes of an iterate.

            sum_j F_j(p) D_j v + G(p) = 0,    conditions likewise,

        with G what stands in `force` for each residual.
        """
        problem, insert = self.problem, _Insertion(iterate, self.problem.coordinates)

        def forced(
            read: Sequence[_Linearised], forces: Sequence[Expression]
        ) -> tuple[tuple[Expression, LinearForm], ...]:
            return tuple(r.forced(insert, g) for r, g in zip(read, forces, strict=True))

        equations = forced(self._equations, force.equations)
        conditions = zip(problem.conditions, self._conditions, force.conditions, strict=True)
        further = zip(problem.further, self._further, force.further, strict=True)
        return problem.rewritten(
            equations=tuple(e for e, _ in equations),
            forms=tuple(form for _, form in equations),
            conditions=tuple(
                replace(c, residuals=tuple(e for e, _ in forced(read, g)))
                for c, read, g in conditions
            ),
            further=tuple(
                replace(c, residuals=tuple(e for e, _ in forced(read, g)), **dict[str, Any](words))
                for c, read, (g, words) in further
            ),
        )


@dataclass(frozen=True, eq=False)
class _Ease:
    """Leads a condition from the guess to what was stated: (1 - s) a (u - guess) + s B(u) = 0.

    With a the factor of the outward slope in B, over the size of the domain, a condition
    u_n + g(u) = 0 that takes up more the larger u is has one solution for every s.
    """

    insert: _Insertion
    factor: float
    length: float

    def __call__(self, residual: Expression, outside: bool) -> Expression:
        """Return the residual on the way; `outside` where there is a normal."""
        terms = tangent_terms(residual)
        if not any(derivatives_in(t.coefficient) for t in terms):
            return residual
        name = max(terms, key=lambda t: t.order).unknown
        leaf = next(d for d in derivatives_in(residual) if d.unknown == name)
        value = replace(leaf, orders=(0,) * len(leaf.orders))
        slopes = [t for t in terms if t.order == 1 and t.unknown == name and outside]
        weight: Expression = Constant(0.0 if slopes else 1.0)
        for term in slopes:
            along = Normal(leaf.coordinates[term.orders.index(1)])
            weight = weight + substitute(term.coefficient, self.insert) * along * (1 / self.length)
        share = 1.0 / self.factor
        return share * residual + (1.0 - share) * weight * (value - self.insert(value))


def _stated(
    conditions: Sequence[_S], read: Sequence[tuple[_Linearised, ...]], insert: _Insertion
) -> tuple[_S, ...]:
    """Return conditions with the nonlinear ones linearised."""
    out = []
    for condition, residuals in zip(conditions, read, strict=True):
        if all(
            r.expression is stated for r, stated in zip(residuals, condition.residuals, strict=True)
        ) and all(r.is_linear for r in residuals):
            out.append(condition)
        else:
            about = tuple(r.about(insert)[0] for r in residuals)
            out.append(replace(condition, residuals=about))
    return tuple(out)


def is_steady(problem: Problem) -> bool:
    """Tell whether all conditions are linear."""
    stated = (r for c in (*problem.conditions, *problem.further) for r in c.residuals)
    return all(map(is_linear, stated))


def highest_order(problem: Problem) -> int:
    """Return the highest order of a derivative in the equations."""
    leaves = (leaf for e in problem.equations for leaf in derivatives_in(e))
    return max(sum(leaf.orders) for leaf in leaves)


def _stiffer(equation: Expression, order: int, factor: float) -> Expression:
    def scaled(leaf: Leaf) -> Expression:
        top = isinstance(leaf, Derivative) and sum(leaf.orders) == order
        return factor * leaf if top else leaf

    return substitute(equation, scaled)
