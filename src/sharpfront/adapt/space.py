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

from sharpfront.adapt.advice import Allowance, Solved, floor, short_of_kernels
from sharpfront.adapt.axis_features import discover
from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.corners import at_a_corner, contradiction
from sharpfront.adapt.doubt import near_singular
from sharpfront.adapt.freedom import left_free
from sharpfront.adapt.growth import LAST, grown, largest, profiles, smaller, work
from sharpfront.adapt.product_rows import product_system
from sharpfront.adapt.questions import (
    amplification,
    compared,
    confirmed,
    doubted,
    left_open,
    many_solutions,
)
from sharpfront.adapt.reweighed import SecondLook, second_look
from sharpfront.adapt.space_state import SpaceAssessment, SpaceState, Trial, basis_of
from sharpfront.adapt.system_features import system_mixtures
from sharpfront.budget import Budget
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind
from sharpfront.estimate.elements import Elements
from sharpfront.estimate.space_error import (
    check_by_comparison,
    check_by_elements,
    check_mesh,
    points_like_kernels,
)
from sharpfront.estimate.weak import UnsuitableError
from sharpfront.leastsquares import Householder, LeastSquares
from sharpfront.pieces.tensor import TensorBasis, product_count
from sharpfront.problem import Problem
from sharpfront.solution.approximation import Approximation

# Functions along an axis at the start, by dimension: without and with a mixture.
START = {1: (24, 40), 2: (14, 20), 3: (8, 12)}
MANY = (5, 5)
# The least along an axis.
FEWEST = 4
# Factors on the deviations of the mixtures that are tried, once the first growth is done.
SCALES = (0.6, 1.6)
# If so many growths in a row do not bring the estimate below this share of the best, while it is
# small, it has stalled.
PROGRESS, PATIENCE, FLOOR = 0.7, 2, 1e-6
# Other weights of the rows are asked about the first solves, and about any that may be the last.
LOOKED = 2
# Below this many squared cell sizes a problem on a mesh cannot be told from a singular one, and the
# kernels are asked.
SINGULAR = 5.0


@dataclass(frozen=True)
class ResolveSpace:
    """Products of kernels in the coordinates of mixtures along the axes, on any domain.

    Systems in one dimension too: there the products are of one axis.
    """

    max_kernels: int = 4000  # the most functions of all unknowns together
    components: int = 4  # the most components of the mixture of an axis
    # The method for the dense systems.
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
        found, suspect, finished = None, False, None
        try:
            found = discover(problem, self.components)
            cells = len(found.elements.mesh.points) ** (1 / d)
            blur = SINGULAR / cells**2 + found.elements.blurred()
            suspect = found.elements.singular_measure() < blur
            finished = contradiction(found.elements, tol)
        except UnsuitableError:
            finished = left_open(problem) or left_free(problem)
        except LinearSystemError:
            suspect = True
        mixtures = found.mixtures if found else (None,) * d
        if len(problem.unknowns) > 1:
            mixtures = system_mixtures(problem, self.components)
        narrow = [m is not None for m in mixtures]
        trial = Trial(tuple(START.get(d, MANY)[n] for n in narrow))
        fitted = self._within(problem, trial, least) or Trial(least)
        return SpaceState(problem, tol, seed, found, mixtures, suspect, fitted, missing=finished)

    def propose(self, state: SpaceState) -> Proposal:
        """Return kernels and rows of the state's trial."""
        basis = basis_of(state)
        bases = dict.fromkeys(state.problem.unknowns, basis)
        return Proposal(bases, *product_system(state.problem, bases, basis, state.seed))

    def assess(self, state: SpaceState, approximation: Approximation) -> SpaceAssessment:
        """Return the assessment, with what the kernels say of a problem that elements suspect."""
        assessment = self._assessed(state, approximation)
        if not state.suspect:
            return assessment
        amplified = amplification(state.problem, self.propose(state), self.leastsquares)
        return replace(assessment, amplified=amplified)

    def _assessed(self, state: SpaceState, approximation: Approximation) -> SpaceAssessment:
        """Return the assessment by the error equation, or by comparison where it cannot be."""
        problem = state.problem
        if state.found is None:
            before = state.last.approximation if state.last else None
            seen, points = check_by_comparison(problem, approximation, before, state.seed)
            found = compared(state, seen, points)
            if self._needs_a_look(state, found):
                earlier = state.last.look if state.last else None
                return self.looked_at(problem, found, state.seed, earlier)
            return found
        elements = Elements.build(problem, check_mesh(problem.domain, basis_of(state)))
        seen = check_by_elements(problem, approximation, elements)
        if seen.estimate.value <= state.tol:
            # A mesh like the kernels may miss what they have missed, and discovery has found.
            graded = Elements.build(problem, state.found.elements.mesh)
            other = check_by_elements(problem, approximation, graded)
            seen = max(seen, other, key=lambda a: a.estimate.value)
        return doubted(state, seen)

    def _needs_a_look(self, state: SpaceState, found: SpaceAssessment) -> bool:
        """Tell whether other weights of the rows are asked: they cost as much as the solve."""
        if state.last is None or len(state.tried) < LOOKED:
            return True
        # Widths are chosen by it: the change from one to the other ranks neither.
        widths = found.approximation.kernels == state.last.approximation.kernels
        # Growth that brings nothing may be a mode that only now is resolved, and is free.
        return widths or state.idle % 2 == 1 or found.estimate.value <= state.tol

    def looked_at(
        self, problem: Problem, found: SpaceAssessment, seed: int, before: SecondLook | None = None
    ) -> SpaceAssessment:
        """Return an assessment by comparison with what other weights of the rows say of it."""
        approximation = found.approximation
        basis = next(iter(approximation.bases.values()))
        assert isinstance(basis, TensorBasis)
        system, _ = product_system(problem, approximation.bases, basis, seed)
        points = np.concatenate([found.points, points_like_kernels(problem, approximation, seed)])
        look = second_look(problem, system, self.leastsquares, approximation, points, seed)
        return confirmed(found, look, before)

    def observe(self, state: SpaceState, assessment: SpaceAssessment) -> SpaceState:
        """Return what to try next, or why to stop."""
        settled = _settled(state, assessment)
        state = _noted(state, assessment)
        assert state.best is not None
        if state.missing is not None:
            return replace(state, finished=state.missing)
        if many := many_solutions(assessment):
            return replace(state, finished=many)
        if len(state.tried) > 1:
            if singular := near_singular(assessment.amplified):
                return replace(state, finished=singular)
            if settled and state.answer.estimate.value <= state.tol:
                return replace(state, finished=Outcome(OutcomeKind.CONVERGED, _reached(state)))
        if state.found and settled and state.answer.estimate.value <= state.tol:
            return replace(state, trial=smaller(state.trial))
        if state.pending:
            return replace(state, trial=state.pending[0], pending=state.pending[1:])
        if _stalled(state):
            return self._ended(state, _floor(state))
        return self._next(state) or self._ended(state)

    def _ended(self, state: SpaceState, stalled: Outcome | None = None) -> SpaceState:
        """Return the end short of the tolerance, with an estimate as good as any."""
        assert state.best is not None
        trial, answer = state.best
        if state.found is None and answer.look is None:
            answer = self.looked_at(state.problem, answer, state.seed)
            state = replace(state, best=(trial, answer))
            if many := many_solutions(answer):
                return replace(state, finished=many)
        ended = at_a_corner(state, _reached(state)) or stalled
        if ended is None:
            usual = type(self).max_kernels
            allowed = Allowance(state.tol, self.max_kernels, usual, state.problem.domain.dimension)
            ended = short_of_kernels(
                _reached(state), answer.estimate.value, state.tried, allowed, answer.roughest
            )
        return replace(state, finished=ended)

    def _next(self, state: SpaceState) -> SpaceState | None:
        """Return the state with the next trial; None if more kernels are not allowed."""
        assert state.best is not None
        best = state.best[0]
        if len(state.tried) > 1 and not state.tuned and state.mixture is not None:
            return _tuning(state, best)
        pairs = zip(state.trial.functions, best.functions, strict=True)
        larger = self._within(state.problem, grown(state), tuple(max(pair) for pair in pairs))
        if larger is None:
            return None
        # Compared is with what it grew from, not with the last of other widths.
        last = state.last if state.found else largest(state)[1]
        return replace(state, trial=larger, last=last)

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
    if best is None or compared or assessment.rank < best[1].rank:
        best = (state.trial, assessment)
    return replace(
        state,
        best=best,
        last=assessment,
        idle=idle,
        tried=(
            *state.tried,
            Solved(assessment.approximation.kernels, assessment.estimate.value),
        ),
    )


def _settled(state: SpaceState, assessment: SpaceAssessment) -> bool:
    """Tell whether a suspect problem is as far from a singular one as it was found before.

    At a resonance kernels shift the eigenvalue too, less with each solve.
    """
    if not state.suspect or state.last is None:
        return True
    return 0.5 < assessment.amplified / max(state.last.amplified, 1e-300) < 2.0


def _reached(state: SpaceState) -> str:
    assert state.best is not None
    value, trial = state.answer.estimate.value, state.best[0]
    counts = " x ".join(str(k) for k in trial.functions)
    reached = f"Estimate {value:.1e} with {counts} functions along the axes."
    return " ".join([reached, *_grounds(state.answer)])


def _grounds(answer: SpaceAssessment) -> list[str]:
    """Return in words what an estimate without an error equation rests on."""
    if not answer.rests_on:
        return []
    said = [f"It rests on comparisons: {answer.rests_on}."]
    if math.isinf(answer.doubt):
        said.append(
            "But the residual does not fall as functions are added: there is something, a corner "
            "or a layer, that they do not resolve."
        )
    return said


def _stalled(state: SpaceState) -> bool:
    """Tell whether there is a floor: an estimate already small that growth does not lower."""
    return state.idle >= PATIENCE and state.answer.estimate.value < FLOOR


def _floor(state: SpaceState) -> Outcome:
    """Return the end at a floor, from what the last functions carry beside the largest weight."""
    approximation, share = state.answer.approximation, 1.0
    if all(isinstance(b, TensorBasis) for b in approximation.bases.values()):
        share = max(float(p[-LAST:].max() / p.max()) for p in profiles(approximation))
    return floor(_reached(state), state.answer.estimate.value, state.tried, share)
