"""Simplicial meshes of boxes, for files that other programs show."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.errors import DomainError

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles or tetrahedra."""

    points: FloatArray  # positions of the nodes, (m, d)
    cells: Indices  # nodes of each simplex, (k, d + 1)


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
