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

from sharpfront.adapt.contract import Proposal
from sharpfront.adapt.patchwork.applicability import lacking, suits
from sharpfront.adapt.patchwork.calm_edges import are_calm
from sharpfront.adapt.patchwork.certify import MEANING, Certifier
from sharpfront.adapt.patchwork.corner_changes import are_quiet
from sharpfront.adapt.patchwork.corner_enrichment import Wedges
from sharpfront.adapt.patchwork.enriched_patches import holding_faded
from sharpfront.adapt.patchwork.interface_vertices import indefinite
from sharpfront.adapt.patchwork.jumps import Jumps
from sharpfront.adapt.patchwork.layer_tails import grown_layers, layer_tails, richer_layers
from sharpfront.adapt.patchwork.residuals import mismatch_of, residual_on
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.adapt.patchwork.soft_modes import soft_mode
from sharpfront.adapt.patchwork.state import (
    PatchAssessment,
    PatchState,
    is_moving,
    longest_tail,
    noted,
    scales_of,
    tails_in,
    tolerance_of,
)
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.adapt.patchwork.verdicts import (
    contradicted,
    ended,
    given_up,
    trusted,
    unseen,
    without_balance,
)
from sharpfront.adapt.patchwork.warm_start import carried
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.budget import Budget
from sharpfront.checks import explained_fields
from sharpfront.errors import OutcomeKind, ProblemError
from sharpfront.leastsquares.traces import Tree
from sharpfront.place.patches.beside_walls import layers_along_walls
from sharpfront.place.patches.cuts import Cell, is_shortest
from sharpfront.place.patches.data_probes import DataProbes
from sharpfront.place.patches.data_resolution import with_seen_data
from sharpfront.place.patches.first_patches import cut_for_data, first_cells, poorer
from sharpfront.place.patches.poles import cut_at, with_poles
from sharpfront.place.patches.refine import balanced, functions_of, refined, richer
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import SoftMode, Tails
from sharpfront.place.patches.wakes import shears_of
from sharpfront.place.patches.waves import Waves
from sharpfront.place.strips.collars import collared
from sharpfront.place.strips.shears import sheared
from sharpfront.place.strips.shells import layers_along
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.problem import Problem
from sharpfront.rounding import CANCELLED
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.solution import Estimate
from sharpfront.solution.approximation import Approximation
from sharpfront.trust.advice import Allowance
from sharpfront.trust.coverage import refuse_gaps
from sharpfront.trust.settings import TRUST
from sharpfront.trust.underdetermined import require_unknowns


@explained_fields("sf.Patches()")
@dataclass(frozen=True, eq=False)
class Patches:
    """Local product bases on boxes, joined by traces, fitted by least squares along a tree.

    Parameters
    ----------
    max_kernels
        The most functions of all unknowns together.
    leastsquares
        The method.
    """

    max_kernels: int = 60_000
    leastsquares: Tree = field(default_factory=Tree)

    def start(self, problem: Problem, tol: float, seed: int, layered: bool = True) -> PatchState:
        """Return the state before the first solve, with functions of layers or with shells."""
        Budget(self.max_kernels)
        tiling = tiling_of(problem.domain)
        if tiling is None or not (problem.is_linear and suits(problem)):
            solved = "linear problems on boxes and on regions of the plane"
            raise ProblemError(f"sf.Patches solves {solved}. Leave adaptor= out.")
        require_unknowns(problem)
        plain = with_poles(problem, tiling)
        most = self.max_kernels // len(problem.unknowns)
        tiling = cut_for_data(problem, plain, SETTINGS, tol, most)
        layers = layers_along(problem, tiling, SETTINGS, tol) if layered else ()
        if not layers:
            tiling = collared(problem, tiling, SETTINGS, tol)
        jumps = Jumps.of(problem, tiling, tol)
        shears = shears_of(problem, tiling, SETTINGS.layer(tol), jumps.places)
        tiling = sheared(tiling, shears, SETTINGS, tol)
        first = SETTINGS.within(problem.domain.dimension, tol)
        waves = Waves.of(problem, tiling)
        looks = DataProbes(problem, tiling.marked, tol)
        cells = first_cells(problem, tiling, first, tol, most // 2, waves, looks, shears)
        for settings, asked in poorer(first, tol, ADAPT.fewest):
            if functions_of(cells) <= most:
                break
            cells = first_cells(problem, tiling, settings, asked, most // 2, waves, None, shears)
        Budget(self.max_kernels).kernels(
            self.max_kernels, functions_of(cells) * len(problem.unknowns)
        )
        refuse_gaps(problem.domain, [cell.patch for cell in cells])
        corners = Wedges(problem, tiling, tol, jumps=jumps.places)
        rows = PatchRows(problem, seed, (*corners.at_first, *layers))
        jumps = jumps.beyond(rows.functions)
        missing = lacking(problem, tol) or indefinite(problem, tiling)
        depths = layers_along_walls(problem, tiling, SETTINGS, tol)
        held = holding_faded(cut_at(cells, jumps.held), rows.functions, tol)
        own = (tiling, rows, waves, held, tol, jumps, depths, missing)
        calm = are_calm(problem, tiling, tol)
        return PatchState(problem, tol, seed, *own, calm=calm, wedges=corners, looks=looks)

    def propose(self, state: PatchState) -> Proposal:
        """Return the patches and their system."""
        patches = tuple(c.patch for c in state.cells)
        basis = PatchworkBasis(patches, shared=state.rows.functions)
        bases = dict.fromkeys(state.problem.unknowns, basis)
        return Proposal(bases, patch_system(state.rows, state.tiling, patches))

    def assess(self, state: PatchState, approximation: Approximation) -> PatchAssessment:
        """Return how weights fall, with a certificate if they are small enough."""
        left = residual_on(state.problem, approximation, [c.patch for c in state.cells])
        state = replace(state, quiet=state.calm or are_quiet(state.tiling.corners, *left))
        scales = scales_of(approximation, state)
        aim = min(state.aim, tolerance_of(state, approximation))
        tails = tails_in(approximation, state, scales, aim)
        moving = is_moving(state, approximation)
        mode = soft_mode(state, approximation, moving, self.leastsquares)
        certificate = None
        value = max(1.0, float(tails.tail.max()) / state.tol) * state.tol
        short = bool(np.all(state.counted(tails, mode, aim).rest <= aim))
        short &= all(max(t.rests) <= aim for t in layer_tails(approximation, scales))
        if (state.final or (short and not moving)) and not state.unsettled:
            # What is claimed counts edges whether they are quiet or not, unless data tell of none.
            told = tails_in(approximation, replace(state, quiet=state.calm), scales, aim)
            certificate = carried(state, told, self.leastsquares)
            certificate = certificate or self._certifier(state).certificate(
                state.cells, approximation, scales, told, state.tol
            )
            # Of a mode that is still held back nobody knows how far it goes.
            held = 1.0 if state.soft and mode is not None and mode.grows else 0.0
            certificate = replace(certificate, held=held, unseen=unseen(state))
            value = max(certificate.value, certificate.beside)
        return PatchAssessment(
            approximation,
            *left,
            mismatch_of(state.problem, approximation) if certificate else math.nan,
            Estimate(value, MEANING),
            tails,
            certificate,
            mode,
            state.quiet,
        )

    def observe(self, state: PatchState, assessment: PatchAssessment) -> PatchState:
        """Return what to try next, or why to stop."""
        if state.missing is not None:
            return replace(state, best=assessment, finished=state.missing)
        state = replace(state, tried=(*state.tried, longest_tail(assessment)))
        tol = tolerance_of(state, assessment.approximation)
        state = replace(state, aim=min(state.aim, tol), quiet=assessment.quiet)
        if assessment.mode is not None:
            state = replace(state, softness=assessment.mode.size, growing=assessment.mode.grows)
        if state.soft:
            state = replace(state, before=assessment.approximation)
        if len(state.tried) == ADAPT.long and (told := without_balance(state.problem)):
            return replace(state, best=assessment, finished=told)
        if assessment.certificate is None:
            tails = state.counted(assessment.tails, assessment.mode, state.aim)
            moving = state.soft and not np.any(tails.tail > state.aim)
            state = replace(state, moves=state.moves + moving)
            lower = SETTINGS.least_lowered * state.aim if moving else state.aim
            return self._next(state, assessment, max(lower, CANCELLED))
        state = replace(noted(state, assessment), moves=0)
        return self._without_more(state, assessment) or self._improved(state, assessment, tol)

    def _without_more(self, state: PatchState, assessment: PatchAssessment) -> PatchState | None:
        """Return the state if estimates end the search, or go on without functions of corners."""
        found = state.answer
        assert found.certificate is not None
        if found.certificate.amplification > TRUST.amplified:
            return ended(state, OutcomeKind.NEAR_SINGULAR)
        if found.reached <= tolerance_of(state, found.approximation):
            return trusted(state)
        if state.idle >= 1 and (told := contradicted(state)):
            return replace(state, finished=told)
        # Of plates cuts find less than functions do: 6e-7 was left with them of a sector under
        # tension, 0.15 with 6000 functions without.
        tried = state.fitted and state.rows.is_simple
        # Where estimates rise with them they are no help either: with a source infinite on a side
        # functions of its corners ended far from it, and without them it takes 2200 functions.
        worse = state.idle >= ADAPT.patience - 1 or found.certificate.moved
        if (
            tried
            and worse
            and not state.final
            and (other := state.beyond_functions(assessment.tails))
        ):
            return other
        if state.layers and (state.final or state.idle >= ADAPT.patience):
            return self._with_shells(state)
        if state.final or state.idle >= ADAPT.patience or state.aim <= CANCELLED:
            return given_up(state, self._allowance(state))
        return None

    def _improved(self, state: PatchState, assessment: PatchAssessment, tol: float) -> PatchState:
        """Return the state with what an estimate above the tolerance asks for."""
        certificate = assessment.certificate
        assert certificate is not None
        state = replace(state, soft=state.soft or assessment.mode is not None)
        if certificate.vertices >= 0.5 * certificate.value:
            closer = self._certifier(state).closer(state.cells, certificate.vertices / state.tol)
            return self._within(state, closer, state.aim, certified=True)
        if certificate.unseen > tol:
            cells, limits = state.cells, state.limits
            most = self.max_kernels // len(state.problem.unknowns)
            seen = with_seen_data(state.looks, state.tiling, cells, limits, tol, most)
            return self._within(state, seen, state.aim, certified=True)
        if deeper := self._deeper(state, assessment):
            return self._within(state, deeper, state.aim, certified=True)
        counted = state.counted(assessment.tails, assessment.mode, state.aim)
        if not state.idle and np.any(counted.tail > state.aim):
            # What the weights to come add up to was small enough, the last weights were not yet.
            return self._next(state, assessment, state.aim)
        lower = SETTINGS.lowered * tol / assessment.reached
        aim = state.aim * min(SETTINGS.lowered, max(SETTINGS.least_lowered, lower))
        return self._next(state, assessment, max(aim, CANCELLED))

    def _deeper(self, state: PatchState, assessment: PatchAssessment) -> list[Cell]:
        """Return the cells with those at corners cut deeper, if only these are too large."""
        found, limits = assessment.certificate, state.limits
        assert found is not None
        if found.corners is None or found.contradiction > state.tol:
            return []
        functions, corners = (limits.least, limits.base), state.tiling.corners
        cells = found.corners.deeper(state.cells, assessment.tails, state.tol, functions, corners)
        return balanced(cells, state.tiling.periods, limits.base) if cells else []

    def refined(self, state: PatchState, approximation: Approximation) -> PatchState:
        """Return the state with finer cells where tails are long; the same where none are."""
        tails = tails_in(approximation, state, scales_of(approximation, state), state.aim)
        cells, changed = self.finer(state, tails, state.aim)
        if not changed or self._too_many(state, cells):
            return state
        return replace(state, cells=tuple(cells))

    def _next(self, state: PatchState, assessment: PatchAssessment, aim: float) -> PatchState:
        """Return the state with the next cells."""
        approximation, tails = assessment.approximation, assessment.tails
        if state.lacks_functions(assessment, aim):
            return state.with_functions
        least = max(aim, tolerance_of(state, approximation))
        known = [own.place for own in state.fitted]
        jumps = state.jumps.with_more(state.cells, tails, least, known, state.problem)
        if aim < state.aim or jumps != state.jumps:
            state = replace(state, jumps=jumps)
            tails = tails_in(approximation, state, scales_of(approximation, state), aim)
        layers = grown_layers(approximation, scales_of(approximation, state), aim)
        if layers is None:
            return self._with_shells(state)
        grew, short = layers != state.layers, not np.any(tails.tail > aim)
        cells = self._cells_for(state, tails, assessment.mode, aim, grew)
        if state.layers and (grew or short):
            functions = (*state.fitted, *layers)
            functions = functions if grew else richer_layers(functions)
            state = replace(state, rows=state.rows.with_functions(functions))
        return self._within(state, cells, aim, assessment.certificate is not None)

    def _with_shells(self, state: PatchState) -> PatchState:
        """Return a start with shells where layers have functions that did not do."""
        fresh = self.start(state.problem, state.tol, state.seed, layered=False)
        return replace(fresh, best=state.best, tried=state.tried)

    def _cells_for(
        self, state: PatchState, tails: Tails, mode: SoftMode | None, aim: float, grew: bool
    ) -> list[Cell]:
        """Return finer or richer cells, for less of the softest mode if else they are too many.

        They need not be richer where layers have more functions.
        """
        cells: list[Cell] = []
        for looser in ADAPT.looser if state.soft and mode else (1.0,):
            cells, changed = self.finer(state, state.counted(tails, mode, aim / looser), aim)
            cells = cells if changed or grew else richer(cells)
            if not self._too_many(state, cells):
                break
        return cells

    def _within(
        self, state: PatchState, cells: Sequence[Cell], aim: float, certified: bool
    ) -> PatchState:
        """Return the state with other cells, or the end of the search if they are too many."""
        if not self._too_many(state, cells):
            return replace(state, cells=tuple(cells), aim=aim)
        state = replace(state, final=True)
        # What is certified need not be solved again.
        return given_up(state, self._allowance(state)) if certified else state

    def _certifier(self, state: PatchState) -> Certifier:
        return Certifier(state.rows, state.tiling, self.leastsquares, state.waves, state.jumps)

    def finer(self, state: PatchState, tails: Tails, aim: float) -> tuple[list[Cell], bool]:
        """Return finer cells where tails are longer than an aim, and whether there are any."""
        limits, periods = state.limits, state.tiling.periods
        disturbed = SETTINGS.disturbed * (1.0 if len(periods) > 1 else 0.03)
        corners, depths = state.corners, state.depths
        return refined(state.cells, tails, aim, disturbed, limits, periods, corners, depths)

    def _allowance(self, state: PatchState) -> Allowance:
        """Return what a solution that is given up was allowed."""
        dimension = state.problem.domain.dimension
        return Allowance(state.tol, self.max_kernels, type(self).max_kernels, dimension)

    def _too_many(self, state: PatchState, cells: Sequence[Cell]) -> bool:
        """Tell whether cells take more functions than allowed, or are as short as rounding."""
        many = functions_of(cells) * len(state.problem.unknowns) > self.max_kernels
        return many or any(is_shortest(c.patch) for c in cells)
