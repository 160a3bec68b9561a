"""The equations of one step by Radau's method: residuals at its stages, and Newton's changes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import all_nodes, diagonal
from sharpfront.evolve.collocation import Fields, Moments
from sharpfront.evolve.discretisation import Discrete
from sharpfront.pieces.frame import Frame

# Matrices are those of the first stage from this share of a step on. What is stiff contracts as a
# stage's own matrix differs from that one, and those of late stages differ most from the middle's
# where elements become shorter: of 24 drawn problems the middle one took 1.14 times the iterations
# for 1e-3 and 1.12 times for 1e-6.
ABOUT = 0.75


class Factors(NamedTuple):
    """Those of a step: for the real eigenvalue, and for the complex ones one behind the other."""

    real: Any  # None where there is no such eigenvalue
    pairs: Any


class Step:
    """The equations of one step of length dt by Radau IIA, at its beginning and its stages.

    Coefficients at all of them, (stages + 1, n, K), are changed in place. The rates at the
    beginning are those of the embedded formula, so that what the equations leave there is what that
    formula differs by; of an even number of stages there is none, and nothing is asked there.
    """

    def __init__(
        self, discrete: Discrete, frame: Frame, t: float, dt: float, values: FloatArray
    ) -> None:
        self.discrete, self.frame, self.t, self.dt, self.values = discrete, frame, t, dt, values
        self.radau = diagonal(len(values) - 1)
        self.asked = values[1 - self.radau.reals :]
        self._nodes = all_nodes(len(values) - 1)[1 - self.radau.reals :]
        self.moments = Moments(discrete, frame, t, self._nodes * dt)
        self._shares = self.radau.rates / dt
        self._since = np.empty_like(values[1:])
        rates = np.empty_like(self.asked)
        self._flat = self._since.reshape(len(self._since), -1), rates.reshape(len(rates), -1)
        self._advance()
        self.fields = Fields(self.moments, self.asked, rates)
        self.layout = self.moments.layout
        self._plain = self.moments.has_plain_ends
        self._large = 1.0  # how much larger conditions are made
        # Right-hand sides: those of the real eigenvalue, and real and imaginary parts of others.
        self._turned = np.empty((len(values) - 1, self.layout.size))
        self._right = np.empty((len(self._turned) // 2, self.layout.size), dtype=complex)
        first, pairs = self.radau.reals, len(self._right)
        parts = self._turned[first:].reshape(2, pairs, -1)
        self._parts = (parts[0], self._right.real), (parts[1], self._right.imag)

    def _advance(self) -> None:
        """Make the rates of the coefficients."""
        np.subtract(self.values[1:], self.values[0], out=self._since)
        np.matmul(self._shares, self._flat[0], out=self._flat[1])

    @property
    def kept(self) -> tuple[Frame, FloatArray, float]:
        """Its mesh, coefficients at its beginning and stages, and its length."""
        return self.frame, self.values, self.dt

    def residual(self, first: bool) -> FloatArray:
        """Return what equations and conditions leave, (moments, size).

        After the first of Newton's changes conditions hold that are linear and the same at all
        stages.
        """
        if not first:
            self._advance()
            self.fields.stale = True
        return self.fields.residual(ends=first or not self._plain)

    def factored(self) -> Factors:
        """Return the factors for the eigenvalues of Radau's matrix, about one of the stages."""
        lay, reals = self.layout, self.radau.reals
        stage = int(self._nodes.searchsorted(ABOUT))
        mass, stiff = self.fields.bands(stage)
        values = self.radau.values / self.dt
        # Conditions are rows of about one: beside far larger ones an elimination forgets them.
        largest = max(1.0, 1.0 / self.dt, float(stiff.max()), -float(stiff.min()))
        self._large = 2.0 ** math.ceil(math.log2(min(largest, 1e300)))
        self.fields.set_ends(mass, stiff, stage, self._large)
        pairs = np.multiply.outer(values[reals:], mass)
        pairs += stiff
        real = None
        if reals:
            # What the pairs need no longer is written over.
            mass *= values[0].real
            mass += stiff
            real = lay.factored(lay.matrix(mass))
        return Factors(real, lay.factored(lay.matrix(pairs)))

    def weigh(self, right: FloatArray) -> None:
        """Make conditions of right-hand sides (..., size) as large as in the factors."""
        for end in self.moments.ends:
            right[..., end.rows] *= self._large

    def change(
        self, factors: Factors, residual: FloatArray, out: FloatArray, *, first: bool
    ) -> None:
        """Write the change of all stages that Newton's method makes, (stages, size)."""
        lay, radau, turned = self.layout, self.radau, self._turned
        np.matmul(radau.into, lay.placed(residual), out=turned)
        if first or not self._plain:
            self.weigh(turned)
        for part, own in self._parts:
            np.copyto(own, part)
        lay.solved(factors.pairs, self._right.reshape(-1))
        if radau.reals:
            lay.solved(factors.real, turned[0])
        for part, own in self._parts:
            np.copyto(part, own)
        if lay.order is None:
            np.matmul(radau.back, turned, out=out)
        else:
            out[:] = lay.taken(radau.back @ turned)
