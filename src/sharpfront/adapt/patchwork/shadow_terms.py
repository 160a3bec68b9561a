"""What lower terms of an equation, and sides that bend, add to the functions of a corner.

With z^a the highest derivatives of an equation leave nothing, but first derivatives leave z^(a - 1)
and the unknown itself z^a, which a function has to make up for that is smoother by one or more
orders: a sum of z^(a + i) conj(z)^j. Its factors are those for which the equation and the
conditions on both sides leave least on a small sector, each in its own power of the distance. Of a
function that vanishes on two tangents curved sides leave the same, one order smoother.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import lstsq

from sharpfront.adapt.patchwork.corner_sides import Bend
from sharpfront.adapt.patchwork.settings import ADAPT
from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import ComplexArray, CornerFunctions, Term
from sharpfront.equation.expression import Apply, Constant
from sharpfront.equation.graph import ordered
from sharpfront.problem import Problem
from sharpfront.rounding import ROUNDED
from sharpfront.rows.form_values import FormValues, form_at

# Powers closer than this are the same.
SAME_POWER = 1e-9
CONSTANT = Term(0.0, 0, False)


def completed(
    problem: Problem,
    corner: CornerFunctions,
    angle: float,
    parts: Sequence[str],
    bends: Sequence[Bend | None],
    most: float,
) -> CornerFunctions:
    """Return the functions of a corner with what the lower terms of a problem add to them.

    And what curved sides do, by which each is smoother by one order. Given are the angle of z that
    the domain takes, from zero on, the parts of the boundary at its two ends, how these bend, and
    the power up to which terms are wanted.
    """
    if corner.fades:
        return _with_even_powers(corner, most)
    step = 1 if any(bends) else _step(problem, parts)
    if not step or not told_by_formulas(problem):
        return corner
    powers = np.array([t.power + t.conjugate for t in corner.terms])
    terms, sides = list(corner.terms), list(zip(parts, bends, strict=True))
    rows: list[dict[Term, complex]] = []
    for each in corner.factors:
        main = {t: complex(c) for t, c in zip(corner.terms, each, strict=True) if c}
        own = _smoother(list(main), step, powers, most)
        first = next(iter(main)).order
        levels = round(max((t.order for t in own), default=0.0) - first)
        sector = _Sector(problem, corner, angle, sides, max(1, levels))
        found = sector.factors(main, own)
        rows.append({**main, **found})
        terms += [t for t in found if t not in terms]
    factors = np.array([[row.get(t, 0.0) for t in terms] for row in rows], dtype=complex)
    return replace(corner, terms=tuple(terms), factors=factors)


def _with_even_powers(corner: CornerFunctions, most: float) -> CornerFunctions:
    """Return functions of a corner that fade, and |z|^2, |z|^4, ... times each as further ones.

    These are what the unknown's own term adds, and what fading does: how much there is of each
    comes out with the others. With their sum, a Bessel function that grows like e^r before it
    fades, squares took ten times the error.
    """
    every: list[tuple[Term, complex]] = []
    for term, factor in zip(corner.terms, np.diag(corner.factors).tolist(), strict=True):
        count = max(1, math.ceil((most - term.order) / 2))
        every += [(Term(term.power + n, n, term.logarithmic), factor) for n in range(count)]
    terms, factors = zip(*every, strict=True)
    return replace(corner, terms=terms, factors=np.diag(factors))


def _step(problem: Problem, parts: Sequence[str]) -> int:
    """Return by how many orders what lower terms add is smoother; zero if there are none.

    Conditions are those on some parts of the boundary. How coefficients of highest derivatives vary
    counts as one order.
    """
    stated = [form for c in problem.conditions if c.part in parts for form in c.forms]
    forms = [problem.forms[0], *stated]
    lower = [f.order - t.order for f in forms for t in f.terms if t.order < f.order]
    highest = (t for t in forms[0].terms if t.order == forms[0].order)
    varies = any(not isinstance(t.coefficient, Constant) for t in highest)
    return min([*lower, 1] if varies else lower, default=0)


def told_by_formulas(problem: Problem) -> bool:
    """Tell whether terms have coefficients of which formulas tell that they are smooth.

    About an iterate of Newton's method they are as singular as that is.
    """
    nodes = [n for t in problem.forms[0].terms for n in ordered(t.coefficient)]
    called = [node.function.evaluate for node in nodes if isinstance(node, Apply)]
    return all(isinstance(function, np.ufunc) for function in called)


def _smoother(main: Sequence[Term], step: int, powers: ComplexArray, most: float) -> list[Term]:
    """Return terms that are smoother than a function's first ones, up to a power.

    What is as singular as another function comes with a logarithm, or with one more, and so does
    all that follows, which is left out. An angle leaves none on sides and comes with one only.
    """
    out: list[Term] = []
    mirrored = max(t.conjugate for t in main)
    for power in dict.fromkeys(t.power + t.conjugate for t in main):
        logarithmic = main[0].logarithmic
        for n in range(step, math.ceil(most - power.real)):
            again = bool(np.abs(powers - power - n).min() < SAME_POWER)
            if again and logarithmic and power:
                break
            count = n + 1 + mirrored
            out += [Term(power + n - j, j, logarithmic) for j in range(count)]
            if again:
                more = (Term(power + n - j, j, True) for j in range(1 + mirrored))
                out += [term for term in more if term not in out]
                break
    return out


class _Sector:
    """Points about a corner as far as terms so many orders smoother ask, and what rows leave."""

    def __init__(
        self,
        problem: Problem,
        corner: CornerFunctions,
        angle: float,
        sides: Sequence[tuple[str, Bend | None]],
        smoother: int,
    ) -> None:
        # Distances from the corner, not places, so that they are not rounded.
        self.corner = replace(corner, place=(0.0, 0.0))
        reach = max(ADAPT.smallest_sector, ADAPT.last_terms ** (1.0 / smoother))
        radii = reach * np.geomspace(10.0**-ADAPT.decades, 1.0, ADAPT.along_ray)
        slopes = np.array([[s.real for s in corner.slopes], [s.imag for s in corner.slopes]])
        self._back = np.linalg.inv(slopes)
        self._rows: list[tuple[FormValues, FloatArray, FloatArray]] = []
        self._far: list[FloatArray] = []
        self._jumps: list[FloatArray] = []  # what conditions leave of angles of sides
        inner = angle * (np.arange(ADAPT.across_rays) + 0.5) / ADAPT.across_rays
        away, far = self._points(radii, inner)
        place = np.array(corner.place)
        (equation,) = problem.forms
        found = form_at(equation, problem.coordinates, place + away)
        self._add(found, away, far, equation.order, 0.0)
        for (part, bend), at in zip(sides, (0.0, angle), strict=True):
            away, far = self._points(radii, np.array([at]))
            along = away / np.linalg.norm(away, axis=1)[:, None]
            if bend is not None:
                lengths = np.linalg.norm(away, axis=1)
                away, along = bend.points(lengths), bend.tangents(lengths)
                far = np.linalg.norm(away @ slopes.T, axis=1)
            normals = np.stack([along[:, 1], -along[:, 0]], axis=1) * (1.0 if at == 0.0 else -1.0)
            for form in (f for c in problem.conditions if c.part == part for f in c.forms):
                found = form_at(form, problem.coordinates, place + away, normals)
                self._add(found, away, far, form.order, at)

    def _points(self, radii: FloatArray, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        r, t = (v.ravel() for v in np.meshgrid(radii, angles, indexing="ij"))
        return (self._back @ np.stack([r * np.cos(t), r * np.sin(t)])).T, r

    def _add(
        self, form: FormValues, away: FloatArray, far: FloatArray, order: int, angle: float
    ) -> None:
        """Add rows of a form, in units of u, at points of a side at some angle or inside."""
        size = np.max(
            [
                np.abs(c)
                for t, c in zip(form.terms, form.coefficients, strict=True)
                if sum(t.orders) == order
            ],
            axis=0,
        )
        scale = float(np.linalg.norm(self._back, 2)) ** order
        own = form, away, far**order * scale / size
        self._rows.append(own)
        self._far.append(far)
        values = np.asarray(angle * _left(replace(self.corner, terms=(CONSTANT,)), *own).real)
        self._jumps.append(values[:, 0])

    def factors(self, main: Mapping[Term, complex], terms: Sequence[Term]) -> dict[Term, complex]:
        """Return the factors of terms that make up for what a function's first terms leave."""
        if not terms:
            return {}
        first = next(iter(main))
        # With a logarithm goes a polynomial, which patches take.
        degrees = {round(t.order) for t in (first, *terms)} if first.logarithmic else set()
        smooth = [Term(float(n - j), j, False) for n in degrees for j in range(n + 1)]
        both = replace(self.corner, terms=(*main, *terms, *smooth))
        left = np.concatenate([_left(both, *each) for each in self._rows])
        left = left * (np.concatenate(self._far) ** -first.order)[:, None]
        own, rest = left[:, : len(main)] @ np.array(list(main.values())), left[:, len(main) :]
        if not first.order:
            # It has the values that jump on sides.
            own = own - 1j * np.concatenate(self._jumps)
        # The imaginary part of factor times term, for the two parts of each factor.
        matrix = np.concatenate([rest.imag, rest.real], axis=1)
        size = np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
        found = lstsq(matrix / size, -own.imag, cond=ROUNDED)[0] / size
        real, imaginary = np.split(found, 2)
        return dict(zip(terms, (real + 1j * imaginary).tolist(), strict=False))


def _left(
    corner: CornerFunctions, form: FormValues, away: FloatArray, scale: FloatArray
) -> ComplexArray:
    """Return what a form leaves of terms, (m, terms)."""
    out = np.zeros((len(away), len(corner.terms)), dtype=complex)
    for term, c in zip(form.terms, form.coefficients, strict=True):
        out += (scale * c)[:, None] * corner.table(away, term.orders)
    return out
