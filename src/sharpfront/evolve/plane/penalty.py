"""Nitsche's weight of the conditions: enough to hold them, whatever their kind."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Orders
from sharpfront.evolve.plane.quadrature import Edge, Square

# Factor beside the exact trace constant of the functions.
PENALTY = 4.0
# Rounding beside the largest entry.
_ROUNDING = 1e-12
_ORDERS = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))


def penalty(
    square: Square,
    edge: Edge,
    tau: float,
    condition: Mapping[Orders, FloatArray],
    equation: Mapping[Orders, FloatArray],
    sign: float,
) -> FloatArray:
    """Return omega = (g C a + inflow) / (c + g C c_n) for a condition c u + c_n u_n = ..., (m,).

    a is the diffusion across the boundary, C the functions' trace constant and g the factor. It is
    g C a / c for given values and a / c_n for given slopes: the conditions then take more energy
    out than the boundary terms of the diffusion bring in. The sign is that of u_t's factor, and
    tangents are along the axes of the kernels.
    """
    normals = edge.normals[:, list(square.axes)].T
    none = np.zeros(len(edge.points))
    e, c = ({o: v.get(o, none) for o in _ORDERS} for v in (equation, condition))
    diffusion = -sign * (
        e[2, 0] * normals[0] ** 2 + e[1, 1] * normals[0] * normals[1] + e[0, 2] * normals[1] ** 2
    )
    inflow = -sign * (e[1, 0] * normals[0] + e[0, 1] * normals[1])
    slope = c[1, 0] * normals[0] + c[0, 1] * normals[1]
    trace = PENALTY * _trace(square, edge, tau, normals)
    share = c[0, 0] + trace * slope
    # Terms of opposite signs could cancel: the larger one alone then.
    larger = np.where(np.abs(trace * slope) > np.abs(c[0, 0]), trace * slope, c[0, 0])
    share = np.where(c[0, 0] * slope < 0, larger, share)
    share = np.where(share == 0.0, 1.0, share)
    return np.asarray((trace * np.maximum(diffusion, 0.0) + np.maximum(inflow, 0.0)) / share)


def _trace(square: Square, edge: Edge, tau: float, normals: FloatArray) -> FloatArray:
    """Return the largest (u_n)^2 at each point over the integral of the slope squared, (m,)."""
    total = np.zeros(len(edge.points))
    jets, coordinates = (edge.xi, edge.eta), [edge.points[:, axis] for axis in square.axes]
    for axis, (line, where) in enumerate(zip(square.product.lines, square.maps, strict=True)):
        other = float(np.median(coordinates[1 - axis]))
        x = square.along(axis, other, tau)
        slope = where.jet(x, np.full(x.shape, other), np.full(x.shape, tau)).x
        steep = line.table[1]
        gram = steep.T @ ((line.weights * slope)[:, None] * steep)
        gram += _ROUNDING * np.trace(gram) / len(gram) * np.eye(len(gram))
        own = edge.tables[axis][1] * jets[axis].x[:, None]
        total += normals[axis] ** 2 * np.einsum("mi,im->m", own, np.linalg.solve(gram, own.T))
    return total
