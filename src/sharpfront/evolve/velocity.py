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
_APART = np.array([1.0, -1.0, 1.0])


def velocities(
    mesher: Mesher, frame: Frame, values: FloatArray, rates: FloatArray, scale: FloatArray
) -> FloatArray:
    """Return velocities of the nodes by least squares of u_t + v u_x; zero unless they explain it.

    Short elements count more: the flanks of a standing front are not carried into it.

    Parameters
    ----------
    frame
        With the velocities to which the rates belong.
    values, rates
        Coefficients and their rates, (n, K).
    scale
        Of each unknown, (K,).
    """
    tables, h = mesher.tables, frame.lengths[0]
    turned, unit = tables.turned(1), (1.0 / scale)[:, None, None]
    scales, own = frame.scales, frame.gathered(values[None])[:, 0]
    local = own * scales[0] * unit
    moved = (frame.gathered(rates[None])[:, 0] * scales[0] + own * scales[1]) * unit
    value, slope = local @ turned[:, None]
    slope /= h[:, None]
    rate = moved @ turned[0] - frame.positions[1] * slope
    weight = ((h.min() / h) ** 2 * h)[:, None] * tables.weights
    a, b = weight * (slope * slope).sum(axis=0), weight * (slope * rate).sum(axis=0)
    spread = float((value.max(axis=(1, 2)) - value.min(axis=(1, 2))).max())
    if not spread:
        return np.zeros_like(frame.nodes)
    v = _solved(mesher, frame, a, -b, STIFF * spread**2 / h)
    at = v[:-1, None] + (v[1:] - v[:-1])[:, None] * tables.gauss
    # The square of rate + v slope, summed.
    whole = float((weight * (rate * rate)).sum())
    left = whole + float((at * (2.0 * b + at * a)).sum())
    explains = whole > 0 and 1.0 - left / whole >= mesher.settings.gain
    return v if explains else np.zeros_like(frame.nodes)


def _solved(
    mesher: Mesher, frame: Frame, a: FloatArray, b: FloatArray, stiff: FloatArray
) -> FloatArray:
    """Return the piecewise linear velocity of least squares with elements' parts a, b, (N, q)."""
    s, n = mesher.tables.gauss, len(frame.nodes)
    main, right = np.zeros(n), np.zeros(n)
    hats = np.stack([1 - s, s], axis=1)
    # A row of each element: with itself, with its neighbour, the neighbour's.
    own = a @ (hats[:, [0, 0, 1]] * hats[:, [0, 1, 1]]) + stiff[:, None] * _APART
    load = b @ hats
    main[:-1] += own[:, 0]
    main[1:] += own[:, 2]
    off = own[:, 1].copy()
    right[:-1] += load[:, 0]
    right[1:] += load[:, 1]
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
