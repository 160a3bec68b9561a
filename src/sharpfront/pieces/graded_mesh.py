"""Meshes of shapes that are fine where the mixtures along the axes are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.geometry.meshes.mesh import Mesh
from sharpfront.geometry.meshes.shape_mesh import shape_mesh
from sharpfront.geometry.meshes.sizing import Chart
from sharpfront.pieces.coordinate import Coordinate


def graded_mesh(domain: Domain, coordinates: Sequence[Coordinate], count: int) -> Mesh:
    """Return a mesh of a shape whose nodes are even in the coordinates along the axes."""
    low, high = domain.bounds
    d = domain.dimension
    filled = domain.measure / float(np.prod(high - low))
    sides = (high - low) / float(np.prod(high - low)) ** (1 / d)
    spacing = (filled / count) ** (1 / d)
    if not any(c.components for c in coordinates):
        return shape_mesh(domain, spacing * float(np.prod(high - low)) ** (1 / d))

    def flat(points: FloatArray) -> FloatArray:
        xi = [c.xi(c.nearest(points[:, i])) for i, c in enumerate(coordinates)]
        return np.asarray(np.stack(xi, axis=1) * sides)

    def back(places: FloatArray) -> FloatArray:
        xi = np.clip(places / sides, 0.0, 1.0)
        return np.stack([c.invert(xi[:, i]).x for i, c in enumerate(coordinates)], axis=1)

    counts = [max(2, round(side / spacing)) for side in sides]
    xi = np.stack(np.meshgrid(*[(np.arange(n) + 0.5) / n for n in counts], indexing="ij"), axis=-1)
    # Equal cells of a lattice have no triangulation of their own: a slight shift decides it.
    shift = 0.02 / np.array(counts) * np.random.default_rng(0).standard_normal(xi.shape)
    inside = back((xi + shift).reshape(-1, d) * sides)
    inside = inside[domain.contains(inside)]
    return shape_mesh(domain, spacing, interior=inside, chart=Chart(flat, back))
