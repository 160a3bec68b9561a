"""Where the adaptation on patches stands, what was assessed, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sharpfront.adapt.patchwork.calm_edges import are_calm
from sharpfront.adapt.patchwork.certify import Certificate
from sharpfront.adapt.patchwork.comparison import (
    compared_away,
    compared_values,
    distance,
    sizes_of,
)
from sharpfront.adapt.patchwork.corner_enrichment import Wedges
from sharpfront.adapt.patchwork.enriched_patches import cut_at_functions, holding_faded
from sharpfront.adapt.patchwork.jumps import Jumps
from sharpfront.adapt.patchwork.layer_tails import split_layers
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import SharedFunctions, count
from sharpfront.bases.layer_functions import LayerFunctions
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.errors import Outcome
from sharpfront.estimate import Assessment
from sharpfront.mixture import Mixture
from sharpfront.place.patches.cuts import Cell, Depths, at_corners
from sharpfront.place.patches.data_probes import DataProbes
from sharpfront.place.patches.refine import Limits, balanced
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import SoftMode, Tails, tails_of, without_echoes
from sharpfront.place.patches.waves import Waves
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.solution.approximation import Approximation
from sharpfront.trust.advice import Solved


@dataclass(frozen=True, eq=False)
class PatchAssessment(Assessment):
    """An assessment with how weights fall, and a certificate once they are small."""

    tails: Tails
    certificate: Certificate | None
    mode: SoftMode | None = None
    quiet: bool = False  # whether edges in space are not what is left to resolve

    @property
    def roughest(self) -> tuple[float, ...]:
        """The middle of the patch whose weights fall least."""
        basis = next(iter(self.approximation.bases.values()))
        assert isinstance(basis, PatchworkBasis)
        patch = basis.patches[int(np.argmax(self.tails.tail.max(axis=1)))]
        return tuple(patch.points([np.zeros(1)] * patch.dimension)[0].tolist())

    @property
    def rank(self) -> tuple[bool, float]:
        """Smaller is better: nothing is an answer before it was certified."""
        return self.certificate is None, self.reached

    @property
    def reached(self) -> float:
        """The estimate away from places at which the solution jumps."""
        return self.estimate.value if self.certificate is None else self.certificate.value


@dataclass(frozen=True, eq=False)
class Neighbour:
    """A problem that differs in numbers from the one that is solved, and what was certified of it.

    The patches were placed for it.
    """

    problem: Problem
    certificate: Certificate
    tails: Tails


@dataclass(frozen=True, eq=False)
class PatchState:
    """Where the adaptation stands."""

    # What is solved, how well, and the seed.
    problem: Problem
    tol: float
    seed: int
    # Its domain in boxes, its rows, and how its solutions oscillate.
    tiling: Tiling
    rows: PatchRows
    waves: Waves
    cells: tuple[Cell, ...]  # what is solved on next
    aim: float  # what tails are to become
    jumps: Jumps  # places at which cuts do not help
    depths: Depths = field(default_factory=dict)  # how deep layers along walls may be
    missing: Outcome | None = None  # what the problem lacks, if that is plain from its statement
    final: bool = False  # whether these cells are the last
    best: PatchAssessment | None = None  # the assessment with the smallest certified estimate
    idle: int = 0  # certified estimates in a row that brought nothing
    tried: tuple[Solved, ...] = ()  # functions and estimate of each solve
    # Whether what the problem is linearised about still changes too much for a certificate.
    unsettled: bool = False
    finished: Outcome | None = None  # why it ended
    # Whether a problem whose data vary in the same way was trusted on these patches, or such.
    looked: bool = False
    soft: bool = False  # whether a certificate was too large where soft modes hold solutions back
    before: Approximation | None = None  # the solution before, where they do
    softness: float = 0.0  # the size of the softest mode in it
    growing: bool = False  # whether that was larger than before
    moves: int = 0  # solutions in a row that were far from the one before
    quiet: bool = False  # whether edges in space are not what is left to resolve
    calm: bool = False  # whether data say that solutions are smooth at edges in space
    near: Neighbour | None = None  # whose patches these are, where it was not solved afresh
    wedges: Wedges = field(kw_only=True)  # functions of corners
    looks: DataProbes = field(kw_only=True)  # at the data

    def about(self, problem: Problem) -> PatchState:
        """Return the state for another linearisation of the same problem."""
        rows = PatchRows(problem, self.seed, self.rows.functions)
        rows.measure.like(self.rows.measure)
        calm = self.calm or are_calm(problem, self.tiling, self.tol)
        return replace(self, problem=problem, rows=rows, calm=calm)

    @property
    def of_guess(self) -> PatchState:
        """The state where the problem is linear about a guess, which will be another iterate."""
        wedges = replace(self.wedges, lower=False)
        functions = wedges.at_first if self.rows.functions else ()
        return replace(self, wedges=wedges, rows=PatchRows(self.problem, self.seed, functions))

    @property
    def layers(self) -> tuple[LayerFunctions, ...]:
        """The functions of layers."""
        return split_layers(self.rows.functions)[1]

    @property
    def fitted(self) -> tuple[SharedFunctions, ...]:
        """The functions of corners, edges and vertices."""
        return split_layers(self.rows.functions)[0]

    def lacks_functions(self, assessment: PatchAssessment, aim: float) -> bool:
        """Tell whether functions of corners are to be tried: an estimate or weights ask for them.

        Not before a solution was found wanting without: most are smooth at right angles. In space
        those of edges through the whole domain may be there already.
        """
        if self.quiet or (self.fitted and self.problem.domain.dimension < 3):
            return False
        slow = self.wedges.asked(self.cells, assessment.tails, aim)
        # Where there are some already, the second solve that is not enough asks for the others.
        again = bool(self.fitted) and len(self.tried) > 1
        asked = slow or again or assessment.certificate is not None
        return asked and count(self.wedges.later) > count(self.fitted)

    @property
    def with_functions(self) -> PatchState:
        """The state with functions of corners."""
        functions = self.wedges.functions
        rows = self.rows.with_functions((*functions, *self.layers))
        return replace(self, rows=rows, cells=holding_faded(self.cells, functions, self.tol))

    def beyond_functions(self, tails: Tails) -> PatchState | None:
        """Return the state where estimates do not fall with them.

        Patches are cut once for what they leave; after that there are none for good, and nothing
        else is known where they jump.
        """
        longest = tails.tail.max(axis=1).tolist()
        if cells := cut_at_functions(self.cells, self.rows.functions, longest):
            return replace(self, cells=tuple(balanced(cells, self.tiling.periods)), idle=0)
        # Patches alone do not resolve a jump.
        return None if self.jumps.held else self.without_functions

    @property
    def without_functions(self) -> PatchState:
        """The state without them for good."""
        rows, wedges = self.rows.with_functions(self.layers), replace(self.wedges, wanted=False)
        # Tails with functions say nothing of how those without fall.
        cells = tuple(replace(cell, tail=np.inf, promise=np.inf) for cell in self.cells)
        return replace(self, rows=rows, wedges=wedges, cells=cells, aim=self.tol, idle=0)

    @property
    def mixture(self) -> Mixture | None:
        """None: patches are placed by their own weights."""
        return None

    @property
    def diagnostics(self) -> dict[str, float]:
        """What is known of a solution that jumps: how far from there how large the error is."""
        if not self.jumps.places or self.best is None:
            return {}
        return {"estimate_away": self.best.reached, "away": self.jumps.radius}

    @property
    def corners(self) -> FloatArray:
        """Corners of the domain, and places on its sides at which the solution jumps, (k, d).

        None of the domain while something else is to be resolved.
        """
        known, places = self.tiling.corners, (*self.jumps.places, *self.jumps.held)
        known = known[:0] if self.quiet else known
        more = [p for p in places if not np.any(np.all(known == np.array(p), axis=1))]
        return np.concatenate([known, np.array(more).reshape(-1, known.shape[1])])

    @property
    def limits(self) -> Limits:
        """How many functions patches may have along an axis."""
        dimension = self.problem.domain.dimension
        settings = SETTINGS.within(dimension, self.tol)
        base, most = settings.functions(self.tol), settings.most(self.tol, dimension)
        least = base if self.soft else base - SETTINGS.keeping
        least = ADAPT.fewest if self.rows.is_simple else least
        return Limits(base, most, least)

    def counted(self, tails: Tails, mode: SoftMode | None, aim: float) -> Tails:
        """Return the tails that decide: the solution's, and the softest mode's if that matters."""
        return mode.added(tails, aim) if self.soft and mode is not None and mode.grows else tails

    @property
    def answer(self) -> PatchAssessment:
        """The assessment with the smallest certified estimate."""
        assert self.best is not None
        return self.best


def noted(state: PatchState, assessment: PatchAssessment) -> PatchState:
    """Return the state with a certified assessment counted in.

    Solutions that are farther apart than their estimates allow cannot both be right, and one with
    more functions is not the worse of two: what was believed before was believed too soon.
    """
    best = state.best
    if best is None:
        return replace(state, best=assessment)
    missed = _missed(state, best, assessment)
    if missed:
        assert best.certificate is not None
        told = replace(best.certificate, moved=missed)
        estimate = replace(best.estimate, value=max(best.estimate.value, missed))
        best = replace(best, certificate=told, estimate=estimate)
    idle = 0 if missed or assessment.reached < SETTINGS.progress * best.reached else state.idle + 1
    if assessment.reached <= best.reached:
        best = assessment
    return replace(state, best=best, idle=idle)


def _missed(state: PatchState, before: PatchAssessment, after: PatchAssessment) -> float:
    """Return the error of a certified solution as one with more functions shows it, if larger."""
    if before.approximation.kernels >= after.approximation.kernels:
        return 0.0
    scales = scales_of(after.approximation, state)
    apart = distance(after.approximation, before.approximation, scales, state.jumps)
    if apart > ADAPT.apart * (before.reached + after.reached):
        return apart
    # Patches alone may do worse than with functions of corners.
    alike = len({_shared(found.approximation) for found in (before, after)}) == 1
    return after.reached if alike and after.reached > ADAPT.apart * before.reached else 0.0


def _shared(approximation: Approximation) -> int:
    """Return how many functions are of no single patch."""
    basis = next(iter(approximation.bases.values()))
    assert isinstance(basis, PatchworkBasis)
    return count(basis.shared)


def tolerance_of(state: PatchState, approximation: Approximation) -> float:
    """Return what an estimate has to fall below: the tolerance, or a share of a small solution.

    Of systems and beyond order two a solution is known by comparisons alone. Clamped beams that
    bend by a tenth of what they should agree to 1 to 40 % of themselves, and if they bend by less
    than one, that may be below the tolerance. Of one equation in the plane an estimate above a
    percent is not trusted yet: small disks that heat had lost two thirds of their heat in both.
    """
    if state.rows.is_simple:
        return min(state.tol, ADAPT.sure) if state.problem.domain.dimension == 2 else state.tol
    size = float(np.abs(compared_values(approximation)).max())
    if not np.isfinite(size) or size < ADAPT.alike * state.tol:
        return state.tol
    return min(state.tol, max(ADAPT.alike, state.tol) * size)


def is_moving(state: PatchState, approximation: Approximation) -> bool:
    """Tell whether a solution that soft modes hold back is far from the one before.

    Then no certificate is small, and it need not be made. One that moves on and on is certified
    all the same: on a resonance no two solutions agree.
    """
    fewer = state.before is not None and state.before.kernels < approximation.kernels
    if state.before is None or not fewer or state.moves >= ADAPT.moves:
        return False
    scales = scales_of(approximation, state)
    apart = distance(approximation, state.before, scales, state.jumps)
    return apart > ADAPT.moving * tolerance_of(state, approximation)


def longest_tail(assessment: PatchAssessment) -> Solved:
    """Return the number of functions and the longest tail."""
    return Solved(assessment.approximation.kernels, float(assessment.tails.tail.max()))


def scales_of(approximation: Approximation, state: PatchState) -> list[float]:
    """Return max(1, max|u|) of every unknown, away from jumps."""
    away = compared_away(state.jumps, [c.patch for c in state.cells])
    return sizes_of(compared_values(approximation), away)


def tails_in(
    approximation: Approximation, state: PatchState, scales: Sequence[float], aim: float
) -> Tails:
    """Return the tails, beside jumps as far as they are felt elsewhere."""
    patches = [c.patch for c in state.cells]
    shares = state.jumps.shares(patches, state.rows.rough)
    tails = tails_of(approximation, scales, aim, list(shares.values()), corner_flags(state))
    if not state.calm:
        return tails
    return without_echoes(tails, np.array([patch.functions for patch in patches], dtype=float))


def corner_flags(state: PatchState) -> list[bool]:
    """Tell which cells lie at a corner of the domain."""
    return [corner is not None for corner in at_corners(state.cells, state.corners)]
