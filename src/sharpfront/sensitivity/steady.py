"""Sensitivities of stationary problems: the linear problem about the solution, on its kernels.

    L(u) v = -dF/dtheta (u),    B(u) v = -dB/dtheta (u),

with L and B the tangents of Newton's method. Its error is estimated as that of any solution, and
kernels are added where those of u do not resolve v.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sharpfront.adapt import Adaptor
from sharpfront.adapt.again import again, alone, together_again
from sharpfront.adapt.turn import Step, turn
from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.kernels.assemble import LinearSystem
from sharpfront.kernels.basis import Basis
from sharpfront.leastsquares import ManySided
from sharpfront.newton.iterate import Remembered
from sharpfront.newton.tangent import Tangent, highest_order
from sharpfront.problem import Problem
from sharpfront.problem.family import Forcing
from sharpfront.sensitivity.differences import inherited
from sharpfront.solution import Solution
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.solution.field import Estimate

_SHARED = "The error of the solution is too large for the derivative that is asked for."
_SHARE = "; the solution's own error, over the size of the parameter, is added"


@dataclass(frozen=True, eq=False)
class Kept:
    """What a solve leaves for solves after it."""

    adaptor: Adaptor  # the adaptor for linear problems
    state: Any  # its last state


def tangent_problems(solution: Solution, forcings: Iterable[Forcing]) -> Iterator[Problem]:
    """Yield the linear problem of the sensitivity to each of several parameters."""
    problem = solution.problem
    assert problem is not None
    iterate, tangent = Remembered(solution.approximation, highest_order(problem)), Tangent(problem)
    for forcing in forcings:
        yield tangent.forced(iterate, forcing)


def unchecked(kept: Kept, linear: Sequence[Problem]) -> list[Approximation | None]:
    """Return the solutions of linear problems with one operator, without estimates.

    On the kernels that are there.
    """
    states = together_again(kept.state, linear, 1.0, [False] * len(linear))
    return [_on_kernels(kept, *pair) for pair in zip(states, linear, strict=True)]


def _on_kernels(kept: Kept, state: Any, linear: Problem) -> Approximation | None:
    if state is None:
        return None
    with blas_threads(1):
        proposal, method = kept.adaptor.propose(state), kept.adaptor.leastsquares
        try:
            weights, _, _ = method.solve(method.factor(proposal.system), proposal.system.rhs)
        except LinearSystemError:
            return None
    return Approximation(linear.coordinates, proposal.bases, split_weights(weights, proposal.bases))


@dataclass(frozen=True, eq=False)
class Sides:
    """One operator, factored, and a right-hand side for each parameter."""

    # How it is solved, and what that needs of the matrix.
    method: ManySided
    factor: Any
    # Of what is solved for.
    bases: Mapping[str, Basis]
    coordinates: tuple[str, ...]
    right: FloatArray  # (rows, p)

    @classmethod
    def of(
        cls,
        kept: Kept,
        linear: Sequence[Problem],
        mixed: Callable[[FloatArray, FloatArray], FloatArray],
    ) -> Sides | None:
        """Return the sides of linear problems with one operator on kernels that are there.

        `mixed` makes, from their right-hand sides (rows, problems) and the places of rows (rows,
        d), those of what is solved for; a place is nan where a row speaks of several.
        """
        method = kept.adaptor.leastsquares
        states = [again(kept.state, each, 1.0, surveyed=False) for each in linear]
        if not states or states[0] is None:
            return None
        assert isinstance(method, ManySided)
        with blas_threads(1):
            proposals = [kept.adaptor.propose(state) for state in states]
            system = proposals[0].system
            assert isinstance(system, LinearSystem)
            each = np.stack([p.system.rhs for p in proposals], axis=1)
            right = mixed(each, _places(system))
            if not np.isfinite(right).all():
                return None
            try:
                factor = method.factor(system)
            except LinearSystemError:
                return None
        return cls(method, factor, proposals[0].bases, linear[0].coordinates, right)

    def solutions(self) -> list[Approximation]:
        """Return the solution for each parameter, without estimates."""
        with blas_threads(1):
            weights = self.method.columns(self.factor, self.right)
        shares = (split_weights(column, self.bases) for column in weights.T)
        return [Approximation(self.coordinates, self.bases, share) for share in shares]

    def gradient(self, counted: Mapping[str, FloatArray]) -> FloatArray:
        """Return the sum of weights, each times what it counts, of all solutions, (p,).

        By one solve with the transposed operator, however many parameters there are.
        """
        values = np.concatenate([counted[unknown] for unknown in self.bases])
        with blas_threads(1):
            return np.asarray(self.method.transposed(self.factor, values) @ self.right)


def _places(system: LinearSystem) -> FloatArray:
    """Return where each row holds, (rows, d); nan for several places."""
    d = max(b.points.shape[1] for b in system.blocks if b.points is not None)
    parts = (np.full((b.rows, d), np.nan) if b.points is None else b.points for b in system.blocks)
    return np.concatenate(list(parts))


def resolved(
    solution: Solution,
    kept: Kept,
    linear: Sequence[Problem],
    tol: float,
    relative: Sequence[float],
    surveyed: Sequence[bool],
) -> list[Solution | None]:
    """Return the solutions of linear problems with one operator, begun on kernels that are there.

    The tolerance is relative to the size of what is solved for. `relative` are the sizes of the
    parameters. Surveyed is a problem that may have features that the solution has nothing of.
    """
    states = together_again(kept.state, linear, tol, surveyed)
    return [
        None if state is None else _resolved(solution, kept, each, state, size, look)
        for state, each, size, look in zip(states, linear, relative, surveyed, strict=True)
    ]


def _resolved(
    solution: Solution, kept: Kept, linear: Problem, state: Any, relative: float, surveyed: bool
) -> Solution:
    """Return the solution of one of them, from its state."""
    tol = state.tol
    found, points = _solved(solution, kept, linear, state)
    size = largest(found, points)
    if 0.0 < size < 1.0 and found.error_estimate > tol * size:
        # An estimate is relative to one at least, which says little of what is small.
        stricter = again(kept.state, linear, tol * size, surveyed=surveyed)
        found, points = _solved(solution, kept, linear, stricter)
    own = largest(solution, points)
    share = inherited(solution.error_estimate * max(1.0, own), own, size, relative)
    share /= max(1.0, size)
    estimate = Estimate(found.error_estimate + share, found.estimate.meaning + _SHARE)
    outcome = found.outcome
    if found.converged and estimate.value > tol * min(1.0, size or 1.0):
        outcome = Outcome(OutcomeKind.UNRESOLVED, _SHARED, "Solve with a smaller tol.")
    return replace(found, estimate=estimate, outcome=outcome)


def _solved(
    solution: Solution, kept: Kept, linear: Problem, state: Any
) -> tuple[Solution, FloatArray]:
    """Return the solution, and the points at which it was checked."""
    tol = state.tol
    steps: list[Step] = []
    with blas_threads(1):
        while state.finished is None:
            step, state = turn(linear, kept.adaptor, state, len(steps))
            steps.append(step)
            alone(state)
    answer, outcome = state.answer, state.finished
    step = next(s for s in steps if s.assessment.approximation is answer.approximation)
    if outcome.kind is OutcomeKind.CONVERGED and step.outcome.kind is OutcomeKind.ILL_POSED:
        outcome = step.outcome
    found = Solution(
        answer.approximation,
        solution.domain,
        answer.estimate,
        outcome,
        tol,
        tuple(s.record for s in steps),
        {"condition": step.facts.condition, "rank": step.facts.rank},
        linear,
    )
    return found, answer.points


def largest(solution: Solution, points: FloatArray) -> float:
    """Return the largest size of any unknown at points."""
    zero = (0,) * points.shape[1]
    values = [solution.approximation.values(u, points, zero) for u in solution.unknowns]
    return float(np.max(np.abs(values)))
