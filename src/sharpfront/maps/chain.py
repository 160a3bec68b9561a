"""The chain rule: along one axis with a coordinate xi(x), and in a chart x(s)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray

Orders = tuple[int, ...]
Taylor = Mapping[Orders, FloatArray]
# Coefficients below this share of the largest of their order are rounding.
ROUNDING = 1e-13


def chain(derivatives: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return the coefficients of d^k u/d xi^k in sum_j c_j d^j u/d x^j (Faa di Bruno).

    Given are xi', ..., (m, n) at least, and c_0, ..., c_m, (m + 1, n), m at most four.
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


def pulled_back(
    taylor: Taylor, coefficients: Mapping[Orders, FloatArray]
) -> dict[Orders, FloatArray]:
    """Return the coefficients of the derivatives along s in sum_a c_a d^a u/dx^a, x = x(s).

    Derivatives along s are sums of those along x, M_ba = d^b/ds^b (x - x0)^a / a!, for every order
    a triangle of blocks; the coefficients solve the transposed system. Given are the derivatives of
    x along s that do not vanish, (n, d) each, and c_a for each multi-index a, (n,) each.
    """
    order = max(sum(a) for a in coefficients)
    d = len(next(iter(taylor)))
    plain = coefficients.get((0,) * d)
    out = {} if plain is None else {(0,) * d: plain}
    if order == 0:
        return out
    every = _multi_indices(d, order)
    powers = _powers(taylor, every, order)
    n = len(next(iter(taylor.values())))
    matrix = np.zeros((n, len(every), len(every)))
    # Those of a mode in time are complex.
    rhs = np.zeros((n, len(every), 1), dtype=np.result_type(*coefficients.values()))
    for i, a in enumerate(every):
        if a in coefficients:
            rhs[:, i, 0] = coefficients[a]
        for j, b in enumerate(every):
            if b in powers[a]:
                matrix[:, i, j] = powers[a][b] * (_factorial(b) / _factorial(a))
    found: NDArray[Any] = np.linalg.solve(matrix, rhs)[..., 0]
    orders = np.array([sum(b) for b in every])
    for k in range(1, order + 1):
        # What cancels is zero: a root at infinity is not to become one far away.
        same = found[:, orders == k]
        found[:, orders == k] = np.where(
            np.abs(same) > ROUNDING * np.abs(same).max(axis=1, keepdims=True), same, 0.0
        )
    return {**out, **{b: found[:, j] for j, b in enumerate(every)}}


def jacobian(taylor: Taylor) -> FloatArray:
    """Return the first derivatives of x along each coordinate of a chart as columns, (n, d, d)."""
    d = len(next(iter(taylor)))
    units = [tuple(int(a == b) for b in range(d)) for a in range(d)]
    return np.stack([taylor[unit] for unit in units], axis=2)


def normals_across(taylor: Taylor, axis: int, end: int) -> FloatArray:
    """Return unit normals where one coordinate of a chart stays the same, (m, d).

    Outwards at the end of a patch. That is where the coordinate grows, or falls, fastest: a chart
    may be a reflection, as strips along holes are.
    """
    out = np.linalg.inv(jacobian(taylor))[:, axis] * (1.0 if end else -1.0)
    return np.asarray(out / np.linalg.norm(out, axis=1)[:, None])


@lru_cache(maxsize=16)
def _multi_indices(dimension: int, order: int) -> tuple[Orders, ...]:
    """Return all multi-indices of orders 1 to `order`, lowest first."""
    found = itertools.product(range(order + 1), repeat=dimension)
    return tuple(sorted((a for a in found if 0 < sum(a) <= order), key=lambda a: (sum(a), a)))


def _factorial(orders: Orders) -> float:
    return float(math.prod(math.factorial(k) for k in orders))


def _powers(
    taylor: Taylor, every: Sequence[Orders], order: int
) -> dict[Orders, dict[Orders, FloatArray]]:
    """Return the weights of ds^b in (x - x0)^a for all multi-indices up to an order."""
    d = len(every[0])
    linear = [{b: x[:, k] / _factorial(b) for b, x in taylor.items()} for k in range(d)]
    out: dict[Orders, dict[Orders, FloatArray]] = {}
    for a in every:
        k = next(i for i in range(d) if a[i])
        rest = tuple(c - (i == k) for i, c in enumerate(a))
        out[a] = _product(linear[k], out[rest], order) if sum(rest) else linear[k]
    return out


def _product(
    one: Mapping[Orders, FloatArray], other: Mapping[Orders, FloatArray], order: int
) -> dict[Orders, FloatArray]:
    """Return the product of two polynomials in ds, up to an order."""
    out: dict[Orders, FloatArray] = {}
    for (b, x), (c, y) in itertools.product(one.items(), other.items()):
        both = tuple(i + j for i, j in zip(b, c, strict=True))
        if sum(both) <= order:
            out[both] = out[both] + x * y if both in out else x * y
    return out
