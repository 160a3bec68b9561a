"""How nodes move, and what elements leave out."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpfront.pieces.compiled.compiler import compiled


@compiled
def followed(
    values: Any,
    rates: Any,
    scale: Any,
    scales: Any,
    lengths: Any,
    inside: Any,
    weights: Any,
    gauss: Any,
    speeds: Any,
    held: Any,
    ring: bool,
    stiff: float,
    out: Any,
) -> float:
    """Write velocities of the nodes by least squares, and return how much of u_t they explain.

    See `sharpfront.evolve.velocity`: held are nodes that do not move.
    """
    (_, q, size), (elements, h) = inside.shape, (lengths.shape[1], lengths[0])
    squares, products, whole = np.zeros((q, elements)), np.zeros((q, elements)), 0.0
    widest, least = 0.0, h.min()
    for k in range(len(scale)):
        low, high = np.inf, -np.inf
        for e in range(elements):
            for g in range(q):
                value, slope, rate = 0.0, 0.0, 0.0
                for j in range(size):
                    n = e * q + j
                    n = n if n < len(values) else n - len(values)
                    own = values[n, k] * scales[0, j, e]
                    value += inside[0, g, j] * own
                    slope += inside[1, g, j] * own
                    moved = rates[n, k] * scales[0, j, e] + values[n, k] * scales[1, j, e]
                    rate += inside[0, g, j] * moved
                slope /= scale[k] * h[e]
                rate = rate / scale[k] - speeds[g, e] * slope
                low, high = min(low, value), max(high, value)
                weight = weights[g] * least * least / h[e]
                squares[g, e] += weight * slope * slope
                products[g, e] += weight * slope * rate
                whole += weight * rate * rate
        widest = max(widest, (high - low) / scale[k])
    if not widest > 0.0 or not whole > 0.0:
        return 0.0
    _least(squares, products, gauss, stiff * widest**2 / h, held, ring, out)
    left = whole
    for e in range(elements):
        for g in range(q):
            v = out[e] + (out[e + 1] - out[e]) * gauss[g]
            left += v * (2.0 * products[g, e] + v * squares[g, e])
    return 1.0 - left / whole


@compiled
def _least(
    squares: Any, products: Any, gauss: Any, stiff: Any, held: Any, ring: bool, out: Any
) -> None:
    """Write the piecewise linear velocity of least squares."""
    q, elements = squares.shape
    main, right, off = np.zeros(elements + 1), np.zeros(elements + 1), np.empty(elements)
    for e in range(elements):
        first, both, last = stiff[e], -stiff[e], stiff[e]
        for g in range(q):
            s, a, b = gauss[g], squares[g, e], products[g, e]
            first += (1.0 - s) ** 2 * a
            both += s * (1.0 - s) * a
            last += s * s * a
            right[e] -= (1.0 - s) * b
            right[e + 1] -= s * b
        main[e] += first
        main[e + 1] += last
        off[e] = both
    out[:] = 0.0
    if ring:
        _round(main, off, right, out)
        return
    for n in range(elements + 1):
        if held[n]:
            main[n], right[n] = 1.0, 0.0
            if n:
                off[n - 1] = 0.0
            if n < elements:
                off[n] = 0.0
    if _three(main, off, right):
        out[:] = right


@compiled
def _three(main: Any, off: Any, right: Any) -> bool:
    """Solve a symmetric matrix of three diagonals in place; False unless it is definite."""
    count = len(main)
    for n in range(count):
        if n:
            share = off[n - 1] / main[n - 1]
            main[n] -= share * off[n - 1]
            right[n] -= share * right[n - 1]
        if not main[n] > 0.0:
            return False
    right[count - 1] /= main[count - 1]
    for n in range(count - 2, -1, -1):
        right[n] = (right[n] - off[n] * right[n + 1]) / main[n]
    return True


@compiled
def _round(main: Any, off: Any, right: Any, out: Any) -> None:
    """Solve the same where the first node is the last: a band with two corners."""
    count, corner = len(off), off[-1]
    main[0] += main[count]
    right[0] += right[count]
    # Sherman and Morrison: the corners are a product of two vectors.
    main[0] -= corner
    main[count - 1] -= corner
    vector = np.zeros(count)
    vector[0], vector[count - 1] = 1.0, 1.0
    again = main[:count].copy()
    if not _three(again, off, vector) or not _three(main[:count], off, right[:count]):
        return
    share = corner * (right[0] + right[count - 1])
    share /= 1.0 + corner * (vector[0] + vector[count - 1])
    for n in range(count):
        out[n] = right[n] - share * vector[n]
    out[count] = out[0]


@compiled
def roughness(
    values: Any,
    points: int,
    scales: Any,
    lengths: Any,
    tail: Any,
    unit: Any,
    held: Any,
    ring: bool,
    flat: float,
    quiet: float,
) -> Any:
    """Return |u^(p+1)| on each element in units, (N,); see `Mesher.roughness`.

    Held are nodes across which nothing is compared; flat and quiet tell noise.
    """
    size, elements, h = tail.shape[1], lengths.shape[1], lengths[0]
    out, tops, noisy = np.zeros(elements), np.empty(elements), np.empty(elements, np.bool_)
    own = np.empty(5)
    for k in range(values.shape[1]):
        for e in range(elements):
            own[:] = 0.0
            for j in range(size):
                n = e * points + j
                n = n if n < len(values) else n - len(values)
                for i in range(5):
                    own[i] += tail[i, j] * values[n, k] * scales[0, j, e]
            tops[e] = own[0] / h[e] ** (size - 1)
            last, before = abs(own[3]) + abs(own[4]), abs(own[1]) + abs(own[2])
            noisy[e] = last > flat * before and last < quiet * unit[e, k]
        for n in range(0 if ring else 1, elements):
            if held[n] and n:
                continue
            jump = abs(tops[n] - tops[n - 1]) / (0.5 * (h[n] + h[n - 1]))
            for e in (n - 1, n):
                if not noisy[e]:
                    out[e] = max(out[e], jump / unit[e, k])
    return out


@compiled
def left_over(values: Any, points: int, unit: Any, last: Any, count: int) -> Any:
    """Return the largest of the last two coefficients in time at nodes, in units.

    Values are (S, n, K), the unit is (nodes, K) or (1, K), and so many unknowns count.
    """
    stages, size, _ = values.shape
    fourth, fifth = 0.0, 0.0
    for at in range(0, size, points):
        n = min(at // points, len(unit) - 1)
        for k in range(count):
            one, two = 0.0, 0.0
            for s in range(stages):
                one += last[0, s] * values[s, at, k]
                two += last[1, s] * values[s, at, k]
            fourth, fifth = max(fourth, abs(one) / unit[n, k]), max(fifth, abs(two) / unit[n, k])
    return fourth, fifth
