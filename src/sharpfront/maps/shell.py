"""The map of a box onto a shell along a surface: x(s, t, d) = g(s, t) - d n(s, t)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import chebyshev

from sharpfront.arrays import FloatArray
from sharpfront.maps.chain import Orders, Taylor, jacobian
from sharpfront.maps.strip import ACROSS, ROOM, by_newton

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

Corners = tuple[tuple[tuple[float, ...], ...], ...]
# Places along the shell from which points are looked for.
SHELL_PLACES = 17
# Derivatives along the surface that equations of order two need.
SHELL_ORDERS = 2
# Entries of tables that are held at a time.
AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Shell:
    """A shell of constant depth along a piece of surface."""

    # Points and normals out of the solid as Chebyshev weights in 2 s / length - 1 and the same of
    # t, (n, n, 3) each.
    surface: FloatArray
    normals: FloatArray
    # The sides of the box; d is the distance from the surface.
    lengths: tuple[float, float]
    depth: float
    # Where s and t end on the surface, the same numbers as its neighbours have: by end of s and t.
    corners: Corners = ()

    @property
    def size(self) -> FloatArray:
        """The sides of the box, whose lower corner is the origin, (3,)."""
        return np.array([*self.lengths, self.depth])

    def edge(self, axis: int, end: int) -> tuple[tuple[float, ...], ...]:
        """Return the ends of a side's edge on the surface, in the direction along it."""
        return self.corners[end] if axis == 0 else (self.corners[0][end], self.corners[1][end])

    @cached_property
    def _derivatives(self) -> list[FloatArray]:
        """Weights of surface and normals and their derivatives along s, (n, n, 6) each."""
        now = np.concatenate([self.surface, self.normals], axis=2)
        out = []
        for _ in range(SHELL_ORDERS + 1):
            out.append(
                np.concatenate([now, np.zeros((len(self.surface) - len(now), *now.shape[1:]))])
            )
            now = np.asarray(chebyshev.chebder(now) * (2.0 / self.lengths[0]), dtype=float)
        return out

    @cached_property
    def _slopes(self) -> list[FloatArray]:
        """What takes weights along t to those of their derivatives, (n, n) each."""
        n, out = self.surface.shape[1], [np.eye(self.surface.shape[1])]
        for _ in range(SHELL_ORDERS):
            new = np.zeros((n, n))
            new[: n - 1] = chebyshev.chebder(out[-1]) * (2.0 / self.lengths[1])
            out.append(new)
        return out

    def _along(self, chart: FloatArray, order: int) -> dict[tuple[int, int], FloatArray]:
        """Return surface and normals, and their derivatives along s and t, (m, 6) each."""
        n = self.surface.shape[1]
        parts = np.array_split(chart, 1 + len(chart) * 6 * n // AT_ONCE)
        found = [self._some(part, order) for part in parts]
        return {k: np.concatenate([f[k] for f in found]) for k in found[0]}

    def _some(self, chart: FloatArray, order: int) -> dict[tuple[int, int], FloatArray]:
        n, m = self.surface.shape[1], len(chart)
        first = chebyshev.chebvander(
            2.0 * chart[:, 0] / self.lengths[0] - 1.0, len(self.surface) - 1
        )
        second = chebyshev.chebvander(2.0 * chart[:, 1] / self.lengths[1] - 1.0, n - 1)
        across = [second @ slope for slope in self._slopes[: order + 1]]
        out = {}
        for i in range(order + 1):
            part = (first @ self._derivatives[i].reshape(len(self.surface), -1)).reshape(m, n, 6)
            for j in range(order + 1 - i):
                out[i, j] = np.einsum("mn,mnk->mk", across[j], part)
        return out

    def points(self, chart: FloatArray) -> FloatArray:
        """Return x at positions (s, t, d), (m, 3)."""
        found = self._along(chart, 0)[0, 0]
        return np.asarray(found[:, :3] - chart[:, 2:] * found[:, 3:])

    def taylor(self, chart: FloatArray, order: int = SHELL_ORDERS) -> Taylor:
        """Return the derivatives of x at positions (s, t, d), (m, 3) each."""
        return _moved(self._along(chart, order), chart[:, 2:], order)

    @cached_property
    def _places(self) -> tuple[FloatArray, cKDTree, float]:
        """Positions all over the shell, (m, 3), where they are in space, and how far apart."""
        from scipy.spatial import cKDTree

        axes = [
            np.linspace(0.0, x, k)
            for x, k in zip(self.size, (SHELL_PLACES, SHELL_PLACES, ACROSS), strict=True)
        ]
        at = np.array(list(itertools.product(*axes)))
        points = self.points(at)
        steps = points.reshape(SHELL_PLACES, SHELL_PLACES, ACROSS, 3)
        apart = [np.linalg.norm(np.diff(steps, axis=a), axis=3).max() for a in range(3)]
        return at, cKDTree(points), float(np.linalg.norm(apart))

    def inverse(self, points: FloatArray) -> FloatArray:
        """Return the positions (s, t, d) of points, (m, 3); beyond the box for points outside."""
        at, tree, apart = self._places
        gap, nearest = tree.query(points)
        out = at[nearest]
        far = gap > apart + ROOM * self.depth
        out[far] = -1.0 - self.size
        out[~far] = self.found(points[~far], out[~far])
        return out

    def found(self, points: FloatArray, near: FloatArray) -> FloatArray:
        """Return the positions of points by Newton's method from positions near them, (m, 3)."""
        return by_newton(self._step, points, near, self.size)

    def _step(self, points: FloatArray, at: FloatArray) -> FloatArray:
        along = self._along(at, 1)
        miss = points - along[0, 0][:, :3] + at[:, 2:] * along[0, 0][:, 3:]
        slopes = jacobian(_moved(along, at[:, 2:], 1))
        return np.asarray(np.linalg.solve(slopes, miss[:, :, None])[..., 0])


def _moved(along: Mapping[tuple[int, int], FloatArray], depth: FloatArray, order: int) -> Taylor:
    """Return the derivatives of x from those of surface and normals, at depths, (m, 1)."""
    out: dict[Orders, FloatArray] = {}
    for (i, j), found in along.items():
        if i + j:
            out[i, j, 0] = found[:, :3] - depth * found[:, 3:]
        if i + j < order:
            out[i, j, 1] = -found[:, 3:]
    return out
