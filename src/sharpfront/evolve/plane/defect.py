"""The error equation: what richer products find in the residual of a slab.

    M e' + J e = -residual,

tested with the products of more functions, over one slab by a method of second order with two equal
implicit stages, which follows errors that grow. The residual of the solution is zero for its own
products; e is what they cannot see, carried along with the equation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Orders, Product, line
from sharpfront.bases.radau import (
    STAGES,
    interpolation,
    interpolation_rate,
    stage_nodes,
    stage_rates,
    stage_weights,
)
from sharpfront.evolve.plane.galerkin import Galerkin, Tangent
from sharpfront.evolve.plane.settings import PRODUCTS
from sharpfront.trust.between_stages import left_over, shares

# The length of an implicit stage beside a slab's, for which two of them damp what is stiff.
GAMMA = 1.0 - 0.5**0.5


def richer(product: Product) -> Product:
    """Return the products in which the error is looked for."""
    n1, n2 = (n + max(PRODUCTS.fewest_more, int(PRODUCTS.richer * n)) for n in product.shape)
    return Product((n1, n2))


@lru_cache(maxsize=64)
def _lift(source: int, target: int) -> FloatArray:
    """Return the matrix from weights of an axis to those of one with other functions."""
    wide = line(target)
    return np.asarray(wide.projection @ line(source).functions.table(wide.points, 0)[0])


def lifted(weights: FloatArray, source: Product, target: Product) -> FloatArray:
    """Return weights (..., size) of the same function in products of other functions."""
    first, second = (_lift(a, b) for a, b in zip(source.shape, target.shape, strict=True))
    block = first @ source.block(weights) @ second.T
    return np.asarray(block.reshape(*weights.shape[:-1], -1)[..., target.kept])


class Unseen(NamedTuple):
    """What a slab does not see of its residual.

    ``largest`` is how far off it may be by that, in units of the scales; ``weights`` the error that
    is left at its end on the finer kernels, (m, K').
    """

    largest: float
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class ErrorSystem:
    """The error equation's system, factored for slabs of one length."""

    # What it was made from: richer functions, the stages of a slab in them, its length.
    galerkin: Galerkin
    states: FloatArray
    dt: float
    tangent: Tangent  # mass and stiffness
    system: Any  # an LU

    def carried(self, galerkin: Galerkin, error: FloatArray) -> FloatArray:
        """Return what becomes of an error until the end of a slab, (size,)."""
        return self._stepped(galerkin, error, np.zeros(len(self.tangent.mass)))

    def tested(self, galerkin: Galerkin, states: FloatArray, s: FloatArray) -> FloatArray:
        """Return the residual of a slab, tested, at its stages and at shares s of it, (m, n)."""
        every = np.concatenate([stage_nodes(), s])
        now, rates = interpolation(every) @ states, interpolation_rate(every) @ states / self.dt
        moments = zip(now, rates, every * self.dt, strict=True)
        return np.stack([galerkin.tested(u, rate, tau, self.tangent) for u, rate, tau in moments])

    def added(self, galerkin: Galerkin, tested: FloatArray) -> FloatArray:
        """Return the error that the residual at a slab's stages leaves at its end, (size,)."""
        forcing = -(stage_weights() @ tested[:STAGES])
        return self._stepped(galerkin, np.zeros(galerkin.square.product.size), forcing)

    def _stepped(self, galerkin: Galerkin, error: FloatArray, forcing: FloatArray) -> FloatArray:
        """Return the error at the end of a slab from that at its start."""
        first = self._rate(forcing, error)
        second = self._rate(forcing, error + (1.0 - GAMMA) * self.dt * first)
        return np.asarray(error + self.dt * ((1.0 - GAMMA) * first + GAMMA * second))

    def _rate(self, forcing: FloatArray, error: FloatArray) -> FloatArray:
        """Return the rate of the error at an implicit stage."""
        right = forcing - self.tangent.stiffness @ error
        return np.asarray(lu_solve(self.system, right, check_finite=False))

    def unseen(self, galerkin: Galerkin, tested: FloatArray, s: FloatArray) -> Unseen:
        """Return what the stages of a slab do not see of its residual at shares s between them."""
        if not len(s):
            return Unseen(0.0, np.zeros(galerkin.square.product.size))
        rest = left_over(np.concatenate([stage_nodes(), s]), tested)
        forcing = -self.dt * shares(s)[:, None] * rest
        errors = lu_solve(self.system, forcing.T, check_finite=False).T
        on_grid = np.stack([galerkin.square.product.on_grid(e).ravel() for e in errors])
        return Unseen(float(np.abs(on_grid).sum(axis=0).max()), errors.sum(axis=0))


def error_system(galerkin: Galerkin, states: FloatArray, dt: float) -> ErrorSystem:
    """Return the error equation about the stages of a slab, in richer functions."""
    middle = len(states) // 2
    rates = stage_rates(states[0], states[1:], dt)
    tangent = galerkin.tangent(states[middle], rates[middle - 1], 0.5 * dt)
    system = lu_factor(tangent.mass + GAMMA * dt * tangent.stiffness, check_finite=False)
    return ErrorSystem(galerkin, states, dt, tangent, system)


def tails(block: FloatArray, shape: Orders) -> tuple[float, float]:
    """Return how much of an error is beyond the functions of each axis."""
    return float(np.linalg.norm(block[shape[0] :])), float(np.linalg.norm(block[:, shape[1] :]))
