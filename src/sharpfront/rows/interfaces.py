"""Traces on lines where coefficients jump, loads act or jumps are stated.

There the Cauchy data that two patches share are those that go on: u, its derivatives as far as
they do, and fluxes such as k u_n. Each datum is a form on either side, whose moments are divided by
its size on the side where that is larger; loads and stated jumps are the difference of the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray, remembered
from sharpfront.bases.legendre import gauss, legendre_table, product_points
from sharpfront.bases.patch import Patch
from sharpfront.equation.edges import places_along
from sharpfront.equation.expression import Constant
from sharpfront.equation.interfaces import Flux, InterfaceConditions, interface_conditions
from sharpfront.equation.linearise import LinearForm, Term, linear_form
from sharpfront.equation.values import environment, inside_values
from sharpfront.errors import EquationError, ProblemError
from sharpfront.problem import JumpCondition, Problem
from sharpfront.rows.face_scaling import FaceMeasure
from sharpfront.rows.faces import Face
from sharpfront.rows.form_values import FormValues
from sharpfront.rows.loads import PlacedLoad, placed_loads, require_one_value
from sharpfront.rows.row_norm import size_of_terms
from sharpfront.rows.side_quadrature import form_matrix, moments_of

# Places that differ by less than this share of the domain are one.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Datum:
    """What is the same on both sides of a line: one form from below, one from above."""

    below: LinearForm
    above: LinearForm


# What a form at points, times a factor, makes of functions that one patch has and not the other.
OfFunctions = Callable[[FormValues, FloatArray, float], FloatArray]
# Moments of data as rows of a patch, their right-hand sides, and those of such functions.
Moments = tuple[FloatArray, FloatArray, FloatArray | None]


class Interfaces:
    """The lines of a linear problem on which something jumps, and what goes on there.

    `rough` says how rough each unknown is (`rows.row_norm`).
    """

    def __init__(self, problem: Problem, rough: dict[str, int]) -> None:
        self.problem, self.rough = problem, rough
        self.low, self.high = problem.domain.bounds

    @cached_property
    def lines(self) -> tuple[FloatArray, ...]:
        """Where something jumps or a load acts, along each axis."""
        if not self.problem.is_singular:
            return tuple(np.empty(0) for _ in self.low)
        return tuple(self._lines(axis) for axis in range(len(self.low)))

    def _lines(self, axis: int) -> FloatArray:
        name, low, high = self._axis(axis)
        found = [places_along(e, name, low, high) for e in self.problem.equations]
        fluxes = self._conditions[axis].fluxes
        loads = [q.place for flux in fluxes for q in self._loads(flux, axis)]
        stated = [j.place for j in self.problem.jumps if j.coordinate == name]
        every = np.unique(np.concatenate([*found, loads, stated]))
        return np.asarray(every[np.diff(every, prepend=-math.inf) > ROUNDING * (high - low)])

    def _axis(self, axis: int) -> tuple[str, float, float]:
        return self.problem.coordinates[axis], float(self.low[axis]), float(self.high[axis])

    @cached_property
    def _conditions(self) -> list[InterfaceConditions]:
        """How smooth unknowns are, and which fluxes go on, for each axis."""
        p = self.problem
        return [
            interface_conditions(p.equations, p.unknowns, p.coordinates, name)
            for name in p.coordinates
        ]

    def _loads(self, flux: Flux, axis: int) -> list[PlacedLoad]:
        return [q for load in flux.loads for q in placed_loads(load, *self._axis(axis))]

    def data(self, axis: int, place: float) -> tuple[Datum, ...]:
        """Return what both sides share at a place along an axis; nothing where nothing jumps."""
        near = 4.0 * ROUNDING * (self.high[axis] - self.low[axis])
        if not self.problem.is_singular:
            return ()
        on_line = np.any(np.abs(self.lines[axis] - place) <= near)
        # On a seam the coefficients of both ends meet.
        joined = self.problem.domain.periodic_axes[axis]
        seam = joined and abs(place - self.high[axis]) <= near
        if not on_line and not seam:
            return ()
        return self._made(axis, place, near)

    @remembered()
    def _made(self, axis: int, place: float, near: float) -> tuple[Datum, ...]:
        dimension = len(self.low)
        out = []
        for unknown, count in self._conditions[axis].continuous.items():
            for k in range(count):
                orders = tuple(k if a == axis else 0 for a in range(dimension))
                form = LinearForm((Term(unknown, orders, Constant(1.0)),), Constant(0.0))
                out.append(Datum(form, form))
        for flux in self._conditions[axis].fluxes:
            here = [q for q in self._loads(flux, axis) if abs(q.place - place) <= near]
            out.append(Datum(flux.form, self._loaded(flux, here, axis)))
        for stated in self.problem.jumps:
            if stated.coordinate == self._axis(axis)[0] and abs(stated.place - place) <= near:
                _replace(out, stated, axis)
        return tuple(out)

    def _loaded(self, flux: Flux, loads: Sequence[PlacedLoad], axis: int) -> LinearForm:
        """Return a flux from above with the loads at its place."""
        form = flux.form
        for placed in loads:
            own = linear_form(placed.strength)
            for term in own.terms:
                if term.orders[axis] >= self._conditions[axis].continuous[term.unknown]:
                    raise EquationError(
                        f"sf.delta multiplies a derivative of {term.unknown} that jumps where the "
                        "load is; it can multiply what goes on there, such as the unknown itself."
                    )
            require_one_value(self.problem, placed, axis)
            form = LinearForm(form.terms + own.terms, form.source + own.source)
        return form

    def moments(
        self,
        data: Sequence[Datum],
        face: Face,
        patches: tuple[Patch, Patch],
        end: int,
        sizes: FaceMeasure,
        functions: OfFunctions | None = None,
    ) -> Moments:
        """Return the moments of data on a face as rows of a patch, and their right-hand sides.

        Of the patches below and above it, the rows are those of the one below for `end` 1, whose
        upper end the face is, else of the other. Last come the sides of `functions`, if given.
        """
        sides = [_Sided(self.problem, face, patches[s], 1 - s, sizes.counts) for s in (0, 1)]
        own = sides[1 - end]
        both = [(sides[0].values(d.below), sides[1].values(d.above)) for d in data]
        lengths = np.minimum(patches[0].sides, patches[1].sides)
        lengths[face.below.axis] = sizes.depth
        scales = [scale_of(pair, [lengths] * 2, sizes.weights, self.rough) for pair in both]
        here = [pair[1 - end] for pair in both]
        rows = [own.rows(form, self.problem.unknowns) for form in here]
        return moments_on(own.projection, rows, here, scales, own.points, functions)


def scale_of(
    pair: Sequence[FormValues],
    lengths: Sequence[FloatArray],
    weights: Sequence[float],
    rough: dict[str, int],
) -> float:
    """Return what a datum is multiplied by, given on both sides of a face with sizes there."""
    each = zip(pair, lengths, weights, strict=True)
    return min(w / max(float(np.max(size_of_terms(f, x, rough))), 1e-300) for f, x, w in each)


def moments_on(
    mean: FloatArray,
    rows: Sequence[FloatArray],
    forms: Sequence[FormValues],
    scales: Sequence[float],
    points: FloatArray,
    functions: OfFunctions | None,
) -> Moments:
    """Return the moments of data on one side of a face, given as rows and as forms in space."""
    shared = None
    if functions is not None:
        own = zip(forms, scales, strict=True)
        shared = np.concatenate([mean @ functions(form, points, k) for form, k in own])
    return (
        np.concatenate([k * (mean @ each) for each, k in zip(rows, scales, strict=True)]),
        np.concatenate([k * (mean @ form.rhs) for form, k in zip(forms, scales, strict=True)]),
        shared,
    )


def interface_lines(problem: Problem) -> tuple[FloatArray, ...]:
    """Return where something jumps or a load acts, along each axis."""
    return Interfaces(problem, {}).lines


class _Sided:
    """Forms on a face as seen from the inside of one of its patches."""

    def __init__(
        self, problem: Problem, face: Face, patch: Patch, end: int, counts: Sequence[int]
    ) -> None:
        at_face = face.below
        self.patch, self.axis, self.end = patch, at_face.axis, end
        self.coordinates = problem.coordinates
        at = [m.high if end else m.low for m in patch.maps]
        axes = [np.array([float(c)]) for c in at]
        means: FloatArray = np.ones((1, 1))
        for a, low, high, q in zip(at_face.rest, at_face.low, at_face.high, counts, strict=True):
            # Exact for coefficients with as many functions as the patch has.
            z, w = gauss(patch.functions[a] + q // 2 + 2)
            axes[a] = 0.5 * (low * (1.0 - z) + high * (1.0 + z))
            means = np.kron(means, (legendre_table(z, q)[0] * w[:, None]).T)
        self.axes = axes
        self.points = product_points(axes)
        self.projection = means[moments_of(counts, patch.dimension)]
        self.inside = self.points.copy()
        self.inside[:, self.axis] = 0.5 * (patch.low + patch.high)[self.axis]

    def values(self, form: LinearForm) -> FormValues:
        """Return a form at points of the face."""
        here, inside = (environment(self.coordinates, p) for p in (self.points, self.inside))
        count = len(self.points)
        coefficients = [inside_values(t.coefficient, here, inside, count) for t in form.terms]
        source = inside_values(form.source, here, inside, count)
        return FormValues(form.terms, coefficients, -source)

    def rows(self, form: FormValues, unknowns: Sequence[str]) -> FloatArray:
        """Return a form over the patch's functions at the points, (m, columns)."""
        tables = [
            self.patch.end_tables(a, form.order)[:, self.end : self.end + 1]
            if a == self.axis
            else self.patch.axis_table(a, self.axes[a], form.order)
            for a in range(self.patch.dimension)
        ]
        return form_matrix(form, 1.0, tables, unknowns)


def _replace(data: list[Datum], stated: JumpCondition, axis: int) -> None:
    """Put a stated jump in the place of what would go on otherwise."""
    for quantity, equals in zip(stated.forms, stated.steps, strict=True):
        lead = max(quantity.terms, key=lambda t: t.orders[axis])
        wanted = (lead.unknown, lead.orders[axis])
        # Those that it leads first.
        found = []
        for i, datum in enumerate(data):
            orders = {(t.unknown, t.orders[axis]) for t in datum.below.terms}
            if wanted in orders:
                found.append((max(k for _, k in orders) > wanted[1], i))
        if not found:
            raise ProblemError(
                f"sf.jump states a jump across {stated.coordinate} = {stated.place:g} of something "
                f"with derivative {wanted[1]} of {wanted[0]} along {stated.coordinate}, which the "
                "equation leaves to itself there."
            )
        above = LinearForm(
            quantity.terms + tuple(Term(t.unknown, t.orders, -t.coefficient) for t in equals.terms),
            quantity.source - equals.source,
        )
        data[min(found)[1]] = Datum(quantity, above)
