"""How large the error of a solution on patches is.

Looks, of which each sees what the others do not:

- the same patches with two more functions along every axis: exact to a few percent where patches
  are right, blind where a singularity or a layer is not resolved;
- those functions in another norm, the equation's rows much heavier: a resolved solution hardly
  depends on the weights of its rows, an unresolved one is a compromise between them. It is the
  richer solution that is asked, and so what is left beyond the first look: asked of the poorer one
  the same look found up to 110 times its error where all was resolved. In space, where the richer
  one costs four times as much, the poorer is asked first;
- what the weights to come add up to on patches with a singularity;
- patches cut towards points where interfaces end or cross (`vertices`).

A probe, white noise of size one, says how well the problem determines its solution: a resonance or
a motion that nothing holds makes it grow without bound, once the functions resolve it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sharpfront.adapt.patchwork.comparison import (
    Change,
    compared_away,
    compared_points,
    compared_values,
    finite,
    sizes_of,
)
from sharpfront.adapt.patchwork.corner_changes import CornerChanges
from sharpfront.adapt.patchwork.interface_vertices import (
    Point,
    cut_towards,
    cuts_for,
    interface_vertices,
    share_seen,
    touches,
)
from sharpfront.adapt.patchwork.jumps import Jumps
from sharpfront.adapt.patchwork.layer_tails import changes_in_layers, richer_layers, split_layers
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.leastsquares.traces import Tree
from sharpfront.place.patches.cuts import Cell, Flags
from sharpfront.place.patches.refine import richer
from sharpfront.place.patches.settings import SETTINGS
from sharpfront.place.patches.tails import Tails
from sharpfront.place.patches.waves import Waves, holding, lost
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.rows.row_scaling import lightest
from sharpfront.solution.approximation import Approximation, split_weights
from sharpfront.trust.overdetermined import crowded

MEANING = (
    "relative to max(1, max|u|): the change with two more functions along every axis of every "
    "patch, and with it, where patches have a singularity, the largest of these: the change of the "
    "richer solution in another norm, that by patches cut towards the points where interfaces end "
    "or cross, and what the weights to come add up to on patches with a singularity"
)


@dataclass(frozen=True)
class Certificate:
    """What the looks found, each relative to max(1, max|u|)."""

    change: float  # with two more functions along every axis
    norm: float  # of the richer solution in another norm
    singular: float  # tails on patches where weights do not fall geometrically
    amplification: float  # what noise of size one grows to
    vertices: float = 0.0  # with patches cut towards the points where interfaces end or cross
    # What equations and conditions leave that may contradict them, if it does not fall with more
    # functions.
    contradiction: float = 0.0
    # The largest change beside places at which the solution jumps, which the others leave out.
    beside: float = 0.0
    corners: CornerChanges | None = None  # which of this is at corners of the domain only
    moved: float = 0.0  # the error as a solution with more functions shows it, if that is larger
    held: float = 0.0  # one if the softest mode is still held back, and the solution with it
    unseen: float = 0.0  # what points of patches miss of data, about
    blind: float = 1.0  # how many times more there may be than the looks see
    # Whether functions of edges and vertices are fitted too: richer patches leave a part of these.
    fitted: bool = False
    carried: bool = False  # whether it is that of a neighbour, in units of both tails of weights

    @property
    def value(self) -> float:
        """The estimated error away from jumps.

        Where weights fall geometrically everywhere the richer solution leaves next to nothing.
        Otherwise it leaves a part that the change to it does not see, up to 0.7 of the error at a
        sheared notch and 0.6 at the tip of a cone: of that the others are three looks. So it does
        with functions of edges and vertices in space, 0.1 of the error at one inwards.
        """
        left = max(self.norm, self.vertices, self.singular)
        whole = self.change + (left if self.singular or self.fitted else self.vertices)
        return max(self.blind * max(whole, left), self.contradiction, self.held, self.unseen)


@dataclass(frozen=True, eq=False)
class _Compared:
    """Three solutions compared, each with the next."""

    change: float  # the largest from the first to the second
    norm: float  # and from the second to the third
    steps: list[FloatArray]  # the same at all compared points, (unknowns, m) each

    @classmethod
    def of(
        cls, solutions: Sequence[Approximation], away: Flags, scales: Sequence[float]
    ) -> _Compared:
        values = map(compared_values, solutions)
        steps = [np.abs(a - b) for a, b in itertools.pairwise(values)]
        inside = [_largest(gaps[:, away], scales) for gaps in steps]
        within = changes_in_layers(solutions, scales)
        return cls(max(inside[0], within[0]), max(inside[1], within[1]), steps)


@dataclass(frozen=True, eq=False)
class Certifier:
    """Takes the looks."""

    # The problem on its domain.
    rows: PatchRows
    tiling: Tiling
    method: Tree  # solves along the tree
    waves: Waves  # how solutions oscillate
    jumps: Jumps  # where the solution jumps

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
        away = compared_away(self.jumps, [c.patch for c in cells])
        more, probe = self._solved(finer, 1.0, self._richer_rows)
        grown = self._noise(probe, away)
        telling = self._telling(finer, grown)
        found = None if telling else self._poorer_norm(cells, approximation, more, away, scales)
        if found is None or found.change + found.norm > tol:
            other, probe = self._solved(telling or finer, SETTINGS.heavier, self._richer_rows)
            if telling:
                grown = self._grown(telling, max(grown, self._noise(probe, away)), away)
            found = _Compared.of((approximation, more, other), away, scales)
        change, norm, steps = found.change, found.norm, found.steps
        cut = 0.0
        if norm > ADAPT.negligible * tol:
            cut = self._at_vertices(cells, Change(approximation, self.rows.unknowns, scales))
        against = self._contradiction([c.patch for c in cells], finer, scales, tol)
        beside = 0.0
        if not away.all():
            # Beside a jump an error is no less than all of the solution.
            whole = sizes_of(compared_values(approximation), np.ones_like(away))
            beside = max(1.0, *(_largest(gaps[:, ~away], whole) for gaps in steps))
        looks = change, norm, tails.singular, grown, cut, against, beside
        sizes = np.array(scales)[:, None]
        either = np.where(away, np.max([(gaps / sizes).max(axis=0) for gaps in steps], axis=0), 0.0)
        changes = either.reshape(len(cells), -1).max(axis=1)
        corners = CornerChanges.of(cells, changes, tails, self.tiling.corners, tol)
        fitted = bool(split_layers(self.rows.functions)[0]) and self._in_space
        return Certificate(*looks, corners, blind=self._blind, fitted=fitted)

    @property
    def _in_space(self) -> bool:
        return self.rows.problem.domain.dimension == 3

    def _poorer_norm(
        self,
        cells: Sequence[Cell],
        approximation: Approximation,
        more: Approximation,
        away: Flags,
        scales: Sequence[float],
    ) -> _Compared | None:
        """Return the looks with the change of the solution itself in another norm, in space."""
        if not self._in_space:
            return None
        other, _ = self._solved([c.patch for c in cells], SETTINGS.heavier, self.rows)
        return _Compared.of((more, approximation, other), away, scales)

    @property
    def _blind(self) -> float:
        """How many times more there may be than the looks see: of plates beside corners."""
        if self.rows.order < 4 or self.rows.problem.domain.dimension != 2:
            return 1.0
        known = {corner.place for corner in self.rows.functions}
        return 1.0 if known.issuperset(map(tuple, self.tiling.corners.tolist())) else SETTINGS.blind

    def _contradiction(
        self,
        patches: Sequence[Patch],
        finer: Sequence[Patch],
        scales: Sequence[float],
        tol: float,
    ) -> float:
        """Return what rows leave on patches if no more functions make it smaller, in units of u.

        With slopes all round and an integral of u, sources and slopes must balance. If they do not
        the best compromise is smooth, and no comparison of solutions tells. Of one between more
        conditions than there is room for nobody knows how far it is from anything: it counts one.
        """
        excess = bool(crowded(self.rows.problem))
        if not (self.rows.integrals.forms or excess):
            return 0.0
        left, after = (
            self.method.factor(patch_system(self.rows, self.tiling, p))[1].residual_norm
            for p in (patches, finer)
        )
        if after <= (ADAPT.unfallen_in_excess if excess else ADAPT.unfallen) * left:
            return 0.0
        found = after / lightest(finer, self.rows.order) / max(scales)
        return max(1.0, found) if excess and found > ADAPT.negligible * tol else found

    def _at_vertices(self, cells: Sequence[Cell], change: Change) -> float:
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
        solved = self._solved(patches, 1.0, self._richer_rows)[0]
        return change(solved, compared_points(patches)) / seen

    @cached_property
    def singular_points(self) -> dict[Point, float]:
        """Points where interfaces end or cross, with the exponents of solutions there.

        Those with functions of their own are none: patches see them.
        """
        lines = self.rows.interfaces.lines
        known = {own.place for own in self.rows.functions}
        found = interface_vertices(self.rows.problem, self.tiling, lines)
        return {point: a for point, a in found.items() if point not in known}

    def closer(self, cells: Sequence[Cell], smaller: float = 0.0) -> list[Cell]:
        """Return the cells cut towards the points where interfaces end or cross; none without.

        The error that these points make is to be divided by `smaller`, if that is much.
        """
        if not self.singular_points:
            return []
        wanted = max(smaller, ADAPT.smaller)
        cuts = {point: cuts_for(a, wanted) for point, a in self.singular_points.items()}
        return cut_towards(cells, cuts, self.tiling.periods)

    def _noise(self, probe: Approximation, away: Flags) -> float:
        return finite(noise_in(probe, self.rows, away))

    def _telling(self, patches: Sequence[Patch], grown: float) -> list[Patch]:
        """Return patches with functions that would tell a resonance; none where these would.

        At one noise grows as far as modes of the operator are held. Where it stays far below that
        there is none; otherwise functions that hold more are asked.
        """
        phases = self.waves.phases(patches)
        functions = np.array([patch.functions for patch in patches])
        left = float(lost(phases, functions).max())
        if left <= ADAPT.held or grown * left <= ADAPT.below:
            return []
        holds = holding(phases, max(ADAPT.held, 0.1 * ADAPT.below / grown))
        more = np.maximum(functions, holds).astype(int).tolist()
        return [replace(p, functions=tuple(k)) for p, k in zip(patches, more, strict=True)]

    def _grown(self, patches: Sequence[Patch], grown: float, away: Flags) -> float:
        """Return what noise grows to on functions that would tell a resonance.

        By chance there may be less of a mode in their noise than in that before.
        """
        while telling := self._telling(patches, grown):
            patches = telling
            grown = max(grown, self._noise(self._solved(patches, 1.0, self._richer_rows)[1], away))
        return grown

    @cached_property
    def _richer_rows(self) -> PatchRows:
        """The rows with more functions of layers, if there are any."""
        functions = richer_layers(self.rows.functions)
        return (
            self.rows if functions == self.rows.functions else self.rows.with_functions(functions)
        )

    def _solved(
        self, patches: Sequence[Patch], heavier: float, rows: PatchRows
    ) -> tuple[Approximation, Approximation]:
        """Return the solution on patches, and the answer to the probe."""
        system = patch_system(rows, self.tiling, patches, heavier)
        _, found = self.method.factor(system)
        weights = system.weights(found)
        basis = PatchworkBasis(tuple(patches), shared=rows.functions)
        bases = dict.fromkeys(self.rows.unknowns, basis)
        coordinates = self.rows.problem.coordinates
        own, probe = (
            Approximation(coordinates, bases, split_weights(weights[:, k], bases)) for k in (0, 1)
        )
        return own, probe


def noise_in(probe: Approximation, rows: PatchRows, away: Flags | None = None) -> float:
    """Return what noise grows to at the compared points, each unknown in its unit on its patch.

    Noise of size one in a velocity is one of size 1/h in a pressure on a patch of size h, and no
    sign that the pressure is undetermined: t orders rougher, it is counted in units of (L/h)^t, L
    the extent of the domain. A mode of the whole domain is as large on patches of all sizes.
    """
    values = np.abs(compared_values(probe))
    basis = next(iter(probe.bases.values()))
    assert isinstance(basis, PatchworkBasis)
    size = np.array([patch.longest for patch in basis.patches]) / rows.measure.extent
    units = np.array([size ** rows.rough[unknown] for unknown in probe.bases])
    found = values * np.repeat(units, values.shape[1] // len(size), axis=1)
    return float(found[:, slice(None) if away is None else away].max())


def _largest(gaps: FloatArray, scales: Sequence[float]) -> float:
    """Return the largest gap of any unknown, (unknowns, m), in units of its scale."""
    return finite(float((gaps.max(axis=1, initial=0.0) / scales).max()))
