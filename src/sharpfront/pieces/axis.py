"""Kernels along one axis in its mixture's coordinate, and which products of two axes are kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.pieces import tables
from sharpfront.pieces.coordinate import Coordinate

# All combinations of the kernels of an axis.
ALL = 1_000_000
# With fewer kernels than this the functions are like polynomials and rows are spaced like cosines,
# so many for each function.
FEW = 8
FEW_ROWS = 1.35
# Rows along an axis for each kernel, beside those at the ends; an even number of them, so that
# none meets the middle, where formulas in 1/r have their pole.
ROWS = 1.55


def _fitting_points(kernels: int) -> FloatArray:
    """Return the positions along an axis at which combinations are made orthonormal."""
    if kernels >= FEW:
        return tables.clustered(kernels, 2 * math.ceil(ROWS * kernels / 2))
    count = 2 * math.ceil(FEW_ROWS * (kernels + 12) / 2)
    return np.asarray(np.sin(0.5 * np.pi * np.arange(count) / (count - 1)) ** 2)


@lru_cache(maxsize=64)
def _even_kernels(kernels: int, most: int) -> tables.EvenKernels:
    if kernels >= FEW and most == ALL:
        return tables.even_kernels(kernels)
    points = _fitting_points(kernels)
    plain = tables.plain_kernels(points, kernels)
    _, sigma, right = np.linalg.svd(plain, full_matrices=False)
    keep = np.flatnonzero(sigma > tables.CUT * sigma[0])[:most]
    combine = right[keep].T / sigma[keep] * np.sqrt(len(points))
    # With few functions kernels alone span what polynomials do.
    return tables.EvenKernels(kernels, np.pad(combine, ((tables.DEGREE + 1, 0), (0, 0))))


@dataclass(frozen=True, eq=False)
class Axis:
    """Kernels along one axis."""

    coordinate: Coordinate  # the mixture's coordinate along the axis
    kernels: int  # N: Gaussians between the two ends
    most: int = ALL  # the most combinations of them to keep, the smoothest first; all by default

    @property
    def functions(self) -> tables.EvenKernels:
        """The orthonormal combinations in the coordinate."""
        return _even_kernels(self.kernels, self.most)

    @property
    def size(self) -> int:
        """The number of functions."""
        return self.functions.size

    @property
    def centres(self) -> FloatArray:
        """The positions of the kernels between the ends, (N,)."""
        return self.coordinate.invert((np.arange(self.kernels) + 0.5) / self.kernels).x

    @property
    def deviations(self) -> FloatArray:
        """The kernels' widths in x at their centres, (N,)."""
        at = self.coordinate.nearest(self.centres)
        return np.asarray(tables.WIDTH / self.kernels / self.coordinate.derivatives(at, 1)[0])


def axis_of_size(coordinate: Coordinate, functions: int) -> Axis:
    """Return an axis with that many functions, of as few kernels as give them."""
    kernels = max(2, functions - tables.GHOSTS - 4)
    while _even_kernels(kernels, ALL).size < functions:
        kernels += 1
    return Axis(coordinate, kernels, functions)


@lru_cache(maxsize=64)
def kept_products(shape: tuple[int, int]) -> NDArray[np.int64]:
    """Return the places of the products that are kept in the block of all products of two axes.

    Those with (k / K)^2 + (l / L)^2 < 1, k and l the numbers of the functions: the corner of the
    block buys the fewest digits.
    """
    first, second = ((np.arange(count) / count) ** 2 for count in shape)
    return np.flatnonzero((first[:, None] + second).ravel() < 1.0 - 1e-12)
