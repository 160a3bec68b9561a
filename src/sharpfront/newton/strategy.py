"""What Newton's method asks of a strategy for linear problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sharpfront.estimate import Assessment
from sharpfront.newton.iterate import Iterate
from sharpfront.newton.progress import Progress
from sharpfront.newton.tangent import Tangent
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation


class Corrector(Protocol):
    """Solves linear problems roughly, on the way to a first approximation."""

    def solved(self, linear: Problem) -> Iterate | None:
        """Return the solution of a linear problem; None if there is none."""

    def refined(self, iterate: Iterate) -> bool:
        """Go on with finer functions if the last solution asks for them; tell whether it did."""


@dataclass(frozen=True, eq=False)
class Turn:
    """What comes after an assessed solve."""

    inner: Any  # the strategy's next state
    renewed: bool  # whether it goes on with other functions


class LinearStrategy(Protocol):
    """A strategy for linear problems about one iterate after the other."""

    def corrector(
        self, tangent: Tangent, guesses: Sequence[Iterate], tol: float, seed: int
    ) -> Corrector:
        """Return what solves roughly, from one of some guesses."""

    def start(self, corrector: Any, linear: Problem, tol: float, seed: int) -> Any:
        """Return the state before the first solve about what a corrector has found."""

    def assess(
        self,
        inner: Any,
        old: Iterate,
        about: Problem,
        approximation: Approximation,
        progress: Progress,
    ) -> Assessment:
        """Return how good a solution is, with the linear problem about itself."""

    def observe(self, inner: Any, assessment: Any, progress: Progress) -> Turn:
        """Return what comes next."""
