"""The default adaptor in two and three dimensions: products of kernels in mixtures' coordinates.

1. Elements find where the solution varies fast along each axis, before anything is resolved.
2. Each axis gets a mixture and its coordinate; kernels are products, even in the coordinates.
3. The error equation, on a mesh three times finer, says how large the error is. While it is above
   the tolerance, the axes whose last functions still carry weight get more of them, and the
   mixtures' widths are tried smaller and larger.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, field, fields, replace

import numpy as np

from sharpfront.adapt.alone import system_mixtures
from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.embedded import (
    FIRST,
    GROWTH,
    FrontTrial,
    embedded_proposal,
    even_mesh,
    front_elements,
    fronts_allowed,
    look_for_fronts,
)
from sharpfront.adapt.fronts import Found
from sharpfront.adapt.marginals import Marginals, discover
from sharpfront.adapt.product_rows import Nudge, product_system
from sharpfront.approximation import Approximation
from sharpfront.arrays import Host
from sharpfront.equation.expression import Derivative
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind, ProblemError
from sharpfront.estimate import Assessment
from sharpfront.estimate.check import change, check_by_comparison, check_by_elements, check_mesh
from sharpfront.estimate.elements import Elements, can_be_built
from sharpfront.estimate.weak import UnsuitableError
from sharpfront.leastsquares import Householder, LeastSquares
from sharpfront.mixture import Mixture
from sharpfront.pieces import coordinate
from sharpfront.pieces.tensor import TensorBasis, axis_of_size, product_count
from sharpfront.problem import Condition, Problem
from sharpfront.solution import Estimate

# Functions along an axis at the start, by dimension: without and with a mixture.
START = {1: (24, 40), 2: (14, 20), 3: (8, 12)}
MANY = (5, 5)
# Weight of a nudge by the root of the tolerance: what it moves a solution by is the square of its
# weight over that of the weakest mode. The first solves are nudged; the answer is not one of them.
NUDGE, NUDGED = 1e-3, 2
# An unknown that comes this close to what it is nudged to is not determined by the problem.
TAKEN = 1e-3
# Fronts are followed while their estimate is below this many times that of products.
WORTH = 3.0
# Where elements jump by less than this from node to node, layers lie along the axes: try widths
# before looking for fronts.
RESOLVED = 0.15
# No forecast of the functions along an axis goes further than this.
MANY_MORE = 20
# Factors on the deviations of the mixtures that are tried, once the first growth is done.
SCALES = (0.6, 1.6)
# An axis grows if its last functions carry this share of what the worst axis' carry.
SHARE = 0.1
# How many functions count as the last ones: odd and even ones may differ.
LAST = 4
# Growth of an axis from one solve to the next.
LEAST_GROWTH, MOST_GROWTH = 1.12, 1.6
# What is aimed at when an axis grows, beside the tolerance.
AIM = 0.3
# If so many growths in a row do not bring the estimate below this share of the best, while it is
# small, it has stalled.
PROGRESS, PATIENCE, FLOOR = 0.7, 2, 1e-6
# A change from the last solution larger than this many estimates calls them into question.
SURPRISE = 2.0
# Comparison of solutions counts on no faster convergence than this from one to the next.
LEAST_RATIO = 0.1
# Below this many squared cell sizes a problem on a mesh cannot be told from a singular one.
SINGULAR = 5.0
_COMPARED = 3000


@dataclass(frozen=True, eq=False)
class Trial:
    """What is solved: functions along each axis, and a factor on the mixtures' deviations."""

    functions: tuple[int, ...]
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class SpaceAssessment(Assessment):
    """An assessment with what its estimate was made of.

    Parameters
    ----------
    raw
        The error equation's answer, or the change from the solution before.
    doubt
        Factor on it, from solutions that changed by more than their estimates said.
    undetermined
        An unknown that the problem does not determine, where that is checked by a nudge.
    """

    raw: float
    doubt: float
    undetermined: str


@dataclass(frozen=True, eq=False)
class SpaceState:
    """Where the adaptation stands.

    Parameters
    ----------
    problem, tol, seed
        What is solved, how well, and the seed.
    found
        What elements found; None where they cannot be built.
    mixtures
        Along each axis; None where nothing is narrow.
    regular
        Whether the problem has one solution, as far as elements can tell.
    trial, pending
        What is proposed next, and what is to be tried after it at the same size.
    tuned
        Whether the mixtures' widths have been tried.
    missing
        What the problem lacks, if that is plain from its statement.
    looked, fronts
        Whether fronts across the axes have been looked for, and what was found.
    best
        The trial and assessment with the smallest estimate.
    last
        The assessment before, to compare with.
    idle
        Growths in a row that did not lower the estimate.
    estimates
        Of each solve.
    finished
        Why it ended.
    """

    problem: Problem
    tol: float
    seed: int
    found: Marginals | None
    mixtures: tuple[Mixture | None, ...]
    regular: bool
    trial: Trial | FrontTrial
    pending: tuple[Trial, ...] = ()
    tuned: bool = False
    missing: Outcome | None = None
    looked: bool = False
    fronts: Found | None = None
    best: tuple[Trial | FrontTrial, SpaceAssessment] | None = None
    last: SpaceAssessment | None = None
    idle: int = 0
    estimates: tuple[float, ...] = ()
    finished: Outcome | None = None

    @property
    def mixture(self) -> Mixture | None:
        """The mixture of the fronts, or the axes' mixtures as one in space."""
        if isinstance(self.trial, FrontTrial):
            return self.fronts.mixture if self.fronts else None
        return in_space(self.mixtures, self.problem.domain.bounds, self.trial.scale)

    @property
    def answer(self) -> SpaceAssessment:
        """The assessment with the smallest estimate."""
        assert self.best is not None
        return self.best[1]


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

    def start(self, problem: Problem, tol: float, seed: int) -> SpaceState:
        """Return the state after discovery, before the first solve."""
        d = problem.domain.dimension
        found, regular, finished = None, True, None
        try:
            found = discover(problem, self.components)
            cells = len(found.elements.mesh.points) ** (1 / d)
            regular = found.elements.singular_measure() > SINGULAR / cells**2
        except UnsuitableError:
            finished = _bare(problem)
        except LinearSystemError:
            regular = False
        mixtures = found.mixtures if found else (None,) * d
        if len(problem.unknowns) > 1:
            mixtures = system_mixtures(problem, self.components)
        narrow = [m is not None for m in mixtures]
        trial = Trial(tuple(START.get(d, MANY)[n] for n in narrow))
        least = (4,) * d
        needed = len(problem.unknowns) * product_count(least)
        if self.max_kernels < needed:
            raise ProblemError(
                f"max_kernels is {self.max_kernels}; this problem needs {needed} to begin with."
            )
        fitted = self._within(problem, trial, least) or Trial(least)
        return SpaceState(problem, tol, seed, found, mixtures, regular, fitted, missing=finished)

    def propose(self, state: SpaceState) -> Proposal:
        """Return kernels and rows of the state's trial."""
        if isinstance(state.trial, FrontTrial):
            assert state.fronts is not None
            return embedded_proposal(state.problem, state.fronts, state.trial.count, state.seed)
        basis = _basis(state)
        bases = dict.fromkeys(state.problem.unknowns, basis)
        system, rows = product_system(state.problem, bases, basis, state.seed, _nudge(state))
        return Proposal(bases, system, rows)

    def assess(self, state: SpaceState, approximation: Approximation) -> SpaceAssessment:
        """Return the assessment by the error equation, or by comparison where it cannot be."""
        problem, last = state.problem, state.last
        if state.found is None:
            before = last.approximation if last else None
            compared = check_by_comparison(problem, approximation, before, state.seed)
            return _extrapolated(state, compared, self._undetermined(state, approximation))
        if isinstance(state.trial, FrontTrial):
            even = check_by_elements(
                problem, approximation, front_elements(problem, state.trial.count)
            )
            # An even mesh may miss what the mesh of discovery has found.
            graded = Elements.build(problem, state.found.elements.mesh)
            other = check_by_elements(problem, approximation, graded)
            return _doubted(state, max(even, other, key=lambda a: a.estimate.value))
        elements = Elements.build(problem, check_mesh(problem.domain, _basis(state)))
        return _doubted(state, check_by_elements(problem, approximation, elements))

    @staticmethod
    def _undetermined(state: SpaceState, approximation: Approximation) -> str:
        """Return the name of an unknown that takes whatever value it is nudged to, if any."""
        nudge = _nudge(state)
        if nudge is None:
            return ""
        zero = (0,) * len(nudge.point)
        for unknown in state.problem.unknowns:
            found = float(approximation.values(unknown, nudge.point[None], zero)[0])
            if abs(found - nudge.value) < TAKEN * abs(nudge.value):
                return unknown
        return ""

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
            return replace(state, trial=_smaller(state.trial))
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
        grown = self._within(state.problem, _grown(state), tuple(max(pair) for pair in pairs))
        return None if grown is None else replace(state, trial=grown)

    def _beyond(self, state: SpaceState) -> bool:
        """Tell whether products would need more functions than allowed to reach the tolerance."""
        if state.found is None or state.found.spikes or not fronts_allowed(state.problem):
            return False
        return product_count(_wanted(state)) > self.max_kernels

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


def _bare(problem: Problem) -> Outcome | None:
    """Return what is wrong where an elliptic equation has a boundary without a condition."""
    held = {condition.part for condition in problem.conditions}
    bare = [part for part in problem.domain.parts if part not in held]
    if not bare or len(problem.unknowns) > 1 or problem.domain.dimension not in (2, 3):
        return None
    held_all = copy(problem)
    (name,) = problem.unknowns
    value = Derivative(name, problem.coordinates, (0,) * len(problem.coordinates))
    held_all.conditions = tuple(Condition((value,), part) for part in problem.domain.parts)
    held_all.further = ()
    if not can_be_built(held_all, even_mesh(problem.domain, 400)):
        return None
    return Outcome(
        OutcomeKind.ILL_POSED,
        f"The equation is elliptic and there is no condition on {', '.join(bare)}.",
    )


def _tuning(state: SpaceState, best: Trial) -> SpaceState:
    """Return the state that tries other widths of the mixtures."""
    trials = tuple(replace(best, scale=s) for s in SCALES)
    return replace(state, tuned=True, trial=trials[0], pending=trials[1:])


def in_space(
    mixtures: tuple[Mixture | None, ...], bounds: Host, scale: float = 1.0
) -> Mixture | None:
    """Return mixtures along the axes as one in space: each component fills the other axes."""
    low, high = bounds
    weights, means, covariances = [], [], []
    for i, mixture in enumerate(mixtures):
        if mixture is None:
            continue
        for w, m, c in zip(mixture.weights, mixture.means, mixture.covariances, strict=True):
            mean, variance = 0.5 * (low + high), (high - low) ** 2 / 12.0
            mean[i], variance[i] = m[0], scale**2 * c[0, 0]
            weights.append(w)
            means.append(mean)
            covariances.append(np.diag(variance))
    if not weights:
        return None
    share = np.array(weights) / np.sum(weights)
    return Mixture(share, np.array(means), np.array(covariances))


def _basis(state: SpaceState) -> TensorBasis:
    assert isinstance(state.trial, Trial)
    bounds = state.problem.domain.bounds.T
    axes = []
    for (low, high), mixture, count in zip(
        bounds, state.mixtures, state.trial.functions, strict=True
    ):
        scaled = mixture and Mixture(
            mixture.weights, mixture.means, state.trial.scale**2 * mixture.covariances
        )
        axes.append(axis_of_size(coordinate(float(low), float(high), scaled), count))
    return TensorBasis(tuple(axes))


def _noted(state: SpaceState, assessment: SpaceAssessment) -> SpaceState:
    """Return the state with an assessment counted in."""
    best, idle = state.best, state.idle
    if best is not None and _work(state.trial) > _work(best[0]):
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


def _work(trial: Trial | FrontTrial) -> int:
    """Return a number that grows with the size of a trial, larger for fronts than for products."""
    if isinstance(trial, FrontTrial):
        return 10**12 + trial.count
    return math.prod(trial.functions)


def _doubted(state: SpaceState, found: Assessment) -> SpaceAssessment:
    """Call the estimate into question by how far the solution moved from the last one."""
    value, doubt = found.estimate.value, 1.0
    if state.last is not None:
        step = max(1, len(found.points) // _COMPARED)
        new, old = found.approximation, state.last.approximation
        moved = change(state.problem, new, old, found.points[::step])
        expected = value + state.last.raw
        if moved > SURPRISE * expected:
            doubt = moved / expected
    return _as_space(found, doubt * value, value, doubt)


def _extrapolated(state: SpaceState, found: Assessment, undetermined: str) -> SpaceAssessment:
    """Take the estimate by comparison down by as much as it fell from the last one."""
    value = found.estimate.value
    if state.last is None:
        return _as_space(found, value, math.inf, 1.0, undetermined)
    return _as_space(found, extrapolated(state.last.raw, value), value, 1.0, undetermined)


def _nudge(state: SpaceState) -> Nudge | None:
    """Return what an unknown is asked to be at a point, another value for each solve."""
    if state.found is not None or len(state.estimates) >= NUDGED:
        return None
    point = state.problem.domain.sample(1, "random", state.seed)[0]
    return Nudge(point, math.pi * (1 + len(state.estimates)), NUDGE * math.sqrt(state.tol))


def _as_space(
    found: Assessment, value: float, raw: float, doubt: float, undetermined: str = ""
) -> SpaceAssessment:
    words = {f.name: getattr(found, f.name) for f in fields(found)}
    words["estimate"] = Estimate(value, found.estimate.meaning)
    return SpaceAssessment(**words, raw=raw, doubt=doubt, undetermined=undetermined)


def extrapolated(before: float, change: float) -> float:
    """Return the error of a solution from the last two changes that led to it.

    The last change is the error of the solution before. This one's is smaller as that change was
    smaller than the one before it, but what is taken from that is limited, and three times it is
    said.
    """
    if not 0 < change < before < math.inf:
        return change
    return change * min(1.0, 3.0 * max(change / before, LEAST_RATIO))


def _verdict(state: SpaceState) -> Outcome:
    if state.regular:
        return Outcome(OutcomeKind.CONVERGED, _reached(state))
    return Outcome(
        OutcomeKind.NEAR_SINGULAR,
        f"{_reached(state)} But on its mesh the problem cannot be told from one with many "
        "solutions.",
    )


def _smaller(trial: Trial | FrontTrial) -> Trial:
    """Return a cheaper trial, to see whether the estimate of a first solve tells the truth."""
    assert isinstance(trial, Trial)
    return replace(trial, functions=tuple(max(4, round(0.75 * k)) for k in trial.functions))


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


def _grown(state: SpaceState) -> Trial:
    """Return the trial with more functions along the axes whose last ones still matter."""
    trial, _ = _largest(state)
    wanted = _wanted(state)
    functions = []
    for count, more in zip(trial.functions, wanted, strict=True):
        most = MOST_GROWTH * count if len(wanted) <= 3 else count + 2
        least = LEAST_GROWTH * count + 1
        functions.append(count if more == count else math.ceil(min(max(least, more), most)))
    return replace(trial, functions=tuple(functions))


def _largest(state: SpaceState) -> tuple[Trial, SpaceAssessment]:
    """Return the best trial of products with its assessment, or the last one if it was larger."""
    assert state.best is not None and state.last is not None
    best, last = state.best, (state.trial, state.last)
    assert isinstance(best[0], Trial) and isinstance(last[0], Trial)
    larger = math.prod(last[0].functions) > math.prod(best[0].functions)
    return (last[0], last[1]) if larger else (best[0], best[1])


def _wanted(state: SpaceState) -> tuple[int, ...]:
    """Return how many functions along each axis would reach the tolerance.

    Weights fall geometrically with the number of the function, if they fall at all.
    """
    trial, assessment = _largest(state)
    wanted = math.log(AIM * state.tol / max(assessment.estimate.value, 1e-300))
    profiles = _profiles(assessment.approximation)
    tails = [float(p[-LAST:].max()) for p in profiles]
    functions = []
    for profile, tail, count in zip(profiles, tails, trial.functions, strict=True):
        half = len(profile) // 2
        middle = float(profile[half - LAST // 2 : half + LAST // 2].max())
        rate = math.log(max(min(tail / max(middle, 1e-300), 0.9), 1e-300)) / half
        grows = tail >= SHARE * max(tails)
        more = max(count + 1, min(math.ceil(count + wanted / rate), MANY_MORE * count))
        functions.append(more if grows else count)
    return tuple(functions)


def _profiles(approximation: Approximation) -> list[Host]:
    """Return the largest weight of each function along each axis, over all unknowns."""
    parts = []
    for unknown, basis in approximation.bases.items():
        assert isinstance(basis, TensorBasis)
        size = np.abs(basis.block(approximation.weights[unknown]))
        axes = range(basis.dimension)
        parts.append([size.max(axis=tuple(j for j in axes if j != i)) for i in axes])
    return [np.max(np.stack(same), axis=0) for same in zip(*parts, strict=True)]
