"""A problem in time as equations of first order in it.

An unknown with a second time derivative gets a companion, its rate of change, as an unknown of its
own. Every equation is matched with the unknown whose rate it determines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Constant, Derivative, Expression, Key, Leaf, Normal
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.linearise import substitute
from sharpfront.equation.operator import Operator
from sharpfront.errors import ProblemError
from sharpfront.evolve.layered_media import layers_of
from sharpfront.evolve.wellposed import SIDES, require_well_posed
from sharpfront.pieces.frame import Bends
from sharpfront.problem import Problem
from sharpfront.problem.initial import time_order, velocity_name

# Highest derivative in space that the coordinate's chain rule knows.
MOST_ALONG = 4
# And of a rate: u_xxt.
MOST_MIXED = 2


@dataclass(frozen=True, eq=False)
class Residual(Operator):
    """An expression over derivatives of order (k, 0) and (0, 1) in (x, t)."""

    side: int = 0  # for a condition, the end at which it holds: 0 left, 1 right

    def order(self, unknown: str) -> int:
        """Return the highest derivative in space of an unknown."""
        return max((t.orders[0] for t in self.terms if t.unknown == unknown), default=0)


@dataclass(frozen=True, eq=False)
class TimeSystem:
    """What is marched in time on an interval."""

    problem: Problem  # as it was stated
    names: tuple[str, ...]  # the unknowns, with the rates that were added
    equations: tuple[Residual, ...]  # one for each name, in their order
    conditions: tuple[Residual, ...]  # at the ends
    is_linear: bool  # whether one Newton step solves it
    order_stated: tuple[int, ...] = ()  # for each equation, its number as it was stated
    layers: Bends | None = None  # where slopes bend, for a coefficient of the flux jumps
    # What is compared where a rate jumped, in the range over which it was rounded.
    gaps: tuple[Expression, ...] = ()

    @property
    def span(self) -> tuple[float, float]:
        """Start and stop."""
        assert self.problem.time is not None
        return self.problem.time

    @property
    def low(self) -> float:
        """The left end."""
        return float(self.problem.domain.bounds[0, 0])

    @property
    def high(self) -> float:
        """The right end."""
        return float(self.problem.domain.bounds[1, 0])

    @property
    def periodic(self) -> bool:
        """Whether the ends are joined."""
        return bool(self.problem.domain.periodic_axes[0])

    @property
    def order(self) -> int:
        """The highest derivative in space, at least one: the kernels move."""
        return max(1, *(e.order(name) for e in self.equations for name in self.names))

    @property
    def continuity(self) -> int:
        """How many derivatives of the solution go on from element to element, itself included.

        An even number: with an odd one, values at Gauss points do not tell a function on a ring,
        for there is one that vanishes at all of them. Of a rate that is differentiated along x the
        moving nodes need one derivative more.
        """
        mixed = max(t.orders[0] + 1 for e in self.equations for t in e.terms if t.orders[1])
        order = max(self.order, mixed)
        return order + order % 2

    @property
    def constrained(self) -> tuple[str, ...]:
        """The unknowns without a rate: equations without one determine them at all times."""
        assert self.problem.initial is not None
        return tuple(n for n in self.names if n not in self.problem.initial.states)

    @property
    def space(self) -> str:
        """The name of the coordinate along the interval."""
        return self.problem.coordinates[0]

    def at_start(self, x: FloatArray) -> dict[Key, FloatArray]:
        """Return positions and the start of time as leaves, (n,) each."""
        return {
            ("coordinate", self.space): x,
            ("coordinate", "t"): np.full(len(x), self.span[0]),
        }

    def graph(self, name: str) -> Expression | None:
        """Return the initial state of an unknown as a graph; None where it cannot be read."""
        state = self.problem.initial
        return None if state is None or name in self.constrained else state.graph(name)

    def initial(self, name: str) -> Callable[[FloatArray], FloatArray]:
        """Return the initial state of an unknown as a function of x; zero where none is stated."""
        state = self.problem.initial
        assert state is not None
        if name in self.constrained:
            return lambda x: np.zeros(len(x))
        return lambda x: state.values(name, x[:, None])


def time_system(problem: Problem) -> TimeSystem:
    """Return the equations of a problem on an interval, or say what cannot be solved."""
    if problem.domain.dimension != 1:
        raise ProblemError(f"Expected an interval, got {problem.domain!r}.")
    if problem.further:
        raise ProblemError(
            "Conditions at points inside and on integrals cannot be combined with time=; "
            "conditions in time are those at the ends."
        )
    orders = {u: time_order(problem.equations, u, problem.coordinates) for u in problem.unknowns}
    for unknown, order in orders.items():
        if order > 2:
            raise ProblemError(
                f"The equations have {unknown} with time derivatives up to order {order}; known "
                "are one and two, u.dt and u.dtt, or none for an unknown that an equation without "
                "time derivatives determines."
            )
    second, coordinates = [u for u in problem.unknowns if orders[u] == 2], problem.coordinates
    names = (*problem.unknowns, *(velocity_name(u) for u in second))

    def lower(leaf: Leaf) -> Expression:
        """Return the companion of a second-order unknown in the place of its rate."""
        if isinstance(leaf, Derivative) and leaf.unknown in second and leaf.orders[1] > 0:
            space, time = leaf.orders
            return Derivative(velocity_name(leaf.unknown), coordinates, (space, time - 1))
        return leaf

    given = [substitute(e, lower) for e in problem.equations]
    for u in second:
        companion = Derivative(velocity_name(u), coordinates, (0, 0))
        given.append(Derivative(u, coordinates, (0, 1)) - companion)
    stated = tuple(_matched(given, names))
    equations = tuple(_residual(given[i], "equation") for i in stated)
    conditions = tuple(_conditions(problem, second, lower))
    layers = layers_of(given, problem, second)
    system = TimeSystem(problem, names, equations, conditions, problem.is_linear, stated, layers)
    require_well_posed(system)
    return system


def _residual(expression: Expression, what: str, side: int = 0) -> Residual:
    for leaf in derivatives_in(expression):
        space, time = leaf.orders
        if time > 1 or (time and space > MOST_MIXED) or space > MOST_ALONG:
            raise ProblemError(
                f"The {what} has a derivative of {leaf.unknown} of order {space} in x and {time} "
                f"in t; known are up to {MOST_ALONG} in x, one or two in t alone, and up to "
                f"{MOST_MIXED} in x of a rate."
            )
    return Residual(expression, what, side)


def _matched(given: Sequence[Expression], names: Sequence[str]) -> list[int]:
    """Return the equations' numbers in the order of the unknowns that they determine.

    They hold its rate; those of an unknown without one hold itself and no rate.
    """
    from scipy.optimize import linear_sum_assignment

    found = [[(d.unknown, d.orders[1] > 0) for d in derivatives_in(e)] for e in given]
    timed = {n for own in found for n, rate in own if rate}
    held = np.array(
        [
            [
                (n, True) in own if n in timed else (n, False) in own and not any(r for _, r in own)
                for n in names
            ]
            for own in found
        ]
    )
    rows, columns = linear_sum_assignment(~held)
    if not held[rows, columns].all():
        raise ProblemError(
            "Every equation must determine one unknown: "
            f"{', '.join(names)} need one equation each that holds their time derivative, or, of "
            "an unknown that has none anywhere, one without time derivatives that holds it."
        )
    return [int(i) for i in rows[np.argsort(columns)]]


def _conditions(
    problem: Problem, second: Sequence[str], lower: Callable[[Leaf], Expression]
) -> list[Residual]:
    found = []
    for condition in problem.conditions:
        side, what = SIDES.index(condition.part), f"condition on {condition.part!r}"
        for given in condition.residuals:
            stated = substitute(given, outward(side))
            found.append(_residual(substitute(stated, lower), what, side))
            if any(d.unknown in second and not d.orders[1] for d in derivatives_in(stated)):
                # What holds for the unknown at all times holds for its rate.
                rate = substitute(stated.d("t"), lower)
                found.append(_residual(rate, what, side))
    return found


def outward(side: int) -> Callable[[Leaf], Expression]:
    """Return the replacement of the normal by its number at an end."""
    return lambda leaf: Constant(2.0 * side - 1.0) if isinstance(leaf, Normal) else leaf
