"""The nonlinear problem in space, roughly: where its features are, before they are resolved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.newton.damped import Newton, Rules, continued, newton
from sharpfront.newton.iterate import Iterate, blended
from sharpfront.newton.strategy import Corrector
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem

# After a correction below this share of the solution a rough one is no better.
SMALL = 3e-2
# Linear solves of one attempt, and of all of them together.
ATTEMPT, MOST_ROUGH_SOLVES = 15, 60
# Rounds of finer functions within one attempt.
REFINEMENTS = 3
# Points at which iterates are compared.
COMPARED = 2000
# An unknown below this share of the others is none: its own rounding is no change.
NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class RoughSolution:
    """A rough solution in space, or how far it came."""

    iterate: Iterate  # the rough solution
    # The attempts, with the factor on the highest derivatives of each.
    history: tuple[tuple[float, Newton[Iterate]], ...]
    converged: bool  # whether it solves the problem that was stated

    @property
    def solves(self) -> int:
        """Linear solves."""
        return sum(attempt.solves for _, attempt in self.history)


class _Search:
    """Attempts on one problem."""

    def __init__(self, problem: Problem, guess: Iterate, corrector: Corrector, seed: int) -> None:
        self.problem, self.guess, self.corrector = problem, guess, corrector
        self.history: list[tuple[float, Newton[Iterate]]] = []
        self.points = problem.domain.sample(COMPARED, "quasi", seed)

    @property
    def exhausted(self) -> bool:
        return sum(attempt.solves for _, attempt in self.history) > MOST_ROUGH_SOLVES

    def settled(self, start: Iterate, stiffness: float) -> Iterate | None:
        """Return the solution of the problem with a factor on its highest derivatives."""
        tangent = Tangent(self.problem, stiffness, self.guess)
        rules = Rules(
            lambda p: self.corrector.solved(tangent.at(p)),
            blended,
            self._distance,
            further=self._further,
        )
        iterate = start
        for _ in range(REFINEMENTS):
            attempt = newton(iterate, rules, SMALL, ATTEMPT)
            self.history.append((stiffness, attempt))
            # Small corrections behind a short step, or that do not shrink, may be those of
            # functions that are too few: finer ones tell.
            near = bool(attempt.changes) and attempt.changes[-1] <= SMALL
            if not (attempt.converged or near):
                return None
            iterate = attempt.iterate
            if self.exhausted or not self.corrector.refined(iterate):
                break
        return iterate if attempt.converged else None

    def _distance(self, old: Iterate, new: Iterate, scale: Iterate) -> float:
        return distance(self.problem, old, new, self.points, scale=scale)

    def _further(self, old: Iterate, new: Iterate, following: Iterate) -> float:
        first, sizes = _changes(self.problem.unknowns, old, new, self.points)
        moved = [
            u
            for u, change in zip(self.problem.unknowns, first, strict=True)
            if change > NOTHING * max(sizes)
        ]
        return _relative(*_changes(moved, new, following, self.points)) if moved else math.inf


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
    floor = NOTHING * max(sizes)
    return max(c / max(s, floor) for c, s in zip(changes, sizes, strict=True))


def approach(
    problem: Problem, guesses: Sequence[Iterate], corrector: Corrector, seed: int
) -> RoughSolution:
    """Solve the problem roughly, from the first of some guesses that has a linearisation."""
    search = _Search(problem, guesses[-1], corrector, seed)
    found = None
    for guess in guesses:
        tried = len(search.history)
        found = search.settled(guess, 1.0)
        if found is None and search.history[tried][1].changes:
            found = continued(guess, search.settled, lambda: search.exhausted)
            break
        if found is not None:
            break
    iterate = search.history[-1][1].iterate if found is None else found
    return RoughSolution(iterate, tuple(search.history), found is not None)
