"""Rows of an eigenvalue problem on patches: those of the equation at a shift, and those of lam.

    Q(s) u' = -B u - ...

with one term or several on the right, each with functions of its own. Where the rows of the left
side are reduced to a triangle, those of the right side are rotated with them: a step of inverse
iteration then needs the weights of those functions alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.equation.linearise import LinearForm
from sharpfront.leastsquares.leaf_rows import Reduced
from sharpfront.problem import Problem
from sharpfront.rows.conditions import ConditionAt, ConditionRows
from sharpfront.rows.equation_rows import EquationRows
from sharpfront.rows.form_values import RowPoints, form_at
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.rows.row_scaling import Measure


class PencilEquations(EquationRows):
    """The equation's rows, with those of lam as right-hand sides, one for each column.

    The measure is of the problem at a shift; others are, of each term on the right, -B of each
    equation.
    """

    def __init__(self, measure: Measure, others: Sequence[Sequence[LinearForm]]) -> None:
        super().__init__(measure)
        self.others = others
        self._pencils: dict[Hashable, Reduced] = {}

    def reduced(self, patches: Sequence[Patch], count: int) -> list[Reduced]:
        """Return the rows on patches, reduced; right-hand sides are as many as columns."""
        for patch in patches:
            if self.key(patch) not in self._pencils:
                self._pencils[self.key(patch)] = self._made(patch)
        return [self._pencils[self.key(patch)] for patch in patches]

    def _made(self, patch: Patch) -> Reduced:
        places, names = RowPoints([patch]), self.measure.problem.coordinates
        # Of the left side, and of each term on the right.
        forms = [
            [places.split(form_at(f, names, places.every))[0] for f in each]
            for each in (self.measure.problem.forms, *self.others)
        ]
        scales, ((_, weights),) = self._scales(patch, forms[0]), places.rules
        own, *others = (self._matrix(patch, weights, each, scales) for each in forms)
        return Reduced.of(own, np.concatenate(others, axis=1))


class PencilConditions(ConditionRows):
    """The conditions' rows, with those of lam as right-hand sides.

    Others are, of each form that has any, its terms on the right, of which there are `count`.
    """

    def __init__(
        self, measure: Measure, others: Mapping[LinearForm, Sequence[LinearForm]], count: int
    ) -> None:
        super().__init__(measure)
        self.others, self.count = others, count

    def _right_sides(self, here: ConditionAt) -> FloatArray:
        if here.form not in self.others:
            columns = len(self.measure.unknowns) * here.patch.size
            return np.zeros((len(here.weighed(here.scale)), self.count * columns))
        names, where = self.measure.problem.coordinates, (here.points, here.normals)
        others = [form_at(other, names, *where) for other in self.others[here.form]]
        return np.concatenate([here.rows(other) for other in others], axis=1)


class PencilRows(PatchRows):
    """Assembles the rows of patches for an eigenvalue problem with lam at a shift.

    Terms on the right are -B of each equation for each of them, and those of each condition's form
    that has any.
    """

    def __init__(
        self,
        problem: Problem,
        equations: Sequence[Sequence[LinearForm]],
        conditions: Mapping[LinearForm, Sequence[LinearForm]],
        seed: int = 0,
    ) -> None:
        super().__init__(problem, seed)
        self.count = len(equations)
        self._equations = PencilEquations(self.measure, equations)
        self._conditions = PencilConditions(self.measure, conditions, self.count)
