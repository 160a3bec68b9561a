"""Eigenvalue problems on a line: collocation with pieces of polynomials.

On a piece an unknown of order n has a polynomial whose n-th derivative is given by p Legendre
weights, and n constants of integration: the highest derivative is then as well conditioned as the
identity, and lower ones are smooth. The equation holds at p Gauss points of a piece, derivatives
below n go on from piece to piece, and the conditions make the system square.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy.sparse as ss
from numpy.polynomial import legendre
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.legendre import gauss, norms
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.errors import ProblemError
from sharpfront.maps import AxisMap
from sharpfront.problem.conditions import PointCondition
from sharpfront.spectrum.statement import Complex, SpectralForm, SpectralProblem

# Rows that belong together: blocks of the powers of lam, each with its first column.
Rows = list[tuple[int, Complex]]
_WITHOUT_LAM = np.array([1.0, 0.0, 0.0])[:, None, None] + 0j
# Points of a piece that integrals of conditions are taken with, beside those of the equation.
INTEGRAL_POINTS = 8


@lru_cache(maxsize=512)
def derivative_weights(points: int, order: int, derivative: int) -> FloatArray:
    """Return d^k/dz^k of a piece's functions in Legendre polynomials, (points + order,) twice.

    With p points and order n the functions are n-fold integrals of P_0, ..., P_(p - 1), then P_0,
    ..., P_(n - 1); k goes up to n.
    """
    size = points + order
    out = np.zeros((size, size))
    # The integral of P_k, without a constant, is P_(k + 1) - P_(k - 1) over 2 k + 1.
    rate = 1.0 / (2.0 * np.arange(size) + 1.0)
    integral = np.diag(rate[:-1], -1) - np.diag(rate[1:], 1)
    out[:, :points] = np.linalg.matrix_power(integral, order - derivative)[:, :points]
    for c in range(order):
        unit = legendre.legder([0.0] * c + [1.0], derivative)
        out[: len(unit), points + c] = unit
    return out


@dataclass(frozen=True, eq=False)
class LinePencil:
    """(P_0 + lam P_1 + lam^2 P_2) v = 0 on some pieces."""

    statement: SpectralProblem  # the problem
    edges: FloatArray  # the ends of the pieces, (pieces + 1,)
    points: tuple[int, ...]  # p of each piece

    @cached_property
    def axes(self) -> list[AxisMap]:
        """The pieces."""
        return [AxisMap(low, high) for low, high in itertools.pairwise(self.edges.tolist())]

    @cached_property
    def orders(self) -> tuple[int, ...]:
        """N of each unknown."""
        return self.statement.orders

    @cached_property
    def starts(self) -> Ints:
        """The first column of each piece and unknown, (pieces, unknowns)."""
        sizes = np.add.outer(self.points, self.orders)
        ends = np.cumsum(sizes.ravel())
        return np.asarray((ends - sizes.ravel()).reshape(sizes.shape))

    @property
    def size(self) -> int:
        """The number of columns."""
        return sum(self.points) * len(self.orders) + len(self.points) * sum(self.orders)

    @cached_property
    def bases(self) -> dict[str, PatchworkBasis]:
        """The functions of each unknown."""
        return {
            name: PatchworkBasis(
                tuple(Patch((a,), (p + n,)) for a, p in zip(self.axes, self.points, strict=True))
            )
            for name, n in zip(self.statement.problem.unknowns, self.orders, strict=True)
        }

    @cached_property
    def matrices(self) -> list[Any]:
        """The matrices of the powers of lam, sparse; rows are scaled alike in all of them."""
        count, places, values = 0, [], []
        for group in (*self._equations(), *self._continuity(), *self._conditions()):
            for column, block in group:
                _, m, n = block.shape
                grid = np.mgrid[count : count + m, column : column + n]
                places.append(grid.reshape(2, -1))
                values.append(block.reshape(len(block), -1))
            count += group[0][1].shape[1]
        if count != self.size:
            raise ProblemError(
                f"The unknowns have orders {', '.join(map(str, self.orders))}, so "
                f"{sum(self.orders)} conditions are needed; "
                f"{count - self.size + sum(self.orders)} were given."
            )
        place, whole = tuple(np.concatenate(places, axis=1)), np.concatenate(values, axis=1)
        every: NDArray[Any] = whole if self.statement.is_complex else whole.real
        shape = (self.size, self.size)
        found = [ss.csr_array((v, place), shape=shape) for v in every[: self.statement.degree + 1]]
        scale = np.maximum.reduce([np.asarray(abs(f).max(axis=1).todense()).ravel() for f in found])
        inverse = ss.diags_array(1.0 / np.maximum(scale, 1e-300))
        return [ss.csc_array(inverse @ f) for f in found]

    def _table(self, piece: int, unknown: int, z: FloatArray, order: int) -> FloatArray:
        """Return a derivative along x of a piece's functions at positions in it, (m, p + n)."""
        p, n = self.points[piece], self.orders[unknown]
        if order > n:
            name = self.statement.problem.unknowns[unknown]
            raise ProblemError(
                f"A condition has a derivative of {name} of order {order}, above the equation's."
            )
        weights = derivative_weights(p, n, order)
        half = 0.5 * self.axes[piece].length
        # In units of the highest derivative, so that columns of all pieces are alike.
        return np.asarray(legendre.legvander(z, p + n - 1) @ weights * half ** (n - order))

    def _rows(
        self, piece: int, form: SpectralForm, values: Sequence[Complex], z: FloatArray
    ) -> Rows:
        """Return a form with coefficients at positions of a piece, a row for each of these."""
        out = []
        for term, c in zip(form.terms, values, strict=True):
            u = self.statement.problem.unknowns.index(term.unknown)
            table = self._table(piece, u, z, term.order)
            out.append((int(self.starts[piece, u]), c[:, :, None] * table))
        return out

    def _equations(self) -> Iterator[Rows]:
        """Yield the equations at the Gauss points of all pieces."""
        for i, p in enumerate(self.points):
            z, _ = gauss(p)
            x = self.axes[i].points(z)[:, None]
            for form in self.statement.equations:
                yield self._rows(i, form, form.values(x), z)

    def _continuity(self) -> Iterator[Rows]:
        """Yield what pieces share where they meet."""
        edges, last = self.edges, len(self.points) - 1
        middles = 0.5 * (edges[1:] + edges[:-1])
        pairs = [(i, i + 1) for i in range(last)]
        if self.statement.problem.domain.periodic_axes[0]:
            pairs.append((last, 0))
        for left, right in pairs:
            sides = ((left, 1.0, edges[left + 1]), (right, -1.0, edges[right]))
            forms = self.statement.shared(float(edges[left + 1]))
            for pair in forms:
                group: Rows = []
                for form, (piece, end, place) in zip(pair, sides, strict=True):
                    values = form.values_beside(float(place), float(middles[piece]))
                    group += self._rows(piece, form, [end * c for c in values], np.array([end]))
                yield group
            for u, n in enumerate(() if forms else self.orders):
                for k in range(n):
                    yield [
                        (
                            int(self.starts[piece, u]),
                            end * self._table(piece, u, np.array([end]), k) * _WITHOUT_LAM,
                        )
                        for piece, end, _ in sides
                    ]

    def _conditions(self) -> Iterator[Rows]:
        """Yield the conditions at ends, at points and on integrals."""
        domain = self.statement.problem.domain
        for part, forms in self.statement.conditions:
            end = domain.boundary(part)
            for form in forms:
                yield self._at(form, float(end.points[0, 0]), end.normals)
        for condition, forms in self.statement.further:
            for form in forms:
                if isinstance(condition, PointCondition):
                    yield self._at(form, condition.point[0], None)
                else:
                    yield self._integrated(form)

    def _at(self, form: SpectralForm, x: float, normals: FloatArray | None) -> Rows:
        i = int(np.clip(np.searchsorted(self.edges, x, "right") - 1, 0, len(self.points) - 1))
        values = form.values(np.array([[x]]), normals)
        return self._rows(i, form, values, self.axes[i].inverse(np.array([x])))

    def _integrated(self, form: SpectralForm) -> Rows:
        out: Rows = []
        for i, p in enumerate(self.points):
            z, w = gauss(p + INTEGRAL_POINTS)
            axis = self.axes[i]
            at = self._rows(i, form, form.values(axis.points(z)[:, None]), z)
            weights = w * axis.length
            out += [(column, (weights @ block)[:, None]) for column, block in at]
        return out

    def weights(self, vector: Complex) -> dict[str, Complex]:
        """Return the Legendre weights of each unknown, orthonormal in the mean on each piece."""
        out = {}
        for u, (name, n) in enumerate(
            zip(self.statement.problem.unknowns, self.orders, strict=True)
        ):
            own = []
            for p, axis, start in zip(self.points, self.axes, self.starts[:, u], strict=True):
                scale = (0.5 * axis.length) ** n / norms(p + n)
                own.append(derivative_weights(p, n, 0) @ vector[start : start + p + n] * scale)
            out[name] = np.concatenate(own)
        return out
