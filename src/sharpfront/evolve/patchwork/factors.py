"""The stages of a step on patches, solved mode by mode."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import (
    STAGES,
    diagonal,
    differentiation,
    interpolation,
    interpolation_rate,
    stage_nodes,
    stage_rates,
    through_modes,
)
from sharpfront.evolve.patchwork.stages import PatchDiscrete
from sharpfront.evolve.patchwork.tangents import LinearisationState, Tangents
from sharpfront.leastsquares.factored_tree import FactoredTree
from sharpfront.trust.between_stages import between, left_over
from sharpfront.trust.between_stages import shares as lengths_of


@dataclass(frozen=True, eq=False)
class PatchFactors:
    """The systems of all modes for steps of one length, about one state.

    Parameters
    ----------
    discrete
        The patches.
    dt
        The length.
    about
        The state.
    stages
        Of a step.
    even
        Whether tangents of the equations are the same everywhere, about the middle of what they
        are: then equal patches are factored once.
    """

    discrete: PatchDiscrete
    dt: float
    about: LinearisationState
    stages: int
    even: bool = False

    @cached_property
    def trees(self) -> list[FactoredTree]:
        """One for a real eigenvalue, one for each pair."""
        radau = diagonal(self.stages)
        rates = [complex(value) / self.dt for value in radau.values]
        rates[: radau.reals] = [complex(rate.real, 0.0) for rate in rates[: radau.reals]]
        numbers = [[float(c[0]) for c in own] for own in self._inside] if self.even else None
        tangents = Tangents(self.discrete.system, self.about, numbers, self.discrete.frame)
        return [self.discrete.tree(tangents, rate) for rate in rates]

    @cached_property
    def _inside(self) -> list[list[FloatArray]]:
        """Tangents of the equations at the points of their rows."""
        discrete = self.discrete
        own = discrete.held(range(len(discrete.system.equations)))
        found = discrete.tangents(own, self.about.weights, self.about.t)
        if not self.even:
            return found
        return [[np.full(c.shape, 0.5 * (c.min() + c.max())) for c in each] for each in found]

    @cached_property
    def tangents(self) -> list[list[FloatArray]]:
        """At the points of the rows."""
        assert self.trees
        discrete = self.discrete
        own = discrete.held(range(len(discrete.system.equations), discrete.count))
        return [*self._inside, *discrete.tangents(own, self.about.weights, self.about.t)]

    def next(self, start: FloatArray, levels: FloatArray, t: FloatArray) -> FloatArray:
        """Return the stages that are next by Newton's method with these systems, (S, K, n).

        Weights that are known stay as they are.

        Parameters
        ----------
        start
            Unknowns and rates at the beginning, (2, K, n).
        levels
            Stages, (S, K, n).
        t
            Their moments.
        """
        assert self.trees
        discrete = self.discrete
        left = discrete.data(with_rates(start, levels, self.dt), t)
        own = levels.copy()
        own[:, :, discrete.given] = 0.0
        whole = discrete.linear(self.tangents, with_rates(np.zeros_like(own[:2]), own, self.dt))
        found = through_modes(
            whole - left, lambda mode, row: discrete.solved(self.trees[mode], row)
        )
        found[:, :, discrete.given] = levels[:, :, discrete.given]
        return found


def with_rates(start: FloatArray, levels: FloatArray, dt: float) -> FloatArray:
    """Return stages with their first and second rates, (RATES, S, K, n)."""
    first = stage_rates(start[0], levels, dt)
    return np.stack([levels, first, stage_rates(start[1], first, dt)])


def unseen_on_patches(
    factors: PatchFactors,
    start: FloatArray,
    values: FloatArray,
    t: float,
    span: tuple[float, float],
) -> FloatArray:
    """Return how far off a step may be by what its stages do not see, at the inner points, (K, m).

    As on the line: what is left of equations between the stages adds up; of conditions the largest
    counts, while it lasts.

    Parameters
    ----------
    factors
        Of the step.
    start, values
        Unknowns and rates at its beginning, and weights there and at the stages.
    t, span
        When it begins, and the span of the whole run.
    """
    discrete, dt = factors.discrete, factors.dt
    s = between(t, t + dt, span)
    if not len(s):
        return np.zeros((len(values[0]), 1))
    every = np.concatenate([stage_nodes(), s])
    first = interpolation_rate(every) / dt
    shares = [interpolation(every), first, first @ differentiation() / dt]
    levels = np.stack([np.tensordot(share, values, axes=1) for share in shares])
    levels[:, :STAGES] = with_rates(start, values[1:], dt)
    rest = left_over(every, discrete.data(levels, t + dt * every))
    within = np.where(discrete.inside, rest * lengths_of(s)[:, None] / diagonal().gamma, 0.0)
    beside = np.where(discrete.inside, 0.0, rest)
    found = discrete.solved(factors.trees[0], np.concatenate([within, beside]))
    seen = np.abs(discrete.inner.values(found, (0, 0)))
    return np.asarray(seen[: len(s)].sum(axis=0) + seen[len(s) :].max(axis=0))
