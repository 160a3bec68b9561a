"""Gaussian mixtures fitted to weighted points by expectation-maximisation.

For points x_i with weights w_i the fit raises the weighted log-likelihood

    L = sum_i w_i ln p(x_i) / sum_i w_i,    p(x) = sum_k pi_k N(x | mu_k, Sigma_k),

by turns of the E-step, q_ik = pi_k N(x_i | mu_k, Sigma_k) / p(x_i), and the M-step,

    N_k = sum_i w_i q_ik,    pi_k = N_k / sum_i w_i,    mu_k = sum_i w_i q_ik x_i / N_k,
    Sigma_k = sum_i w_i q_ik (x_i - mu_k)(x_i - mu_k)^T / N_k.

Eigenvalues of Sigma_k below floor^2 are raised to it: that is the exact maximum under the
constraint, so L still never falls. Shapes: n points in d dimensions, K components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharpfront.errors import MixtureError
from sharpfront.mixture.model import EPS, FloatArray, Mixture, as_points, cholesky, expect, whole

# Below this share of all weight, sums of products w_i q_ik x_i run into denormal numbers.
_EMPTY = 1e-290


@dataclass(frozen=True)
class EMRecord:
    """How a fit went."""

    iterations: int  # m-steps taken
    # Weighted log-likelihood over total weight: of the start, then after every iteration.
    log_likelihood: tuple[float, ...]
    converged: bool  # whether the last iteration raised it by no more than the tolerance
    floored: int  # how many covariances rest on the floor, or on rounding where that is higher
    empty: int  # how many components lost all responsibility; they keep their shape at weight zero


def fit(
    points: ArrayLike,
    weights: ArrayLike,
    components: int,
    *,
    floor: float = 0.0,
    max_iterations: int = 100,
    tolerance: float = 1e-6,
    seed: int = 0,
) -> tuple[Mixture, EMRecord]:
    """Fit a mixture to weighted points.

    Parameters
    ----------
    points
        (n, d), or (n,) in one dimension. Equal points are merged, those of zero weight dropped.
    weights
        (n,), not negative; only their ratios matter.
    components
        K, at most the number of distinct points of positive weight.
    floor
        Smallest standard deviation in any direction. With 0 only rounding stops a collapse: 64
        units in the last place of the largest coordinate.
    max_iterations
        M-steps at most; with 0 the start comes back.
    tolerance
        Stop when an iteration raises the log-likelihood per unit weight by no more than this.
    seed
        For the start: weighted k-means++ centres, each with the points nearest to it.

    Returns
    -------
    tuple of Mixture and EMRecord
    """
    x, w = _distinct(points, weights)
    if not 1 <= whole(components, "components") <= len(x):
        raise MixtureError(
            f"got components = {components} for {len(x)} distinct points of positive weight, "
            f"expected 1 to {len(x)}; try fewer components or more points"
        )
    if not tolerance >= 0:
        raise MixtureError(f"got tolerance = {tolerance}, expected a number not below 0")
    task = _Task(x, w, components, checked_floor(floor, x))
    state = task.begin(np.random.default_rng(whole(seed, "seed")))
    return task.iterate(state, whole(max_iterations, "max_iterations"), tolerance)


class _State(NamedTuple):
    """One iterate: a mixture's arrays, and which components (K,) rest on the floor."""

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray
    floored: NDArray[np.bool_]


@dataclass(frozen=True)
class _Task:
    """Points x (n, d), weights w (n,) with sum 1, K, and the smallest standard deviation."""

    x: FloatArray
    w: FloatArray
    components: int
    floor: float

    def iterate(
        self, state: _State, max_iterations: int, tolerance: float
    ) -> tuple[Mixture, EMRecord]:
        """Take E- and M-steps in turn until the likelihood rises no more."""
        trace: list[float] = []
        kept = state
        while True:
            posterior, offset, log_likelihood = self.expect(state)
            converged = bool(trace) and log_likelihood - trace[-1] <= tolerance
            # Rounding can make it fall once oblique components have collapsed: keep the last.
            if not trace or log_likelihood >= trace[-1]:
                kept = state
                trace.append(log_likelihood)
            if converged or len(trace) > max_iterations:
                break
            state = self.maximise(state, offset, self.w * posterior)
        floored, empty = int(kept.floored.sum()), int((kept.weights == 0).sum())
        record = EMRecord(len(trace) - 1, tuple(trace), converged, floored, empty)
        return Mixture(*kept[:3]), record

    def expect(self, state: _State) -> tuple[FloatArray, FloatArray, float]:
        """E-step: q (K, n), offsets x_i - mu_k (K, d, n), log-likelihood."""
        offset = self.x.T - state.means[:, :, None]
        posterior, log_density = expect(offset, state.weights, cholesky(state.covariances))
        return posterior, offset, float(self.w @ log_density)

    def maximise(self, state: _State, offset: FloatArray, joint: FloatArray) -> _State:
        """M-step: the next iterate from w_i q_ik (K, n)."""
        mass, shift, scatter = _moments(offset, joint)
        new = self.with_floor(mass / mass.sum(), state.means + shift, scatter)
        empty = mass <= _EMPTY
        if empty.any():
            kept = state._replace(weights=np.zeros_like(mass))
            new = _State(
                *(np.where(_along(empty, a), a, b) for a, b in zip(kept, new, strict=True))
            )
        return new

    def with_floor(self, weights: FloatArray, means: FloatArray, shapes: FloatArray) -> _State:
        """Raise covariances (K, d, d) to the floor."""
        return _State(weights, means, *raised_to_floor(shapes, self.floor))

    def begin(self, rng: np.random.Generator) -> _State:
        """Make the first iterate: each centre with the points nearest to it."""
        offset = self.x - self.centres(rng)[:, None, :]
        return self.from_labels(np.square(offset).sum(axis=2).argmin(axis=0))

    def from_labels(self, labels: NDArray[np.int64]) -> _State:
        """Take an M-step for points that each belong to one component, labels (n,)."""
        joint = np.where(labels == np.arange(self.components)[:, None], self.w, 0.0)
        centre = self.w @ self.x
        mass, shift, scatter = _moments((self.x - centre).T[None], joint)
        # d points or fewer span no volume: begin with the average shape, not with a collapse.
        few = np.count_nonzero(joint, axis=1) <= self.x.shape[1]
        average = np.tensordot(mass, scatter, axes=1)
        return self.with_floor(mass, centre + shift, np.where(few[:, None, None], average, scatter))

    def centres(self, rng: np.random.Generator) -> FloatArray:
        """Choose points (K, d) by weighted k-means++.

        Each is drawn with chance w_i D_i^2, where D_i is the distance of point i to the nearest
        centre so far; the first of all with chance w_i.
        """
        chosen: list[FloatArray] = []
        chance, squares = self.w, np.full(len(self.x), np.inf)
        for _ in range(self.components):
            total = np.cumsum(chance)
            pick = np.searchsorted(total, rng.random() * total[-1], side="right")
            chosen.append(self.x[min(pick, len(self.x) - 1)])
            squares = np.minimum(squares, np.square(self.x - chosen[-1]).sum(axis=1))
            chance = self.w * squares
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


def _along(mask: NDArray[np.bool_], array: NDArray[Any]) -> NDArray[np.bool_]:
    """Give a mask (K,) as many axes as an array has."""
    return mask.reshape(-1, *[1] * (array.ndim - 1))


def _distinct(points: ArrayLike, weights: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Merge equal points: (n, d) in lexical order, and their positive weights (n,) with sum 1."""
    x, w = as_points(points), np.asarray(weights, float)
    if w.shape != (len(x),):
        raise MixtureError(f"got weights of shape {w.shape} for {len(x)} points, expected one each")
    if not (np.all((w >= 0) & (w < np.inf)) and np.any(w > 0)):
        wrong = np.count_nonzero(~np.isfinite(w)), np.count_nonzero(w < 0)
        raise MixtureError(
            f"got {len(w)} weights, {wrong[0]} of them not finite and {wrong[1]} negative, "
            "expected none of either and a sum above zero; try equal weights where nothing is known"
        )
    w = w / w.max()  # first, so that the sum of huge weights does not overflow
    x, w = x[w > 0], w[w > 0]
    order = np.lexsort(x.T[::-1])
    x, w = x[order], w[order]
    first = np.flatnonzero(np.append(True, (x[1:] != x[:-1]).any(axis=1)))
    x, w = x[first], np.add.reduceat(w, first)
    return x, w / w.sum()


def raised_to_floor(shapes: FloatArray, floor: float) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Raise eigenvalues of covariances (K, d, d) to floor^2; also say of which (K,)."""
    lowest, d = floor * floor, shapes.shape[1]
    if d == 1:
        return np.maximum(shapes, lowest), shapes[:, 0, 0] < lowest
    # Eigenvalues below the rounding of the largest are noise, and so is raising them.
    noise = 4 * d * (d + 1) * EPS
    trace = np.trace(shapes, axis1=1, axis2=2)
    shapes, low = _raise_eigenvalues(shapes, np.where(lowest > noise * trace, lowest, -np.inf))
    # A component far thinner than that along an axis keeps its width if scaled to unit diagonal;
    # the matrix of an oblique one cannot hold it.
    diagonal = np.diagonal(shapes, axis1=1, axis2=2)
    lift = np.maximum(lowest - diagonal, 0)
    shapes = shapes + lift[:, None, :] * np.eye(d)
    scale = np.sqrt(diagonal + lift)
    scale = scale[:, :, None] * scale[:, None, :]
    unit, singular = _raise_eigenvalues(shapes / scale, np.full(len(shapes), noise))
    shapes = np.where(singular[:, None, None], unit * scale, shapes)
    return shapes, low | singular | lift.any(axis=1)


def _raise_eigenvalues(
    matrices: FloatArray, lowest: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Raise eigenvalues below lowest (K,); a matrix that has none stays as it is, to the bit."""
    values, vectors = np.linalg.eigh(matrices)
    low = values[:, 0] < lowest
    raised = vectors * np.maximum(values, lowest[:, None])[:, None, :] @ vectors.swapaxes(1, 2)
    return np.where(low[:, None, None], raised, matrices), low


def checked_floor(floor: float, x: FloatArray) -> float:
    """Return the floor of points (n, d), which is not below their rounding."""
    scale = float(np.abs(x).max())
    if scale > 0 and not 1e-130 < scale < 1e130:
        raise MixtureError(
            f"got coordinates up to {scale:.3g}, whose variances overflow or vanish, "
            "expected 1e-130 to 1e130; try other units"
        )
    if not 0 <= floor < np.inf:
        raise MixtureError(
            f"got floor {floor}, expected a finite standard deviation, not negative; "
            "try floor=0.0 for none"
        )
    rounding = 64 * EPS * scale
    if len(x) == 1 and floor <= rounding:
        raise MixtureError(
            f"got a single point {x[0].tolist()} and no floor, expected two distinct points or a "
            "positive floor, as one point has no width; try floor=(the local spacing)"
        )
    return max(floor, rounding)
