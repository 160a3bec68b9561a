"""How nodes move during a step: with what the solution carries along."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from sharpfront.arrays import FloatArray
from sharpfront.evolve.mesh import Mesher
from sharpfront.pieces.frame import Frame

# Weight of v_x^2 against (u_t + v u_x)^2, in units of the range of u.
STIFF = 1e-3
# The square of a difference: both its ends, and their product.
_APART = np.array([[1.0], [-1.0], [1.0]])


def velocities(
    mesher: Mesher, frame: Frame, values: FloatArray, rates: FloatArray, scale: FloatArray
) -> FloatArray:
    """Return velocities of the nodes by least squares of u_t + v u_x; zero unless they explain it.

    Short elements count more: the flanks of a standing front are not carried into it. The frame has
    the velocities to which the rates, (n, K), belong.
    """
    tables, h = mesher.tables, frame.lengths[0]
    inside, (d, d_rate) = tables.inside(1), frame.scales[:, :, None]
    q, size = inside.shape[1:]
    both = frame.gathered(np.stack([values, rates]) / scale)
    own, moved = both[:, :, 0], both[:, :, 1] * d
    value, slope = (inside.reshape(-1, size) @ (own * d).reshape(size, -1)).reshape(2, q, -1)
    spread = np.ptp(value.reshape(q, -1, len(h)), axis=(0, 2)).max()
    if not spread:
        return np.zeros_like(frame.nodes)
    slope = slope.reshape(q, -1, len(h)) / h
    if frame.moves:
        moved += own * d_rate
    rate = (inside[0] @ moved.reshape(size, -1)).reshape(slope.shape)
    if frame.moves:
        rate -= frame.positions[1][:, None] * slope
    # Sums over the unknowns of squares and products, (3, q, N).
    squares = np.stack([slope * slope, slope * rate, rate * rate])
    summed = squares[:, :, 0] if squares.shape[2] == 1 else squares.sum(axis=2)
    a, b, c = tables.weights[:, None] * (h.min() ** 2 / h) * summed
    v = _solved(mesher, frame, a, -b, STIFF * spread**2 / h)
    at = v[:-1] + (v[1:] - v[:-1]) * tables.gauss[:, None]
    # The square of rate + v slope, summed.
    whole = float(c.sum())
    left = whole + float((at * (2.0 * b + at * a)).sum())
    explains = whole > 0 and 1.0 - left / whole >= mesher.settings.gain
    return v if explains else np.zeros_like(frame.nodes)


def _solved(
    mesher: Mesher, frame: Frame, a: FloatArray, b: FloatArray, stiff: FloatArray
) -> FloatArray:
    """Return the piecewise linear velocity of least squares with elements' parts a, b, (q, N)."""
    n = len(frame.nodes)
    main, right = np.zeros(n), np.zeros(n)
    hats = mesher.tables.hats
    # Of each element: with itself, with its neighbour, the neighbour's.
    own = hats[2:] @ a + _APART * stiff
    load = hats[:2] @ b
    main[:-1] += own[0]
    main[1:] += own[2]
    off = own[1]
    right[:-1] += load[0]
    right[1:] += load[1]
    if mesher.ring:
        return _on_ring(main, off, right)
    if len(mesher.pins):
        fixed = np.isin(frame.nodes, mesher.pins)
        main[fixed], right[fixed] = 1.0, 0.0
        off[fixed[:-1] | fixed[1:]] = 0.0
    _, _, inner, info = lapack.dptsv(main[1:-1], off[1:-1], right[1:-1])
    return np.zeros(n) if info else np.concatenate([[0.0], inner, [0.0]])


def _on_ring(main: FloatArray, off: FloatArray, right: FloatArray) -> FloatArray:
    """Return the same where the first node is the last: a band with two corners."""
    if not off.any():
        return np.zeros(len(main))
    whole, load = main[:-1].copy(), right[:-1].copy()
    whole[0] += main[-1]
    load[0] += right[-1]
    # Sherman and Morrison: the corners are a product of two vectors.
    corner = off[-1]
    vector = np.zeros(len(whole))
    vector[0], vector[-1] = 1.0, 1.0
    whole[0] -= corner
    whole[-1] -= corner
    both = np.stack([load, vector], axis=1)
    _, _, found, info = lapack.dptsv(whole, off[:-1], both)
    if info:
        return np.zeros(len(main))
    one, other = found.T
    share = corner * float(vector @ one) / (1.0 + corner * float(vector @ other))
    inner = one - share * other
    return np.append(inner, inner[0])
