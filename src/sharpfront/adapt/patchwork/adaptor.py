"""The adaptor on patches, for linear problems on domains that boxes tile.

1. Edges of the data, layers and waves of the operator, and sources decide the first patches.
2. Patches whose weights fall too slowly get more functions, or are split where no number of
   functions would do; towards corners several times at once.
3. Once all weights are small enough the solution is compared with a richer one and with one in
   another norm. While that estimate is above the tolerance, weights are asked to be smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sharpfront.adapt.advice import Allowance, Solved, floor, short_of_kernels, unlowered
from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.corners import contradiction
from sharpfront.adapt.embedded import even_mesh
from sharpfront.adapt.freedom import left_free
from sharpfront.adapt.patchwork.certify import MEANING, Certificate, Certifier, compared_points
from sharpfront.adapt.patchwork.refine import Cell, Limits, functions_of, refined, richer
from sharpfront.adapt.patchwork.settings import PatchSettings
from sharpfront.adapt.patchwork.start import first_cells, has_edges, wave_numbers
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.adapt.patchwork.tails import Tails, tails_of
from sharpfront.adapt.patchwork.tiling import Tiling, tiling_of
from sharpfront.adapt.questions import left_open
from sharpfront.approximation import Approximation
from sharpfront.bases.patch import product_points
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.budget import Budget
from sharpfront.errors import LinearSystemError, Outcome, OutcomeKind, ProblemError
from sharpfront.estimate import Assessment
from sharpfront.estimate.elements import Elements
from sharpfront.estimate.weak import UnsuitableError
from sharpfront.geometry import Box, Interval
from sharpfront.leastsquares.traces import Tree
from sharpfront.mixture import Mixture
from sharpfront.problem import Problem
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.solution import Estimate

# Positions on each axis of a patch at which the residual is looked at.
_CHECKED = np.array([-0.9, -0.4, 0.3, 0.8])
# Noise of size one that grows beyond this leaves the solution undetermined: 4e2 for waves, 2e6 and
# 7e7 for cantilevers 40 and 100 times as long as thick, beyond 1e10 on a resonance.
AMPLIFIED = 1e9
# So many estimates in a row that do not fall by this factor end the search.
PATIENCE, PROGRESS = 3, 0.7
# Below this an estimate that does not fall may be rounding, which its weights tell.
FLOOR = 1e-9
# No weights smaller than this share of the solution are asked for: they are rounding.
SMALLEST = 1e-14
# Functions along an axis with which a patch can still be judged by its weights.
FEWEST = 6
# Nodes of the mesh on which conditions are compared where they meet.
LOOKED = 400
# A tail that after so many cuts in a row towards one corner does not fall by this factor with each
# cut belongs to a jump: r^0.1, the strongest singularity of the published sets, falls by 0.93.
CUTS, FALLING = 8, 0.97
_JUMPS = (
    "The solution or its slopes jump there, and no number of patches resolves that. Let data that "
    "meet there agree, or lead one value to the other over a short stretch."
)

_UNBALANCED = (
    "No function satisfies the equations and all conditions: more functions leave as much of them, "
    "{:.1e}."
)
_BALANCE = "Where only slopes are given on the boundary, sources and slopes must balance."


@dataclass(frozen=True, eq=False)
class PatchAssessment(Assessment):
    """An assessment with how weights fall, and a certificate once they are small."""

    tails: Tails
    certificate: Certificate | None

    @property
    def roughest(self) -> tuple[float, ...]:
        """The middle of the patch whose weights fall least."""
        basis = next(iter(self.approximation.bases.values()))
        assert isinstance(basis, PatchworkBasis)
        patch = basis.patches[int(np.argmax(self.tails.tail.max(axis=1)))]
        return tuple(float(m.points(np.zeros(1))[0]) for m in patch.maps)


@dataclass(frozen=True, eq=False)
class PatchState:
    """Where the adaptation stands.

    Parameters
    ----------
    problem, tol, seed
        What is solved, how well, and the seed.
    tiling, rows, waves
        Its domain in boxes, its rows, and the wave numbers of its solutions.
    cells
        What is solved on next.
    aim
        What tails are to become.
    missing
        What the problem lacks, if that is plain from its statement.
    final
        Whether these cells are the last.
    stuck
        A place at which cuts do not help.
    best
        The assessment with the smallest certified estimate.
    idle
        Certified estimates in a row that brought nothing.
    tried
        Functions and estimate of each solve.
    finished
        Why it ended.
    """

    problem: Problem
    tol: float
    seed: int
    tiling: Tiling
    rows: PatchRows
    waves: tuple[float, ...]
    cells: tuple[Cell, ...]
    aim: float
    missing: Outcome | None = None
    final: bool = False
    stuck: tuple[float, ...] = ()
    best: PatchAssessment | None = None
    idle: int = 0
    tried: tuple[Solved, ...] = ()
    finished: Outcome | None = None

    @property
    def mixture(self) -> Mixture | None:
        """None: patches are placed by their own weights."""
        return None

    @property
    def answer(self) -> PatchAssessment:
        """The assessment with the smallest certified estimate."""
        assert self.best is not None
        return self.best


@dataclass(frozen=True, eq=False)
class Patches:
    """Local product bases on boxes, joined by traces, fitted by least squares along a tree.

    Parameters
    ----------
    max_kernels
        The most functions of all unknowns together.
    settings
        The constants of the adaptation.
    leastsquares
        The method.
    """

    max_kernels: int = 40_000
    settings: PatchSettings = field(default_factory=PatchSettings)
    leastsquares: Tree = field(default_factory=Tree)

    def start(self, problem: Problem, tol: float, seed: int) -> PatchState:
        """Return the state before the first solve."""
        Budget(self.max_kernels)
        tiling = tiling_of(problem.domain)
        if tiling is None or not suits(problem):
            raise ProblemError(
                "sf.Patches solves linear problems on boxes and on polygons with axis-parallel "
                "sides. Leave adaptor= out."
            )
        most = self.max_kernels // len(problem.unknowns)
        settings = self.settings
        waves = tuple(wave_numbers(problem, tiling))
        cells = first_cells(problem, tiling, settings, tol, most // 2, waves)
        while functions_of(cells) > most:
            settings = replace(settings, base=settings.base - 1)
            if settings.functions(tol) < FEWEST:
                needed = functions_of(cells) * len(problem.unknowns)
                Budget(self.max_kernels).kernels(self.max_kernels, needed)
            cells = first_cells(problem, tiling, settings, tol, most // 2, waves)
        rows = PatchRows(problem, seed)
        missing = left_open(problem) or left_free(problem) or _contradiction(problem, tol)
        return PatchState(
            problem, tol, seed, tiling, rows, waves, tuple(cells), tol, missing=missing
        )

    def propose(self, state: PatchState) -> Proposal:
        """Return the patches and their system."""
        patches = tuple(c.patch for c in state.cells)
        bases = dict.fromkeys(state.problem.unknowns, PatchworkBasis(patches))
        return Proposal(bases, patch_system(state.rows, state.tiling, patches))

    def assess(self, state: PatchState, approximation: Approximation) -> PatchAssessment:
        """Return how weights fall, with a certificate if they are small enough."""
        scales = _scales(approximation, state)
        tails = tails_of(approximation, scales, state.aim)
        certificate = None
        value = max(1.0, float(tails.tail.max()) / state.tol) * state.tol
        if state.final or not np.any(tails.tail > state.aim):
            certifier = self._certifier(state)
            certificate = certifier.certificate(
                state.cells, approximation, scales, tails, state.tol
            )
            value = certificate.value
        points = np.concatenate(
            [product_points([m.points(_CHECKED) for m in c.patch.maps]) for c in state.cells]
        )
        volumes = np.repeat(
            [np.prod(c.patch.sides) / len(_CHECKED) ** c.patch.dimension for c in state.cells],
            len(_CHECKED) ** state.cells[0].patch.dimension,
        )
        residual = np.abs(approximation.residuals(state.problem, points)).max(axis=0)
        return PatchAssessment(
            approximation,
            points,
            volumes,
            residual,
            _mismatch(state.problem, approximation) if certificate else math.nan,
            Estimate(value, MEANING),
            tails,
            certificate,
        )

    def observe(self, state: PatchState, assessment: PatchAssessment) -> PatchState:
        """Return what to try next, or why to stop."""
        if state.missing is not None:
            return replace(state, best=assessment, finished=state.missing)
        state = replace(state, tried=(*state.tried, _tail(assessment)))
        if assessment.certificate is None:
            return self._next(state, assessment, state.aim)
        state = _noted(state, assessment)
        found = state.answer
        assert found.certificate is not None
        reached = _reached(found)
        if found.certificate.amplification > AMPLIFIED:
            grown = f"{found.certificate.amplification:.0e}"
            detail = f"{reached} Noise of size one in its data grows to {grown}."
            return replace(state, finished=Outcome(OutcomeKind.NEAR_SINGULAR, detail))
        if found.estimate.value <= state.tol:
            return replace(state, finished=Outcome(OutcomeKind.CONVERGED, reached))
        if state.stuck:
            place = ", ".join(f"{c:.4g}" for c in state.stuck)
            detail = f"{reached} It does not settle at ({place}), however small the patches there."
            return replace(state, finished=Outcome(OutcomeKind.UNRESOLVED, detail, _JUMPS))
        if state.final or state.idle >= PATIENCE or state.aim <= SMALLEST:
            return replace(state, finished=self._ended(state, reached))
        certificate = assessment.certificate
        if certificate.vertices >= certificate.value:
            closer = self._certifier(state).closer(state.cells, certificate.vertices / state.tol)
            return self._within(state, closer, state.aim)
        aim = state.aim * min(0.3, max(0.01, 0.3 * state.tol / assessment.estimate.value))
        return self._next(state, assessment, max(aim, SMALLEST))

    def _ended(self, state: PatchState, reached: str) -> Outcome:
        """Return why it ended short of the tolerance, with what would help."""
        best, dimension = state.answer, state.problem.domain.dimension
        assert best.certificate is not None
        if not state.final and best.certificate.contradiction >= best.estimate.value:
            detail = f"{reached} {_UNBALANCED.format(best.certificate.contradiction)}"
            return Outcome(OutcomeKind.ILL_POSED, detail, _BALANCE)
        value, longest = best.estimate.value, _tail(best).estimate
        # Tails fall as estimates do, which are only taken of those that may be the last.
        share = max(1.0, value / max(longest, 1e-300))
        tried = [Solved(s.kernels, share * s.estimate) for s in state.tried]
        if state.final:
            allowed = Allowance(state.tol, self.max_kernels, type(self).max_kernels, dimension)
            return short_of_kernels(reached, value, tried, allowed, best.roughest)
        if value < FLOOR:
            return floor(reached, value, tried, longest)
        return unlowered(reached, value, tried, dimension, best.roughest)

    def _next(self, state: PatchState, assessment: PatchAssessment, aim: float) -> PatchState:
        """Return the state with the next cells."""
        stuck = _stuck(state, assessment.tails)
        if stuck:
            return replace(state, final=True, stuck=stuck)
        limits = Limits(self.settings.functions(state.tol), self.settings.most(state.tol))
        tails = assessment.tails
        if aim < state.aim:
            tails = tails_of(
                assessment.approximation, _scales(assessment.approximation, state), aim
            )
        cells, changed = refined(
            state.cells, tails, aim, self.settings.disturbed, limits, state.tiling.periods
        )
        if not changed:
            cells = richer(cells)
        return self._within(state, cells, aim)

    def _within(self, state: PatchState, cells: Sequence[Cell], aim: float) -> PatchState:
        """Return the state with other cells, or the end of the search if they are too many."""
        if functions_of(cells) * len(state.problem.unknowns) > self.max_kernels:
            return replace(state, final=True)
        return replace(state, cells=tuple(cells), aim=aim)

    def _certifier(self, state: PatchState) -> Certifier:
        return Certifier(state.rows, state.tiling, self.leastsquares, self.settings, state.waves)


def suits(problem: Problem) -> bool:
    """Tell whether patches solve a problem: a linear one on a domain that boxes tile."""
    return (
        problem.time is None
        and problem.domain.dimension <= 2
        and problem.is_linear
        and max(form.order for form in problem.forms) <= 4
        and tiling_of(problem.domain) is not None
    )


def needs_patches(problem: Problem) -> bool:
    """Tell whether one basis on the whole domain will not do, or could not be judged.

    Beside corners that point inwards smooth functions on the whole domain do not converge, and for
    systems and beyond order two nothing but patches says how large their error is. On the line one
    equation is solved piece by piece anyway; of beams those with edges in their data need patches.
    """
    if problem.time is not None or problem.domain.dimension > 2 or not problem.is_linear:
        return False
    if problem.is_singular:
        return suits(problem)
    plain = max(form.order for form in problem.forms) <= 2
    if len(problem.unknowns) == 1 and isinstance(problem.domain, Interval):
        return not plain and has_edges(problem) and suits(problem)
    if len(problem.unknowns) == 1 and isinstance(problem.domain, Box) and plain:
        return False
    return suits(problem)


def _contradiction(problem: Problem, tol: float) -> Outcome | None:
    """Return where conditions that give u disagree, for one equation of second order."""
    if len(problem.unknowns) > 1 or problem.domain.dimension == 1:
        return None
    try:
        return contradiction(Elements.build(problem, even_mesh(problem.domain, LOOKED)), tol)
    except (UnsuitableError, LinearSystemError):
        return None


def _noted(state: PatchState, assessment: PatchAssessment) -> PatchState:
    """Return the state with a certified assessment counted in."""
    best = state.best
    if best is None:
        return replace(state, best=assessment)
    idle = 0 if assessment.estimate.value < PROGRESS * best.estimate.value else state.idle + 1
    if assessment.estimate.value < best.estimate.value:
        best = assessment
    return replace(state, best=best, idle=idle)


def _stuck(state: PatchState, tails: Tails) -> tuple[float, ...]:
    """Return the place of a patch whose tail did not fall while it was cut again and again."""
    worst = int(np.argmax(tails.tail.max(axis=1)))
    cell = state.cells[worst]
    if cell.run < CUTS or tails.tail[worst].max() < FALLING**cell.levels * cell.tail:
        return ()
    patch, ends = cell.patch, cell.corner
    return tuple(float(m.high if e else m.low) for m, e in zip(patch.maps, ends, strict=True))


def _tail(assessment: PatchAssessment) -> Solved:
    """Return the number of functions and the longest tail."""
    return Solved(assessment.approximation.kernels, float(assessment.tails.tail.max()))


def _scales(approximation: Approximation, state: PatchState) -> list[float]:
    """Return max(1, max|u|) of every unknown."""
    points = compared_points([c.patch for c in state.cells])
    zero = (0,) * points.shape[1]
    sizes = [np.abs(approximation.values(u, points, zero)).max() for u in approximation.bases]
    return [float(max(1.0, s)) for s in sizes]


def _mismatch(problem: Problem, approximation: Approximation) -> float:
    """Return the largest miss of a condition on the boundary."""
    misses = [
        float(
            np.abs(approximation.mismatch(c.residuals, problem.domain.boundary(c.part, 256))).max()
        )
        for c in problem.conditions
    ]
    return max(misses, default=0.0)


def _reached(assessment: PatchAssessment) -> str:
    basis = next(iter(assessment.approximation.bases.values()))
    assert isinstance(basis, PatchworkBasis)
    count = len(basis.patches)
    patches = f"{count} patches" if count > 1 else "one patch"
    found = assessment.certificate
    assert found is not None
    closer = f", patches closer to the ends of interfaces by {found.vertices:.1e}"
    return (
        f"Estimate {assessment.estimate.value:.1e} with {basis.size} functions on {patches}: two "
        f"more along every axis change it by {found.change:.1e}, other weights of the rows by "
        f"{found.norm:.1e}{closer if found.vertices else ''}."
    )
