"""One turn of the loop: propose, solve, assess, observe."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sharpfront.adapt.contract import Adaptor, State
from sharpfront.errors import Outcome
from sharpfront.estimate import Assessment
from sharpfront.history import Record
from sharpfront.leastsquares import Facts, solution_of
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation, split_weights


@dataclass(frozen=True, eq=False)
class AdaptiveStep:
    """One turn of the loop: what came out, and what the adaptor makes of it."""

    assessment: Assessment
    facts: Facts
    outcome: Outcome
    record: Record


def adaptive_step(
    problem: Problem, adaptor: Adaptor, state: State, iteration: int
) -> tuple[AdaptiveStep, State]:
    """Return what the next proposal came to, and the state after it."""
    started = time.perf_counter()
    proposal = adaptor.propose(state)
    method, system = adaptor.leastsquares, proposal.system
    weights, outcome, facts = solution_of(method, system)
    approximation = Approximation(
        problem.coordinates, proposal.bases, split_weights(weights, proposal.bases)
    )
    assessment = adaptor.assess(state, approximation)
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
    return AdaptiveStep(assessment, facts, outcome, record), following
