"""All stages of a step as one linear system, about a given solution."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import diagonal
from sharpfront.evolve.band_layout import layout_of
from sharpfront.evolve.collocation import Fields


class StageSystem:
    """M_i s'_i + J_i s_i = -f_i at all stages i, the stages of a coefficient side by side.

    The fields are those at the stages of a step. Blocks of an element have the rows of a column
    side by side, as the band has them.
    """

    def __init__(self, fields: Fields, dt: float) -> None:
        self.moments = fields.moments
        discrete, frame = self.moments.discrete, self.moments.frame
        self.stages, self.shape = len(fields.coefficients), fields.coefficients.shape[1:]
        self.narrow = self.moments.layout
        count = discrete.unknowns * self.stages
        left = self.narrow.left * self.stages
        self.wide = layout_of(
            discrete.tables, frame.elements, count, left, frame.ring, full=discrete.full
        )
        points, elements, k, size, _ = self.narrow.shape
        # By function and unknown; Gauss point, equation and stage.
        self.inner = np.zeros((2, elements, size, k, points, k, self.stages))
        fields.fill(self.inner.transpose(0, 4, 6, 1, 5, 2, 3), slice(None))
        self.outer = fields.end_tangents(slice(None))
        inverse = diagonal(self.stages).inverse / dt
        self.factor = self.wide.factored(self.wide.matrix(self._band(inverse)))
        # What the coefficients at the beginning give to the rates at each stage.
        self.first = -inverse.sum(axis=1)

    def _band(self, inverse: FloatArray) -> FloatArray:
        """Return all pairs of stages as one flat band."""
        wide, s = self.wide, self.stages
        band = np.zeros((1, wide.high * wide.size))
        blocks = wide.blocks(band)
        points, elements, k, size, _ = self.narrow.shape
        split = blocks.reshape(points, elements, k, s, size, k, s)
        # As the blocks are, with the stage of the column before the rows.
        pairs = split.transpose(1, 4, 5, 6, 0, 2, 3)
        masses, stiffs = self.inner
        # One factor for each row, so that all rows of a column are one loop.
        each = np.ascontiguousarray(np.broadcast_to(inverse.T[:, None, None], (s, points, k, s)))
        np.multiply(masses[:, :, :, None], each, out=pairs)
        np.einsum("...jqrj->...qrj", pairs)[:] += stiffs
        wide.settle(blocks, band)
        for end, (mass, stiff) in zip(self.moments.ends, self.outer, strict=True):
            own = np.einsum("ij,irlk->rilkj", inverse, mass)
            np.einsum("rilki->irlk", own)[:] += stiff
            band[0, wide.of_end(end.side, len(own) * s)] = own.ravel()
        return np.asarray(band[0])

    def right(self, forcing: FloatArray, start: FloatArray) -> FloatArray:
        """Return right-hand sides, (size, stages, p).

        For what rows leave of each, (p, stages, size), and first states, (n, K, p).
        """
        total = self._times(start)
        total *= self.first[:, None]
        total += forcing.T
        np.negative(total, out=total)
        return np.moveaxis(self.narrow.placed(np.moveaxis(total, 0, 2)), 2, 0)

    def _times(self, start: FloatArray) -> FloatArray:
        """Return the matrix of rates at each stage times states (n, K, p), (size, stages, p)."""
        frame, p = self.moments.frame, start.shape[2]
        own = start[frame.numbers].reshape(frame.elements, -1, p)
        masses = self.inner[0].reshape(*own.shape[:2], -1)
        inside = (masses.transpose(0, 2, 1) @ own).reshape(-1, self.stages, p)
        out = np.empty((self.narrow.size, self.stages, p))
        first = self.narrow.left
        out[first : first + len(inside)] = inside
        for end, (mass, _) in zip(self.moments.ends, self.outer, strict=True):
            found = mass.reshape(*mass.shape[:2], -1) @ own[-end.side]
            out[end.rows] = found.transpose(1, 0, 2)
        return out

    def solved(self, right: FloatArray) -> FloatArray:
        """Return the coefficients at the stages, (stages, n, K, p), for sides (size, stages, p)."""
        wide = right.reshape(-1, right.shape[2])
        found = self.wide.solved(self.factor, wide).reshape(right.shape)
        taken = np.moveaxis(self.narrow.taken(np.moveaxis(found, 0, 2)), 2, 1)
        return np.asarray(taken.reshape(self.stages, *self.shape, -1))
