"""What a system of first order carries: which way it goes, and the equations that it obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.equation.expression import Key
from sharpfront.rounding import ROUNDED, SAME

if TYPE_CHECKING:
    from sharpfront.evolve.time_system import TimeSystem


class Characteristics(NamedTuple):
    """Speeds (K,), and the shares of equations (K, K) that what has them obeys, by rows."""

    speeds: FloatArray
    shares: FloatArray

    def leaving(self, side: int) -> FloatArray | None:
        """Return the shares of what does not come in at an end; None where they are not told."""
        stays = np.abs(self.speeds) <= SAME * np.abs(self.speeds).max()
        chosen = self.shares[stays | (self.speeds < 0 if side == 0 else self.speeds > 0)]
        chosen = chosen / np.maximum(np.abs(chosen).max(axis=1, initial=0.0), 1e-300)[:, None]
        chosen[np.abs(chosen) < ROUNDED] = 0.0
        return chosen if np.isfinite(chosen).all() else None


def characteristics(system: TimeSystem, x: float, t: float) -> Characteristics | None:
    """Return what a system carries about the first state; None where that is not told."""
    names, leaves = system.names, at_start(system, np.array([x]))
    leaves["coordinate", "t"] = np.array([t])
    rate, slope = np.zeros((len(names), len(names))), np.zeros((len(names), len(names)))
    for i, equation in enumerate(system.equations):
        for term, value in zip(equation.terms, equation.tangents(leaves, 1), strict=True):
            target = rate if term.orders[1] else slope
            if term.orders != (0, 0):
                target[i, names.index(term.unknown)] = value[0]
    try:
        inverse = np.linalg.inv(rate)
        speeds, vectors = np.linalg.eig((inverse @ slope).T)
    except np.linalg.LinAlgError:
        return None
    real = np.abs(speeds.imag).max() <= 1e-9 * max(float(np.abs(speeds).max()), 1e-300)
    return Characteristics(speeds.real, (vectors.T @ inverse).real) if real else None


def at_start(system: TimeSystem, x: FloatArray) -> dict[Key, FloatArray]:
    """Return the leaves at the start with the derivatives of the unknowns zero."""
    leaves = system.at_start(x)
    for name in system.names:
        for orders in ((1, 0), (2, 0), (3, 0), (4, 0), (0, 1)):
            leaves["derivative", name, orders] = np.zeros(len(x))
        leaves["derivative", name, (0, 0)] = system.initial(name)(x)
    return leaves
