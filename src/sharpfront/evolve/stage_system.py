"""All stages of a step as one linear system, about a given solution."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.band import Layout, layout_of
from sharpfront.evolve.collocation import Fields
from sharpfront.pieces.frame import Index
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
        flat = [fields.bands(i) for i in range(self.stages)]
        self.mass = [self.narrow.matrix(mass) for mass, _ in flat]
        self.factor = self.wide.factored(self.wide.matrix(self._band(flat, inverse)))
        # What the coefficients at the beginning give to the rates at each stage.
        self.first = -inverse.sum(axis=1)

    def _band(
        self, flat: Sequence[tuple[FloatArray, FloatArray]], inverse: FloatArray
    ) -> FloatArray:
        """Return the bands of all pairs of stages as one."""
        band = np.zeros(self.wide.high * self.wide.size)
        here, there = _places(self.narrow, self.wide, self.stages)
        for i, (mass, stiff) in enumerate(flat):
            every = np.multiply.outer(inverse[i], mass[here])
            every[i] += stiff[here]
            band[there[i]] = every
        return band

    def right(self, forcing: FloatArray, start: FloatArray) -> FloatArray:
        """Return the right-hand side for what rows leave, (STAGES, size), and a first state."""
        flat = self.narrow.placed(start.ravel())
        out = np.empty_like(forcing)
        for i, mass in enumerate(self.mass):
            carried = self.first[i] * self._times(mass, flat)
            out[i] = -self.narrow.placed(forcing[i]) - carried
        return out

    def _times(self, band: Any, vector: FloatArray) -> FloatArray:
        """Return a band matrix times a vector."""
        lay, out = self.narrow, np.zeros(self.narrow.size)
        for k in range(lay.below, lay.high):
            shift = k - lay.below - lay.above
            low, high = max(0, -shift), min(lay.size, lay.size - shift)
            out[low + shift : high + shift] += band[k, low:high] * vector[low:high]
        return out

    def solved(self, right: FloatArray) -> FloatArray:
        """Return the coefficients at the stages, (STAGES, n, K, p), for sides (STAGES, size, p)."""
        wide = np.moveaxis(right, 0, 1).reshape(-1, right.shape[2])
        found = self.wide.solved(self.factor, wide).reshape(-1, self.stages, right.shape[2])
        taken = np.moveaxis(found, 0, 2)
        taken = self.narrow.taken(taken)
        return np.asarray(np.moveaxis(taken, 2, 1).reshape(self.stages, *self.shape, -1))


@lru_cache(maxsize=64)
def _places(narrow: Layout, wide: Layout, stages: int) -> tuple[Index, Index]:
    """Return which numbers of a flat band count, and where those of pairs of stages go, (S, S, n).

    Rows and columns of a coefficient's stages are side by side.
    """
    column, k = np.divmod(np.arange(narrow.high * narrow.size), narrow.high)
    row = k - narrow.below - narrow.above + column
    here = np.flatnonzero((k >= narrow.below) & (row >= 0) & (row < narrow.size))
    i, j = np.arange(stages)[:, None, None], np.arange(stages)[None, :, None]
    rows, columns = row[here] * stages + i, column[here] * stages + j
    there = wide.high * columns + wide.below + wide.above + rows - columns
    return here, there
