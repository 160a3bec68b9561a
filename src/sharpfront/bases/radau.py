"""Polynomials in time on Radau's nodes.

A slab of time [t0, t1] is s in [0, 1]. Values are kept at s = 0 and at the nodes c_j of Radau IIA,
the last of which is s = 1; there are STAGES of them unless it is said otherwise.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple

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
    powers = np.empty((len(s), stages + 1))
    powers[:, 0] = 1.0
    powers[:, 1:] = (2.0 * s - 1.0)[:, None]
    np.multiply.accumulate(powers, axis=1, out=powers)
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
    return np.asarray(np.linalg.inv(_legendre_values(stages)), dtype=float)


@cache
def _legendre_values(stages: int) -> FloatArray:
    """Return the Legendre polynomials of the slab at all nodes."""
    values = np.polynomial.legendre.legvander(2.0 * all_nodes(stages) - 1.0, stages)
    return np.asarray(values, dtype=float)


# Parts of an extrapolation that are left out are not so many times the smallest that could be.
BEYOND = 3.0


def extrapolated(values: FloatArray, s: FloatArray) -> FloatArray:
    """Return polynomials through values at all nodes, (stages + 1, m), beyond the slab.

    Legendre polynomials grow there the faster the higher their degree is, and with them what is
    noise: the series ends where its parts at the last position do not fall any more. As a single
    coefficient may vanish by chance, that is told by two neighbours.
    """
    stages = len(values) - 1
    found = legendre(stages) @ values
    ahead = interpolation(s, stages) @ _legendre_values(stages)
    sizes = (np.maximum.reduce(np.abs(found), axis=1) * ahead[-1]).tolist()
    # What is left out by an end after degree 1, 2, ...
    left = [*map(max, itertools.pairwise(sizes[2:])), sizes[-1]]
    end = max(k for k, part in enumerate(left, 1) if part <= BEYOND * min(left))
    if end == len(left):
        end = stages
    return np.asarray(ahead[:, : end + 1] @ found[: end + 1])


# Coefficients in time are taken to fall by a factor between these.
LEAST_FALL, MOST_FALL = 0.1, 0.9


def left_out(values: FloatArray) -> float:
    """Return what polynomials through values at all nodes, (stages + 1, ...), leave out at most.

    It is the sum of the Legendre coefficients that are not there. They fall like powers; how fast
    is seen in two pairs of neighbours, for a single one vanishes about a moment at which something
    turns, and two neighbours do not.
    """
    found = np.abs(legendre(len(values) - 1)[-4:] @ values.reshape(len(values), -1))
    *first, second, last = (float(part) for part in found.max(axis=1, initial=0.0))
    fall = math.sqrt(max(second, last) / max(*first, 1e-300))
    fall = min(max(fall, LEAST_FALL), MOST_FALL)
    return max(last, second * fall) * fall / (1.0 - fall)


@cache
def _of_stages(stages: int = STAGES) -> FloatArray:
    """Return the matrix from values at the stages alone to Legendre coefficients on the slab."""
    values = np.polynomial.legendre.legvander(2.0 * stage_nodes(stages) - 1.0, stages - 1)
    return np.asarray(np.linalg.inv(values), dtype=float)


def last_of_stages(values: FloatArray) -> FloatArray:
    """Return the last Legendre coefficients of polynomials through values at the stages alone."""
    return np.asarray(_of_stages()[-1] @ values[1:].reshape(len(values) - 1, -1))


def left_out_of_stages(values: FloatArray) -> float:
    """Return the same as `left_out`, told by the stages alone: the beginning does not count.

    The coefficient that these would determine is taken to fall as the last two do.
    """
    last = np.abs(_of_stages()[-2:] @ values[1:].reshape(len(values) - 1, -1))
    third, fourth = (float(part) for part in last.max(axis=1, initial=0.0))
    fall = min(max(fourth / max(third, 1e-300), LEAST_FALL), MOST_FALL)
    return fourth * fall * fall / (1.0 - fall)


def off_at_start(values: FloatArray) -> float:
    """Return by how much the first values differ from where polynomials of the stages begin.

    Polynomials through all of them are off by no more on that account, at any moment.
    """
    ends = (-1.0) ** np.arange(STAGES) @ _of_stages()
    gaps = values[0].ravel() - ends @ values[1:].reshape(len(values) - 1, -1)
    return float(np.abs(gaps).max(initial=0.0))


class Diagonal(NamedTuple):
    """The inverse of Radau's matrix, A^-1 = V diag(values) V^-1, and its embedded formula."""

    inverse: FloatArray  # A^-1, (stages, stages)
    reals: int  # real eigenvalues: one of an odd number of stages, none of an even one
    values: Any  # the real eigenvalue, then one of each complex pair
    # V^-1 and -V as real matrices: one row or column for the real eigenvalue, then those for the
    # real parts of the others, then those for their imaginary parts.
    into: FloatArray
    back: FloatArray
    # From differences to the start to the rates of the embedded formula and at the stages, (stages
    # + 1, stages), and 1 / the real eigenvalue; without one there is no such formula.
    rates: FloatArray
    gamma: float


@cache
def diagonal(stages: int = STAGES) -> Diagonal:
    """Return Radau's matrix, diagonalised, and the embedded formula of order `stages`."""
    c = stage_nodes(stages)
    powers = np.vander(c, stages, increasing=True)
    degrees = np.arange(1, stages + 1)
    inverse = np.linalg.inv((c[:, None] ** degrees / degrees) @ np.linalg.inv(powers))
    values, vectors = np.linalg.eig(inverse)
    reals = np.flatnonzero(np.abs(values.imag) < 1e-9)
    order = [*reals, *np.flatnonzero(values.imag > 1e-9)]
    rows, columns, count = np.linalg.inv(vectors)[order], vectors[:, order], len(reals)
    into = np.vstack([rows[:count].real, rows[count:].real, rows[count:].imag])
    pairs = -2.0 * columns[:, count:]
    back = np.column_stack([-columns[:, :count].real, pairs.real, -pairs.imag])
    rates, gamma = inverse, np.nan
    if count:
        gamma = 1.0 / float(values[reals[0]].real)
        # Exact for polynomials below degree `stages`, with the rate at the start added.
        target = np.zeros(stages)
        target[0] = -gamma
        embedded = np.linalg.solve(powers.T, target) @ inverse
        rates = np.vstack([-embedded / gamma, inverse])
    return Diagonal(inverse, count, values[order], into, back, rates, gamma)


@cache
def amplified() -> float:
    """Return by how much more stages may be off than the modes that they are made of."""
    _, vectors = np.linalg.eig(diagonal().inverse)
    parts = np.abs(vectors) * np.abs(np.linalg.solve(vectors, np.ones(STAGES)))
    return float(parts.sum(axis=1).max())


@cache
def damped() -> float:
    """Return what a step leaves of the fastest decays: of one by any rate, and more than it should.

    What decays fast is damped by a step, not followed.
    """
    z, whole = np.logspace(-2.0, 8.0, 2001)[:, None, None], np.eye(STAGES)
    matrix = np.linalg.inv(diagonal().inverse)
    ends = np.linalg.solve(whole + z * matrix, np.ones((1, STAGES, 1)))[:, -1, 0]
    return float(np.abs(ends - np.exp(-z[:, 0, 0])).max())


def stage_rates(start: FloatArray, levels: FloatArray, dt: float) -> FloatArray:
    """Return the rates at the stages (stages, ...) of a step from its beginning and stages."""
    return np.asarray(np.tensordot(diagonal(len(levels)).inverse / dt, levels - start, axes=1))


@cache
def stage_weights() -> FloatArray:
    """Return the weights of the stages in an integral over [0, 1], (STAGES,)."""
    return np.asarray(np.linalg.inv(diagonal().inverse)[-1])


def through_modes(data: FloatArray, solve: Callable[[int, Any], Any]) -> FloatArray:
    """Return what the stages of a step are, (stages, ...), mode by mode.

    Parameters
    ----------
    data
        Right-hand sides of all stages, (stages, m).
    solve
        Returns what the system of a mode, by its number in `Diagonal.values`, makes of a row of
        data, (1, m), real for a real eigenvalue, which comes first, and complex for the others.
    """
    radau = diagonal(len(data))
    real, pairs = radau.reals, len(radau.values) - radau.reals
    mixed = (radau.into @ data)[:, None]
    rows = [*mixed[:real], *(mixed[real : real + pairs] + 1j * mixed[real + pairs :])]
    found = [solve(k, row) for k, row in enumerate(rows)]
    modes = [*(f.real for f in found), *(f.imag for f in found[real:])]
    return np.asarray(-np.tensordot(radau.back, np.concatenate(modes), axes=1))
