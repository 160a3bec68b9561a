"""How solutions oscillate, from the equation alone, and patches short enough for their waves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import product_points
from sharpfront.bases.patch import Patch
from sharpfront.maps import Chart
from sharpfront.place.patches.cuts import Cell, Flags
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.strips.decay_rates import wave_numbers
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.problem import Problem
from sharpfront.rows.form_values import is_constant

# Places along an axis of the domain, and of a patch, at which the operator is looked at.
ALONG_DOMAIN = np.array([0.02, 0.13, 0.31, 0.5, 0.69, 0.87, 0.98])
ALONG_PATCH = np.array([0.01, 0.34, 0.66, 0.99])


@dataclass(frozen=True, eq=False)
class Waves:
    """Wave numbers of solutions."""

    problem: Problem  # with linear equations
    largest: Mapping[Chart | None, tuple[float, ...]]  # along each axis of each chart, anywhere
    everywhere: bool  # whether they are the same everywhere

    @classmethod
    def of(cls, problem: Problem, tiling: Tiling) -> Waves:
        """Return the waves of a problem."""
        found = {}
        for block in tiling.blocks:
            ends = [(x[0], x[-1]) for x in block.lines]
            points = product_points([a + (b - a) * ALONG_DOMAIN for a, b in ends])
            if block.region is not None and not block.domain.is_box:
                points = block.domain.sample(len(points))
            # Where data are not finite nothing is known of waves.
            points = points[block.inside(points) & ~_are(block.in_space(points), tiling.marked)]
            axes = range(len(ends))
            each = [wave_numbers(problem, points, a, block.chart) for a in axes]
            found[block.chart] = tuple(float(k.max(initial=0.0)) for k in each)
        charted = any(block.chart for block in tiling.blocks)
        return cls(problem, found, not charted and all(map(is_constant, problem.forms)))

    def phases(self, patches: Sequence[Patch]) -> FloatArray:
        """Return k h / 2 along each axis of each patch, (n, d)."""
        known = np.array([self.largest[patch.chart] for patch in patches])
        if not self.everywhere and known.any():
            for chart in self.largest:
                own = [i for i, patch in enumerate(patches) if patch.chart == chart]
                if own:
                    known[own] = self._on([patches[i] for i in own], chart)
        return np.asarray(known * np.array([patch.sides for patch in patches]) / 2)

    def _on(self, patches: Sequence[Patch], chart: Chart | None) -> FloatArray:
        """Return the largest wave numbers along each axis on patches of one chart, (n, d)."""
        every = [
            patch.spread(ALONG_PATCH)
            if patch.cut is not None
            else patch.positions([2.0 * ALONG_PATCH - 1.0] * patch.dimension)
            for patch in patches
        ]
        points, ends = np.concatenate(every), np.cumsum([len(x) for x in every])
        starts = np.concatenate([[0], ends[:-1]])
        each = []
        for axis in range(points.shape[1]):
            found = wave_numbers(self.problem, points, axis, chart)
            each.append(np.maximum.reduceat(np.broadcast_to(found, len(points)), starts))
        return np.stack(each, axis=1)


def _are(points: FloatArray, marked: Sequence[Sequence[float]]) -> Flags:
    """Tell which points are marked."""
    known = np.array(marked).reshape(-1, points.shape[1])
    return np.asarray((points[:, None] == known).all(axis=2).any(axis=1))


def short_enough(
    cells: Sequence[Cell], waves: Waves, tol: float, most: int, many: int
) -> list[Cell]:
    """Return about `many` cells at most, cut until they hold waves with `most` functions an axis.

    Into equal parts where waves are the same everywhere, in the middle where they are not: those of
    sin(1/r) are as long at one end of a patch as all the others together.
    """
    # Of e^(i z t) so many functions leave (e z / 2p)^p.
    longest = 2 * most / math.e * (SETTINGS.held * tol) ** (1 / most)
    cells = list(cells)
    phases = waves.phases([c.patch for c in cells])
    for _ in range(SETTINGS.wave_halvings):
        counts = np.maximum(1, np.ceil(phases / longest)).astype(int)
        if (counts == 1).all() or len(cells) > many:
            break
        counts = counts if waves.everywhere else np.minimum(counts, 2)
        cells = [part for c, n in zip(cells, counts, strict=True) for part in _parts(c, n)]
        phases = waves.phases([c.patch for c in cells])
    least = holding(np.minimum(phases, longest), SETTINGS.held * tol).astype(int)
    return [_with_at_least(c, n.tolist()) for c, n in zip(cells, least, strict=True)]


def _parts(cell: Cell, counts: Sequence[int]) -> list[Cell]:
    """Return the equal parts of a cell."""
    sides = []
    for m, count in zip(cell.patch.maps, counts, strict=True):
        ends = m.points(np.linspace(-1.0, 1.0, int(count) + 1)).tolist()
        sides.append(m.cut(ends[1:-1]))
    return [part for part in cell.cut_into(sides) if not part.patch.is_empty]


def _with_at_least(cell: Cell, least: Sequence[int]) -> Cell:
    functions = tuple(max(p, k) for p, k in zip(cell.patch.functions, least, strict=True))
    if functions == cell.patch.functions:
        return cell
    return replace(cell, patch=replace(cell.patch, functions=functions))


def holding(phases: FloatArray, held: float) -> FloatArray:
    """Return how many polynomials hold e^(i z t), |t| < 1: its weights fall as (e z / 2p)^p."""
    count = np.ones_like(phases)
    while np.any(short := lost(phases, count) > held):
        count = count + short
    return count


def lost(phases: FloatArray, count: FloatArray) -> FloatArray:
    """Return what so many polynomials leave of e^(i z t)."""
    return np.asarray(np.minimum((math.e * phases / (2 * count)) ** count, 1.0))
