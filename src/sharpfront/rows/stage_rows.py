"""Rows of the stages of a step in time on patches, for data that are given anew again and again.

The rate of a mode of stages is a number, real or complex, and the equation's rows are too.
Conditions and ties to traces are those of a stationary problem.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import SharedFunctions
from sharpfront.bases.patch import Patch
from sharpfront.equation.linearise import LinearForm
from sharpfront.leastsquares.factored_tree import KeptLeaf
from sharpfront.problem import Problem
from sharpfront.rows.conditions import ConditionAt, ConditionRows
from sharpfront.rows.equation_rows import EquationRows
from sharpfront.rows.faces import Faces, Side
from sharpfront.rows.form_values import FormValues, RowPoints, form_at, kinds_of
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.rows.row_scaling import Measure
from sharpfront.rows.trace_ties import KeptMoments


@dataclass(frozen=True, eq=False)
class StageCondition:
    """Where a condition is asked on a patch.

    Parameters
    ----------
    form
        The condition.
    scale
        What its rows are multiplied by, (m,).
    points, normals
        Where, (m, 2) each.
    shared
        What its rows are of functions that patches share, on the right, (m, functions).
    """

    form: LinearForm
    scale: FloatArray
    points: FloatArray
    normals: FloatArray
    shared: FloatArray


class _StageConditions(ConditionRows):
    """Rows of conditions that tell where they are asked."""

    def _right_sides(self, here: ConditionAt) -> Any:
        scale = here.weighed(here.scale)
        shared = np.zeros((len(scale), 0))
        if self.measure.shared:
            found = self.measure.of_functions(here.values, here.points, here.scale, here.patch)
            shared = here.weighed(np.asarray(found))
        return StageCondition(here.form, scale, here.points, here.normals, shared)


# Matrix and factors of the rows of a patch, and what those of each equation are of functions.
_OfPatch = tuple[FloatArray, FloatArray, list[FloatArray]]


class _StageEquations(EquationRows):
    """The equation's rows at a rate.

    Parameters
    ----------
    measure
        What rows are measured by.
    powers
        Of each equation what stands beside each power of the rate.
    rate
        Real or complex.
    """

    def __init__(
        self, measure: Measure, powers: Sequence[Sequence[LinearForm]], rate: complex
    ) -> None:
        super().__init__(measure)
        self.powers, self.rate = powers, rate if rate.imag else rate.real

    def key(self, patch: Patch) -> Hashable:
        """Return what is the same for patches with the same rows."""
        return patch if self.measure.shared else super().key(patch)

    def rows(self, patches: Sequence[Patch]) -> list[_OfPatch]:
        """Return matrix and factors of the rows of each patch, and its sides of functions."""
        keys: list[Hashable] = [self.key(patch) for patch in patches]
        found: dict[Hashable, _OfPatch] = {}
        for own in kinds_of([*dict(zip(keys, patches, strict=True)).values()]):
            found |= zip(map(self.key, own), self._made(own), strict=True)
        return [found[key] for key in keys]

    def _made(self, patches: Sequence[Patch]) -> Iterator[_OfPatch]:
        """Yield the same of patches of one kind."""
        places = RowPoints(patches)
        values = [places.split(self._at_rate(powers, places.every)) for powers in self.powers]
        for i, (patch, (at, weights)) in enumerate(zip(patches, places.rules, strict=True)):
            forms = [v[i] for v in values]
            scales = self._scales(patch, forms)
            factors = [np.broadcast_to(k, weights.shape) * np.sqrt(weights) for k in scales]
            shared = [
                np.reshape(self.measure.of_functions(form, at, k, patch), (len(k), -1))
                for form, k in zip(forms, factors if self.measure.shared else (), strict=False)
            ]
            matrix = self._matrix(patch, weights, forms, scales)
            yield matrix, np.concatenate(factors), shared

    def _at_rate(self, powers: Sequence[LinearForm], points: FloatArray) -> FormValues:
        """Return an equation at the rate, each derivative once."""
        found = [form_at(form, self.measure.problem.coordinates, points) for form in powers]
        parts = [
            (term, c * self.rate**k)
            for k, form in enumerate(found)
            for term, c in zip(form.terms, form.coefficients, strict=True)
        ]
        return FormValues.of_sum(parts, np.ones(len(points)))


class StageRows(PatchRows):
    """Assembles the rows of patches whose data are given later.

    Parameters
    ----------
    problem
        A linear one of the same size: the mode's with a real rate, with the source -1.
    powers
        Of each equation what stands beside each power of the rate.
    rate
        The mode's.
    kept
        Moments on faces of the patches, which other modes take as well.
    functions
        Those that patches share, whose weights are to be found.
    last
        Rows of another mode or step with the same functions on the same patches.
    """

    def __init__(
        self,
        problem: Problem,
        powers: Sequence[Sequence[LinearForm]],
        rate: complex,
        kept: KeptMoments,
        functions: tuple[SharedFunctions, ...] = (),
        last: StageRows | None = None,
    ) -> None:
        super().__init__(problem, functions=functions)
        self._ties.kept = kept
        if last is not None:
            self.measure.like(last.measure)
        self._conditions = _StageConditions(self.measure)
        self._stages = _StageEquations(self.measure, powers, rate)
        self.asked: list[list[StageCondition]] = []

    def kept_leaves(
        self, patches: Sequence[Patch], faces: Faces, sides: Mapping[Side, str]
    ) -> list[KeptLeaf]:
        """Return the rows of all patches, and note where conditions are asked."""
        every = range(len(patches))
        self.weigh(faces, sides)
        ties = self._ties.of_patches(faces, patches, every)
        further: Mapping[int, list[Any]] = self._further(patches, sides, every)
        out, self.asked = [], []
        for i, (matrix, factors, shared) in enumerate(self._stages.rows(patches)):
            asked = [own for _, own in further[i]]
            self.asked.append(asked)
            scale = np.concatenate([factors, *(own.scale for own in asked)])
            matrices = (matrix, *(m for m, _ in further[i]))
            right = np.concatenate([*shared, *(a.shared for a in asked)]) if shared else None
            cut = patches[i].cut is not None
            out.append(KeptLeaf(matrices, scale, tuple(ties[i]), cut, right))
        return out
