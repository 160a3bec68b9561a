"""A patch of the line: even kernels in the coordinate of a mixture.

From order three on it carries two fields, u and w = u^(m-2), because rounding in a derivative of
order j grows as N^j: two derivatives are as many as double precision bears. The second field is
stored as W = w / xi'^(m-2), which like u is of order one inside a layer and outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases import even_kernels
from sharpfront.bases.even_kernels import EvenKernels, kernel_table
from sharpfront.bases.patch import Patch
from sharpfront.errors import BasisError
from sharpfront.maps import MixtureAxis, Points, chain
from sharpfront.problem.line_problem import LineProblem

# Derivatives of u beyond this are not held by any field.
HIGHEST_DERIVATIVE = 4


@dataclass(frozen=True, eq=False)
class Places:
    """Where a patch is fitted and where it is checked; found at once, inverting is the cost."""

    rows: Points
    nodes: Points
    middles: Points


@dataclass(frozen=True, eq=False)
class LinePatch(Patch):
    """Functions phi_k(xi(x)) for the unknown of an equation; `functions` has the kernels, (N,)."""

    maps: tuple[MixtureAxis, ...]
    # Where functions may be sampled: at a jump the ends are pulled to their own side of it.
    inside: tuple[float, float] = field(kw_only=True)
    order: int = field(kw_only=True)  # the order m of the equation

    @property
    def axis(self) -> MixtureAxis:
        """The mixture's coordinate."""
        return self.maps[0]

    @property
    def kernels(self) -> int:
        """N."""
        return self.functions[0]

    @property
    def profiles(self) -> EvenKernels:
        """The functions of one field in the coordinate."""
        return even_kernels.even_kernels(self.kernels)

    @cached_property
    def width(self) -> int:
        """The number of functions of one field."""
        return self.profiles.size

    @cached_property
    def products(self) -> Ints:
        """The functions of a field by number, (1, width)."""
        return np.arange(self.width)[None]

    @property
    def fields(self) -> int:
        """One field up to order two, two from order three on."""
        return 1 if self.order <= 2 else 2

    @property
    def size(self) -> int:
        """The number of columns."""
        return self.width * self.fields

    @property
    def tabulated(self) -> int:
        """The derivatives that tables must hold: two of w, and m - 2 of u to define it."""
        return max(min(self.order, 2), self.order - 2)

    @property
    def centres(self) -> FloatArray:
        """The positions of the kernels inside, (N,)."""
        return self.axis.invert((np.arange(self.kernels) + 0.5) / self.kernels).x

    @property
    def deviations(self) -> FloatArray:
        """The kernels' widths in x at their centres, (N,)."""
        slopes = self.axis.derivatives(self.axis.nearest(self.centres), 1)[0]
        return np.asarray(even_kernels.WIDTH / self.kernels / slopes)

    def holds(self, x: float) -> bool:
        """Tell whether a position lies in the patch."""
        return self.axis.low <= x <= self.axis.high

    def sample(self, problem: LineProblem, points: Points) -> FloatArray:
        """Return coefficients and source at points of the patch, (m + 2, n)."""
        low, high = self.inside
        return problem.sample(np.minimum(np.maximum(points.x, low), high))

    @cached_property
    def places(self) -> Places:
        """Where the patch is fitted and checked."""
        s, (rows, middles, nodes) = even_kernels.every_point(self.kernels)
        at = self.axis.invert(s)
        anchor, offset = at.anchor, at.offset
        # No equation holds at nodes.
        rates = self.rates(Points(anchor[: nodes.start], offset[: nodes.start]))
        return Places(
            Points(anchor[rows], offset[rows], rates[:, rows]),
            Points(anchor[nodes], offset[nodes]),
            Points(anchor[middles], offset[middles], rates[:, middles]),
        )

    def rates(self, points: Points) -> FloatArray:
        """Return as many derivatives of the coordinate as rows need."""
        if points.rates is not None:
            return points.rates
        highest = self.tabulated if self.fields == 1 else max(3, self.tabulated)
        return self.axis.derivatives(points, highest)

    def several(
        self, weights: FloatArray, x: FloatArray, orders: Sequence[int]
    ) -> list[FloatArray]:
        """Return derivatives of the weighted sum at positions of the patch, (n,) each."""
        held = [self._held(j) for j in orders]
        needed, highest = {f for f, _ in held}, max(level for _, level in held)
        own = weights.reshape(self.fields, -1)
        known = self._known(x) if highest <= self.tabulated else None
        if known is not None:
            d, table = known[0], known[1][: highest + 1]
            sums = {f: table @ own[f] for f in needed}
        else:
            points = self.axis.nearest(x)
            d, xi = self._slopes(points, held), self.axis.xi(points)
            sums = {f: self.profiles.sums(xi, own[f], highest) for f in needed}
        return [
            combined(sums[f], d, self._coefficients(d, f, level)) if f or level else sums[0][0]
            for f, level in held
        ]

    def derivative_rows(self, table: FloatArray, points: Points, order: int) -> FloatArray:
        """Return u^(order) of every column at tabulated points, (n, size)."""
        if order == 0 and self.fields == 1:
            return np.asarray(table[0])
        number, level = self._held(order)
        d = self._slopes(points, [(number, level)])
        out = np.zeros((table.shape[1], self.size))
        columns = slice(number * self.width, (number + 1) * self.width)
        out[:, columns] = combined(table, d, self._coefficients(d, number, level))
        return out

    def rows_at(self, points: Points, order: int) -> FloatArray:
        """Return u^(order) of every column at any points, (n, size)."""
        table = self.profiles.table(self.axis.xi(points), self._held(order)[1])
        return self.derivative_rows(table, points, order)

    def end_rows(self, order: int) -> FloatArray:
        """Return u^(order) of every column at both ends, (2, size)."""
        table = kernel_table(self.kernels, max(2, self._held(order)[1]), even_kernels.both_ends)
        return self.derivative_rows(table, self.axis.ends, order)

    def _held(self, order: int) -> tuple[int, int]:
        """Return the field that holds u^(order), and which derivative of it that is."""
        highest = HIGHEST_DERIVATIVE if self.fields == 1 else self.order
        if order > highest:
            raise BasisError(
                f"The solution of an equation of order {self.order} carries derivatives up to "
                f"{highest}, asked for {order}. Differentiate the equation instead."
            )
        low = self.order - 2
        return (1, order - low) if 0 < low <= order else (0, order)

    def _slopes(self, points: Points, held: Sequence[tuple[int, int]]) -> FloatArray:
        """Return as many derivatives of the coordinate as derivatives of the fields need."""
        return self.axis.derivatives(points, max(3 if f else level for f, level in held) or 1)

    def _coefficients(self, d: FloatArray, number: int, level: int) -> FloatArray:
        """Return the coefficients of a derivative on the field that holds it."""
        plain = unit(level, d.shape[1])
        return unscaled(d, self.order - 2, plain) if number else plain

    def _known(self, x: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return rates and functions at positions that are those of the patch's own tables."""
        if "places" not in vars(self):
            return None
        checking, fitting = even_kernels.checking_middles, even_kernels.fitting_points
        for points, where in ((self.places.middles, checking), (self.places.rows, fitting)):
            if len(points.offset) == len(x) and (points.x == x).all():
                return self.rates(points), kernel_table(self.kernels, self.tabulated, where)
        return None


def line_patch(
    axis: MixtureAxis, kernels: int, inside: tuple[float, float], order: int
) -> LinePatch:
    """Return so many kernels along an axis."""
    return LinePatch((axis,), (kernels,), inside=inside, order=order)


def unit(order: int, n: int) -> FloatArray:
    """Return the coefficients of u^(order) alone, (order + 1, n)."""
    out = np.zeros((order + 1, n))
    out[order] = 1.0
    return out


def unscaled(d: FloatArray, low: int, coefficients: FloatArray) -> FloatArray:
    """Return the coefficients on W of sum_j a_j w^(j), w = g W, g = xi'^low, j <= 2."""
    a = np.zeros((3, coefficients.shape[1]))
    a[: len(coefficients)] = coefficients
    g = d[0] ** low
    g1 = low * d[0] ** (low - 1) * d[1]
    g2 = low * d[0] ** (low - 1) * d[2] + low * (low - 1) * d[0] ** max(low - 2, 0) * d[1] ** 2
    out = np.array([a[0] * g + a[1] * g1 + a[2] * g2, a[1] * g + 2.0 * a[2] * g1, a[2] * g])
    return out[: len(coefficients)]


def combined(table: FloatArray, d: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return sum_j c_j u^(j) by the chain rule, from derivatives of u in its coordinate.

    These are (order + 1, n) of one function, or (order + 1, n, width) of many; so is the sum.
    """
    factors = chain(d, coefficients)
    if table.ndim == 2:
        return np.asarray(np.add.reduce(factors * table[: len(factors)], axis=0))
    # What an equation lacks, as those of layers do u itself, need not be added.
    first, *others = [k for k, f in enumerate(factors) if np.count_nonzero(f)] or [0]
    out = factors[first][:, None] * table[first]
    for k in others:
        out += factors[k][:, None] * table[k]
    return np.asarray(out)
