"""Linear forms at points of patches, in the coordinates of the patches' charts."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch
from sharpfront.equation.expression import Constant
from sharpfront.equation.linearise import LinearForm
from sharpfront.equation.values import environment, form_values
from sharpfront.maps import pulled_back
from sharpfront.maps.chain import Taylor


class Derived(Protocol):
    """A derivative of an unknown."""

    @property
    def unknown(self) -> str:
        """Its name."""

    @property
    def orders(self) -> tuple[int, ...]:
        """How often along each coordinate."""


@dataclass(frozen=True)
class InChart:
    """A derivative along the coordinates of a chart."""

    unknown: str
    orders: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class FormValues:
    """A form at points: sum of coefficient times derivative = rhs, (m,) each."""

    terms: Sequence[Derived]
    coefficients: Sequence[FloatArray]
    rhs: FloatArray

    @classmethod
    def of_sum(cls, parts: Iterable[tuple[Derived, Any]], rhs: FloatArray) -> FormValues:
        """Return a sum of derivatives with coefficients, each of them once."""
        known: dict[tuple[str, tuple[int, ...]], tuple[Derived, Any]] = {}
        for term, c in parts:
            key = term.unknown, term.orders
            known[key] = term, known[key][1] + c if key in known else c
        return cls([t for t, _ in known.values()], [c for _, c in known.values()], rhs)

    @property
    def order(self) -> int:
        """The highest order of any derivative."""
        return max((sum(term.orders) for term in self.terms), default=0)

    def in_chart(self, taylor: Taylor | None) -> FormValues:
        """Return the form in the derivatives along a chart's coordinates; itself without one."""
        if taylor is None:
            return self
        own: dict[str, dict[tuple[int, ...], FloatArray]] = defaultdict(dict)
        for term, c in zip(self.terms, self.coefficients, strict=True):
            own[term.unknown][term.orders] = c
        terms, coefficients = [], []
        for unknown, along in own.items():
            for orders, c in pulled_back(taylor, along).items():
                terms.append(InChart(unknown, orders))
                coefficients.append(c)
        return FormValues(terms, coefficients, self.rhs)

    def split(self, ends: FloatArray) -> list[FormValues]:
        """Return the form at the points between indices."""
        rhs = np.split(self.rhs, ends)
        parts = [np.split(c, ends) for c in self.coefficients]
        return [FormValues(self.terms, [p[i] for p in parts], r) for i, r in enumerate(rhs)]


def form_at(
    form: LinearForm,
    coordinates: Sequence[str],
    points: FloatArray,
    normals: FloatArray | None = None,
    what: str = "",
) -> FormValues:
    """Return a form at points, (m, d), with normals on a boundary; `what` it is called in words."""
    leaves = environment(coordinates, points, normals)
    what = what or ("equation" if normals is None else "condition")
    coefficients, source = form_values(form, leaves, len(points), what)
    return FormValues(form.terms, coefficients, -source)


def is_constant(form: LinearForm) -> bool:
    """Tell whether the coefficients of a form are the same everywhere."""
    return all(isinstance(term.coefficient, Constant) for term in form.terms)


def constants_of(form: LinearForm) -> FormValues | None:
    """Return constant coefficients as at one point, without the source; None if they vary."""
    values = [t.coefficient.value for t in form.terms if isinstance(t.coefficient, Constant)]
    if len(values) < len(form.terms):
        return None
    return FormValues(form.terms, [np.array([v]) for v in values], np.zeros(1))


def normal_derivative(
    unknown: str, normal: Sequence[float] | FloatArray, times: int, count: int
) -> FormValues:
    """Return d^k u/dn^k of one unknown at points of a face.

    The normal is one for all, (d,), or each has its own, (d, count).
    """
    terms, coefficients = [], []
    for orders in itertools.product(range(times + 1), repeat=len(normal)):
        if sum(orders) != times:
            continue
        value = math.factorial(times) / math.prod(map(math.factorial, orders))
        for n, k in zip(normal, orders, strict=True):
            value = value * n**k
        if np.any(value):
            terms.append(InChart(unknown, orders))
            coefficients.append(np.broadcast_to(value, count))
    return FormValues(terms, coefficients, np.zeros(count))


def taylor_of(patch: Patch, positions: FloatArray) -> Taylor | None:
    """Return the derivatives of a patch's chart at positions in it; None for a box."""
    return None if patch.chart is None else patch.chart.taylor(positions)


def taylor_of_all(patches: Sequence[Patch], positions: Sequence[FloatArray]) -> Taylor | None:
    """Return the same for several patches, one after the other."""
    found = [taylor_of(patch, at) for patch, at in zip(patches, positions, strict=True)]
    charted = [taylor for taylor in found if taylor is not None]
    return {b: np.concatenate([t[b] for t in charted]) for b in charted[0]} if charted else None


@dataclass(frozen=True, eq=False)
class RowPoints:
    """Where rows of equations hold on patches of one kind (`kinds_of`).

    At product Gauss points, or at points inside of boxes that the boundary cuts.
    """

    patches: Sequence[Patch]

    @cached_property
    def rules(self) -> list[tuple[FloatArray, FloatArray]]:
        """The points of each patch, (m, d), and weights: those of Gauss, or ones."""
        return [
            patch.gauss_points(patch.row_points)
            if patch.cut is None
            else (patch.inner_points(), np.ones(len(patch.inner_points())))
            for patch in self.patches
        ]

    @cached_property
    def every(self) -> FloatArray:
        """The points of all patches, one after the other."""
        return np.concatenate([points for points, _ in self.rules])

    @cached_property
    def _taylor(self) -> Taylor | None:
        if self.patches[0].chart is None:
            return None
        at = [p.positions([gauss(n)[0] for n in p.row_points]) for p in self.patches]
        return taylor_of_all(self.patches, at)

    def split(self, form: FormValues) -> list[FormValues]:
        """Return a form at all points as those of each patch, along its chart's coordinates."""
        ends = np.cumsum([len(points) for points, _ in self.rules])[:-1]
        return form.in_chart(self._taylor).split(ends)


def kinds_of(patches: Sequence[Patch]) -> list[list[Patch]]:
    """Return patches by kind: boxes that the boundary cuts, whole boxes of space, those in charts.

    Kinds of which there are none are left out.
    """
    kinds: dict[tuple[bool, bool], list[Patch]] = defaultdict(list)
    for patch in patches:
        kinds[patch.cut is None, patch.chart is not None].append(patch)
    return [kinds[key] for key in sorted(kinds)]
