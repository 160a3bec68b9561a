"""All stages of a step as one linear system, about a given solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.band import layout_of
from sharpfront.evolve.collocation import Moments
from sharpfront.pieces.radau import diagonal


class StageSystem:
    """M_i s'_i + J_i s_i = -f_i at all stages i, the stages of a coefficient side by side.

    Parameters
    ----------
    stages
        The moving mesh at the stages of a step.
    levels, rates
        Coefficients and their rates there, (STAGES, n, K).
    dt
        The length of the step.
    """

    def __init__(self, stages: Moments, levels: FloatArray, rates: FloatArray, dt: float) -> None:
        discrete, frame = stages.discrete, stages.frame
        self.stages, self.shape = len(levels), levels.shape[1:]
        self.narrow = stages.layout
        count = discrete.unknowns * self.stages
        left = self.narrow.left * self.stages
        self.wide = layout_of(
            discrete.tables, frame.elements, count, left, frame.ring, full=discrete.full
        )
        inverse = diagonal().inverse / dt
        self.mass, band = [], self.wide.empty()
        for i in range(self.stages):
            here = Moments(discrete, frame, stages.t[i] - stages.later[i], stages.later[i : i + 1])
            flat = here.tangents(levels[i : i + 1], rates[i : i + 1])
            mass, stiff = (self.narrow.matrix(each) for each in flat)
            self.mass.append(mass)
            for j in range(self.stages):
                block = mass * inverse[i, j] + (stiff if i == j else 0.0)
                self._placed(band, block, i, j)
        # What the coefficients at the beginning give to the rates at each stage.
        self.first = -inverse.sum(axis=1)
        self.factor = self.wide.factored(self.wide.matrix(band))

    def _placed(self, band: FloatArray, block: FloatArray, i: int, j: int) -> None:
        """Put the band of one pair of stages into that of all."""
        lay, wide, s = self.narrow, self.wide, self.stages
        k, column = np.nonzero(block)
        row = k - lay.below - lay.above + column
        rows, columns = row * s + i, column * s + j
        band[wide.high * columns + wide.below + wide.above + rows - columns] = block[k, column]

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
