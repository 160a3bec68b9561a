"""Rough solutions with the functions of a strategy, and how far iterates are apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.newton.damped import Rules
from sharpfront.newton.iterate import Iterate, blended
from sharpfront.newton.rough_solution import Search
from sharpfront.newton.settings import NEWTON
from sharpfront.newton.tangent import Tangent, is_steady
from sharpfront.problem import Problem
from sharpfront.rounding import SAME


class FunctionCorrector:
    """What solves roughly with the functions of a strategy, which `solved` gives."""

    small, rounds, most = NEWTON.rough_enough, NEWTON.refinements, NEWTON.most_rough_solves

    def __init__(self, problem: Problem, guesses: Sequence[Iterate], seed: int) -> None:
        self.problem, self._guess = problem, guesses[-1]
        self._points = problem.domain.sample(NEWTON.compared, "quasi", seed)
        self.steady = is_steady(problem)

    def solved(self, linear: Problem) -> Iterate | None:
        """Return the solution of a linear problem; None if there is none."""
        raise NotImplementedError

    def begun(self, guess: Iterate) -> Iterate:
        """Return the guess."""
        return guess

    def refined(self, iterate: Iterate, turn: int) -> Iterate | None:
        """Return None: there are no finer functions."""
        return None

    @property
    def weights(self) -> FloatArray:
        """Equal shares of the domain, for each unknown."""
        count = len(self._points)
        return np.full(count * len(self.problem.unknowns), 1.0 / count)

    def seen_values(self, iterate: Iterate) -> FloatArray:
        """Return the values of all unknowns at the points at which iterates are compared."""
        zero = (0,) * self._points.shape[1]
        return np.concatenate(
            [iterate.values(u, self._points, zero) for u in self.problem.unknowns]
        )

    def confirmed(self, iterate: Iterate) -> Iterate | None:
        """Return the solution near an iterate, with finer functions if it asks for them."""
        return Search(self).settled(iterate, 1.0)

    def rules(self, iterate: Iterate, stiffness: float) -> Rules[Iterate]:
        """Return Newton's step, and how iterates are compared at points of the domain."""
        tangent = Tangent(self.problem, stiffness, self._guess)
        return Rules(
            lambda p: self.solved(tangent.at(p)), blended, self._distance, further=self._further
        )

    def _distance(self, old: Iterate, new: Iterate, scale: Iterate) -> float:
        return distance(self.problem, old, new, self._points, scale=scale)

    def _further(self, old: Iterate, new: Iterate, following: Iterate) -> float:
        unknowns = self.problem.unknowns
        first, sizes = _changes(unknowns, old, new, self._points)
        moved = [u for u, change in zip(unknowns, first, strict=True) if change > SAME * max(sizes)]
        return _relative(*_changes(moved, new, following, self._points)) if moved else math.inf


def distance(
    problem: Problem,
    old: Iterate,
    new: Iterate,
    points: FloatArray,
    least: float = 0.0,
    scale: Iterate | None = None,
) -> float:
    """Return the largest change of an unknown relative to its size, or to `least` if larger.

    The size is that of the new iterate, or of `scale`.
    """
    return _relative(*_changes(problem.unknowns, old, new, points, least, scale))


def _changes(
    unknowns: Sequence[str],
    old: Iterate,
    new: Iterate,
    points: FloatArray,
    least: float = 0.0,
    scale: Iterate | None = None,
) -> tuple[list[float], list[float]]:
    """Return the largest change of each unknown, and its size."""
    zero = (0,) * points.shape[1]
    changes, sizes = [], []
    for unknown in unknowns:
        values = new.values(unknown, points, zero)
        whole = values if scale is None else scale.values(unknown, points, zero)
        sizes.append(max(float(np.abs(whole).max()), least, 1e-300))
        changes.append(float(np.abs(values - old.values(unknown, points, zero)).max()))
    return changes, sizes


def _relative(changes: Sequence[float], sizes: Sequence[float]) -> float:
    """Return the largest change relative to the size of its unknown."""
    floor = SAME * max(sizes)
    return max(c / max(s, floor) for c, s in zip(changes, sizes, strict=True))
