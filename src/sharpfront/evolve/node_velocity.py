"""How nodes move during a step: with what the solution carries along."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from sharpfront.arrays import FloatArray
from sharpfront.evolve.mesh import Mesher
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.pieces.frame import Frame

# The square of a difference: both its ends, and their product.
_APART = np.array([[1.0], [-1.0], [1.0]])


def velocities(
    mesher: Mesher,
    frame: Frame,
    values: FloatArray,
    rates: FloatArray,
    scale: FloatArray,
    dt: float = 0.0,
    kinked: bool = False,
    gain: float = LINE_MARCH.gain,
    carried: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """Return velocities of the nodes by least squares of u_t + v u_x; zero unless they explain it.

    They have to explain a share of it, the gain.

    Short elements count more: the flanks of a standing front are not carried into it. The frame has
    the velocities to which the rates, (n, K), belong. More has to be explained where a
    step of length dt must be cut, for elements become too short. The shortest ones of a kinked
    front, whose rates jump with u, hold little of it: stiffness counts no more than they do.
    """
    tables, h = mesher.tables, frame.lengths[0]
    slope, rate, spread = _fields(frame, values, rates, scale)
    if carried is not None and carried[0].any():
        return _along(mesher, frame, *carried)
    if not spread:
        return np.zeros_like(frame.nodes)
    weights = tables.weights[:, None] * (np.minimum.reduce(h) ** 2 / h)
    weighted = weights[:, None] * slope
    # Sums over the unknowns of squares and products, (q, N).
    a, b = (np.add.reduce(weighted * own, axis=1) for own in (slope, rate))
    stiff = spread**2
    if kinked:
        stiff = min(stiff, LINE_MARCH.stiff_at_jumps * float(np.minimum.reduce(h) * a.sum()))
    v = _hats_solved(mesher, frame, a, b, LINE_MARCH.stiff * stiff / h)
    at = v[:-1] + (v[1:] - v[:-1]) * tables.gauss[:, None]
    # The square of rate + v slope, summed.
    whole = float(np.vdot(weights[:, None] * rate, rate))
    left = whole + float(np.vdot(at, 2.0 * b + at * a))
    slow = shortening(frame, v) * dt <= 1.0 - LINE_MARCH.shrink
    least = gain if slow else max(gain, LINE_MARCH.gain_of_cut)
    explains = whole > 0 and 1.0 - left / whole >= least
    return v if explains else np.zeros_like(frame.nodes)


def _along(mesher: Mesher, frame: Frame, inside: FloatArray, speed: FloatArray) -> FloatArray:
    """Return velocities of nodes that go along with what moves by itself, even in between."""
    h, points = frame.lengths[0], len(mesher.tables.gauss)
    heavy = 1e6 * inside / np.minimum.reduce(h)
    each = np.ones((points, 1)) / points
    return _hats_solved(mesher, frame, each * heavy, -each * heavy * speed, 1.0 / h)


def shortening(frame: Frame, velocities: FloatArray) -> float:
    """Return how fast any element becomes shorter, as a share of its length."""
    rates = (velocities[:-1] - velocities[1:]) / frame.lengths[0]
    return float(np.maximum.reduce(rates))


def _fields(
    frame: Frame, values: FloatArray, rates: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return slopes and rates of a frame at rest at the Gauss points, (q, K, N), and the range."""
    inside, (d, d_rate), n = frame.tables.inside(1), frame.scales, frame.elements
    q, size = inside.shape[1:]
    both = np.empty((2, *values.shape))
    np.divide(values, scale, out=both[0])
    np.divide(rates, scale, out=both[1])
    own = frame.gathered(both)
    scaled = own * d[:, :, None]
    if frame.moves:
        scaled[:, :, 1] += own[:, :, 0] * d_rate
    found = inside.reshape(-1, size) @ scaled.reshape(size, -1)
    (value, rate), slope = (
        part.reshape(q, -1, 2, n).transpose(2, 0, 1, 3) for part in (found[:q], found[q:])
    )
    slope = slope[0] / frame.lengths[0]
    if frame.moves:
        rate -= frame.positions[1][:, None] * slope
    high, low = (each.reduce(value, axis=(0, 2)) for each in (np.maximum, np.minimum))
    return slope, rate, float(max(high - low))


def _hats_solved(
    mesher: Mesher, frame: Frame, a: FloatArray, b: FloatArray, stiff: FloatArray
) -> FloatArray:
    """Return the piecewise linear velocity of least squares with elements' parts a, b, (q, N)."""
    n, hats = len(frame.nodes), mesher.tables.hats
    # Of each element: with itself, with its neighbour, the neighbour's.
    own, load = hats[2:] @ a + _APART * stiff, hats[:2] @ b
    main, right, off = np.zeros(n), np.zeros(n), own[1]
    main[:-1], right[:-1] = own[0], load[0]
    main[1:] += own[2]
    right[1:] += load[1]
    np.negative(right, out=right)
    if mesher.ring:
        return _on_ring(main, off, right)
    if len(mesher.pins):
        fixed = np.isin(frame.nodes, mesher.pins)
        main[fixed], right[fixed] = 1.0, 0.0
        off[fixed[:-1] | fixed[1:]] = 0.0
    out = np.zeros(n)
    _, _, inner, info = lapack.dptsv(main[1:-1], off[1:-1], right[1:-1])
    if not info:
        out[1:-1] = inner
    return out


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
