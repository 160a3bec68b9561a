"""Newton's method for the stages of a step on patches, with systems that are kept while they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.radau import STAGES, stage_nodes
from sharpfront.errors import EquationError
from sharpfront.evolve.patchwork.factors import PatchFactors, with_rates
from sharpfront.evolve.patchwork.jumping_values import JumpingValues
from sharpfront.evolve.patchwork.row_points import MovingFrame
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.evolve.patchwork.stages import PatchDiscrete
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.patchwork.tangents import LinearisationState
from sharpfront.place.tiling.blocks import Tiling


class StageStart(NamedTuple):
    """A step before it is solved."""

    t: float
    dt: float
    basis: PatchworkBasis
    frame: MovingFrame | None  # how patches go along; None where they stay
    values: FloatArray  # unknowns and rates at its beginning, (2, K, n)
    unit: FloatArray  # in which changes count, (K,)


class SolvedStages(NamedTuple):
    """What Newton's method has found."""

    levels: FloatArray | None  # the stages, (S, K, n); None where it failed
    factors: PatchFactors
    iterations: int


@dataclass(eq=False)
class StageSolver:
    """What solves the stages of one step after the other.

    Parameters
    ----------
    system, tiling
        What is marched, and its domain.
    jumping
        Where boundary values jump.
    small
        Changes that are small enough, in the units of a step.
    stages
        Of a step.
    """

    system: PlaneSystem
    tiling: Tiling
    jumping: JumpingValues
    small: float
    stages: int = STAGES
    factors: PatchFactors | None = None
    _even: bool = True
    _last: PatchDiscrete | None = None

    def discrete(self, basis: PatchworkBasis, frame: MovingFrame | None = None) -> PatchDiscrete:
        """Return the problem on patches; that of the last step if they are the same."""
        last = self._last
        if last is None or last.basis.patches != basis.patches:
            last = PatchDiscrete(self.system, self.tiling, basis, len(self.jumping.held))
        self._last = last.in_frame(frame)
        return self._last

    def solved(self, step: StageStart, guess: FloatArray) -> SolvedStages:
        """Return the stages from a guess of them, with the last systems if these are good."""
        discrete, t = self.discrete(step.basis, step.frame), self.moments(step)
        steady = self._is_steady(discrete)
        guess[:, :, discrete.given] = self.jumping.strengths(t)
        old, count = self.factors, 0
        if old is not None and old.discrete is discrete and abs(old.dt - step.dt) <= 1e-9 * step.dt:
            found, count = self._iterated(step, old, guess, MARCH.slowest if steady else MARCH.good)
            if found is not None:
                return SolvedStages(found, old, count)
        middle = self.stages // 2
        about = LinearisationState(
            discrete.basis, with_rates(step.values, guess, step.dt)[:, middle], float(t[middle])
        )
        torn = self.system.problem.is_singular
        kinds = (False,) if steady or torn or step.frame or not self._even else (True, False)
        for even in kinds:
            factors = PatchFactors(discrete, step.dt, about, self.stages, even=even)
            found, more = self._iterated(step, factors, guess, MARCH.slowest)
            count += more
            if found is not None:
                self._even = even or not self._even
                break
        self.factors = factors
        return SolvedStages(found, factors, count)

    def moments(self, step: StageStart) -> FloatArray:
        """Return those of the stages."""
        return np.asarray(step.t + step.dt * stage_nodes(self.stages))

    def _is_steady(self, discrete: PatchDiscrete) -> bool:
        """Tell whether systems are the same in all steps, and one iteration is enough."""
        return self.system.is_steady and discrete.frame is None

    def _iterated(
        self, step: StageStart, factors: PatchFactors, guess: FloatArray, slow: float
    ) -> tuple[FloatArray | None, int]:
        levels, last, t = guess, np.inf, self.moments(step)
        try:
            for i in range(MARCH.iterations):
                new = factors.next(step.values, levels, t)
                if self._is_steady(factors.discrete):
                    return new, 1
                change = factors.discrete.inner.values(new - levels, (0, 0))
                size = float((np.abs(change) / step.unit[:, None]).max())
                levels, q = new, size / last
                if size < self.small or (i and q < 1 and size * q / (1 - q) < self.small):
                    return levels, i + 1
                if not np.isfinite(size) or (i and q > slow):
                    return None, i + 1
                last = size
        except EquationError:
            return None, i + 1
        return None, MARCH.iterations
