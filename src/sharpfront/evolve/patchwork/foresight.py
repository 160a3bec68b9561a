"""What a step to come makes of a state, as far as rates tell: patches are made for that too."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.evolve.patchwork.places import Places
from sharpfront.evolve.patchwork.settings import MARCH
from sharpfront.geometry import Box


@dataclass(frozen=True, eq=False)
class Field:
    """A velocity in a box of the plane: polynomials in place, along sides where they are no seams.

    Parameters
    ----------
    box
        The domain.
    weights
        Of the polynomials along each axis, (P, 2).
    """

    box: Box
    weights: FloatArray

    def before(self, points: FloatArray, time: float) -> FloatArray:
        """Return where what is at points came from, (m, 2)."""
        x, y = _tables(points, self.box)
        way = np.stack([x @ self.weights[:, 0], y @ self.weights[:, 1]], axis=1)
        low, high = self.box.bounds
        found = points - time * way
        seams = np.array(self.box.periodic_axes)
        return np.where(seams, low + (found - low) % (high - low), np.clip(found, low, high))


def _tables(points: FloatArray, box: Box) -> list[FloatArray]:
    """Return the polynomials of each component of a velocity at points, (m, P) each."""
    low, high = box.bounds
    z = (2.0 * points - low - high) / (high - low)
    along = [np.polynomial.legendre.legvander(x, MARCH.degree) for x in z.T]
    every = itertools.product(range(MARCH.degree + 1), repeat=2)
    table = np.stack(
        [along[0][:, i] * along[1][:, j] for i, j in every if i + j <= MARCH.degree], axis=1
    )
    # Nothing is carried through a side.
    return [
        table if seam else table * (1.0 - x**2)[:, None]
        for x, seam in zip(z.T, box.periodic_axes, strict=True)
    ]


def velocity_field(places: Places, box: Box, values: FloatArray, scale: FloatArray) -> Field | None:
    """Return the velocity with which unknowns are carried along, None if that is not what they do.

    It is the least-squares solution of u_t + v . grad u = 0 at the points of all patches, so that
    small patches count most.

    Parameters
    ----------
    places
        The points.
    box
        The domain.
    values
        Weights of unknowns and of their rates, (2, K, n).
    scale
        Of each unknown, (K,).
    """
    unknowns, rates = values / scale[:, None]
    slopes = [places.values(unknowns, orders) for orders in ((1, 0), (0, 1))]
    rate = places.values(rates, (0, 0)).ravel()
    both = zip(slopes, _tables(places.points, box), strict=True)
    matrix = np.concatenate([(s[:, :, None] * own).reshape(len(rate), -1) for s, own in both], 1)
    gram = matrix.T @ matrix
    gram[np.diag_indices_from(gram)] += MARCH.ridge * max(float(np.trace(gram)), 1e-300)
    weights = np.linalg.solve(gram, -matrix.T @ rate)
    left = rate + matrix @ weights
    if left @ left > (1.0 - MARCH.explained) * (rate @ rate):
        return None
    return Field(box, weights.reshape(2, -1).T)


@dataclass(frozen=True, eq=False)
class Foreseen:
    """A state now and until a step later, as functions of place.

    Parameters
    ----------
    basis
        Its patches.
    values
        Weights of unknowns and of their rates, (2, K, n), in units of what may be left out.
    dt
        The step.
    field
        With what unknowns are carried along; None where they go on by their rates.
    """

    basis: PatchworkBasis
    values: FloatArray
    dt: float
    field: Field | None

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the unknowns now and later at points, (R, m)."""
        return np.concatenate([self.basis.sums(self.values[0], points), self.later(points)])

    def later(self, points: FloatArray) -> FloatArray:
        """Return the unknowns later at points, (R, m)."""
        if self.field is None:
            return self.basis.sums(self.values[0] + self.dt * self.values[1], points)
        origins = [self.field.before(points, share * self.dt) for share in MARCH.later]
        return np.concatenate([self.basis.sums(self.values[0], x) for x in origins])
