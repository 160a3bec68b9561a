"""What Newton's method asks of a strategy for linear problems, and where it stands itself.

How Newton's method goes on the kernels there are, and what to say where it does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Protocol

import numpy as np

from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate import Assessment
from sharpfront.mixture import Mixture
from sharpfront.newton.damped import Newton
from sharpfront.newton.iterate import Iterate
from sharpfront.newton.rough_solution import Corrector, RoughSolution
from sharpfront.newton.settings import NEWTON
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.field import Estimate


@dataclass(frozen=True)
class Progress:
    """Newton's corrections so far."""

    changes: tuple[float, ...] = ()  # relative sizes of the corrections on the kernels of now
    steps: int = 0  # all corrections
    last: float = float("inf")  # the last of them

    def after(self, change: float) -> Progress:
        """Return the progress with one more correction."""
        return Progress((*self.changes, change), self.steps + 1, change)

    def renewed(self) -> Progress:
        """Return the progress on other kernels."""
        return replace(self, changes=())

    @property
    def left(self) -> float:
        """What follows the last correction at least, for corrections that shrink as these did.

        By the square of how the last one shrank, as Newton's method does. At a fold each is half of
        the one before, and an error equation that is singular there does not tell what is left.
        """
        if len(self.changes) < 2 or self.changes[-2] == 0.0:
            return 0.0
        before, last = self.changes[-2:]
        return last * (last / before) ** 2

    def stuck(self) -> Outcome | None:
        """Return why another step on the same kernels is of no use; None if it is."""
        slow = [b > NEWTON.slow * a for a, b in zip(self.changes, self.changes[1:], strict=False)]
        if len(self.changes) < NEWTON.most_steps and not all(slow[-2:] or [False]):
            return None
        shown = ", ".join(f"{c:.1e}" for c in self.changes[-6:])
        if self.last < NEWTON.negligible:
            return Outcome(
                OutcomeKind.STALLED,
                f"Newton's last corrections were {shown}.",
                not_smaller(self.last),
            )
        if len(self.changes) < NEWTON.most_steps:
            return None
        return Outcome(OutcomeKind.NEWTON, f"The last corrections were {shown}.")

    def lost(self) -> Outcome:
        """Return the end of iterates at which the equation has no finite values."""
        shown = ", ".join(f"{c:.1e}" for c in self.changes[-6:] if c < float("inf"))
        before = f" Corrections before were {shown}." if shown else ""
        words = f"At the last iterate the equation has no finite values.{before}"
        return Outcome(OutcomeKind.NEWTON, words)


def not_smaller(last: float) -> str:
    """Return what helps where corrections no longer shrink."""
    return (
        f"Newton's corrections stay at {last:.0e}: that is how well these kernels determine the "
        "solution of the equation linearised there. Loosen tol above that."
    )


class Move(Enum):
    """What to do after a solve."""

    COARSE = auto()
    END = auto()
    NEWTON = auto()
    KERNELS = auto()


def next_move(kernels: float, estimate: float, tol: float, progress: Progress) -> Move:
    """Return what to do, from the kernels' share of the error and the whole of it.

    COARSE: the kernels are worse than the iterate that they should improve, so they are added to
    and it stays. END: good enough. NEWTON: the kernels will do, corrections shrink too slowly, or
    the first iterate was too rough to tell. KERNELS: more are needed for the share that is theirs.
    """
    if estimate <= tol:
        return Move.END if progress.left <= tol else Move.NEWTON
    if kernels > max(NEWTON.coarse, tol):
        return Move.COARSE
    enough = kernels <= max(tol, NEWTON.kernels_share * estimate)
    rough = progress.steps == 1 and progress.last > NEWTON.rough
    return Move.NEWTON if rough or enough else Move.KERNELS


def not_converged(rough: RoughSolution[Any]) -> Outcome | None:
    """Return the outcome of attempts that found no solution, with the last corrections."""
    if rough.converged:
        return None
    shown = "; ".join(f"{_where(factor)}{_still_changes(a)}" for factor, a in rough.history[-3:])
    return Outcome(
        OutcomeKind.NEWTON, f"After {rough.solves} linear solves the last corrections were {shown}."
    )


def _where(factor: float) -> str:
    return "" if factor == 1.0 else f"on the way (factor {factor:.3g}) "


def _still_changes(attempt: Newton[Any]) -> str:
    return ", ".join(f"{c:.1e}" for c in attempt.changes[-4:]) or "without a solution"


_CORRECTION = "the last correction of Newton's method, relative to max(1, max|u|)"
_UNKNOWN = "no error can be estimated: the outcome says why the answer cannot be trusted"


@dataclass(frozen=True, eq=False, kw_only=True)
class AboutItself(Assessment):
    """An assessment of a solution with the linear problem about itself."""

    found: Any  # the strategy's own
    problem: Any  # that linear problem; None where it has no finite values
    changed: float  # the largest change from the iterate before, relative to max(1, max|u|)

    @classmethod
    def of(cls, found: Any, problem: Any, changed: float) -> AboutItself:
        """Return what a strategy says of a solution, and by how much Newton's method moved it."""
        shown = (found.approximation, found.points, found.volumes, found.residual, found.mismatch)
        return cls(*shown, found.estimate, found=found, problem=problem, changed=changed)

    @property
    def rank(self) -> tuple[bool, float]:
        """That of the strategy's own."""
        rank: tuple[bool, float] = self.found.rank
        return rank


@dataclass(frozen=True, eq=False)
class NewtonState:
    """Where Newton's method stands."""

    tangent: Any  # the problem, ready to be linearised
    inner: Any  # the strategy's state for the linear problem about the last iterate
    iterate: Iterate  # the last iterate
    rough: RoughSolution[Any]  # what was found before anything was resolved
    refusal: Outcome | None = None  # why no answer can be trusted
    progress: Progress = field(default_factory=Progress)  # Newton's corrections
    best: Any = None  # the best assessed approximation

    @property
    def mixture(self) -> Mixture | None:
        """The mixture that places the kernels of the next solve."""
        mixture: Mixture | None = self.inner.mixture
        return mixture

    @property
    def finished(self) -> Outcome | None:
        """Why it ended."""
        finished: Outcome | None = self.inner.finished
        return finished

    @property
    def answer(self) -> Any:
        """The best assessed approximation."""
        assert self.best is not None
        return self.best

    @property
    def diagnostics(self) -> Mapping[str, float]:
        """Counts of steps and solves."""
        return {
            "newton_steps": self.progress.steps,
            "linear_solves": self.rough.solves + self.progress.steps,
            "rough_solves": self.rough.solves,
            "last_change": self.progress.last,
        }


@dataclass(frozen=True, eq=False)
class NextStep:
    """What comes after an assessed solve."""

    inner: Any  # the strategy's next state
    # Whether the strategy has seen the solution, and goes on with other functions or has ended.
    renewed: bool
    stays: bool = False  # whether the solution is worse than the iterate, which stays
    forgotten: bool = False  # whether what was best has missed something


class LinearStrategy(Protocol):
    """A strategy for linear problems about one iterate after the other."""

    def tangent(self, problem: Problem, guesses: Sequence[Iterate]) -> Any:
        """Return the problem, ready to be linearised."""

    def corrector(
        self, tangent: Any, guesses: Sequence[Iterate], tol: float, seed: int
    ) -> Corrector[Any]:
        """Return what solves roughly, from one of some guesses."""

    def start(
        self, tangent: Any, corrector: Any, rough: RoughSolution[Any], tol: float, seed: int
    ) -> tuple[Any, Outcome | None]:
        """Return the state before the first solve about a rough solution; why none is trusted."""

    def assess(self, state: NewtonState, about: Any, approximation: Approximation) -> AboutItself:
        """Return how good a solution is, with the linear problem about itself."""

    def observe(self, state: NewtonState, assessment: Any) -> NextStep:
        """Return what comes next."""

    def another(self, state: NewtonState, inner: Any) -> Outcome | None:
        """Return what speaks for another solution than an answer; None if nothing does."""


def untrusted(assessment: Any) -> Any:
    """Return an answer of which nothing can be said."""
    return replace(assessment, estimate=Estimate(np.inf, _UNKNOWN))


def unsettled(assessment: Any, last: float) -> Any:
    """Return an answer at which Newton's method has not settled: its last step counts as error."""
    if not assessment.estimate.value < last:
        return assessment
    return replace(assessment, estimate=Estimate(last, _CORRECTION))
