"""A run on patches: what holds for all its steps, its state between two, and a step taken."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.radau import interpolation
from sharpfront.evolve.patchwork.cells import Meshing
from sharpfront.evolve.patchwork.stages import PatchDiscrete, PatchFactors
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.swelling import Swelling
from sharpfront.evolve.time_events import Agenda
from sharpfront.place.patches.cuts import Cell


@dataclass(frozen=True, eq=False)
class PatchRunState:
    """A run between two steps.

    Parameters
    ----------
    t
        When.
    cells
        The patches.
    values
        Weights of unknowns and of their rates, (2, K, n).
    dt
        The step to try next.
    scale
        max(1, max|u|) so far, of each unknown, (K,).
    unit
        In what units errors count, (K,): the scale, or less where errors grow later.
    before
        Weights at the beginning and the stages of the last step on these patches, (S + 1, K, n),
        and its length; None at a start.
    tried
        The same of a step from here that was taken on other patches; None where there is none.
    carried
        Whether the unknowns were put on other patches since the last step.
    """

    t: float
    cells: tuple[Cell, ...]
    values: FloatArray
    dt: float
    scale: FloatArray
    unit: FloatArray
    before: tuple[FloatArray, float] | None = None
    tried: tuple[FloatArray, float] | None = None
    carried: bool = False

    @property
    def basis(self) -> PatchworkBasis:
        """The patches."""
        return PatchworkBasis(tuple(c.patch for c in self.cells))


@dataclass(frozen=True, eq=False)
class PatchStep:
    """A step that was taken.

    Parameters
    ----------
    start, stop
        When it began and ended.
    basis
        Its patches.
    values
        Weights at its beginning and stages, (S + 1, K, n).
    after
        The run after it.
    iterations
        Newton's.
    between
        What its polynomials in time leave out, in units of max(1, max|u|).
    """

    start: float
    stop: float
    basis: PatchworkBasis
    values: FloatArray
    after: PatchRunState
    iterations: int
    between: float

    def at(self, t: float) -> FloatArray:
        """Return the weights at a moment of it, (K, n)."""
        share = interpolation(np.array([(t - self.start) / (self.stop - self.start)]))[0]
        return np.tensordot(share, self.values, axes=1)


@dataclass(eq=False)
class PatchRun:
    """What holds for all steps of one run, and the systems of the last one.

    Parameters
    ----------
    system
        What is marched.
    meshing
        How patches are made.
    tol
        Of the steps, relative to max(1, max|u|).
    agenda
        What happens when.
    stride
        Share of a step to be taken where it is not errors that hold it short.
    """

    system: PlaneSystem
    meshing: Meshing
    tol: float
    agenda: Agenda
    stride: float = 1.0
    factors: PatchFactors | None = None
    even: bool = True

    @property
    def span(self) -> tuple[float, float]:
        """Start and stop."""
        span = self.system.problem.time
        assert span is not None
        return span

    @cached_property
    def _swelling(self) -> Swelling:
        return Swelling(self.system.problem)

    def shares(
        self, points: FloatArray, values: FloatArray, sizes: FloatArray, t: float
    ) -> FloatArray:
        """Return by how much less than the scale errors may be from a moment on (`swelling`)."""
        ahead = self.agenda.ahead(t, self.span[1])
        return self._swelling.shares(points, values, sizes, ahead, self.span[1])

    def discrete(self, basis: PatchworkBasis) -> PatchDiscrete:
        """Return the problem on patches; that of the last step if they are the same."""
        last = self.factors
        if last is not None and last.discrete.basis.patches == basis.patches:
            return last.discrete
        return PatchDiscrete(self.system, self.meshing.tiling, basis.patches)
