"""Polynomials in time on Radau's nodes.

A slab of time [t0, t1] is s in [0, 1]. Values are kept at s = 0 and at the STAGES nodes c_j of
Radau IIA, the last of which is s = 1.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from scipy.special import roots_jacobi

from sharpfront.arrays import FloatArray

STAGES = 5


@cache
def stage_nodes(stages: int = STAGES) -> FloatArray:
    """Return the nodes of Radau IIA, (stages,), the last is 1."""
    inner = roots_jacobi(stages - 1, 1, 0)[0] if stages > 1 else np.zeros(0)
    return np.concatenate([np.sort(0.5 * (1.0 + inner)), [1.0]])


@cache
def all_nodes(stages: int = STAGES) -> FloatArray:
    """Return 0 and the nodes of Radau IIA, (stages + 1,)."""
    return np.concatenate([[0.0], stage_nodes(stages)])


@cache
def barycentric(stages: int = STAGES) -> FloatArray:
    """Return the barycentric weights of all nodes."""
    nodes = all_nodes(stages)
    gaps = nodes[:, None] - nodes
    np.fill_diagonal(gaps, 1.0)
    return np.asarray(1.0 / gaps.prod(axis=1))


@cache
def differentiation(stages: int = STAGES) -> FloatArray:
    """Return d/ds at all nodes of the polynomial through values at them, square."""
    nodes, w = all_nodes(stages), barycentric(stages)
    gaps = nodes[:, None] - nodes
    np.fill_diagonal(gaps, 1.0)
    matrix = w / w[:, None] / gaps
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return np.asarray(matrix)


def interpolation(s: FloatArray, stages: int = STAGES) -> FloatArray:
    """Return the Lagrange polynomials of all nodes at positions s, (len(s), stages + 1)."""
    powers = np.vander(2.0 * s - 1.0, stages + 1, increasing=True)
    return np.asarray(powers @ _from_values(stages))


def interpolation_rate(s: FloatArray, stages: int = STAGES) -> FloatArray:
    """Return d/ds of the Lagrange polynomials at positions s, (len(s), stages + 1)."""
    return np.asarray(interpolation(s, stages) @ differentiation(stages))


@lru_cache
def _from_values(stages: int) -> FloatArray:
    powers = np.vander(2.0 * all_nodes(stages) - 1.0, stages + 1, increasing=True)
    return np.asarray(np.linalg.inv(powers), dtype=float)


@cache
def legendre(stages: int = STAGES) -> FloatArray:
    """Return the matrix from values at all nodes to Legendre coefficients on the slab."""
    values = np.polynomial.legendre.legvander(2.0 * all_nodes(stages) - 1.0, stages)
    return np.asarray(np.linalg.inv(values), dtype=float)
