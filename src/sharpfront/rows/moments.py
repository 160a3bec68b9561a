"""Rows of forms on patches and their sides: at Gauss points, or in space as moments.

In space there are six times as many products of Gauss points as polynomials up to a joint degree,
of which residuals are made. There rows are the moments of the residual with these, which have the
same sum of squares, and they are summed axis by axis.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.joint import Ints, is_joint, products
from sharpfront.bases.legendre import gauss, gauss_table
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
    rows, columns = products(tuple(t.shape[1] for t in tables), True), _columns(tables)
    parts = []
    for unknown in unknowns:
        part = np.zeros((rows.shape[1], columns.shape[1]))
        for term, c in zip(form.terms, form.coefficients, strict=True):
            if term.unknown == unknown:
                own = [t[k] for t, k in zip(tables, term.orders, strict=True)]
                part += _moments(scale * c, own, rows, columns)
        parts.append(part)
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def weighed_source(values: FloatArray, weights: FloatArray, counts: tuple[int, ...]) -> FloatArray:
    """Return values at product Gauss points, so many along each axis, in the same rows."""
    if not is_joint(len(counts)):
        return np.asarray(values * np.sqrt(weights))
    return np.asarray(projected(values, counts)[tuple(products(counts, True))])


def _columns(tables: Sequence[FloatArray]) -> Ints:
    return products(tuple(t.shape[2] for t in tables), is_joint(len(tables)))


def means(count: int) -> FloatArray:
    """Return what takes values at Gauss points to means with their Legendre polynomials."""
    return np.asarray((gauss_table(count, count, 0)[0] * gauss(count)[1][:, None]).T)


def projected(values: FloatArray, counts: tuple[int, ...]) -> FloatArray:
    """Return the means of values at product Gauss points with all products of polynomials."""
    block = values.reshape(counts)
    for axis, n in enumerate(counts):
        block = np.moveaxis(np.tensordot(means(n), block, axes=(1, axis)), 0, axis)
    return block


def _moments(
    values: FloatArray, tables: Sequence[FloatArray], rows: Ints, columns: Ints
) -> FloatArray:
    """Return means with polynomials of values times functions, (rows, columns).

    Values are those of a coefficient at product Gauss points, tables the functions of each axis at
    its points, (n_a, p_a); rows and columns say which polynomials and functions of each axis are
    wanted, (d, ...) each.
    """
    every = [means(len(t)) for t in tables]
    if np.ptp(values) <= CONSTANT_TO * np.abs(values).max(initial=0.0):
        out = np.full((1, 1), values.flat[0])
        for mean, table, r, c in zip(every, tables, rows, columns, strict=True):
            out = out * (mean @ table)[np.ix_(r, c)]
        return out
    return _summed(values.reshape([len(t) for t in tables]), every, tables, rows, columns)


def _summed(
    values: FloatArray,
    every: Sequence[FloatArray],
    tables: Sequence[FloatArray],
    rows: Ints,
    columns: Ints,
) -> FloatArray:
    """Return the same for a coefficient that varies, the last axis summed first."""
    part = values[..., None, None]
    for mean, table in zip(every[:0:-1], tables[:0:-1], strict=True):
        # (..., n, R, C) to (..., r R, c C)
        both = np.einsum("rn,nc->nrc", mean, table)
        part = np.einsum("nrc,...nRC->...rRcC", both, part, optimize=True)
        *front, r, big_r, c, big_c = part.shape
        part = part.reshape(*front, r * big_r, c * big_c)
    at = [
        np.ravel_multi_index(tuple(k[1:]), [x.shape[side] for x in group[1:]])
        for k, group, side in ((rows, every, 0), (columns, tables, 1))
    ]
    out = np.empty((rows.shape[1], columns.shape[1]))
    for first in range(len(every[0])):
        here = np.flatnonzero(rows[0] == first)
        own = (every[0][first][:, None] * tables[0]).T
        block = np.tensordot(own, part[:, at[0][here]], axes=(1, 0))
        out[here] = block[columns[0], :, at[1]].T
    return out
