"""Where the rows and columns of a step's equations lie in a band."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg import lapack

from sharpfront.arrays import FloatArray, remembered
from sharpfront.pieces.elements import Reference
from sharpfront.pieces.frame import Index, numbering


class Layout:
    """The numbering of a band matrix.

    Rows are those of the left end, then of each element by Gauss point and equation, then of the
    right end; columns are the coefficients by number, all unknowns of one after another. On a ring
    elements are taken from both sides in turn, so that the first and the last are neighbours too.
    In full, rows of an end hold all functions of its element, not only those that are or have a
    derivative below the order there.
    """

    def __init__(
        self, tables: Reference, elements: int, unknowns: int, left: int, ring: bool, full: bool
    ) -> None:
        self.elements, self.left = elements, left
        block = tables.points * unknowns
        e = np.arange(elements)
        at = np.minimum(2 * e, 2 * (elements - 1 - e) + 1) if ring else e
        self.size = elements * block + (0 if ring else tables.order) * unknowns
        within = numbering(elements, tables, ring)
        columns = (within[..., None] * unknowns + np.arange(unknowns)).reshape(elements, -1)
        self.columns = at[columns // block] * block + columns % block if ring else columns
        rows = left + at[:, None] * block + np.arange(block)
        apart = rows[:, :, None] - self.columns[:, None]
        self.below, self.above = int(apart.max()), int(-apart.min())
        if full:
            self.below = self.above = tables.size * unknowns - 1
        self.order = (at[:, None] * block + np.arange(block)).ravel() if ring else None
        self.high = 2 * self.below + self.above + 1
        self.shape = (tables.points, elements, unknowns, tables.size, unknowns)
        # Flat positions of blocks on a ring; elsewhere they are a view of the band.
        self._scatter: Index | None = None
        if ring:
            flat = self.high * self.columns[:, None] + self.below + self.above + apart
            flat = flat.reshape(elements, tables.points, unknowns, -1)
            self._scatter = flat.transpose(1, 0, 2, 3).ravel()

    @remembered()
    def of_end(self, side: int, count: int) -> Index:
        """Return the flat positions of all rows of an end, (rows * size * K,)."""
        rows = range(count) if side == 0 else range(self.size - count, self.size)
        return self.at_end(rows, -side).ravel()

    def blocks(self, bands: FloatArray) -> FloatArray:
        """Return room for the blocks of flat bands (n, size): (n, q, N, K, size, K).

        By Gauss point, element, equation, function and unknown. It is a view of the bands, for rows
        of all elements go on evenly, but not on a ring: there blocks are put by `settle`.
        """
        if self._scatter is not None:
            return np.zeros((len(bands), *self.shape))
        q, _, k, _, _ = self.shape
        item, right = bands.itemsize, bands.itemsize * (self.high - 1)
        return np.ndarray(
            (len(bands), *self.shape),
            bands.dtype,
            buffer=bands,
            offset=item * (self.below + self.above + self.left),
            strides=(bands.strides[0], item * k, item * self.high * q * k, item, right * k, right),
        )

    def settle(self, blocks: FloatArray, bands: FloatArray) -> None:
        """Put blocks into the flat bands, if they are not there."""
        if self._scatter is not None:
            bands[:, self._scatter] = blocks.reshape(len(bands), -1)

    def matrix(self, flat: FloatArray) -> FloatArray:
        """Return a flat band as LAPACK wants it; several, (n, size), one behind the other."""
        return flat.reshape(-1, self.high).T

    def at_end(self, rows: Sequence[int], element: int) -> Index:
        """Return the flat positions of rows at an end in the columns of an element."""
        columns = self.columns[element]
        found = self.high * columns + self.below + self.above + np.asarray(rows)[:, None] - columns
        return np.asarray(found)

    def placed(self, vectors: FloatArray) -> FloatArray:
        """Return vectors in the order of the band, by their last axis."""
        if self.order is None:
            return vectors
        out = np.empty_like(vectors)
        out[..., self.order] = vectors
        return out

    def taken(self, vectors: FloatArray) -> FloatArray:
        """Return vectors in the order of the band in that of the coefficients."""
        return vectors if self.order is None else vectors[..., self.order]

    def factored(self, matrix: Any) -> tuple[Any, Any]:
        """Return the factor of a band matrix, real or complex, in its place."""
        factor = lapack.dgbtrf if matrix.dtype == np.float64 else lapack.zgbtrf
        lu, pivots, info = factor(matrix, self.below, self.above, overwrite_ab=True)
        if info:
            raise np.linalg.LinAlgError("The matrix of a step is singular.")
        return lu, pivots

    def solved(self, factor: tuple[Any, Any], right: Any) -> Any:
        """Return the solution for right-hand sides (size,) or (size, n), in their place."""
        lu, pivots = factor
        back = lapack.dgbtrs if lu.dtype == np.float64 else lapack.zgbtrs
        return back(lu, self.below, self.above, right, pivots, overwrite_b=True)[0]


@lru_cache(maxsize=256)
def layout_of(
    tables: Reference, elements: int, unknowns: int, left: int, ring: bool, full: bool
) -> Layout:
    """Return a layout, made once."""
    return Layout(tables, elements, unknowns, left, ring, full)
