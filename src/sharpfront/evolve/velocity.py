"""How nodes move during a step: with what the solution carries along."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from sharpfront.arrays import FloatArray
from sharpfront.evolve.mesh import Mesher
from sharpfront.pieces.frame import Frame

# Weight of v_x^2 against (u_t + v u_x)^2, in units of the range of u.
STIFF = 1e-3


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
    local = frame.local(values)
    moved = rates[frame.numbers] * frame.scales[0][..., None]
    moved += values[frame.numbers] * frame.scales[1][..., None]
    inside = tables.inside(1)
    slope = np.einsum("ql,nlk->nkq", inside[1], local) / h[:, None, None] / scale[:, None]
    rate = np.einsum("ql,nlk->nkq", inside[0], moved) / scale[:, None]
    rate -= frame.positions[1][:, None] * slope
    value = np.einsum("ql,nlk->nkq", inside[0], local) / scale[:, None]
    spread = float(np.ptp(value, axis=(0, 2)).max())
    weight = ((h.min() / h) ** 2 * h)[:, None, None] * tables.weights
    a, b = (weight * slope**2).sum(axis=1), -(weight * slope * rate).sum(axis=1)
    v = _solved(mesher, frame, a, b, STIFF * spread**2 / h)
    s = tables.gauss
    at = v[:-1, None] * (1 - s) + v[1:, None] * s
    left = float((weight * (rate + at[:, None] * slope) ** 2).sum())
    whole = float((weight * rate**2).sum())
    explains = whole > 0 and 1.0 - left / whole >= mesher.settings.gain
    return v if explains else np.zeros_like(frame.nodes)


def _solved(
    mesher: Mesher, frame: Frame, a: FloatArray, b: FloatArray, stiff: FloatArray
) -> FloatArray:
    """Return the piecewise linear velocity of least squares with elements' parts a, b, (N, q)."""
    s, n = mesher.tables.gauss, len(frame.nodes)
    main, right = np.zeros(n), np.zeros(n)
    off = (a * s * (1 - s)).sum(axis=1) - stiff
    main[:-1] += (a * (1 - s) ** 2).sum(axis=1) + stiff
    main[1:] += (a * s**2).sum(axis=1) + stiff
    right[:-1] += (b * (1 - s)).sum(axis=1)
    right[1:] += (b * s).sum(axis=1)
    if mesher.ring:
        return _on_ring(main, off, right)
    if len(mesher.pins):
        fixed = np.isin(frame.nodes, mesher.pins)
        main[fixed], right[fixed] = 1.0, 0.0
        off[fixed[:-1] | fixed[1:]] = 0.0
    if not float(stiff.max()):
        return np.zeros(n)
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
