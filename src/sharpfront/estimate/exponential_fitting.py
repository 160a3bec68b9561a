"""One cell solved exactly: the formulas of the exponentially fitted scheme.

In a cell of length h with constant coefficients, a w'' + b w' + c w = s is solved in closed form,
so that a layer narrower than the cell neither oscillates nor pollutes (the idea of Il'in, Allen and
Southwell, Scharfetter and Gummel).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray

# |q^2| below which series replace q coth q and q / sinh q; their error is then rounding.
_SERIES = 1e-3
# Largest phase per cell: past pi the cell's own problem is resonant and nothing is resolved.
_WAVE = 2.0
# Growth per cell is clipped here to stay finite.
_EXPONENT = 300.0


class Slopes(NamedTuple):
    """End slopes of w in each cell, from its end values wl, wr and its source s, (n,) each.

    w'(left) = ll wl + lr wr + lf s,    w'(right) = rl wl + rr wr + rf s.
    """

    ll: FloatArray
    lr: FloatArray
    lf: FloatArray
    rl: FloatArray
    rr: FloatArray
    rf: FloatArray


def slopes(a: FloatArray, b: FloatArray, c: FloatArray, h: FloatArray) -> Slopes:
    """Return the exact end slopes of a w'' + b w' + c w = s with constants on cells of length h.

    With d = b h / 2a, g = c h^2 / a, q^2 = d^2 - g:
    h w'(0) = -(d + q coth q) wl + e^d (q / sinh q) wr + ...,
    h w'(h) = -e^-d (q / sinh q) wl + (q coth q - d) wr + ...
    The source part makes the constant s / c an exact solution; as g -> 0 its limit is taken.
    """
    with np.errstate(all="ignore"):
        scale = h / a
        if not np.count_nonzero(c):
            return _convective(b * scale, h, scale)
        g = c * h * scale
        return _reacting(0.5 * b * scale, g, h, scale) if b.any() else _still(g, h, scale)


def _still(g: FloatArray, h: FloatArray, scale: FloatArray) -> Slopes:
    """Return the slopes without a term in w', where both ends of a cell are alike."""
    q, coth, cosech = _hyperbolic(-g)
    across = cosech * np.exp(-np.minimum(q, _EXPONENT))
    source = (coth - across) / g
    flat = np.abs(g) < 1e-6
    if np.count_nonzero(flat):
        source[flat] = -0.5
    source *= scale
    across /= h
    near = coth / h
    return Slopes(-near, across, source, -across, near, -source)


def _reacting(d: FloatArray, g: FloatArray, h: FloatArray, scale: FloatArray) -> Slopes:
    """Return the slopes with a term in w; `scale` is h / a."""
    q, coth, cosech = _hyperbolic(d * d - g)
    up = cosech * np.exp(_bounded(d - q))
    down = cosech * np.exp(_bounded(-d - q))
    ll, rr = -(d + coth), coth - d
    flat = np.abs(g) < 1e-6 * (1.0 + np.abs(d))
    some = np.count_nonzero(flat)
    safe = np.where(flat, 1.0, g) if some else g
    lf, rf = -(ll + up) / safe, (down - rr) / safe
    if some:
        level = _convective(2.0 * d[flat], np.ones(1), np.ones(1))
        lf[flat], rf[flat] = level.lf, level.rf
    return Slopes(ll / h, up / h, lf * scale, -down / h, rr / h, rf * scale)


def _convective(y: FloatArray, h: FloatArray, scale: FloatArray) -> Slopes:
    """Return the slopes without a term in w, y = b h / a: up and down are y / (1 - e^-y) of +-y.

    Without overflow for either sign. `scale` is h / a.
    """
    size = np.abs(y)
    e = np.exp(-size)
    larger = size / (1.0 - e)
    up, down, least, most = larger, larger * e, np.minimum.reduce(y), np.maximum.reduce(y)
    if most < 0.0:
        up, down = down, up
    elif not least > 0.0:
        forward = y > 0.0
        up, down = np.where(forward, larger, down), np.where(forward, down, larger)
    lf, rf = (1.0 - up) / y, (1.0 - down) / y
    if not (least >= 1e-3 or most <= -1e-3):
        small = size < 1e-3
        z = y[small]
        up[small], down[small] = 1.0 + z / 2.0 + z * z / 12.0, 1.0 - z / 2.0 + z * z / 12.0
        lf[small], rf[small] = -0.5 - z / 12.0, 0.5 - z / 12.0
    left, right = up / h, down / h
    return Slopes(-left, left, lf * scale, -right, right, rf * scale)


def _bounded(exponent: FloatArray) -> FloatArray:
    return np.minimum(np.maximum(exponent, -_EXPONENT), _EXPONENT)


def _hyperbolic(square: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return q, q coth q and (q / sinh q) e^q for given q^2.

    For q^2 < 0 the functions become circular and q = 0 is returned for the exponential factor.
    """
    q = np.sqrt(np.abs(square))
    decay = np.exp(-2.0 * q)
    # Where q is small this is not read.
    share = q / (1.0 - decay)
    coth, cosech = share * (1.0 + decay), 2.0 * share
    least = np.minimum.reduce(square)
    # Not >: what is no number is looked at.
    if not least >= -_SERIES:
        wave = square < -_SERIES
        p = np.minimum(q[wave], _WAVE)
        coth[wave], cosech[wave], q[wave] = p / np.tan(p), p / np.sin(p), 0.0
    if not least > _SERIES:
        small = np.abs(square) <= _SERIES
        z = square[small]
        coth[small] = 1.0 + z * (1.0 / 3.0 - z * (1.0 / 45.0 - z * (2.0 / 945.0)))
        cosech[small] = 1.0 - z * (1.0 / 6.0 - z * (7.0 / 360.0 - z * (31.0 / 15120.0)))
        q[small] = 0.0
    return q, coth, cosech


def first_order_rows(
    c0: FloatArray, c1: FloatArray, h: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return p0, p1, p2 of p0 u_left + p1 u_right = p2 f for c1 u' + c0 u = f, exact in a cell.

    Written in the direction in which the exponential decays.
    """
    with np.errstate(all="ignore"):
        z = c0 * h / c1
        decay = np.exp(-np.abs(z))
        still = z == 0
        mean = np.where(still, 1.0, -np.expm1(-np.abs(z)) / np.where(still, 1.0, np.abs(z)))
        forward = z >= 0
        return np.where(forward, -decay, -1.0), np.where(forward, 1.0, decay), mean * h / c1
