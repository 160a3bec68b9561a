"""The rows of an equation with constant coefficients, which need no QR."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.joint import Ints, is_joint, products
from sharpfront.bases.legendre import derivative_matrix, projection
from sharpfront.bases.patch import Patch
from sharpfront.leastsquares.light import Summed
from sharpfront.rows.moments import along_axes
from sharpfront.rows.values import FormValues


def triangle_of(patch: Patch, form: FormValues, scale: float) -> Summed:
    """Return the Legendre weights of a form with constant coefficients over a patch's functions.

    Derivatives of polynomials are polynomials of lower degree, so that no QR is needed: in terms
    of Legendre weights, which have the size that values at Gauss points have, the rows of the
    equation are a triangle.
    """
    terms: dict[tuple[int, ...], float] = {}
    units = [2.0 / m.length for m in patch.maps]
    for term, c in zip(form.terms, form.coefficients, strict=True):
        unit = math.prod(u**k for u, k in zip(units, term.orders, strict=True))
        terms[term.orders] = terms.get(term.orders, 0.0) + scale * unit * float(c[0])
    return Summed(
        np.array([*terms.values()]), *_tabulated(patch.functions, tuple(terms)), patch.size
    )


@lru_cache(maxsize=16)
def _tabulated(
    functions: tuple[int, ...], orders: tuple[tuple[int, ...], ...]
) -> tuple[FloatArray, Ints]:
    """Return each derivative of all products of polynomials as weights of these.

    On a patch with sides of two: the entries that are not zero in all of them, (derivatives, e),
    and their places in the matrices, columns one after the other.
    """
    chosen = products(functions, is_joint(len(functions)))
    every = []
    for own in orders:
        part = np.ones((1, 1))
        for p, k, numbers in zip(functions, own, chosen, strict=True):
            part = part * derivative_matrix(p, k).T[np.ix_(numbers, numbers)]
        every.append(part.ravel())
    places = np.flatnonzero(np.any(every, axis=0))
    return np.stack(every)[:, places], places


def projected_rows(patch: Patch, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return values at Gauss points, times roots of weights, as Legendre weights, and the rest.

    In space they come as moments, which are such weights.
    """
    counts = tuple(p + 1 for p in patch.functions)
    if is_joint(patch.dimension):
        every, held = (
            np.ravel_multi_index(tuple(k), counts) for k in (products(counts, True), patch.products)
        )
        inside = np.isin(every, held)
        return values[inside], values[~inside]
    matrices = [projection(n, p) for n, p in zip(counts, patch.functions, strict=True)]
    block = values.reshape(*counts, -1)
    own = along_axes(block, matrices)
    back = along_axes(own, [m.T for m in matrices])
    return own.reshape(patch.size, -1), (block - back).reshape(values.shape)
