"""Rows of forms on patches and their sides: at Gauss points, or in space as moments.

In space there are six times as many products of Gauss points as polynomials up to a joint degree,
of which residuals are made. There rows are the moments of the residual with these, which have the
same sum of squares. Rows with constant coefficients need no QR.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.axis_functions import means_of
from sharpfront.bases.legendre import derivative_matrix, projection
from sharpfront.bases.patch import Patch, product_matrix
from sharpfront.bases.total_degree import is_joint, products
from sharpfront.leastsquares.leaf_rows import Summed
from sharpfront.rounding import CANCELLED
from sharpfront.rows.form_values import FormValues
from sharpfront.rows.side_quadrature import form_matrix

# Of each axis, how many functions residuals are weighed with, and what they decay by (`AxisMap`).
Tests = tuple[tuple[int, float], ...]


def weighed_rows(
    form: FormValues,
    scale: FloatArray,
    weights: FloatArray,
    tables: Sequence[FloatArray],
    unknowns: Sequence[str],
    tests: Tests | None = None,
) -> FloatArray:
    """Return a form as rows whose sum of squares is the mean of its square.

    The form is given at product Gauss points, of which there is one along the normal of a side,
    with a factor and a weight of each. Tables are, of each axis, the derivatives of its functions
    at the points, (order + 1, n, functions). In space moments are taken with as many polynomials
    along each axis as there are points, or with the tests.
    """
    if not is_joint(len(tables)):
        return form_matrix(form, scale * np.sqrt(weights), tables, unknowns)
    counts = tuple(t.shape[1] for t in tables)
    tests = tests or plain_tests(counts)
    scaled = [np.asarray(scale * c) for c in form.coefficients]
    if any(np.ptp(v) > CANCELLED * np.abs(v).max(initial=0.0) for v in scaled):
        # Summed axis by axis every term would be as much work as this one product is for all.
        return all_means(counts, tests) @ form_matrix(form, scale, tables, unknowns)
    rows = products(tuple(n for n, _ in tests), True)
    columns = products(tuple(t.shape[2] for t in tables), True)
    tested = [means_of(n, *test) for n, test in zip(counts, tests, strict=True)]
    out = np.zeros((rows.shape[1], len(unknowns), columns.shape[1]))
    for term, c in zip(form.terms, form.coefficients, strict=True):
        if term.unknown in unknowns:
            part = np.full((1, 1), float(np.ravel(scale * c)[0]))
            for mean, table, k, r, p in zip(
                tested, tables, term.orders, rows, columns, strict=True
            ):
                part = part * (mean @ table[k])[np.ix_(r, p)]
            out[:, unknowns.index(term.unknown)] += part
    return out.reshape(len(out), -1)


def plain_tests(counts: tuple[int, ...]) -> Tests:
    """Return as many polynomials along each axis as there are points."""
    return tuple((n, 0.0) for n in counts)


@lru_cache(maxsize=64)
def all_means(counts: tuple[int, ...], tests: Tests) -> FloatArray:
    """Return what takes values at product Gauss points to means up to a joint degree, (k, m)."""
    tables = [means_of(n, *test).T for n, test in zip(counts, tests, strict=True)]
    return np.ascontiguousarray(product_matrix(tables).T)


def weighed_source(
    values: FloatArray,
    weights: FloatArray,
    counts: tuple[int, ...],
    tests: Tests | None = None,
) -> FloatArray:
    """Return values at product Gauss points, so many along each axis, in the same rows.

    Values are (m,), or (m, k) of several.
    """
    if not is_joint(len(counts)):
        return np.asarray((values.T * np.sqrt(weights)).T)
    tests = tests or plain_tests(counts)
    block = values.reshape(*counts, *values.shape[1:])
    found = along_axes(block, [means_of(n, *own) for n, own in zip(counts, tests, strict=True)])
    return np.asarray(found[tuple(products(tuple(n for n, _ in tests), True))])


def means(count: int) -> FloatArray:
    """Return what takes values at Gauss points to means with their Legendre polynomials."""
    return means_of(count, count, 0.0)


def projected(values: FloatArray, counts: tuple[int, ...]) -> FloatArray:
    """Return the means of values at product Gauss points with all products of polynomials."""
    block = values.reshape(*counts, *values.shape[1:])
    return along_axes(block, [means(n) for n in counts])


def along_axes(block: FloatArray, matrices: Sequence[FloatArray]) -> FloatArray:
    """Return an array multiplied by a matrix along each of its first axes."""
    for axis, matrix in enumerate(matrices):
        before, after = block.shape[:axis], block.shape[axis + 1 :]
        three = block.reshape(math.prod(before), block.shape[axis], -1)
        block = (matrix @ three).reshape(*before, len(matrix), *after)
    return block


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
