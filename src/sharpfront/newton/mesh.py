"""Functions on meshes of linear elements, to linearise about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry.meshes.mesh import Mesh


@dataclass(frozen=True, eq=False)
class MeshTable:
    """Nodal values on a mesh, linear in between; derivatives are means over a node's cells."""

    mesh: Mesh
    nodal: FloatArray

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return interpolated values."""
        axes = tuple(i for i, n in enumerate(orders) for _ in range(n))
        return np.asarray(self._interpolant(axes)(points))

    def _interpolant(self, axes: tuple[int, ...]) -> Any:
        known = self._known
        if axes not in known:
            known[axes] = _interpolant(self.mesh, self._derivative(axes))
        return known[axes]

    @cached_property
    def _known(self) -> dict[tuple[int, ...], Any]:
        return {}

    def _derivative(self, axes: tuple[int, ...]) -> FloatArray:
        values = self.nodal
        for axis in axes:
            slopes = np.einsum("ka,ka->k", self.mesh.gradients[:, :, axis], values[self.mesh.cells])
            corners = self.mesh.cells.shape[1]
            nodes, volumes = self.mesh.cells.ravel(), np.repeat(self.mesh.volumes, corners)
            total = np.bincount(nodes, volumes * np.repeat(slopes, corners), len(values))
            values = total / np.bincount(nodes, volumes, len(values))
        return values


def _interpolant(mesh: Mesh, values: FloatArray) -> Any:
    """Return a linear interpolant: on the grid of a box by its axes, else by triangles."""
    from scipy.interpolate import (
        LinearNDInterpolator,
        NearestNDInterpolator,
        RegularGridInterpolator,
    )

    if mesh.axes:
        grid = values.reshape([len(axis) for axis in mesh.axes])
        return RegularGridInterpolator(mesh.axes, grid, bounds_error=False, fill_value=None)
    inside = LinearNDInterpolator(mesh.points, values)
    beyond = NearestNDInterpolator(mesh.points, values)

    def call(points: FloatArray) -> FloatArray:
        out = inside(points)
        lost = ~np.isfinite(out)
        if lost.any():
            out[lost] = beyond(points[lost])
        return np.asarray(out)

    return call
