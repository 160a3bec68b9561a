"""Where integrals over cells and facets look at their integrands."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry.meshes.mesh import Indices, Mesh


@dataclass(frozen=True, eq=False)
class Rule:
    """A quadrature rule on the cells of a mesh that is exact for quadratic functions.

    Cells share their points, so that an expensive integrand is evaluated few times.
    """

    points: FloatArray  # all points, (q, d)
    places: Indices  # the points of each cell, (k, r)
    shapes: FloatArray  # barycentric coordinates of the points of a cell, (r, d + 1)
    weights: FloatArray  # shares of the cell's volume, (r,)


def cell_rule(mesh: Mesh) -> Rule:
    """Return the midpoints of the edges, in three dimensions with the nodes (weight -1/20)."""
    width = mesh.dimension + 1
    middles = mesh.points[mesh.edges].mean(axis=1)
    pairs = list(itertools.combinations(range(width), 2))
    shapes = np.zeros((len(pairs), width))
    for row, pair in zip(shapes, pairs, strict=True):
        row[list(pair)] = 0.5
    if mesh.dimension == 2:
        return Rule(middles, mesh.cell_edges, shapes, np.full(3, 1 / 3))
    return Rule(
        np.concatenate([mesh.points, middles]),
        np.concatenate([mesh.cells, mesh.cell_edges + len(mesh.points)], axis=1),
        np.concatenate([np.eye(width), shapes]),
        np.concatenate([np.full(4, -1 / 20), np.full(6, 1 / 5)]),
    )


def facet_rule(dimension: int) -> tuple[FloatArray, FloatArray]:
    """Return barycentric points (r, d) inside a facet and their weights (r,), exact to degree 2."""
    near = (1 + 1 / math.sqrt(3)) / 2 if dimension == 2 else 2 / 3
    rest = (1 - near) / (dimension - 1)
    shapes = np.full((dimension, dimension), rest)
    np.fill_diagonal(shapes, near)
    return shapes, np.full(dimension, 1 / dimension)
