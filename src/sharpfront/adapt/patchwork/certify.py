"""How large the error of a solution on patches is.

Looks, of which each sees what the others do not:

- the same patches with two more functions along every axis: exact to a few percent where patches
  are right, blind where a singularity or a layer is not resolved;
- the same functions in another norm, the equation's rows much heavier: a resolved solution hardly
  depends on the weights of its rows, an unresolved one is a compromise between them;
- what the weights to come add up to on patches with a singularity;
- patches cut towards points where interfaces end or cross (`vertices`).

A probe, white noise of size one, says how well the problem determines its solution: a resonance or
a motion that nothing holds makes it grow without bound, once the functions resolve it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sharpfront.adapt.patchwork.cuts import Cell
from sharpfront.adapt.patchwork.jumps import Jumps
from sharpfront.adapt.patchwork.refine import richer
from sharpfront.adapt.patchwork.settings import PatchSettings
from sharpfront.adapt.patchwork.start import Waves
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.adapt.patchwork.tails import Tails
from sharpfront.adapt.patchwork.tiling import Tiling
from sharpfront.adapt.patchwork.vertices import (
    SMALLER,
    Point,
    cut_towards,
    cuts_for,
    interface_vertices,
    share_seen,
    touches,
)
from sharpfront.approximation import Approximation, split_weights
from sharpfront.arrays import Host
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.leastsquares.traces import Tree
from sharpfront.rows.measure import lightest
from sharpfront.rows.patch_rows import PatchRows

# Positions on each axis of a patch at which solutions are compared: Chebyshev's, ends included.
COMPARED = -np.cos(np.pi * np.arange(8) / 7)
# Functions that hold a wave to twelve digits: so many for each unit of k h / 2, and these more.
WAVE, DIGITS = 1.3, 18
# Where another norm changes the solution by less than this share of the tolerance, no point where
# interfaces meet is looked into: with r^0.1 at one the change was 0.09 of the error.
NEGLIGIBLE = 0.01
# What rows leave falls at least by this factor with two more functions along every axis, unless
# they contradict each other or a singularity is not resolved.
UNFALLEN = 0.5

MEANING = (
    "largest of these, relative to max(1, max|u|): the change with two more functions along every "
    "axis of every patch, the change in another norm, what the weights to come add up to on "
    "patches with a singularity, and the change with patches cut towards the points where "
    "interfaces end or cross"
)


@dataclass(frozen=True)
class Certificate:
    """What the looks found, each relative to max(1, max|u|).

    Parameters
    ----------
    change
        With two more functions along every axis.
    norm
        In another norm.
    singular
        Tails on patches where weights do not fall geometrically.
    amplification
        What noise of size one grows to.
    vertices
        With patches cut towards the points where interfaces end or cross.
    contradiction
        What equations and integral conditions leave, if it does not fall with more functions.
    beside
        The largest change beside places at which the solution jumps, which the others leave out.
    """

    change: float
    norm: float
    singular: float
    amplification: float
    vertices: float = 0.0
    contradiction: float = 0.0
    beside: float = 0.0

    @property
    def value(self) -> float:
        """The estimated error away from jumps."""
        looks = (self.change, self.norm, self.singular, self.vertices)
        return max(*looks, self.contradiction)


@dataclass(frozen=True, eq=False)
class _Change:
    """How far other solutions are from one, relative to the size of each unknown."""

    own: Approximation
    unknowns: Sequence[str]
    scales: Sequence[float]

    def values(self, solution: Approximation, points: Host) -> list[Host]:
        """Return a solution's unknowns at points."""
        zero = (0,) * points.shape[1]
        return [solution.values(u, points, zero) for u in self.unknowns]

    def __call__(self, other: Approximation, points: Host) -> float:
        """Return the largest change at points."""
        pairs = zip(self.values(self.own, points), self.values(other, points), strict=True)
        gaps = [np.abs(a - b).max() / s for (a, b), s in zip(pairs, self.scales, strict=True)]
        return _finite(max(gaps))

    def variation(self, points: Host) -> float:
        """Return by how much the solution itself varies over points."""
        own = self.values(self.own, points)
        return _finite(max(np.ptp(v) / s for v, s in zip(own, self.scales, strict=True)))


@dataclass(frozen=True, eq=False)
class Certifier:
    """Takes the looks.

    Parameters
    ----------
    rows, tiling
        The problem on its domain.
    method
        Solves along the tree.
    settings
        The constants.
    waves
        The largest wave number of solutions along each axis of each chart.
    jumps
        Where the solution jumps.
    """

    rows: PatchRows
    tiling: Tiling
    method: Tree
    settings: PatchSettings
    waves: Waves
    jumps: Jumps

    def certificate(
        self,
        cells: Sequence[Cell],
        approximation: Approximation,
        scales: Sequence[float],
        tails: Tails,
        tol: float,
    ) -> Certificate:
        """Return what the looks find for a solution on cells."""
        finer = [c.patch for c in richer(cells)]
        more, probe = self._solved(finer, 1.0)
        resolving = [self._with_waves(patch) for patch in finer]
        if resolving != finer:
            _, probe = self._solved(resolving, 1.0)
        other, _ = self._solved([c.patch for c in cells], self.settings.heavier)
        points = compared_points([c.patch for c in cells])
        change = _Change(approximation, self.rows.unknowns, scales)
        away = self.jumps.away(points)
        here = points[away]
        grown = [np.abs(v).max() for v in change.values(probe, here)]
        singular = tails.singular
        norm = change(other, here)
        cut = self._at_vertices(cells, change) if norm > NEGLIGIBLE * tol else 0.0
        against = self._contradiction([c.patch for c in cells], finer, scales)
        step, beside = change(more, here), 0.0
        if not away.all():
            # Beside a jump an error is no less than all of the solution.
            whole = replace(change, scales=sizes_of(approximation, points))
            beside = max(1.0, *(whole(v, points[~away]) for v in (more, other)))
        return Certificate(step, norm, singular, _finite(max(grown)), cut, against, beside)

    def _contradiction(
        self, patches: Sequence[Patch], finer: Sequence[Patch], scales: Sequence[float]
    ) -> float:
        """Return what rows leave on patches if no more functions make it smaller, in units of u.

        With slopes all round and an integral of u, sources and slopes must balance. If they do not
        the best compromise is smooth, and no comparison of solutions tells.
        """
        if not self.rows.integrals.forms:
            return 0.0
        left, after = (
            self.method.factor(patch_system(self.rows, self.tiling, p))[1].residual_norm
            for p in (patches, finer)
        )
        if after <= UNFALLEN * left:
            return 0.0
        return after / lightest(finer, self.rows.order) / max(scales)

    def _at_vertices(self, cells: Sequence[Cell], change: _Change) -> float:
        """Return what patches cut towards the points where interfaces end or cross change."""
        closer = self.closer(cells)
        if not closer:
            return 0.0
        patches = [c.patch for c in closer]
        if len(closer) == len(cells):
            # Patches as small as numbers allow: what varies on them is not resolved.
            beside = [p for p in patches if touches(p, self.singular_points)]
            return max((change.variation(compared_points([p])) for p in beside), default=0.0)
        seen = min(map(share_seen, self.singular_points.values()))
        # On the patches of the other solution: within those of this one, at all distances.
        return change(self._solved(patches, 1.0)[0], compared_points(patches)) / seen

    @cached_property
    def singular_points(self) -> dict[Point, float]:
        """Points where interfaces end or cross, with the exponents of solutions there."""
        lines = self.rows.interfaces.lines
        return interface_vertices(self.rows.problem, self.tiling, lines)

    def closer(self, cells: Sequence[Cell], smaller: float = 0.0) -> list[Cell]:
        """Return the cells cut towards the points where interfaces end or cross; none without.

        Parameters
        ----------
        cells
            What is cut.
        smaller
            By what the error that these points make is to be divided, if that is much.
        """
        if not self.singular_points:
            return []
        wanted = max(smaller, SMALLER)
        cuts = {point: cuts_for(a, wanted) for point, a in self.singular_points.items()}
        return cut_towards(cells, cuts, self.tiling.periods)

    def _with_waves(self, patch: Patch) -> Patch:
        """Return a patch on which the modes of the operator are resolved, whatever the data are."""
        waves = np.array(self.waves[patch.chart])
        needed = np.ceil(WAVE * waves * patch.sides / 2) + DIGITS
        least = np.where(waves * patch.sides > 1.0, needed, 0)
        functions = tuple(int(max(p, k)) for p, k in zip(patch.functions, least, strict=True))
        return replace(patch, functions=functions)

    def _solved(
        self, patches: Sequence[Patch], heavier: float
    ) -> tuple[Approximation, Approximation]:
        """Return the solution on patches, and the answer to the probe."""
        system = patch_system(self.rows, self.tiling, patches, heavier)
        _, found = self.method.factor(system)
        weights = system.arranged(found.columns)
        bases = dict.fromkeys(self.rows.unknowns, PatchworkBasis(tuple(patches)))
        coordinates = self.rows.problem.coordinates
        own, probe = (
            Approximation(coordinates, bases, split_weights(weights[:, k], bases)) for k in (0, 1)
        )
        return own, probe


def sizes_of(approximation: Approximation, points: Host) -> list[float]:
    """Return max(1, max|u|) at points of every unknown."""
    zero = (0,) * points.shape[1]
    sizes = [np.abs(approximation.values(u, points, zero)).max() for u in approximation.bases]
    return [float(max(1.0, s)) for s in sizes]


def compared_points(patches: Sequence[Patch]) -> Host:
    """Return points of every patch at which solutions are compared, (m, d)."""
    return np.concatenate([patch.points([COMPARED] * patch.dimension) for patch in patches])


def _finite(value: float) -> float:
    return float(value) if np.isfinite(value) else float("inf")
