"""Meshes of any domain, by Delaunay's triangulation of points spread over it."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.errors import DomainError
from sharpfront.geometry import Domain
from sharpfront.geometry.meshes.mesh import Mesh
from sharpfront.geometry.meshes.sizing import Sizing, rim_points, sizing_of

# Points closer to the boundary than this part of the spacing would make flat cells there.
_MARGIN = 0.4
_JITTER = 0.02
# Where the spacing is below this part of the even one, the even lattice is replaced.
_FINE = 0.8
# Volume by the cube of the longest edge; 0.118 for a regular tetrahedron, 0.433 for a triangle.
_FLAT = {2: 1e-3, 3: 5e-3}


def spacing_for(domain: Domain, count: int) -> float:
    """Return the distance between neighbours at which about `count` points fill the domain."""
    d = domain.dimension
    volume = domain.measure / count
    return (
        math.sqrt(2 / math.sqrt(3) * volume) if d == 2 else math.sqrt(3) / 2 * math.cbrt(2 * volume)
    )


def shape_mesh(domain: Domain, spacing: float, *, interior: FloatArray | None = None) -> Mesh:
    """Return a mesh of a domain in two or three dimensions, closer where its boundary is small.

    `spacing_for` gives the spacing for a number of points. Points for the inside, where nothing is
    small, may be given in place of evenly spread ones.
    """
    from scipy.spatial import Delaunay

    if domain.dimension not in (2, 3) or not spacing > 0:
        raise DomainError(
            "A mesh has a positive spacing and two or three dimensions; got a spacing of "
            f"{spacing} in {domain.dimension}."
        )
    sizing = sizing_of(domain, spacing)
    edge = _joined(domain, rim_points(domain, sizing))
    inside = _lattice(domain, spacing) if interior is None else np.asarray(interior, float)
    inside = _refined(domain, inside, edge, sizing)
    points = np.concatenate([edge, inside])
    found = Delaunay(points).simplices
    cells = found[_kept(domain, points, found, len(edge))].astype(np.int64)
    if not len(cells):
        raise DomainError(f"A spacing of {spacing:g} leaves no cell inside; try a smaller one.")
    used, numbered = np.unique(cells, return_inverse=True)
    return Mesh(points[used], numbered.reshape(cells.shape).astype(np.int64))


def _joined(domain: Domain, parts: list[FloatArray]) -> FloatArray:
    """Return the points of the boundary, corners first, none of them twice."""
    from scipy.spatial import cKDTree

    points = np.concatenate([domain.corners.reshape(-1, domain.dimension), *parts])
    smallest = 1e-9 * float(np.ptp(domain.bounds, axis=0).max())
    twice = cKDTree(points).query_pairs(smallest, output_type="ndarray")
    return np.delete(points, np.unique(twice[:, 1]), axis=0)


def _refined(domain: Domain, inside: FloatArray, edge: FloatArray, sizing: Sizing) -> FloatArray:
    """Return the points inside with closer ones in place of those beside what is small."""
    from scipy.spatial import cKDTree

    if sizing.even:
        return inside
    sizes = sizing(inside)
    near, _ = cKDTree(edge).query(inside)
    inside = inside[(sizes > _FINE * sizing.spacing) & (near > _MARGIN * sizes)]
    found = _leaves(domain, sizing)
    sizes = sizing(found)
    found += _JITTER * sizes[:, None] * np.random.default_rng(0).uniform(-1, 1, found.shape)
    near, _ = cKDTree(np.concatenate([edge, inside])).query(found)
    found = found[near > _MARGIN * sizes]
    return np.concatenate([inside, found[domain.contains(found)]])


def _leaves(domain: Domain, sizing: Sizing) -> FloatArray:
    """Return the middles of cubes that are halved down to the spacing there."""
    low, high = domain.bounds
    axes = [
        np.arange(a, b, sizing.spacing) + sizing.spacing / 2 for a, b in zip(low, high, strict=True)
    ]
    middles = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    middles = middles[sizing(middles) <= _FINE * sizing.spacing]
    halves = np.array(list(itertools.product((-0.25, 0.25), repeat=len(axes))))
    width, found = sizing.spacing, []
    while len(middles):
        large = sizing(middles) < width / math.sqrt(2)
        found.append(middles[~large])
        middles = (middles[large][:, None] + width * halves).reshape(-1, len(axes))
        width /= 2
    return np.concatenate(found) if found else np.empty((0, len(axes)))


def _lattice(domain: Domain, spacing: float) -> FloatArray:
    """Return a hexagonal or body-centred lattice inside the domain, slightly disturbed."""
    low, high = domain.bounds
    d = domain.dimension
    steps = spacing * np.array([1.0, math.sqrt(3)] if d == 2 else [2 / math.sqrt(3)] * 3)
    axes = [np.arange(a + s / 4, b, s) for a, b, s in zip(low, high, steps, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
    points = np.concatenate([grid, grid + steps / 2])
    points += _JITTER * spacing * np.random.default_rng(0).uniform(-1, 1, points.shape)
    points = points[domain.contains(points)]
    return np.asarray(points[domain.distance(points) > _MARGIN * spacing])


def _kept(
    domain: Domain, points: FloatArray, cells: NDArray[np.int32], rim: int
) -> NDArray[np.bool_]:
    """Tell which cells lie inside and are not flat pieces of the boundary."""
    corners = points[cells]
    sides = corners[:, 1:] - corners[:, :1]
    volumes = np.abs(np.linalg.det(sides)) / math.factorial(domain.dimension)
    spans = np.linalg.norm(corners[:, :, None] - corners[:, None], axis=3).max(axis=(1, 2))
    flat = volumes < _FLAT[domain.dimension] * spans**domain.dimension
    # A cell of boundary points only may be flat because the boundary is; any other cell is kept
    # unless nothing of it is left in floating point.
    outer = np.all(cells < rim, axis=1)
    keep = domain.contains(corners.mean(axis=1)) & ~(flat & outer)
    return np.asarray(keep & (volumes > 1e-14 * spans**domain.dimension))
