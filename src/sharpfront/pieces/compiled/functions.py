"""Functions on meshes: their values at other places, and functions through values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpfront.pieces.compiled.compiler import compiled
from sharpfront.pieces.compiled.matrices import eliminated, room, substituted


@compiled
def scaled(mesh: Any, order: int, points: int, later: float, e: int, out: Any) -> None:
    """Write what the functions of an element are multiplied by, (size,), some time later.

    A mesh is its nodes, their velocities, the mean lengths beside both nodes of each element with
    their rates, (2, 2, N), and what slopes there are multiplied by, (2, N).
    """
    nodes, velocities, means, beside = mesh
    length = nodes[e + 1] - nodes[e] + later * (velocities[e + 1] - velocities[e])
    out[:] = 1.0
    for side in range(2):
        ratio = length / (means[0, side, e] + later * means[1, side, e]) * beside[side, e]
        for j in range(1, order):
            out[side * points + j] = out[side * points + j - 1] * ratio


@compiled
def powers_of(mesh: Any, table: Any, values: Any, order: int, later: float, out: Any) -> None:
    """Write what functions are on each element in powers of s, (N, K, size), for values (n, K)."""
    size, unknowns = table.shape[1], values.shape[1]
    points, own = size - order, np.empty(size)
    for e in range(len(out)):
        scaled(mesh, order, points, later, e, own)
        for k in range(unknowns):
            for i in range(size):
                total = 0.0
                for j in range(size):
                    n = e * points + j
                    n = n if n < len(values) else n - len(values)
                    total += table[i, j] * own[j] * values[n, k]
                out[e, k, i] = total


@compiled
def polynomial(powers: Any, s: float) -> Any:
    """Return the value of a polynomial."""
    total = powers[-1]
    for i in range(len(powers) - 2, -1, -1):
        total = total * s + powers[i]
    return total


@compiled
def located(nodes: Any, velocities: Any, later: float, x: float) -> int:
    """Return in which element a position is."""
    low, high = 0, len(nodes) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if nodes[middle] + later * velocities[middle] <= x:
            low = middle
        else:
            high = middle
    return low


@compiled
def apart(
    mine: Any,
    own: Any,
    other: Any,
    theirs: Any,
    tables: Any,
    order: int,
    places: Any,
    moments: Any,
    spans: Any,
    interpolation: Any,
    ring: bool,
    unit: Any,
) -> Any:
    """Return the largest difference of two steps at places of each element, in units.

    Parameters
    ----------
    mine, own
        Mesh of a step and its coefficients, (S, n, K).
    other, theirs
        Those of the other.
    tables
        Functions of either in powers of s, (size, size).
    order
        Derivatives at a node.
    places
        In each element, (P,).
    moments
        Since the start of either step, (2, M).
    spans, interpolation
        Lengths of both steps, and the matrix from values at their stages to powers of 2 s - 1.
    ring
        Whether ends are joined.
    unit
        Of each unknown that counts, (K',).
    """
    worst = 0.0
    for i in range(moments.shape[1]):
        first = _at(mine, own, tables[0], order, moments[0, i], spans[0], interpolation)
        second = _at(other, theirs, tables[1], order, moments[1, i], spans[1], interpolation)
        begin = other[0][0] + moments[1, i] * other[1][0]
        length = other[0][-1] - other[0][0]
        for e in range(len(first)):
            left = mine[0][e] + moments[0, i] * mine[1][e]
            right = mine[0][e + 1] + moments[0, i] * mine[1][e + 1]
            for place in places:
                x = left + (right - left) * place
                x = begin + (x - begin) % length if ring else x
                there = located(other[0], other[1], moments[1, i], x)
                start = other[0][there] + moments[1, i] * other[1][there]
                stop = other[0][there + 1] + moments[1, i] * other[1][there + 1]
                s = (x - start) / (stop - start)
                s = s if ring else min(max(s, 0.0), 1.0)
                for k in range(len(unit)):
                    gap = polynomial(first[e, k], place) - polynomial(second[there, k], s)
                    size = abs(gap) / unit[k]
                    if not size <= worst:
                        if size != size:
                            return size
                        worst = size
    return worst


@compiled
def _at(
    mesh: Any, values: Any, table: Any, order: int, later: float, span: float, interpolation: Any
) -> Any:
    """Return a step at a moment in powers of s by element, (N, K, size)."""
    now, z = np.zeros(values.shape[1:]), 2.0 * later / span - 1.0
    for i in range(len(values)):
        now += polynomial(interpolation[:, i], z) * values[i]
    out = np.empty((len(mesh[0]) - 1, values.shape[2], len(table)))
    powers_of(mesh, table, now, order, later, out)
    return out


@compiled
def transferred(
    old: Any,
    values: Any,
    new: Any,
    table: Any,
    order: int,
    gauss: Any,
    inside: Any,
    places: Any,
    ends: Any,
    rows: Any,
    columns: Any,
    shape: Any,
    ring: bool,
) -> Any:
    """Return whether it went well, and coefficients of the same functions on another mesh.

    Parameters
    ----------
    old, values
        The mesh, and coefficients on it, (n, K).
    new
        The other mesh.
    table, order, gauss, inside
        The functions of an element in powers of s, derivatives at a node, Gauss points, functions
        at them, (q, size).
    places, ends
        Where functions are held beside both ends, and functions there, (rows, size).
    rows, columns, shape
        See `eliminated`.
    ring
        Whether ends are joined.
    """
    (q, size), elements, count = inside.shape, len(new[0]) - 1, values.shape[1]
    begins, powers = len(places[0]), np.empty((len(old[0]) - 1, count, size))
    powers_of(old, table, values, order, 0.0, powers)
    right = np.empty((count, elements * q + begins + len(places[1])))
    blocks, own = np.zeros((2, elements, q, size)), np.empty(size)
    edges = np.zeros((2, begins, size)), np.zeros((2, len(places[1]), size))
    for e in range(elements):
        scaled(new, order, q, 0.0, e, own)
        left, length = new[0][e], new[0][e + 1] - new[0][e]
        for g in range(q):
            blocks[1, e, g] = inside[g] * own
            _valued(old, powers, left + length * gauss[g], ring, right[:, begins + e * q + g])
        for side in range(2):
            if e == (0 if side == 0 else elements - 1):
                for r in range(len(places[side])):
                    edges[side][1, r] = ends[side][r] * own
                    n = r if side == 0 else begins + elements * q + r
                    _valued(old, powers, left + length * places[side][r], ring, right[:, n])
    factors = room(np.ones(1), blocks, edges[0], edges[1], shape)
    done = eliminated(np.ones(1), blocks, edges[0], edges[1], rows, columns, shape, factors)
    out = np.empty_like(right)
    if done:
        for k in range(count):
            substituted(factors, 0, rows, columns, shape, begins, right[k], out[k])
    return done, out


@compiled
def _valued(mesh: Any, powers: Any, x: float, ring: bool, out: Any) -> None:
    """Write all functions at a position."""
    nodes = mesh[0]
    if ring:
        x = nodes[0] + (x - nodes[0]) % (nodes[-1] - nodes[0])
    e = located(nodes, nodes, 0.0, x)
    s = (x - nodes[e]) / (nodes[e + 1] - nodes[e])
    for k in range(len(out)):
        out[k] = polynomial(powers[e, k], s)
