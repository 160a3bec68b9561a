"""Kernels and mixture as the page shows them: solve after solve, or moment after moment.

A solution in time at one moment, as a solution in space that every picture can be made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.line_basis import LineBasis
from sharpfront.bases.line_patch import line_patch
from sharpfront.geometry import Domain
from sharpfront.maps import mixture_axis
from sharpfront.mixture import Mixture
from sharpfront.show.data.kernels import Kernels, kernels_at, kernels_of

TIME = "t"
# What a moment has of the whole solve.
_OF_ALL_TIME = ("unknowns", "problem", "outcome", "converged", "error_estimate")


@dataclass(frozen=True, eq=False)
class StillApproximation:
    """An approximation with its time fixed."""

    whole: Any
    t: float
    bases: Mapping[str, Kernels]  # where kernels are; nowhere where a basis does not tell

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Those of space."""
        return tuple(self.whole.coordinates[:-1])

    def values(self, unknown: str, points: FloatArray, orders: Sequence[int]) -> FloatArray:
        """Return a derivative in space at points (m, d), (m,)."""
        return np.asarray(self.whole.values(unknown, self._lifted(points), (*orders, 0)))

    def residuals(self, problem: Any, points: FloatArray) -> FloatArray:
        """Return the residual of each equation, (equations, m)."""
        return np.asarray(self.whole.residuals(problem, self._lifted(points)))

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
        whole, none = self.solution.approximation, Kernels.together([], self.domain.dimension)
        bases = {n: kernels_at(basis, self.t) or none for n, basis in whole.bases.items()}
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
    space = solution.domain.space
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


# So many pictures of a problem in time: curves are smaller than maps.
_CURVES, _MAPS = 61, 31


@dataclass(frozen=True, eq=False)
class Placement:
    """Where kernels and the components of their mixture were."""

    note: str  # which solve or moment this is, in words
    kernels: dict[str, Kernels]  # of each unknown; without those whose positions are not known
    mixture: Mixture | None  # that placed them, or None

    @property
    def everything(self) -> Kernels:
        """The kernels of all unknowns, or else the components: where something may happen."""
        found = [*self.kernels.values()]
        if not found and self.mixture is not None:
            found = [Kernels.of_mixture(self.mixture)]
        return Kernels.together(found, found[0].dimension if found else 1)


def solves(solution: Any) -> tuple[list[Placement], int]:
    """Return the kernels of every solve of a stationary problem, and which is the answer.

    Records keep the mixture and the number of kernels, not their positions. On the line these
    follow from the two; in space only the answer's are known.
    """
    bases = solution.approximation.bases
    exact = {u: kernels_of(basis) for u, basis in bases.items()}
    count, own, out = len(solution.history), mixture_of(solution), []
    if not count:
        return [Placement(f"{solution.kernels} kernels", exact, own)], 0
    answered = [(r.kernels, r.error_estimate) for r in solution.history]
    last, own_record = count - 1, (solution.kernels, solution.error_estimate)
    if own_record in answered:
        last -= answered[::-1].index(own_record)
    for i, record in enumerate(solution.history):
        note = (
            f"Solve {i + 1} of {count}: {record.kernels} kernels, "
            f"estimated error {record.error_estimate:.1e}"
        )
        if i == last:
            out.append(Placement(f"{note} – the answer", exact, record.mixture or own))
        else:
            out.append(Placement(note, _followed(solution, record), record.mixture))
    return out, last


def _followed(solution: Any, record: Any) -> dict[str, Kernels]:
    """Return kernels on the line as a record's mixture spreads them."""
    bases = solution.approximation.bases
    if len(bases) > 1 or not isinstance(next(iter(bases.values())), LineBasis):
        return {}
    return {solution.unknowns[0]: spread(record.mixture, record.kernels, solution.domain.bounds)}


def spread(mixture: Mixture | None, count: int, bounds: FloatArray) -> Kernels:
    """Return kernels on the line, even in the coordinate of a mixture."""
    low, high = (float(end) for end in bounds[:, 0])
    basis = LineBasis((line_patch(mixture_axis(low, high, mixture), count, (low, high), 2),))
    return Kernels(basis.centres, basis.covariances)


def moments(solution: Any) -> FloatArray:
    """Return the moments that a page shows: even ones, with both ends."""
    count = _CURVES if solution.domain.space.dimension == 1 else _MAPS
    start, stop = solution.domain.time
    return np.linspace(float(start), float(stop), count)


def instants(solution: Any, times: FloatArray) -> list[Placement]:
    """Return kernels and mixture of a problem in time at moments."""
    out = []
    for t in times:
        i = step_at(solution.history, float(t))
        mixture = mixture_in_time(solution, float(t))
        note = f"t = {t:.4g}"
        if i is not None:
            step = solution.history[i]
            note += f": {step.kernels} kernels, estimated error {step.error_estimate:.1e}"
        out.append(Placement(note, _moved(solution, i, mixture, float(t)), mixture))
    return out


def _moved(
    solution: Any, index: int | None, mixture: Mixture | None, t: float
) -> dict[str, Kernels]:
    if solution.domain.space.dimension > 1:
        return {}
    found = {u: kernels_at(basis, t) for u, basis in solution.approximation.bases.items()}
    known = {u: kernels for u, kernels in found.items() if kernels is not None}
    if known or index is None or mixture is None:
        return known
    count = solution.history[index].kernels
    return dict.fromkeys(found, spread(mixture, count, solution.domain.space.bounds))
