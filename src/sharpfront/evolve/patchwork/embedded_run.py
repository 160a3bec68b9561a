"""The weaker run, on the patches and the steps of the strict one: what they differ by is the error.

It has fewer functions along each axis of a patch, and its steps have one stage less, at other
moments. It goes on with its own state, so that what it leaves out adds up as in any run; as it is
further off, the difference bounds the error of the strict one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from sharpfront.arrays import FloatArray, Ints
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.radau import STAGES, interpolation, stage_nodes
from sharpfront.evolve.patchwork.factors import with_rates
from sharpfront.evolve.patchwork.newton import StageSolver, StageStart
from sharpfront.evolve.patchwork.settings import MARCH

WEAKER_STAGES = STAGES - 1


@dataclass(frozen=True, eq=False)
class WeakerPatches:
    """The patches of the strict run with fewer functions.

    Parameters
    ----------
    strict
        Those of the strict run.
    less
        How many functions less there are along each axis of each patch, (patches, 2).
    further
        How many of these are so because patches hold a front far more strictly than steps.
    """

    strict: PatchworkBasis
    less: Ints
    further: int = 0

    @classmethod
    def of(cls, strict: PatchworkBasis, values: FloatArray, further: int = 0) -> Self:
        """Return patches for a state, (K, n).

        Without its last function an even or an odd state is as good as with it.
        """
        blocks = zip(*(strict.blocks(own) for own in values), strict=True)
        less = np.array([[_less(own, axis) for axis in range(2)] for own in blocks])
        return cls(strict, less + further, further)

    @cached_property
    def basis(self) -> PatchworkBasis:
        """Their functions."""
        patches = tuple(
            replace(p, functions=tuple((np.array(p.functions) - less).tolist()))
            for p, less in zip(self.strict.patches, self.less, strict=True)
        )
        return PatchworkBasis(patches, shared=self.strict.shared)

    @cached_property
    def _columns(self) -> Ints:
        """Which functions of the strict run these are."""
        own = [
            start + np.flatnonzero((p.products < np.array(w.functions)[:, None]).all(axis=0))
            for start, p, w in zip(
                self.strict.starts, self.strict.patches, self.basis.patches, strict=False
            )
        ]
        return np.concatenate([*own, np.arange(self.strict.starts[-1], self.strict.size)])

    def without_last(self, values: FloatArray) -> FloatArray:
        """Return weights (..., n) of the strict run's functions without the last ones."""
        return np.asarray(values[..., self._columns])

    def with_last(self, values: FloatArray) -> FloatArray:
        """Return the same with those, which are zero."""
        out = np.zeros((*values.shape[:-1], self.strict.size))
        out[..., self._columns] = values
        return out


def _less(blocks: Sequence[FloatArray], axis: int) -> int:
    """Return how many functions less there are along an axis of a patch, from all its weights."""
    last = [np.abs(np.moveaxis(b, axis, 0)[-2:]).reshape(2, -1).max(axis=1) for b in blocks]
    seen = all(own[1] > MARCH.odd * own[0] for own in last)
    return MARCH.weaker[0] if seen else MARCH.weaker[1]


@dataclass(frozen=True, eq=False)
class WeakerState:
    """The weaker run between two steps: its patches, unknowns and their rates, (2, K, n)."""

    patches: WeakerPatches
    values: FloatArray

    def off(self, strict: FloatArray) -> FloatArray:
        """Return what the strict run's unknowns (K, n) are more, in its functions."""
        return np.asarray(strict - self.patches.with_last(self.values[0]))

    def followed(
        self, solver: StageSolver, step: StageStart, values: FloatArray
    ) -> tuple[WeakerState | None, int]:
        """Return the weaker run after a step of the strict one, None where it fails.

        Parameters
        ----------
        solver
            That of the weaker run.
        step
            The strict one's step.
        values
            Its weights at the beginning and the stages, which Newton's method begins with.
        """
        own = step._replace(basis=self.patches.basis, values=self.values)
        ahead = np.tensordot(interpolation(stage_nodes(solver.stages)), values, axes=1)
        guess = self.values[0] + self.patches.without_last(ahead - values[0])
        levels, _, count = solver.solved(own, guess)
        if levels is None:
            return None, count
        rates = with_rates(self.values, levels, step.dt)[1]
        return replace(self, values=np.stack([levels[-1], rates[-1]])), count
