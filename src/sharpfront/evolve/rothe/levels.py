"""The unknowns at moments, and the stationary problem of the next one.

Backward differences: at the end of a step u_t is that of the polynomial through the new level and
those before it, which turns u_t = F(u) into a u + g = F(u) with a known g.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray, remembered
from sharpfront.bases.levels import lagrange
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
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.linearise import substitute
from sharpfront.equation.trace import Symbols
from sharpfront.problem import Problem
from sharpfront.solution import Solution

# Sets of points at which a level is remembered: those of surveys are the same at all moments.
_REMEMBERED = 8


@dataclass(frozen=True, eq=False)
class Level:
    """The unknowns at a moment: those of a solution, or the initial state."""

    t: float
    solution: Solution | None
    problem: Problem

    @remembered(_REMEMBERED)
    def values(self, unknown: str, points: FloatArray) -> FloatArray:
        """Return an unknown at points, (m,)."""
        if self.solution is not None:
            none = (0,) * points.shape[1]
            return self.solution.approximation.values(unknown, points, none)
        assert self.problem.initial is not None
        return self.problem.initial.values(unknown, points)


def summed(
    levels: Sequence[Level], shares: FloatArray, unknown: str, points: FloatArray
) -> FloatArray:
    """Return a weighted sum of levels, (m,)."""
    pairs = zip(shares, levels, strict=True)
    return np.asarray(sum(s * level.values(unknown, points) for s, level in pairs))


def through(levels: Sequence[Level], t: float, unknown: str, points: FloatArray) -> FloatArray:
    """Return the polynomial in time through levels at a moment, (m,)."""
    shares = lagrange(np.array([level.t for level in levels]), np.array([t]))[:, 0]
    return summed(levels, shares, unknown, points)


def at_moment(problem: Problem, before: Sequence[Level], t: float) -> Problem:
    """Return the stationary problem at the end of a step, with levels before it."""
    space = problem.domain.coordinates
    names = [Coordinate(name, space) for name in space]
    times = np.array([*(level.t for level in before), t])
    shares = lagrange(times, np.array([t]), 1)[:, 0]

    def known(unknown: str) -> Expression:
        def values(*columns: Any) -> FloatArray:
            wide = np.broadcast_arrays(*columns)
            points = np.stack([c.ravel() for c in wide], axis=1)
            return summed(before, shares[:-1], unknown, points).reshape(wide[0].shape)

        return apply_function(Function(f"{unknown}_before", values), *names)

    rates = {u: known(u) for u in problem.unknowns}

    def put(leaf: Leaf) -> Expression:
        if isinstance(leaf, Coordinate):
            return Constant(t) if leaf.name == TIME else Coordinate(leaf.name, space)
        if not isinstance(leaf, Derivative):
            return leaf
        now = Derivative(leaf.unknown, space, leaf.orders[:-1])
        return float(shares[-1]) * now + rates[leaf.unknown] if leaf.orders[-1] else now

    def read(stated: Any) -> Any:
        return replace(stated, residuals=tuple(substitute(r, put) for r in stated.residuals))

    def inside(stated: Expression) -> Expression:
        found = substitute(stated, put)
        # In units of u, for penalties of conditions are weighed against that.
        rated = any(leaf.orders[-1] for leaf in derivatives_in(stated))
        return found / float(shares[-1]) if rated else found

    return problem.rewritten(
        time=None,
        initial=None,
        symbols=Symbols(problem.unknowns, space),
        equations=tuple(map(inside, problem.equations)),
        conditions=tuple(map(read, problem.conditions)),
        further=tuple(map(read, problem.further)),
        jumps=tuple(
            replace(read(j), equals=tuple(substitute(e, put) for e in j.equals))
            for j in problem.jumps
        ),
    )
