"""The equations of one step by Radau's method: residuals at its stages, and Newton's changes."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.band import Layout
from sharpfront.evolve.collocation import Fields, Moments
from sharpfront.evolve.discrete import Discrete
from sharpfront.evolve.factors import Factors, factors_of
from sharpfront.pieces.frame import Frame
from sharpfront.pieces.radau import all_nodes, diagonal


class Step:
    """The equations of one step of length dt by Radau IIA, at its beginning and its stages.

    Coefficients at all of them, (STAGES + 1, n, K), are changed in place. The rates at the
    beginning are those of the embedded formula, so that what the equations leave there is what that
    formula differs by.
    """

    def __init__(
        self, discrete: Discrete, frame: Frame, t: float, dt: float, values: FloatArray
    ) -> None:
        self.discrete, self.frame, self.t, self.dt, self.values = discrete, frame, t, dt, values
        self.moments = Moments(discrete, frame, t, all_nodes() * dt)
        self._shares = diagonal().rates / dt
        self.fields = Fields(self.moments, values, np.empty_like(values))

    @property
    def layout(self) -> Layout:
        """The band."""
        return self.moments.layout

    def residual(self, first: bool) -> FloatArray:
        """Return what equations and conditions leave, (STAGES + 1, size).

        After the first of Newton's changes conditions hold that are linear and the same at all
        stages.
        """
        self.fields.update(self._shares)
        return self.fields.residual(ends=first or not self.moments.has_plain_ends)

    def factored(self) -> Factors:
        """Return the factors for the eigenvalues of Radau's matrix, about the middle stage."""
        return factors_of(self.fields, self.dt)
