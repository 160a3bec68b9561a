"""A solution in time at one moment, as a solution in space that every picture can be made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import Outcome
from sharpfront.geometry import Domain
from sharpfront.mixture import Mixture
from sharpfront.pieces import tables
from sharpfront.pieces.plane.basis import Piece, PlaneInTime, placed
from sharpfront.plot.grid import kernels_at
from sharpfront.plot.section import Kernels

TIME = "t"


def in_time(solution: Any) -> bool:
    """Tell whether a solution is one in time."""
    return bool(solution.approximation.coordinates[-1] == TIME and hasattr(solution.domain, "time"))


@dataclass(frozen=True, eq=False)
class StillBasis:
    """Where the kernels of a basis in time are at a moment, and the mixture that put them there."""

    dimension: int
    kernels: Kernels | None
    mixture: Mixture | None

    @property
    def centres(self) -> FloatArray | None:
        """The centres, (n, d); None where the basis does not tell."""
        return None if self.kernels is None else self.kernels.centres

    @property
    def covariances(self) -> FloatArray:
        """The covariances, (n, d, d)."""
        d = self.dimension
        return np.zeros((0, d, d)) if self.kernels is None else self.kernels.covariances


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
            name: StillBasis(
                self.domain.dimension,
                basis_kernels(basis, self.t),
                mixture_in_time(self.solution, self.t),
            )
            for name, basis in whole.bases.items()
        }
        return StillApproximation(whole, self.t, bases)

    @property
    def domain(self) -> Domain:
        """The domain in space."""
        space: Domain = self.solution.domain.space
        return space

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The names of the unknowns."""
        return tuple(self.solution.unknowns)

    @property
    def problem(self) -> Any:
        """The problem, or None."""
        return self.solution.problem

    @property
    def history(self) -> tuple[Any, ...]:
        """None of its own: what is seen here belongs to one moment."""
        return ()

    @property
    def outcome(self) -> Outcome:
        """How the whole solve ended."""
        outcome: Outcome = self.solution.outcome
        return outcome

    @property
    def converged(self) -> bool:
        """Whether the whole solve converged."""
        return bool(self.solution.converged)

    @property
    def error_estimate(self) -> float:
        """The largest estimated error at any moment."""
        return float(self.solution.error_estimate)

    @property
    def kernels(self) -> int:
        """The number of kernels of all unknowns in the step around the moment."""
        i = step_at(self.solution.history, self.t)
        if i is None:
            return int(self.solution.kernels)
        return int(self.solution.history[i].kernels) * len(self.unknowns)


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


def basis_kernels(basis: Any, t: float) -> Kernels | None:
    """Return the kernels at a moment; None for a basis that does not tell."""
    if isinstance(basis, PlaneInTime):
        starts = np.array([piece.start for piece in basis.pieces])
        piece = basis.pieces[max(0, int(np.searchsorted(starts, t, side="right")) - 1)]
        return _products_at(piece, t - piece.start)
    return kernels_at(basis, t)


def _products_at(piece: Piece, tau: float) -> Kernels:
    """Return the products in the plane: even in (xi, eta), and Gaussian there."""
    counts = [line.functions.kernels for line in piece.product.lines]
    xi, eta = (grid.ravel() for grid in np.meshgrid(*((np.arange(n) + 0.5) / n for n in counts)))
    y = piece.maps[1].invert(eta, np.zeros(eta.shape), tau)
    x = piece.maps[0].invert(xi, y, tau)
    moment = np.full(x.shape, tau)
    first, second = piece.maps[0].jet(x, y, moment), piece.maps[1].jet(y, x, moment)
    slopes = np.stack([np.stack([first.x, first.y]), np.stack([second.y, second.x])])
    inverse = np.linalg.inv(np.moveaxis(slopes, 2, 0)) * (tables.WIDTH / np.array(counts))
    order = list(piece.axes)
    back = inverse[:, np.argsort(order)]
    return Kernels(placed(x, y, piece.axes), back @ np.swapaxes(back, 1, 2))
