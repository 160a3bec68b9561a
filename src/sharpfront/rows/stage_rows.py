"""Rows of the stages of a step in time on patches, for data that are given anew again and again.

The rate of a mode of stages is a number, real or complex, and the equation's rows are too.
Conditions and ties to traces are those of a stationary problem.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch
from sharpfront.equation.linearise import LinearForm
from sharpfront.geometry import BoundaryPoints
from sharpfront.leastsquares.kept import KeptLeaf
from sharpfront.problem import Problem
from sharpfront.rows.conditions import ConditionRows, OnSide, Rows
from sharpfront.rows.equation_rows import EquationRows
from sharpfront.rows.faces import Faces, Side
from sharpfront.rows.measure import TINY, Measure, lightest
from sharpfront.rows.norm import felt_size
from sharpfront.rows.patch_rows import PatchRows
from sharpfront.rows.sides import scattered_matrix, side_normals
from sharpfront.rows.values import FormValues, form_at, taylor_of_all


@dataclass(frozen=True, eq=False)
class Asked:
    """Where a condition is asked on a patch.

    Parameters
    ----------
    form
        The condition.
    scale
        What its rows are multiplied by, (m,).
    points, normals
        Where, (m, 2) each.
    """

    form: LinearForm
    scale: FloatArray
    points: FloatArray
    normals: FloatArray


class _UnitMeasure(Measure):
    """Right-hand sides that are those of data one."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, 0)
        self.loaded = False

    def probed(
        self,
        rhs: FloatArray,
        load: FloatArray | float = 0.0,
        points: FloatArray | None = None,
        shared: FloatArray | float = 0.0,
    ) -> FloatArray:
        """Return the factor on each row."""
        return rhs


class _StageConditions(ConditionRows):
    """Rows of conditions that tell where they are asked."""

    def _on_side(self, here: OnSide) -> Rows:
        matrix, scale = super()._on_side(here)
        patch, at = here.patch, here.patch.positions(here.rule[0])
        normals = side_normals(patch, here.side, at)
        return matrix, _asked(here.form, scale, patch.in_space(at), normals)

    def _scattered(
        self, patch: Patch, part: str, found: BoundaryPoints, weights: FloatArray
    ) -> Iterator[Rows]:
        forms = self._stated[part].forms if part in self._stated else ()
        rows = super()._scattered(patch, part, found, weights)
        for form, (matrix, scale) in zip(forms, rows, strict=True):
            yield matrix, _asked(form, scale, found.points, found.normals)

    def _at_point(self, form: LinearForm, patch: Patch, point: FloatArray) -> Rows:
        matrix, scale = super()._at_point(form, patch, point)
        return matrix, _asked(form, scale, point, np.zeros_like(point))


def _asked(form: LinearForm, scale: FloatArray, points: FloatArray, normals: FloatArray) -> Any:
    return Asked(form, scale, points, normals)


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

    def rows(self, patches: Sequence[Patch]) -> list[tuple[FloatArray, FloatArray]]:
        """Return matrix and factors of the rows of each patch."""
        keys: list[Hashable] = [self._key(patch) for patch in patches]
        first = dict(zip(keys, patches, strict=True))
        found: dict[Hashable, tuple[FloatArray, FloatArray]] = {}
        kinds = ("cut", "box", "chart")
        for kind in kinds:
            own = {k: p for k, p in first.items() if _kind(p) == kind}
            if own:
                made = self._inside(list(own.values()), cut=kind == "cut")
                found |= zip(own, made, strict=True)
        return [found[key] for key in keys]

    def _key(self, patch: Patch) -> Hashable:
        shared = self.measure.constant and patch.chart is None and patch.cut is None
        return patch.shape if shared else patch

    def _inside(
        self, patches: Sequence[Patch], *, cut: bool
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        counts = [tuple(p + 1 for p in patch.functions) for patch in patches]
        if cut:
            points = [patch.inner_points() for patch in patches]
            values = self._values(np.concatenate(points), points)
            for i, patch in enumerate(patches):
                yield self._scattered(patch, points[i], [v[i] for v in values])
            return
        rules = [patch.gauss_points(n) for patch, n in zip(patches, counts, strict=True)]
        points = [x for x, _ in rules]
        at = [p.positions([gauss(k)[0] for k in n]) for p, n in zip(patches, counts, strict=True)]
        taylor = taylor_of_all(patches, at)
        values = self._values(np.concatenate(points), points, taylor)
        for i, patch in enumerate(patches):
            forms, weights = [v[i] for v in values], rules[i][1]
            scales = self._scales(patch, forms)
            factors = [np.broadcast_to(k, weights.shape) * np.sqrt(weights) for k in scales]
            yield self._matrix(patch, weights, forms, scales), np.concatenate(factors)

    def _values(
        self, every: FloatArray, points: Sequence[FloatArray], taylor: Any = None
    ) -> list[list[FormValues]]:
        """Return the equations at the rate at the points of each patch."""
        ends = np.cumsum([len(x) for x in points])[:-1]
        names = self.measure.problem.coordinates
        out = []
        for powers in self.powers:
            terms: list[Any] = []
            coefficients: list[Any] = []
            for k, form in enumerate(powers):
                found = form_at(form, names, every)
                terms += found.terms
                coefficients += [c * self.rate**k if k else c for c in found.coefficients]
            whole = _merged(terms, coefficients, len(every))
            out.append(whole.in_chart(taylor).split(ends))
        return out

    def _scattered(
        self, patch: Patch, points: FloatArray, forms: Sequence[FormValues]
    ) -> tuple[FloatArray, FloatArray]:
        measure, blocks, factors = self.measure, [], []
        factor = lightest([patch], measure.order) * measure.weight(patch)
        for form in forms:
            size = felt_size(form, patch.sides, measure.rough, measure.extent)[0]
            scale = factor / np.maximum(size, TINY) / math.sqrt(max(1, len(points)))
            blocks.append(scattered_matrix(form, scale, patch, points, measure.unknowns))
            factors.append(np.broadcast_to(scale, len(points)))
        return np.concatenate(blocks), np.concatenate(factors)


def _kind(patch: Patch) -> str:
    if patch.cut is not None:
        return "cut"
    return "box" if patch.chart is None else "chart"


def _merged(terms: Sequence[Any], coefficients: Sequence[Any], count: int) -> FormValues:
    """Return a form in which each derivative stands once."""
    known: dict[tuple[str, tuple[int, ...]], tuple[Any, Any]] = {}
    for term, c in zip(terms, coefficients, strict=True):
        key = term.unknown, term.orders
        known[key] = (term, known[key][1] + c) if key in known else (term, c)
    own = list(known.values())
    return FormValues([t for t, _ in own], [c for _, c in own], np.ones(count))


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
    """

    def __init__(
        self, problem: Problem, powers: Sequence[Sequence[LinearForm]], rate: complex
    ) -> None:
        super().__init__(problem)
        self.measure = _UnitMeasure(problem)
        self._conditions = _StageConditions(self.measure)
        self._stages = _StageEquations(self.measure, powers, rate)
        self.asked: list[list[Asked]] = []

    def kept_leaves(
        self, patches: Sequence[Patch], faces: Faces, sides: Mapping[Side, str]
    ) -> list[KeptLeaf]:
        """Return the rows of all patches, and note where conditions are asked."""
        every = range(len(patches))
        ties = self._ties.of_patches(faces, patches, every)
        further: dict[int, list[Any]] = dict(self._conditions.on_sides(patches, sides, every))
        for i, own in self._conditions.on_curves(patches, every).items():
            further[i] = further[i] + list(own)
        for i, rows in self._conditions.at_points(patches, every):
            further[i] = [*further[i], rows]
        out, self.asked = [], []
        for i, (matrix, factors) in enumerate(self._stages.rows(patches)):
            self.asked.append([asked for _, asked in further[i]])
            scale = np.concatenate([factors, *(asked.scale for _, asked in further[i])])
            matrices = (matrix, *(m for m, _ in further[i]))
            out.append(KeptLeaf(matrices, scale, tuple(ties[i]), patches[i].cut is not None))
        return out
