"""Where solutions on patches are compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharpfront.adapt.patchwork.jumps import Jumps
from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.place.patches.cuts import Flags
from sharpfront.solution.approximation import Approximation

# Positions on each axis of a patch at which solutions are compared, ends included: Chebyshev's, and
# on a line others. Errors of n functions swing n times, are nothing at ends where values are given,
# and may stand at one end: of (1 - z^2)^m exp(a z) times polynomials orthogonal by (1 - z^2)^m, for
# m up to 2, a up to 8, degrees 4 to 25 alone and in pairs, those on a line see 0.41 of the largest
# value or more, Chebyshev's 0.06, as polynomials of some degree have zeros there.
COMPARED = tuple((-np.cos(np.pi * np.arange(8) / 7)).tolist())
ON_LINE = (-1.0, -0.932, -0.892, -0.738, -0.482, -0.259, 0.199, 0.518, 0.735, 0.9, 0.939, 1.0)


def sizes_of(values: FloatArray, where: Flags) -> list[float]:
    """Return max(1, max|u|) of every unknown, from its values at some of the compared points."""
    return [float(max(1.0, size)) for size in np.abs(values[:, where]).max(axis=1)]


def compared_values(approximation: Approximation) -> FloatArray:
    """Return the unknowns at the compared points of their own patches, (unknowns, m)."""
    out = []
    for unknown, basis in approximation.bases.items():
        assert isinstance(basis, PatchworkBasis)
        positions = _positions(basis.dimension)
        out.append(basis.on_patches(approximation.weights[unknown], positions))
    return np.array(out)


def compared_away(jumps: Jumps, patches: Sequence[Patch]) -> Flags:
    """Tell which compared points of patches are away from places at which the solution jumps."""
    if not jumps.places:
        dimension = patches[0].dimension
        return np.ones(len(patches) * len(_positions(dimension)) ** dimension, dtype=bool)
    return jumps.away(compared_points(patches))


def compared_points(patches: Sequence[Patch]) -> FloatArray:
    """Return points of every patch at which solutions are compared, (m, d)."""
    z = np.array(_positions(patches[0].dimension))
    return np.concatenate([patch.spread(z) for patch in patches])


def _positions(dimension: int) -> tuple[float, ...]:
    """Return the positions along an axis at which solutions are compared."""
    return ON_LINE if dimension == 1 else COMPARED
