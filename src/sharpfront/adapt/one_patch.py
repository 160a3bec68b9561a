"""One patch over the whole domain, for what many patches do not take: four dimensions and more.

Functions are products of Legendre polynomials over the bounding box up to a joint degree, rows
stand at points spread over the domain and its boundary, and the degree rises until the solution no
longer moves, neither with the degree nor with other weights of the rows. Nothing is graded: layers
and corners end at the most functions, and are told.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np

from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.adapt.settings import ONE_PATCH
from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import gauss, product_points, product_weights
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.total_degree import products
from sharpfront.budget import Budget
from sharpfront.equation.graph import derivatives_in
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import Outcome, OutcomeKind, ProblemError
from sharpfront.estimate import Assessment, assess
from sharpfront.kernels.assemble import Block, LinearSystem, RowSet, assemble, form_matrix
from sharpfront.kernels.basis import Basis
from sharpfront.leastsquares import Blocked, LeastSquares
from sharpfront.maps import AxisMap
from sharpfront.mixture import Mixture
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.problem import IntegralCondition, PointCondition, Problem
from sharpfront.rounding import ROUNDED
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.solution.field import Estimate
from sharpfront.trust.advice import Allowance, Solved, floor, short_of_kernels
from sharpfront.trust.corners import contradicting_sides
from sharpfront.trust.settings import TRUST
from sharpfront.trust.underdetermined import left_free

_OF_ONE_PATCH = (
    "the larger of two: the change from the solution with fewer functions along every axis, and "
    "twice the change if equations weigh a hundred times more against conditions; relative to "
    "max(1, max|u|)"
)


@dataclass(frozen=True, eq=False)
class OnePatchAssessment(Assessment):
    """An assessment with what its estimate was made of."""

    moved: float  # the change from the solution before, infinite without one
    reweighed: float  # the change with other weights of the rows
    amplified: float  # what noise of size one in the rows grows to

    @property
    def rank(self) -> tuple[bool, float]:
        """Smaller is better: nothing is an answer before it was compared with something."""
        return math.isinf(self.moved), self.estimate.value


@dataclass(frozen=True, eq=False)
class OnePatchState:
    """Where the adaptation stands."""

    # What is solved, how well, and the seed.
    problem: Problem
    tol: float
    seed: int
    functions: int  # along every axis of the next patch
    missing: Outcome | None = None  # what the problem lacks, if that is plain from its statement
    best: OnePatchAssessment | None = None  # the assessment with the smallest estimate
    last: OnePatchAssessment | None = None  # the assessment before
    idle: int = 0  # solves in a row that did not lower the estimate
    tried: tuple[Solved, ...] = ()  # functions and estimate of each solve
    finished: Outcome | None = None  # why it ended

    @property
    def mixture(self) -> Mixture | None:
        """None: nothing is graded."""
        return None

    @property
    def answer(self) -> OnePatchAssessment:
        """The assessment with the smallest estimate."""
        assert self.best is not None
        return self.best

    @property
    def basis(self) -> PatchworkBasis:
        """The functions of the next solve."""
        bounds = self.problem.domain.bounds.T.tolist()
        maps = tuple(AxisMap(low, high) for low, high in bounds)
        return PatchworkBasis((Patch(maps, (self.functions,) * len(maps)),))

    def again(self, problem: Problem, tol: float) -> OnePatchState:
        """Return the state before the first solve of another problem with the same functions."""
        return OnePatchState(problem, tol, self.seed, self.functions)


@dataclass(frozen=True)
class OnePatch:
    """Polynomials over the whole domain, fitted at points of it."""

    max_kernels: int = 4000  # the most functions of all unknowns together
    # The method for the dense systems.
    leastsquares: LeastSquares = field(default_factory=Blocked)

    def start(self, problem: Problem, tol: float, seed: int) -> OnePatchState:
        """Return the state before the first solve."""
        leaves = (leaf for e in problem.equations for leaf in derivatives_in(e))
        first = ONE_PATCH.first + max((sum(leaf.orders) for leaf in leaves), default=0)
        state = OnePatchState(problem, tol, seed, first)
        Budget(self.max_kernels).kernels(self.max_kernels, _count(state))
        return replace(state, missing=left_free(problem) or contradicting_sides(problem, tol))

    def propose(self, state: OnePatchState) -> Proposal:
        """Return the functions and their rows."""
        bases = dict.fromkeys(state.problem.unknowns, state.basis)
        return Proposal(bases, *_unit_rows(state, bases))

    def assess(self, state: OnePatchState, approximation: Approximation) -> OnePatchAssessment:
        """Return how far the solution is from those before and in another norm."""
        found = assess(state.problem, approximation, state.seed)
        other, noise = self._in_another_norm(state, approximation.bases)
        moved = math.inf
        if state.last is not None:
            moved = _change(state.problem, approximation, state.last.approximation, found.points)
        reweighed = _change(state.problem, approximation, other, found.points)
        zero = (0,) * found.points.shape[1]
        grown = max(float(np.abs(noise.values(u, found.points, zero)).max()) for u in noise.bases)
        words = {f.name: getattr(found, f.name) for f in fields(found)}
        words["estimate"] = Estimate(
            max(moved, ONE_PATCH.heavier_change * reweighed), _OF_ONE_PATCH
        )
        return OnePatchAssessment(**words, moved=moved, reweighed=reweighed, amplified=grown)

    def _in_another_norm(
        self, state: OnePatchState, bases: Mapping[str, Basis]
    ) -> tuple[Approximation, Approximation]:
        """Return the solution if equations weigh more, and the answer to noise in its rows."""
        system, _ = _unit_rows(state, bases)
        heavy = [
            replace(b, weight=(SETTINGS.heavier if b.label == "equation" else 1.0) * b.weight)
            for b in system.blocks
        ]
        factors = self.leastsquares.factor(replace(system, blocks=tuple(heavy)))
        noise = np.random.default_rng(state.seed).standard_normal(len(system.rhs))
        own, probe = (
            Approximation(
                state.problem.coordinates,
                bases,
                split_weights(self.leastsquares.solve(factors, rhs)[0], bases),
            )
            for rhs in (system.rhs, noise)
        )
        return own, probe

    def observe(self, state: OnePatchState, assessment: OnePatchAssessment) -> OnePatchState:
        """Return what to try next, or why to stop."""
        best, value = state.best, assessment.estimate.value
        leads_on = best is None or value < SETTINGS.progress * best.estimate.value
        idle = 0 if leads_on else state.idle + 1
        if best is None or assessment.rank < best.rank:
            best = assessment
        kernels = assessment.approximation.kernels
        tried = (*state.tried, Solved(kernels, value))
        state = replace(state, best=best, last=assessment, idle=idle, tried=tried)
        if state.missing is not None:
            return replace(state, finished=state.missing)
        reached = _words(state.answer)
        if assessment.amplified > TRUST.amplified:
            return replace(state, finished=Outcome(OutcomeKind.NEAR_SINGULAR, reached))
        if state.answer.estimate.value <= state.tol:
            return replace(state, finished=Outcome(OutcomeKind.CONVERGED, reached))
        if idle >= ONE_PATCH.idle_solves and state.answer.estimate.value < ADAPT.may_be_rounding:
            share = state.answer.estimate.value
            return replace(state, finished=floor(reached, share, tried, share))
        larger = replace(state, functions=state.functions + max(1, state.functions // 6))
        if _count(larger) > self.max_kernels:
            return replace(state, finished=self._short(state, reached))
        return larger

    def _short(self, state: OnePatchState, reached: str) -> Outcome:
        dimension = state.problem.domain.dimension
        allowed = Allowance(state.tol, self.max_kernels, type(self).max_kernels, dimension)
        value, place = state.answer.estimate.value, state.answer.roughest
        return short_of_kernels(reached, value, state.tried, allowed, place)


def _count(state: OnePatchState) -> int:
    """Return the functions of all unknowns together."""
    return len(state.problem.unknowns) * state.basis.size


def _words(answer: OnePatchAssessment) -> str:
    basis = next(iter(answer.approximation.bases.values()))
    assert isinstance(basis, PatchworkBasis)
    degree = basis.patches[0].functions[0] - 1
    return (
        f"Estimate {answer.estimate.value:.1e} with polynomials up to degree {degree}: the last "
        f"degrees change it by {answer.moved:.1e}, other weights of the rows by "
        f"{answer.reweighed:.1e}."
    )


def _change(
    problem: Problem, one: Approximation, other: Approximation, inside: FloatArray
) -> float:
    """Return the largest change of any unknown, relative to max(1, its size)."""
    rim = [problem.domain.boundary(part, 200).points for part in problem.domain.parts]
    points = np.concatenate([inside, *rim])
    zero, changes = (0,) * points.shape[1], []
    for unknown in problem.unknowns:
        new, old = (a.values(unknown, points, zero) for a in (one, other))
        size = max(1.0, float(np.max(np.abs(new))))
        changes.append(float(np.max(np.abs(new - old))) / size)
    return max(changes)


def _unit_rows(
    state: OnePatchState, bases: Mapping[str, Basis]
) -> tuple[LinearSystem, tuple[RowSet, ...]]:
    """Return the rows of a problem on one patch, each divided by its norm."""
    problem, seed, domain = state.problem, state.seed, state.problem.domain
    size, d = state.basis.size, domain.dimension
    inside = domain.sample(math.ceil(ONE_PATCH.rows_inside * size), "quasi", seed)
    rows = [RowSet("equation", problem.forms, inside)]
    # As many as the sides of a box have, shared among the parts there are.
    every = ONE_PATCH.rows_beside * 2 * d * products((state.functions,) * (d - 1), True).shape[1]
    for condition in problem.conditions:
        face = domain.boundary(condition.part, math.ceil(every / len(domain.parts)), seed)
        rows.append(
            RowSet(condition.part, condition.forms, face.points, face.normals, ONE_PATCH.weight)
        )
    # A condition at a point must stand against all rows of the equation.
    single = ONE_PATCH.weight * math.sqrt(size)
    for further in problem.further:
        if isinstance(further, PointCondition):
            rows.append(RowSet("at", further.forms, np.array([further.point]), None, single))
    blocks = list(assemble(rows, bases, problem.coordinates).blocks)
    blocks += [*_seams(problem, bases, math.ceil(every / (2 * d)), seed)]
    blocks += [_integral(c, problem, bases, single) for c in _integrals(problem)]
    return LinearSystem(tuple(blocks)).with_unit_rows(ROUNDED), tuple(rows)


def _seams(problem: Problem, bases: Mapping[str, Basis], count: int, seed: int) -> list[Block]:
    """Return rows that join the ends of periodic axes: u and its derivatives go on."""
    highest = dict.fromkeys(problem.unknowns, 1)
    for leaf in itertools.chain.from_iterable(map(derivatives_in, problem.equations)):
        highest[leaf.unknown] = max(highest[leaf.unknown], *leaf.orders)
    blocks = []
    for axis in np.flatnonzero(problem.domain.periodic_axes):
        ends = [problem.domain.sample(count, "quasi", seed) for _ in range(2)]
        for points, place in zip(ends, problem.domain.bounds[:, axis], strict=True):
            points[:, axis] = place
        for unknown, order in ((u, k) for u, n in highest.items() for k in range(n)):
            orders = tuple(order if a == axis else 0 for a in range(problem.domain.dimension))
            parts = [
                float(name == unknown) * (b.matrix(ends[0], orders) - b.matrix(ends[1], orders))
                for name, b in bases.items()
            ]
            blocks.append(Block("seam", np.hstack(parts), np.zeros(count), ONE_PATCH.weight))
    return blocks


def _integrals(problem: Problem) -> list[IntegralCondition]:
    stated = [c for c in problem.further if isinstance(c, IntegralCondition)]
    if stated and not problem.domain.is_box:
        raise ProblemError(
            "Integral conditions are taken on boxes and on regions of the plane; on other shapes "
            "fix the solution by a condition at a point, sf.at((x, y, z), ...)."
        )
    return stated


def _integral(
    condition: IntegralCondition, problem: Problem, bases: Mapping[str, Basis], weight: float
) -> Block:
    """Return the rows of a condition on an integral over a box, by Gauss's rule."""
    low, high = problem.domain.bounds
    along = int(ONE_PATCH.quadrature ** (1.0 / len(low)))
    z = gauss(along)[0]
    ends = zip(low, high, strict=True)
    points = product_points([0.5 * (a * (1 - z) + b * (1 + z)) for a, b in ends])
    volumes = product_weights((along,) * len(low)) * float(np.prod(high - low))
    rows, rhs = [], []
    for form in condition.forms:
        row, source = np.zeros(sum(b.size for b in bases.values())), 0.0
        for some in np.array_split(np.arange(len(points)), max(1, len(points) // 2000)):
            leaves = environment(problem.coordinates, points[some])
            coefficients, own = form_values(form, leaves, len(some), "integral")
            weighed = [volumes[some] * c for c in coefficients]
            row += form_matrix(form, weighed, points[some], bases).sum(axis=0)
            source += float(volumes[some] @ own)
        rows.append(row)
        rhs.append(condition.equals - source)
    return Block("integral", np.array(rows), np.array(rhs), weight)
