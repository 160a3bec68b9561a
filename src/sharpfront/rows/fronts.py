"""Traces on curves inside the domain across which coefficients jump.

What goes on there are the unknowns, and the fluxes through the curve: n . k grad u, or n . stress.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.equation.expression import Constant
from sharpfront.equation.interfaces import CurvedConditions, curved_conditions
from sharpfront.equation.linearise import LinearForm, Term
from sharpfront.equation.values import environment, inside_values
from sharpfront.maps import Strip
from sharpfront.problem import Problem
from sharpfront.rows.faces import Contact, Face
from sharpfront.rows.norm import size_of_terms
from sharpfront.rows.sides import face_rule, form_matrix
from sharpfront.rows.values import FormValues, taylor_of

Sides = tuple[Patch, Patch]


class Fronts:
    """The curves of a linear problem across which coefficients jump, and what goes on there.

    `rough` says how rough each unknown is (`rows.norm`).
    """

    def __init__(self, problem: Problem, rough: dict[str, int]) -> None:
        self.problem, self.rough = problem, rough

    @cached_property
    def _conditions(self) -> CurvedConditions:
        p = self.problem
        return curved_conditions(p.equations, p.unknowns, p.coordinates)

    def data(self, face: Face, patch: Patch) -> int:
        """Return how many data two patches share on a face; 0 where nothing jumps there."""
        chart, axis = patch.chart, face.below.axis
        if not isinstance(chart, Strip) or axis != 1 or not self.problem.is_singular:
            return 0
        if face.strip is not None or patch.maps[axis].high != chart.front:
            return 0
        return len(self._conditions.continuous) + len(self._conditions.fluxes)

    def moments(
        self, face: Face, patches: Sides, here: Contact, count: int, lengths: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the moments of data on a face as rows of a patch, and their right-hand sides.

        Of the patches below and above it, the rows are those on the side `here`; data are measured
        in the lengths.
        """
        both = [self._forms(p, c, count) for p, c in zip(patches, face.contacts, strict=True)]
        own = 0 if here is face.below else 1
        patch = patches[own]
        positions, mean = face_rule(patch, here, count)
        rows, rhs = [], []
        for pair in zip(*both, strict=True):
            size = (
                float(np.prod([np.max(size_of_terms(f, lengths, self.rough)) for f in pair])) ** 0.5
            )
            form, scale = pair[own], 1.0 / max(size, 1e-300)
            tables = [
                patch.axis_table(0, positions[:, 0], form.order),
                patch.end_tables(1, form.order)[:, here.end][:, None],
            ]
            rows.append(mean @ form_matrix(form, scale, tables, self.problem.unknowns))
            rhs.append(scale * (mean @ form.rhs))
        return np.concatenate(rows), np.concatenate(rhs)

    def _forms(self, patch: Patch, here: Contact, count: int) -> list[FormValues]:
        """Return what goes on as forms on one side, in derivatives along the chart."""
        chart = patch.chart
        assert isinstance(chart, Strip)
        positions, _ = face_rule(patch, here, count)
        beside = positions.copy()
        beside[:, 1] = 0.5 * (patch.low + patch.high)[1]
        names = self.problem.coordinates
        at, inside = (environment(names, chart.points(x)) for x in (positions, beside))
        normals = chart.normals_at(positions, 1, 1)
        taylor = taylor_of(patch, positions)
        out = []
        for unknown in self._conditions.continuous:
            one = LinearForm((Term(unknown, (0, 0), Constant(1.0)),), Constant(0.0))
            out.append(_limit([(one, np.ones(len(positions)))], at, inside).in_chart(taylor))
        for flux in self._conditions.fluxes:
            along = [(form, normals[:, a]) for a, form in enumerate(flux)]
            out.append(_limit(along, at, inside).in_chart(taylor))
        return out


def _limit(
    forms: Sequence[tuple[LinearForm, FloatArray]],
    at: dict[tuple[str, str], FloatArray],
    inside: dict[tuple[str, str], FloatArray],
) -> FormValues:
    """Return a sum of forms times factors at points of an edge, as a limit from one side."""
    count = len(forms[0][1])
    known: dict[tuple[str, tuple[int, ...]], tuple[Term, FloatArray]] = {}
    rhs = np.zeros(count)
    for form, factor in forms:
        for term in form.terms:
            value = factor * inside_values(term.coefficient, at, inside, count)
            key = term.unknown, term.orders
            known[key] = term, value + (known[key][1] if key in known else 0.0)
        rhs -= factor * inside_values(form.source, at, inside, count)
    return FormValues([t for t, _ in known.values()], [c for _, c in known.values()], rhs)
