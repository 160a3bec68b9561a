"""Eigenvalue problems on a line: collocation with pieces of polynomials.

On a piece an unknown of order n has a polynomial whose n-th derivative is given by p Legendre
weights, and n constants of integration: the highest derivative is then as well conditioned as the
identity, and lower ones are smooth. The equation holds at p Gauss points of a piece, derivatives
below n go on from piece to piece, and the conditions make the system square.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
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
from sharpfront.spectrum.statement import (
    Across,
    Complex,
    SpectralForm,
    SpectralProblem,
    conditions_needed,
    values_beside,
)

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
    out[:points, :points] = np.eye(points)
    for _ in range(order - derivative):
        out[:, :points] = _integrated(out[:, :points])
    for c in range(order):
        unit = legendre.legder([0.0] * c + [1.0], derivative)
        out[: len(unit), points + c] = unit
    return out


def _integrated(weights: FloatArray) -> FloatArray:
    """Return the Legendre weights of integrals, without the constant, (size, m) of (size, m)."""
    k = np.arange(len(weights))
    parts = weights / (2.0 * k + 1.0)[:, None]
    out = np.zeros_like(weights)
    out[1:] += parts[:-1]
    out[:-1] -= parts[1:]
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
        return tuple(conditions_needed(self.statement))

    @cached_property
    def across(self) -> Across:
        """What holds where something jumps."""
        return Across(self.statement)

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
    def matrices(self) -> list[Any]:
        """The matrices of the powers of lam, sparse; rows are scaled alike in all of them."""
        rows = _PencilRows(self)
        rows.add_equations()
        rows.add_continuity()
        rows.add_conditions()
        if rows.count != self.size:
            raise ProblemError(
                f"The unknowns have orders {', '.join(map(str, self.orders))}, so "
                f"{sum(self.orders)} conditions are needed; "
                f"{rows.count - self.size + sum(self.orders)} were given."
            )
        return self._assembled(rows.blocks)

    def _assembled(self, rows: list[tuple[int, int, Complex]]) -> list[Any]:
        i, j, values = [], [], []
        for row, column, block in rows:
            _, m, n = block.shape
            grid = np.mgrid[row : row + m, column : column + n].reshape(2, -1)
            i.append(grid[0])
            j.append(grid[1])
            values.append(block.reshape(len(block), -1))
        place = np.concatenate(i), np.concatenate(j)
        whole = np.concatenate(values, axis=1)
        every: NDArray[Any] = whole if self.statement.is_complex else whole.real
        shape = (self.size, self.size)
        found = [ss.csr_array((v, place), shape=shape) for v in every[: self.statement.degree + 1]]
        scale = np.maximum.reduce([np.asarray(abs(f).max(axis=1).todense()).ravel() for f in found])
        inverse = ss.diags_array(1.0 / np.maximum(scale, 1e-300))
        return [ss.csc_array(inverse @ f) for f in found]

    def table(self, piece: int, unknown: int, z: FloatArray, order: int) -> FloatArray:
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

    def weights(self, vector: Complex) -> list[list[Complex]]:
        """Return the Legendre weights of each unknown on each piece, orthonormal in the mean."""
        out = []
        for u, n in enumerate(self.orders):
            own = []
            for i, p in enumerate(self.points):
                start, half = self.starts[i, u], 0.5 * self.axes[i].length
                plain = derivative_weights(p, n, 0) @ vector[start : start + p + n] * half**n
                own.append(plain / norms(p + n))
            out.append(own)
        return out

    def basis(self, unknown: int) -> PatchworkBasis:
        """Return the functions of an unknown."""
        counts = [p + self.orders[unknown] for p in self.points]
        pairs = zip(self.axes, counts, strict=True)
        return PatchworkBasis(tuple(Patch((axis,), (count,)) for axis, count in pairs))

    def richer(self, more: int) -> LinePencil:
        """Return the same with so many points more in every piece."""
        return LinePencil(self.statement, self.edges, tuple(p + more for p in self.points))

    def sampled(self, weights: Sequence[Sequence[Complex]], z: FloatArray) -> Complex:
        """Return all unknowns at positions of every piece, (unknowns, pieces, len(z))."""
        return np.stack(
            [
                np.stack([legendre.legvander(z, len(w) - 1) @ (w * norms(len(w))) for w in own])
                for own in weights
            ]
        )


class _PencilRows:
    """The rows of a pencil: blocks of the powers of lam, each with its first row and column."""

    def __init__(self, pencil: LinePencil) -> None:
        self.pencil, self.statement = pencil, pencil.statement
        self.blocks: list[tuple[int, int, Complex]] = []
        self.count = 0

    def _add(
        self,
        piece: int,
        form: SpectralForm,
        values: Sequence[Complex],
        z: FloatArray,
        weights: FloatArray | None = None,
    ) -> None:
        """Add a form with coefficients at positions of a piece to the rows that come next.

        A row for each position, or with weights of them one for their sum.
        """
        for term, c in zip(form.terms, values, strict=True):
            u = self.statement.problem.unknowns.index(term.unknown)
            table = self.pencil.table(piece, u, z, term.order)
            block = c[:, :, None] * table if weights is None else (c * weights)[:, None, :] @ table
            self.blocks.append((self.count, int(self.pencil.starts[piece, u]), block))

    def add_equations(self) -> None:
        """Add the equations at the Gauss points of all pieces."""
        for i, p in enumerate(self.pencil.points):
            z, _ = gauss(p)
            x = self.pencil.axes[i].points(z)
            for form in self.statement.equations:
                self._add(i, form, form.values(x[:, None]), z)
                self.count += p

    def add_continuity(self) -> None:
        """Add what pieces share where they meet."""
        pencil, last = self.pencil, len(self.pencil.points) - 1
        pairs = [(i, i + 1) for i in range(last)]
        if self.statement.problem.domain.periodic_axes[0]:
            pairs.append((last, 0))
        for left, right in pairs:
            forms = pencil.across.shared(float(pencil.edges[left + 1]))
            if forms:
                self._add_jumps(forms, left, right)
                continue
            for u, n in enumerate(pencil.orders):
                for k in range(n):
                    for piece, end in ((left, 1.0), (right, -1.0)):
                        row = end * pencil.table(piece, u, np.array([end]), k)
                        block = np.concatenate([row[None], np.zeros((2, *row.shape))]) + 0j
                        self.blocks.append((self.count, int(pencil.starts[piece, u]), block))
                    self.count += 1

    def _add_jumps(
        self, forms: Sequence[tuple[SpectralForm, SpectralForm]], left: int, right: int
    ) -> None:
        """Add what two pieces share where something jumps between them."""
        edges = self.pencil.edges
        middles = 0.5 * (edges[1:] + edges[:-1])
        sides = ((left, 1.0, edges[left + 1]), (right, -1.0, edges[right]))
        for pair in forms:
            for form, (piece, end, place) in zip(pair, sides, strict=True):
                values = values_beside(form, float(place), float(middles[piece]))
                self._add(piece, form, [end * c for c in values], np.array([end]))
            self.count += 1

    def add_conditions(self) -> None:
        """Add the conditions at ends, at points and on integrals."""
        domain = self.statement.problem.domain
        for part, forms in self.statement.conditions:
            end = domain.boundary(part)
            for form in forms:
                self._add_at(form, float(end.points[0, 0]), end.normals)
        for condition, forms in self.statement.further:
            for form in forms:
                if isinstance(condition, PointCondition):
                    self._add_at(form, condition.point[0], None)
                else:
                    self._add_integral(form)

    def _add_at(self, form: SpectralForm, x: float, normals: FloatArray | None) -> None:
        pencil = self.pencil
        i = int(np.clip(np.searchsorted(pencil.edges, x, "right") - 1, 0, len(pencil.points) - 1))
        values = form.values(np.array([[x]]), normals)
        self._add(i, form, values, pencil.axes[i].inverse(np.array([x])))
        self.count += 1

    def _add_integral(self, form: SpectralForm) -> None:
        for i, p in enumerate(self.pencil.points):
            z, w = gauss(p + INTEGRAL_POINTS)
            axis = self.pencil.axes[i]
            self._add(i, form, form.values(axis.points(z)[:, None]), z, w * axis.length)
        self.count += 1
