"""Traces on lines where coefficients jump, loads act or jumps are stated.

There the Cauchy data that two patches share are those that go on: u, its derivatives as far as
they do, and fluxes such as k u_n. Each datum is a form on either side, whose moments are divided by
its size on the side where that is larger; loads and stated jumps are the difference of the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray, remembered
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch
from sharpfront.equation.edges import places_along
from sharpfront.equation.expression import Constant, Expression
from sharpfront.equation.interfaces import Flux, InterfaceConditions, interface_conditions
from sharpfront.equation.linearise import LinearForm, Term, linear_form, linear_part
from sharpfront.equation.values import environment, inside_values
from sharpfront.errors import EquationError, ProblemError
from sharpfront.problem import JumpCondition, Problem
from sharpfront.rounding import ROUNDED
from sharpfront.rows.face_scaling import FaceMeasure
from sharpfront.rows.faces import Contact, Face
from sharpfront.rows.form_values import FormValues, taylor_of
from sharpfront.rows.loads import PlacedLoad, placed_loads, require_one_value
from sharpfront.rows.row_norm import size_of_terms
from sharpfront.rows.side_quadrature import product_rule, scattered_matrix

# What is the same on both sides of a line: one form from below, one from above.
Datum = tuple[LinearForm, LinearForm]
# What a form at points, times a factor, makes of functions that one patch has and not the other.
OfFunctions = Callable[[FormValues, FloatArray, float], FloatArray]
# Moments of data as rows of a patch, their right-hand sides, and those of such functions.
Moments = tuple[FloatArray, FloatArray, FloatArray | None]


class SharedData:
    """What goes on across faces of a linear problem, given as forms on both sides.

    `rough` says how rough each unknown is (`rows.row_norm`).
    """

    def __init__(self, problem: Problem, rough: dict[str, int]) -> None:
        self.problem, self.rough = problem, rough

    def _shared(
        self,
        face: Face,
        sides: Sequence[OnFace],
        data: Sequence[Sequence[FormValues]],
        here: Contact,
        sizes: FaceMeasure,
        functions: OfFunctions | None,
    ) -> Moments:
        """Return the moments of data on the side `here` of a face."""
        lengths = [side.patch.sides.copy() for side in sides]
        if face.normal is None:
            lengths = [np.minimum(*lengths) for _ in sides]
        charted, largest = [], []
        for side, forms, across, weight in zip(sides, data, lengths, sizes.weights, strict=True):
            across[side.axis] = sizes.depth
            taylor = taylor_of(side.patch, side.positions)
            charted.append([form.in_chart(taylor) for form in forms])
            terms = [float(np.max(size_of_terms(form, across, self.rough))) for form in charted[-1]]
            largest.append([weight / max(size, 1e-300) for size in terms])
        own, scales = (0 if here is face.below else 1), np.min(largest, axis=0)
        side, unknowns = sides[own], self.problem.unknowns
        rows, rhs, shared = [], [], []
        for form, in_space, scale in zip(charted[own], data[own], scales.tolist(), strict=True):
            matrix = scattered_matrix(form, scale, side.patch, side.positions, unknowns)
            rows.append(side.mean @ matrix)
            rhs.append(scale * (side.mean @ form.rhs))
            if functions is not None:
                shared.append(side.mean @ functions(in_space, side.points, scale))
        return np.concatenate(rows), np.concatenate(rhs), np.concatenate(shared) if shared else None


class Interfaces(SharedData):
    """The lines of a linear problem on which something jumps, and what goes on there."""

    def __init__(self, problem: Problem, rough: dict[str, int]) -> None:
        super().__init__(problem, rough)
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
        return np.asarray(every[np.diff(every, prepend=-math.inf) > ROUNDED * (high - low)])

    def _axis(self, axis: int) -> tuple[str, float, float]:
        return self.problem.coordinates[axis], float(self.low[axis]), float(self.high[axis])

    @cached_property
    def _conditions(self) -> list[InterfaceConditions]:
        """How smooth unknowns are, and which fluxes go on, for each axis."""
        p = self.problem
        return [
            interface_conditions(p.equations, p.unknowns, p.coordinates, name)
            for name in p.domain.coordinates
        ]

    def _loads(self, flux: Flux, axis: int) -> list[PlacedLoad]:
        return [q for load in flux.loads for q in placed_loads(load, *self._axis(axis))]

    def data(self, axis: int, place: float) -> tuple[Datum, ...]:
        """Return what both sides share at a place along an axis; nothing where nothing jumps."""
        near = 4.0 * ROUNDED * (self.high[axis] - self.low[axis])
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
        out: list[Datum] = []
        for unknown, count in self._conditions[axis].continuous.items():
            for k in range(count):
                orders = tuple(k if a == axis else 0 for a in range(dimension))
                form = LinearForm((Term(unknown, orders, Constant(1.0)),), Constant(0.0))
                out.append((form, form))
        for flux in self._conditions[axis].fluxes:
            here = [q for q in self._loads(flux, axis) if abs(q.place - place) <= near]
            out.append((flux.form, self._loaded(flux, here, axis)))
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
        here: Contact,
        sizes: FaceMeasure,
        functions: OfFunctions | None = None,
    ) -> Moments:
        """Return the moments of data on a face as rows of a patch, and their right-hand sides.

        Of the patches below and above it, the rows are those on the side `here`. Last come the
        sides of `functions`, if given.
        """
        sides = []
        for patch, at in zip(patches, face.contacts, strict=True):
            # Exact for coefficients with as many functions as the patch has.
            rules = [
                gauss(patch.functions[a] + q // 2 + 2)
                for a, q in zip(at.rest, sizes.counts, strict=True)
            ]
            rule = product_rule(patch, at, sizes.counts, rules)
            sides.append(OnFace(self.problem.coordinates, patch, at, rule))
        both = [[side.limit((d[k], 1.0)) for d in data] for k, side in enumerate(sides)]
        return self._shared(face, sides, both, here, sizes, functions)


class OnFace:
    """A face as seen from the inside of one of its patches."""

    def __init__(
        self,
        names: Sequence[str],
        patch: Patch,
        at: Contact,
        rule: tuple[FloatArray, FloatArray],
    ) -> None:
        self.patch, self.axis = patch, at.axis
        self.positions, self.mean = rule
        beside = self.positions.copy()
        beside[:, at.axis] = 0.5 * (patch.low + patch.high)[at.axis]
        self.points, self.beside = patch.in_space(self.positions), patch.in_space(beside)
        self._here, self._inside = (environment(names, x) for x in (self.points, self.beside))

    def limit(self, *forms: tuple[LinearForm, FloatArray | float]) -> FormValues:
        """Return a sum of forms times factors at its points."""
        terms = [t for form, _ in forms for t in form.terms]
        coefficients = [k * self._values(t.coefficient) for form, k in forms for t in form.terms]
        rhs = sum((-k * self._values(form.source) for form, k in forms), np.zeros(len(self.points)))
        return FormValues(terms, coefficients, rhs)

    def _values(self, graph: Expression) -> FloatArray:
        return inside_values(graph, self._here, self._inside, len(self.points))


def interface_lines(problem: Problem) -> tuple[FloatArray, ...]:
    """Return where something jumps or a load acts, along each axis.

    What is not linear in equations makes no interfaces.
    """
    if problem.is_singular and not problem.is_linear:
        problem = problem.rewritten(equations=tuple(map(linear_part, problem.equations)))
    return Interfaces(problem, {}).lines


def _replace(data: list[Datum], stated: JumpCondition, axis: int) -> None:
    """Put a stated jump in the place of what would go on otherwise."""
    for quantity, equals in zip(stated.forms, stated.steps, strict=True):
        lead = max(quantity.terms, key=lambda t: t.orders[axis])
        wanted = (lead.unknown, lead.orders[axis])
        # Those that it leads first.
        found = []
        for i, (below, _) in enumerate(data):
            orders = {(t.unknown, t.orders[axis]) for t in below.terms}
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
        data[min(found)[1]] = quantity, above
