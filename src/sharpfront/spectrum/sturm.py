"""How many eigenvalues of Sturm and Liouville's problems lie below a number, by counting zeros.

Solutions that satisfy the condition at one end have one zero more with every eigenvalue that lam
passes. Between two places the coefficients are taken as constant (Pruess), so that zeros are known
exactly, however fast solutions grow or oscillate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import is_zero
from sharpfront.spectrum.settings import MODES
from sharpfront.spectrum.statement import SpectralForm, SpectralProblem

# Eigenvalues as close as that, relative to the largest, are counted together.
TWINS = 1e-6


def gaps_in(statement: SpectralProblem, values: Sequence[complex], edges: FloatArray) -> str:
    """Return words if there are more or fewer eigenvalues between some than were found.

    Of a problem that is none of Sturm and Liouville's nothing is said. Between the edges modes are
    resolved.
    """
    if len(values) < 2 or not _is_regular(statement):
        return ""
    ordered = np.sort([v.real for v in values])
    apart = np.diff(ordered) > TWINS * np.abs(ordered).max()
    groups = [g.tolist() for g in np.split(ordered, 1 + np.flatnonzero(apart))]
    if len(groups) < 2:
        return ""
    words = ""
    for cells in (MODES.cells, *MODES.again):
        words = _miscounted(groups, _Counter(statement, edges, cells))
        if not words:
            break
    return words


def _miscounted(groups: Sequence[Sequence[float]], counter: _Counter) -> str:
    counts = []
    for before, after in itertools.pairwise(groups):
        room = MODES.inside * (after[0] - before[-1])
        low, high = before[-1] + room, after[0] - room
        counts.append((counter.below(low), counter.below(high)))
        if counts[-1][0] != counts[-1][1]:
            more = abs(counts[-1][1] - counts[-1][0])
            return (
                f"Between {before[-1]:.8g} and {after[0]:.8g} zeros of solutions count {more} more."
            )
    for group, (before_it, after_it) in zip(groups[1:-1], itertools.pairwise(counts), strict=True):
        there = abs(after_it[0] - before_it[1])
        if there != len(group):
            return (
                f"Zeros of solutions count {there} eigenvalue(s) about {group[0]:.8g}, and "
                f"{len(group)} were found."
            )
    return ""


class _Counter:
    """Counts eigenvalues of a regular problem below a number, on pieces cut into equal cells."""

    def __init__(self, statement: SpectralProblem, edges: FloatArray, cells: int) -> None:
        share = np.arange(cells) / cells
        fine = (edges[:-1, None] + np.diff(edges)[:, None] * share).ravel()
        fine = np.append(fine, edges[-1])
        c = _by_order(statement.equations[0], 0.5 * (fine[1:] + fine[:-1]))
        self._half = -0.5 * c[1, 0] / c[2, 0]
        self._without, self._with = (self._half**2 - c[0, 0] / c[2, 0], -c[0, 1] / c[2, 0])
        self._lengths = np.diff(fine).tolist()
        self._refracted = _refracted(statement, edges, cells)
        domain = statement.problem.domain
        ends = sorted(statement.conditions, key=lambda own: domain.boundary(own[0]).points[0, 0])
        # A and b of a u + b u' = 0 at each.
        self._ends = [
            _by_order(form, domain.bounds[i], 2.0 * i - 1.0)[:2, 0, 0].tolist()
            for i, (_, (form,)) in enumerate(ends)
        ]

    def below(self, lam: float) -> int:
        """Return the number of eigenvalues below, or above, but for a constant."""
        (by_value, by_slope), (left, right) = self._ends
        value, slope = by_slope, -by_value
        zeros, rates = 0, (self._without + lam * self._with).tolist()
        cells = zip(rates, self._half.tolist(), self._lengths, strict=True)
        for i, (rate, half, h) in enumerate(cells):
            if i in self._refracted:
                by_slope, by_value = self._refracted[i]
                slope = by_slope * slope + by_value * value
            value, slope, passed = _carried(value, slope - half * value, rate, h)
            zeros += passed
            slope += half * value
            size = math.hypot(value, slope)
            value, slope = value / size, slope / size
        angle = math.atan2(abs(value), math.copysign(1.0, value) * slope if value else abs(slope))
        target = math.atan2(right, -left) % math.pi or math.pi
        return zeros + (angle > target)


def _carried(v: float, dv: float, rate: float, h: float) -> tuple[float, float, int]:
    """Return v and v' after a length h of v'' = rate v, scaled by a positive number, and zeros."""
    if rate < 0.0:
        w = math.sqrt(-rate)
        phase = math.atan2(w * v, dv)
        size = math.hypot(w * v, dv)
        zeros = math.floor((phase + w * h) / math.pi) - math.floor(phase / math.pi)
        return size * math.sin(phase + w * h) / w, size * math.cos(phase + w * h), zeros
    w = math.sqrt(rate)
    # Without the growth: tanh stays where cosh would overflow.
    t = math.tanh(w * h)
    share = t / w if w * h > 1e-8 else h
    new = v + dv * share
    slope = dv + w * t * v
    return new, slope, int(new * v < 0.0 or (new == 0.0 and v != 0.0))


def _refracted(
    statement: SpectralProblem, edges: FloatArray, cells: int
) -> dict[int, tuple[float, float]]:
    """Return a and b of a u' + b u, the slope after a place at which fluxes or loads jump.

    They are named by the first cell after it.
    """
    middles = 0.5 * (edges[1:] + edges[:-1])
    out = {}
    for i, place in enumerate(edges[1:-1].tolist(), 1):
        for pair in statement.shared(place)[1:]:
            sides = np.zeros((2, 2))
            for form, into, inside in zip(pair, sides, middles[i - 1 : i + 1], strict=True):
                values = form.values_beside(place, float(inside))
                for term, c in zip(form.terms, values, strict=True):
                    into[term.order] += float(c[0, 0].real)
            below, above = sides
            out[i * cells] = (below[1] / above[1], (below[0] - above[0]) / above[1])
    return out


def _by_order(form: SpectralForm, x: FloatArray, normal: float | None = None) -> FloatArray:
    """Return coefficients of u, u' and u'' at places, each without lam and with it, (3, 2, m)."""
    normals = None if normal is None else np.full((len(x), 1), normal)
    out = np.zeros((3, 2, len(x)))
    for term, values in zip(form.terms, form.values(x[:, None], normals), strict=True):
        out[term.order] += values[:2].real
    return out


def _is_regular(statement: SpectralProblem) -> bool:
    """Tell whether a problem is -(p u')' + q u = lam w u with one condition at either end."""
    problem = statement.problem
    if (
        problem.unknowns[1:]
        or statement.is_complex
        or statement.degree != 1
        or statement.further
        or problem.jumps
        or problem.domain.periodic_axes[0]
    ):
        return False
    (form,) = statement.equations
    every = [t for _, own in statement.conditions for f in own for t in f.terms]
    places = statement.interfaces.lines[0].tolist()
    pairs = [pair for place in places for pair in statement.shared(place)]
    every += [t for pair in pairs for f in pair for t in f.terms]
    with_lam = [t for t in (*form.terms, *every) if not is_zero(t.powers[1])]
    if (
        sorted(len(own) for _, own in statement.conditions) != [1, 1]
        or statement.orders != (2,)
        or any(t.order or t in every for t in with_lam)
        or any(t.order > 1 for t in every)
    ):
        return False
    low, high = problem.domain.bounds[:, 0]
    found = _by_order(form, np.linspace(low, high, MODES.looked))
    return all(np.all(s > 0) or np.all(s < 0) for s in (found[2, 0], found[0, 1]))
