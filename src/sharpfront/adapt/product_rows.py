"""Rows for products of kernels: on a grid that follows the kernels, inside the domain.

Every row is divided by its norm. Rows of conditions weigh more than rows of the equation: there are
fewer of them, and nothing else holds them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import derivatives_in
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import ProblemError
from sharpfront.geometry import BoundaryPoints, Box, Domain
from sharpfront.kernels.assemble import Block, LinearSystem, RowSet, assemble, form_matrix
from sharpfront.kernels.basis import Basis
from sharpfront.pieces import tables
from sharpfront.pieces.tensor import TensorBasis, product_count
from sharpfront.problem import IntegralCondition, PointCondition, Problem

# Weight of a condition's unit rows: 10 and 100 measured alike, 1e6 costs two digits.
WEIGHT = 10.0
# Rows in a shape for each function, and of conditions for each one that the boundary can see.
SHAPE_ROWS = 2.5
BOUNDARY_ROWS = 4.0
# Rows on a face in four dimensions and more for each function that it can see.
FACE_ROWS = 0.8
# A row this small beside the largest of its block is rounding.
NEGLIGIBLE = 1e-13
# Candidates for each row kept when rows on a boundary follow the kernels.
_CANDIDATES = 8


def product_system(
    problem: Problem,
    bases: Mapping[str, Basis],
    basis: TensorBasis,
    seed: int,
) -> tuple[LinearSystem, tuple[RowSet, ...]]:
    """Return the system of a problem whose unknowns all have kernels like those of `basis`."""
    rows = [RowSet("equation", problem.forms, interior_points(problem.domain, basis, seed))]
    for condition in problem.conditions:
        face = boundary_points(problem.domain, condition.part, basis, seed)
        rows.append(RowSet(condition.part, condition.forms, face.points, face.normals, WEIGHT))
    # A condition at a point must stand against all rows of the equation.
    single = WEIGHT * math.sqrt(basis.size)
    for further in problem.further:
        if isinstance(further, PointCondition):
            rows.append(RowSet("at", further.forms, np.array([further.point]), None, single))
    system = assemble(rows, bases, problem.coordinates)
    extra = [*_seams(problem, bases, basis), *_integrals(problem, bases, basis, single)]
    return LinearSystem((*system.blocks, *extra)).with_unit_rows(NEGLIGIBLE), tuple(rows)


def interior_points(domain: Domain, basis: TensorBasis, seed: int = 0) -> FloatArray:
    """Return where the equation is to hold: the fitting points of the axes, inside the domain."""
    if domain.dimension > 3:
        return domain.sample(math.ceil(SHAPE_ROWS * basis.size), "quasi", seed)
    if isinstance(domain, Box):
        return _grid([axis.fitting.x for axis in basis.axes])
    low, high = domain.bounds
    filled = domain.measure / float(np.prod(high - low))
    places = []
    for axis in basis.axes:
        count = math.ceil(axis.size * (SHAPE_ROWS / filled) ** (1 / domain.dimension))
        places.append(axis.coordinate.invert((np.arange(count) + 0.5) / count).x)
    points = _grid(places)
    return points[domain.contains(points)]


def boundary_points(domain: Domain, part: str, basis: TensorBasis, seed: int) -> BoundaryPoints:
    """Return where a condition is to hold, as dense as the kernels are."""
    if domain.dimension > 3:
        count = product_count(basis.shape[1:])
        return domain.boundary(part, math.ceil(FACE_ROWS * count), seed)
    if isinstance(domain, Box):
        return _face(domain, part, basis)
    low, high = domain.bounds
    d = domain.dimension
    share = domain.boundary_measure(part) / float(np.prod(high - low)) ** ((d - 1) / d)
    count = math.ceil(BOUNDARY_ROWS * share * basis.size ** ((d - 1) / d)) + 2 * d
    if not any(axis.coordinate.components for axis in basis.axes):
        return domain.boundary(part, count, seed)
    many = domain.boundary(part, _CANDIDATES * count, seed)
    kept = _followed(many, basis, count)
    return BoundaryPoints(many.points[kept], many.normals[kept])


def _face(domain: Box, part: str, basis: TensorBasis) -> BoundaryPoints:
    """Return the fitting points of the other axes on one face of a box."""
    there = domain.boundary(part, 1)
    axis = int(np.argmax(np.abs(there.normals[0])))
    places = [a.fitting.x for a in basis.axes]
    places[axis] = there.points[0, axis : axis + 1]
    points = _grid(places)
    return BoundaryPoints(points, np.repeat(there.normals[:1], len(points), axis=0))


def _followed(many: BoundaryPoints, basis: TensorBasis, count: int) -> FloatArray:
    """Return indices of points spread evenly in the kernels' coordinates."""
    slopes = np.stack(
        [
            a.kernels * a.coordinate.derivatives(a.coordinate.nearest(many.points[:, i]), 1)[0]
            for i, a in enumerate(basis.axes)
        ],
        axis=1,
    )
    along = slopes**2 * (1.0 - many.normals**2)
    density = np.sqrt(along.sum(axis=1))
    share = np.cumsum(density) / density.sum()
    return np.unique(np.searchsorted(share, (np.arange(count) + 0.5) / count))


def _seams(problem: Problem, bases: Mapping[str, Basis], basis: TensorBasis) -> list[Block]:
    """Return rows that join the ends of periodic axes: u and its derivatives go on."""
    blocks = []
    for i, seam in enumerate(problem.domain.periodic_axes):
        if not seam:
            continue
        places = [a.fitting.x for a in basis.axes]
        ends = []
        for end in problem.domain.bounds[:, i]:
            places[i] = np.array([end])
            ends.append(_grid(places))
        for unknown, order in _continued(problem, i):
            orders = tuple(order if j == i else 0 for j in range(len(basis.axes)))
            parts = [
                b.matrix(ends[0], orders) - b.matrix(ends[1], orders)
                if name == unknown
                else np.zeros((len(ends[0]), b.size))
                for name, b in bases.items()
            ]
            blocks.append(Block("seam", np.hstack(parts), np.zeros(len(ends[0])), WEIGHT))
    return blocks


def _continued(problem: Problem, axis: int) -> list[tuple[str, int]]:
    """Return the derivatives across a seam that must match: all below the highest one."""
    highest = dict.fromkeys(problem.unknowns, 1)
    for leaf in (leaf for e in problem.equations for leaf in derivatives_in(e)):
        highest[leaf.unknown] = max(highest[leaf.unknown], leaf.orders[axis])
    return [(name, k) for name, order in highest.items() for k in range(order)]


def _integrals(
    problem: Problem, bases: Mapping[str, Basis], basis: TensorBasis, weight: float
) -> list[Block]:
    """Return one row for each integral condition, by Gauss's rule along each axis."""
    stated = [c for c in problem.further if isinstance(c, IntegralCondition)]
    if not stated:
        return []
    if not isinstance(problem.domain, Box):
        raise ProblemError(
            "Integral conditions are taken on boxes; on other shapes fix the solution by a "
            "condition at a point, sf.at((x, y), ...)."
        )
    points, volumes = _quadrature(basis)
    blocks = []
    for condition in stated:
        for form in condition.forms:
            leaves = environment(problem.coordinates, points)
            coefficients, source = form_values(form, leaves, len(points), "integral")
            weighted = [volumes * c for c in coefficients]
            row = np.zeros((1, sum(b.size for b in bases.values())))
            for part in np.array_split(np.arange(len(points)), max(1, len(points) // 2000)):
                row[0] += form_matrix(form, [w[part] for w in weighted], points[part], bases).sum(0)
            rhs = np.array([condition.equals - float(volumes @ source)])
            blocks.append(Block("integral", row, rhs, weight))
    return blocks


def _quadrature(basis: TensorBasis) -> tuple[FloatArray, FloatArray]:
    places, weights = [], []
    for axis in basis.axes:
        table, w = tables.quadrature_table(axis.kernels + 8, 0)
        at = axis.coordinate.invert(table.points)
        places.append(at.x)
        weights.append(w / axis.coordinate.derivatives(at, 1)[0])
    return _grid(places), np.prod(_grid(weights), axis=1)


def _grid(places: list[FloatArray]) -> FloatArray:
    return np.stack(np.meshgrid(*places, indexing="ij"), axis=-1).reshape(-1, len(places))
