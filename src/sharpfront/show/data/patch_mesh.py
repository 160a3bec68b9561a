"""Meshes that follow patches: the nodes of each are spread over it as its functions are.

What a boundary cuts off is cut off: simplices with a node outside end where the boundary is.
Patches side by side have nodes of their own, so that nothing has to match at hanging faces.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.geometry.meshes.mesh import Indices, Mesh, box_mesh

# Halvings of an edge that crosses the boundary: its end is known to a millionth of its length.
HALVINGS = 20
# A prism, (0, 1, 2) below (3, 4, 5), in tetrahedra; in the plane it is a quadrilateral.
_PRISM = {2: ((0, 1, 3), (0, 3, 2)), 3: ((0, 1, 2, 5), (0, 1, 5, 4), (0, 4, 5, 3))}


def patch_mesh(basis: PatchworkBasis, nodes: int) -> Mesh:
    """Return a mesh with about so many nodes; every patch has two along each axis at least."""
    d = basis.dimension
    every = sum(int(np.prod(patch.functions)) for patch in basis.patches)
    finer = (nodes / every) ** (1.0 / d)
    parts = [_cut(patch, _whole(patch, finer)) for patch in basis.patches if not patch.is_empty]
    starts = np.cumsum([0, *(len(part.points) for part in parts)])
    cells = [part.cells + start for part, start in zip(parts, starts, strict=False)]
    return Mesh(np.concatenate([part.points for part in parts]), np.concatenate(cells))


def _whole(patch: Patch, finer: float) -> Mesh:
    """Return a mesh of all of a patch's box, in space."""
    counts = [max(2, round(finer * n)) for n in patch.functions]
    grid = box_mesh([np.linspace(-1.0, 1.0, n) for n in counts])
    at = [m.points(grid.points[:, a]) for a, m in enumerate(patch.maps)]
    return Mesh(patch.in_space(np.stack(at, axis=1)), grid.cells)


def _cut(patch: Patch, mesh: Mesh) -> Mesh:
    """Return what lies inside of a mesh of a patch."""
    if patch.cut is None:
        return mesh
    inside = patch.has(mesh.points)
    count = inside[mesh.cells].sum(axis=1)
    d = patch.dimension
    points, cells = [mesh.points], [mesh.cells[count == d + 1]]
    for k in range(1, d + 1):
        crossing = mesh.cells[count == k]
        # Nodes inside first.
        order = np.argsort(~inside[crossing], axis=1, kind="stable")
        first = sum(map(len, points))
        new, made = _clipped(patch, mesh.points, np.take_along_axis(crossing, order, axis=1), k)
        points.append(new)
        cells.append(np.where(made < 0, first - 1 - made, made))
    return _used(np.concatenate(points), np.concatenate(cells))


def _clipped(
    patch: Patch, points: FloatArray, cells: Indices, k: int
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return ends of edges that cross the boundary, and simplices of what lies inside.

    The first k nodes of each cell lie inside. A node j that is new is written as -1 - j.
    """
    d = patch.dimension
    pairs = [(i, j) for i in range(k) for j in range(k, d + 1)]
    ends = _ends(patch, points, np.concatenate([cells[:, list(pair)] for pair in pairs]))
    number = {
        pair: -1 - np.arange(n * len(cells), (n + 1) * len(cells)) for n, pair in enumerate(pairs)
    }
    if k == 1:
        simplices = [[cells[:, 0], *(number[0, j] for j in range(1, d + 1))]]
    else:
        # Inside lies a prism: each node inside, or in space with two of them each node outside,
        # with the ends of its edges.
        below, above = (
            ([cells[:, 0], number[0, 2], number[0, 3]], [cells[:, 1], number[1, 2], number[1, 3]])
            if (d, k) == (3, 2)
            else ([cells[:, i] for i in range(d)], [number[i, d] for i in range(d)])
        )
        corners = [*below, *above]
        simplices = [[corners[i] for i in chosen] for chosen in _PRISM[d]]
    return ends, np.concatenate([np.stack(simplex, axis=1) for simplex in simplices])


def _ends(patch: Patch, points: FloatArray, edges: Indices) -> FloatArray:
    """Return the last points inside of edges from a node inside to one outside, (m, d)."""
    low, high = points[edges[:, 0]].copy(), points[edges[:, 1]].copy()
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        inside = patch.has(middle)[:, None]
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low


def _used(points: FloatArray, cells: Indices) -> Mesh:
    """Return a mesh without the nodes that no cell has."""
    kept, numbers = np.unique(cells, return_inverse=True)
    return Mesh(points[kept], numbers.reshape(cells.shape))
