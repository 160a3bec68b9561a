"""Gaussian mixtures fitted to weighted points by expectation-maximisation.

For points x_i with weights w_i the fit raises the weighted log-likelihood

    L = sum_i w_i ln p(x_i) / sum_i w_i,    p(x) = sum_k pi_k N(x | mu_k, Sigma_k),

by turns of the E-step, q_ik = pi_k N(x_i | mu_k, Sigma_k) / p(x_i), and the M-step,

    N_k = sum_i w_i q_ik,    pi_k = N_k / sum_i w_i,    mu_k = sum_i w_i q_ik x_i / N_k,
    Sigma_k = sum_i w_i q_ik (x_i - mu_k)(x_i - mu_k)^T / N_k.

Eigenvalues of Sigma_k below floor^2 are raised to it: that is the exact maximum under the
constraint, so L still never falls. It starts from weighted k-means++ centres, each with the points
nearest to it. Shapes: n points in d dimensions, K components.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sharpfront.errors import MixtureError
from sharpfront.mixture.model import FloatArray, Mixture, as_points, cholesky, expect, whole
from sharpfront.rounding import EPS

# Below this share of all weight, sums of products w_i q_ik x_i run into denormal numbers.
_EMPTY = 1e-290
# M-steps at most, and the rise of L below which there are no more.
M_STEPS, RISE = 100, 1e-6


class State(NamedTuple):
    """One iterate: the arrays of a mixture."""

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray


def fit(
    points: ArrayLike, weights: ArrayLike, components: int, *, floor: float = 0.0, seed: int = 0
) -> Mixture:
    """Fit a mixture to weighted points.

    Parameters
    ----------
    points
        (n, d), or (n,) in one dimension, no two alike. Those of zero weight are dropped.
    weights
        (n,), not negative; only their ratios matter.
    components
        K, at most the number of points of positive weight. Those that lose all weight are dropped.
    floor
        Smallest standard deviation in any direction. With 0 only rounding stops a collapse: 64
        units in the last place of the largest coordinate.
    seed
        For the start.
    """
    x, w = as_points(points), np.asarray(weights, float)
    if w.shape != (len(x),) or not (np.all((w >= 0) & (w < np.inf)) and np.any(w > 0)):
        raise MixtureError(
            f"got weights of shape {w.shape} for {len(x)} points, expected one each, finite, none "
            "negative and not all zero; try equal weights where nothing is known"
        )
    order = np.lexsort(x.T[::-1])
    order = order[w[order] > 0]
    # Over the largest first, so that the sum of huge weights does not overflow.
    x, w = x[order], w[order] / w.max()
    w = w / w.sum()
    if not 1 <= whole(components, "components") <= len(x):
        raise MixtureError(
            f"got components = {components} for {len(x)} points of positive weight, "
            f"expected 1 to {len(x)}; try fewer components or more points"
        )
    lowest = max(floor, 64 * EPS * float(np.abs(x).max()))
    if len(x) == 1 and lowest > floor:
        raise MixtureError("got one point, which has no width; try floor=(the local spacing)")
    state = begun(x, w, _centres(x, w, components, np.random.default_rng(seed)), lowest)
    before = -np.inf
    for _ in range(M_STEPS):
        new, level = improved(x, w, state, lowest)
        if level - before <= RISE:
            break
        state, before = new, level
    return Mixture(*state)


def improved(x: FloatArray, w: FloatArray, state: State, floor: float) -> tuple[State, float]:
    """Return the next iterate, by an E- and an M-step, and L of the one given."""
    offset = x.T - state.means[:, :, None]
    posterior, log_density = expect(offset, state.weights, cholesky(state.covariances))
    mass, shift, scatter = _moments(offset, w * posterior)
    means, left = state.means + shift, mass > _EMPTY
    new = State(mass[left] / mass.sum(), means[left], _raised(scatter[left], floor))
    return new, float(w @ log_density)


def begun(x: FloatArray, w: FloatArray, centres: FloatArray, floor: float) -> State:
    """Return the first iterate: each centre (K, d) with the points nearest to it."""
    nearest = np.square(x - centres[:, None, :]).sum(axis=2).argmin(axis=0)
    joint = np.where(nearest == np.arange(len(centres))[:, None], w, 0.0)
    middle = w @ x
    mass, shift, scatter = _moments((x - middle).T[None], joint)
    # d points or fewer span no volume: begin with the average shape, not with a collapse.
    few = np.count_nonzero(joint, axis=1) <= x.shape[1]
    average = np.tensordot(mass, scatter, axes=1)
    return State(
        mass, middle + shift, _raised(np.where(few[:, None, None], average, scatter), floor)
    )


def _centres(x: FloatArray, w: FloatArray, components: int, rng: np.random.Generator) -> FloatArray:
    """Choose points (K, d) by weighted k-means++.

    Each is drawn with chance w_i D_i^2, where D_i is the distance of point i to the nearest centre
    so far; the first of all with chance w_i.
    """
    chosen: list[FloatArray] = []
    chance, squares = w, np.full(len(x), np.inf)
    for _ in range(components):
        total = np.cumsum(chance)
        pick = np.searchsorted(total, rng.random() * total[-1], side="right")
        chosen.append(x[min(pick, len(x) - 1)])
        squares = np.minimum(squares, np.square(x - chosen[-1]).sum(axis=1))
        chance = w * squares
    return np.array(chosen)


def _moments(offset: FloatArray, joint: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """N_k (K,), shift of the mean (K, d) and covariance (K, d, d) from w_i q_ik (K, n).

    Offsets (K, d, n) from the old means, not the points themselves, keep the digits of a
    component that is far narrower than its distance from the origin.
    """
    mass = joint.sum(axis=1)
    share = joint / np.maximum(mass, _EMPTY)[:, None]
    shift = (offset @ share[:, :, None])[:, :, 0]
    centred = offset - shift[:, :, None]
    return mass, shift, (centred * share[:, None, :]) @ centred.swapaxes(1, 2)


def _raised(shapes: FloatArray, floor: float) -> FloatArray:
    """Raise eigenvalues of covariances (K, d, d) to floor^2, and to the rounding of the largest.

    A matrix that has none below stays as it is, to the bit.
    """
    d = shapes.shape[1]
    noise = 4 * d * (d + 1) * EPS * np.trace(shapes, axis1=1, axis2=2)
    lowest = np.maximum(floor * floor, noise)[:, None]
    values, vectors = np.linalg.eigh(shapes)
    raised = vectors * np.maximum(values, lowest)[:, None, :] @ vectors.swapaxes(1, 2)
    return np.where((values[:, :1] < lowest)[:, :, None], raised, shapes)
