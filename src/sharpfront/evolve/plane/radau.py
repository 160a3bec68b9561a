"""Radau's collocation in time: nodes, matrices, and the polynomial through a slab's states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial import legendre

from sharpfront.arrays import Host

# Stages: order 2 STAGES - 1 at the end of a slab; odd, so that one system is real.
STAGES = 5


@dataclass(frozen=True, eq=False)
class Radau:
    """Radau IIA with q stages on [0, 1].

    Parameters
    ----------
    nodes
        c_1 < ... < c_q = 1, (q,).
    matrix
        A_ij, the integral of the j-th Lagrange polynomial from 0 to c_i, (q, q).
    """

    nodes: Host
    matrix: Host

    @cached_property
    def inverse(self) -> Host:
        """A^-1: derivatives at the nodes from the states less the start."""
        return np.linalg.inv(self.matrix)

    @property
    def weights(self) -> Host:
        """The quadrature on [0, 1], (q,)."""
        return np.asarray(self.matrix[-1])

    @cached_property
    def modes(self) -> tuple[Host, Host, Host]:
        """Eigenvalues l and eigenvectors V of A^-1, and V^-1: they decouple the stages."""
        values, vectors = np.linalg.eig(self.inverse)
        return values, vectors, np.linalg.inv(vectors)

    @cached_property
    def _monomials(self) -> Host:
        every = np.concatenate([[0.0], self.nodes])
        return np.linalg.inv(np.vander(every, increasing=True))

    def lagrange(self, share: Host, order: int = 0) -> Host:
        """Return the polynomials through 0 and the nodes at shares of a slab, (m, q + 1)."""
        powers = np.arange(len(self.nodes) + 1)
        if order == 0:
            return np.asarray(share[:, None] ** powers @ self._monomials)
        lower = np.maximum(powers - 1, 0)
        return np.asarray((powers * share[:, None] ** lower) @ self._monomials)

    def last(self, states: Host) -> Host:
        """Return the last Legendre coefficient of the polynomial through (q + 1, K) states."""
        every = 2.0 * np.concatenate([[0.0], self.nodes]) - 1.0
        inverse = np.linalg.inv(legendre.legvander(every, len(self.nodes)))
        return np.asarray(inverse[-1] @ states)


@lru_cache(maxsize=8)
def radau(stages: int = STAGES) -> Radau:
    """Return the method with that many stages."""
    edge = np.zeros(stages + 1)
    edge[-2:] = -1.0, 1.0
    nodes = 0.5 * (np.sort(legendre.legroots(edge).real) + 1.0)
    nodes[-1] = 1.0
    powers = np.arange(1, stages + 1)
    matrix = (nodes[:, None] ** powers / powers) @ np.linalg.inv(
        np.vander(nodes, stages, increasing=True)
    )
    return Radau(nodes, matrix)
