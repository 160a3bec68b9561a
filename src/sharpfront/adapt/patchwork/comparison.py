"""Where solutions on patches are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.adapt.patchwork.jumps import Jumps
from sharpfront.arrays import FloatArray
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.place.patches.cuts import Flags
from sharpfront.solution.approximation import Approximation

# Positions on each axis of a patch at which solutions are compared, ends included. Errors of n
# functions swing n times, are nothing at ends where values are given, and may stand at one end: of
# (1 - z^2)^m exp(a z) times polynomials orthogonal by (1 - z^2)^m, for m up to 2, a up to 8 and
# degrees 4 to 25 alone and in pairs, these see 0.37 of the largest value or more, and no two are
# farther apart than half a unit. Eight of Chebyshev's see 0.06, twelve 0.2: polynomials of some
# degree have zeros there.
_IN_SPACE = (-1.0, -0.931, -0.89, -0.467, -0.143, 0.352, 0.838, 0.883, 0.938, 1.0)
# On the line, where they cost next to nothing, Chebyshev's: of a polynomial of degree n these see
# cos(pi n / 2 / 64) of the largest value, 0.82 for n = 25 (Ehlich and Zeller).
_ON_THE_LINE = tuple((-np.cos(np.pi / 64 * np.arange(65))).tolist())
# In the plane the inner ones of 17 of Chebyshev's beside those: estimates of 28 smooth problems
# were 0.58 to 4.3 times their errors with the ten, and are 0.90 to 4.1 times. None is closer to a
# side than the ten are: right beside it a source that is infinite there is not resolved.
_IN_THE_PLANE = tuple(sorted({*_IN_SPACE, *(-np.cos(np.pi / 16 * np.arange(2, 15))).tolist()}))


def compared_at(dimension: int) -> tuple[float, ...]:
    """Return positions on each axis of a patch, from -1 to 1."""
    return {1: _ON_THE_LINE, 2: _IN_THE_PLANE}.get(dimension, _IN_SPACE)


def sizes_of(values: FloatArray, where: Flags) -> list[float]:
    """Return max(1, max|u|) of every unknown, from its values at some of the compared points."""
    return [float(max(1.0, size)) for size in np.abs(values[:, where]).max(axis=1)]


def compared_values(approximation: Approximation) -> FloatArray:
    """Return the unknowns at the compared points of their own patches, (unknowns, m)."""
    out = []
    for unknown, basis in approximation.bases.items():
        assert isinstance(basis, PatchworkBasis)
        positions = compared_at(basis.patches[0].dimension)
        out.append(basis.on_patches(approximation.weights[unknown], positions))
    return np.array(out)


def compared_away(jumps: Jumps, patches: Sequence[Patch]) -> Flags:
    """Tell which compared points of patches are away from places at which the solution jumps."""
    if not jumps.places:
        d = patches[0].dimension
        return np.ones(len(patches) * len(compared_at(d)) ** d, dtype=bool)
    return jumps.away(compared_points(patches))


def compared_points(patches: Sequence[Patch]) -> FloatArray:
    """Return points of every patch at which solutions are compared, (m, d)."""
    z = np.array(compared_at(patches[0].dimension))
    return np.concatenate([patch.spread(z) for patch in patches])


@dataclass(frozen=True, eq=False)
class Change:
    """How far other solutions are from one, relative to the size of each unknown."""

    own: Approximation
    unknowns: Sequence[str]
    scales: Sequence[float]

    def values(self, solution: Approximation, points: FloatArray) -> list[FloatArray]:
        """Return a solution's unknowns at points."""
        zero = (0,) * points.shape[1]
        return [solution.values(u, points, zero) for u in self.unknowns]

    def __call__(self, other: Approximation, points: FloatArray) -> float:
        """Return the largest change at points."""
        pairs = zip(self.values(self.own, points), self.values(other, points), strict=True)
        gaps = [np.abs(a - b).max() / s for (a, b), s in zip(pairs, self.scales, strict=True)]
        return finite(max(gaps))

    def variation(self, points: FloatArray) -> float:
        """Return by how much the solution itself varies over points."""
        own = self.values(self.own, points)
        return finite(max(np.ptp(v) / s for v, s in zip(own, self.scales, strict=True)))


def distance(
    one: Approximation, other: Approximation, scales: Sequence[float], jumps: Jumps
) -> float:
    """Return how far apart two solutions are on the patches of the first, away from jumps."""
    basis = next(iter(one.bases.values()))
    assert isinstance(basis, PatchworkBasis)
    points = compared_points(basis.patches)
    change = Change(one, list(one.bases), scales)
    return change(other, points[jumps.away(points)])


def finite(value: float) -> float:
    """Return a number, infinity where it is none."""
    return float(value) if np.isfinite(value) else float("inf")
