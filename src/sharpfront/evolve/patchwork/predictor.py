"""What a step to come makes of a state, as far as rates tell: patches go along with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.evolve.patchwork.row_points import MovingFrame, PointsDuringStep
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.geometry import Domain
from sharpfront.maps import Drift, Drifts, drift_tables
from sharpfront.rows.moments import projected

# Places spread evenly over the unit square.
_EVEN = (np.stack(np.meshgrid(*[np.arange(12)] * 2), axis=-1).reshape(-1, 2) + 0.5) / 12


class CarriedBack(Protocol):
    """What tells where things that are carried along were before."""

    def inverse(self, points: FloatArray, lapse: float, /) -> FloatArray:
        """Return where points came from, (m, 2)."""
        ...


@dataclass(frozen=True, eq=False)
class RatesAtPoints:
    """Unknowns and their rates at the points of patches at a moment, (K, m) each."""

    points: FloatArray
    slopes: tuple[FloatArray, FloatArray]
    rates: FloatArray

    def along(self, drift: Drifts) -> FloatArray:
        """Return the rates of unknowns along their way, (K, m)."""
        (vx, vy), (x, y) = drift.velocity(self.points).T, self.slopes
        return np.asarray(self.rates + vx * x + vy * y)


def present(during: PointsDuringStep, values: FloatArray) -> RatesAtPoints:
    """Return what weights of unknowns and of rates at rest on patches, (2, K, n), are in space."""

    def of_all(orders: tuple[int, int, int]) -> FloatArray:
        return np.stack([during.values(own[:, None], orders) for own in values.swapaxes(0, 1)])

    return RatesAtPoints(during.points, (of_all((1, 0, 0)), of_all((0, 1, 0))), of_all((0, 0, 1)))


def velocity_field(now: RatesAtPoints, box: Domain, scale: FloatArray) -> Drift | None:
    """Return the velocity with which unknowns are carried along, None if that is not what they do.

    It is the least-squares solution of u_t + v . grad u = 0 at the points of all patches, so that
    small patches count most.

    Parameters
    ----------
    now
        The unknowns.
    box
        The domain.
    scale
        Of each unknown, (K,).
    """
    rate = (now.rates / scale[:, None]).ravel()
    tables = drift_tables(now.points, box.bounds, box.periodic_axes, MARCH.degree)
    slopes = [s / scale[:, None] for s in now.slopes]
    both = zip(slopes, tables, strict=True)
    matrix = np.concatenate([(s[:, :, None] * own).reshape(len(rate), -1) for s, own in both], 1)
    gram = matrix.T @ matrix
    stiff = _stiffness(box)
    gram += MARCH.ridge * max(float(np.trace(gram)), 1e-300) / float(np.trace(stiff)) * stiff
    weights = np.linalg.solve(gram, -matrix.T @ rate)
    left = rate + matrix @ weights
    if left @ left > (1.0 - MARCH.explained) * (rate @ rate):
        return None
    return Drift(box.bounds, box.periodic_axes, weights.reshape(2, -1).T)


def _stiffness(box: Domain) -> FloatArray:
    """Return the mean square of velocities' slopes in units of the box, (2 P, 2 P).

    Where nothing tells how unknowns go, velocities are to go on evenly.
    """
    x = box.bounds[0] + (box.bounds[1] - box.bounds[0]) * _EVEN
    count = (MARCH.degree + 1) * (MARCH.degree + 2) // 2
    columns = []
    for k in range(2 * count):
        unit = np.zeros((2, count))
        unit[divmod(k, count)] = 1.0
        slopes = Drift(box.bounds, box.periodic_axes, unit.T).slopes(x, 1)
        sides = box.bounds[1] - box.bounds[0]
        parts = [slopes[1, 0] * sides[0], slopes[0, 1] * sides[1], 1e-3 * slopes[0, 0]]
        columns.append(np.concatenate(parts).ravel())
    table = np.stack(columns, axis=1)
    return np.asarray(table.T @ table)


def longest_step(drift: Drift, points: FloatArray) -> float:
    """Return how long patches may go along: until they are stretched or sheared by a share."""
    slopes = drift.slopes(points, 1)
    both = np.stack([slopes[1, 0], slopes[0, 1]], axis=2)
    return MARCH.stretch / max(float(np.linalg.norm(both, axis=(1, 2)).max()), 1e-300)


def on_patches(basis: PatchworkBasis, values: FloatArray) -> FloatArray:
    """Return the weights of functions with values at the inner points of boxes, (R, n)."""
    out, at = [], 0
    for patch in basis.patches:
        counts = tuple(p + 1 for p in patch.functions)
        p, q = patch.functions
        own = values[:, at : (at := at + counts[0] * counts[1])]
        out.append(np.stack([projected(v, counts)[:p, :q].ravel() for v in own]))
    return np.concatenate(out, axis=1)


@dataclass(frozen=True, eq=False)
class PredictedState:
    """A state now and a step later as functions of place, where its patches have gone to.

    Parameters
    ----------
    basis, frame, t
        Its patches, how they have gone along, and when.
    values
        Weights of unknowns and of their rates, (2, K, n), in units of what may be left out.
    dt
        The step, if patches stay in it; nothing where they go along.
    field
        With what unknowns are carried along then; None where they go on by their rates.
    """

    basis: PatchworkBasis
    frame: MovingFrame | None
    t: float
    values: FloatArray
    dt: float
    field: CarriedBack | None

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the unknowns now and later at points, (R, m)."""
        now = self._sums(self.values[0], points)
        return np.concatenate([now, self.later(points)]) if self.dt else now

    def later(self, points: FloatArray) -> FloatArray:
        """Return the unknowns later at points, (R, m)."""
        now, rates = self.values
        if self.field is None:
            return self._sums(now + self.dt * rates, points)
        origins = [self.field.inverse(points, share * self.dt) for share in MARCH.later]
        return np.concatenate([self._sums(now, x) for x in origins])

    def _sums(self, weights: FloatArray, points: FloatArray) -> FloatArray:
        return self.basis.sums(weights, at_rest(self.frame, points, self.t))


def at_rest(frame: MovingFrame | None, points: FloatArray, t: float) -> FloatArray:
    """Return the positions in patches of points at a moment, (m, 2)."""
    return points if frame is None else frame.drift.inverse(points, t - frame.since)
