"""Factors of the systems of a step, of which there are as many as eigenvalues of Radau's matrix."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.band import Condensation, condensation
from sharpfront.evolve.collocation import Fields
from sharpfront.pieces.loops import loops
from sharpfront.pieces.radau import diagonal


class Factors(Protocol):
    """The factors of a step: for the real eigenvalue and for the complex ones."""

    def change(self, residual: FloatArray, out: FloatArray) -> None:
        """Write the change of all stages, (STAGES, size), for what is left at all moments."""

    def implicit(self, right: FloatArray) -> FloatArray:
        """Return what the real system makes of right-hand sides, (n, size)."""


def factors_of(fields: Fields, dt: float) -> Factors:
    """Return the factors of a step of length dt, about its middle stage."""
    stage = len(fields.coefficients) // 2
    return (loops() and condensed(fields, stage, dt)) or Band(fields, stage, dt)


class Band:
    """Factors of bands, by LAPACK: those of complex eigenvalues are one behind the other."""

    def __init__(self, fields: Fields, stage: int, dt: float) -> None:
        self.layout = lay = fields.moments.layout
        mass, stiff = fields.bands(stage)
        values = diagonal().values / dt
        pairs = np.multiply.outer(values[1:], mass)
        pairs += stiff
        # What the pairs need no longer is written over.
        mass *= values[0].real
        mass += stiff
        self.real, self.pairs = lay.factored(lay.matrix(mass)), lay.factored(lay.matrix(pairs))
        self._turned = np.empty((len(diagonal().into), lay.size))
        self._right = np.empty((len(values) - 1, lay.size), dtype=complex)

    def change(self, residual: FloatArray, out: FloatArray) -> None:
        """Write the change of all stages, (STAGES, size), for what is left at all moments."""
        lay, radau, turned, right = self.layout, diagonal(), self._turned, self._right
        np.matmul(radau.into, lay.placed(residual[1:]), out=turned)
        pairs = len(right)
        right.real, right.imag = turned[1 : 1 + pairs], turned[1 + pairs :]
        lay.solved(self.pairs, right.reshape(-1))
        lay.solved(self.real, turned[0])
        turned[1 : 1 + pairs], turned[1 + pairs :] = right.real, right.imag
        if lay.order is None:
            np.matmul(radau.back, turned, out=out)
        else:
            out[:] = lay.taken(radau.back @ turned)

    def implicit(self, right: FloatArray) -> FloatArray:
        """Return what the real system makes of right-hand sides, (n, size)."""
        lay = self.layout
        return lay.taken(lay.solved(self.real, lay.placed(right).T).T)


class Condensed:
    """Factors by element and of what couples nodes, by compiled loops."""

    def __init__(self, shape: Condensation, begins: int, real: Any, pairs: Any) -> None:
        self.shape, self.begins, self.real, self.pairs = shape, begins, real, pairs

    def change(self, residual: FloatArray, out: FloatArray) -> None:
        """Write the change of all stages, (STAGES, size), for what is left at all moments."""
        radau = diagonal()
        loops().changed(
            residual, radau.into, radau.back, self.real, self.pairs, *self.shape, self.begins, out
        )

    def implicit(self, right: FloatArray) -> FloatArray:
        """Return what the real system makes of right-hand sides, (n, size)."""
        out = np.empty_like(right)
        loops().implicit(self.real, *self.shape, self.begins, right, out)
        return out


def condensed(fields: Fields, stage: int, dt: float) -> Condensed | None:
    """Return factors by element; None where bubbles of one are singular by themselves."""
    moments = fields.moments
    discrete, frame, lay = moments.discrete, moments.frame, moments.layout
    which = slice(stage, stage + 1)
    ends = {e.side: t[:, 0] for e, t in zip(moments.ends, fields.end_tangents(which), strict=True)}
    none = np.zeros((2, 0, *lay.shape[3:]))
    shape, values = condensation(discrete.tables.order, lay), diagonal().values / dt
    done, real, pairs = loops().factored(
        fields.tangents(which),
        discrete.equations.table,
        moments.over,
        frame.positions[1],
        moments.stretch,
        moments.scales,
        discrete.tables.across(discrete.levels),
        discrete.mixed,
        stage,
        ends.get(0, none),
        ends.get(1, none),
        values[:1].real.copy(),
        values[1:],
        *shape,
    )
    return Condensed(shape, lay.left, real, pairs) if done else None
