"""The equations of one step by Radau's method: residuals at its stages, and Newton's changes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import all_nodes, diagonal
from sharpfront.evolve.anderson_mixing import Mixer
from sharpfront.evolve.collocation import Fields, Moments
from sharpfront.evolve.discretisation import Discrete
from sharpfront.evolve.settings import LINE_MARCH
from sharpfront.pieces.frame import Frame


class Factors(NamedTuple):
    """Those of a step: for the real eigenvalue, and for the complex ones one behind the other."""

    real: Any  # None where there is no such eigenvalue
    pairs: Any


class _Room:
    """Arrays of a step, which later steps on meshes of as many elements use again."""

    def __init__(self, moments: Moments, asked: FloatArray, stages: int) -> None:
        frame, self.layout = moments.frame, moments.layout
        self.key = frame.elements, stages
        self.moments = moments
        # What coefficients have changed by since the beginning, and their rates.
        self.since, rates = np.empty((stages, *asked.shape[1:])), np.empty(asked.shape)
        self.flat = self.since.reshape(stages, -1), rates.reshape(len(rates), -1)
        self.fields = Fields(moments, asked, rates)
        self.mixer = Mixer(self.since.shape)
        # Right-hand sides: those of the real eigenvalue, and real and imaginary parts of others.
        radau, size = diagonal(stages), self.layout.size
        self.turned = np.empty((stages, size))
        pairs = stages // 2
        self.right = np.empty(pairs * size, dtype=complex)
        self.parts = self.turned[radau.reals :].reshape(2, pairs * size)
        self.split = self.right.view(float).reshape(-1, 2).T
        # The band of the real eigenvalue, and those of others one behind the other.
        band = self.layout.high * size
        self.real = np.empty(band)
        self.pairs = np.empty((pairs, band), dtype=complex)

    @staticmethod
    def of(
        discrete: Discrete,
        frame: Frame,
        t: float,
        later: FloatArray,
        asked: FloatArray,
        stages: int,
    ) -> _Room:
        """Return the room of equations for a step, with its moments and coefficients."""
        room: _Room | None = discrete.room
        if room is None or room.key != (frame.elements, stages):
            room = discrete.room = _Room(Moments(discrete, frame, t, later), asked, stages)
        else:
            room.moments.aim(frame, t, later)
            room.fields.take(asked)
        return room


class Step:
    """The equations of one step of length dt by Radau IIA, at its beginning and its stages.

    Coefficients at all of them, (stages + 1, n, K), are changed in place. The rates at the
    beginning are those of the embedded formula, so that what the equations leave there is what that
    formula differs by; of an even number of stages there is none, and nothing is asked there. All
    but the coefficients holds until the next step with these equations is made.
    """

    def __init__(
        self, discrete: Discrete, frame: Frame, t: float, dt: float, values: FloatArray
    ) -> None:
        self.discrete, self.frame, self.t, self.dt, self.values = discrete, frame, t, dt, values
        stages = len(values) - 1
        self.radau = diagonal(stages)
        first = 1 - self.radau.reals
        self._nodes = all_nodes(stages)[first:]
        self._room = room = _Room.of(discrete, frame, t, self._nodes * dt, values[first:], stages)
        self.moments, self.fields, self.mixer = room.moments, room.fields, room.mixer
        self.layout = room.layout
        self._shares = self.radau.rates / dt
        self._plain = self.moments.has_plain_ends
        self._large = 1.0  # how much larger conditions are made
        self._advance()

    def _advance(self) -> None:
        """Make the rates of the coefficients."""
        since, rates = self._room.flat
        np.subtract(self.values[1:], self.values[0], out=self._room.since)
        np.matmul(self._shares, since, out=rates)

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
        stage = int(self._nodes.searchsorted(LINE_MARCH.about))
        mass, stiff = self.fields.bands(stage)
        values = self.radau.values / self.dt
        # Conditions are rows of about one: beside far larger ones an elimination forgets them.
        largest = max(1.0, 1.0 / self.dt, float(stiff.max()), -float(stiff.min()))
        self._large = 2.0 ** math.ceil(math.log2(min(largest, 1e300)))
        self.fields.set_ends(mass, stiff, stage, self._large)
        pairs = self._room.pairs
        np.multiply.outer(values[reals:], mass, out=pairs)
        pairs += stiff
        real = None
        if reals:
            np.multiply(values[0].real, mass, out=self._room.real)
            self._room.real += stiff
            real = lay.factored(lay.matrix(self._room.real))
        return Factors(real, lay.factored(lay.matrix(pairs)))

    def weigh(self, right: FloatArray) -> None:
        """Make conditions of right-hand sides (..., size) as large as in the factors."""
        for end in self.moments.ends:
            right[..., end.rows] *= self._large

    def change(
        self, factors: Factors, residual: FloatArray, out: FloatArray, *, first: bool
    ) -> None:
        """Write the change of all stages that Newton's method makes, (stages, size)."""
        lay, radau, room, turned = self.layout, self.radau, self._room, self._room.turned
        np.matmul(radau.into, lay.placed(residual), out=turned)
        if first or not self._plain:
            self.weigh(turned)
        np.copyto(room.split, room.parts)
        lay.solved(factors.pairs, room.right)
        if radau.reals:
            lay.solved(factors.real, turned[0])
        np.copyto(room.parts, room.split)
        if lay.order is None:
            np.matmul(radau.back, turned, out=out)
        else:
            out[:] = lay.taken(radau.back @ turned)
