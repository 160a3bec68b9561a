"""The equations of one step by Radau's method: residuals at its stages, and Newton's changes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.band import Layout
from sharpfront.evolve.collocation import Fields, Moments
from sharpfront.evolve.discrete import Discrete
from sharpfront.pieces.frame import Frame
from sharpfront.pieces.radau import all_nodes, diagonal


class Factors(NamedTuple):
    """Those of a step: for the real eigenvalue, and for the complex ones one behind the other."""

    real: Any
    pairs: Any


class Step:
    """The equations of one step of length dt by Radau IIA."""

    def __init__(self, discrete: Discrete, frame: Frame, t: float, dt: float) -> None:
        self.discrete, self.frame, self.t, self.dt = discrete, frame, t, dt
        self.all = Moments(discrete, frame, t, all_nodes() * dt)
        for side in (0, 1) if not frame.ring else ():
            self.all.fixed(side)
        self.stages = self.all.part(slice(1, None))

    @property
    def layout(self) -> Layout:
        """The band."""
        return self.stages.layout

    @property
    def start(self) -> Moments:
        """The mesh at the beginning."""
        return self.all.part(slice(0, 1))

    def factored(self, levels: FloatArray, rates: FloatArray, fields: Fields) -> Factors:
        """Return the factors for the eigenvalues of Radau's matrix, about the middle stage."""
        middle, lay = len(levels) // 2, self.layout
        here = slice(middle, middle + 1)
        mass, stiff = self.stages.part(here).tangents(levels[here], rates[here], fields.at(middle))
        real, *pairs = diagonal().values / self.dt
        every = np.empty((len(pairs), len(mass)), dtype=complex)
        for own, value in zip(every, pairs, strict=True):
            own.real = mass * value.real + stiff
            own.imag = mass * value.imag
        return Factors(
            lay.factored(lay.matrix(mass * real.real + stiff)), lay.factored(lay.matrix(every))
        )

    def change(self, factors: Factors, residual: FloatArray) -> FloatArray:
        """Return the change of all stages that Newton's method makes, (STAGES, size)."""
        lay, radau = self.layout, diagonal()
        turned = radau.into @ lay.placed(residual)
        pairs = len(turned) // 2
        right = np.empty((pairs, lay.size), dtype=complex)
        right.real, right.imag = turned[1 : 1 + pairs], turned[1 + pairs :]
        w = lay.solved(factors.pairs, right.ravel()).reshape(right.shape)
        turned[0] = lay.solved(factors.real, turned[0])
        turned[1 : 1 + pairs], turned[1 + pairs :] = w.real, w.imag
        return lay.taken(radau.back @ turned)
