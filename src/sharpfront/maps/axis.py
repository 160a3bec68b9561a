"""Maps of one axis of a reference cell, z in [-1, 1], onto a side of a patch.

even:        x = low + h (z + 1) / 2
exponential: distance from one end = h (e^(b (1 + z) / 2) - 1) / (e^b - 1), so that points are
densest at that end by a factor e^b.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharpfront.arrays import FloatArray


@dataclass(frozen=True)
class AxisMap:
    """The map of one axis."""

    # The side of the patch.
    low: float
    high: float
    # Zero for the even map; b > 0 crowds points at the low end, b < 0 at the high one.
    strength: float = 0.0
    # Where not zero, an even axis has functions that fall by e^-decays from the low end to the high
    # one besides polynomials, each of them times polynomials.
    decays: float = 0.0

    @property
    def length(self) -> float:
        """The length of the side."""
        return self.high - self.low

    @property
    def is_affine(self) -> bool:
        """Whether x is linear in z."""
        return not self.strength

    def cut(self, places: Sequence[float]) -> list[AxisMap]:
        """Return the parts between places in order, with even maps; itself without any."""
        if not len(places):
            return [self]
        return [AxisMap(a, b) for a, b in itertools.pairwise((self.low, *places, self.high))]

    def points(self, z: FloatArray) -> FloatArray:
        """Return x at reference positions."""
        if not self.strength:
            return np.asarray(0.5 * (self.low * (1.0 - z) + self.high * (1.0 + z)))
        b = abs(self.strength)
        if self.strength > 0:
            return np.asarray(self.low + self.length * np.expm1(0.5 * b * (1 + z)) / np.expm1(b))
        return np.asarray(self.high - self.length * np.expm1(0.5 * b * (1 - z)) / np.expm1(b))

    def inverse(self, x: FloatArray) -> FloatArray:
        """Return the reference positions of x."""
        if not self.strength:
            z = ((x - self.low) - (self.high - x)) / self.length
        else:
            b = abs(self.strength)
            depth = (x - self.low) if self.strength > 0 else (self.high - x)
            s = 2.0 * np.log1p(np.expm1(b) * np.maximum(depth, 0.0) / self.length) / b - 1.0
            z = s if self.strength > 0 else -s
        return np.asarray(np.clip(z, -1.0, 1.0))

    def slopes(self, z: FloatArray, order: int) -> FloatArray:
        """Return dz/dx, d2z/dx2, ... up to an order, (order, n)."""
        out = np.zeros((order, len(z)))
        if order == 0:
            return out
        if not self.strength:
            out[0] = 2.0 / self.length
            return out
        b = abs(self.strength)
        sign = 1.0 if self.strength > 0 else -1.0
        # dz/dx = (2/b) / (depth + h / (e^b - 1)), and each further derivative divides by it again.
        reach = self.length / np.expm1(b) * np.exp(0.5 * b * (1.0 + sign * z))
        out[0] = 2.0 / (b * reach)
        for k in range(1, order):
            out[k] = -k * sign * out[k - 1] / reach
        return out
