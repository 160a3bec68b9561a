"""Sides and faces of patches: points on them, sizes beside them, moments along them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np

from sharpfront.arrays import Array, FloatArray, Ints, namespace, zeros
from sharpfront.bases.axis_functions import held_by
from sharpfront.bases.legendre import gauss, legendre_table, product_points
from sharpfront.bases.patch import Patch
from sharpfront.bases.total_degree import is_joint, products
from sharpfront.maps import AxisMap, jacobian, normals_across
from sharpfront.rounding import SLIGHT
from sharpfront.rows.faces import Contact, Side
from sharpfront.rows.form_values import FormValues, taylor_of

# Points of a face beyond those that are exact for polynomials: a map is none.
MAPPED = 12
# Shares of a side are told apart to this, far below what matters and above rounding.
STEPS = 2.0**44
# Points of a face that are dense at its corners, beyond one for each polynomial along it: with 8 of
# them a cube without an octant had an estimate of 8.4e-6 instead of 2.6e-6.
GRADED = 20
# Arrays of one library.
Numbers = TypeVar("Numbers")


def side_rule(patch: Patch, side: Side) -> tuple[list[FloatArray], FloatArray]:
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


def side_normals(patch: Patch, side: Side, positions: FloatArray) -> FloatArray:
    """Return the outward normals at positions on a side of a patch, (m, d)."""
    taylor = taylor_of(patch, positions)
    if taylor is None:
        out = np.zeros_like(positions)
        out[:, side.axis] = 1.0 if side.end else -1.0
        return out
    return normals_across(taylor, side.axis, side.end)


def side_tables(patch: Patch, side: Side, order: int) -> list[FloatArray]:
    """Return of each axis d^k of its functions at the points of `side_rule`."""
    gauss_tables = patch.gauss_tables(patch.functions, order)
    ends = patch.end_tables(side.axis, order)[:, side.end : side.end + 1]
    return [ends if a == side.axis else table for a, table in enumerate(gauss_tables)]


def nearest_patch(patches: Sequence[Patch], point: FloatArray) -> int:
    """Return the first of the patches that a point lies in, to rounding."""
    gaps = []
    for patch in patches:
        at = patch.in_chart(point[None])
        near = patch.in_space(np.clip(at, patch.low, patch.high))
        elsewhere = patch.cut is not None and not patch.has(point[None])[0]
        gaps.append(float(np.linalg.norm(near - point)) + SLIGHT * patch.longest * elsewhere)
    return int(np.argmin(gaps))


def face_depth(patch: Patch, at: Contact, normal: tuple[float, ...] | None) -> float:
    """Return the size of a patch along the normal of a face, as seen from there."""
    if normal is None:
        if not patch.maps[at.axis].strength:
            return patch.maps[at.axis].length
        end = np.array([1.0 if at.end else -1.0])
        return 2.0 / float(patch.maps[at.axis].slopes(end, 1)[0, 0])
    middle = np.empty((1, patch.dimension))
    middle[0, at.axis] = (patch.high if at.end else patch.low)[at.axis]
    middle[0, at.rest] = 0.5 * np.add(at.low, at.high)
    taylor = taylor_of(patch, middle)
    assert taylor is not None
    across = np.linalg.solve(jacobian(taylor)[0], normal)
    return 1.0 / float(np.sum(np.abs(across) / patch.sides))


def face_rule(patch: Patch, at: Contact, count: int) -> tuple[FloatArray, FloatArray]:
    """Return positions on a face in a patch's chart, (m, 2), and means with polynomials there.

    The second, (count, m), takes values at the positions to the means over the face of its first
    Legendre polynomials times them.
    """
    rule = gauss((patch.functions[at.rest[0]] + count) // 2 + 1 + MAPPED)
    return product_rule(patch, at, (count,), [rule])


def graded_rule(patch: Patch, at: Contact, counts: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return the same on a face in space, with points dense at its corners.

    Functions of edges and vertices are singular there.
    """
    x, w = gauss(max(counts) + GRADED)
    z = 0.125 * x * (15.0 - 10.0 * x**2 + 3.0 * x**4)
    w = w * 1.875 * (1.0 - x**2) ** 2
    return product_rule(patch, at, counts, [(z, w)] * len(counts))


def product_rule(
    patch: Patch, at: Contact, counts: Sequence[int], rules: Sequence[tuple[FloatArray, FloatArray]]
) -> tuple[FloatArray, FloatArray]:
    """Return the same with given points and weights along each axis of a face."""
    axes = [np.atleast_1d((patch.high if at.end else patch.low)[at.axis])] * patch.dimension
    mean: FloatArray = np.ones((1, 1))
    for a, low, high, count, (z, w) in zip(at.rest, at.low, at.high, counts, rules, strict=True):
        axes[a] = 0.5 * (low * (1 - z) + high * (1 + z))
        mean = np.kron(mean, (legendre_table(z, count)[0] * w[:, None]).T)
    return product_points(axes), mean[moments_of(counts, patch.dimension)]


def local_sides(patch: Patch, at: Sequence[FloatArray]) -> FloatArray:
    """Return the sizes 2 dx/dz along the axes at product points, (m, d), or (d,) if even.

    A map is a continuum of patches, each with an equal vote.
    """
    if not any(m.strength for m in patch.maps):
        return patch.sides
    return product_points([2.0 / m.slopes(z, 1)[0] for m, z in zip(patch.maps, at, strict=True)])


def inner_sides(patch: Patch) -> FloatArray:
    """Return the same at the points inside of a box that the boundary cuts."""
    if not any(m.strength for m in patch.maps):
        return patch.sides
    at = patch.inverse(patch.inner_points()).T
    return np.stack([2.0 / m.slopes(z, 1)[0] for m, z in zip(patch.maps, at, strict=True)], axis=1)


def shares_of(axis: AxisMap, low: float, high: float) -> tuple[float, float]:
    """Return two places as shares of an axis, rounded: equal ones for patches anywhere."""
    start, stop = (round((x - axis.low) / axis.length * STEPS) / STEPS for x in (low, high))
    return start, stop


def moment_matrix(patch: Patch, axis: int, low: float, high: float, count: int) -> FloatArray:
    """Return the mean over [low, high] of its Legendre polynomials times the axis' functions."""
    functions, m = patch.functions[axis], patch.maps[axis]
    if m.decays and (low, high) == (m.low, m.high):
        # Both patches have its functions there, orthonormal in the mean.
        return np.eye(count, functions)
    if not m.strength and not m.decays:
        return _moments_along(functions, *shares_of(m, low, high), count)
    # Exact for the product of both; a map is no polynomial and gets more.
    z, w = gauss((functions + count) // 2 + 1 + MAPPED + (held_by(m.decays) if m.decays else 0))
    table = patch.axis_table(axis, 0.5 * (low * (1 - z) + high * (1 + z)), 0)[0]
    return np.asarray((legendre_table(z, count)[0] * w[:, None]).T @ table)


@lru_cache(maxsize=4096)
def _moments_along(functions: int, start: float, stop: float, count: int) -> FloatArray:
    """Return the moments over a share [start, stop] of an axis without a map."""
    z, w = gauss((functions + count) // 2 + 1)
    table = legendre_table(start * (1 - z) + stop * (1 + z) - 1.0, functions)[0]
    return np.asarray((legendre_table(z, count)[0] * w[:, None]).T @ table)


def moments_of(counts: Sequence[int], dimension: int) -> Ints:
    """Return which products of polynomials on a face moments are taken with, (n,), of all of them.

    Parameters
    ----------
    counts
        Polynomials along each axis of the face.
    dimension
        Of its patches: in space moments have a joint degree as functions have.
    """
    if not is_joint(dimension):
        return np.arange(math.prod(counts))
    return np.asarray(np.ravel_multi_index(tuple(products(tuple(counts), True)), tuple(counts)))


@lru_cache(maxsize=1024)
def moments_count(counts: tuple[int, ...], dimension: int) -> int:
    """Return how many these are."""
    return len(moments_of(counts, dimension))


def form_matrix(
    form: FormValues, scale: Array | float, tables: Sequence[Numbers], unknowns: Sequence[str]
) -> Numbers:
    """Return a form applied to the functions of all unknowns at product points.

    Arrays are of any library. Those of many patches at once have an axis more, the first.

    Parameters
    ----------
    form
        At the points.
    scale
        A factor, for each point or for all.
    tables
        Of each axis the derivatives of its functions at positions, (order + 1, n, functions).
    unknowns
        Their names, in the order of their columns.
    """
    applied = _of_some if is_joint(len(tables)) else _of_all
    parts: list[Numbers] = []
    for unknown in unknowns:
        own: dict[tuple[int, ...], Array] = {}
        for term, c in zip(form.terms, form.coefficients, strict=True):
            if term.unknown == unknown:
                _add(own, term.orders, scale * c)
        parts.append(applied(own, tables))
    every: Numbers = parts[0] if len(parts) == 1 else namespace(*parts).concat(parts, axis=-1)
    return every


def _add(sums: dict[tuple[int, ...], Array], key: tuple[int, ...], part: Array) -> None:
    """Add an array that is nobody else's to the sum of a key."""
    if key not in sums:
        sums[key] = part
    elif sums[key].dtype == part.dtype:
        sums[key] += part
    else:
        sums[key] = sums[key] + part


def scattered_matrix(
    form: FormValues,
    scale: FloatArray | float,
    patch: Patch,
    positions: FloatArray,
    unknowns: Sequence[str],
) -> FloatArray:
    """Return a form applied to the functions of all unknowns at positions in a patch's chart.

    Parameters
    ----------
    form
        At the positions.
    scale
        A factor, for each position or for all.
    patch, positions
        Whose functions, and where, (m, d).
    unknowns
        Their names, in the order of their columns.
    """
    tables = [patch.axis_table(a, positions[:, a], form.order) for a in range(patch.dimension)]
    kind = np.result_type(float, *form.coefficients)
    out = np.zeros((len(positions), len(unknowns), patch.size), dtype=kind)
    for term, c in zip(form.terms, form.coefficients, strict=True):
        part = np.broadcast_to(scale * c, len(positions))[:, None]
        for table, k, own in zip(tables, term.orders, patch.products, strict=True):
            part = part * table[k][:, own]
        out[:, unknowns.index(term.unknown)] += part
    return out.reshape(len(positions), -1)


def _of_all(level: dict[tuple[int, ...], Array], tables: Sequence[Array]) -> Array:
    """Return derivatives with factors at points, added up, of all products of functions.

    Axis by axis from the last, sums over the terms that differ along it alone.
    """
    lead, counts = tables[0].shape[:-3], [t.shape[-2] for t in tables]
    columns = math.prod(t.shape[-1] for t in tables)
    for axis in range(len(tables) - 1, -1, -1):
        shape = math.prod(counts[:axis]), counts[axis], math.prod(counts[axis + 1 :])
        found: dict[tuple[int, ...], Array] = {}
        for orders, values in level.items():
            table = tables[axis][..., orders[axis], :, :]
            part = table[..., None, :, None, :, None] * values.reshape(*lead, *shape, 1, -1)
            _add(found, orders[:axis], part)
        level = found
    if not level:
        return zeros((*lead, math.prod(counts), columns), tables[0])
    return level[()].reshape(*lead, -1, columns)


def _of_some(terms: dict[tuple[int, ...], Array], tables: Sequence[Array]) -> Array:
    """Return the same for functions up to a joint degree."""
    chosen = products(tuple(t.shape[-1] for t in tables), True)
    columns = [table[..., own] for table, own in zip(tables, chosen, strict=True)]
    lead, first = tables[0].shape[:-3], tables[0].shape[-2]
    points, size = math.prod(t.shape[-2] for t in tables), chosen.shape[1]
    out = zeros((*lead, first, points // first, size), tables[0])
    factors = {
        orders: namespace(values).broadcast_to(values, (*lead, points)).reshape(*lead, first, -1, 1)
        for orders, values in terms.items()
    }
    # Place by place along the first axis: parts of all terms stay in the processor's cache.
    for i in range(first):
        for orders, each in factors.items():
            own = columns[0][..., orders[0], i, None, :]
            for table, k in zip(columns[1:], orders[1:], strict=True):
                across = own[..., None, :] * table[..., k, :, :][..., None, :, :]
                own = across.reshape(*lead, -1, size)
            own *= each[..., i, :, :]
            out[..., i, :, :] += own
    return out.reshape(*lead, points, size)
