"""Simplicial meshes, on which the error equation is solved in two and three dimensions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.errors import DomainError

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles or tetrahedra with their boundary."""

    points: FloatArray  # positions of the nodes, (m, d)
    cells: Indices  # nodes of each simplex, (k, d + 1)
    facets: Indices  # nodes of each facet of the boundary, (f, d)
    normals: FloatArray  # outward unit normals of the facets, (f, d)
    parts: Indices  # index into `names` for each facet, (f,)
    names: tuple[str, ...]  # the parts of the boundary
    images: Indices  # the node that each node is identified with, (m,): itself, unless periodic
    # The coordinates along each axis where the nodes are a tensor grid, last axis fastest.
    axes: tuple[FloatArray, ...] = field(default=())

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return int(self.points.shape[1])

    @cached_property
    def _paired(self) -> tuple[Indices, Indices]:
        pairs = np.array(list(itertools.combinations(range(self.dimension + 1), 2)))
        ends = np.sort(self.cells[:, pairs], axis=2).reshape(-1, 2)
        keys, inverse = np.unique(ends[:, 0] * len(self.points) + ends[:, 1], return_inverse=True)
        edges = np.stack(np.divmod(keys, len(self.points)), axis=1)
        return edges, inverse.reshape(-1, len(pairs))

    @property
    def edges(self) -> Indices:
        """The two nodes of each edge, (e, 2)."""
        return self._paired[0]

    @property
    def cell_edges(self) -> Indices:
        """Edges of each cell in the order of `itertools.combinations`, (k, d (d + 1) / 2)."""
        return self._paired[1]

    @cached_property
    def _shape(self) -> tuple[FloatArray, FloatArray]:
        corners = self.points[self.cells]
        sides = corners[:, 1:] - corners[:, :1]
        volumes = np.abs(np.linalg.det(sides)) / math.factorial(self.dimension)
        rest = np.swapaxes(np.linalg.inv(sides), 1, 2)
        return volumes, np.concatenate([-rest.sum(axis=1, keepdims=True), rest], axis=1)

    @property
    def volumes(self) -> FloatArray:
        """Area or volume of each cell, (k,)."""
        return self._shape[0]

    @property
    def gradients(self) -> FloatArray:
        """Gradients of the cell's barycentric coordinates, (k, d + 1, d)."""
        return self._shape[1]

    @cached_property
    def facet_measures(self) -> FloatArray:
        """Length or area of each facet, (f,)."""
        corners = self.points[self.facets]
        sides = corners[:, 1:] - corners[:, :1]
        gram = np.linalg.det(sides @ np.swapaxes(sides, 1, 2))
        return np.asarray(np.sqrt(np.maximum(gram, 0)) / math.factorial(self.dimension - 1))

    @cached_property
    def facet_cells(self) -> Indices:
        """The cell that each facet belongs to, (f,)."""
        faces, owners, _ = _faces(self.cells)
        keys = _row_keys(faces, len(self.points))
        order = np.argsort(keys)
        wanted = _row_keys(np.sort(self.facets, axis=1), len(self.points))
        return np.asarray(owners[order[np.searchsorted(keys, wanted, sorter=order)]])


def box_mesh(
    axes: Sequence[FloatArray], names: Sequence[str], periodic: Sequence[bool] = ()
) -> Mesh:
    """Return a tensor grid split into simplices.

    Rectangles are split along alternating diagonals, blocks into the six tetrahedra of Kuhn. The
    names are those of the low and the high end of each axis that is not periodic.
    """
    axes = tuple(np.asarray(axis, dtype=float) for axis in axes)
    joined = tuple(periodic) or (False,) * len(axes)
    _check_axes(axes, names, joined)
    shape = tuple(len(axis) for axis in axes)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    cells = _grid_cells(shape)
    images = np.arange(len(points)).reshape(shape)
    for i, seam in enumerate(joined):
        if seam:
            np.moveaxis(images, i, 0)[-1] = np.moveaxis(images, i, 0)[0]
    facets, normals = boundary_facets(points, cells)
    axis = np.argmax(np.abs(normals), axis=1)
    upper = normals[np.arange(len(axis)), axis] > 0
    free = np.flatnonzero(~np.array(joined))
    place = np.zeros(len(axes), dtype=np.int64)
    place[free] = 2 * np.arange(len(free))
    keep = ~np.array(joined)[axis]
    return Mesh(
        points=points,
        cells=cells,
        facets=facets[keep],
        normals=np.round(normals[keep]),
        parts=(place[axis] + upper)[keep],
        names=tuple(names),
        images=images.ravel(),
        axes=axes,
    )


def off_even(cells: int) -> FloatArray:
    """Return nodes on [0, 1] slightly off even ones.

    None of them meets the middle, where formulas in 1/r have their pole.
    """
    even = np.linspace(0, 1, cells + 1)
    return np.asarray(even + 0.01 * even * (1.0 - even))


def boundary_facets(points: FloatArray, cells: Indices) -> tuple[Indices, FloatArray]:
    """Return the faces that belong to one cell only, (f, d), and their outward normals, (f, d)."""
    faces, _, opposite = _faces(cells)
    _, first, counts = np.unique(
        _row_keys(faces, len(points)), return_index=True, return_counts=True
    )
    once = first[counts == 1]
    facets = faces[once]
    corners = points[facets]
    inward = points[opposite[once]] - corners[:, 0]
    if points.shape[1] == 2:
        side = corners[:, 1] - corners[:, 0]
        normals = np.stack([side[:, 1], -side[:, 0]], axis=1)
    else:
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals *= -np.sign(np.sum(normals * inward, axis=1))[:, None]
    return facets, normals / np.linalg.norm(normals, axis=1)[:, None]


def _check_axes(axes: Sequence[FloatArray], names: Sequence[str], periodic: Sequence[bool]) -> None:
    if len(axes) not in (2, 3) or len(periodic) != len(axes):
        raise DomainError(
            f"A mesh has two or three axes and one periodic flag for each; got {len(axes)} axes "
            f"and {len(periodic)} flags."
        )
    for axis in axes:
        if axis.ndim != 1 or len(axis) < 2 or not np.all(np.diff(axis) > 0):
            raise DomainError("Each axis of a mesh is a strictly increasing list of two or more.")
    expected = 2 * sum(not p for p in periodic)
    if len(names) != expected:
        raise DomainError(
            f"Expected {expected} names, low and high end of each axis that is not periodic; "
            f"got {', '.join(names) or 'none'}."
        )


def _grid_cells(shape: tuple[int, ...]) -> Indices:
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


def _faces(cells: Indices) -> tuple[Indices, Indices, Indices]:
    """Return every face of every cell with sorted nodes, its cell, and the node opposite to it."""
    count, width = cells.shape
    kept = [[j for j in range(width) if j != i] for i in range(width)]
    faces = np.sort(cells[:, kept].reshape(-1, width - 1), axis=1)
    return faces, np.repeat(np.arange(count), width), cells.ravel()


def _row_keys(rows: Indices, base: int) -> Indices:
    """Return one number for each row of node numbers."""
    keys = rows[:, 0]
    for column in rows.T[1:]:
        keys = keys * base + column
    return keys
