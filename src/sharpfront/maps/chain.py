"""The chain rule: derivatives along x from derivatives along a coordinate xi(x)."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import Host


def chain(derivatives: Host, coefficients: Host) -> Host:
    """Return the coefficients of d^k u/d xi^k in sum_j c_j d^j u/d x^j (Faa di Bruno).

    Parameters
    ----------
    derivatives
        xi', ..., (m, n) at least.
    coefficients
        c_0, ..., c_m, (m + 1, n), m at most four.
    """
    d, c = derivatives, coefficients
    m = len(c) - 1
    out = np.zeros_like(c)
    out[0] = c[0]
    if m >= 1:
        out[1] = c[1] * d[0]
    if m >= 2:
        out[1] += c[2] * d[1]
        out[2] = c[2] * d[0] ** 2
    if m >= 3:
        out[1] += c[3] * d[2]
        out[2] += 3.0 * c[3] * d[0] * d[1]
        out[3] = c[3] * d[0] ** 3
    if m >= 4:
        out[1] += c[4] * d[3]
        out[2] += c[4] * (4.0 * d[0] * d[2] + 3.0 * d[1] ** 2)
        out[3] += 6.0 * c[4] * d[0] ** 2 * d[1]
        out[4] = c[4] * d[0] ** 4
    return out
