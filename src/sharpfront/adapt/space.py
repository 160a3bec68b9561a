"""The default adaptor in two and three dimensions: products of kernels in mixtures' coordinates.

1. Elements find where the solution varies fast along each axis, before anything is resolved.
2. Each axis gets a mixture and its coordinate; kernels are products, even in the coordinates.
3. The error equation, on a mesh three times finer, says how large the error is. While it is above
   the tolerance, the axes whose last functions still carry weight get more of them, and the
   mixtures' widths are tried smaller and larger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from sharpfront.adapt.alone import system_mixtures
from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.embedded import (
    FIRST,
    GROWTH,
    FrontTrial,
    embedded_proposal,
    front_elements,
    fronts_allowed,
    look_for_fronts,
)
from sharpfront.adapt.growth import grown, smaller, wanted, work
from sharpfront.adapt.marginals import discover
from sharpfront.adapt.product_rows import product_system
from sharpfront.adapt.questions import (
    NUDGED,
    compared,
    doubted,
    left_open,
    nudge_for,
    undetermined,
)
from sharpfront.adapt.space_state import SpaceAssessment, SpaceState, Trial, basis_of
from sharpfront.approximation import Approximation
from sharpfront.budget import Budget
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.estimate.check import check_by_comparison, check_by_elements, check_mesh
from sharpfront.estimate.elements import Elements
from sharpfront.estimate.weak import UnsuitableError
from sharpfront.leastsquares import Householder, LeastSquares
from sharpfront.pieces.tensor import product_count
from sharpfront.problem import Problem

# Functions along an axis at the start, by dimension: without and with a mixture.
START = {1: (24, 40), 2: (14, 20), 3: (8, 12)}
MANY = (5, 5)
# The least along an axis.
FEWEST = 4
# Fronts are followed while their estimate is below this many times that of products.
WORTH = 3.0
# Where elements jump by less than this from node to node, layers lie along the axes: try widths
# before looking for fronts.
RESOLVED = 0.15
# Factors on the deviations of the mixtures that are tried, once the first growth is done.
SCALES = (0.6, 1.6)
# If so many growths in a row do not bring the estimate below this share of the best, while it is
# small, it has stalled.
PROGRESS, PATIENCE, FLOOR = 0.7, 2, 1e-6
# Below this many squared cell sizes a problem on a mesh cannot be told from a singular one.
SINGULAR = 5.0


@dataclass(frozen=True)
class ResolveSpace:
    """Products of kernels in the coordinates of mixtures along the axes, on any domain.

    Systems in one dimension too: there the products are of one axis.

    Parameters
    ----------
    max_kernels
        The most functions of all unknowns together.
    components
        The most components of the mixture of an axis.
    leastsquares
        The method for the dense systems.
    """

    max_kernels: int = 4000
    components: int = 4
    leastsquares: LeastSquares = field(default_factory=Householder)

    def __post_init__(self) -> None:
        Budget(self.max_kernels, self.components)

    def start(self, problem: Problem, tol: float, seed: int) -> SpaceState:
        """Return the state after discovery, before the first solve."""
        d = problem.domain.dimension
        least = (FEWEST,) * d
        Budget(self.max_kernels).kernels(
            self.max_kernels, len(problem.unknowns) * product_count(least)
        )
        found, regular, finished = None, True, None
        try:
            found = discover(problem, self.components)
            cells = len(found.elements.mesh.points) ** (1 / d)
            regular = found.elements.singular_measure() > SINGULAR / cells**2
        except UnsuitableError:
            finished = left_open(problem)
        except LinearSystemError:
            regular = False
        mixtures = found.mixtures if found else (None,) * d
        if len(problem.unknowns) > 1:
            mixtures = system_mixtures(problem, self.components)
        narrow = [m is not None for m in mixtures]
        trial = Trial(tuple(START.get(d, MANY)[n] for n in narrow))
        fitted = self._within(problem, trial, least) or Trial(least)
        return SpaceState(problem, tol, seed, found, mixtures, regular, fitted, missing=finished)

    def propose(self, state: SpaceState) -> Proposal:
        """Return kernels and rows of the state's trial."""
        if isinstance(state.trial, FrontTrial):
            assert state.fronts is not None
            return embedded_proposal(state.problem, state.fronts, state.trial.count, state.seed)
        basis = basis_of(state)
        bases = dict.fromkeys(state.problem.unknowns, basis)
        system, rows = product_system(state.problem, bases, basis, state.seed, nudge_for(state))
        return Proposal(bases, system, rows)

    def assess(self, state: SpaceState, approximation: Approximation) -> SpaceAssessment:
        """Return the assessment by the error equation, or by comparison where it cannot be."""
        problem, last = state.problem, state.last
        if state.found is None:
            before = last.approximation if last else None
            seen = check_by_comparison(problem, approximation, before, state.seed)
            return compared(state, seen, undetermined(state, approximation))
        if isinstance(state.trial, FrontTrial):
            even = check_by_elements(
                problem, approximation, front_elements(problem, state.trial.count)
            )
            # An even mesh may miss what the mesh of discovery has found.
            graded = Elements.build(problem, state.found.elements.mesh)
            other = check_by_elements(problem, approximation, graded)
            return doubted(state, max(even, other, key=lambda a: a.estimate.value))
        elements = Elements.build(problem, check_mesh(problem.domain, basis_of(state)))
        return doubted(state, check_by_elements(problem, approximation, elements))

    def observe(self, state: SpaceState, assessment: SpaceAssessment) -> SpaceState:
        """Return what to try next, or why to stop."""
        state = _noted(state, assessment)
        assert state.best is not None
        if state.missing is not None:
            return replace(state, finished=state.missing)
        if assessment.undetermined:
            detail = f"{assessment.undetermined} takes any value that is asked of it at a point."
            return replace(state, finished=Outcome(OutcomeKind.ILL_POSED, detail))
        enough = 1 if state.found is not None else NUDGED
        if len(state.estimates) > enough and (
            state.answer.estimate.value <= state.tol or not state.regular
        ):
            return replace(state, finished=_verdict(state))
        if state.found and state.answer.estimate.value <= state.tol:
            return replace(state, trial=smaller(state.trial))
        if state.pending:
            return replace(state, trial=state.pending[0], pending=state.pending[1:])
        if _stalled(state):
            return replace(state, finished=Outcome(OutcomeKind.STALLED, _reached(state)))
        following = self._next(state)
        if following is None:
            return replace(state, finished=Outcome(OutcomeKind.KERNEL_LIMIT, _reached(state)))
        return following

    def _next(self, state: SpaceState) -> SpaceState | None:
        """Return the state with the next trial; None if more kernels are not allowed."""
        assert state.best is not None
        trial, (best, found) = state.trial, state.best
        if isinstance(trial, FrontTrial):
            if isinstance(best, FrontTrial) or state.estimates[-1] < WORTH * found.estimate.value:
                count = min(math.ceil(GROWTH * trial.count), self.max_kernels)
                return None if count == trial.count else replace(state, trial=FrontTrial(count))
            # The fronts were none: back to where products had come.
            trial, state = best, replace(state, trial=best, last=found)
        assert isinstance(best, Trial)
        tunable = len(state.estimates) > 1 and not state.tuned and state.mixture is not None
        if tunable and (state.found is None or state.found.jump < RESOLVED):
            return _tuning(state, best)
        if len(state.estimates) > 1 and not state.looked and self._beyond(state):
            fronts = look_for_fronts(state.problem, state.seed)
            state = replace(state, looked=True, fronts=fronts)
            if fronts is not None:
                return replace(state, trial=FrontTrial(min(FIRST, self.max_kernels)))
        if tunable:
            return _tuning(state, best)
        pairs = zip(trial.functions, best.functions, strict=True)
        larger = self._within(state.problem, grown(state), tuple(max(pair) for pair in pairs))
        return None if larger is None else replace(state, trial=larger)

    def _beyond(self, state: SpaceState) -> bool:
        """Tell whether products would need more functions than allowed to reach the tolerance."""
        if state.found is None or state.found.spikes or not fronts_allowed(state.problem):
            return False
        return product_count(wanted(state)) > self.max_kernels

    def _within(self, problem: Problem, trial: Trial, least: tuple[int, ...]) -> Trial | None:
        """Return the trial cut down to the most kernels; None if no more than `least` are left."""
        wanted = np.array(trial.functions)
        while len(problem.unknowns) * product_count(wanted.tolist()) > self.max_kernels:
            room = wanted > least
            if not room.any():
                return None
            wanted[np.argmax(np.where(room, wanted, 0))] -= 1
        if tuple(wanted) == tuple(least):
            return None
        return replace(trial, functions=tuple(int(k) for k in wanted))


def _tuning(state: SpaceState, best: Trial) -> SpaceState:
    """Return the state that tries other widths of the mixtures."""
    trials = tuple(replace(best, scale=s) for s in SCALES)
    return replace(state, tuned=True, trial=trials[0], pending=trials[1:])


def _noted(state: SpaceState, assessment: SpaceAssessment) -> SpaceState:
    """Return the state with an assessment counted in."""
    best, idle = state.best, state.idle
    if best is not None and work(state.trial) > work(best[0]):
        idle = 0 if assessment.estimate.value < PROGRESS * best[1].estimate.value else idle + 1
    compared = state.found is None and assessment.estimate.value <= state.tol
    if best is None or compared or not best[1].estimate.value <= assessment.estimate.value:
        best = (state.trial, assessment)
    return replace(
        state,
        best=best,
        last=assessment,
        idle=idle,
        estimates=(*state.estimates, assessment.estimate.value),
    )


def _verdict(state: SpaceState) -> Outcome:
    if state.regular:
        return Outcome(OutcomeKind.CONVERGED, _reached(state))
    return Outcome(
        OutcomeKind.NEAR_SINGULAR,
        f"{_reached(state)} But on its mesh the problem cannot be told from one with many "
        "solutions.",
    )


def _reached(state: SpaceState) -> str:
    assert state.best is not None
    value, trial = state.answer.estimate.value, state.best[0]
    if isinstance(trial, FrontTrial):
        return f"Estimate {value:.1e} with {trial.count} kernels along fronts across the axes."
    counts = " x ".join(str(k) for k in trial.functions)
    return f"Estimate {value:.1e} with {counts} functions along the axes."


def _stalled(state: SpaceState) -> bool:
    """Tell whether rounding sets a floor: an estimate already small that growth does not lower."""
    return state.idle >= PATIENCE and state.answer.estimate.value < FLOOR
