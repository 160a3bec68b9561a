"""The chain rule between the plane and the moving unit square."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.pieces.plane.moving import Jet
from sharpfront.pieces.plane.product import Orders


def physical(inner: Mapping[Orders, FloatArray], xi: Jet, eta: Jet) -> dict[Orders, FloatArray]:
    """Return derivatives in the plane from those in (xi, eta), up to the second.

    xi may depend on both coordinates; eta's own coordinate is called x in its jet.
    """
    first, second, mixed = inner[1, 0], inner[0, 1], inner[1, 1]
    return {
        (0, 0): inner[0, 0],
        (1, 0): xi.x * first,
        (0, 1): xi.y * first + eta.x * second,
        (2, 0): xi.x**2 * inner[2, 0] + xi.xx * first,
        (1, 1): xi.x * (xi.y * inner[2, 0] + eta.x * mixed) + xi.xy * first,
        (0, 2): (
            xi.y**2 * inner[2, 0]
            + 2.0 * xi.y * eta.x * mixed
            + eta.x**2 * inner[0, 2]
            + xi.yy * first
            + eta.xx * second
        ),
    }


def carried(inner: Mapping[Orders, FloatArray], xi: Jet, eta: Jet) -> FloatArray:
    """Return the part of u_t at a fixed place that comes from the moving coordinates."""
    return np.asarray(xi.t * inner[1, 0] + eta.t * inner[0, 1])


def pulled(
    outer: Mapping[Orders, FloatArray], rate: FloatArray, xi: Jet, eta: Jet
) -> dict[Orders, FloatArray]:
    """Return the coefficients of derivatives in (xi, eta) of a form in the plane.

    Of u_t, whose coefficient is the rate, only what the moving coordinates carry is taken.
    """
    none = np.zeros_like(rate)
    c = {orders: outer.get(orders, none) for orders in ((1, 0), (0, 1), (2, 0), (1, 1), (0, 2))}
    result = {
        (1, 0): c[1, 0] * xi.x
        + c[0, 1] * xi.y
        + c[2, 0] * xi.xx
        + c[1, 1] * xi.xy
        + c[0, 2] * xi.yy
        + rate * xi.t,
        (0, 1): c[0, 1] * eta.x + c[0, 2] * eta.xx + rate * eta.t,
        (2, 0): c[2, 0] * xi.x**2 + c[1, 1] * xi.x * xi.y + c[0, 2] * xi.y**2,
        (1, 1): c[1, 1] * xi.x * eta.x + 2.0 * c[0, 2] * xi.y * eta.x,
        (0, 2): c[0, 2] * eta.x**2,
    }
    if (0, 0) in outer:
        result[0, 0] = outer[0, 0]
    return {orders: values for orders, values in result.items() if np.any(values)}
