"""Patches that hold a state: made for functions, refined where weights do not fall, made anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sharpfront.adapt.patchwork.interface_vertices import Point, cut_towards
from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.errors import OutcomeKind
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.evolve.termination import StuckError
from sharpfront.maps import AxisMap
from sharpfront.place.patches.cuts import Cell, at_corners, is_shortest
from sharpfront.place.patches.first_patches import first_cells
from sharpfront.place.patches.poles import cut_at
from sharpfront.place.patches.refine import Limits, balanced, functions_of, refined
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import Tails, tails_of_blocks
from sharpfront.place.patches.waves import Waves
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.place.tiling.curved import fitted
from sharpfront.problem import Problem
from sharpfront.rounding import SAME
from sharpfront.rows.moments import projected

# Patches are halved so often at the most.
PATCH_HALVINGS = 24
# Values of functions at points, (R, m), in units of what may be left out.
Wanted = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Meshing:
    """How patches are made.

    Parameters
    ----------
    tiling
        The domain.
    lines
        Where formulas jump or bend along each axis.
    limits
        Functions of a patch along an axis.
    most
        Functions of one unknown in all.
    watched
        Further points at which functions are looked at, (m, 2).
    waves
        Whether there are unknowns of second order in time: what patches leave out does not fade.
    cuts
        How often patches are halved towards points at first.
    """

    tiling: Tiling
    lines: tuple[FloatArray, FloatArray]
    limits: Limits
    most: int
    watched: FloatArray
    waves: bool = False
    cuts: Mapping[Point, int] = field(default_factory=dict)

    def first(self) -> list[Cell]:
        """Return the largest patches."""
        cells: list[Cell] = []
        for block in self.tiling.blocks:
            lines = list(block.lines)
            if block.chart is None:
                lines = [np.union1d(x, own) for x, own in zip(lines, self.lines, strict=True)]
            for axis, joined in enumerate(block.domain.periodic_axes):
                if joined and len(lines[axis]) == 2:
                    lines[axis] = np.insert(lines[axis], 1, lines[axis].mean())
            for low, high in block.boxes(lines):
                maps = tuple(
                    AxisMap(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)
                )
                own = [Cell(Patch(maps, (self.limits.base,) * 2, block.chart, block.region))]
                cells += fitted(own, block, self.tiling.corners) if block.region else own
        return self._cut(balanced(cut_at(cells, self.tiling.marked), self.tiling.periods))

    def _cut(self, cells: list[Cell]) -> list[Cell]:
        return cut_towards(cells, self.cuts, self.tiling.periods) if self.cuts else cells

    def layered(self, problem: Problem, tol: float) -> list[Cell]:
        """Return patches for layers along walls that a stationary problem tells of."""
        waves, settings = Waves.of(problem, self.tiling), SETTINGS.within(2, tol)
        return self._cut(first_cells(problem, self.tiling, settings, tol, self.most, waves))

    def holding(
        self,
        wanted: Wanted,
        looks: Wanted | None = None,
        watched: FloatArray | None = None,
        cells: list[Cell] | None = None,
        across: float = 1.0,
    ) -> list[Cell]:
        """Return patches, from the largest on or from given ones, that hold functions.

        Parameters
        ----------
        wanted
            The functions.
        looks
            Data of which patches must miss nothing that stands out, in any units.
        watched
            Points at which the functions must not be missed, where others than always are enough.
        cells
            Those to begin with.
        across
            Tails along the second axis count by this share.
        """
        cells = self.first() if cells is None else cells
        if looks is not None:
            cells = self._seeing(cells, looks)
        watched = self.watched if watched is None else watched
        true = wanted(watched)
        known: dict[Patch, list[FloatArray]] = {}
        for _ in range(PATCH_HALVINGS):
            fresh = [c.patch for c in cells if c.patch not in known]
            known |= zip(fresh, _fitted_to(fresh, wanted), strict=True)
            blocks = [known[c.patch] for c in cells]
            tails = self.tails(cells, [[b[r] for b in blocks] for r in range(len(blocks[0]))])
            tails = replace(tails, tail=tails.tail * (1.0, across))
            tails = self._held_by_more(cells, tails, wanted)
            tails = _with_missed(cells, blocks, watched, true, tails, across)
            cells, changed = self.finer(cells, tails)
            if not changed:
                break
        return cells

    def _held_by_more(self, cells: Sequence[Cell], tails: Tails, wanted: Wanted) -> Tails:
        """Return tails that ask for the functions that hold a wave, where twice a patch's do.

        Weights of waves do not fall before there are enough of them, as if no number were enough. A
        standing one of 3 by 4 took 3208 and 4.4 s to 1e-3, where a patch of 304 takes 0.4 s, and
        was lost in the noise of parts to 1e-5. What fades is better off with parts: spots of Gray
        and Scott took 10.9 s instead of 5.7, with steps for which whole patches did no longer do.
        """
        asked = np.flatnonzero((tails.tail > 1.0).any(axis=1) & np.isinf(tails.wanted).any(axis=1))
        if not self.waves or not len(asked) or any(cell.corner or cell.patch.cut for cell in cells):
            return tails
        most = (2 * self.limits.most,) * 2
        whole = [cells[i] for i in asked.tolist()]
        rich = [replace(cell, patch=replace(cell.patch, functions=most)) for cell in whole]
        blocks = _fitted_to([cell.patch for cell in rich], wanted)
        found = self.tails(rich, [[b[r] for b in blocks] for r in range(len(blocks[0]))])
        if not np.all(found.analytic & (found.tail <= 1.0)):
            return tails
        counts = tails.wanted.copy()
        counts[asked] = found.wanted
        return replace(tails, wanted=counts)

    def misses(self, cells: Sequence[Cell], wanted: Wanted) -> bool:
        """Tell whether some of the cells do not hold functions."""
        blocks = _fitted_to([c.patch for c in cells], wanted)
        found = [[b[r] for b in blocks] for r in range(len(blocks[0]))]
        return bool(np.any(self.tails(cells, found).tail > 1.0))

    def _seeing(self, cells: list[Cell], looks: Wanted) -> list[Cell]:
        """Return cells, halved where points of theirs do not see what stands out in data."""
        true = looks(self.watched)
        unit = np.maximum(np.abs(true).max(axis=1), 1e-300)
        known: dict[Patch, list[FloatArray]] = {}
        for _ in range(PATCH_HALVINGS):
            fresh = [c.patch for c in cells if c.patch not in known]
            known |= zip(fresh, _fitted_to(fresh, looks), strict=True)
            basis = PatchworkBasis(tuple(c.patch for c in cells))
            weights = np.concatenate(
                [np.stack([b.ravel() for b in known[p]]) for p in basis.patches], axis=1
            )
            gaps = np.abs(basis.sums(weights, self.watched) - true) / unit[:, None]
            owner = basis.owner(self.watched)
            lost = np.zeros(len(self.watched), dtype=bool)
            for r, gap in enumerate(gaps):
                blocks = [known[patch][r] / unit[r] for patch in basis.patches]
                tail = self.tails(cells, [blocks]).tail.max(axis=1)
                lost |= gap > np.maximum(MARCH.beyond * tail[owner], MARCH.standing_out)
            if not lost.any():
                break
            cells = self.halved_at(cells, self.watched[lost])
        return cells

    def tails(self, cells: Sequence[Cell], functions: Sequence[Sequence[FloatArray]]) -> Tails:
        """Return the longest tails of functions, each given by its weights on every patch."""
        at = at_corners(cells, self.tiling.corners)
        least = [SETTINGS.analytic if corner is None else SETTINGS.at_corner for corner in at]
        frames = [c.patch.frame for c in cells]
        found = [tails_of_blocks(blocks, 1.0, least, frames=frames) for blocks in functions]
        return Tails.worst_of(found)

    def finer(self, cells: Sequence[Cell], tails: Tails) -> tuple[list[Cell], bool]:
        """Return finer or richer cells where tails are longer than one, and whether any are."""
        periods, corners = self.tiling.periods, self.tiling.corners
        disturbed = SETTINGS.disturbed
        new, changed = refined(cells, tails, 1.0, disturbed, self.limits, periods, corners)
        if changed and (functions_of(new) > self.most or any(is_shortest(c.patch) for c in new)):
            words = f"{functions_of(cells)} functions do not resolve it, and no more are allowed"
            raise StuckError(words, OutcomeKind.KERNEL_LIMIT)
        return new, changed

    def halved_at(self, cells: Sequence[Cell], places: FloatArray) -> list[Cell]:
        """Return the cells with those halved that have some places."""
        basis = PatchworkBasis(tuple(c.patch for c in cells))
        tail = np.zeros((len(cells), 2))
        tail[basis.owner(places)] = 10.0
        wanted = np.where(tail > 0, np.inf, 0.0)
        return self.finer(cells, Tails(tail, wanted, np.ones_like(tail, dtype=bool), tail, tail))[0]


def _with_missed(
    cells: Sequence[Cell],
    blocks: Sequence[Sequence[FloatArray]],
    watched: FloatArray,
    true: FloatArray,
    tails: Tails,
    across: float,
) -> Tails:
    """Return tails with patches split that miss true values (R, m) at the watched points."""
    basis = PatchworkBasis(tuple(c.patch for c in cells))
    owner = basis.owner(watched)
    weights = np.concatenate([np.stack([b.ravel() for b in own]) for own in blocks], axis=1)
    gap = np.abs(basis.sums(weights, watched) - true).max(axis=0) * across
    missed = np.zeros(len(cells))
    np.maximum.at(missed, owner, gap)
    # Tails bound what is left out of what is seen.
    lost = missed > np.maximum(MARCH.beyond * tails.tail.max(axis=1), MARCH.over)
    tail, w = tails.tail.copy(), tails.wanted.copy()
    tail[lost], w[lost] = missed[lost, None], np.inf
    return replace(tails, tail=tail, wanted=w)


def _fitted_to(patches: Sequence[Patch], wanted: Wanted) -> list[list[FloatArray]]:
    """Return the weights of functions on each patch, arrays over its axes."""
    if not patches:
        return []
    points = [_points(patch) for patch in patches]
    values = np.split(wanted(np.concatenate(points)), np.cumsum([len(x) for x in points])[:-1], 1)
    return [list(_projected(patch, own)) for patch, own in zip(patches, values, strict=True)]


def _points(patch: Patch) -> FloatArray:
    if patch.cut is not None:
        return patch.inner_points()
    return patch.gauss_points(tuple(p + 2 for p in patch.functions))[0]


def _projected(patch: Patch, values: FloatArray) -> list[FloatArray]:
    """Return the weights of functions with values (R, m) at the points of a patch."""
    if patch.cut is not None:
        assert patch.frame is not None
        return list(patch.frame.fitted(values))
    counts = tuple(p + 2 for p in patch.functions)
    p, q = patch.functions
    return [projected(v, counts)[:p, :q] for v in values]


def off_sides(patches: Sequence[Patch], points: FloatArray) -> FloatArray:
    """Return points with those on sides of patches, where data have two values, inside of one."""
    out, owner = points.copy(), PatchworkBasis(tuple(patches)).owner(points)
    for i in np.unique(owner).tolist():
        patch, own = patches[i], owner == i
        at, off = patch.in_chart(points[own]), SAME * patch.sides
        beside = np.clip(at, patch.low + off, patch.high - off)
        moved = np.any(beside != at, axis=1)
        out[np.flatnonzero(own)[moved]] = patch.in_space(beside[moved])
    return out


def taken_to(patches: Sequence[Patch], values: Wanted) -> FloatArray:
    """Return the weights of functions on patches, (R, n)."""
    blocks = _fitted_to(patches, values)
    return np.concatenate([np.stack([b.ravel() for b in own]) for own in blocks], axis=1)
