"""All stages of a step as one linear system, about a given solution."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from sharpfront.arrays import FloatArray
from sharpfront.evolve.band import layout_of
from sharpfront.evolve.collocation import Fields
from sharpfront.pieces.radau import diagonal


class StageSystem:
    """M_i s'_i + J_i s_i = -f_i at all stages i, the stages of a coefficient side by side.

    The fields are those at the stages of a step.
    """

    def __init__(self, fields: Fields, dt: float) -> None:
        stages = fields.moments
        discrete, frame = stages.discrete, stages.frame
        self.stages, self.shape = len(fields.coefficients), fields.coefficients.shape[1:]
        self.narrow = stages.layout
        count = discrete.unknowns * self.stages
        left = self.narrow.left * self.stages
        self.wide = layout_of(
            discrete.tables, frame.elements, count, left, frame.ring, full=discrete.full
        )
        inverse = diagonal().inverse / dt
        each = [fields.bands(i) for i in range(self.stages)]
        mass, stiff = (np.stack(own) for own in zip(*each, strict=True))
        self.mass = [self.narrow.matrix(one) for one in mass]
        self.factor = self.wide.factored(self.wide.matrix(self._band(mass, stiff, inverse)))
        # What the coefficients at the beginning give to the rates at each stage.
        self.first = -inverse.sum(axis=1)

    def _band(self, mass: FloatArray, stiff: FloatArray, inverse: FloatArray) -> FloatArray:
        """Return the bands of all pairs of stages, (STAGES, size) flat each, as one."""
        narrow, wide, count = self.narrow, self.wide, self.stages
        band = np.zeros(wide.high * wide.size)
        # By stage of the row and of the column, column and diagonal: a view of the wide band.
        item, diagonals = band.itemsize, narrow.below + narrow.above + 1
        pairs = np.ndarray(
            (count, count, narrow.size, diagonals),
            buffer=band,
            offset=item * (wide.below + wide.above - count * narrow.above),
            strides=(item, item * (wide.high - 1), item * wide.high * count, item * count),
        )
        masses, stiffs = (
            flat.reshape(count, narrow.size, -1)[..., narrow.below :] for flat in (mass, stiff)
        )
        np.multiply(inverse[..., None, None], masses[:, None], out=pairs)
        for i, one in enumerate(stiffs):
            pairs[i, i] += one
        return band

    def right(self, forcing: FloatArray, start: FloatArray) -> FloatArray:
        """Return right-hand sides, (STAGES, size, p).

        For what rows leave of each, (p, STAGES, size), and first states, (n, K, p).
        """
        flat = self.narrow.placed(start.reshape(-1, start.shape[2]).T).T
        carried = self.first[:, None, None] * self._times(flat)
        return np.asarray(-np.moveaxis(self.narrow.placed(forcing), 0, 2) - carried)

    def _times(self, vectors: FloatArray) -> FloatArray:
        """Return the matrix of rates at each stage times vectors (size, p), (STAGES, size, p)."""
        lay = self.narrow
        # The rows that a factor would fill are more diagonals, of zeros.
        above = lay.below + lay.above
        each = [
            [blas.dgbmv(lay.size, lay.size, lay.below, above, 1.0, one, v) for v in vectors.T]
            for one in self.mass
        ]
        return np.moveaxis(np.array(each), 1, 2)

    def solved(self, right: FloatArray) -> FloatArray:
        """Return the coefficients at the stages, (STAGES, n, K, p), for sides (STAGES, size, p)."""
        wide = np.moveaxis(right, 0, 1).reshape(-1, right.shape[2])
        found = self.wide.solved(self.factor, wide).reshape(-1, self.stages, right.shape[2])
        taken = np.moveaxis(found, 0, 2)
        taken = self.narrow.taken(taken)
        return np.asarray(np.moveaxis(taken, 2, 1).reshape(self.stages, *self.shape, -1))
