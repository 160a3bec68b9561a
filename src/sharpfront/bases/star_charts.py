"""Charts of surfaces that are seen from a centre, and of what they enclose."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.legendre import gauss
from sharpfront.geometry import BoundaryPoints
from sharpfront.geometry.star_surface import Square
from sharpfront.maps import Shell
from sharpfront.rounding import CANCELLED


def shell_of(square: Square, depth: float) -> Shell:
    """Return the shell along a piece of surface; its sides are as long as its middle lines."""
    points, normals = square.points, square.normals
    # Without weights that are rounding: a shell is evaluated more than all else.
    sizes = np.maximum(np.abs(points) / np.abs(points).max(), np.abs(normals)).max(axis=2)
    large = np.flatnonzero(np.maximum(sizes.max(axis=0), sizes.max(axis=1)) > CANCELLED)
    n = int(large[-1]) + 1
    points, normals = points[:n, :n], normals[:n, :n]
    whole = Shell(points, normals, (2.0, 2.0), depth)
    z, w = gauss(12)
    lengths = []
    for axis in range(2):
        at = np.ones((len(z), 3))
        at[:, axis], at[:, 2] = 1.0 + z, 0.0
        along = whole.taylor(at, 1)[(1, 0, 0) if axis == 0 else (0, 1, 0)]
        lengths.append(2.0 * float(w @ np.linalg.norm(along, axis=1)))
    return Shell(points, normals, (lengths[0], lengths[1]), depth, square.corners)


def cone_of(square: Square) -> Shell:
    """Return what lies between a piece of surface, where d is 0, and the centre, where it is 1."""
    shell = shell_of(square, 1.0)
    ways = shell.surface.copy()
    ways[0, 0] -= square.centre
    return Shell(shell.surface, ways, shell.lengths, 1.0)


def on_surface(shell: Shell, at: FloatArray) -> tuple[BoundaryPoints, FloatArray]:
    """Return points of a shell's surface at positions (s, t), and the area of a unit of these."""
    positions = np.insert(at, 2, 0.0, axis=1)
    taylor = shell.taylor(positions, 1)
    areas = np.linalg.norm(np.cross(taylor[1, 0, 0], taylor[0, 1, 0]), axis=1)
    return BoundaryPoints(shell.points(positions), -taylor[0, 0, 1]), areas
