"""Following the zero of a function over a grid."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sharpfront.errors import DomainError
from sharpfront.geometry.domain import Points

Function = Callable[[Points], Points]
_CELLS = {2: 400, 3: 48}
# Closed lines less wide than so many cells are followed again, in a window with so many cells of
# room around them, which is doubled so often if lines leave it.
_SMALL, _AROUND, _WIDER = 20.0, 2.0, 5
# Lines whose extents agree to this share are one.
_SAME = 0.05
# A cube is six tetrahedra, one for each order in which the way from its first to its last corner
# takes the axes; neighbouring cubes then agree on their common face.
_ORDERS = [np.eye(3)[list(order)] for order in itertools.permutations(range(3))]
_TETRAHEDRA = np.array([np.cumsum([np.zeros(3), *own], axis=0) for own in _ORDERS], dtype=np.int64)
# With the inner corners first: the edges that the zero crosses, as triangles, by how many there
# are of them.
_CROSSED = {
    1: (((0, 1), (0, 2), (0, 3)),),
    2: (((0, 2), (0, 3), (1, 3)), ((0, 2), (1, 3), (1, 2))),
    3: (((3, 0), (3, 1), (3, 2)),),
}


def enclosing(function: Function, frame: Points) -> Points:
    """Return a box (2, d) close around where the function is negative.

    Refuse a function that is negative nowhere on a grid of the frame, or at its rim.
    """
    axes, values = _grid(function, frame)
    inside = values < 0
    if not inside.any():
        raise DomainError(
            f"The function is negative nowhere between {frame[0].tolist()} and "
            f"{frame[1].tolist()}, and negative means inside. Try the opposite sign, or other "
            "bounds if the region is small."
        )
    rim = np.ones(values.shape, dtype=bool)
    rim[(slice(1, -1),) * values.ndim] = False
    if np.any(inside & rim):
        raise DomainError(
            f"The region touches its bounds, from {frame[0].tolist()} to {frame[1].tolist()}. "
            "Try wider bounds, and cut with & where the region has to end there."
        )
    which = np.argwhere(inside)
    low = [axis[i] for axis, i in zip(axes, which.min(axis=0) - 1, strict=True)]
    high = [axis[i] for axis, i in zip(axes, which.max(axis=0) + 1, strict=True)]
    return np.array([low, high])


def polylines(function: Function, frame: Points) -> list[Points]:
    """Return closed polygons (m, 2), first point repeated, along the zero in the plane."""
    return [line for line in all_polylines(function, frame) if is_closed(line)]


def all_polylines(function: Function, frame: Points) -> list[Points]:
    """Return the same with those that end at a frame (2, 2), or a little beyond it.

    Small closed ones are followed again on finer grids of their own: a few points about a small
    disk need not even surround its centre.
    """
    wide = _wider(frame)
    cell = float(np.ptp(wide, axis=0).max()) / _CELLS[2]
    out: list[Points] = []
    for line in _lines(function, wide):
        small = is_closed(line) and np.ptp(line, axis=0).min() < _SMALL * cell
        closer = _followed_again(function, line, cell) if small else [line]
        out += [one for one in closer if not any(_is_same(one, known) for known in out)]
    return out


def is_closed(line: Points) -> bool:
    """Tell whether a line ends where it starts."""
    return bool(np.array_equal(line[0], line[-1]))


def _followed_again(function: Function, line: Points, cell: float) -> list[Points]:
    """Return the closed lines near a small one, from a finer grid around it."""
    room = _AROUND * cell
    for _ in range(_WIDER):
        window = np.stack([line.min(axis=0) - room, line.max(axis=0) + room])
        found = _lines(function, window)
        # Coarse cells take pieces of a thin one for small ones: the window has to hold it all.
        if all(map(is_closed, found)):
            return found
        room *= 2.0
    return [line]


def _lines(function: Function, frame: Points) -> list[Points]:
    import contourpy

    axes, values = _grid(function, frame)
    lines = contourpy.contour_generator(axes[0], axes[1], values.T).lines(0.0)
    return [np.asarray(line) for line in lines if len(line) > 3]


def _is_same(line: Points, known: Points) -> bool:
    """Tell whether two closed lines are one that was followed twice."""
    ends = [np.stack([each.min(axis=0), each.max(axis=0)]) for each in (line, known)]
    return bool(np.abs(ends[0] - ends[1]).max() < _SAME * np.ptp(ends[1], axis=0).max())


def triangles(function: Function, frame: Points) -> Points:
    """Return triangles (t, 3, 3) along the zero in space, by marching through tetrahedra."""
    axes, values = _grid(function, _wider(frame))
    inside = values < 0
    around = [
        inside[tuple(slice(i, i + n - 1) for i, n in zip(corner, inside.shape, strict=True))]
        for corner in itertools.product(range(2), repeat=3)
    ]
    cells = np.argwhere(np.any(around, axis=0) & ~np.all(around, axis=0))
    found = []
    for tetrahedron in _TETRAHEDRA:
        corners = cells[:, None, :] + tetrahedron
        level = values[corners[..., 0], corners[..., 1], corners[..., 2]]
        order = np.argsort(level >= 0, axis=1, kind="stable")
        level = np.take_along_axis(level, order, axis=1)
        places = np.stack([axes[i][corners[..., i]] for i in range(3)], axis=-1)
        places = np.take_along_axis(places, order[..., None], axis=1)
        found += _crossings(places, level)
    return np.concatenate(found)


def _crossings(places: Points, level: Points) -> list[Points]:
    inner = np.sum(level < 0, axis=1)
    found = []
    for count, shapes in _CROSSED.items():
        at, height = places[inner == count], level[inner == count]
        for edges in shapes:
            ends = [_between(at, height, a, b) for a, b in edges]
            found.append(np.stack(ends, axis=1))
    return found


def _between(places: Points, level: Points, a: int, b: int) -> Points:
    share = level[:, a] / (level[:, a] - level[:, b])
    return np.asarray(places[:, a] + share[:, None] * (places[:, b] - places[:, a]))


def _grid(function: Function, frame: Points) -> tuple[list[Points], NDArray[np.float64]]:
    low, high = frame
    count = _CELLS[len(low)] + 1
    axes = [np.linspace(a, b, count) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low))
    return axes, np.asarray(function(points)).reshape((count,) * len(low))


def _wider(frame: Points) -> Points:
    room = 0.01 * np.ptp(frame, axis=0)
    return np.stack([frame[0] - room, frame[1] + room])
