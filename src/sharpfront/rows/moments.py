"""Rows of forms on patches and their sides: at Gauss points, or in space as moments.

In space there are six times as many products of Gauss points as polynomials up to a joint degree,
of which residuals are made. There rows are the moments of the residual with these, which have the
same sum of squares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.joint import Ints, is_joint, products
from sharpfront.bases.legendre import gauss, gauss_table
from sharpfront.bases.patch import product_matrix
from sharpfront.rows.sides import form_matrix
from sharpfront.rows.values import FormValues

# Coefficients that vary by less than this share are constant.
CONSTANT_TO = 1e-14


def weighed_rows(
    form: FormValues,
    scale: FloatArray,
    weights: FloatArray,
    tables: Sequence[FloatArray],
    unknowns: Sequence[str],
) -> FloatArray:
    """Return a form as rows whose sum of squares is the mean of its square.

    The form is given at product Gauss points, of which there is one along the normal of a side,
    with a factor and a weight of each. Tables are, of each axis, the derivatives of its functions
    at the points, (order + 1, n, functions).
    """
    if not is_joint(len(tables)):
        return form_matrix(form, scale * np.sqrt(weights), tables, unknowns)
    if not all(_is_constant(scale * c) for c in form.coefficients):
        # Summed axis by axis every term would be as much work as this one product is for all.
        return _all_means(tuple(t.shape[1] for t in tables)) @ form_matrix(
            form, scale, tables, unknowns
        )
    rows, columns = products(tuple(t.shape[1] for t in tables), True), _columns(tables)
    parts = []
    for unknown in unknowns:
        part = np.zeros((rows.shape[1], columns.shape[1]))
        for term, c in zip(form.terms, form.coefficients, strict=True):
            if term.unknown == unknown:
                own = [t[k] for t, k in zip(tables, term.orders, strict=True)]
                part += _moments(float(np.ravel(scale * c)[0]), own, rows, columns)
        parts.append(part)
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _is_constant(values: FloatArray) -> bool:
    return bool(np.ptp(values) <= CONSTANT_TO * np.abs(values).max(initial=0.0))


@lru_cache(maxsize=64)
def _all_means(counts: tuple[int, ...]) -> FloatArray:
    """Return what takes values at product Gauss points to means up to a joint degree."""
    return np.ascontiguousarray(product_matrix([means(n).T for n in counts]).T)


def weighed_source(values: FloatArray, weights: FloatArray, counts: tuple[int, ...]) -> FloatArray:
    """Return values at product Gauss points, so many along each axis, in the same rows.

    Values are (m,), or (m, k) of several.
    """
    if not is_joint(len(counts)):
        return np.asarray((values.T * np.sqrt(weights)).T)
    return np.asarray(projected(values, counts)[tuple(products(counts, True))])


def _columns(tables: Sequence[FloatArray]) -> Ints:
    return products(tuple(t.shape[2] for t in tables), is_joint(len(tables)))


@lru_cache(maxsize=256)
def means(count: int) -> FloatArray:
    """Return what takes values at Gauss points to means with their Legendre polynomials."""
    return np.asarray((gauss_table(count, count, 0)[0] * gauss(count)[1][:, None]).T)


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


def _moments(value: float, tables: Sequence[FloatArray], rows: Ints, columns: Ints) -> FloatArray:
    """Return means with polynomials of a number times functions, (rows, columns).

    Tables are the functions of each axis at its Gauss points, (n_a, p_a); rows and columns say
    which polynomials and functions of each axis are wanted, (d, ...) each.
    """
    out = np.full((1, 1), value)
    for table, r, c in zip(tables, rows, columns, strict=True):
        out = out * (means(len(table)) @ table)[np.ix_(r, c)]
    return out
