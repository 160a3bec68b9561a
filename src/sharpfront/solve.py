"""The loop: place, assemble, solve, assess, adapt, stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sharpfront.adapt import Adaptor, Paper
from sharpfront.adapt.contract import State
from sharpfront.approximation import Approximation, split_weights
from sharpfront.arrays import blas_threads
from sharpfront.assemble import assemble
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.estimate import Assessment, assess
from sharpfront.leastsquares import Facts
from sharpfront.problem import Problem
from sharpfront.solution import Record, Solution


@dataclass(frozen=True, eq=False)
class _Step:
    """One turn of the loop: what came out, and what the adaptor makes of it."""

    assessment: Assessment
    facts: Facts
    outcome: Outcome
    record: Record


def solve(
    problem: Problem,
    *,
    tol: float = 1e-8,
    seed: int = 42,
    adaptor: Adaptor | None = None,
    on_step: Callable[[Record], None] | None = None,
) -> Solution:
    """Solve a problem.

    Parameters
    ----------
    problem
        Domain, equation and conditions.
    tol
        Stop when the estimated error, relative to max(1, max|u|), is below this.
    seed
        All randomness comes from it: the same seed gives the same bits.
    adaptor
        Who decides where kernels and rows go.
    on_step
        Called with each `Record` as it is made, for progress displays.

    Returns
    -------
    Solution
        Always, also where the tolerance was not met: look at ``solution.outcome``.
    """
    _check(problem, tol)
    adaptor = adaptor or Paper()
    with blas_threads(1):
        state = adaptor.start(problem, tol, seed)
        steps: list[_Step] = []
        while state.finished is None:
            step, state = _turn(problem, adaptor, state, seed, len(steps))
            steps.append(step)
            if on_step:
                on_step(step.record)
    return _solution(problem, tol, steps, state.finished)


def _check(problem: Problem, tol: float) -> None:
    if not isinstance(problem, Problem):
        raise ProblemError(f"solve expects a Problem, got {type(problem).__name__}.")
    if not 0 < tol < 1:
        raise ProblemError(f"tol must lie between 0 and 1, got {tol}. Try 1e-8.")
    if not problem.is_linear:
        raise ProblemError(
            "The equation or a condition is not linear in the unknowns; this version solves "
            "linear problems. Linearise it about a guess and iterate."
        )


def _turn(
    problem: Problem, adaptor: Adaptor, state: State, seed: int, iteration: int
) -> tuple[_Step, State]:
    started = time.perf_counter()
    proposal = adaptor.propose(state)
    system = assemble(proposal.rows, proposal.bases, problem.coordinates)
    system = system.with_unit_rows() if proposal.unit_rows else system
    method = adaptor.leastsquares
    weights, outcome, facts = method.solve(method.factor(system), system.rhs)
    approximation = Approximation(
        problem.coordinates, proposal.bases, split_weights(weights, proposal.bases)
    )
    assessment = assess(problem, approximation, seed)
    placed_by = state.mixture
    following: State = adaptor.observe(state, assessment)
    record = Record(
        iteration,
        approximation.kernels,
        assessment.residual_rms,
        assessment.estimate.value,
        facts.condition,
        facts.rank,
        facts.dead_columns,
        time.perf_counter() - started,
        placed_by,
    )
    return _Step(assessment, facts, outcome, record), following


def _solution(problem: Problem, tol: float, steps: list[_Step], finished: Outcome) -> Solution:
    last = steps[-1]
    if finished.kind is OutcomeKind.CONVERGED and last.outcome.kind is OutcomeKind.ILL_POSED:
        finished = last.outcome
    return Solution(
        last.assessment.approximation,
        problem.domain,
        last.assessment.estimate,
        finished,
        tol,
        tuple(step.record for step in steps),
        {
            "condition": last.facts.condition,
            "rank": last.facts.rank,
            "columns": last.assessment.approximation.kernels,
            "dead_columns": last.facts.dead_columns,
            "residual_norm": last.facts.residual_norm,
            "condition_mismatch": last.assessment.mismatch,
        },
        problem,
    )
