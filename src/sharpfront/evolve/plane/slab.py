"""One slab of time: Radau's stages by Newton's method with decoupled, frozen tangents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from sharpfront.arrays import Host
from sharpfront.evolve.plane.galerkin import Galerkin, Tangent
from sharpfront.evolve.plane.radau import radau

# Newton's updates at most, and by what each must be smaller than the one before it.
UPDATES, SLOW = 12, 0.7


@dataclass(frozen=True, eq=False)
class Factors:
    """The stages' systems about one state, factored.

    Parameters
    ----------
    dt
        The length of the slab that they are for.
    tangent
        Mass and stiffness.
    systems
        One LU for each eigenvalue of Radau's inverse matrix; None for the second of a pair.
    span
        Combinations of products that are independent on a shape, (size, n); None on a box.
    """

    dt: float
    tangent: Tangent
    systems: tuple[Any, ...]
    span: Host | None

    def correction(self, left: Host) -> Host:
        """Return the update of the stages (q, size) from what they leave."""
        values, vectors, inverse = radau().modes
        mixed = inverse @ (left if self.span is None else left @ self.span)
        found = np.zeros(mixed.shape, dtype=complex)
        for k, system in enumerate(self.systems):
            if system is None:
                continue
            if abs(values[k].imag) < _REAL:
                found[k] = lu_solve(system, mixed[k].real, check_finite=False)
                continue
            found[k] = lu_solve(system, mixed[k], check_finite=False)
            found[int(np.argmin(np.abs(values - values[k].conj())))] = found[k].conj()
        update = -(vectors @ found).real
        return update if self.span is None else update @ self.span.T


_REAL = 1e-9


def factored(galerkin: Galerkin, weights: Host, rates: Host, dt: float) -> Factors:
    """Return the systems of a slab about a state, taken at its middle."""
    tangent = galerkin.tangent(weights, rates, 0.5 * dt)
    span = galerkin.span
    mass, stiffness = tangent.mass, tangent.stiffness
    if span is not None:
        mass, stiffness = span.T @ mass @ span, span.T @ stiffness @ span
    systems: list[Any] = []
    for value in radau().modes[0]:
        if value.imag < -_REAL:
            systems.append(None)
            continue
        shift = value if value.imag > _REAL else value.real
        systems.append(lu_factor(shift / dt * mass + stiffness, check_finite=False))
    return Factors(dt, tangent, tuple(systems), span)


class Stages(NamedTuple):
    """States at the start and at Radau's nodes (q + 1, size), and how Newton's method went."""

    states: Host
    updates: int
    rate: float
    converged: bool


def solve_slab(
    galerkin: Galerkin, start: Host, guess: Host, factors: Factors, close: float
) -> Stages:
    """Return the stages of a slab.

    Parameters
    ----------
    galerkin
        The functions over the slab.
    start
        The weights at its beginning, (size,).
    guess
        Of the stages, (q, size).
    factors
        Of its systems, or of those of a slab before.
    close
        An update of the function below this ends the iteration.
    """
    method, dt = radau(), factors.dt
    inside = galerkin.grid(0.0).areas > 0
    stages, before, rate = guess, np.inf, 0.0
    for number in range(1, UPDATES + 1):
        rates = method.inverse @ (stages - start) / dt
        left = np.stack(
            [
                galerkin.tested(w, r, c * dt, factors.tangent)
                for w, r, c in zip(stages, rates, method.nodes, strict=True)
            ]
        )
        if not np.all(np.isfinite(left)):
            break
        update = factors.correction(left)
        stages = stages + update
        size = max(float(np.max(np.abs(galerkin.product.on_grid(w)[inside]))) for w in update)
        # What the next update would be: one that is not needed is not made.
        if number > 1:
            rate = size / before if before > 0 else 0.0
        if size * max(rate, 1e-2) < close and (number > 1 or size < close):
            return Stages(np.vstack([start, stages]), number, rate, True)
        if not np.isfinite(size) or (number > 1 and rate > SLOW):
            break
        before = size
    return Stages(np.vstack([start, stages]), number, rate, False)
