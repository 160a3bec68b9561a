"""A solution in time at one moment, as a solution in space that every picture can be made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.geometry import Domain
from sharpfront.mixture import Mixture
from sharpfront.show.data.kernels import Kernels, kernels_at

TIME = "t"
# What a moment has of the whole solve.
_OF_ALL_TIME = ("unknowns", "problem", "outcome", "converged", "error_estimate")


@dataclass(frozen=True, eq=False)
class StillBasis:
    """Where the kernels of a basis in time are at a moment; nowhere where it does not tell."""

    dimension: int
    centres: FloatArray  # (n, d)
    covariances: FloatArray  # (n, d, d)


@dataclass(frozen=True, eq=False)
class StillApproximation:
    """An approximation with its time fixed."""

    whole: Any
    t: float
    bases: Mapping[str, StillBasis]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Those of space."""
        return tuple(self.whole.coordinates[:-1])

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return a derivative in space at points (m, d), (m,)."""
        found: FloatArray = self.whole.values(unknown, self._lifted(points), (*orders, 0))
        return found

    def residuals(self, problem: Any, points: FloatArray) -> FloatArray:
        """Return the residual of each equation, (equations, m)."""
        found: FloatArray = self.whole.residuals(problem, self._lifted(points))
        return found

    def _lifted(self, points: FloatArray) -> FloatArray:
        return np.hstack([points, np.full((len(points), 1), self.t)])


@dataclass(frozen=True, eq=False)
class Moment:
    """A solution in time at one moment."""

    solution: Any  # the solution in time
    t: float  # the moment

    @cached_property
    def approximation(self) -> StillApproximation:
        """The unknowns as functions of space."""
        whole = self.solution.approximation
        bases = {
            name: _still(kernels_at(basis, self.t), self.domain.dimension)
            for name, basis in whole.bases.items()
        }
        return StillApproximation(whole, self.t, bases)

    @cached_property
    def mixture(self) -> Mixture | None:
        """The components at the moment; None where none were followed."""
        return mixture_in_time(self.solution, self.t)

    @property
    def in_time(self) -> bool:
        """No: time is fixed."""
        return False

    @property
    def domain(self) -> Domain:
        """The domain in space."""
        space: Domain = self.solution.domain.space
        return space

    @property
    def history(self) -> tuple[Any, ...]:
        """None of its own: what is seen here belongs to one moment."""
        return ()

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_ALL_TIME:
            raise AttributeError(f"A moment of a solution has no attribute {name!r}.")
        return getattr(self.solution, name)

    @property
    def kernels(self) -> int:
        """The number of kernels of all unknowns in the step around the moment."""
        i = step_at(self.solution.history, self.t)
        if i is None:
            return int(self.solution.kernels)
        return int(self.solution.history[i].kernels) * len(self.unknowns)


def _still(kernels: Kernels | None, dimension: int) -> StillBasis:
    kernels = Kernels.together([], dimension) if kernels is None else kernels
    return StillBasis(dimension, kernels.centres, kernels.covariances)


def mixture_of(solution: Any) -> Mixture | None:
    """Return the mixture at a moment, or else that of the last solve."""
    if isinstance(solution, Moment):
        return solution.mixture
    return solution.history[-1].mixture if solution.history else None


def mixture_in_time(solution: Any, t: float) -> Mixture | None:
    """Return the mixture of a solution in time at a moment, its means inside the domain."""
    found = mixture_between(solution.history, t)
    if found is None:
        return None
    space: Domain = solution.domain.space
    low, high = space.bounds
    # On a circle components may have gone round more than once.
    turned = low + np.mod(found.means - low, high - low)
    means = np.where(space.periodic_axes, turned, found.means)
    return Mixture(found.weights, means, found.covariances)


def step_at(history: Sequence[Any], t: float) -> int | None:
    """Return the number of the step in which a moment lies; None where there is no step."""
    ends = np.array([step.time for step in history])
    return min(int(np.searchsorted(ends, t)), len(ends) - 1) if len(ends) else None


def mixture_between(history: Sequence[Any], t: float) -> Mixture | None:
    """Return the mixture at a moment: that at the end of its step, its components moved back."""
    i = step_at(history, t)
    if i is None or history[i].mixture is None:
        return None
    step = history[i]
    speeds = np.asarray(step.speeds).reshape(step.mixture.means.shape)
    means = step.mixture.means - min(step.time - t, step.dt) * speeds
    return Mixture(step.mixture.weights, means, step.mixture.covariances)
