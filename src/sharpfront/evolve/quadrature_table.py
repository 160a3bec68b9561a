"""What the kernels are at the points where a slab's equations are tested."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.equations import TimeSystem
from sharpfront.maps import chain
from sharpfront.pieces.motion import Motion
from sharpfront.pieces.slabs import kernels_of

# Quadrature points beyond two for each kernel.
EXTRA = 24


@dataclass(frozen=True, eq=False)
class Room:
    """N kernels in xi with a quadrature rule on [0, 1].

    Parameters
    ----------
    kernels
        N.
    points, weights
        The rule, (n,) each.
    inner
        The functions and their derivatives in xi at the points, (order + 1, n, K).
    ends
        The same at xi = 0 and 1, (order + 1, 2, K).
    """

    kernels: int
    points: FloatArray
    weights: FloatArray
    inner: FloatArray
    ends: FloatArray

    @property
    def size(self) -> int:
        """K."""
        return int(self.inner.shape[2])

    @property
    def order(self) -> int:
        """The highest derivative in the tables."""
        return len(self.inner) - 1

    @cached_property
    def projector(self) -> FloatArray:
        """The matrix from values at the points to weights, by least squares, (K, n)."""
        return np.linalg.pinv(self.inner[0], rcond=1e-14)


@lru_cache(maxsize=48)
def room(kernels: int, order: int, periodic: bool) -> Room:
    """Return the tables for a number of kernels."""
    functions = kernels_of(kernels, periodic)
    if periodic:
        count = 2 * functions.size
        points, weights = np.arange(count) / count, np.full(count, 1.0 / count)
    else:
        nodes, halves = np.polynomial.legendre.leggauss(2 * kernels + EXTRA)
        points, weights = 0.5 * (1.0 + nodes), 0.5 * halves
    return Room(
        kernels,
        points,
        weights,
        functions.table(points, order).values,
        functions.table(np.array([0.0, 1.0]), order).values,
    )


def room_of(system: TimeSystem, kernels: int) -> Room:
    """Return the tables for a number of kernels of a system."""
    return room(kernels, system.order, system.periodic)


def finer_room(system: TimeSystem, kernels: int) -> Room:
    """Return the tables of the error equation of a system with a number of kernels."""
    return room_of(system, more_kernels(kernels, system.periodic))


def more_kernels(kernels: int, periodic: bool) -> int:
    """Return the kernels of the error equation: a quarter more."""
    more = kernels + max(10, kernels // 4)
    return more | 1 if periodic else more


@dataclass(frozen=True, eq=False)
class Place:
    """The moving coordinate at the points of a room, at several moments.

    Parameters
    ----------
    x
        Positions, (moments, n).
    slope
        d xi/dx, (moments, n).
    rate
        d xi/dt at fixed x, (moments, n).
    chains
        d^k/dx^k = sum_j chains[k, j] d^j/dxi^j, (order + 1, order + 1, moments, n).
    """

    x: FloatArray
    slope: FloatArray
    rate: FloatArray
    chains: FloatArray


def place(motion: Motion, moments: FloatArray, xi: FloatArray, order: int) -> Place:
    """Return where points of fixed xi are at several moments."""
    xs, slopes, rates, chains = [], [], [], []
    for t in moments:
        where = motion.at(float(t))
        points = where.invert(xi)
        d = where.derivatives(points, order)
        xs.append(points.x)
        slopes.append(d[0])
        rates.append(motion.rate(float(t), points, where))
        chains.append(chain_table(d, order))
    return Place(np.stack(xs), np.stack(slopes), np.stack(rates), np.stack(chains, axis=2))


def chain_table(derivatives: FloatArray, order: int) -> FloatArray:
    """Return the coefficients of d^j/dxi^j in each d^k/dx^k, (order + 1, order + 1, n)."""
    n = derivatives.shape[1]
    table = np.zeros((order + 1, order + 1, n))
    for k in range(order + 1):
        unit = np.zeros((k + 1, n))
        unit[k] = 1.0
        table[k, : k + 1] = chain(derivatives, unit)
    return table
