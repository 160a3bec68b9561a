"""Traces on lines and curves across which coefficients jump: sides of charts, and inside strips.

What goes on there are the unknowns, and the fluxes through the curve: n . k grad u, or n . stress.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.equation.expression import Constant
from sharpfront.equation.interfaces import CurvedConditions, curved_conditions
from sharpfront.equation.linearise import LinearForm, Term, linear_form
from sharpfront.maps import Quadrilateral, Strip
from sharpfront.rounding import SAME
from sharpfront.rows.face_scaling import FaceMeasure
from sharpfront.rows.faces import Contact, Face
from sharpfront.rows.form_values import FormValues
from sharpfront.rows.interfaces import Moments, OfFunctions, OnFace, SharedData
from sharpfront.rows.loads import LoadOnFlux, loads_between_charts
from sharpfront.rows.materials import material_lines
from sharpfront.rows.side_quadrature import face_rule

Sides = tuple[Patch, Patch]


class Fronts(SharedData):
    """The curves of a linear problem across which coefficients jump, and what goes on there."""

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
        sides = [
            OnFace(self.problem.coordinates, patch, at, face_rule(patch, at, *sizes.counts))
            for patch, at in zip(patches, face.contacts, strict=True)
        ]
        data = [self._forms(side, face.normal) for side in sides]
        return self._shared(face, sides, data, here, sizes, functions)

    def _forms(self, side: OnFace, normal: tuple[float, ...] | None) -> list[FormValues]:
        """Return what goes on as forms on one side."""
        chart = side.patch.chart
        if isinstance(chart, Strip):
            normals = chart.normals_at(side.positions, 1, 1)
        else:
            normals = np.tile(np.array(normal), (len(side.positions), 1))
        out = []
        for unknown in self._conditions.continuous:
            one = LinearForm((Term(unknown, (0, 0), Constant(1.0)),), Constant(0.0))
            out.append(side.limit((one, 1.0)))
        for i, flux in enumerate(self._conditions.fluxes):
            along = [(form, normals[:, a]) for a, form in enumerate(flux)]
            if isinstance(chart, Quadrilateral):
                along += self._acting(i, side.points, side.beside, normals)
            found = side.limit(*along)
            terms = zip(found.terms, found.coefficients, strict=True)
            out.append(FormValues.of_sum(terms, found.rhs))
        return out

    def _acting(
        self, flux: int, at: FloatArray, beside: FloatArray, normals: FloatArray
    ) -> list[tuple[LinearForm, FloatArray]]:
        """Return the loads on a face, at points with others beside them: above their lines."""
        out = []
        near = SAME * float(np.ptp(self.problem.domain.bounds, axis=0).max())
        for number, axis, placed in self._loads:
            along = np.abs(at[:, axis] - placed.place).max() < near
            if number == flux and along and beside[0, axis] > placed.place:
                out.append((linear_form(placed.strength), np.sign(normals[:, axis])))
        return out
