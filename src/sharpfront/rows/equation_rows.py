"""The equation's rows on patches: the equation at Gauss points, reduced to a triangle."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch
from sharpfront.equation.expression import Expression, is_zero
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import at_points, environment
from sharpfront.leastsquares.leaf_rows import Matrix, Reduced, remainder
from sharpfront.leastsquares.reflectors import Reflection
from sharpfront.leastsquares.threads import mapped
from sharpfront.rounding import TINY
from sharpfront.rows.form_values import FormValues, RowPoints, constants_of, form_at, kinds_of
from sharpfront.rows.moments import projected_rows, triangle_of, weighed_rows, weighed_source
from sharpfront.rows.row_norm import felt_size, size_of_terms
from sharpfront.rows.row_scaling import Measure, lightest
from sharpfront.rows.side_quadrature import inner_sides, local_sides, scattered_matrix
from sharpfront.rows.sources import resolved_sources

# Rows are kept of so many times the patches at hand: those of a solution are wanted again in
# another norm, hardly later.
KEPT = 4
# No more numbers than this are kept, 240 MB.
MOST_KEPT = 30_000_000


@dataclass(frozen=True, eq=False)
class _AlikePatches:
    """What patches of one shape have in common where coefficients are constant."""

    scales: Sequence[FloatArray | float]  # the factor on the rows of each equation
    triangle: Matrix  # their rows reduced
    # What reduces them; None where the weights of the polynomials in the equation, which are a
    # triangle already, stand for its values.
    reflection: Reflection | None = None


class EquationRows:
    """Assembles and reduces the equation's rows, and keeps them."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self._alike: dict[Hashable, _AlikePatches] = {}
        self._kept: dict[Patch, Reduced] = {}
        # Whether others with the same operator want what reduces the rows of each patch.
        self._asked = False

    def key(self, patch: Patch) -> Hashable:
        """Return what is the same for patches with the same rows."""
        shared = self.measure.constant and patch.chart is None and patch.cut is None
        return patch.shape if shared else patch

    def like(self, other: EquationRows) -> None:
        """Share what reduces the rows of another problem with the same operator."""
        self._alike, self._asked = other._alike, True

    def reduced(self, patches: Sequence[Patch], count: int) -> list[Reduced]:
        """Return the rows on patches, reduced; there are `count` patches at hand in all."""
        fresh = [patch for patch in patches if patch not in self._kept]
        known = self._kept | dict(zip(fresh, self._assembled(fresh), strict=True))
        out = {patch: known[patch] for patch in patches}
        self._kept = known if len(known) <= KEPT * count else out
        held = {id(own): own.size for r in known.values() for own in (r.triangle, r.rhs)}
        # Patches come some at a time: all of them take as many times more.
        if sum(held.values()) * max(1.0, count / max(1, len(known))) > MOST_KEPT:
            self._kept, self._alike = {}, {}
        return list(out.values())

    def _assembled(self, patches: Sequence[Patch]) -> list[Reduced]:
        layered = [p for p in patches if p.chart is None and len(self.measure.in_layers(p))]
        work = sum(4.0 * patch.size**3 for patch in layered)
        known = dict(zip(layered, mapped(self._in_layer, layered, work), strict=True))
        for alike in kinds_of([patch for patch in patches if patch not in known]):
            known |= zip(alike, self._of_kind(alike), strict=True)
        return [known[patch] for patch in patches]

    def _in_layer(self, patch: Patch) -> Reduced:
        """Return the rows of a box in which a layer has functions: there are points in it too."""
        measure = self.measure
        own = RowPoints([patch]).every
        points = np.concatenate([own, measure.in_layers(patch)])
        (equation,) = measure.problem.forms
        form = form_at(equation, measure.problem.coordinates, points)
        size = felt_size(form, patch.sides, measure.rough, measure.extent)
        factor = lightest([patch], measure.order) * measure.weight(patch)
        scale = factor / np.maximum(size, TINY) / math.sqrt(len(points))
        matrix = scattered_matrix(form, scale, patch, points, measure.unknowns)
        load = measure.load(points)[0] * scale
        shared = measure.of_functions(form, points, scale, patch)
        both = measure.probed(form.rhs * scale, load, points, shared)
        return Reduced.of(matrix, both, measure.shared)

    def _of_kind(self, patches: Sequence[Patch]) -> list[Reduced]:
        """Return the rows of patches of one kind."""
        places, problem = RowPoints(patches), self.measure.problem
        plain = patches[0].cut is None and patches[0].chart is None
        if (self.measure.constant and plain) or all(patch in self._alike for patch in patches):
            ends, names = np.cumsum([len(x) for x, _ in places.rules])[:-1], problem.coordinates
            every = [_source(form.source, names, places.every) for form in problem.forms]
            sources = [
                with_means(form, names, patches, np.split(source, ends))
                for form, source in zip(problem.forms, every, strict=True)
            ]
            return [
                self._like_others(patch, places.rules[i], [s[i] for s in sources])
                for i, patch in enumerate(patches)
            ]
        values = [
            places.split(form_at(form, problem.coordinates, places.every)) for form in problem.forms
        ]
        if patches[0].cut is None:
            values = [
                [replace(v, rhs=s) for v, s in zip(own, found, strict=True)]
                for own, form in zip(values, problem.forms, strict=True)
                for found in [with_means(form, problem.coordinates, patches, [v.rhs for v in own])]
            ]
        each = [(patch, places.rules[i], [v[i] for v in values]) for i, patch in enumerate(patches)]
        work = sum(2.0 * (len(self.measure.unknowns) * patch.size) ** 3 for patch in patches)
        return mapped(lambda one: self._varying(*one), each, work)

    def _varying(
        self, patch: Patch, rule: tuple[FloatArray, FloatArray], forms: Sequence[FormValues]
    ) -> Reduced:
        scales, weights = self._scales(patch, forms), rule[1]
        if self._apart and not self._asked:
            rhs = self._rhs(patch, [f.rhs for f in forms], scales, rule)
            alone = [[form.terms[0].unknown] for form in forms]
            every = self._matrices(patch, weights, forms, scales, alone)
            sides, order = np.split(rhs, len(forms)), self._apart
            own = [every[i] for i in order], [sides[i] for i in order]
            return Reduced.apart(*own, self.measure.shared)
        matrix = self._matrix(patch, weights, forms, scales)
        if self._asked:
            reflection = Reflection(matrix)
            self._alike[patch] = _AlikePatches(scales, reflection.upper, reflection)
            return self._like_others(patch, rule, [f.rhs for f in forms])
        return Reduced.of(
            matrix, self._rhs(patch, [f.rhs for f in forms], scales, rule), self.measure.shared
        )

    def _like_others(
        self, patch: Patch, rule: tuple[FloatArray, FloatArray], sources: Sequence[FloatArray]
    ) -> Reduced:
        """Return the rows of which only the right-hand side is new.

        For constant coefficients, or if those of another problem with the same operator are known.
        """
        points, weights = rule
        if patch not in self._alike and patch.shape not in self._alike:
            names = self.measure.problem.coordinates
            single = len(self.measure.problem.forms) == len(self.measure.unknowns) == 1
            as_triangle = single and patch.is_even
            forms = [
                (constants_of(form) if as_triangle else None) or form_at(form, names, points)
                for form in self.measure.problem.forms
            ]
            scales = self._scales(patch, forms)
            if as_triangle:
                known = _AlikePatches(
                    [float(scales[0][0])], triangle_of(patch, forms[0], scales[0][0])
                )
            else:
                reflection = Reflection(self._matrix(patch, weights, forms, scales))
                known = _AlikePatches(scales, reflection.upper, reflection)
            self._alike[patch.shape] = known
        known = self._alike[patch if patch in self._alike else patch.shape]
        rhs = self._rhs(patch, sources, known.scales, rule)
        n = len(known.triangle)
        if known.reflection is None:
            own, left = projected_rows(patch, rhs)
            return Reduced(known.triangle, own, remainder(left, self.measure.shared))
        own = known.reflection.rotated(rhs)
        return Reduced(known.triangle, own[:n], remainder(own[n:], self.measure.shared))

    def _rhs(
        self,
        patch: Patch,
        values: Sequence[FloatArray],
        scales: Sequence[FloatArray | float],
        rule: tuple[FloatArray, FloatArray],
    ) -> FloatArray:
        measure, (points, weights) = self.measure, rule

        def weighed(values: Iterable[FloatArray]) -> FloatArray:
            own = [_weighed(patch, v * k, weights) for v, k in zip(values, scales, strict=True)]
            return own[0] if len(own) == 1 else np.concatenate(own)

        shared: FloatArray | float = 0.0
        if measure.shared and not measure.principal:
            # Of functions of all patches highest derivatives with constant coefficients leave none.
            form = form_at(measure.problem.forms[0], measure.problem.coordinates, points)
            scale = np.broadcast_to(scales[0], len(points))
            found = np.asarray(measure.of_functions(form, points, scale, patch))
            shared = _weighed(patch, found, weights)
        load = weighed(measure.load(points)) if measure.loaded else 0.0
        return measure.probed(weighed(values), load, points, shared)

    def _scales(self, patch: Patch, forms: Sequence[FormValues]) -> list[FloatArray]:
        """Return what the rows of each equation are multiplied by on a patch, at its points."""
        measure = self.measure
        factor = lightest([patch], measure.order) * measure.weight(patch)
        if patch.cut is None:
            local = local_sides(patch, [gauss(n)[0] for n in patch.row_points])
        else:
            local = inner_sides(patch)
            factor /= math.sqrt(max(1, len(forms[0].rhs)))
        sizes = [
            size_of_terms(form, local, measure.rough)
            if local.ndim > 1
            else felt_size(form, patch.sides, measure.rough, measure.extent)
            for form in forms
        ]
        return [factor / np.maximum(size, TINY) for size in sizes]

    def _matrix(
        self,
        patch: Patch,
        weights: FloatArray,
        forms: Sequence[FormValues],
        scales: Sequence[FloatArray],
    ) -> FloatArray:
        every = [self.measure.unknowns] * len(forms)
        blocks = self._matrices(patch, weights, forms, scales, every)
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _matrices(
        self,
        patch: Patch,
        weights: FloatArray,
        forms: Sequence[FormValues],
        scales: Sequence[FloatArray],
        unknowns: Sequence[Sequence[str]],
    ) -> list[FloatArray]:
        """Return the rows of each equation over the functions of some unknowns."""
        if patch.cut is not None:
            points = patch.inner_points()
            return [
                scattered_matrix(f, k, patch, points, own)
                for f, k, own in zip(forms, scales, unknowns, strict=True)
            ]
        tables = patch.gauss_tables(patch.row_points, self.measure.order)
        return [
            weighed_rows(f, k, weights, tables, own, patch.row_functions)
            for f, k, own in zip(forms, scales, unknowns, strict=True)
        ]

    @cached_property
    def _apart(self) -> list[int]:
        """The equation of each unknown, where every equation has one of its own; else none."""
        problem = self.measure.problem
        owners = [{term.unknown for term in form.terms} for form in problem.forms]
        each = [[i for i, own in enumerate(owners) if own == {u}] for u in problem.unknowns]
        if len(owners) < 2 or any(len(own) != 1 for own in each) or len(each) != len(owners):
            return []
        return [own[0] for own in each]


def _weighed(patch: Patch, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return values at a patch's points, (m,) or (m, k), in the rows they belong to."""
    if patch.cut is not None:
        return values
    return weighed_source(values, weights, patch.row_points, patch.row_functions)


def _source(source: Expression, coordinates: Sequence[str], points: FloatArray) -> FloatArray:
    return -at_points(
        source, environment(coordinates, points), len(points), "source of the equation"
    )


def with_means(
    form: LinearForm,
    coordinates: Sequence[str],
    patches: Sequence[Patch],
    values: Sequence[FloatArray],
) -> list[FloatArray]:
    """Return the right-hand side at patches' Gauss points, with the means of what is stated.

    An iterate is a polynomial on its patches: where its powers are of higher degree than points
    tell, richer patches are what helps, and finer quadrature of them is a thousand times the work.
    """
    if form.stated is None:
        source = partial(_source, form.source, coordinates)
        return resolved_sources(patches, values, source)
    if is_zero(form.stated):
        return list(values)
    source = partial(_source, form.stated, coordinates)
    own = [source(p.gauss_points(p.row_points)[0]) for p in patches]
    means = resolved_sources(patches, own, source)
    return [v + (m - s) for v, m, s in zip(values, means, own, strict=True)]
