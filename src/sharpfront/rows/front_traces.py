"""Traces on lines and curves across which coefficients jump: sides of charts, and inside strips.

What goes on there are the unknowns, and the fluxes through the curve: n . k grad u, or n . stress.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.equation.expression import Constant, Expression
from sharpfront.equation.interfaces import CurvedConditions, curved_conditions
from sharpfront.equation.linearise import LinearForm, Term, linear_form
from sharpfront.equation.values import environment, inside_values
from sharpfront.maps import Quadrilateral, Strip
from sharpfront.problem import Problem
from sharpfront.rows.face_scaling import FaceMeasure
from sharpfront.rows.faces import Contact, Face
from sharpfront.rows.form_values import FormValues, taylor_of
from sharpfront.rows.interfaces import Moments, OfFunctions, moments_on, scale_of
from sharpfront.rows.loads import LoadOnFlux, loads_between_charts
from sharpfront.rows.materials import material_lines
from sharpfront.rows.side_quadrature import face_rule, scattered_matrix

Sides = tuple[Patch, Patch]
# Faces as near to a line, in units of the domain, lie on it.
ON_LINE = 1e-9


class Fronts:
    """The curves of a linear problem across which coefficients jump, and what goes on there.

    `rough` says how rough each unknown is (`rows.row_norm`).
    """

    def __init__(self, problem: Problem, rough: dict[str, int]) -> None:
        self.problem, self.rough = problem, rough

    @cached_property
    def _conditions(self) -> CurvedConditions:
        p = self.problem
        return curved_conditions(p.equations, p.unknowns, p.coordinates)

    @cached_property
    def _loads(self) -> list[LoadOnFlux]:
        return loads_between_charts(self.problem)

    def data(self, face: Face, patch: Patch) -> int:
        """Return how many data two patches share on a face; 0 where nothing jumps there."""
        if not self.problem.is_singular or face.strip is not None or not self._jumps(face, patch):
            return 0
        return len(self._conditions.continuous) + len(self._conditions.fluxes)

    def _jumps(self, face: Face, patch: Patch) -> bool:
        """Tell whether coefficients may jump across a face: between charts they may anywhere."""
        chart, axis = patch.chart, face.below.axis
        if isinstance(chart, Quadrilateral):
            return face.normal is not None and bool(
                self._loads or material_lines(self.problem) != ()
            )
        return isinstance(chart, Strip) and axis == 1 and patch.maps[axis].high == chart.front

    def moments(
        self,
        face: Face,
        patches: Sides,
        here: Contact,
        sizes: FaceMeasure,
        functions: OfFunctions | None = None,
    ) -> Moments:
        """Return the moments of data on a face as rows of a patch, and their right-hand sides.

        Of the patches below and above it, the rows are those on the side `here`. Last come the
        sides of `functions`, if given.
        """
        (count,) = sizes.counts
        sides = list(zip(patches, face.contacts, strict=True))
        spatial = [self._forms(p, c, count, face.normal) for p, c in sides]
        taylors = [taylor_of(p, face_rule(p, c, count)[0]) for p, c in sides]
        both = [[f.in_chart(t) for f in own] for own, t in zip(spatial, taylors, strict=True)]
        lengths = [p.sides.copy() for p in patches]
        if face.normal is None:
            lengths = [np.minimum(*lengths) for _ in patches]
        for across, c in zip(lengths, face.contacts, strict=True):
            across[c.axis] = sizes.depth
        scales = [scale_of(p, lengths, sizes.weights, self.rough) for p in zip(*both, strict=True)]
        own = 0 if here is face.below else 1
        patch, unknowns = patches[own], self.problem.unknowns
        at, mean = face_rule(patch, here, count)
        rows = [scattered_matrix(form, 1.0, patch, at, unknowns) for form in both[own]]
        return moments_on(mean, rows, spatial[own], scales, patch.in_space(at), functions)

    def _forms(
        self, patch: Patch, here: Contact, count: int, normal: tuple[float, ...] | None
    ) -> list[FormValues]:
        """Return what goes on as forms on one side."""
        chart = patch.chart
        assert isinstance(chart, Strip | Quadrilateral)
        positions, _ = face_rule(patch, here, count)
        beside = positions.copy()
        beside[:, here.axis] = 0.5 * (patch.low + patch.high)[here.axis]
        names = self.problem.coordinates
        at, inside = (environment(names, chart.points(x)) for x in (positions, beside))
        if isinstance(chart, Strip):
            normals = chart.normals_at(positions, 1, 1)
        else:
            assert normal is not None
            normals = np.tile(normal, (len(positions), 1))
        out = []
        for unknown in self._conditions.continuous:
            one = LinearForm((Term(unknown, (0, 0), Constant(1.0)),), Constant(0.0))
            out.append(_limit([(one, np.ones(len(positions)))], at, inside))
        for i, flux in enumerate(self._conditions.fluxes):
            along = [(form, normals[:, a]) for a, form in enumerate(flux)]
            if isinstance(chart, Quadrilateral):
                along += self._acting(i, chart.points(positions), chart.points(beside), normals)
            out.append(_limit(along, at, inside))
        return out

    def _acting(
        self, flux: int, at: FloatArray, beside: FloatArray, normals: FloatArray
    ) -> list[tuple[LinearForm, FloatArray]]:
        """Return the loads on a face, at points with others beside them: above their lines."""
        out = []
        near = ON_LINE * float(np.ptp(self.problem.domain.bounds, axis=0).max())
        for number, axis, placed in self._loads:
            along = np.abs(at[:, axis] - placed.place).max() < near
            if number == flux and along and beside[0, axis] > placed.place:
                out.append((linear_form(placed.strength), np.sign(normals[:, axis])))
        return out


def _limit(
    forms: Sequence[tuple[LinearForm, FloatArray]],
    at: dict[tuple[str, str], FloatArray],
    inside: dict[tuple[str, str], FloatArray],
) -> FormValues:
    """Return a sum of forms times factors at points of an edge, as a limit from one side."""
    count = len(forms[0][1])

    def values(graph: Expression) -> FloatArray:
        return inside_values(graph, at, inside, count)

    parts = [(t, factor * values(t.coefficient)) for form, factor in forms for t in form.terms]
    rhs = sum((-factor * values(form.source) for form, factor in forms), np.zeros(count))
    return FormValues.of_sum(parts, rhs)
