"""A problem on patches at the moments of a step: residuals, tangents, and systems of modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.adapt.patchwork.system import patch_system
from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.equation.expression import Derivative, Key
from sharpfront.equation.operator import Operator
from sharpfront.evolve.patchwork.row_points import (
    MovingFrame,
    Places,
    PointsDuringStep,
    given_places,
    inner_places,
)
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.tangents import BentTerms, Tangents, Which, terms_in
from sharpfront.leastsquares.factored_tree import FactoredTree
from sharpfront.leastsquares.traces import Tree
from sharpfront.leastsquares.tree import TreeElimination
from sharpfront.place.tiling.blocks import Tiling
from sharpfront.rows.faces import Faces, Side
from sharpfront.rows.neighbours import faces_of
from sharpfront.rows.stage_rows import StageCondition, StageRows
from sharpfront.rows.trace_ties import KeptMoments

# Real or complex.
Numbers = NDArray[Any]
# Derivatives by time that are known: none, the first and the second.
RATES = 3


@dataclass(frozen=True, eq=False)
class _Held:
    """A residual and the points at which it is asked."""

    residual: Operator
    places: Places
    normals: FloatArray | None = None


class PatchDiscrete:
    """A problem on given patches.

    Parameters
    ----------
    system
        What is marched.
    tiling
        Its domain.
    basis
        Patches that tile it, with functions that they share.
    given
        Of how many of these, which come first, weights are known.
    """

    # How they go along; None where they stay.
    frame: MovingFrame | None

    def __init__(
        self,
        system: PlaneSystem,
        tiling: Tiling,
        basis: PatchworkBasis,
        given: int = 0,
    ) -> None:
        self.system, self.tiling = system, tiling
        self.basis, self.frame = basis, None
        own = int(basis.starts[-1])
        # The weights that are known, and the functions of the others that patches share.
        self.given, self.free = slice(own, own + given), basis.shared[given:]
        self.inner = inner_places(self.basis)
        self._held = [_Held(r, self.inner) for r in system.equations]
        self._index: list[Ints] = []
        self._elimination: TreeElimination | None = None
        self._during: dict[tuple[int, bytes], PointsDuringStep] = {}
        self._on_faces: KeptMoments = {}
        # The last rows: tables of functions that patches share are the same for all modes.
        self._last: StageRows | None = None

    def in_frame(self, frame: MovingFrame | None) -> PatchDiscrete:
        """Return the same patches, going along in another way."""
        if frame is self.frame:
            return self
        out = copy(self)
        out.frame, out._during = frame, {}
        return out

    @property
    def shape(self) -> tuple[int, int]:
        """Unknowns and functions of each."""
        return len(self.system.unknowns), self.basis.size

    def tree(self, tangents: Tangents, rate: complex) -> FactoredTree:
        """Return the rows of one mode, factored."""
        own = tangents.problem(abs(rate)), tangents.powers, rate
        rows = self._last = StageRows(*own, self._on_faces, self.free, self._last)
        patches, tiling = self.basis.patches, self.tiling
        if self._elimination is None:
            # Which traces there are, and how many moments of each, is the same for all modes.
            self._elimination = Tree().elimination(patch_system(rows, tiling, patches))
        leaves = rows.kept_leaves(patches, *self._walls)
        if not self._index:
            self._note(rows)
        return FactoredTree(leaves, self._elimination)

    @cached_property
    def _walls(self) -> tuple[Faces, Mapping[Side, str]]:
        """The faces between patches, and their sides along the boundary."""
        faces, bare = faces_of(self.basis.patches, self.tiling.periods)
        return faces, self.tiling.parts(self.basis.patches, bare)

    def _note(self, rows: StageRows) -> None:
        """Find out where conditions are asked, and in which order data belong to leaves."""
        stated = [*rows.problem.conditions, *rows.problem.further]
        forms = [form for condition in stated for form in condition.forms]
        numbers = {id(form): k for k, form in enumerate(forms)}
        self._hold(rows.asked, numbers, len(forms))
        self._index = self._indices(rows.asked, numbers)

    def _hold(
        self, asked: Sequence[Sequence[StageCondition]], numbers: Mapping[int, int], count: int
    ) -> None:
        residuals = [r for own in self.system.conditions for r in own]
        none = np.zeros((0, 2))
        for number in range(count):
            own = [[a for a in each if numbers[id(a.form)] == number] for each in asked]
            points = [np.concatenate([none, *(a.points for a in each)]) for each in own]
            normals = np.concatenate([none, *(a.normals for each in own for a in each)])
            places = given_places(self.basis, points)
            self._held.append(_Held(residuals[number], places, normals))

    def _indices(
        self, asked: Sequence[Sequence[StageCondition]], numbers: Mapping[int, int]
    ) -> list[Ints]:
        """Return where the data of each leaf are among all."""
        ends = np.concatenate([[0], np.cumsum([len(h.places.points) for h in self._held])])
        equations = len(self.system.equations)
        out = []
        for i, own in enumerate(asked):
            first, last = self.inner.starts[i : i + 2]
            parts = [ends[e] + np.arange(first, last) for e in range(equations)]
            passed: dict[int, int] = {}
            for a in own:
                number = equations + numbers[id(a.form)]
                at = passed.get(number, 0)
                passed[number] = at + len(a.points)
                begin = int(ends[number]) + int(self._held[number].places.starts[i]) + at
                parts.append(begin + np.arange(len(a.points)))
            out.append(np.concatenate(parts))
        return out

    def data(self, levels: FloatArray, t: FloatArray) -> FloatArray:
        """Return what all residuals are, (S, data).

        Parameters
        ----------
        levels
            Weights of unknowns and of their rates, (RATES, S, K, n).
        t
            The moments, (S,).
        """
        return np.concatenate([self._values(h, levels, t) for h in self._held], axis=1)

    def _values(self, held: _Held, levels: FloatArray, t: FloatArray) -> FloatArray:
        count = len(held.places.points)
        leaves = self.leaves(held, levels, t)
        return held.residual.at(leaves, len(t) * count).reshape(len(t), count)

    def leaves(self, held: _Held, levels: FloatArray, t: FloatArray) -> dict[Key, FloatArray]:
        """Return what residuals are made of, at all points for one moment after the other."""
        return self._leaves(held, levels, t, self._at(held.places, t))

    def _at(self, places: Places, t: FloatArray) -> PointsDuringStep:
        """Return where places are at some moments."""
        if self.frame is None:
            return PointsDuringStep(places, None, t)
        key = id(places), t.tobytes()
        if key not in self._during:
            self._during[key] = PointsDuringStep(places, self.frame, t)
        return self._during[key]

    def _leaves(
        self,
        held: _Held,
        levels: FloatArray,
        t: FloatArray,
        during: PointsDuringStep,
    ) -> dict[Key, FloatArray]:
        """Return what residuals are made of."""
        normals = None if held.normals is None else np.tile(held.normals, (len(t), 1))

        def known(leaf: Derivative) -> FloatArray:
            x, y, rate = leaf.orders
            own = levels[:, :, self.system.unknowns.index(leaf.unknown)]
            return during.values(own, (x, y, rate))

        moments = np.repeat(t, len(held.places.points))
        return self.system.leaves(held.residual, during.points, moments, known, normals)

    @property
    def count(self) -> int:
        """The number of residuals."""
        return len(self._held)

    def held(self, numbers: range) -> list[_Held]:
        """Return some residuals with their points."""
        return [self._held[i] for i in numbers]

    def tangents(
        self, residuals: Sequence[_Held], levels: FloatArray, t: float
    ) -> list[list[FloatArray]]:
        """Return the coefficient of each of the `terms` of residuals about a state, (m,) each.

        Where patches go along, they are what patches are bent to by then.

        Parameters
        ----------
        residuals
            Which.
        levels
            Weights of unknowns and of their rates, (RATES, K, n).
        t
            When.
        """
        out = []
        for held in residuals:
            at = np.array([t])
            during = self._at(held.places, at)
            leaves = self._leaves(held, levels[:, None], at, during)
            own = held.residual.tangents(leaves, len(held.places.points))
            bent, points = self._bent(t), held.places.points
            if bent is not None:
                own = [
                    c * bent.share(term.orders, b, points)
                    for c, term in zip(own, held.residual.terms, strict=True)
                    for b in bent.made_of(term.orders)
                ]
            out.append(own)
        return out

    def _bent(self, t: float) -> BentTerms | None:
        return None if self.frame is None else BentTerms(self.frame, t)

    def terms(self, residual: Operator) -> list[Which]:
        """Return unknowns and orders of the terms of a residual, as they are in the frame."""
        return terms_in(residual, None if self.frame is None else self._bent(self.frame.since))

    def linear(self, tangents: Sequence[Sequence[FloatArray]], levels: FloatArray) -> FloatArray:
        """Return sums of tangents times derivatives, (S, data); levels as for `data`."""
        out = []
        for held, own in zip(self._held, tangents, strict=True):
            total = np.zeros((levels.shape[1], len(held.places.points)))
            for (unknown, (x, y, rate)), c in zip(self.terms(held.residual), own, strict=True):
                weights = levels[rate][:, self.system.unknowns.index(unknown)]
                total += c * held.places.values(weights, (x, y))
            out.append(total)
        return np.concatenate(out, axis=1)

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which data are of equations, those of conditions are not."""
        count = len(self.system.equations) * len(self.inner.points)
        return np.arange(sum(len(h.places.points) for h in self._held)) < count

    def solved(self, tree: FactoredTree, data: Numbers) -> Numbers:
        """Return the weights for several data of a mode, (R, all data): (R, K, n).

        Those that are known are zero. What else patches share is of one unknown.
        """
        columns, shared = tree.solve([data[:, index].T for index in self._index])
        count = len(self.system.unknowns)
        blocks = [c.T.reshape(len(data), count, -1) for c in columns]
        known = np.zeros((len(data), count, self.given.stop - self.given.start))
        free = shared.T.reshape(len(data), -1, len(shared)) if len(shared) else known[..., :0]
        return np.concatenate([*blocks, known, free], axis=2)
