"""Where the search on a line stands, and what was assessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sharpfront.bases.line_basis import LineBasis
from sharpfront.errors import Outcome, OutcomeKind
from sharpfront.estimate import Assessment
from sharpfront.estimate.line_error import ErrorCheck
from sharpfront.kernels.assemble import Block
from sharpfront.mixture import Mixture
from sharpfront.place.line.breakpoints import Cut, Survey
from sharpfront.place.line.feature_search import Discovery
from sharpfront.place.line.kernel_plan import (
    Plan,
)
from sharpfront.problem.line_problem import LinearCondition, LineProblem
from sharpfront.trust.advice import Solved


@dataclass(frozen=True, eq=False)
class Checked(Assessment):
    """An assessment by the error equation; `check` is None where that has no solution."""

    check: ErrorCheck | None = None
    # What more kernels would take off the estimate, if that is not all of it.
    share: float | None = None

    @property
    def kernels_share(self) -> float:
        """The part of the estimate that is the kernels' own."""
        return self.estimate.value if self.share is None else self.share


@dataclass(frozen=True, eq=False)
class ResolveState:
    """The plan of the next solve, and the best that was seen so far."""

    unknown: str  # its name
    # What is asked.
    problem: LineProblem
    tol: float
    found: Discovery | None  # what discovery saw; None where the difference equations are singular
    plan: Plan  # pieces of the next solve
    refusal: Outcome | None = None  # why no answer can be trusted, known before the first solve
    amplification: float = np.inf  # how much a change of the operator changes the solution
    answer: Checked | None = None  # the best assessed approximation so far
    kept: Plan | None = None  # the plan of that answer
    stale: int = 0  # solves in a row that did not halve the estimate
    # The survey of the problem's functions, and where they jump.
    seen: Survey | None = None
    cuts: tuple[Cut, ...] = ()
    # Conditions that were left out because they follow from the others, if data balance.
    implied: tuple[LinearCondition, ...] = ()
    # Times that kernels were placed on features that the checking points had missed.
    attempts: int = 0
    tried: tuple[Solved, ...] = ()  # kernels and estimate of each solve so far
    finished: Outcome | None = None  # why it ended

    @property
    def crowded(self) -> bool:
        """Whether the interval falls into more pieces than the limit allows."""
        return self.refusal is not None and self.refusal.kind is OutcomeKind.KERNEL_LIMIT

    @property
    def mixture(self) -> Mixture | None:
        """The mixture that places the kernels of the next solve."""
        return self.plan.mixture

    @property
    def basis(self) -> LineBasis:
        """The basis of the next solve."""
        return self.plan.basis

    @property
    def conditions(self) -> list[Block]:
        """The unscaled rows of the conditions on that basis."""
        return self.plan.conditions(self.problem)
