"""Radau's stages decoupled: the eigenvectors of the matrix that takes states to rates."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharpfront.arrays import FloatArray
from sharpfront.bases.radau import differentiation, stage_nodes

_REAL = 1e-9


class Modes(NamedTuple):
    """Eigenvalues l, eigenvectors V and V^-1 of the stages' own part of the differentiation.

    ``pairs`` holds one (k, j) for each system to solve: l_j is the conjugate of l_k, j = k if real.
    """

    values: NDArray[np.complex128]
    vectors: NDArray[np.complex128]
    inverse: NDArray[np.complex128]
    pairs: tuple[tuple[int, int], ...]


@cache
def modes() -> Modes:
    """Return the modes of Radau IIA."""
    values, vectors = np.linalg.eig(rates_matrix())
    pairs = [
        (k, int(np.argmin(np.abs(values - value.conj()))))
        for k, value in enumerate(values)
        if value.imag > -_REAL
    ]
    return Modes(values.astype(complex), vectors, np.linalg.inv(vectors), tuple(pairs))


@cache
def rates_matrix() -> FloatArray:
    """Return d/ds at the stages from the states less the start, (q, q)."""
    return np.asarray(differentiation()[1:, 1:])


@cache
def quadrature() -> FloatArray:
    """Return the weights of the stages on [0, 1], (q,)."""
    return np.asarray(np.linalg.inv(rates_matrix())[-1])


def rates_of(states: FloatArray, dt: float) -> FloatArray:
    """Return the rates at the stages from the states (q + 1, size) of a slab, (q, size)."""
    return np.asarray(rates_matrix() @ (states[1:] - states[0]) / dt)


def moments_of_stages(dt: float) -> FloatArray:
    """Return the stages' times from the start of a slab."""
    return np.asarray(stage_nodes() * dt)
