"""Sensitivities of stationary problems: the linear problem about the solution, on its kernels.

    L(u) v = -dF/dtheta (u),    B(u) v = -dB/dtheta (u),

with L and B the tangents of Newton's method. Its error is estimated as that of any solution, and
kernels are added where those of u do not resolve v.

Sensitivities as differences of solutions, where residuals have no derivative.

A parameter that moves the domain, the span of time or a place at which something jumps changes
residuals in no smooth way, yet mostly the solution in a smooth one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sharpfront.adapt import Adaptor
from sharpfront.adapt.adaptive_step import AdaptiveStep, adaptive_step
from sharpfront.adapt.basis_reuse import detach, reused, reused_together
from sharpfront.arrays import FloatArray, blas_threads
from sharpfront.bases.line_basis import LineBasis
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.sum_basis import JoinedBasis
from sharpfront.errors import DomainError, LinearSystemError, Outcome, OutcomeKind
from sharpfront.kernels.assemble import LinearSystem
from sharpfront.kernels.basis import Basis
from sharpfront.leastsquares import ManySided
from sharpfront.newton.iterate import Remembered
from sharpfront.newton.tangent import Tangent, highest_order
from sharpfront.problem import Problem
from sharpfront.problem.family import Forcing
from sharpfront.solution import Solution
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.solution.field import Estimate

# Factors of the four solutions of a difference of fourth order, at -2h, -h, h, 2h, times 12 h; and
# of the second, whose distance from it bounds what is left out.
PLACES = (-2, -1, 1, 2)
FOURTH = np.array([1.0, -8.0, 8.0, -1.0]) / 12.0
SECOND = np.array([0.0, -0.5, 0.5, 0.0])
# How many times as large as that of its solution the relative error of a derivative may be for it.
MOST_INHERITED = 10.0
# Points at which the two are compared.
_POINTS = 2000
_BY_DIFFERENCES = (
    "distance of differences of second and of fourth order, of solutions at four values of the "
    "parameter, and the estimated errors of these over the step; relative to max(1, max|v|)"
)


def differenced(
    solution: Solution,
    values: Mapping[str, Any],
    name: str,
    solve: Callable[[Mapping[str, Any], float], Solution],
    tol: float,
) -> Solution:
    """Return the derivative of a solution by a parameter as a difference of others.

    The tolerance is relative to the size of the derivative.
    """
    value = float(values[name])
    # What the second order leaves out and errors over the step are then of one size.
    step = max(solution.error_estimate, 1e-13) ** (1 / 3) * (abs(value) or 1.0)
    others = [solve({**values, name: value + k * step}, solution.tol) for k in PLACES]
    fourth = combined(solution, others, FOURTH / step)
    second = combined(solution, others, SECOND / step)
    points = np.concatenate([solution.domain.sample(_POINTS, "quasi"), *_between(others)])
    points = points[np.all([o.domain.contains(points) for o in others], axis=0)]
    size, apart = 0.0, 0.0
    for unknown in solution.unknowns:
        zero = (0,) * points.shape[1]
        fine, rough = (a.values(unknown, points, zero) for a in (fourth, second))
        size, apart = max(size, _largest(fine)), max(apart, _largest(fine - rough))
    noise = float(np.abs(FOURTH) @ [o.error_estimate for o in others]) / step
    error = (apart + noise) / max(1.0, size)
    kind = OutcomeKind.CONVERGED if error <= tol * min(1.0, size) else OutcomeKind.UNRESOLVED
    failed = next((o.outcome for o in others if not o.converged), None)
    detail = f"Differences of solutions at four values of {name}, {step:.1e} apart."
    outcome = Outcome(kind, detail, "" if kind is OutcomeKind.CONVERGED else _REMEDY)
    estimate = Estimate(error, _BY_DIFFERENCES)
    return Solution(fourth, solution.domain, estimate, failed or outcome, tol, (), {})


def inherited(error: float, size: float, of_rate: float, parameter: float) -> float:
    """Return what an error of a solution adds to that of its derivative along a parameter.

    It changes about as fast with the parameter as the solution does with a change of the parameter
    of its own size. If that happens to be next to zero it says nothing: the relative error of the
    derivative is not taken to be more than so many times that of the solution.

    Parameters
    ----------
    error
        Of the solution.
    size, of_rate
        The largest values of the solution and of its derivative.
    parameter
        Its size, one if it is zero.
    """
    most = MOST_INHERITED * of_rate / size if size > 0 else np.inf
    return error * min(1.0 / parameter, most)


_REMEDY = "Solve with a smaller tol, so that differences over smaller steps can be taken."


def combined(solution: Solution, others: Sequence[Solution], factors: FloatArray) -> Approximation:
    """Return a weighted sum of solutions as an approximation."""
    bases, weights = {}, {}
    for unknown in solution.unknowns:
        own = [o.approximation for o in others]
        bases[unknown] = JoinedBasis(tuple(a.bases[unknown] for a in own))
        scaled = [f * a.weights[unknown] for f, a in zip(factors, own, strict=True)]
        weights[unknown] = np.concatenate(scaled)
    return Approximation(solution.approximation.coordinates, bases, weights)


def _between(others: Sequence[Solution]) -> list[FloatArray]:
    """Return the middles between the ends of patches on a line: what moves lies between them."""
    bases = [basis for o in others for basis in o.approximation.bases.values()]
    edges = [p.axis.low for b in bases if isinstance(b, LineBasis) for p in b.patches]
    boxes = (b for b in bases if isinstance(b, PatchworkBasis) and b.dimension == 1)
    places = np.unique([*edges, *(float(p.low[0]) for b in boxes for p in b.patches)])
    return [0.5 * (places[1:] + places[:-1])[:, None]] if len(places) > 1 else []


def _largest(values: FloatArray) -> float:
    if not len(values):
        raise DomainError("The members of the family have no points in common.")
    return float(np.abs(values).max())


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
    states = reused_together(kept.state, linear, 1.0, [False] * len(linear))
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
        states = [reused(kept.state, each, 1.0, surveyed=False) for each in linear]
        if not states or states[0] is None:
            return None
        assert isinstance(method, ManySided)
        with blas_threads(1):
            proposals = [kept.adaptor.propose(state) for state in states]
            system = proposals[0].system
            assert isinstance(system, LinearSystem)
            each = np.stack([p.system.rhs for p in proposals], axis=1)
            d = max(b.points.shape[1] for b in system.blocks if b.points is not None)
            parts = (
                np.full((b.rows, d), np.nan) if b.points is None else b.points
                for b in system.blocks
            )
            right = mixed(each, np.concatenate(list(parts)))
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
    states = reused_together(kept.state, linear, tol, surveyed)
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
        stricter = reused(kept.state, linear, tol * size, surveyed=surveyed)
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
    steps: list[AdaptiveStep] = []
    with blas_threads(1):
        while state.finished is None:
            step, state = adaptive_step(linear, kept.adaptor, state, len(steps))
            steps.append(step)
            detach(state)
    answer, outcome = state.answer, state.finished
    step = next(s for s in steps if s.assessment.approximation is answer.approximation)
    if outcome.kind is OutcomeKind.CONVERGED and step.outcome.kind is OutcomeKind.ILL_POSED:
        outcome = step.outcome
    facts = {"condition": step.facts.condition, "rank": step.facts.rank}
    history = tuple(s.record for s in steps)
    found = (answer.approximation, solution.domain, answer.estimate, outcome, state.tol)
    return Solution(*found, history, facts, linear), answer.points


def largest(solution: Solution, points: FloatArray) -> float:
    """Return the largest size of any unknown at points."""
    zero = (0,) * points.shape[1]
    values = [solution.approximation.values(u, points, zero) for u in solution.unknowns]
    return float(np.max(np.abs(values)))
