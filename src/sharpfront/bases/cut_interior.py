"""What lies inside of a box that the boundary cuts, and functions on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from scipy.linalg import lstsq, qr

from sharpfront.arrays import Flags, FloatArray, Ints, remembered
from sharpfront.bases.legendre import gauss, legendre_table, norms, product_points
from sharpfront.bases.total_degree import is_joint, leading_degrees, products
from sharpfront.geometry import BoundaryPoints
from sharpfront.rounding import ROUNDED

# Points along an axis at first, in the plane and in space, beyond which they become this factor
# denser, up to so many.
FIRST, DENSER, MOST = {2: 12, 3: 8}, 1.3, {2: 300, 3: 120}
# Where less than this share of them lies inside, a slanted strip perhaps, along whose middle all
# may stand, points are spread evenly instead, out of so many at most.
THIN, CANDIDATES = 0.1, {2: 600_000, 3: 2_000_000}


class Inside(ABC):
    """What lies inside of a box that the boundary cuts, from `low` to `high`."""

    low: FloatArray
    high: FloatArray

    @property
    @abstractmethod
    def seen(self) -> FloatArray:
        """Points around what lies inside, (m, d)."""

    @property
    @abstractmethod
    def window(self) -> tuple[FloatArray, FloatArray]:
        """A smaller box about what lies inside."""

    @abstractmethod
    def contains(self, points: FloatArray) -> Flags:
        """Tell which points of the box lie inside."""

    @abstractmethod
    def boundary(self, functions: int) -> dict[str, tuple[BoundaryPoints, FloatArray]]:
        """Return points on each part of the boundary in the box, with weights that sum to one.

        Parameters
        ----------
        functions
            Along an axis of the box.
        """

    @property
    @abstractmethod
    def quadrature(self) -> tuple[FloatArray, FloatArray]:
        """Points inside, and weights of integrals over what lies inside."""

    @property
    def measure(self) -> float:
        """About how much lies inside."""
        d = len(self.low)
        share = len(self.points(1)) / float(FIRST[d] ** d)
        return float(np.prod(np.subtract(*self.window[::-1]))) * share

    @remembered()
    def points(self, count: int) -> FloatArray:
        """Return points inside, at least so many where that is possible, (m, d)."""
        low, high = self.window
        d = len(low)
        along = max(FIRST[d], int(count ** (1.0 / d)))
        while True:
            z = gauss(along)[0]
            axes = [0.5 * (a * (1 - z) + b * (1 + z)) for a, b in zip(low, high, strict=True)]
            points = product_points(axes)
            found = points[self.contains(points)]
            if len(found) >= count or along >= MOST[d]:
                thin = count > 1 and len(found) < THIN * len(points)
                return self._evenly(count, len(found) / len(points)) if thin else found
            wanted = int(along * (count / max(len(found), 1)) ** (1.0 / d))
            along = min(MOST[d], max(int(DENSER * along), wanted))

    def _evenly(self, count: int, share: float) -> FloatArray:
        """Return points inside in no lines, about such a share of the window's."""
        low, high = self.window
        d, found = len(low), np.empty((0, len(low)))
        root = np.real(np.roots([1.0, *[0.0] * (d - 1), -1.0, -1.0])).max()
        ways = root ** -np.arange(1.0, d + 1)  # of which no multiples come close to each other
        tried = 0
        while len(found) < count and tried < CANDIDATES[d]:
            more = int(1.5 * (count - len(found)) / max(share, 1e-3)) + 100
            numbers = np.arange(tried, min(tried + more, CANDIDATES[d])) + 0.5
            points = low + (high - low) * np.modf(numbers[:, None] * ways)[0]
            found = np.concatenate([found, points[self.contains(points)]])
            tried += len(numbers)
        return found

    def frame(self, z: FloatArray, functions: tuple[int, ...]) -> Frame:
        """Return the functions on points inside in the reference cell."""
        return Frame(z, functions)

    def spread(self, count: int) -> FloatArray:
        """Return just so many points inside and on the boundary, (count, d)."""
        inside = self.points(count)
        edge = self.seen[:: max(1, len(self.seen) // (count // 4))][: count // 4]
        rest = count - len(edge)
        chosen = np.linspace(0, max(len(inside) - 1, 0), min(rest, len(inside)))
        found = np.concatenate([edge, inside[chosen.astype(int)]])
        return np.asarray(np.resize(found, (count, len(self.low))))


class Frame:
    """The products of a patch's functions on what lies inside of it, made orthonormal.

    Many combinations of them are almost zero there, and weights say little. What of a function is
    of no lower degree along an axis than so many is well defined: it is the part of it beyond all
    products of lower degree, in the mean over what lies inside.

    Parameters
    ----------
    z
        Points inside in the reference cell, (m, d).
    functions
        Along each axis.
    """

    def __init__(self, z: FloatArray, functions: tuple[int, ...]) -> None:
        self.functions = functions
        self.products = products(functions, is_joint(len(functions)))
        self.values = np.ones((len(z), self.products.shape[1]))
        for a, (p, own) in enumerate(zip(functions, self.products, strict=True)):
            self.values *= legendre_table(z[:, a], p)[0][:, own]
        self._root = np.sqrt(len(z))

    @cached_property
    def _degrees(self) -> list[Ints]:
        """What each product counts as along each axis."""
        at = np.ravel_multi_index(tuple(self.products), self.functions)
        return [k[at] for k in leading_degrees(self.functions, self.functions)]

    @cached_property
    def _triangles(self) -> list[tuple[Ints, FloatArray]]:
        """Of values at the points, with functions in the order of degrees along each axis."""
        out, first = [], _upper(self.values / self._root)
        for degrees in self._degrees:
            order = np.argsort(degrees, kind="stable")
            out.append((order, _upper(first[:, order])))
        return out

    def fitted(self, values: FloatArray) -> FloatArray:
        """Return the weights of the functions that come closest to values (R, m) at the points.

        As arrays over the axes, (R, ...).
        """
        found = lstsq(self.values, values.T, ROUNDED, lapack_driver="gelsy")[0]
        blocks = np.zeros((len(values), *self.functions))
        blocks[:, *self.products] = found.T
        return blocks

    def profiles(self, block: FloatArray) -> list[FloatArray]:
        """Return how large the terms of each degree are along each axis."""
        weights, sizes = block[tuple(self.products)], np.ones(self.products.shape[1])
        for p, own in zip(self.functions, self.products, strict=True):
            sizes *= norms(p)[own]
        out = []
        triangles = zip(self._triangles, self._degrees, self.functions, strict=True)
        for (order, triangle), degrees, p in triangles:
            own = np.zeros(len(order))
            own[: len(triangle)] = triangle @ weights[order]
            square = np.bincount(degrees[order], (own * sizes[order]) ** 2, p)
            out.append(np.sqrt(square[:p]))
        return out


def _upper(matrix: FloatArray) -> FloatArray:
    """Return the triangle of a QR factorisation."""
    return np.asarray(qr(matrix, mode="economic", overwrite_a=True, check_finite=False)[1])
