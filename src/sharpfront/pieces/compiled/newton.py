"""Newton's method for the stages of a step: fields at the Gauss points, changes, their mixing."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpfront.pieces.compiled.compiler import compiled
from sharpfront.pieces.compiled.matrices import substituted


@compiled
def updated(
    values: Any,
    moved: Any,
    shares: Any,
    scales: Any,
    over: Any,
    tables: Any,
    speeds: Any,
    stretch: Any,
    still: bool,
    levels: Any,
    rates: Any,
) -> None:
    """Write derivatives along x of unknowns and rates, (K, orders, q, S, N); see `Fields`.

    Coefficients and their rates are (S, n, K). With shares, (S, S - 1), rates are written first:
    those of differences to the first coefficients. Scales are (2, size, S, N) or, of what is still,
    with one moment only; tables are (orders, q, size).
    """
    if len(shares):
        _advanced(values, shares, moved)
    (orders, q, size), (count, coefficients, unknowns) = tables.shape, values.shape
    elements, mixed = levels.shape[4], rates.shape[1]
    own, rate = np.empty((size, elements)), np.empty((size, elements))
    for k in range(unknowns):
        for s in range(count):
            at = 0 if still else s
            for j in range(size):
                for e in range(elements):
                    n = e * q + j
                    n = n if n < coefficients else n - coefficients
                    own[j, e] = values[s, n, k] * scales[0, j, at, e]
                    rate[j, e] = moved[s, n, k] * scales[0, j, at, e]
                    if not still:
                        rate[j, e] += values[s, n, k] * scales[1, j, at, e]
            for o in range(orders):
                for g in range(q):
                    _summed(tables[o, g], own, levels[k, o, g, s])
                    levels[k, o, g, s] *= over[o, s]
            for o in range(mixed):
                for g in range(q):
                    to = rates[k, o, g, s]
                    _summed(tables[o, g], rate, to)
                    to *= over[o, s]
                    if not still:
                        to -= speeds[g] * levels[k, o + 1, g, s]
                        if o:
                            to -= o * stretch * over[1, s] * levels[k, o, g, s]


@compiled
def _advanced(values: Any, shares: Any, moved: Any) -> None:
    """Write the rates of coefficients from differences to the first."""
    stages, size = shares.shape[1], values.shape[1] * values.shape[2]
    levels, rates = values.reshape(len(values), size), moved.reshape(len(values), size)
    for s in range(len(shares)):
        first = 0.0
        for i in range(stages):
            first -= shares[s, i]
        for n in range(size):
            rates[s, n] = first * levels[0, n]
        for i in range(stages):
            share = shares[s, i]
            for n in range(size):
                rates[s, n] += share * levels[i + 1, n]


@compiled
def _summed(shares: Any, parts: Any, out: Any) -> None:
    """Write the sum of parts, four at a time."""
    count, elements = parts.shape
    out[:] = 0.0
    for j in range(0, count - 3, 4):
        a, b, c, d = shares[j], shares[j + 1], shares[j + 2], shares[j + 3]
        one, two, three, four = parts[j], parts[j + 1], parts[j + 2], parts[j + 3]
        for e in range(elements):
            out[e] += a * one[e] + b * two[e] + c * three[e] + d * four[e]
    for j in range(count - count % 4, count):
        for e in range(elements):
            out[e] += shares[j] * parts[j, e]


@compiled
def scattered(inner: Any, begins: int, points: int, out: Any) -> None:
    """Put what equations leave, (K, q S N), into rows, (S, size), from the first element's on."""
    unknowns, moments = len(inner), len(out)
    elements = inner.shape[1] // (points * moments)
    for k in range(unknowns):
        for g in range(points):
            for s in range(moments):
                start, at = (g * moments + s) * elements, begins + g * unknowns + k
                for e in range(elements):
                    out[s, at + e * points * unknowns] = inner[k, start + e]


@compiled
def changed(
    residual: Any,
    into: Any,
    back: Any,
    real: Any,
    pairs: Any,
    rows: Any,
    columns: Any,
    shape: Any,
    begins: int,
    out: Any,
) -> None:
    """Write the change of all stages, (S, size), for what rows leave at them, (S + 1, size).

    Factors are those that `eliminated` writes, of the real system and of complex pairs.
    """
    stages, size = out.shape
    turned, found = into @ residual[1:], np.empty((stages, size))
    substituted(real, 0, rows, columns, shape, begins, turned[0], found[0])
    count = len(pairs[0])
    right, left = np.empty(size, np.complex128), np.empty(size, np.complex128)
    for p in range(count):
        for n in range(size):
            right[n] = complex(turned[1 + p, n], turned[1 + count + p, n])
        substituted(pairs, p, rows, columns, shape, begins, right, left)
        for n in range(size):
            found[1 + p, n], found[1 + count + p, n] = left[n].real, left[n].imag
    np.dot(back, found, out)


@compiled
def largest(change: Any, unit: Any, points: int) -> Any:
    """Return the largest change at a node in its unit, (nodes, K); NaN if one is."""
    stages, _, unknowns = change.shape
    worst = 0.0
    for s in range(stages):
        for n in range(len(unit)):
            for k in range(unknowns):
                size = abs(change[s, n * points, k]) / unit[n, k]
                if not size <= worst:
                    if size != size:
                        return size
                    worst = size
    return worst


@compiled
def mixed(levels: Any, changes: Any, iterates: Any, gram: Any, weight: Any, count: int) -> None:
    """Go on by the last change, mixed with those before; see `sharpfront.evolve.stages`.

    Changes and iterates are rings of so many; weights are none or one for each coefficient.
    """
    slots, size = changes.shape
    now, known = count % slots, min(count + 1, slots)
    own = changes[now]
    for n in range(size):
        iterates[now, n] = levels[n] + own[n]
    for i in range(known):
        product, other = 0.0, changes[i]
        if len(weight):
            for n in range(size):
                product += other[n] * own[n] * weight[n]
        else:
            product = np.dot(other, own)
        gram[now, i] = gram[i, now] = product
    shares = np.zeros(slots)
    if known == 1 or not _mixing(gram, now, known, shares):
        levels[:] = iterates[now]
        return
    levels[:] = 0.0
    for i in range(known):
        for n in range(size):
            levels[n] += shares[i] * iterates[i, n]


@compiled
def _mixing(gram: Any, now: int, known: int, shares: Any) -> bool:
    """Write shares of iterates, one in sum, whose changes together are smallest, if there are."""
    count = known - 1
    others = np.empty(count, np.int64)
    for i in range(count):
        others[i] = i if i < now else i + 1
    apart, right = np.empty((count, count)), np.empty(count)
    own = gram[now, now]
    for i in range(count):
        right[i] = own - gram[now, others[i]]
        for j in range(count):
            apart[i, j] = gram[others[i], others[j]] - gram[now, others[j]] + right[i]
        # What hardly differs from the others has no weight of its own.
        apart[i, i] *= 1.0 + 1e-13
    for i in range(count):
        if not apart[i, i] > 0.0:
            return False
        for j in range(i + 1, count):
            share = apart[j, i] / apart[i, i]
            right[j] -= share * right[i]
            for k in range(i + 1, count):
                apart[j, k] -= share * apart[i, k]
    shares[now] = 1.0
    for i in range(count - 1, -1, -1):
        for k in range(i + 1, count):
            right[i] -= apart[i, k] * right[k]
        right[i] /= apart[i, i]
        shares[others[i]] = right[i]
        shares[now] -= right[i]
    return True
