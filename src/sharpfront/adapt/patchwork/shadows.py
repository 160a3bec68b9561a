"""What the lower terms of an equation add to the functions of a corner.

With z^a the second derivatives of an equation leave nothing, but first derivatives leave z^(a - 1)
and the unknown itself z^a, which a function has to make up for that is smoother by one or two
orders: a sum of z^(a + i) conj(z)^j. Its factors are those for which the equation and the
conditions on both sides leave least on a small sector, each in its own power of the distance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import lstsq

from sharpfront.arrays import FloatArray
from sharpfront.bases.corner_functions import ComplexArray, CornerFunctions, Term
from sharpfront.equation.expression import Apply, ordered
from sharpfront.problem import Problem
from sharpfront.rows.values import FormValues, form_at

# On the sector the last terms, n orders smoother than a function's first one, are this small beside
# it: what is left out is smaller still, and what is rounded is not seen. It reaches over so many
# orders of magnitude, and is no smaller than that, in units of the domain.
SMALL, DECADES, SMALLEST_SECTOR = 1e-9, 2.0, 1e-5
# Points along a ray and across.
ALONG, ACROSS = 12, 25
# Sums of terms that leave less than this share of the largest are rounding.
RANK = 1e-13
# Powers closer than this are the same.
SAME_POWER = 1e-9


def completed(
    problem: Problem,
    corner: CornerFunctions,
    angle: float,
    parts: Sequence[str],
    powers: FloatArray,
    most: float,
) -> CornerFunctions:
    """Return the functions of a corner with what the lower terms of a problem add to them.

    Given are the angle of z that the domain takes, from zero on, the parts of the boundary at its
    two ends, the powers of all functions of the corner, and the one up to which terms are wanted.
    """
    step = _step(problem)
    if not step or not _told_by_formulas(problem):
        return corner
    terms = list(corner.terms)
    rows: list[dict[Term, complex]] = []
    for k, main in enumerate(corner.terms):
        own = _smoother(main, step, powers, most)
        levels = round(max((t.order for t in own), default=0.0) - main.order)
        sector = _Sector(problem, corner, angle, parts, max(1, levels))
        found = sector.factors(main, complex(corner.factors[k, k]), own)
        rows.append({main: complex(corner.factors[k, k]), **found})
        terms += [t for t in found if t not in terms]
    factors = np.array([[row.get(t, 0.0) for t in terms] for row in rows], dtype=complex)
    return replace(corner, terms=tuple(terms), factors=factors)


def _step(problem: Problem) -> int:
    """Return by how many orders what lower terms add is smoother; zero if there are none."""
    lower = [2 - t.order for t in problem.forms[0].terms if t.order < 2]
    for condition in problem.conditions:
        for form in condition.forms:
            lower += [form.order - t.order for t in form.terms if t.order < form.order]
    return min(lower, default=0)


def _told_by_formulas(problem: Problem) -> bool:
    """Tell whether lower terms have coefficients of which formulas tell that they are smooth.

    About an iterate of Newton's method they are as singular as that is.
    """
    nodes = [n for t in problem.forms[0].terms if t.order < 2 for n in ordered(t.coefficient)]
    called = [node.function.evaluate for node in nodes if isinstance(node, Apply)]
    return all(isinstance(function, np.ufunc) for function in called)


def _smoother(main: Term, step: int, powers: FloatArray, most: float) -> list[Term]:
    """Return terms that are smoother than a function's first one, up to a power.

    What is as singular as another function comes with a logarithm, or with one more, and so does
    all that follows, which is left out.
    """
    out: list[Term] = []
    for n in range(step, math.ceil(most - main.power)):
        again = bool(np.abs(powers - main.power - n).min() < SAME_POWER)
        if again and main.logarithmic:
            break
        out += [Term(main.power + n - j, j, main.logarithmic) for j in range(n + 1)]
        if again:
            out.append(Term(main.power + n, 0, True))
            break
    return out


class _Sector:
    """Points about a corner as far as terms so many orders smoother ask, and what rows leave."""

    def __init__(
        self,
        problem: Problem,
        corner: CornerFunctions,
        angle: float,
        parts: Sequence[str],
        smoother: int,
    ) -> None:
        # Distances from the corner, not places, so that they are not rounded.
        self.corner = replace(corner, place=(0.0, 0.0))
        reach = max(SMALLEST_SECTOR, SMALL ** (1.0 / smoother))
        radii = reach * np.geomspace(10.0**-DECADES, 1.0, ALONG)
        slopes = np.array([[s.real for s in corner.slopes], [s.imag for s in corner.slopes]])
        self._back = np.linalg.inv(slopes)
        self._rows: list[tuple[FormValues, FloatArray, FloatArray]] = []
        self._far: list[FloatArray] = []
        inner = angle * (np.arange(ACROSS) + 0.5) / ACROSS
        away, far = self._points(radii, inner)
        place = np.array(corner.place)
        self._add(form_at(problem.forms[0], problem.coordinates, place + away), away, far, 2)
        for part, at in zip(parts, (0.0, angle), strict=True):
            form = next(c for c in problem.conditions if c.part == part).forms[0]
            away, far = self._points(radii, np.array([at]))
            normal = np.array([away[-1, 1], -away[-1, 0]]) / np.linalg.norm(away[-1])
            normals = np.tile(normal if at == 0.0 else -normal, (len(away), 1))
            found = form_at(form, problem.coordinates, place + away, normals)
            self._add(found, away, far, form.order)

    def _points(self, radii: FloatArray, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        r, t = (v.ravel() for v in np.meshgrid(radii, angles, indexing="ij"))
        return (self._back @ np.stack([r * np.cos(t), r * np.sin(t)])).T, r

    def _add(self, form: FormValues, away: FloatArray, far: FloatArray, order: int) -> None:
        """Add rows of a form, in units of u."""
        size = np.max(
            [
                np.abs(c)
                for t, c in zip(form.terms, form.coefficients, strict=True)
                if sum(t.orders) == order
            ],
            axis=0,
        )
        scale = float(np.linalg.norm(self._back, 2)) ** order
        self._rows.append((form, away, far**order * scale / size))
        self._far.append(far)

    def factors(self, main: Term, factor: complex, terms: Sequence[Term]) -> dict[Term, complex]:
        """Return the factors of terms that make up for what a function's first term leaves."""
        if not terms:
            return {}
        # With a logarithm goes a polynomial, which patches take.
        degrees = {round(t.order) for t in (main, *terms)} if main.logarithmic else set()
        smooth = [Term(float(n - j), j, False) for n in degrees for j in range(n + 1)]
        both = replace(self.corner, terms=(main, *terms, *smooth))
        left = np.concatenate([_left(both, *each) for each in self._rows])
        left = left * (np.concatenate(self._far) ** -main.power)[:, None]
        # The imaginary part of factor times term, for the two parts of each factor.
        matrix = np.concatenate([left[:, 1:].imag, left[:, 1:].real], axis=1)
        size = np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
        found = lstsq(matrix / size, -(factor * left[:, 0]).imag, cond=RANK)[0] / size
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
