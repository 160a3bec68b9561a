"""Meshes of any domain, by Delaunay's triangulation of points spread over it."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.errors import DomainError
from sharpfront.geometry import Box, Domain
from sharpfront.geometry.meshes.mesh import Indices, Mesh, boundary_facets, box_mesh, off_even
from sharpfront.geometry.meshes.sizing import Chart, Sizing, rim_points, sizing_of

# Points closer to the boundary than this part of the spacing would make flat cells there.
_MARGIN = 0.4
_JITTER = 0.02
# Where the spacing is below this part of the even one, the even lattice is replaced.
_FINE = 0.8
# Volume by the cube of the longest edge; 0.118 for a regular tetrahedron, 0.433 for a triangle.
_FLAT = {2: 1e-3, 3: 5e-3}


def even_mesh(domain: Domain, count: int) -> Mesh:
    """Return a mesh of about that many nodes, evenly spread."""
    if not isinstance(domain, Box):
        return shape_mesh(domain, spacing_for(domain, count))
    low, high = domain.bounds
    spacing = (domain.measure / count) ** (1 / domain.dimension)
    axes = []
    for a, b in zip(low, high, strict=True):
        axes.append(a + (b - a) * off_even(max(8, round((b - a) / spacing))))
    return box_mesh(axes, domain.parts, domain.periodic_axes)


def spacing_for(domain: Domain, count: int) -> float:
    """Return the distance between neighbours at which about `count` points fill the domain."""
    d = domain.dimension
    volume = domain.measure / count
    return (
        math.sqrt(2 / math.sqrt(3) * volume) if d == 2 else math.sqrt(3) / 2 * math.cbrt(2 * volume)
    )


def shape_mesh(
    domain: Domain,
    spacing: float,
    *,
    interior: FloatArray | None = None,
    chart: Chart | None = None,
) -> Mesh:
    """Return a mesh of a domain in two or three dimensions, closer where its boundary is small.

    The spacing is that in the chart; `spacing_for` gives it for a number of points. Points for the
    inside, where nothing is small, may be given in place of evenly spread ones. The triangulation
    is made in the chart, so that anisotropic clusters get cells of their own shape.
    """
    from scipy.spatial import Delaunay

    if domain.dimension not in (2, 3) or not spacing > 0:
        raise DomainError(
            "A mesh has a positive spacing and two or three dimensions; got a spacing of "
            f"{spacing} in {domain.dimension}."
        )
    chart = chart or Chart()
    sizing = sizing_of(domain, spacing, chart)
    nodes, dense = rim_points(domain, sizing, chart)
    edge = _joined(domain, list(nodes.values()))
    inside = _lattice(domain, spacing) if interior is None else np.asarray(interior, float)
    inside = _refined(domain, inside, edge, sizing, chart)
    points = np.concatenate([edge, inside])
    flat = chart.forward(points)
    found = Delaunay(flat).simplices
    cells = found[_kept(domain, points, flat, found, len(edge))].astype(np.int64)
    if not len(cells):
        raise DomainError(f"A spacing of {spacing:g} leaves no cell inside; try a smaller one.")
    used, numbered = np.unique(cells, return_inverse=True)
    points, cells = points[used], numbered.reshape(cells.shape).astype(np.int64)
    facets, normals = boundary_facets(points, cells)
    parts = _nearest_parts(list(dense.values()), points[facets].mean(axis=1))
    images = np.arange(len(points))
    return Mesh(points, cells, facets, normals, parts, domain.parts, images)


def _joined(domain: Domain, parts: list[FloatArray]) -> FloatArray:
    """Return the points of the boundary, corners first, none of them twice."""
    from scipy.spatial import cKDTree

    points = np.concatenate([domain.corners.reshape(-1, domain.dimension), *parts])
    smallest = 1e-9 * float(np.ptp(domain.bounds, axis=0).max())
    twice = cKDTree(points).query_pairs(smallest, output_type="ndarray")
    return np.delete(points, np.unique(twice[:, 1]), axis=0)


def _refined(
    domain: Domain, inside: FloatArray, edge: FloatArray, sizing: Sizing, chart: Chart
) -> FloatArray:
    """Return the points inside with closer ones in place of those beside what is small."""
    from scipy.spatial import cKDTree

    if sizing.even and chart == Chart():
        return inside
    coarse, tree = chart.forward(inside), cKDTree(chart.forward(edge))
    sizes = sizing(coarse)
    kept = (sizes > _FINE * sizing.spacing) & (tree.query(coarse)[0] > _MARGIN * sizes)
    inside = inside[kept]
    if sizing.even:
        return inside
    flat = _leaves(domain, sizing, chart)
    sizes = sizing(flat)
    flat += _JITTER * sizes[:, None] * np.random.default_rng(0).uniform(-1, 1, flat.shape)
    near, _ = cKDTree(np.concatenate([chart.forward(edge), coarse[kept]])).query(flat)
    # A chart ends with the box around the domain, and would put what lies beyond on its faces.
    low, high = chart.forward(domain.bounds)
    within = np.all((flat > low) & (flat < high), axis=1)
    points = chart.inverse(flat[within & (near > _MARGIN * sizes)])
    return np.concatenate([inside, points[domain.contains(points)]])


def _leaves(domain: Domain, sizing: Sizing, chart: Chart) -> FloatArray:
    """Return the middles, in the chart, of cubes that are halved down to the spacing there."""
    low, high = chart.forward(domain.bounds)
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
    domain: Domain, points: FloatArray, places: FloatArray, cells: NDArray[np.int32], rim: int
) -> NDArray[np.bool_]:
    """Tell which cells lie inside and are not flat pieces of the boundary.

    Flatness is judged where the triangulation was made: cells in a layer are meant to be thin.
    """
    keep = domain.contains(points[cells].mean(axis=1))
    corners = places[cells]
    sides = corners[:, 1:] - corners[:, :1]
    volumes = np.abs(np.linalg.det(sides)) / math.factorial(domain.dimension)
    spans = np.linalg.norm(corners[:, :, None] - corners[:, None], axis=3).max(axis=(1, 2))
    flat = volumes < _FLAT[domain.dimension] * spans**domain.dimension
    # A cell of boundary points only may be flat because the boundary is; any other cell is kept
    # unless nothing of it is left in floating point.
    outer = np.all(cells < rim, axis=1)
    # Nodes on a straight side across the axes lie on a curve in the chart.
    here = points[cells]
    box = np.prod(np.ptp(here, axis=1), axis=1)
    keep &= np.abs(np.linalg.det(here[:, 1:] - here[:, :1])) > 1e-10 * box
    return np.asarray(keep & ~(flat & outer) & (volumes > 1e-14 * spans**domain.dimension))


def _nearest_parts(samples: list[FloatArray], centres: FloatArray) -> Indices:
    """Return the part that each facet's centre is nearest to, by samples of each part."""
    from scipy.spatial import cKDTree

    owners = np.repeat(np.arange(len(samples)), [len(s) for s in samples])
    _, nearest = cKDTree(np.concatenate(samples)).query(centres)
    return np.asarray(owners[nearest])
