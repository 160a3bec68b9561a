"""A nonlinear problem solved roughly: where its features are, before they are resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol

from sharpfront.arrays import FloatArray
from sharpfront.newton.damped import Newton, P, Rules, continued, newton
from sharpfront.newton.iterate import Iterate
from sharpfront.newton.settings import NEWTON


class Corrector(Protocol[P]):
    """Solves linear problems roughly, on the way to a first approximation."""

    small: float  # after a correction below this share of the solution a rough one is no better
    rounds: int  # of finer functions within one attempt
    most: int  # linear solves of all attempts together
    steady: bool  # whether all conditions are linear

    def begun(self, guess: Iterate) -> P:
        """Return a guess as what is corrected."""

    def rules(self, iterate: P, stiffness: float) -> Rules[P]:
        """Return how iterates are corrected and compared, with a factor on highest derivatives."""

    def refined(self, iterate: P, turn: int) -> P | None:
        """Return the last solution on finer functions; None if it does not ask for them."""

    @property
    def weights(self) -> FloatArray:
        """Shares of the domain around the places of `seen_values`."""

    def seen_values(self, iterate: P) -> FloatArray:
        """Return the values of all unknowns at places that do not change."""

    def confirmed(self, iterate: P) -> P | None:
        """Return the solution near an iterate on finer functions; None if there is none."""


@dataclass(frozen=True, eq=False)
class RoughSolution(Generic[P]):
    """A rough solution, or how far it came."""

    iterate: P  # the rough solution
    # The attempts, with the factor on the highest derivatives of each.
    history: tuple[tuple[float, Newton[P]], ...]
    converged: bool  # whether it solves the problem that was stated

    @property
    def attempted(self) -> bool:
        """Whether any linearisation had a solution."""
        return any(attempt.changes for _, attempt in self.history)

    @property
    def solves(self) -> int:
        """Linear solves."""
        return sum(attempt.solves for _, attempt in self.history)


class Search(Generic[P]):
    """Attempts on one problem; counts them."""

    def __init__(self, corrector: Corrector[P]) -> None:
        self.corrector = corrector
        self.history: list[tuple[float, Newton[P]]] = []

    @property
    def exhausted(self) -> bool:
        """Whether enough has been tried."""
        return sum(attempt.solves for _, attempt in self.history) > self.corrector.most

    def settled(self, start: P, stiffness: float) -> P | None:
        """Return the solution of the problem with a factor on its highest derivatives."""
        corrector, iterate = self.corrector, start
        for turn in range(corrector.rounds):
            attempt = newton(
                iterate, corrector.rules(iterate, stiffness), corrector.small, NEWTON.attempt
            )
            self.history.append((stiffness, attempt))
            # Small corrections behind a short step, or that do not shrink, may be those of
            # functions that are too few: finer ones tell.
            near = bool(attempt.changes) and attempt.changes[-1] <= corrector.small
            if not (attempt.converged or near):
                return None
            iterate = attempt.iterate
            finer = None if self.exhausted else corrector.refined(iterate, turn)
            if finer is None:
                break
            iterate = finer
        return iterate if attempt.converged else None


def approach(guesses: Sequence[Iterate], corrector: Corrector[P]) -> RoughSolution[P]:
    """Solve a problem roughly, from the first of some guesses that has a linearisation."""
    search, found, led = Search(corrector), None, False
    for guess in guesses:
        start, tried = corrector.begun(guess), len(search.history)
        found = search.settled(start, 1.0)
        # About u = 0 the condition u_n + u^4 = 1 is one on the slope alone, on the way it is not.
        easier = not corrector.steady and guess is guesses[-1]
        if found is None and not led and (search.history[tried][1].changes or easier):
            # Where zero is no place to start from, as for u'' = u^3 - f between slopes, this fails,
            # and the next guess may be one.
            found, led = continued(start, search.settled, lambda: search.exhausted), True
        if found is not None:
            break
    iterate = search.history[-1][1].iterate if found is None else found
    return RoughSolution(iterate, tuple(search.history), found is not None)
