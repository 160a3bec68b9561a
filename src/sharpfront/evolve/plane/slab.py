"""One slab of time: Radau's stages by Newton's method with decoupled, frozen tangents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import diagonal, stage_nodes, stage_rates, through_modes
from sharpfront.errors import EquationError
from sharpfront.evolve.plane.galerkin import Galerkin, Tangent
from sharpfront.evolve.plane.settings import PRODUCTS


@dataclass(frozen=True, eq=False)
class SlabFactors:
    """The stages' systems about one state, factored."""

    # What they were made from: the functions, the state at the slab's middle and its rates, and the
    # slab's length.
    galerkin: Galerkin
    weights: FloatArray
    rates: FloatArray
    dt: float
    tangent: Tangent  # mass and stiffness
    systems: tuple[Any, ...]  # one LU for each of the stages' systems

    def correction(self, left: FloatArray) -> FloatArray:
        """Return the update of the stages (q, size) from what they leave, (q, n)."""
        return -through_modes(
            left, lambda mode, row: lu_solve(self.systems[mode], row[0], check_finite=False)[None]
        )


def factored(galerkin: Galerkin, weights: FloatArray, rates: FloatArray, dt: float) -> SlabFactors:
    """Return the systems of a slab about a state at its middle."""
    tangent = galerkin.tangent(weights, rates, 0.5 * dt)
    real, *others = diagonal().values
    systems = [
        lu_factor(shift / dt * tangent.mass + tangent.stiffness, check_finite=False)
        for shift in (real.real, *others)
    ]
    return SlabFactors(galerkin, weights, rates, dt, tangent, tuple(systems))


class Stages(NamedTuple):
    """States at the start and at Radau's nodes (q + 1, size), and how Newton's method went."""

    states: FloatArray
    updates: int
    rate: float
    converged: bool


def solve_slab(
    galerkin: Galerkin, start: FloatArray, guess: FloatArray, factors: SlabFactors, close: float
) -> Stages:
    """Return the stages of a slab from the weights at its beginning, (size,).

    The guess of the stages is (q, size); factors are of its systems, or of those of a slab before
    of the same length. An update of the function below `close` ends the iteration.
    """
    states, before, rate = np.vstack([start, guess]), np.inf, 0.0
    for number in range(1, PRODUCTS.updates + 1):
        try:
            left = _left_by_stages(galerkin, states, factors)
        except EquationError:
            return Stages(states, number, np.inf, False)
        update = factors.correction(left)
        states = np.vstack([start, states[1:] + update])
        size = max(galerkin.square.largest(w) for w in update)
        rate = size / before if number > 1 else rate
        # An update that would be smaller than that is not made.
        if size < close or (number > 1 and size * rate < close):
            return Stages(states, number, rate, True)
        if not np.isfinite(size) or rate > PRODUCTS.slow:
            break
        before = size
    return Stages(states, number, rate, False)


def _left_by_stages(galerkin: Galerkin, states: FloatArray, factors: SlabFactors) -> FloatArray:
    """Return what the stages leave of the tested equations, (q, n)."""
    rates = stage_rates(states[0], states[1:], factors.dt)
    every = zip(states[1:], rates, stage_nodes() * factors.dt, strict=True)
    return np.stack([galerkin.tested(w, r, tau, factors.tangent) for w, r, tau in every])
