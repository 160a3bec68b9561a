"""Simplicial meshes of boxes, of what lies inside them and of patches, for other programs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import Flags, FloatArray, Ints
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.errors import DomainError

# Tells which points (m, d) lie inside.
Inside = Callable[[FloatArray], Flags]
# Halvings of an edge that crosses the boundary: its end is known to a millionth of its length.
HALVINGS = 20
# A prism, (0, 1, 2) below (3, 4, 5), in tetrahedra; in the plane it is a quadrilateral.
_PRISM = {2: ((0, 1, 3), (0, 3, 2)), 3: ((0, 1, 2, 5), (0, 1, 5, 4), (0, 4, 5, 3))}


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles or tetrahedra."""

    points: FloatArray  # positions of the nodes, (m, d)
    cells: Ints  # nodes of each simplex, (k, d + 1)


def box_mesh(axes: Sequence[FloatArray]) -> Mesh:
    """Return a tensor grid split into simplices, the last axis fastest.

    Rectangles are split along alternating diagonals, blocks into the six tetrahedra of Kuhn.
    """
    axes = tuple(np.asarray(axis, dtype=float) for axis in axes)
    if len(axes) not in (2, 3):
        raise DomainError(f"A mesh has two or three axes, got {len(axes)}.")
    for axis in axes:
        if axis.ndim != 1 or len(axis) < 2 or not np.all(np.diff(axis) > 0):
            raise DomainError("Each axis of a mesh is a strictly increasing list of two or more.")
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    return Mesh(points, _grid_cells(tuple(len(axis) for axis in axes)))


def _grid_cells(shape: tuple[int, ...]) -> Ints:
    """Return the simplices of a tensor grid, (k, d + 1)."""
    number = np.arange(math.prod(shape)).reshape(shape)
    if len(shape) == 3:
        corner = [
            number[tuple(slice(o, o + n - 1) for o, n in zip(offset, shape, strict=True))].ravel()
            for offset in itertools.product((0, 1), repeat=3)
        ]
        # From the lowest to the highest corner, one axis after the other in every order.
        paths = [
            (0, 4 >> a, (4 >> a) + (4 >> b), 7) for a, b, _ in itertools.permutations(range(3))
        ]
        return np.concatenate([np.stack([corner[i] for i in path], axis=1) for path in paths])
    a, b = number[:-1, :-1], number[1:, :-1]
    c, d = number[1:, 1:], number[:-1, 1:]
    even = (np.add.outer(np.arange(shape[0] - 1), np.arange(shape[1] - 1)) % 2 == 0)[..., None]
    first = np.where(even, np.stack([a, b, c], axis=-1), np.stack([a, b, d], axis=-1))
    second = np.where(even, np.stack([a, c, d], axis=-1), np.stack([b, c, d], axis=-1))
    return np.concatenate([first.reshape(-1, 3), second.reshape(-1, 3)])


def clipped(mesh: Mesh, has: Inside) -> Mesh:
    """Return what of a mesh lies inside: simplices with a node outside end at the boundary."""
    inside = has(mesh.points)
    count = inside[mesh.cells].sum(axis=1)
    d = mesh.points.shape[1]
    points, cells = [mesh.points], [mesh.cells[count == d + 1]]
    for k in range(1, d + 1):
        crossing = mesh.cells[count == k]
        # Nodes inside first.
        order = np.argsort(~inside[crossing], axis=1, kind="stable")
        first = sum(map(len, points))
        new, made = _ended(has, mesh.points, np.take_along_axis(crossing, order, axis=1), k)
        points.append(new)
        cells.append(np.where(made < 0, first - 1 - made, made))
    return _used(np.concatenate(points), np.concatenate(cells))


def _ended(has: Inside, points: FloatArray, cells: Ints, k: int) -> tuple[FloatArray, Ints]:
    """Return ends of edges that cross the boundary, and simplices of what lies inside.

    The first k nodes of each cell lie inside. A node j that is new is written as -1 - j.
    """
    d = points.shape[1]
    pairs = [(i, j) for i in range(k) for j in range(k, d + 1)]
    ends = _rim_points(has, points, np.concatenate([cells[:, list(pair)] for pair in pairs]))
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


def _rim_points(has: Inside, points: FloatArray, edges: Ints) -> FloatArray:
    """Return the last points inside of edges from a node inside to one outside, (m, d)."""
    low, high = points[edges[:, 0]].copy(), points[edges[:, 1]].copy()
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        inside = has(middle)[:, None]
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low


def _used(points: FloatArray, cells: Ints) -> Mesh:
    """Return a mesh without the nodes that no cell has."""
    kept, numbers = np.unique(cells, return_inverse=True)
    return Mesh(points[kept], numbers.reshape(cells.shape))


def patch_mesh(basis: PatchworkBasis, nodes: int) -> Mesh:
    """Return a mesh of patches with about so many nodes, each spread as its functions are.

    Every patch has two along each axis at least, and nodes of its own, so that nothing has to match
    at hanging faces.
    """
    d = basis.dimension
    every = sum(int(np.prod(patch.functions)) for patch in basis.patches)
    finer = (nodes / every) ** (1.0 / d)
    parts = []
    for patch in (p for p in basis.patches if not p.is_empty):
        counts = [max(2, round(finer * n)) for n in patch.functions]
        grid = box_mesh([np.linspace(-1.0, 1.0, n) for n in counts])
        at = [m.points(grid.points[:, a]) for a, m in enumerate(patch.maps)]
        mesh = Mesh(patch.in_space(np.stack(at, axis=1)), grid.cells)
        parts.append(mesh if patch.cut is None else clipped(mesh, patch.has))
    starts = np.cumsum([0, *(len(part.points) for part in parts)])
    cells = [part.cells + start for part, start in zip(parts, starts, strict=False)]
    return Mesh(np.concatenate([part.points for part in parts]), np.concatenate(cells))
