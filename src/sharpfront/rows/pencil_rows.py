"""Rows of an eigenvalue problem on patches: those of the equation at a shift, and those of lam.

    (A + shift B) u = -(lam - shift) B u

Where the rows of the left side are reduced to a triangle, those of the right side are rotated with
them: a step of inverse iteration then needs the weights of u alone.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch
from sharpfront.equation.linearise import LinearForm
from sharpfront.leastsquares.leaves import Reduced
from sharpfront.problem import Problem
from sharpfront.rows.equation_rows import EquationRows
from sharpfront.rows.measure import TINY, Measure, lightest
from sharpfront.rows.norm import felt_size
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.rows.sides import scattered_matrix
from sharpfront.rows.values import FormValues, form_at, taylor_of


class PencilEquations(EquationRows):
    """The equation's rows, with those of lam as right-hand sides, one for each column.

    Parameters
    ----------
    measure
        What rows are measured by, of the problem at a shift.
    others
        -B of each equation.
    """

    def __init__(self, measure: Measure, others: Sequence[LinearForm]) -> None:
        super().__init__(measure)
        self.others = others
        self._pencils: dict[Hashable, Reduced] = {}

    def reduced(self, patches: Sequence[Patch], count: int) -> list[Reduced]:
        """Return the rows on patches, reduced; right-hand sides are as many as columns."""
        return [self._reduced(patch) for patch in patches]

    def _reduced(self, patch: Patch) -> Reduced:
        shared = self.measure.constant and patch.chart is None and patch.cut is None
        key: Hashable = patch.shape if shared else patch
        if key not in self._pencils:
            whole = patch.cut is None
            self._pencils[key] = self._on_box(patch) if whole else self._inside(patch)
        return self._pencils[key]

    def _forms(self, points: FloatArray) -> tuple[list[FormValues], list[FormValues]]:
        names = self.measure.problem.coordinates
        own = [form_at(form, names, points) for form in self.measure.problem.forms]
        return own, [form_at(form, names, points) for form in self.others]

    def _on_box(self, patch: Patch) -> Reduced:
        counts = tuple(p + 1 for p in patch.functions)
        points, weights = patch.gauss_points(counts)
        taylor = taylor_of(patch, patch.positions([gauss(n)[0] for n in counts]))
        own, others = ([f.in_chart(taylor) for f in forms] for forms in self._forms(points))
        scales = self._scales(patch, own)
        matrices = (self._matrix(patch, weights, forms, scales) for forms in (own, others))
        return Reduced.of(*matrices)

    def _inside(self, patch: Patch) -> Reduced:
        points, measure = patch.inner_points(), self.measure
        own, others = self._forms(points)
        factor = lightest([patch], measure.order) * measure.vote(patch.longest)
        root = math.sqrt(max(1, len(points)))
        blocks: tuple[list[FloatArray], list[FloatArray]] = ([], [])
        for form, other in zip(own, others, strict=True):
            size = felt_size(form, patch.sides, measure.rough, measure.extent)[0]
            scale = factor / np.maximum(size, TINY) / root
            for found, block in zip((form, other), blocks, strict=True):
                block.append(scattered_matrix(found, scale, patch, points, measure.unknowns))
        return Reduced.of(*(np.concatenate(block) for block in blocks))


class PencilRows(PatchRows):
    """Assembles the rows of patches for an eigenvalue problem.

    Parameters
    ----------
    problem
        With lam at a shift.
    others
        -B of each equation.
    seed
        Of the probe.
    """

    def __init__(self, problem: Problem, others: Sequence[LinearForm], seed: int = 0) -> None:
        super().__init__(problem, seed)
        self._equations = PencilEquations(self.measure, others)
