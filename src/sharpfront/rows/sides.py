"""Sides and faces of patches: points on them, sizes beside them, moments along them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import Host
from sharpfront.bases.legendre import gauss, legendre_table
from sharpfront.bases.patch import Patch, product_matrix, product_points
from sharpfront.equation.linearise import LinearForm
from sharpfront.rows.faces import Side


def side_rule(patch: Patch, side: Side) -> tuple[list[Host], Host]:
    """Return Gauss points of a side along each axis of the reference cell, and their weights."""
    z, weights = [], np.ones(1)
    for a, p in enumerate(patch.functions):
        if a == side.axis:
            z.append(np.array([1.0 if side.end else -1.0]))
        else:
            nodes, w = gauss(p)
            z.append(nodes)
            weights = np.multiply.outer(weights, w).ravel()
    return z, weights


def end_size(patch: Patch, axis: int, end: int) -> float:
    """Return the size of a patch along an axis as seen from one of its ends."""
    at = np.array([1.0 if end else -1.0])
    return 2.0 / float(patch.maps[axis].slopes(at, 1)[0, 0])


def local_sides(patch: Patch, at: Sequence[Host]) -> Host:
    """Return the sizes 2 dx/dz along the axes at product points, (m, d), or (d,) if even.

    A map is a continuum of patches, each with an equal vote.
    """
    if not any(m.strength for m in patch.maps):
        return patch.sides
    axes = [2.0 / m.slopes(z, 1)[0] for m, z in zip(patch.maps, at, strict=True)]
    return product_points(axes)


def moment_matrix(patch: Patch, axis: int, low: float, high: float, count: int) -> Host:
    """Return the mean over [low, high] of its Legendre polynomials times the axis' functions."""
    # Exact for the product of both; a map is no polynomial and gets more.
    exact = (patch.functions[axis] + count) // 2 + 1
    z, w = gauss(exact if not patch.maps[axis].strength else exact + 12)
    x = 0.5 * (low * (1 - z) + high * (1 + z))
    table = patch.axis_table(axis, x, 0)[0]
    return np.asarray((legendre_table(z, count)[0] * w[:, None]).T @ table)


def form_matrix(
    form: LinearForm,
    coefficients: Sequence[Host],
    tables: Sequence[Host],
    unknowns: Sequence[str],
) -> Host:
    """Return a form applied to the functions of all unknowns at product points.

    Parameters
    ----------
    form, coefficients
        The form, and the coefficients of its terms at the points, (m,) each.
    tables
        Of each axis the derivatives of its functions at positions, (order + 1, n, functions).
    unknowns
        Their names, in the order of their columns.
    """
    parts = []
    shape = math.prod(t.shape[1] for t in tables), math.prod(t.shape[2] for t in tables)
    for unknown in unknowns:
        part = np.zeros(shape)
        for term, c in zip(form.terms, coefficients, strict=True):
            if term.unknown == unknown:
                part += c[:, None] * product_matrix(
                    [t[k] for t, k in zip(tables, term.orders, strict=True)]
                )
        parts.append(part)
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
