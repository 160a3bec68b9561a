"""Rows of conditions on sides of patches and at points."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.cut_cells import Cut
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch
from sharpfront.equation.linearise import LinearForm
from sharpfront.geometry import BoundaryPoints
from sharpfront.problem import PointCondition
from sharpfront.rounding import TINY
from sharpfront.rows.faces import Side
from sharpfront.rows.form_values import FormValues, form_at, is_constant, taylor_of, taylor_of_all
from sharpfront.rows.moments import weighed_rows, weighed_source
from sharpfront.rows.row_norm import size_of_terms
from sharpfront.rows.row_scaling import Measure
from sharpfront.rows.side_quadrature import (
    form_matrix,
    local_sides,
    nearest_patch,
    scattered_matrix,
    side_normals,
    side_rule,
    side_tables,
)

Rows = tuple[FloatArray, FloatArray]
# Points of a side along each axis of the reference cell, and weights.
Rule = tuple[list[FloatArray], FloatArray]
# Rows are kept of so many times the sides at hand: they are wanted again in another norm.
SIDES_KEPT = 4
# Points on what lies inside of a side, for each function along it.
ALONG = 2


class ConditionAt(NamedTuple):
    """A condition at points of a patch, and how rows are made there."""

    form: LinearForm
    patch: Patch
    points: FloatArray  # in space, (m, d)
    normals: FloatArray
    values: FormValues  # the form there, along space's axes
    scale: FloatArray  # what its values are multiplied by in the rows, (m,)
    rows: Callable[[FormValues], FloatArray]  # of a form there, times the scale
    weighed: Callable[[FloatArray], FloatArray]  # values at the points, in the rows they belong to


class ConditionRows:
    """Assembles the rows of conditions, measured by a measure."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self._stated = {c.part: c for c in measure.problem.conditions}
        self._shared: dict[Hashable, tuple[FloatArray, FloatArray]] = {}
        self._kept: dict[Hashable, list[Rows]] = {}

    def on_sides(
        self, patches: Sequence[Patch], sides: Mapping[Side, str], which: Collection[int]
    ) -> dict[int, list[Rows]]:
        """Return the rows of some patches' sides, at Gauss points of each side."""
        out: dict[int, list[Rows]] = {i: [] for i in which}
        stated: dict[tuple[tuple[LinearForm, ...], bool], list[Side]] = {}
        for side, part in sides.items():
            if part in self._stated and side.patch in out:
                if pieces := _pieces(patches[side.patch], side):
                    out[side.patch] += self._on_pieces(patches[side.patch], side, part, pieces)
                    continue
                kind = self._stated[part].forms, patches[side.patch].chart is None
                stated.setdefault(kind, []).append(side)
        known: dict[Hashable, list[Rows]] = {}
        for (forms, _), own in stated.items():
            here = [patches[side.patch] for side in own]
            keys = [(forms, side.axis, side.end, p) for side, p in zip(own, here, strict=True)]
            new = [i for i, key in enumerate(keys) if key not in self._kept]
            if new:
                fresh = self._evaluated(forms, [own[i] for i in new], [here[i] for i in new])
                self._kept |= zip([keys[i] for i in new], fresh, strict=True)
            for side, key in zip(own, keys, strict=True):
                known[key] = self._kept[key]
                out[side.patch] += known[key]
        if len(self._kept) > SIDES_KEPT * max(len(sides), len(patches)):
            self._kept = known
        return out

    def _evaluated(
        self, forms: Sequence[LinearForm], sides: Sequence[Side], patches: Sequence[Patch]
    ) -> list[list[Rows]]:
        """Return the rows of the conditions on sides, evaluated on all of them at once."""
        rules = [side_rule(patch, side) for patch, side in zip(patches, sides, strict=True)]
        at = [patch.positions(z) for patch, (z, _) in zip(patches, rules, strict=True)]
        normals = [side_normals(*each) for each in zip(patches, sides, at, strict=True)]
        points = [patch.in_space(x) for patch, x in zip(patches, at, strict=True)]
        ends = np.cumsum([len(x) for x in at])[:-1]
        every = np.concatenate(points), np.concatenate(normals)
        taylor = taylor_of_all(patches, at)
        out: list[list[Rows]] = [[] for _ in sides]
        for form in forms:
            found = form_at(form, self.measure.problem.coordinates, *every)
            values, space = found.in_chart(taylor).split(ends), found.split(ends)
            for i, own in enumerate(out):
                matrix, scale = self._scaled(form, patches[i], sides[i], rules[i], values[i])
                where = patches[i], points[i], normals[i], space[i], scale
                own.append((matrix, self._right_on_side(form, sides[i], rules[i], *where)))
        return out

    def on_curves(self, patches: Sequence[Patch], which: Collection[int]) -> dict[int, list[Rows]]:
        """Return the rows of some patches on the boundary that cuts them."""
        out: dict[int, list[Rows]] = {}
        for i in which:
            if (cut := patches[i].cut) is not None:
                key = ("curves", patches[i])
                if key not in self._kept:
                    found = cut.boundary(max(patches[i].functions)).items()
                    self._kept[key] = [
                        rows
                        for part, own in found
                        for rows in self._scattered(patches[i], part, *own)
                    ]
                out[i] = self._kept[key]
        return out

    def _on_pieces(
        self, patch: Patch, side: Side, part: str, pieces: Sequence[tuple[float, float]]
    ) -> list[Rows]:
        """Return the rows on what lies inside of a side, where that is not all of it."""
        z, w = gauss(ALONG * patch.functions[1 - side.axis])
        along = np.concatenate([0.5 * (a * (1 - z) + b * (1 + z)) for a, b in pieces])
        weights = np.concatenate([w * (b - a) for a, b in pieces])
        points, normals = np.empty((len(along), 2)), np.zeros((len(along), 2))
        points[:, side.axis] = (patch.high if side.end else patch.low)[side.axis]
        points[:, 1 - side.axis] = along
        normals[:, side.axis] = 1.0 if side.end else -1.0
        found = BoundaryPoints(points, normals)
        return list(self._scattered(patch, part, found, weights / weights.sum()))

    def _scattered(
        self, patch: Patch, part: str, found: BoundaryPoints, weights: FloatArray
    ) -> Iterator[Rows]:
        """Yield the rows of conditions on a part at points of it with weights that sum to one."""
        measure = self.measure
        for form in self._stated[part].forms if part in self._stated else ():
            values = form_at(form, measure.problem.coordinates, found.points, found.normals)
            size = np.maximum(size_of_terms(values, patch.sides, measure.rough), TINY)
            scale = measure.weight(patch) / size * np.sqrt(weights)

            def rows(other: FormValues, scale: FloatArray = scale) -> FloatArray:
                return scattered_matrix(other, scale, patch, found.points, measure.unknowns)

            here = ConditionAt(
                form, patch, found.points, found.normals, values, scale, rows, lambda v: v
            )
            yield rows(values), self._right_sides(here)

    def _scaled(
        self, form: LinearForm, patch: Patch, side: Side, rule: Rule, values: FormValues
    ) -> tuple[FloatArray, FloatArray]:
        """Return the rows of a condition on a side, and what its values are multiplied by."""
        weight, (z, weights) = self.measure.weight(patch), rule
        key: Hashable = None
        if patch.chart is None and is_constant(form):
            key = id(form), side.axis, side.end, patch.shape, weight
            if key in self._shared:
                return self._shared[key]
        size = size_of_terms(values, local_sides(patch, z), self.measure.rough)
        scale = weight / np.maximum(size, TINY)
        tables = side_tables(patch, side, values.order)
        known = weighed_rows(values, scale, weights, tables, self.measure.unknowns), scale
        if key is not None:
            self._shared[key] = known
        return known

    def _right_on_side(
        self,
        form: LinearForm,
        side: Side,
        rule: Rule,
        patch: Patch,
        points: FloatArray,
        normals: FloatArray,
        space: FormValues,
        scale: FloatArray,
    ) -> FloatArray:
        z, weights = rule
        counts, unknowns = tuple(map(len, z)), self.measure.unknowns

        def rows(other: FormValues) -> FloatArray:
            own = other.in_chart(taylor_of(patch, patch.positions(z)))
            return weighed_rows(own, scale, weights, side_tables(patch, side, own.order), unknowns)

        def weighed(values: FloatArray) -> FloatArray:
            return weighed_source(values, weights, counts)

        where = patch, points, normals, space, scale
        return self._right_sides(ConditionAt(form, *where, rows, weighed))

    def _right_sides(self, here: ConditionAt) -> FloatArray:
        """Return what the rows of a condition are to be, beside the probes, (m, k)."""
        shared: FloatArray | float = 0.0
        if self.measure.shared:
            found = self.measure.of_functions(here.values, here.points, here.scale, here.patch)
            shared = here.weighed(np.asarray(found))
        return self.measure.probed(here.weighed(here.values.rhs * here.scale), shared=shared)

    def owners(self, patches: Sequence[Patch]) -> dict[int, list[PointCondition]]:
        """Return the conditions at points, each with one patch that has the point."""
        out: dict[int, list[PointCondition]] = {}
        for condition in self.measure.problem.further:
            if isinstance(condition, PointCondition):
                owner = nearest_patch(patches, np.array(condition.point))
                out.setdefault(owner, []).append(condition)
        return out

    def at_points(self, patches: Sequence[Patch], which: Collection[int]) -> list[tuple[int, Rows]]:
        """Return the rows of conditions at points, each with a patch that has the point."""
        owned = self.owners(patches)
        return [
            (i, self._at_point(form, patches[i], np.array([condition.point])))
            for i in owned
            if i in which
            for condition in owned[i]
            for form in condition.forms
        ]

    def _at_point(self, form: LinearForm, patch: Patch, point: FloatArray) -> Rows:
        at, names = patch.in_chart(point), self.measure.problem.coordinates
        values, taylor = form_at(form, names, point), taylor_of(patch, at)
        found = values.in_chart(taylor)
        size = np.maximum(size_of_terms(found, patch.sides, self.measure.rough), TINY)
        scale = self.measure.weight(patch) / size

        def rows(other: FormValues) -> FloatArray:
            own = other.in_chart(taylor)
            tables = [patch.axis_table(a, at[:, a], own.order) for a in range(patch.dimension)]
            return form_matrix(own, scale, tables, self.measure.unknowns)

        nowhere = np.zeros_like(point)
        here = ConditionAt(form, patch, point, nowhere, values, scale, rows, lambda v: v)
        return rows(values), self._right_sides(here)


def _pieces(patch: Patch, side: Side) -> list[tuple[float, float]]:
    """Return what lies inside of a side that is cut; nothing where that is all of it."""
    if not isinstance(patch.cut, Cut):
        return []
    found = patch.cut.inside_of(side.axis, side.end)
    ends = patch.low[1 - side.axis], patch.high[1 - side.axis]
    whole = found and (found[0][0], found[-1][1]) == ends
    gaps = [b[0] - a[1] for a, b in itertools.pairwise(found)]
    return [] if whole and not any(gaps) else found
