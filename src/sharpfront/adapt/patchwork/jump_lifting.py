"""Systems whose given values jump: what jumps is taken off first, and put back in the end.

Where unknowns meet in lower terms only, each is made of functions that jump, whose weights the data
tell, and of a rest, for which the equations and conditions are the same with these functions put
in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.adapt.patchwork.jump_functions import COUNTS, HeldJump, held_jumps, jumping_places
from sharpfront.adapt.patchwork.jumps import in_words
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import CornerFunctions
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.equation.expression import (
    Constant,
    Coordinate,
    Derivative,
    Expression,
    Function,
    Leaf,
    apply_function,
)
from sharpfront.equation.linearise import substitute
from sharpfront.kernels.basis import Basis
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.problem import IntegralCondition, Problem
from sharpfront.solution import Solution
from sharpfront.solution.approximation import Approximation


@dataclass(frozen=True, eq=False)
class _Slope:
    """A derivative of a function that jumps, as a function of the coordinates."""

    function: CornerFunctions
    orders: tuple[int, ...]

    def __call__(self, *coordinates: Any) -> FloatArray:
        columns = np.broadcast_arrays(*coordinates)
        points = np.stack([np.ravel(c) for c in columns], axis=1)
        return self.function.values(points, self.orders)[:, 0].reshape(columns[0].shape)


@dataclass(frozen=True, eq=False)
class JumpLifting:
    """A stationary system in the plane, and what its values jump by.

    Parameters
    ----------
    stated
        As it was stated.
    jumps
        What jumps, in unknowns that stand alone.
    """

    stated: Problem
    jumps: tuple[HeldJump, ...]

    @classmethod
    def of(cls, problem: Problem, tol: float) -> JumpLifting | None:
        """Return what jumps in a system; None where nothing does, or no function is known."""
        tiling = tiling_of(problem.domain) if problem.domain.dimension == 2 else None
        over_all = any(isinstance(c, IntegralCondition) for c in problem.further)
        if tiling is None or len(problem.unknowns) == 1 or problem.is_singular or over_all:
            return None
        found: list[HeldJump] = []
        for unknown in problem.unknowns:
            places = list(jumping_places(problem, unknown, tiling, [0.0], COUNTS * tol))
            own = held_jumps(problem, unknown, tiling, places, tol, [0.0])
            if len(own) < len(places):
                return None
            found += own
        return cls(problem, tuple(found)) if found else None

    @cached_property
    def _strengths(self) -> list[float]:
        return [own.strength(self.stated, 0.0) for own in self.jumps]

    @cached_property
    def problem(self) -> Problem:
        """The problem of what is left."""
        space = [Coordinate(name, self.stated.coordinates) for name in self.stated.coordinates]

        def insert(leaf: Leaf) -> Expression:
            total: Expression = leaf
            if isinstance(leaf, Derivative):
                for own, strength in zip(self.jumps, self._strengths, strict=True):
                    if own.unknown == leaf.unknown:
                        slope = _Slope(own.function, leaf.orders)
                        name = f"angle{''.join(map(str, leaf.orders))}"
                        total = total + Constant(strength) * apply_function(
                            Function(name, slope), *space
                        )
            return total

        def inserted(graphs: Sequence[Expression]) -> tuple[Expression, ...]:
            return tuple(substitute(graph, insert) for graph in graphs)

        stated = self.stated
        return stated.rewritten(
            equations=inserted(stated.equations),
            conditions=tuple(
                replace(c, residuals=inserted(c.residuals)) for c in stated.conditions
            ),
            further=tuple(replace(c, residuals=inserted(c.residuals)) for c in stated.further),
        )

    def put_back(self, solution: Solution) -> Solution:
        """Return the solution of the problem as it was stated from one of what is left."""
        found = solution.approximation
        bases: dict[str, Basis] = dict(found.bases)
        weights = dict(found.weights)
        for own, strength in zip(self.jumps, self._strengths, strict=True):
            basis = bases[own.unknown]
            assert isinstance(basis, PatchworkBasis)
            bases[own.unknown] = replace(basis, shared=(*basis.shared, own.function))
            weights[own.unknown] = np.append(weights[own.unknown], strength)
        places = dict.fromkeys(own.function.place for own in self.jumps)
        told = f"Given values jump at {in_words(list(places))}, and functions with them."
        outcome = replace(solution.outcome, detail=f"{solution.outcome.detail} {told}".strip())
        approximation = Approximation(found.coordinates, bases, weights)
        return replace(solution, approximation=approximation, outcome=outcome, problem=self.stated)
